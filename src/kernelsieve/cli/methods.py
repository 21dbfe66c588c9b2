"""Which estimator a name on the command line stands for, and how its settings are chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GroupKFold
from sklearn.svm import LinearSVC, LinearSVR

import kernelsieve

from ..kernels import KERNELS, kernel_class
from ..model_selection import ComponentPathCV
from .errors import TableError

#: For regression, and for classification; those that predict by themselves need no head.
METHODS = {
    "sma": ("SparseMaximalAlignment", "SparseMaximalAlignment"),
    "smc": ("SparseMaximalCovariance", "SparseMaximalCovariance"),
    "kpls": ("KernelPLS", "KernelPLSClassifier"),
    "kfd": (None, "KernelFisherDiscriminant"),
    "gkfd": (None, "GreedyKernelFisherDiscriminant"),
    "kpca": ("KernelPCA", "KernelPCA"),
    "akfa": ("AcceleratedKernelFeatureAnalysis", "AcceleratedKernelFeatureAnalysis"),
    "skfa": ("SparseKernelFeatureAnalysis", "SparseKernelFeatureAnalysis"),
    "rkopls": ("ReducedKernelOPLS", "ReducedKernelOPLS"),
}
_SIEVES = {"regression": "SieveRegressor", "classification": "SieveClassifier"}
_WIDTHS = ["scale/16", "scale/4", "scale"]
_SIZES = 20  # numbers of features that are scored
_PENALTIES = [1e-3, 1e-2, 1e-1, 1.0, 10.0]


def automatic(task: str, budget: int, seed: int) -> Any:
    """Return the estimator that chooses everything itself; None where there is none."""
    if _SIEVES[task] not in kernelsieve.__all__:
        return None
    return getattr(kernelsieve, _SIEVES[task])(n_landmarks=budget, random_state=seed)


def search(
    given: Mapping[str, Any], task: str, y: np.ndarray, *, grouped: bool = False
) -> ComponentPathCV:
    """Return the search over numbers of features, widths and penalties that options ask for."""
    extractor = _extractor(given, task)
    predicts = hasattr(extractor, "predict")
    grid: dict[str, list] = {}
    if given["gamma"] == "auto" and "gamma" in kernel_class(given["kernel"]).parameter_names():
        grid["gamma"] = _WIDTHS
    head = None
    if not predicts:
        head = Ridge() if task == "regression" else RidgeClassifier()
        grid["head__alpha"] = _PENALTIES
    return ComponentPathCV(
        extractor,
        head,
        n_components=_sizes(given, y),
        param_grid=grid,
        max_kernel_evaluations=None if predicts else given["budget"],
        cv=GroupKFold(5) if grouped else None,
    )


def _extractor(given: Mapping[str, Any], task: str) -> Any:
    method = "sma" if given["method"] == "auto" else given["method"]
    if method not in METHODS:
        raise TableError(f"--method {method} is not known; pass auto, {', '.join(METHODS)}.")
    name = METHODS[method][task == "classification"]
    if name is None:
        raise TableError(f"--method {method} is for classification, and the target has numbers.")
    if given["kernel"] not in KERNELS or given["kernel"] == "precomputed":
        raise TableError(
            f"--kernel {given['kernel']} is not known; pass rbf, linear, matern, laplacian, ..."
        )
    entry = getattr(kernelsieve, name)
    options = {
        "kernel": given["kernel"],
        "gamma": _width(given["gamma"]),
        "random_state": given["seed"],
    }
    known = entry().get_params()
    if "scale" in known and given["kernel"] != "sigmoid":
        options["scale"] = "rkhs"  # penalties then see how rough a direction is
    if "target" in known:
        options["target"] = "classes" if task == "classification" else "continuous"
    return entry(**options)


def _width(gamma: str) -> float | str:
    if gamma == "auto":
        return "scale"
    try:
        return float(gamma)
    except ValueError:
        return gamma


def _sizes(given: Mapping[str, Any], y: np.ndarray) -> list[int]:
    """Return the numbers of features to look at: fewer than the samples of a fold."""
    if given["method"] == "kfd":
        return [max(1, len(np.unique(y)) - 1)]
    if given["k"] == "auto":
        most = max(1, min(given["budget"], len(y) // 2))
        return np.unique(np.geomspace(1, most, _SIZES).round().astype(int)).tolist()
    try:
        k = int(given["k"])
    except ValueError:
        k = 0
    if k < 1:
        raise TableError(f"--k {given['k']} must be auto, or a whole number of at least 1.")
    return [k]


def other_head(name: str, task: str) -> Any:
    """Return the head that takes the place of ridge; None where ridge stays."""
    heads = {
        "auto": (None, LogisticRegression(max_iter=1000)),
        "ridge": (None, None),
        "none": (None, None),
        "logistic": (False, LogisticRegression(max_iter=1000)),
        "svm": (LinearSVR(), LinearSVC()),
    }
    if name not in heads:
        raise TableError(f"--head {name} is not known; pass auto, {', '.join(list(heads)[1:])}.")
    head = heads[name][task == "classification"]
    if head is False:
        raise TableError(f"--head {name} is for classification, and the target has numbers.")
    return head


def extractor_of(fitted: Any) -> Any:
    """Return the estimator of kernelsieve inside what was fitted."""
    chosen = getattr(fitted, "best_estimator_", fitted)
    return getattr(chosen, "extractor", chosen)
