"""Selection by a criterion among all samples, or among fresh subsets of them."""

from __future__ import annotations

from ..data import Batch
from ..deflation import Criterion
from ..exceptions import InvalidParameterError
from ..model import Fit
from .exact import fit_columns, fit_fresh
from .problem import Problem
from .symmetric import analyse_fresh, analyse_rows, analyse_sample

_RESAMPLE_ALONE = (
    "resample=True draws fresh single candidates from the samples at every step; pass a number as the "
    "size of Candidates, n_nonzero=1 where there is such a parameter, and a criterion that scores "
    "candidates."
)


def select_without_pool(problem: Problem, samples: Batch, criterion: Criterion, size: int) -> Fit:
    """Select among all samples, or among ``size`` new ones at every step, scored on ``samples``."""
    resample, symmetric = problem.candidates.resample, criterion.deflation.symmetric
    if resample and (problem.given is not None or criterion.needs.metric):
        raise InvalidParameterError(_RESAMPLE_ALONE)
    rows, kernel, pool = problem.rows, problem.kernel, problem.everyone
    settings, random_state = problem.settings_for(len(rows)), problem.random_state
    if resample and symmetric:
        return analyse_fresh(samples, rows, kernel, size, criterion, settings, random_state)
    if resample:
        return fit_fresh(rows, kernel, size, criterion, settings, random_state)
    if not symmetric:
        return fit_columns(rows, kernel, pool, criterion, settings)
    if samples is not rows:
        return analyse_sample(samples, rows, kernel, pool, criterion, settings)
    return analyse_rows(rows, kernel, pool, criterion, settings)
