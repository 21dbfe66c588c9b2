"""Table 2: gene expressions, a Gaussian kernel, and the best cross-validation error over its width.

The functions are pure: numbers in, numbers out. Tests use them too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from kernelsieve import datasets

from .methods import Search, errors_of, fitted, make, neighbour_errors, pls_errors, squared_distances

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


@threadpool_limits.wrap(limits=1)
def one_repetition(X: np.ndarray, y: np.ndarray, repetition: int) -> dict[str, float]:
    """Return the error of every method (and number of features), each at its best width."""
    D = np.maximum(squared_distances(X, X), 0.0)
    unit = 1 / np.median(D[np.triu_indices(len(D), 1)])
    found: dict[str, list[int]] = {}
    for width in WIDTHS:
        for key, wrong in _errors(X, y, np.exp(-width * unit * D), width * unit, repetition).items():
            found.setdefault(key, []).append(wrong)
    errors = {key: 100 * min(wrong) / len(y) for key, wrong in found.items()}
    return {"1-NN": neighbour_error(X, y, repetition), **errors}


def _errors(
    X: np.ndarray, y: np.ndarray, K: np.ndarray, gamma: float, repetition: int
) -> dict[str, int]:
    """Count the errors of all folds for one width."""
    total: dict[str, int] = {}

    def add(key: str, wrong: int) -> None:
        total[key] = total.get(key, 0) + wrong

    for a, b in folds(y, repetition):
        K_train, K_new = K[np.ix_(a, a)], K[np.ix_(b, a)]
        for k, wrong in pls_errors(K_train, y[a], K_new, y[b]).items():
            add(f"KPLS, {k}", wrong)
        for method in ("KOC", "SKFE"):
            model = fitted(make(method, kernel="precomputed"), K_train, y[a])
            add(method, errors_of(model, K_train, y[a], K_new, y[b]))
        for between in ("projected", "factor"):
            model = make("AKDA/QR", approximate=True, between=between, gamma=gamma)
            wrong = errors_of(fitted(model, X[a], y[a]), X[a], y[a], X[b], y[b])
            add(f"AKDA/QR, {between}", wrong)
    return total


def errors(name: str, repetitions: Sequence[int]) -> dict[str, np.ndarray]:
    """Return the errors of all repetitions, by method."""
    X, y = load(name)
    rows = without_empty_dimensions(PREPARATIONS[CHOSEN](X))
    found = Parallel(n_jobs=-1)(delayed(one_repetition)(rows, y, i) for i in repetitions)
    return {key: np.array([each[key] for each in found]) for key in found[0]}


@threadpool_limits.wrap(limits=1)
def searched(X: np.ndarray, y: np.ndarray, search: Search, most: int, repetition: int) -> float:
    """Return the error of SKFE, at its best width, after a number of iterations."""
    D = np.maximum(squared_distances(X, X), 0.0)
    unit = 1 / np.median(D[np.triu_indices(len(D), 1)])

    def wrong(K: np.ndarray) -> int:
        pairs = folds(y, repetition)
        return sum(search(K[np.ix_(a, a)], y[a], K[np.ix_(b, a)], y[b], most) for a, b in pairs)

    return 100 * min(wrong(np.exp(-width * unit * D)) for width in WIDTHS) / len(y)


def errors_by_iterations(
    name: str, search: Search, iterations: Sequence[int], repetitions: Sequence[int]
) -> list[float]:
    """Return the mean error of SKFE for several lengths of a search."""
    X, y = load(name)
    rows = without_empty_dimensions(X)
    cases = [(most, i) for most in iterations for i in repetitions]
    found = Parallel(n_jobs=-1)(delayed(searched)(rows, y, search, *case) for case in cases)
    return np.reshape(found, (len(iterations), -1)).mean(axis=1).tolist()


def neighbour_means(name: str, repetitions: Sequence[int]) -> dict[str, float]:
    """Return the error of the nearest neighbour for every preparation of the values."""
    X, y = load(name)
    return {
        key: float(np.mean([neighbour_error(prepare(X), y, i) for i in repetitions]))
        for key, prepare in PREPARATIONS.items()
    }
