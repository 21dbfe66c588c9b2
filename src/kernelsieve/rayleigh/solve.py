"""From a problem to the directions with the largest ratio of two scatters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..estimators import KernelEstimator, OutOfCoreMixin
from ..fitting import Problem, Settings
from ..model import Fit
from .invariance_mixin import InvarianceMixin


def solve_ratio(self: Any, problem: Problem) -> Fit:
    """Find the directions with the largest ratio, among candidates that are given or drawn."""
    rows, candidates, copies = problem.rows, problem.given, None
    if candidates is None:
        size = self._pool_size(problem, len(self._with_moved(rows)))
        candidates = self._draw(problem, size)
        if rows.weight is not None and len(candidates) >= len(rows):
            # All samples are candidates, and one of weight 2 is two equal ones that share alpha.
            copies = rows.weight[candidates.pool.indices]
    plan = problem.plan(candidates, problem.settings_for(len(candidates)))
    return self._row_pass(plan, copies).fit([rows])


class RatioEstimator(InvarianceMixin, OutOfCoreMixin, KernelEstimator):
    """Base of the estimators whose features have the largest ratio of two scatters."""

    center: bool
    tol: float
    reg: float
    penalty: str

    _solve = solve_ratio

    def _settings(self) -> Settings:
        return replace(super()._settings(), center=self.center, tol=self.tol)
