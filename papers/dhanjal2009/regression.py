"""Least squares after feature extraction, for every number of features at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import lstsq, qr, solve_triangular

from kernelsieve.datasets import load_local

from . import methods
from .protocol import Setting, nested_cross_validation, zero_mean_unit_norm


def nested_least_squares(Z: np.ndarray, y: np.ndarray, Z_test: np.ndarray) -> np.ndarray:
    """Return predictions of test rows, with a column for every number of first features."""
    centre = Z.mean(axis=0)
    Q, R = qr(Z - centre, mode="economic")
    coordinates = solve_triangular(R, (Z_test - centre).T, trans="T").T
    return y.mean() + np.cumsum(coordinates * (Q.T @ (y - y.mean())), axis=1)


def padded(curve: np.ndarray, length: int) -> np.ndarray:
    """Return a curve of this length: where there are no more features, the error stays."""
    return np.concatenate([curve, np.repeat(curve[-1:], length - len(curve), axis=0)])


def root_mean_squared_errors(
    method: str,
    most: int,
    X: np.ndarray,
    y: np.ndarray,
    X_test: np.ndarray,
    y_test: np.ndarray,
    setting: Setting,
    seed: int,
) -> np.ndarray:
    """Return the error on test rows for every number of features up to the most."""
    if method in ("All features", "RBF Features"):
        Z, Z_test = methods.all_features(X, X_test, setting["sigma"])
        ones, ones_test = np.ones((len(Z), 1)), np.ones((len(Z_test), 1))
        predicted = np.hstack([ones_test, Z_test]) @ lstsq(np.hstack([ones, Z]), y[:, None])[0]
    else:
        Z, Z_test = methods.features(method, X, y, X_test, most, setting, seed)
        predicted = nested_least_squares(Z, y, Z_test)
    return np.sqrt(np.mean((predicted - y_test[:, None]) ** 2, axis=0))


def table3(
    data: str,
    method: str,
    rows: int,
    repetitions: int,
    inner_folds: int,
    sigmas: Sequence[float],
    sparsities: Sequence[float],
    subsets: Sequence[int],
) -> dict[str, np.ndarray]:
    """Return the errors of all folds of a cell."""
    parts = load_local(data)
    X = zero_mean_unit_norm(np.asarray(parts["X"][:rows], dtype=float))
    y = zero_mean_unit_norm(np.asarray(parts["y"][:rows], dtype=float))
    rank = int(np.linalg.matrix_rank(X))

    def curve(A: np.ndarray, a: np.ndarray, B: np.ndarray, b: np.ndarray, setting: Setting, seed: int):
        return padded(root_mean_squared_errors(method, rank, A, a, B, b, setting, seed), rank)

    settings = methods.settings(method, sigmas, sparsities, subsets)
    errors = nested_cross_validation(
        X, y, settings, curve, repetitions=repetitions, inner_folds=inner_folds, classes=False
    )
    return {"error": errors}
