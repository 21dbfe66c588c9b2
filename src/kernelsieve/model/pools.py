"""Which examples become candidates."""

from __future__ import annotations

import numpy as np

from ..columns import Batch, draw_kmeans, draw_random, draw_rpcholesky
from ..deflation import (
    BestSubset,
    Criterion,
    DiagonalOnly,
    FixedCandidates,
    ScoringCriterion,
    extract,
    store_columns,
)
from ..kernels import Kernel

SCREEN_ROWS = 10_000  # on which candidates are scored
SCREEN_CANDIDATES = 10_000  # that are scored
_SCREEN_FLOOR = 1e-8  # of the squared norm; below it float32 columns are noise


def draw_pool(
    batch: Batch,
    kernel: Kernel,
    criterion: Criterion,
    n_pool: int,
    how: str,
    *,
    center: bool,
    random_state: np.random.RandomState,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Return the rows of ``n_pool`` candidates, drawn as ``how`` says."""
    if n_pool >= len(batch):
        return np.arange(len(batch))
    if how == "kmeans":
        return draw_kmeans(batch.X, n_pool, random_state)
    if how == "rpcholesky":
        return draw_rpcholesky(batch.X, kernel, n_pool, random_state)
    score = criterion.single if isinstance(criterion, BestSubset) else criterion
    if how == "screen" and isinstance(score, ScoringCriterion) and not score.needs_rows:
        return draw_screened(
            batch,
            kernel,
            score,
            n_pool,
            center=center,
            random_state=random_state,
            n_jobs=n_jobs,
        )
    return draw_random(len(batch), n_pool, random_state)


def draw_screened(
    batch: Batch,
    kernel: Kernel,
    criterion: Criterion,
    n_pool: int,
    *,
    center: bool,
    random_state: np.random.RandomState,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Sieve a first time: the greedy loop over many candidates on a sample of rows.

    What is picked there becomes the pool of the pass over all rows. A candidate that matters is found
    on a sample; a random pool may not contain it.
    """
    rows = draw_random(len(batch), min(len(batch), SCREEN_ROWS), random_state)
    candidates = draw_random(len(batch), min(len(batch), SCREEN_CANDIDATES), random_state)
    sample, points = batch[rows], batch.X[candidates]
    columns = store_columns(sample, kernel, points, center=center, dtype=np.float32, n_jobs=n_jobs)
    weight = sample.root_weight**2
    targets = sample.Y - (weight @ sample.Y / weight.sum() if center else 0.0)
    targets = targets * sample.root_weight[:, None]
    metric = DiagonalOnly(kernel.diag(points))
    extraction = extract(
        FixedCandidates(columns, metric, targets, n_pool),
        targets,
        criterion,
        n_pool,
        total_weight=float(weight.sum()),
        floor=_SCREEN_FLOOR,
    )
    picked = candidates[[int(direction.candidates[0]) for direction in extraction.directions]]
    others = np.setdiff1d(candidates, picked)
    missing = random_state.choice(others, n_pool - len(picked), replace=False)
    return np.concatenate([picked, missing]).astype(np.intp)
