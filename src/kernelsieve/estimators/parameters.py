"""Which values parameters may have that several estimators share, and weights of classes."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from .._sklearn import Interval, StrOptions
from ..exceptions import InvalidParameterError
from ..kernels import Kernel
from ..rows import Batch, Labels

#: Of the parameters that several estimators have; a class adds its own, or narrows these.
SHARED_CONSTRAINTS: dict[str, list] = {
    "n_components": [Interval(Integral, 1, None, closed="left"), None],
    "kernel": [str, callable, Kernel],
    "gamma": [str, Real],
    "degree": [Interval(Real, 0, None, closed="neither")],
    "coef0": [Interval(Real, None, None, closed="neither")],
    "kernel_params": [dict, None],
    "candidates": [
        StrOptions({"auto", "all"}),
        Interval(Integral, 1, None, closed="left"),
        "array-like",
        "sparse matrix",
    ],
    "pool": [StrOptions({"auto", "random", "screen", "kmeans", "rpcholesky"})],
    "resample": ["boolean"],
    "n_nonzero": [Interval(Integral, 1, 3, closed="both")],
    "center": ["boolean"],
    "scale": [StrOptions({"auto", "unit_variance", "rkhs"})],
    "tol": [Interval(Real, 0, 1, closed="left")],
    "precision": [StrOptions({"auto", "fast", "safe"})],
    "reg": [Interval(Real, 0, None, closed="left")],
    "penalty": [StrOptions({"alpha", "norm"})],
    "invariances": [list, tuple, None],
    "virtual_candidates": ["boolean"],
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "probability_cv": [Interval(Integral, 2, None, closed="left"), None],
    "fit_inverse_transform": ["boolean"],
    "alpha": [Interval(Real, 0, None, closed="left")],
    "target": [StrOptions({"auto", "continuous", "classes"})],
    "dtype": [StrOptions({"float64", "float32"})],
    "block_size": [Interval(Integral, 1, None, closed="left"), None],
    "max_memory": [Interval(Real, 0, None, closed="left")],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}


def with_class_weight(batch: Batch, class_weight: Any, classes: np.ndarray | None) -> Batch:
    """Return samples whose weights are multiplied by those of their classes."""
    if class_weight is None or classes is None:
        return batch
    of_class = _class_weights(batch, class_weight, classes)
    targets = batch.targets
    of_rows = of_class[targets.codes] if isinstance(targets, Labels) else targets @ of_class
    return replace(batch, weight=batch.root_weight**2 * of_rows)


def _class_weights(batch: Batch, class_weight: Any, classes: np.ndarray) -> np.ndarray:
    if isinstance(class_weight, str):  # "balanced"
        totals = batch.target_sums
        present = totals > 0
        mean = totals.sum() / np.count_nonzero(present)
        return np.where(present, mean / np.where(present, totals, 1.0), 0.0)
    given, known = dict(class_weight), set(classes.tolist())
    unknown = [label for label in given if label not in known]
    bad = [value for value in given.values() if not _is_positive(value)]
    if unknown or bad:
        raise InvalidParameterError(
            f"class_weight={class_weight!r} must give labels, which are {classes.tolist()}, "
            "positive weights; labels that are left out have weight 1."
        )
    return np.array([float(given.get(label, 1.0)) for label in classes.tolist()])


def _is_positive(value: Any) -> bool:
    return isinstance(value, Real) and bool(0 < float(value) < np.inf)
