"""Nearest neighbours and support vector machines after feature extraction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.svm import SVC

from kernelsieve.datasets import load

from . import methods
from .protocol import Setting, nested_cross_validation, padded, zero_mean_unit_norm

NEIGHBOURS = (1, 3, 5, 7, 9)


def neighbour_errors(distances: np.ndarray, y: np.ndarray, y_test: np.ndarray) -> list[float]:
    """Return the error rate of test rows for every number of neighbours."""
    nearest = np.argpartition(distances, max(NEIGHBOURS), axis=1)[:, : max(NEIGHBOURS)]
    order = np.argsort(np.take_along_axis(distances, nearest, axis=1), axis=1, kind="stable")
    votes = np.cumsum(y[np.take_along_axis(nearest, order, axis=1)], axis=1)
    return [float(np.mean(np.sign(votes[:, k - 1]) != y_test)) for k in NEIGHBOURS]


def knn_curve(
    Z: np.ndarray, y: np.ndarray, Z_test: np.ndarray, y_test: np.ndarray, sizes: Sequence[int]
) -> np.ndarray:
    """Return the error rate for every number of features, a line each, and of neighbours."""
    distances, lines, done = np.zeros((len(Z_test), len(Z))), [], 0
    for size in sizes:
        distances += cdist(Z_test[:, done:size], Z[:, done:size], "sqeuclidean")
        lines.append(neighbour_errors(distances, y, y_test))
        done = size
    return np.array(lines)


def svm_curve(
    Z: np.ndarray,
    y: np.ndarray,
    Z_test: np.ndarray,
    y_test: np.ndarray,
    sizes: Sequence[int],
    penalties: Sequence[float],
    squared_length: float = 1.0,
) -> np.ndarray:
    """Return the error rate for every number of features, a line each, and penalty."""
    lines = []
    for size in sizes:
        K, K_test = Z[:, :size] @ Z[:, :size].T, Z_test[:, :size] @ Z[:, :size].T
        of_machine = K / squared_length, y, K_test / squared_length, y_test
        lines.append(machine_errors(*of_machine, penalties))
    return np.array(lines)


def machine_errors(
    K: np.ndarray, y: np.ndarray, K_test: np.ndarray, y_test: np.ndarray, penalties: Sequence[float]
) -> list[float]:
    """Return the error rate of support vector machines with given kernel values for every penalty."""
    machines = (SVC(C=C, kernel="precomputed").fit(K, y) for C in penalties)
    return [float(np.mean(machine.predict(K_test) != y_test)) for machine in machines]


def numbers_of_features(rank: int, most: int) -> list[int]:
    """Return at most so many numbers from 1 to the rank, closer together where they are small."""
    if most >= rank:
        return list(range(1, rank + 1))
    return sorted({round(size) for size in np.geomspace(1, rank, most)})


def error_rates(
    data: str,
    method: str,
    head: str,
    repetitions: int,
    inner_folds: int,
    sigmas: Sequence[float],
    sparsities: Sequence[float],
    numbers: int,
    boosting_steps: Sequence[int],
    penalties: Sequence[float],
) -> dict[str, np.ndarray]:
    """Return the error rates of all folds, for nearest neighbours ("knn") or a machine ("svm")."""
    parts = load(data)
    X = zero_mean_unit_norm(np.asarray(parts["X"], dtype=float))
    y = np.where(np.asarray(parts["y"]) > 0, 1, -1)
    sizes = numbers_of_features(int(np.linalg.matrix_rank(X)), numbers)
    if method.endswith(" KB"):
        sizes = [*sizes, *(steps for steps in boosting_steps if steps > sizes[-1])]

    def curve(A: np.ndarray, a: np.ndarray, B: np.ndarray, b: np.ndarray, setting: Setting, seed: int):
        if method == "RBF Features":
            K, K_test = methods.rbf_columns(A, B, setting["sigma"])
            errors = (
                neighbour_errors(-K_test, a, b)
                if head == "knn"
                else machine_errors(K, a, K_test, b, penalties)
            )
            return np.array(errors)
        if method == "All features":
            Z, Z_test, shown = A, B, [A.shape[1]]
        else:
            Z, Z_test = methods.features(method, A, a, B, sizes[-1], setting, seed)
            shown = [size for size in sizes if size <= Z.shape[1]] or [Z.shape[1]]
        if head == "knn":
            return padded(knn_curve(Z, a, Z_test, b, shown), len(sizes))
        unit = methods.squared_length_of(method, len(A))
        return padded(svm_curve(Z, a, Z_test, b, shown, penalties, unit), len(sizes))

    errors = nested_cross_validation(
        X,
        y,
        methods.settings(method, sigmas, sparsities, ()),
        curve,
        repetitions=repetitions,
        inner_folds=inner_folds,
    )
    return {"error": errors}
