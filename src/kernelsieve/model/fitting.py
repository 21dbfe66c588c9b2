"""The three ways to fit: on all columns, on a pool in one pass, on fresh subsets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ..columns import Batch, Frame, Pool, weighted_targets
from ..deflation import (
    Candidates,
    Columns,
    Criterion,
    Extraction,
    FixedCandidates,
    FreshCandidates,
    GramMetric,
    Metric,
    Outcome,
    PoolMetric,
    RecomputedColumns,
    StoredColumns,
    extract,
    store_columns,
)
from ..execution import absorb, gather
from ..kernels import Kernel
from ..statistics import GramStatistic, Statistic, TriangularStatistic
from .assembly import Draft, Fit, calibrate, draft, finish
from .targets import check_not_constant

# Squared residuals of this part of the squared norm are the last that a Gram matrix knows well enough
# to choose by: scores are good to about 1e-6 here, and become worse as the residuals become smaller.
_GRAM_TRUST = 1e-8
_FLOAT32_FLOOR = 1e-10


@dataclass(frozen=True)
class Settings:
    """What every way to fit needs to know."""

    criterion: Criterion
    n_components: int
    center: bool
    tol: float
    precision: str
    dtype: type
    max_memory: float
    block_rows: int | None
    n_jobs: int | None

    @property
    def floor(self) -> float:
        return max(self.tol, _FLOAT32_FLOOR) if self.dtype == np.float32 else self.tol


def fit_columns(
    batch: Batch, kernel: Kernel, pool: Pool, settings: Settings, metric: Metric | None = None
) -> Fit:
    """Select among columns that are kept, or evaluated again for every product.

    Without a metric the pool is all rows, in their order, and the columns are the metric as well.
    """
    everyone = metric is None
    columns = _row_columns(batch, kernel, pool, settings, everyone)
    W = GramMetric(columns, _diagonal(columns, batch), batch.root_weight) if metric is None else metric
    extraction = _extract(
        batch, settings, lambda targets: FixedCandidates(columns, W, targets, settings.n_components)
    )
    rough = draft(extraction, pool, kernel, center=settings.center, dtype=settings.dtype)
    if everyone:
        trace = _weighted_sum(W.diagonal, batch)
        lengths = _lengths_from_rows(rough, batch)
    else:
        trace = _trace(kernel, batch, W.diagonal)
        lengths = W.lengths(rough.names, rough.dual)
    return finish(
        rough,
        settings.criterion,
        pool.first_of_equals(rough.names),
        lengths=lengths,
        trace=trace,
        mean_squared_norm=W.squared_norm_of_mean(columns.means),
    )


def fit_fresh(
    batch: Batch,
    kernel: Kernel,
    n_candidates: int,
    settings: Settings,
    random_state: np.random.RandomState,
) -> Fit:
    """Draw a new random subset of candidates at every step (section 4.4 of Dhanjal et al.)."""
    everyone = np.arange(len(batch))
    drawn: list[tuple[np.ndarray, RecomputedColumns]] = []

    def draw(retired: np.ndarray) -> tuple[RecomputedColumns, np.ndarray] | None:
        remaining = np.setdiff1d(everyone, retired)
        if len(remaining) == 0:
            return None
        size = min(n_candidates, len(remaining))
        rows = np.sort(random_state.choice(remaining, size, replace=False))
        columns = RecomputedColumns(
            batch,
            kernel,
            kernel.points(batch.X, rows),
            center=settings.center,
            rows=rows,
            n_jobs=settings.n_jobs,
        )
        drawn.append((rows, columns))
        return columns, rows

    extraction = _extract(batch, settings, lambda _: FreshCandidates(draw))
    pool = Pool(kernel.points(batch.X, everyone), everyone)
    rough = draft(extraction, pool, kernel, center=settings.center, dtype=settings.dtype)
    # The first subset is a random sample of the rows, so it tells what all of them are like.
    rows, columns = drawn[0]
    weight = batch.root_weight[rows] ** 2
    return finish(
        rough,
        settings.criterion,
        pool,
        lengths=_lengths_from_rows(rough, batch),
        trace=_trace(kernel, batch, columns.diagonal),
        mean_squared_norm=float(weight @ columns.means / weight.sum()),
    )


class OnePass:
    """Selection on a pool from the one-pass statistic; rows may come in any number of batches."""

    def __init__(
        self,
        kernel: Kernel,
        pool: Pool,
        metric: Metric,
        shift: np.ndarray,
        target_shift: np.ndarray,
        settings: Settings,
    ) -> None:
        self._kernel = kernel
        self._pool = pool
        self._settings = settings
        self._metric = metric
        fill = kernel.against(pool.points, settings.dtype)
        self._frame = Frame(fill, shift, target_shift, settings.dtype)

    def new_statistic(self, *, repeatable: bool) -> Statistic:
        """Return an empty statistic: the safe form where asked, or where rows come only once."""
        precision = self._settings.precision
        safe = precision == "safe" or (precision == "auto" and not repeatable)
        return (TriangularStatistic if safe else GramStatistic)(self._frame.n_lines)

    def absorb(self, statistic: Statistic, batch: Batch) -> None:
        """Add rows to a statistic."""
        absorb(
            statistic,
            batch,
            self._frame,
            trace_of=self._trace_of,
            block_rows=self._settings.block_rows,
            n_jobs=self._settings.n_jobs,
        )

    def fit(self, batches: Iterable[Batch]) -> Fit:
        """Fit on rows that can be passed over more than once."""
        statistic = self._gather(batches, type(self.new_statistic(repeatable=True)))
        fit = self.solve(statistic, batches)
        if fit.outcome is Outcome.IMPRECISE and self._settings.precision == "auto":
            fit = self.solve(self._gather(batches, TriangularStatistic), batches)
        return fit

    def solve(self, statistic: Statistic, batches: Iterable[Batch] | None = None) -> Fit:
        """Select from a statistic; ``batches`` allow a second pass over the chosen landmarks."""
        settings = self._settings
        coordinates = statistic.coordinates(
            self._frame.target_shift, self._frame.shift, center=settings.center
        )
        if settings.criterion.supervised:
            check_not_constant(
                coordinates.targets, coordinates.target_means * np.sqrt(coordinates.total_weight)
            )
        columns = StoredColumns(coordinates.columns, coordinates.means, centred=settings.center)
        columns.raw_squared_norms = (
            columns.raw_squared_norms + coordinates.total_weight * coordinates.means**2
        )
        extraction = extract(
            FixedCandidates(columns, self._metric, coordinates.targets, settings.n_components),
            coordinates.targets,
            settings.criterion,
            settings.n_components,
            total_weight=coordinates.total_weight,
            floor=settings.floor,
            trust=_GRAM_TRUST if isinstance(statistic, GramStatistic) else 0.0,
        )
        rough = draft(
            extraction, self._pool, self._kernel, center=settings.center, dtype=settings.dtype
        )
        imprecise = extraction.outcome is Outcome.IMPRECISE and settings.precision == "auto"
        if batches is not None and len(extraction) and not imprecise:
            rough = calibrate(
                rough,
                batches,
                self._frame.target_shift,
                center=settings.center,
                block_rows=settings.block_rows,
                n_jobs=settings.n_jobs,
            )
        return finish(
            rough,
            settings.criterion,
            self._pool.first_of_equals(rough.names),
            lengths=self._metric.lengths(rough.names, rough.dual),
            trace=coordinates.trace,
            mean_squared_norm=self._metric.squared_norm_of_mean(coordinates.means),
        )

    def _gather(self, batches: Iterable[Batch], form: type[Statistic]) -> Statistic:
        return gather(
            batches,
            self._frame,
            form,
            trace_of=self._trace_of,
            block_rows=self._settings.block_rows,
            n_jobs=self._settings.n_jobs,
        )

    def _trace_of(self, batch: Batch) -> float:
        return _trace(self._kernel, batch, self._metric.diagonal)


def pool_pass(
    kernel: Kernel, pool: Pool, W: np.ndarray, target_shift: np.ndarray, settings: Settings
) -> OnePass:
    """Return the pass for a pool of examples with ``W = K(pool, pool)``."""
    return OnePass(kernel, pool, PoolMetric(W), W.mean(axis=0), target_shift, settings)


def _extract(
    batch: Batch, settings: Settings, candidates_for: Callable[[np.ndarray], Candidates]
) -> Extraction:
    """Run the loop on the rows themselves."""
    targets = weighted_targets(batch, settings.center)
    if settings.criterion.supervised:
        check_not_constant(targets, batch.Y * batch.root_weight[:, None])
    return extract(
        candidates_for(targets),
        targets,
        settings.criterion,
        settings.n_components,
        total_weight=_total_weight(batch),
        floor=settings.floor,
        rows=batch,
    )


def _row_columns(
    batch: Batch, kernel: Kernel, pool: Pool, settings: Settings, everyone: bool
) -> Columns:
    bytes_needed = len(batch) * len(pool) * np.dtype(settings.dtype).itemsize
    if bytes_needed <= settings.max_memory:
        return store_columns(
            batch,
            kernel,
            pool.points,
            center=settings.center,
            dtype=settings.dtype,
            n_jobs=settings.n_jobs,
        )
    rows = np.arange(len(batch)) if everyone else None
    return RecomputedColumns(
        batch, kernel, pool.points, center=settings.center, rows=rows, n_jobs=settings.n_jobs
    )


def _diagonal(columns: Columns, batch: Batch) -> np.ndarray:
    """Read k(x, x) off the columns of all rows."""
    if isinstance(columns, RecomputedColumns):
        return columns.diagonal  # filled in by the first scan, before any criterion looks
    if not isinstance(columns, StoredColumns):
        raise TypeError(f"unknown columns {type(columns).__name__}")
    diagonal = np.diagonal(columns.values) / batch.root_weight
    return diagonal + columns.means if columns.centred else diagonal


def _lengths_from_rows(rough: Draft, batch: Batch) -> np.ndarray:
    """Return ``B' W B`` from the features alone, for landmarks that are rows of the batch.

    The columns of the landmarks, combined by B, are ``Q R`` (weighted, centred), and W holds their
    values in the rows of the landmarks: no kernel value has to be evaluated again.
    """
    extraction, rows = rough.extraction, rough.names
    values = extraction.features[rows] @ extraction.triangle / batch.root_weight[rows, None]
    lengths = rough.dual.T @ (values + rough.means @ rough.dual)
    return np.asarray((lengths + lengths.T) / 2)


def _total_weight(batch: Batch) -> float:
    return float(len(batch)) if batch.weight is None else float(batch.weight.sum())


def _weighted_sum(values: np.ndarray, batch: Batch) -> float:
    return float(values.sum() if batch.weight is None else values @ batch.weight)


def _trace(kernel: Kernel, batch: Batch, of_candidates: np.ndarray) -> float:
    """Return the weighted sum of k(x, x); from the candidates where that is the cheap estimate."""
    if kernel.cheap_diag:
        return _weighted_sum(kernel.diag(batch.X), batch)
    return float(of_candidates.mean()) * _total_weight(batch)
