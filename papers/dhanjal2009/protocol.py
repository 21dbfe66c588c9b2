"""Errors by nested cross-validation: parameters are chosen on training rows alone, fold by fold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

Setting = dict[str, Any]
#: Training rows and targets, test rows and targets, setting and seed in; the error for every number of
#: features and every parameter of the head out.
ErrorCurve = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Setting, int], np.ndarray]


def zero_mean_unit_norm(columns: np.ndarray) -> np.ndarray:
    """Centre columns and scale them to unit length; constant ones become zero."""
    centred = columns - columns.mean(axis=0)
    length = np.linalg.norm(centred, axis=0)
    return centred / np.where(length > 0, length, 1.0)


def folds(y: np.ndarray, n_folds: int, seed: int, *, classes: bool) -> Iterator[tuple]:
    """Yield the training and test rows of a random cross-validation."""
    splitter = StratifiedKFold if classes else KFold
    return splitter(n_folds, shuffle=True, random_state=seed).split(
        y, y > y.mean() if classes else None
    )


def least(curves: Sequence[np.ndarray]) -> tuple[int, tuple[int, ...]]:
    """Return the setting with the least error, and where on its curve; the first of equal ones."""
    setting = int(np.argmin([curve.min() for curve in curves]))
    return setting, np.unravel_index(int(np.argmin(curves[setting])), curves[setting].shape)


def nested_cross_validation(
    X: np.ndarray,
    y: np.ndarray,
    settings: Sequence[Setting],
    error_curve: ErrorCurve,
    *,
    repetitions: int,
    inner_folds: int,
    outer_folds: int = 5,
    classes: bool,
) -> np.ndarray:
    """Return the test errors of all outer folds, with the parameters that the inner ones choose."""
    errors = []
    for repetition in range(repetitions):
        for a, b in folds(y, outer_folds, repetition, classes=classes):
            inner = list(folds(y[a], inner_folds, repetition, classes=classes))
            means = [
                np.mean(
                    [
                        error_curve(X[a[i]], y[a[i]], X[a[j]], y[a[j]], setting, repetition)
                        for i, j in inner
                    ],
                    axis=0,
                )
                for setting in settings
            ]
            best, place = least(means)
            curve = error_curve(X[a], y[a], X[b], y[b], settings[best], repetition)
            errors.append(curve[place])
    return np.array(errors)
