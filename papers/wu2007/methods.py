"""The paper's methods, from rows or kernel matrices to the error of the nearest neighbour."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import ceil
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.exceptions import ConvergenceWarning

from kernelsieve import (
    KernelDiscriminantQR,
    KernelOrthogonalCentroid,
    KernelPLS,
    SubspaceKernelFeatures,
)
from kernelsieve.exceptions import FewerFeaturesWarning
from kernelsieve.subspace.images import independent
from kernelsieve.subspace.objectives import TargetAlignment
from kernelsieve.subspace.optimise import Directions, maximise

# KDA/QR as the code of its authors has it: all classes count alike.
DISCRIMINANT = {"balanced": True}


def numbers_of_features(n_classes: int) -> tuple[int, ...]:
    """Return c/4, c/2 and c, which are tried for kernel PLS; one of them may be another."""
    return tuple(sorted({ceil(n_classes / 4), ceil(n_classes / 2), n_classes}))


def squared_distances(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the squared distances between two sets of rows."""
    return (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2 * A @ B.T


def neighbour_errors(distances: np.ndarray, y: np.ndarray, truth: np.ndarray) -> int:
    """Count the rows whose nearest neighbour has another label."""
    return int(np.count_nonzero(y[distances.argmin(axis=1)] != truth))


def fitted(model: Any, X: Any, y: np.ndarray) -> Any:
    """Fit; that a search stopped early, or that centroids depend on each other, is no news here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        return model.fit(X, y)


def make(method: str, **parameters: Any) -> Any:
    """Return an estimator for one of the methods, but kernel PLS."""
    if method == "AKDA/QR":
        return KernelDiscriminantQR(**DISCRIMINANT, **parameters)
    return {"KOC": KernelOrthogonalCentroid, "SKFE": SubspaceKernelFeatures}[method](**parameters)


def errors_of(model: Any, X: Any, y: np.ndarray, X_new: Any, truth: np.ndarray) -> int:
    """Count the errors of the nearest neighbour in the features of a fitted model."""
    return neighbour_errors(squared_distances(model.transform(X_new), model.transform(X)), y, truth)


def pls_errors(K: np.ndarray, y: np.ndarray, K_new: np.ndarray, truth: np.ndarray) -> dict[int, int]:
    """Count the errors for each number of features of kernel PLS on plain indicators of the classes."""
    classes = np.unique(y)
    targets = (y[:, None] == classes).astype(float)
    model = fitted(KernelPLS(len(classes), kernel="precomputed", tol=1e-20), K, targets)
    features, new = model.transform(K), model.transform(K_new)
    return {
        k: neighbour_errors(squared_distances(new[:, :k], features[:, :k]), y, truth)
        for k in numbers_of_features(len(classes))
    }


def lowest_column(errors: np.ndarray) -> np.ndarray:
    """Return the errors of all repetitions for the number of features that has the least mean."""
    return errors[:, errors.mean(axis=0).argmin()]


#: From a kernel matrix and labels, kernel values of new rows and their labels, and a number of
#: iterations, to the errors of the nearest neighbour after so many.
Search = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int], int]


def our_search(K: np.ndarray, y: np.ndarray, K_new: np.ndarray, truth: np.ndarray, most: int) -> int:
    """L-BFGS in orthonormal coordinates of the feature space: what the library does."""
    model = fitted(make("SKFE", kernel="precomputed", max_iter=most, tol=0.0), K, y)
    return errors_of(model, K, y, K_new, truth)


def papers_search(K: np.ndarray, y: np.ndarray, K_new: np.ndarray, truth: np.ndarray, most: int) -> int:
    """Conjugate gradients in the coefficients W, as section 4 is written."""
    factor, chosen = independent(K)
    labels = (y[:, None] == np.unique(y)).astype(float)
    in_directions = Directions(factor.T, TargetAlignment(labels))

    def in_coefficients(W: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = in_directions(factor @ W)
        return value, factor.T @ slope

    start = labels / labels.sum(axis=0)  # KOC
    found = maximise(in_coefficients, start, lambda W: W, solver="cg", max_iter=most, tol=0.0)
    basis = np.linalg.qr(factor @ found.point)[0]
    projection = solve_triangular(factor[:, chosen], basis)
    features, new = K[:, chosen] @ projection, K_new[:, chosen] @ projection
    return neighbour_errors(squared_distances(new, features), y, truth)


SEARCHES: dict[str, Search] = {"L-BFGS": our_search, "in coefficients": papers_search}
