"""Fits on the rows themselves, with left deflation: on all columns, and on fresh subsets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data import (
    Batch,
    Pool,
    check_not_constant,
    distinct,
    draw_random,
    first_equals,
    total_weight,
    trace_of,
    weighted_sum,
    weighted_targets,
)
from ..deflation import (
    Columns,
    ColumnTable,
    Criterion,
    FreshCandidates,
    FreshSubset,
    GramMetric,
    Metric,
    RecomputedColumns,
    RidgeColumns,
    Selection,
    StoredColumns,
    extract,
    select,
    store_columns,
)
from ..exceptions import InvalidParameterError
from ..kernels import Kernel
from ..model import (
    Fit,
    KernelModel,
    Loadings,
    build_model,
    explained_by_directions,
    finish,
    linear_heads,
    mean_image,
    needs_refinement,
    orthonormal_loadings,
    reorthonormalise,
)
from .problem import Settings

_TARGET_BYTES = 2**26  # that there are for them in any case
_TARGET_COPIES = 4  # of the targets, with what features leave of them, that are held together


def fit_columns(
    batch: Batch,
    kernel: Kernel,
    pool: Pool,
    criterion: Criterion,
    settings: Settings,
    metric: Metric | None = None,
) -> Fit:
    """Select among columns that are kept, or evaluated again for every product.

    Without a metric the pool is all rows, in their order, and the columns are the metric as well.
    """
    everyone = metric is None
    if everyone and criterion.needs.columns:
        _check_memory(batch, pool, settings)
    center = settings.center or criterion.centred_scores
    columns = row_columns(batch, kernel, pool, settings, everyone=everyone, center=center)
    W = metric or GramMetric(columns, diagonal_of(columns, batch), batch.root_weight)
    # Equal rows of a precomputed kernel are known by their values.
    points = batch.X if everyone else pool.points
    targets, (floor, rounding) = _targets(batch, criterion, settings), settings.tolerances
    selection = select(
        columns,
        W,
        targets,
        points,
        criterion,
        settings.n_components,
        total_weight=total_weight(batch),
        floor=floor,
        rounding=rounding,
        rows=batch,
    )
    model = build_model(selection, pool, kernel, center=settings.center, dtype=settings.dtype)
    if everyone:
        trace = weighted_sum(W.diagonal, batch)
        lengths = _lengths_from_rows(selection, batch, center=settings.center)
    else:
        trace = trace_of(kernel, batch, W.diagonal)
        lengths = W.lengths(selection.names, selection.dual)
    coefficients = W.mean_coefficients(columns.means)
    mean_squared_norm = float(coefficients @ columns.means) if settings.center else 0.0
    explained = explained_by_directions(selection, lengths, trace, mean_squared_norm)
    pool = pool.first_of_equals(selection.names)
    loadings = None
    if criterion.keeps_loadings:
        weight = batch.root_weight**2 if everyone else None
        loadings = orthonormal_loadings(selection, model, W, weight, center=settings.center)
    fit = _finish(selection, model, batch, criterion, settings, pool, explained, lengths, loadings)
    if not (criterion.keeps_loadings and settings.center):
        return fit
    image = mean_image(kernel, fit.model.landmarks, coefficients, columns.means)
    return replace(fit, mean_image=image)


def fit_fresh(
    batch: Batch,
    kernel: Kernel,
    n_candidates: int,
    criterion: Criterion,
    settings: Settings,
    random_state: np.random.RandomState,
) -> Fit:
    """Draw a new random subset of candidates at every step (section 4.4 of Dhanjal et al.)."""
    everyone = np.arange(len(batch))
    # One of equal rows stands for all under a ridge.
    kept = distinct(batch.X) if criterion.one_of_equals else everyone
    max_memory, n_jobs = settings.max_memory, settings.n_jobs
    table = ColumnTable.if_it_fits(max_memory, batch, kernel, batch.X, n_jobs)
    # For one subset at a time; without it a chosen column is evaluated once more.
    fits = table is None and n_candidates * len(batch) * 8 <= max_memory
    memory = np.empty((n_candidates, len(batch))) if fits else None

    def columns_of(rows: np.ndarray) -> RecomputedColumns:
        if table is not None:
            return table.columns(rows, center=settings.center, own=True)
        return RecomputedColumns(
            batch,
            kernel,
            kernel.points(batch.X, rows),
            center=settings.center,
            rows=rows,
            memory=None if memory is None else memory[: len(rows)],
            n_jobs=n_jobs,
        )

    def draw(retired: np.ndarray, place: int) -> FreshSubset | None:
        remaining = np.setdiff1d(kept, retired)
        if len(remaining) == 0:
            return None
        size = min(n_candidates, len(remaining))
        # One of equal rows stands for all under a ridge, so every point is as likely as another.
        weight = None if batch.weight is None or criterion.one_of_equals else batch.weight[remaining]
        rows = remaining[draw_random(len(remaining), size, random_state, weight)]
        columns = columns_of(rows)
        ridge = criterion.penalty.ridge
        if ridge == 0:
            return FreshSubset(columns, rows, columns.diagonal)
        # One column at most is ever taken up, so they share a further row.
        places = np.full(len(rows), place)
        seen = RidgeColumns(columns, ridge, places, settings.n_components)
        return FreshSubset(seen, rows, columns.diagonal)

    first = draw(np.empty(0, np.intp), 0)
    assert first is not None
    candidates = FreshCandidates(draw, first, settings.n_components)
    targets = _targets(batch, criterion, settings)
    floor, rounding = settings.tolerances
    selection = extract(
        candidates,
        np.pad(targets, ((0, first.columns.shape[0] - len(targets)), (0, 0))),
        criterion,
        settings.n_components,
        total_weight=total_weight(batch),
        floor=floor,
        rounding=rounding,
        rows=batch,
    )
    pool = Pool(kernel.points(batch.X, everyone), everyone)
    model = build_model(selection, pool, kernel, center=settings.center, dtype=settings.dtype)
    # The first subset is a random sample of the rows, so it tells what all of them are like.
    firsts = everyone if len(kept) == len(batch) else first_equals(batch.X)
    weight = np.bincount(firsts, batch.root_weight**2)[first.names]  # of all equal rows
    mean_squared_norm = float(weight @ first.columns.means / weight.sum()) if settings.center else 0.0
    lengths = _lengths_from_rows(selection, batch, center=settings.center)
    trace = trace_of(kernel, batch, first.diagonal)
    explained = explained_by_directions(selection, lengths, trace, mean_squared_norm)
    return _finish(selection, model, batch, criterion, settings, pool, explained, lengths)


def _targets(batch: Batch, criterion: Criterion, settings: Settings) -> np.ndarray:
    """Return targets as the loop sees them: centred, weighted, and scaled as the criterion wants."""
    check_target_memory(batch, settings.max_memory)
    if criterion.needs.targets:
        check_not_constant(weighted_targets(batch, True), batch.Y * batch.root_weight[:, None])
    targets = weighted_targets(batch, settings.center)
    targets *= criterion.target_scale(batch.target_sums)
    return targets


def _finish(
    selection: Selection,
    model: KernelModel,
    batch: Batch,
    criterion: Criterion,
    settings: Settings,
    pool: Pool,
    explained: np.ndarray,
    lengths: np.ndarray,
    loadings: Loadings | None = None,
) -> Fit:
    """Finish a model, after one more pass where features would show how they are rounded.

    Heads are by the criterion's own loss, as it says, or by least squares.
    """
    if needs_refinement(selection, model):
        sums = batch.target_sums
        selection, model = reorthonormalise(
            selection,
            model,
            [batch],
            sums / total_weight(batch),
            criterion.target_scale(sums),
            center=settings.center,
            block_rows=settings.block_rows,
            n_jobs=settings.n_jobs,
        )
    heads = None
    if criterion.needs.rows:
        features = selection.features / batch.root_weight[:, None]
        heads = selection.selector.heads(features, batch.Y, batch.root_weight**2)
    if heads is None:
        heads = linear_heads(selection, criterion, batch.target_sums, center=settings.center)
    return finish(
        selection,
        model,
        criterion,
        pool,
        explained,
        heads,
        directions=lengths,
        scale=settings.scale,
        loadings=loadings,
    )


def row_columns(
    batch: Batch, kernel: Kernel, pool: Pool, settings: Settings, *, everyone: bool, center: bool
) -> Columns:
    """Return the pool's columns, kept if memory allows; the pool may be all rows, in their order."""
    if len(batch) * len(pool) * np.dtype(settings.dtype).itemsize <= settings.max_memory:
        return store_columns(
            batch, kernel, pool.points, center=center, dtype=settings.dtype, n_jobs=settings.n_jobs
        )
    rows = np.arange(len(batch)) if everyone else None
    return RecomputedColumns(
        batch, kernel, pool.points, center=center, rows=rows, n_jobs=settings.n_jobs
    )


