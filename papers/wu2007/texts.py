"""Texts, a linear kernel, half of each class to train."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import normalize

from kernelsieve import datasets

from .methods import Search, errors_of, fitted, lowest_column, make, neighbour_errors, pls_errors

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
    "AKDA/QR": make("AKDA/QR", kernel="linear", approximate=True),
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


def table3(data: str, method: str, repetitions: int) -> dict[str, np.ndarray]:
    """Return the errors of a cell on the other halves, in per cent."""
    if method == "1-NN":
        return {"error": neighbour_errors_of(data, CHOSEN, repetitions)}
    X, y = load(data)
    X = PREPARATIONS[CHOSEN](X)
    gram = inner_products(X) if method == "KPLS" else None
    errors = []
    for i in range(repetitions):
        a, b = halves(y, i)
        if gram is not None:
            wrong = list(pls_errors(gram[np.ix_(a, a)], y[a], gram[np.ix_(b, a)], y[b]).values())
        else:
            wrong = [errors_of(fitted(clone(MODELS[method]), X[a], y[a]), X[a], y[a], X[b], y[b])]
        errors.append([100 * count / len(b) for count in wrong])
    return {"error": lowest_column(np.array(errors))}


def neighbour_errors_of(data: str, preparation: str, repetitions: int) -> np.ndarray:
    """Return the errors of the nearest neighbour for a preparation of the counts."""
    X, y = load(data)
    D = distances_of(inner_products(PREPARATIONS[preparation](X)))
    pairs = [halves(y, i) for i in range(repetitions)]
    return np.array([100 * neighbour_errors(D[np.ix_(b, a)], y[a], y[b]) / len(b) for a, b in pairs])


def errors_by_iterations(
    data: str, search: Search, iterations: Sequence[int], repetitions: int
) -> list[list[float]]:
    """Return the errors of SKFE for several lengths of a search."""
    X, y = load(data)
    gram = inner_products(PREPARATIONS[CHOSEN](X))

    def error(most: int, repetition: int) -> float:
        a, b = halves(y, repetition)
        wrong = search(gram[np.ix_(a, a)], y[a], gram[np.ix_(b, a)], y[b], most)
        return 100 * wrong / len(b)

    return [[error(most, i) for most in iterations] for i in range(repetitions)]
