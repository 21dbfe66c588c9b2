"""Table 3: text, a linear kernel, half of each class to train.

The functions are pure: numbers in, numbers out. Tests use them too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from kernelsieve import datasets

from .methods import Search, errors_of, fitted, make, neighbour_errors, pls_errors

Counts = sparse.csr_matrix


def with_rare_words_heavy(X: Counts) -> Counts:
    """Return counts times the logarithm of (documents / documents with the word)."""
    documents = np.maximum(np.asarray((X > 0).sum(axis=0)).ravel(), 1)
    return sparse.csr_matrix(X @ sparse.diags_array(np.log(X.shape[0] / documents)))


PREPARATIONS: dict[str, Callable[[Counts], Counts]] = {
    "counts": lambda X: X,
    "tf-idf": with_rare_words_heavy,
    "length 1": normalize,
    "tf-idf, length 1": lambda X: normalize(with_rare_words_heavy(X)),
}
CHOSEN = "counts"


MODELS = {
    "KOC": make("KOC", kernel="linear"),
    "SKFE": make("SKFE", kernel="linear"),
    "AKDA/QR, balanced": make("AKDA/QR", kernel="linear", approximate=True),
    "AKDA/QR, by size": make("AKDA/QR", kernel="linear", approximate=True).set_params(balanced=False),
}


def load(name: str) -> tuple[Counts, np.ndarray]:
    """Return counts and labels of a data set."""
    parts = datasets.load(name)
    return parts["X"].astype(np.float64), np.asarray(parts["y"])


def halves(y: np.ndarray, repetition: int) -> tuple[np.ndarray, np.ndarray]:
    """Return half of each class at random, and the rest."""
    rng = np.random.default_rng(repetition)
    rows = [np.flatnonzero(y == label) for label in np.unique(y)]
    train = np.sort(np.concatenate([rng.permutation(some)[: len(some) // 2] for some in rows]))
    return train, np.setdiff1d(np.arange(len(y)), train)


def inner_products(X: Counts) -> np.ndarray:
    return np.asarray((X @ X.T).toarray())


def distances_of(gram: np.ndarray) -> np.ndarray:
    return gram.diagonal()[:, None] + gram.diagonal() - 2 * gram


@threadpool_limits.wrap(limits=1)
def one_repetition(X: Counts, gram: np.ndarray, y: np.ndarray, repetition: int) -> dict[str, float]:
    """Return the test error of every method (and number of features)."""
    a, b = halves(y, repetition)
    K_new = gram[np.ix_(b, a)]
    squares = gram.diagonal()
    errors = {"1-NN": neighbour_errors(squares[a] - 2 * K_new, y[a], y[b])}
    for k, wrong in pls_errors(gram[np.ix_(a, a)], y[a], K_new, y[b]).items():
        errors[f"KPLS, {k}"] = wrong
    for key, model in MODELS.items():
        errors[key] = errors_of(fitted(clone(model), X[a], y[a]), X[a], y[a], X[b], y[b])
    return {key: 100 * wrong / len(b) for key, wrong in errors.items()}


def errors(name: str, repetitions: Sequence[int]) -> dict[str, np.ndarray]:
    """Return the errors of all repetitions, by method."""
    X, y = load(name)
    X = PREPARATIONS[CHOSEN](X)
    gram = inner_products(X)
    found = Parallel(n_jobs=-1)(delayed(one_repetition)(X, gram, y, i) for i in repetitions)
    return {key: np.array([each[key] for each in found]) for key in found[0]}


@threadpool_limits.wrap(limits=1)
def searched(gram: np.ndarray, y: np.ndarray, search: Search, most: int, repetition: int) -> float:
    """Return the test error of SKFE after a number of iterations."""
    a, b = halves(y, repetition)
    return 100 * search(gram[np.ix_(a, a)], y[a], gram[np.ix_(b, a)], y[b], most) / len(b)


def errors_by_iterations(
    name: str, search: Search, iterations: Sequence[int], repetitions: Sequence[int]
) -> list[float]:
    """Return the mean error of SKFE for several lengths of a search."""
    X, y = load(name)
    gram = inner_products(PREPARATIONS[CHOSEN](X))
    cases = [(most, i) for most in iterations for i in repetitions]
    found = Parallel(n_jobs=-1)(delayed(searched)(gram, y, search, *case) for case in cases)
    return np.reshape(found, (len(iterations), -1)).mean(axis=1).tolist()


def neighbour_means(name: str, repetitions: Sequence[int]) -> dict[str, float]:
    """Return the error of the nearest neighbour for every preparation of the counts."""
    X, y = load(name)
    means = {}
    for key, prepare in PREPARATIONS.items():
        D = distances_of(inner_products(prepare(X)))
        wrong = [
            neighbour_errors(D[np.ix_(b, a)], y[a], y[b]) / len(b)
            for a, b in (halves(y, i) for i in repetitions)
        ]
        means[key] = 100 * float(np.mean(wrong))
    return means
