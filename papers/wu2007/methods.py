"""The paper's methods, from rows or kernel matrices to the error of the nearest neighbour."""

from __future__ import annotations

import warnings
from math import ceil
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernelsieve import (
    KernelDiscriminantQR,
    KernelOrthogonalCentroid,
    KernelPLS,
    SubspaceKernelFeatures,
)
from kernelsieve.exceptions import FewerFeaturesWarning

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
    model = fitted(KernelPLS(len(classes), kernel="precomputed", target="continuous"), K, targets)
    features, new = model.transform(K), model.transform(K_new)
    return {
        k: neighbour_errors(squared_distances(new[:, :k], features[:, :k]), y, truth)
        for k in numbers_of_features(len(classes))
    }
