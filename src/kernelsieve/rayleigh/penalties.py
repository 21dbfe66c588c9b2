"""Strength of the penalties: read C, and explain its effect."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import InvalidParameterError


def as_penalties(Cs: Any) -> list[float]:
    """Return the penalties of a path as numbers."""
    values = _numbers(Cs)
    if values is None:
        raise InvalidParameterError(
            f"Cs={Cs!r} must be a sequence of positive numbers; a single penalty is [1.0]."
        )
    return [float(value) for value in values]


def strength_and_priors(C: Any, n_candidates: int) -> tuple[float, np.ndarray | None]:
    """Return the strength of all penalties, and a factor for each coefficient if C is an array."""
    if np.ndim(C) == 0:
        return float(C), None
    values = _numbers(C)
    if values is None or len(values) != n_candidates:
        raise InvalidParameterError(
            f"C={C!r} must be a positive number, or one for each of the {n_candidates} candidates; "
            "pass candidates='all' to have one for each sample, or an array of points."
        )
    return 1.0, values


def explain_zero_solution(C: Any, limit: float, rounding: float, invariant: bool) -> str:
    """Explain why all coefficients are zero, and what to do.

    ``limit`` is the largest slope of the losses along a column, as a part of C, and ``rounding`` what
    is no slope at all.
    """
    several = np.ndim(C) > 0
    if limit * (1.0 if several else float(C)) <= rounding:  # slopes sum to zero: equal values cancel
        return (
            "All samples have the same kernel values, so nothing separates classes, whatever C is; "
            "look for constant columns of X, or change gamma."
        )
    remedy = f"multiply C by less than {limit:.6g}." if several else f"choose C below {limit * C:.6g}."
    if invariant:  # the penalty of the changes alone may keep coefficients at zero
        remedy = "lower C, or the weights in invariances."
    name = "C" if several else f"C={C:g}"
    return f"{name} is so large that all coefficients are zero and the features constant; {remedy}"


def _numbers(values: Any) -> np.ndarray | None:
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return None
    return numbers if numbers.ndim == 1 and (numbers > 0).all() else None
