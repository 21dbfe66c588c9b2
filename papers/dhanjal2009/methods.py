"""The paper's extractors, as features of training and test rows."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from kernelsieve import (
    BoostedLatentFeatures,
    BoostedLatentFeaturesClassifier,
    Candidates,
    KernelBoosting,
    KernelPLS,
    ReducedKernelOPLS,
    SparseKernelPLS,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
)

from .naive import deflated_features
from .protocol import Setting

COLUMNS = 500  # kernel columns that a step of SMA and SMC looks at, and the cache of sparse KPLS
LOSSES = {"Exp": "exponential", "Log": "logistic", "LAD": "absolute"}

Features = tuple[np.ndarray, np.ndarray]  # of training and test rows


def keeping_columns(n_columns: int) -> type[SparseKernelPLS]:
    """Return sparse kernel PLS that keeps so many kernel columns, as the paper's cache does."""
    return type("SparseKernelPLS", (SparseKernelPLS,), {"columns_kept": n_columns})


def settings(
    method: str,
    sigmas: Iterable[float],
    sparsities: Iterable[float],
    subsets: Iterable[int],
) -> list[Setting]:
    """Return the combinations of parameters to choose from, but for those of the head."""
    widths: list[Any] = list(sigmas) if "RBF" in method else [None]
    if method.startswith("Sp. "):
        grid = [("mr", nu) for nu in sparsities] + [("mi", nu) for nu in sparsities if nu < 1]
        return [{"sigma": s, "selection": how, "nu": nu} for s, (how, nu) in product(widths, grid)]
    if method.endswith("rKOPLS"):
        return [{"sigma": s, "n_landmarks": r} for s, r in product(widths, subsets)]
    return [{"sigma": s} for s in widths]


def kernel_of(sigma: float | None) -> dict[str, Any]:
    return {"kernel": "linear"} if sigma is None else {"kernel": "rbf", "gamma": 1 / (2 * sigma**2)}


def rbf_columns(X: np.ndarray, X_test: np.ndarray, sigma: float) -> Features:
    """Return the kernel columns of the training rows."""
    gamma = 1 / (2 * sigma**2)
    return rbf_kernel(X, gamma=gamma), rbf_kernel(X_test, X, gamma=gamma)


def extractor(method: str, n_components: int, n_rows: int, setting: Setting, seed: int) -> Any:
    """Return the extractor of a line of the tables, not fitted."""
    parameters = {key: value for key, value in setting.items() if key != "sigma"}
    kernel = kernel_of(setting["sigma"])
    name = method.replace("RBF ", "")
    if name in ("SMA", "SMC"):
        columns = (
            {"candidates": Candidates(COLUMNS, resample=True)}
            if n_rows > COLUMNS
            else {"candidates": "all"}
        )
        given = {**kernel, **columns, "random_state": seed}
        if name == "SMA":
            return SparseMaximalAlignment(n_components, scale="unit_variance", **given)
        return SparseMaximalCovariance(n_components, **given)
    if name == "PLS":
        return KernelPLS(n_components, candidates="all", **kernel)
    if name.startswith("Sp. "):
        size = min(COLUMNS, n_rows)
        return keeping_columns(size)(
            n_components,
            sample_size=size,
            random_state=seed,
            **kernel,
            **parameters,
        )
    if name == "rKOPLS":
        return ReducedKernelOPLS(
            n_landmarks=min(parameters["n_landmarks"], n_rows), random_state=seed, **kernel
        )
    first, kind = name.split()
    if kind == "BLF":
        kinds = BoostedLatentFeatures if first == "LAD" else BoostedLatentFeaturesClassifier
        return kinds(n_components, loss=LOSSES[first], scale="unit_variance")
    return KernelBoosting(n_components, loss={"Exp": "exponential", "Log": "log"}[first], **kernel)


def features(
    method: str,
    X: np.ndarray,
    y: np.ndarray,
    X_test: np.ndarray,
    most: int,
    setting: Setting,
    seed: int,
) -> Features:
    """Return at most so many features of training and test rows."""
    if method.startswith("naive "):
        K, K_test = rbf_columns(X, X_test, setting["sigma"])
        return deflated_features(method.split()[-1], K, y, K_test, most, COLUMNS, seed)
    labels = method.endswith(" KB") or method in ("Exp BLF", "Log BLF")
    model = extractor(method, most, len(X), setting, seed).fit(X, y if labels else y.astype(float))
    return model.transform(X), model.transform(X_test)


def squared_length_of(method: str, n_rows: int) -> float:
    """Return by what inner products of features are divided to be those of the paper.

    Features of SMA and BLF have unit length there, as in (5) and section 3.2.3, and unit mean square
    here.
    """
    is_unit = method.endswith(("SMA", "BLF")) and not method.startswith("naive ")
    return float(n_rows) if is_unit else 1.0
