"""Least squares after feature extraction, for every number of features at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh, lstsq, qr, solve_triangular

from kernelsieve.datasets import load

from . import methods
from .protocol import Setting, nested_cross_validation, padded, zero_mean_unit_norm

CUTOFFS = 10.0 ** -np.arange(3, 15)  # of the eigenvalues of K, relative to the largest


def nested_least_squares(Z: np.ndarray, y: np.ndarray, Z_test: np.ndarray) -> np.ndarray:
    """Return predictions of test rows, with a column for every number of first features."""
    centre = Z.mean(axis=0)
    Q, R = qr(Z - centre, mode="economic")
    coordinates = solve_triangular(R, (Z_test - centre).T, trans="T").T
    return y.mean() + np.cumsum(coordinates * (Q.T @ (y - y.mean())), axis=1)


def ordinary_least_squares(X: np.ndarray, y: np.ndarray, X_test: np.ndarray) -> np.ndarray:
    """Return predictions of test rows, as a column."""
    centre = X.mean(axis=0)
    return y.mean() + (X_test - centre) @ lstsq(X - centre, (y - y.mean())[:, None])[0]


def kernel_least_squares(K: np.ndarray, y: np.ndarray, K_test: np.ndarray) -> np.ndarray:
    """Return predictions of test rows by the pseudo-inverse of K, with a column for every cutoff."""
    values, vectors = eigh(K)
    coordinates = vectors.T @ y
    weights = np.where(values > CUTOFFS[:, None] * values[-1], coordinates / values, 0.0)
    return K_test @ (vectors @ weights.T)


def predictions(
    method: str,
    most: int,
    X: np.ndarray,
    y: np.ndarray,
    X_test: np.ndarray,
    setting: Setting,
    seed: int,
) -> np.ndarray:
    """Return predictions of test rows, with a column for every number of features up to the most."""
    if method == "All features":
        return ordinary_least_squares(X, y, X_test)
    if method == "RBF Features":
        K, K_test = methods.rbf_columns(X, X_test, setting["sigma"])
        return kernel_least_squares(K, y, K_test)
    Z, Z_test = methods.features(method, X, y, X_test, most, setting, seed)
    return nested_least_squares(Z, y, Z_test)


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
    """Return the root mean squared errors of all folds."""
    parts = load(data)
    X = zero_mean_unit_norm(np.asarray(parts["X"][:rows], dtype=float))
    y = zero_mean_unit_norm(np.asarray(parts["y"][:rows], dtype=float))
    rank = int(np.linalg.matrix_rank(X))

    def curve(A: np.ndarray, a: np.ndarray, B: np.ndarray, b: np.ndarray, setting: Setting, seed: int):
        predicted = predictions(method, rank, A, a, B, setting, seed)
        errors = np.sqrt(np.mean((predicted - b[:, None]) ** 2, axis=0))
        return padded(errors, max(rank, len(errors)))

    errors = nested_cross_validation(
        X,
        y,
        methods.settings(method, sigmas, sparsities, subsets),
        curve,
        repetitions=repetitions,
        inner_folds=inner_folds,
    )
    return {"error": errors}
