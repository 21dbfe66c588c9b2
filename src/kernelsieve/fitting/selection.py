"""The loop on whatever candidates a problem asks for: all samples, a pool, or fresh subsets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..data import Batch, draw_sample
from ..deflation import Criterion, PoolMetric
from ..exceptions import InvalidParameterError
from ..model import Fit
from ..statistics import Change
from .exact import fit_columns, fit_fresh
from .one_pass import OnePass, RowPass
from .problem import (
    AUTO_POOL,
    CandidatePool,
    Plan,
    Problem,
    use_of_candidates,
)
from .symmetric import analyse_fresh, analyse_rows, analyse_sample

_RESAMPLE_ALONE = (
    "resample=True draws fresh single candidates from the samples at every step; pass a number as the "
    "size of Candidates, n_nonzero=1 where there is such a parameter, and a criterion that scores "
    "candidates."
)

#: Draws so many candidates.
Draw = Callable[[Problem, int], CandidatePool]


def select(
    problem: Problem,
    criterion: Criterion,
    draw: Draw,
    row_pass: Callable[[Plan], RowPass],
    *,
    fresh: int = AUTO_POOL,
) -> Fit:
    """Choose directions by a criterion; ``fresh`` candidates a step where their number is not given."""
    rule, rows = problem.candidates, problem.rows
    if rule.resample and (problem.given is not None or criterion.needs.metric):
        raise InvalidParameterError(_RESAMPLE_ALONE)
    if problem.given is not None:
        return select_in_pool(problem, rows, problem.given, criterion, row_pass)
    size = problem.pool_size(len(rows), use_of_candidates(criterion), criterion, fresh)
    scored = scored_samples(problem)
    if rule.resample:
        return _select_fresh(problem, scored, size, criterion)
    if size < len(rows):
        return select_in_pool(problem, scored, draw(problem, size), criterion, row_pass)
    return _select_among_all(problem, scored, criterion)


def scored_samples(problem: Problem) -> Batch:
    """Return the samples over which candidates are scored: all, or a random part of them."""
    rows, size = problem.rows, problem.candidates.scored_on
    if size is None or size >= len(rows):
        return rows
    drawn, weight = draw_sample(len(rows), size, problem.random_state, rows.weight)
    return replace(rows[drawn], weight=weight)


def select_in_pool(
    problem: Problem,
    rows: Batch,
    candidates: CandidatePool,
    criterion: Criterion,
    row_pass: Callable[[Plan], RowPass],
) -> Fit:
    """Choose among the candidates of a pool: in one pass, or from kept columns where need be."""
    settings = problem.settings_for(len(candidates))
    if not criterion.needs.rows:
        return row_pass(problem.plan(candidates, settings)).fit([rows])
    metric = PoolMetric(candidates.W)
    return fit_columns(rows, problem.kernel, candidates.pool, criterion, settings, metric)


def _select_fresh(problem: Problem, scored: Batch, size: int, criterion: Criterion) -> Fit:
    rows, kernel, random_state = problem.rows, problem.kernel, problem.random_state
    settings = problem.settings_for(len(rows))
    if criterion.deflation.symmetric:
        return analyse_fresh(scored, rows, kernel, size, criterion, settings, random_state)
    return fit_fresh(rows, kernel, size, criterion, settings, random_state)


def _select_among_all(problem: Problem, scored: Batch, criterion: Criterion) -> Fit:
    rows, kernel, pool = problem.rows, problem.kernel, problem.everyone
    settings = problem.settings_for(len(rows))
    if not criterion.deflation.symmetric:
        return fit_columns(rows, kernel, pool, criterion, settings)
    if scored is not rows:
        return analyse_sample(scored, rows, kernel, pool, criterion, settings)
    return analyse_rows(rows, kernel, pool, criterion, settings)


def loop_pass(plan: Plan, criterion: Criterion, changes: Sequence[Change] = ()) -> RowPass:
    """Return the one pass over samples for a pool; changes of its columns are a penalty."""
    W = plan.candidates.W
    candidates = plan.kernel, plan.pool, PoolMetric(W), W.mean(axis=0)
    n_labels = plan.encoder.n_labels
    return OnePass(*candidates, plan.target_shift, criterion, plan.settings, changes, n_labels)
