"""Which values parameters may have, and an error that names the new place of those that moved."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

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

_OF_CANDIDATES = {"pool": "how", "resample": "resample", "sample_rows": "scored_on"}
_OF_THE_MACHINE = ("precision", "dtype", "max_memory", "block_size")


def refuse_moved(estimator: Any, given: Mapping[str, Any]) -> None:
    """Refuse parameters that ``Candidates``, ``config_context`` or another parameter took over.

    ``estimator`` is a class or an instance, and ``given`` what is passed by keyword.
    """
    known, moved = estimator._get_param_names(), estimator._moved
    for name, value in given.items():
        if name in known:
            continue
        if name in moved:
            raise TypeError(f"{name} is no parameter any more: {moved[name]}")
        if name in _OF_THE_MACHINE:
            raise TypeError(
                f"{name} is now a setting of the machine: fit within "
                f"kernelsieve.config_context({name}={value!r}), or call kernelsieve.set_config."
            )
        of_candidates = estimator._candidates_parameter
        if name in _OF_CANDIDATES and of_candidates in known:
            new = _OF_CANDIDATES[name]
            raise TypeError(
                f"{name} is now Candidates({new}=...): pass {of_candidates}="
                f"Candidates({_size(given.get(of_candidates, 'auto'))}, {new}={value!r})"
            )


def _size(candidates: Any) -> str:
    size = Candidates.of(candidates).size
    return repr(size) if isinstance(size, (str, int)) else "points"
