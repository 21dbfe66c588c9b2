"""The paper's four methods, all about the mean of the images."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from kernelsieve import AcceleratedKernelFeatureAnalysis, KernelPCA, SparseKernelFeatureAnalysis
from kernelsieve.exceptions import FewerFeaturesWarning

METHODS = ("KPCA", "ACKFA", "AKFA", "SKFA")  # in the order of the paper's tables


def gamma_of(sigma: float) -> float:
    """Return gamma of exp(-gamma d^2) for the paper's exp(-d^2 / (2 sigma^2))."""
    return 1 / (2 * sigma**2)


def gaussian(X: np.ndarray, sigma: float) -> np.ndarray:
    """Return the Gram matrix of the rows."""
    squares = np.einsum("ij,ij->i", X, X)
    distances = squares[:, None] + squares - 2 * X @ X.T
    np.fill_diagonal(distances, 0)
    return np.exp(-gamma_of(sigma) * np.maximum(distances, 0))


def make(method: str, n_components: int, *, cutoff: float, **kernel: Any) -> Any:
    """Return an estimator for one of the methods, about the mean of the images as in section 2."""
    common = {"n_components": n_components, "candidates": "all", "center": True, **kernel}
    if method == "KPCA":
        return KernelPCA(random_state=0, **common)
    if method == "SKFA":
        return SparseKernelFeatureAnalysis(**common)
    return AcceleratedKernelFeatureAnalysis(cutoff=cutoff if method == "ACKFA" else 0.0, **common)


def fit(method: str, K: np.ndarray, n_components: int, cutoff: float) -> Any:
    """Fit on a Gram matrix."""
    return quietly(make(method, n_components, cutoff=cutoff, kernel="precomputed").fit, K)


def quietly(call: Callable[[np.ndarray], Any], argument: np.ndarray) -> Any:
    """Call; a cutoff may end the search early, which is what it is for."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        return call(argument)
