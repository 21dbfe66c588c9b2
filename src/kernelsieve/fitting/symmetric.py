"""Fits on the rows themselves with symmetric deflation: AKFA and SKFA on all columns or fresh ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data import Batch, Pool, draw_random, total_weight, trace_of, weighted_sum
from ..deflation import (
    Columns,
    ColumnTable,
    Criterion,
    DoublyCentredColumns,
    DrawnCandidates,
    EvaluatedMetric,
    FreshSubset,
    GramMetric,
    Metric,
    RecomputedColumns,
    Selection,
    extract,
    select,
)
from ..kernels import Kernel
from ..model import Fit, KernelModel, build_model, explained_variance_ratio, finish, mean_image
from .exact import diagonal_of, row_columns
from .problem import Settings


def analyse_rows(
    batch: Batch, kernel: Kernel, pool: Pool, criterion: Criterion, settings: Settings
) -> Fit:
    """Select among all rows; with ``center`` on the doubly centred kernel matrix."""
    columns = row_columns(
        batch, kernel, pool, settings, everyone=True, center=settings.center or criterion.centred_scores
    )
    root = batch.root_weight
    centred = DoublyCentredColumns(columns, root) if settings.center else None
    raw = diagonal_of(columns, batch)
    diagonal = raw if centred is None else raw - 2 * centred.row_means + centred.mean_of_all
    seen = centred or columns
    metric = GramMetric(seen, diagonal, root, raw)
    selection, model = _follow(batch, kernel, pool, criterion, settings, seen, metric)
    pool = pool.first_of_equals(selection.names)
    landmark_columns = seen.take(selection.names) if criterion.deflation.cutoff > 0 else None
    trace = weighted_sum(diagonal, batch)
    fit = _finish(selection, model, pool, criterion, settings, landmark_columns, trace)
    return (
        fit if centred is None else about_the_mean(fit, selection.names, pool, batch, centred.row_means)
    )


def analyse_sample(
    sample: Batch, batch: Batch, kernel: Kernel, pool: Pool, criterion: Criterion, settings: Settings
) -> Fit:
    """Select among all rows of a batch by sums over a sample of them: the probabilistic speed-up."""
    columns = row_columns(
        sample,
        kernel,
        pool,
        settings,
        everyone=False,
        center=settings.center or criterion.centred_scores,
    )
    metric = EvaluatedMetric(kernel, batch.X, pool.indices)
    selection, model = _follow(sample, kernel, pool, criterion, settings, columns, metric)
    trace = trace_of(kernel, sample, metric.diagonal)
    if settings.center:
        trace -= total_weight(sample) * float(columns.means.mean())
    landmark_columns = columns.take(selection.names) if criterion.deflation.cutoff > 0 else None
    return _finish(selection, model, pool, criterion, settings, landmark_columns, trace)


def analyse_fresh(
    scored: Batch,
    batch: Batch,
    kernel: Kernel,
    n_candidates: int,
    criterion: Criterion,
    settings: Settings,
    random_state: np.random.RandomState,
) -> Fit:
    """Draw a few new candidates from a batch at every step; ``scored`` are the rows of the sums."""
    cutoff = criterion.deflation.cutoff
    everyone = np.arange(len(batch))
    first: list[FreshSubset] = []

    centred = settings.center or criterion.centred_scores
    table = ColumnTable.if_it_fits(settings.max_memory, scored, kernel, batch.X, settings.n_jobs)

    def columns_of(rows: np.ndarray) -> RecomputedColumns:
        if table is not None:
            return table.columns(rows, center=centred, own=False)
        points = kernel.points(batch.X, rows)
        return RecomputedColumns(scored, kernel, points, center=centred, n_jobs=settings.n_jobs)

    def draw(retired: np.ndarray, chosen: list[int]) -> FreshSubset | None:
        remaining = np.setdiff1d(everyone, retired)
        if len(remaining) == 0:
            return None
        size = min(n_candidates, len(remaining))
        weight = None if batch.weight is None else batch.weight[remaining]
        rows = remaining[draw_random(len(remaining), size, random_state, weight)]
        if table is not None and scored is batch:
            lines = table.lines(rows)
            diagonal, values = lines[np.arange(size), rows], lines[:, chosen]
        else:
            landmarks = kernel.points(batch.X, np.array(chosen, dtype=np.intp))
            values = kernel.block(batch.X[rows], landmarks) if chosen else np.empty((size, 0))
            diagonal = kernel.diag_at(batch.X, rows)
        drawn = FreshSubset(columns_of(rows), rows, diagonal, values)
        first.extend([] if first else [drawn])
        return drawn

    candidates = DrawnCandidates(
        draw,
        len(scored),
        settings.n_components,
        cutoff=cutoff,
        row_lengths=kernel.diag_at(batch.X, everyone) if cutoff > 0 and scored is batch else None,
        root_weight=scored.root_weight,
    )
    pool = Pool(kernel.points(batch.X, everyone), everyone)
    selection = extract(
        candidates,
        np.empty((len(scored), 0)),
        criterion,
        settings.n_components,
        total_weight=total_weight(scored),
        floor=settings.tolerances[0],
    )
    model = build_model(selection, pool, kernel, center=settings.center, dtype=settings.dtype)
    # The first subset is a random sample of the rows, so it tells what all of them are like.
    trace = trace_of(kernel, scored, first[0].diagonal)
    if settings.center:
        trace -= total_weight(scored) * float(first[0].columns.means.mean())
    chosen = np.arange(len(selection.names))
    landmark_columns = columns_of(selection.names).take(chosen) if cutoff > 0 else None
    return _finish(selection, model, pool, criterion, settings, landmark_columns, trace)


def _follow(
    batch: Batch,
    kernel: Kernel,
    pool: Pool,
    criterion: Criterion,
    settings: Settings,
    columns: Columns,
    metric: Metric,
) -> tuple[Selection, KernelModel]:
    selection = select(
        columns,
        metric,
        np.empty((len(batch), 0)),
        pool.points,
        criterion,
        settings.n_components,
        total_weight=total_weight(batch),
        floor=settings.tolerances[0],
    )
    # Doubly centred columns have no means to take out; the model gets them in the end.
    center = settings.center and columns.centred
    return selection, build_model(selection, pool, kernel, center=center, dtype=settings.dtype)


def _finish(
    selection: Selection,
    model: KernelModel,
    pool: Pool,
    criterion: Criterion,
    settings: Settings,
    landmark_columns: np.ndarray | None,
    trace: float,
) -> Fit:
    """Tell what the features explain of all rows.

    With a cutoff the loop knows the features of the points that were left, and ``landmark_columns``
    give those of all.
    """
    projection = model.projection
    features = selection.features if landmark_columns is None else landmark_columns @ projection
    if criterion.centred_scores and not settings.center and len(selection):
        means = np.concatenate([direction.means for direction in selection.directions]) @ projection
        features = with_means(features, means, selection.total_weight)
    return finish(selection, model, criterion, pool, explained_variance_ratio(features, trace))


def with_means(features: np.ndarray, means: np.ndarray, total_weight: float) -> np.ndarray:
    """Return centred features with a line below that makes their squares those about zero."""
    return np.vstack([features, np.sqrt(total_weight) * means])


def about_the_mean(
    fit: Fit, chosen: np.ndarray, pool: Pool, batch: Batch, row_means: np.ndarray
) -> Fit:
    """Return the fit with directions that combine images less their mean.

    They depend on every row: the chosen ones come first, in their order, then all others.
    """
    weight = batch.root_weight**2
    share = weight / weight.sum()
    names = np.concatenate([chosen, np.setdiff1d(np.arange(len(pool)), chosen)])
    projection = np.zeros((len(pool), fit.model.n_components))
    projection[: len(chosen)] = fit.model.projection
    projection -= np.outer(share[names], projection.sum(axis=0))
    points = pool.points[names]
    model = replace(
        fit.model,
        landmarks=points,
        projection=projection,
        offset=row_means[names] @ projection,
        first_use=np.zeros(len(names), dtype=np.intp),
    )
    return replace(
        fit,
        model=model,
        landmark_indices=pool.indices[names],
        mean_image=mean_image(model.kernel, points, share[names], row_means[names]),
    )
