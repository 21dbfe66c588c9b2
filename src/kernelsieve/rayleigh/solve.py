"""From a problem to the directions with the largest ratio of two scatters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..fitting import CandidatePool, Plan, Problem, RowPass
from ..model import Fit
from .ratio_pass import Complete, RayleighPass, Recipe
from .scatter import Scatter


def solve_ratio(
    problem: Problem,
    pool_size: int,
    draw: Callable[[Problem, int], CandidatePool],
    row_pass: Callable[[Plan, np.ndarray | None], RowPass],
) -> Fit:
    """Settle the candidates, and pass over the samples."""
    rows, candidates, copies = problem.rows, problem.given, None
    if candidates is None:
        problem.settings_for(pool_size)  # refuses before a pool is drawn
        candidates = draw(problem, pool_size)
        if rows.weight is not None and len(candidates) >= len(rows):
            # All samples are candidates, and one of weight 2 is two equal ones that share alpha.
            copies = rows.weight[candidates.pool.indices]
    plan = problem.plan(candidates, problem.settings_for(len(candidates)))
    return row_pass(plan, copies).fit([rows])


def recipe_of(
    model: Any, plan: Plan, numerator: Sequence[Scatter], denominator: Sequence[Scatter]
) -> Recipe:
    """Return what an estimator maximises, by its parameters."""
    return Recipe(
        numerator,
        denominator,
        reg=model.reg,
        penalty=model.penalty,
        n_components=plan.settings.n_components,
        center=plan.settings.center,
        tol=plan.settings.tol,
    )


def ratio_pass(
    plan: Plan,
    recipe: Recipe,
    copies: np.ndarray | None,
    complete: Complete = lambda fit, *_: fit,
    *,
    needs_rows: bool = False,
) -> RayleighPass:
    """Return the pass over samples; ``complete`` adds to a fit what an estimator needs besides."""
    settings = plan.settings
    return RayleighPass(
        plan.kernel,
        plan.pool,
        plan.candidates.W,
        plan.target_shift,
        recipe,
        copies=copies,
        precision=settings.precision,
        block_rows=settings.block_rows,
        n_jobs=settings.n_jobs,
        complete=complete,
        needs_rows=needs_rows,
    )