def _check_memory(batch: Batch, pool: Pool, settings: Settings) -> None:
    needed = len(batch) * len(pool) * np.dtype(settings.dtype).itemsize
    if needed > settings.max_memory:
        raise InvalidParameterError(
            f"The criterion looks at all {len(batch)} x {len(pool)} kernel values at once, which take "
            f"{needed / 2**20:.0f} MB, and max_memory is {settings.max_memory / 2**20:.0f} MB; pass "
            "candidates as a number, or raise it by kernelsieve.config_context."
        )


def check_target_memory(batch: Batch, max_memory: float) -> None:
    """Refuse columns for so many classes that nothing else would fit in memory."""
    n, q = len(batch), batch.n_targets
    needed, max_memory = _TARGET_COPIES * 8 * n * q, max(max_memory, _TARGET_BYTES)
    if batch.codes is not None and needed > max_memory:
        raise InvalidParameterError(
            f"y has {q} classes, and a fit on the {n} samples themselves follows a column for each, "
            f"which takes {needed / 2**20:.0f} MB; the limit is {max_memory / 2**20:.0f} MB. "
            "Pass candidates as a number to a method without a loss of its own, such as "
            "KernelPLSClassifier, join classes, or raise max_memory by kernelsieve.config_context."
        )


def diagonal_of(columns: Columns, batch: Batch) -> np.ndarray:
    """Read k(x, x) off the columns of all rows."""
    if isinstance(columns, RecomputedColumns):
        return columns.diagonal  # filled in by the first scan, before any criterion looks
    if not isinstance(columns, StoredColumns):
        raise TypeError(f"unknown columns {type(columns).__name__}")
    diagonal = np.diagonal(columns.values) / batch.root_weight
    return diagonal + columns.means if columns.centred else diagonal


def _lengths_from_rows(selection: Selection, batch: Batch, *, center: bool) -> np.ndarray:
    """Return ``B' W B`` from the features alone, for landmarks that are rows of the batch.

    The columns of the landmarks, combined by B, are ``Q R`` (weighted, centred), and W holds their
    values in the rows of the landmarks: no kernel value has to be evaluated again.
    """
    rows, dual = selection.names, selection.dual
    values = selection.features[rows] @ selection.triangle / batch.root_weight[rows, None]
    if center:
        values += selection.means @ dual
    lengths = dual.T @ values
    return np.asarray((lengths + lengths.T) / 2)
