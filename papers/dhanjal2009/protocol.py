"""Errors by nested cross-validation: parameters are chosen on training rows alone, fold by fold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

Setting = dict[str, Any]
#: Training rows and targets, test rows and targets, setting and seed in; out come the errors for every
#: number of features and every parameter of what follows them.
ErrorCurve = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Setting, int], np.ndarray]


def zero_mean_unit_norm(columns: np.ndarray) -> np.ndarray:
    """Centre columns and scale them to unit length; constant ones become zero."""
    centred = columns - columns.mean(axis=0)
    length = np.linalg.norm(centred, axis=0)
    return centred / np.where(length > 0, length, 1.0)


def padded(curve: np.ndarray, length: int) -> np.ndarray:
    """Return a curve of this length: where there are no more features, the error stays."""
    return np.concatenate([curve, np.repeat(curve[-1:], length - len(curve), axis=0)])


def folds(n_rows: int, n_folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return training and test rows of a random cross-validation."""
    return list(KFold(n_folds, shuffle=True, random_state=seed).split(np.empty(n_rows)))


def chosen(
    X: np.ndarray,
    y: np.ndarray,
    settings: Sequence[Setting],
    error_curve: ErrorCurve,
    n_folds: int,
    seed: int,
) -> tuple[Setting, tuple[int, ...]]:
    """Return the setting with the least mean error, and the place on its curve; the first of equals."""
    splits = folds(len(X), n_folds, seed)
    means = [
        np.mean([error_curve(X[a], y[a], X[b], y[b], setting, seed) for a, b in splits], axis=0)
        for setting in settings
    ]
    best = int(np.argmin([mean.min() for mean in means]))
    place = np.unravel_index(int(np.argmin(means[best])), means[best].shape)
    return settings[best], tuple(int(index) for index in place)


def nested_cross_validation(
    X: np.ndarray,
    y: np.ndarray,
    settings: Sequence[Setting],
    error_curve: ErrorCurve,
    *,
    repetitions: int,
    inner_folds: int,
    outer_folds: int = 5,
) -> np.ndarray:
    """Return the test errors of all outer folds, with the parameters that the inner ones choose."""
    errors = []
    for seed in range(repetitions):
        for a, b in folds(len(X), outer_folds, seed):
            setting, place = chosen(X[a], y[a], settings, error_curve, inner_folds, seed)
            errors.append(error_curve(X[a], y[a], X[b], y[b], setting, seed)[place])
    return np.array(errors)
