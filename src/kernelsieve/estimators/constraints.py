"""Which values the parameters may have that several estimators share."""

from __future__ import annotations

from numbers import Integral, Real

from .._sklearn import Interval, StrOptions
from ..fitting import Candidates
from ..kernels import Kernel

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
        Candidates,
    ],
    "n_nonzero": [Interval(Integral, 1, 3, closed="both")],
    "center": ["boolean"],
    "scale": [StrOptions({"auto", "unit_variance", "rkhs"})],
    "tol": [Interval(Real, 0, 1, closed="left")],
    "reg": [Interval(Real, 0, None, closed="left")],
    "penalty": [StrOptions({"alpha", "norm"})],
    "invariances": [list, tuple, None],
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "fit_inverse_transform": ["boolean"],
    "alpha": [Interval(Real, 0, None, closed="left")],
    "target": [StrOptions({"auto", "continuous", "classes"})],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}
