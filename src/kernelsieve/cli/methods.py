"""The methods of the command line: their estimators, and the search for their settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GroupKFold
from sklearn.svm import LinearSVC, LinearSVR

import kernelsieve

from ..kernels import KERNELS, PRESETS, kernel_class
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
#: What a sieve or cross-validation chooses, where the user does not.
OPEN = {"method": "auto", "k": "auto", "kernel": "rbf", "gamma": "auto", "head": "auto"}
_SIEVES = {"regression": "SieveRegressor", "classification": "SieveClassifier"}
_WIDTHS = ["scale/16", "scale/4", "scale"]
_SIZES, _FEW_SIZES = 20, 6  # numbers of features that are scored; where a head is fitted to each
_RIDGES = [1e-3, 1e-2, 1e-1, 1.0, 10.0]
_PENALTIES = [1.0, 30.0, 1000.0]  # of losses, beside squares of coefficients
_HEADS = ("ridge", "logistic", "svm", "none")


def make_sieve(task: str, budget: int, seed: int) -> Any:
    """Return the sieve estimator for a task, which takes tables and chooses all settings itself."""
    return getattr(kernelsieve, _SIEVES[task])(n_landmarks=budget, random_state=seed)


class CrossValidatedMethod:
    """A method whose number of features, kernel width and penalty are cross-validated.

    Ridge heads are scored for all numbers of features at once, so they choose the width of the kernel.
    Another head is then fitted to few numbers of features, near the one that was best.
    """

    def __init__(self, given: Mapping[str, Any], task: str) -> None:
        self._given, self._task = given, task
        self.extractor = _extractor(given, task)
        self._head = self._head_name()

    def _head_name(self) -> str | None:
        """Return the name of the head; None if the method predicts by itself."""
        name, predicts = self._given["head"], predicts_alone(self.extractor)
        classifies = self._task == "classification"
        if name == "auto":
            return None if predicts else "logistic" if classifies else "ridge"
        if name not in _HEADS:
            raise TableError(f"--head {name} is not known; pass auto, {', '.join(_HEADS)}.")
        if name == "logistic" and not classifies:
            raise TableError(f"--head {name} is for classification, and the target has numbers.")
        return name if name != "none" else None if predicts else "ridge"

    def fit(
        self,
        X: np.ndarray,
        y: np.ndarray,
        groups: np.ndarray | None = None,
        sample_weight: np.ndarray | None = None,
    ) -> ComponentPathCV:
        """Run the search, and return it."""
        given, sizes = {"groups": groups, "sample_weight": sample_weight}, self.sizes(y)
        cv = None if groups is None else GroupKFold(5)
        if self._head in (None, "ridge"):
            return self._search(self._head, self._widths(), sizes, y, cv).fit(X, y, **given)
        extractor = self.extractor
        if self._widths() and len(sizes) > 1:
            first = self._search("ridge", self._widths(), sizes, y, cv).fit(X, y, **given)
            extractor = clone(extractor).set_params(gamma=first.best_params_["gamma"])
            k = first.best_n_components_
            sizes = _geometric(max(1, k // 4), min(4 * k, sizes[-1]), _FEW_SIZES)
        else:
            sizes = _geometric(sizes[0], sizes[-1], _FEW_SIZES)
        return self._search(self._head, {}, sizes, y, cv, extractor).fit(X, y, **given)

    def _search(
        self,
        head: str | None,
        grid: Mapping[str, list],
        sizes: list[int],
        y: np.ndarray,
        cv: Any,
        extractor: Any = None,
    ) -> ComponentPathCV:
        made, penalties = _head(head, self._task, y)
        return ComponentPathCV(
            self.extractor if extractor is None else extractor,
            made,
            n_components=sizes,
            param_grid={**grid, **penalties},
            max_kernel_evaluations=None if head is None else self._given["budget"],
            cv=cv,
        )

    def _widths(self) -> dict[str, list]:
        has_width = "gamma" in kernel_class(self._given["kernel"]).parameter_names()
        return {"gamma": _WIDTHS} if self._given["gamma"] == "auto" and has_width else {}

    def sizes(self, y: np.ndarray) -> list[int]:
        """Return the numbers of features to try; all are smaller than a training fold."""
        if self._given["method"] == "kfd":
            return [max(1, len(np.unique(y)) - 1)]
        k = self._given["k"]
        if k == "auto":
            return _geometric(1, max(1, min(self._given["budget"], len(y) // 2)), _SIZES)
        if not str(k).isdecimal() or int(k) < 1:
            raise TableError(f"--k {k} must be auto, or a whole number of at least 1.")
        return [int(k)]


def _geometric(least: int, most: int, number: int) -> list[int]:
    return np.unique(np.geomspace(least, most, number).round().astype(int)).tolist()


def _head(name: str | None, task: str, y: np.ndarray) -> tuple[Any, dict[str, list]]:
    """Return a head, and its grid of penalties."""
    if name is None:
        return None, {}
    if name == "ridge":
        return Ridge() if task == "regression" else RidgeClassifier(), {"head__alpha": _RIDGES}
    if name == "logistic":
        return LogisticRegression(solver="newton-cholesky"), {"head__C": _PENALTIES}
    if task == "classification":
        return LinearSVC(dual="auto"), {"head__C": _PENALTIES}
    spread = float(np.std(y)) or 1.0
    head = LinearSVR(
        loss="squared_epsilon_insensitive",
        dual="auto",
        epsilon=0.05 * spread,
        intercept_scaling=10 * max(1.0, abs(float(np.mean(y))) / spread),  # it is penalised, too
    )
    return head, {"head__C": _PENALTIES}


def _extractor(given: Mapping[str, Any], task: str) -> Any:
    method = "sma" if given["method"] == "auto" else given["method"]
    if method not in METHODS:
        raise TableError(f"--method {method} is not known; pass auto, {', '.join(METHODS)}.")
    name = METHODS[method][task == "classification"]
    if name is None:
        raise TableError(f"--method {method} is for classification, and the target has numbers.")
    known = [name for name in (*KERNELS, *PRESETS) if name != "precomputed"]
    if given["kernel"] not in known:
        raise TableError(f"--kernel {given['kernel']} is not known; pass {', '.join(known)}.")
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


def predicts_alone(extractor: Any) -> bool:
    """Return True if an extractor predicts without a head."""
    return is_regressor(extractor) or is_classifier(extractor)


def find_extractor(fitted: Any) -> Any:
    """Return the kernelsieve estimator inside a fitted pipeline or search."""
    chosen = getattr(fitted, "best_estimator_", fitted)
    return getattr(chosen, "extractor", chosen)
