"""Gene expressions, a Gaussian kernel, and the best cross-validation error over its width."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from sklearn.model_selection import StratifiedKFold

from kernelsieve import datasets

from .methods import (
    Search,
    errors_of,
    fitted,
    lowest_column,
    make,
    neighbour_errors,
    pls_errors,
    squared_distances,
)

FOLDS = 5
WIDTHS = tuple(2.0**j for j in range(-6, 4))  # gamma times the median squared distance


def of_unit_spread(X: np.ndarray, axis: int) -> np.ndarray:
    spread = X.std(axis=axis, keepdims=True)
    return (X - X.mean(axis=axis, keepdims=True)) / np.where(spread > 0, spread, 1.0)


PREPARATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "as they are": lambda X: X,
    "each gene to mean 0, variance 1": lambda X: of_unit_spread(X, axis=0),
    "each array to mean 0, variance 1": lambda X: of_unit_spread(X, axis=1),
    "each array to length 1": lambda X: X / np.linalg.norm(X, axis=1, keepdims=True),
    "logarithms of at least 20": lambda X: np.log(np.maximum(X, 20)),
}
CHOSEN = "as they are"


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels of a data set."""
    parts = datasets.load(name)
    return np.asarray(parts["X"], dtype=np.float64), np.asarray(parts["y"])


def without_empty_dimensions(X: np.ndarray) -> np.ndarray:
    """Return rows with the same inner products and as many columns as rows: n is far below d."""
    left, sizes, _ = np.linalg.svd(X, full_matrices=False)
    return left * sizes


def folds(y: np.ndarray, repetition: int) -> list[tuple[np.ndarray, np.ndarray]]:
    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=repetition)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a class with fewer rows than folds
        return list(splits.split(np.empty((len(y), 0)), y))


def neighbour_error(X: np.ndarray, y: np.ndarray, repetition: int) -> float:
    """Return the cross-validation error of the nearest neighbour, in per cent."""
    D = squared_distances(X, X)
    wrong = [neighbour_errors(D[np.ix_(b, a)], y[a], y[b]) for a, b in folds(y, repetition)]
    return 100 * sum(wrong) / len(y)


def kernels(X: np.ndarray) -> list[tuple[float, np.ndarray]]:
    """Return gamma and Gram matrix for every width."""
    D = np.maximum(squared_distances(X, X), 0.0)
    unit = 1 / np.median(D[np.triu_indices(len(D), 1)])
    return [(width * unit, np.exp(-width * unit * D)) for width in WIDTHS]


def counted(
    method: str, X: np.ndarray, y: np.ndarray, K: np.ndarray, gamma: float, repetition: int
) -> np.ndarray:
    """Count the errors of all folds for one width; kernel PLS has several numbers of features."""
    total: np.ndarray = np.zeros(1, dtype=int)
    for a, b in folds(y, repetition):
        K_train, K_new = K[np.ix_(a, a)], K[np.ix_(b, a)]
        if method == "KPLS":
            wrong = list(pls_errors(K_train, y[a], K_new, y[b]).values())
        elif method in ("KOC", "SKFE"):
            model = fitted(make(method, kernel="precomputed"), K_train, y[a])
            wrong = [errors_of(model, K_train, y[a], K_new, y[b])]
        else:
            between = "factor" if method.endswith("factor") else "projected"
            model = make("AKDA/QR", approximate=True, between=between, gamma=gamma)
            wrong = [errors_of(fitted(model, X[a], y[a]), X[a], y[a], X[b], y[b])]
        total = total + wrong
    return total


def table2(data: str, method: str, repetitions: int) -> dict[str, np.ndarray]:
    """Return the errors of a cell, each at its best width, in per cent."""
    X, y = load(data)
    if method == "1-NN":
        return {"error": neighbour_errors_of(data, CHOSEN, repetitions)}
    rows = without_empty_dimensions(PREPARATIONS[CHOSEN](X))
    widths = kernels(rows)
    wrong = [
        np.min([counted(method, rows, y, K, gamma, i) for gamma, K in widths], axis=0)
        for i in range(repetitions)
    ]
    return {"error": lowest_column(100 * np.array(wrong) / len(y))}


def neighbour_errors_of(data: str, preparation: str, repetitions: int) -> np.ndarray:
    """Return the errors of the nearest neighbour for a preparation of the values."""
    X, y = load(data)
    rows = PREPARATIONS[preparation](X)
    return np.array([neighbour_error(rows, y, i) for i in range(repetitions)])


def errors_by_iterations(
    data: str, search: Search, iterations: Sequence[int], repetitions: int
) -> list[list[float]]:
    """Return the errors of SKFE, each at its best width, for several lengths of a search."""
    X, y = load(data)
    widths = [K for _, K in kernels(without_empty_dimensions(PREPARATIONS[CHOSEN](X)))]

    def error(most: int, repetition: int) -> float:
        pairs = folds(y, repetition)
        wrong = [
            sum(search(K[np.ix_(a, a)], y[a], K[np.ix_(b, a)], y[b], most) for a, b in pairs)
            for K in widths
        ]
        return 100 * min(wrong) / len(y)

    return [[error(most, i) for most in iterations] for i in range(repetitions)]
