"""Which examples become candidates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data import (
    Batch,
    Labels,
    dense_sample,
    draw_kmeans,
    draw_random,
    draw_rpcholesky,
    draw_sample,
    filled_up,
    weighted_targets,
)
from ..deflation import (
    Alignment,
    BestSubset,
    Criterion,
    DiagonalOnly,
    DirectionVariance,
    EvaluatedMetric,
    FollowedCandidates,
    ScoringCriterion,
    extract,
    store_columns,
)
from ..exceptions import InvalidParameterError
from ..kernels import CallableKernel, Kernel, Rows
from .screen import SCREEN_FLOOR, Screen
from .settings import Settings

# For every candidate that is wanted, so many samples on which candidates are scored, and so many
# candidates that are; of many samples such a part, which takes less time than the pass over all.
_ROWS_EACH, _SCREENED_EACH = 10, 10
_FEWEST_ROWS, _FEWEST_CANDIDATES = 1500, 1500
_ENOUGH = 4000  # of each, for pools that are themselves large
_ROWS_PART, _CANDIDATES_PART = 16, 10
SCREEN_ROWS, SCREEN_CANDIDATES = 10_000, 10_000  # at most
_ONE_THREAD_VALUES = 2**22  # that one thread has evaluated before others have begun
_SCREEN_TARGETS = 128  # that stand for more classes
_ANALYSED_ROWS = 2000
_ANALYSED_CANDIDATES = 5000


def draw_pool(
    batch: Batch,
    kernel: Kernel,
    criterion: Criterion | None,
    n_pool: int,
    how: str,
    settings: Settings,
    random_state: np.random.RandomState,
) -> np.ndarray:
    """Return the rows of ``n_pool`` candidates, drawn as ``how`` says."""
    if n_pool >= len(batch):
        return np.arange(len(batch))
    if how == "random":
        return draw_random(len(batch), n_pool, random_state, batch.weight)
    if how == "kmeans":
        return draw_kmeans(batch.X, n_pool, random_state, batch.weight)
    if how == "rpcholesky":
        return draw_rpcholesky(batch.X, kernel, n_pool, random_state, batch.weight)
    screening = screening_criterion(criterion)
    is_scoring = isinstance(screening, ScoringCriterion)
    if screening is None or not (is_scoring or screening.deflation.symmetric):
        raise InvalidParameterError(
            f"how='screen' needs a criterion whose class says can_screen = True, and "
            f"{type(criterion).__name__} does not; pass how='random', 'kmeans' or 'rpcholesky'."
        )
    return draw_screened(batch, kernel, screening, n_pool, settings, random_state)


def screening_criterion(criterion: Criterion | None) -> Criterion | None:
    """Return the criterion by which candidates for this one are screened, if there is any."""
    if criterion is None:
        return None
    if isinstance(criterion, BestSubset):
        return criterion.single
    if criterion.needs.metric:
        # Examples that are good one by one serve directions that combine them, too.
        return Alignment() if criterion.needs.targets else DirectionVariance()
    return criterion if criterion.can_screen or criterion.deflation.symmetric else None


def draw_screened(
    batch: Batch,
    kernel: Kernel,
    criterion: Criterion,
    n_pool: int,
    settings: Settings,
    random_state: np.random.RandomState,
) -> np.ndarray:
    """Screen candidates: the greedy loop over many candidates on a sample of rows.

    What is picked there becomes the pool of the pass over all rows. A candidate that matters is found
    on a sample; a random pool may not contain it.
    """
    symmetric = criterion.deflation.symmetric
    most = (_ANALYSED_ROWS, _ANALYSED_CANDIDATES) if symmetric else _screened_size(n_pool, len(batch))
    sample, candidates, weight = _samples(batch, n_pool, most, settings.max_memory, random_state)
    sample, points = _dense(sample, batch, kernel, candidates)
    center = criterion.centred_scores if symmetric else settings.center
    few = len(sample) * len(candidates) <= _ONE_THREAD_VALUES
    columns = store_columns(
        sample, kernel, points, center=center, dtype=np.float32, n_jobs=1 if few else settings.n_jobs
    )
    if symmetric:
        followed = FollowedCandidates(columns, EvaluatedMetric(kernel, batch.X, candidates), n_pool)
        no_targets = np.empty((len(sample), 0))
        found = extract(followed, no_targets, criterion, n_pool, total_weight=1.0, floor=SCREEN_FLOOR)
        picked = np.array([d.candidates[0] for d in found.directions], np.intp)
    else:
        lengths = kernel.diag_at(batch.X, candidates)
        targets = weighted_targets(_with_fewer_targets(sample, random_state), center)
        screen = Screen(columns, DiagonalOnly(lengths), targets, criterion, settings.n_jobs)
        picked = screen.pick(n_pool)
    return filled_up(candidates, picked, n_pool, random_state, weight)


def _screened_size(n_pool: int, n_rows: int) -> tuple[int, int]:
    """Return on how many samples how many candidates are scored, for a pool of that size."""
    rows = max(_FEWEST_ROWS, min(_ROWS_EACH * n_pool, _ENOUGH), n_rows // _ROWS_PART)
    many = min(_SCREENED_EACH * n_pool, _ENOUGH)
    candidates = max(_FEWEST_CANDIDATES, many, n_rows // _CANDIDATES_PART)
    return min(rows, SCREEN_ROWS), min(candidates, SCREEN_CANDIDATES)


def _with_fewer_targets(batch: Batch, random_state: np.random.RandomState) -> Batch:
    """Return many classes as few targets, in which sums of squares over classes are nearly the same.

    Each class has random signs in all of them (Achlioptas, 2003): sums differ by an eighth at most, in
    most cases, and the samples on which candidates are scored are random, too.
    """
    labels = batch.targets
    if not isinstance(labels, Labels) or labels.n_classes <= _SCREEN_TARGETS:
        return batch
    signs = random_state.choice([-1.0, 1.0], (labels.n_classes, _SCREEN_TARGETS))
    return replace(batch, targets=signs[labels.codes] / np.sqrt(_SCREEN_TARGETS))


def _samples(
    batch: Batch,
    n_pool: int,
    most: tuple[int, int],
    max_memory: float,
    random_state: np.random.RandomState,
) -> tuple[Batch, np.ndarray, np.ndarray | None]:
    """Draw the rows and the candidates of a screen, and return the candidates' weights, too.

    They are as many as memory has room for, at most ``most``. The pool's own kernel matrix is needed in
    any case, and a screen may be as large.
    """
    n_rows = len(batch)
    rows, candidates = min(n_rows, most[0]), min(n_rows, max(most[1], n_pool))
    room = max(max_memory, 8 * n_pool**2)
    share = min(1.0, np.sqrt(room / (4 * rows * candidates)))  # float32
    sizes = max(1, int(share * rows)), max(n_pool, int(share * candidates))
    drawn, weight = draw_sample(n_rows, sizes[0], random_state, batch.weight)
    sample = replace(batch[drawn], weight=weight)
    return sample, *draw_sample(n_rows, sizes[1], random_state, batch.weight)


def _dense(sample: Batch, batch: Batch, kernel: Kernel, candidates: np.ndarray) -> tuple[Batch, Rows]:
    """Return rows, and candidates as points; dense, where it is not for the user to see."""
    points = kernel.points(batch.X, candidates)
    if isinstance(kernel, CallableKernel):  # a function of the user's sees rows as they were given
        return sample, points
    return replace(sample, X=dense_sample(sample.X)), dense_sample(points)
