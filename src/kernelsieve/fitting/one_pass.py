"""Fits on a pool in one pass: selection from the statistic alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from ..deflation import (
    Candidates,
    Criterion,
    Extraction,
    FixedCandidates,
    FollowedCandidates,
    Metric,
    Outcome,
    PoolMetric,
    StoredColumns,
    extract,
)
from ..exceptions import InvalidDataError
from ..execution import Changes, ChangingSums, absorb
from ..kernels import Kernel
from ..model import (
    FeatureGram,
    Fit,
    OrthonormalModel,
    build_model,
    feature_gram,
    feature_gram_from_statistic,
    finish,
    least_squares_heads,
    mean_image,
    reorthonormalise,
    variance_of_coordinates,
    variance_of_directions,
)
from ..rows import AugmentedBlock, Batch, Pool, check_not_constant
from ..statistics import CompensatedStatistic, Coordinates, GramStatistic, Statistic
from .exact import centred_columns, padded, trace_of, with_ridge, without_equals
from .settings import Settings

# Squared residuals of this part of the squared norm are the last that a Gram matrix knows well enough
# to choose by: scores are good to about 1e-6 here, and become worse as the residuals become smaller.
_GRAM_TRUST = 1e-8

# Looking ahead: rows for every feature, and at least so many; residuals of these rows are taken for too
# small that much sooner than those of all. So many kernel values need no decision: all digits of them
# take little time.
_ROWS_AHEAD, _FEWEST_AHEAD, _FEW_VALUES = 4, 256, 2**19
_CAUTION = 10

_NEARLY_CONSTANT = 0.9  # the mean of a column by the largest value that it can have


class RowPass(Protocol):
    """How a fit on a pool sees the rows: in batches, through a statistic of its own kind."""

    def new_statistic(self, *, repeatable: bool) -> Any:
        """Return an empty statistic, for rows that can be passed over again or come once."""

    def absorb(self, statistic: Any, batch: Batch) -> None:
        """Add rows to a statistic; an error leaves it as it was."""

    def fit(self, batches: Iterable[Batch]) -> Fit:
        """Fit on rows that can be passed over more than once."""

    def solve(self, statistic: Any) -> Fit:
        """Fit from a statistic alone."""


class OnePass:
    """Selection on a pool from the one-pass statistic; rows may come in any number of batches."""

    def __init__(
        self,
        kernel: Kernel,
        pool: Pool,
        metric: Metric,
        shift: np.ndarray,
        target_shift: np.ndarray,
        criterion: Criterion,
        settings: Settings,
        changes: Changes | None = None,
    ) -> None:
        self._kernel = kernel
        self._changes = changes
        self._pool = pool
        self._settings = settings
        self._criterion = criterion
        self._metric = metric
        fill = kernel.against(pool.points, settings.dtype)
        self._shifted = AugmentedBlock(fill, shift, target_shift, settings.dtype)
        self._frame = AugmentedBlock(fill, np.zeros_like(shift), target_shift, settings.dtype)

    def new_statistic(self, *, repeatable: bool) -> Statistic | ChangingSums:
        """Return an empty statistic: the safe one where asked or needed, or for rows that come once."""
        return self._empty(self._form(repeatable=repeatable))

    def _empty(self, form: type[Statistic]) -> Statistic | ChangingSums:
        safe = form is CompensatedStatistic
        columns = self._empty_safe() if safe else form(self._frame.n_lines)
        return columns if self._changes is None else ChangingSums(columns, form(1 + len(self._pool)))

    def _empty_safe(self) -> CompensatedStatistic:
        """Return the safe statistic, which itself subtracts means from columns that vary little."""
        shift, diagonal = self._shifted.shift, self._metric.diagonal
        largest = np.sqrt(np.maximum(diagonal, 0.0) * diagonal.max(initial=0.0))
        vary_little = shift > _NEARLY_CONSTANT * largest
        return CompensatedStatistic(
            self._frame.n_lines, self._of_lines(np.where(vary_little, shift, 0.0))
        )

    def _of_lines(self, shift: np.ndarray) -> np.ndarray:
        return np.concatenate([np.zeros(1 + self._frame.n_targets), shift])

    def _form(self, *, repeatable: bool) -> type[Statistic]:
        precision, criterion = self._settings.precision, self._criterion
        needed = criterion.needs_all_digits or not repeatable
        safe = precision == "safe" or (precision == "auto" and needed)
        return CompensatedStatistic if safe else GramStatistic

    def absorb(self, statistic: Statistic | ChangingSums, batch: Batch) -> None:
        """Add rows to a statistic; an error leaves it as it was."""
        if isinstance(statistic, ChangingSums):
            statistic.merge(self._gather([batch], type(statistic.columns)))
        else:
            self._absorb(statistic, batch)

    def _frame_of(self, statistic: Any) -> AugmentedBlock:
        """Return what makes the lines: shifted where that saves digits, and not where it costs one."""
        return self._frame if statistic.keeps_all_digits else self._shifted

    def _absorb(self, statistic: Statistic, *batches: Batch) -> None:
        absorb(
            statistic,
            batches,
            self._frame_of(statistic),
            trace_of=self._trace_of,
            block_rows=self._settings.block_rows,
            n_jobs=self._settings.n_jobs,
        )

    def fit(self, batches: Iterable[Batch]) -> Fit:
        """Fit on rows that can be passed over more than once."""
        form = self._form(repeatable=True)
        may_change = form is GramStatistic and self._settings.precision == "auto"
        if may_change and self._changes is None:
            statistic: Any = self._gather_looking_ahead(batches)
        else:
            statistic = self._gather(batches, form)
        fit = self.solve(statistic, batches)
        if may_change and fit.outcome is Outcome.IMPRECISE:
            fit = self.solve(self._gather(batches, CompensatedStatistic), batches)
        return fit

    def _gather_looking_ahead(self, batches: Iterable[Batch]) -> Statistic:
        """Pass once over all rows, in the form that a selection from a few of them asks for.

        Rows whose kernel values are known only as inner products would have to be passed over again
        if these turned out to be too coarse.
        """
        few = max(_FEWEST_AHEAD, _ROWS_AHEAD * self._settings.n_components)
        safe = self._empty_safe()
        statistic: Statistic = safe
        decided = False
        for batch in batches:
            some, others = [batch], list[Batch]()
            if decided or (safe.n_rows + len(batch)) * len(self._pool) > _FEW_VALUES:
                missing = 0 if decided else few - safe.n_rows
                some, others = _spread(batch, missing) if missing > 0 else ([], [batch])
            self._absorb(safe, *some)
            if others and not decided:
                decided = True
                if not self._needs_all_digits(safe):
                    statistic = safe.squared(self._of_lines(self._shifted.shift))
            self._absorb(statistic, *others)
        return statistic

    def _needs_all_digits(self, statistic: CompensatedStatistic) -> bool:
        """Tell if a selection comes near residuals that a Gram matrix does not know."""
        try:
            coordinates, _ = self._coordinates(statistic)
        except InvalidDataError:  # equal targets in these rows tell nothing about the others
            return False
        if not coordinates.total_weight > 0:
            return False
        extraction = self._extract(coordinates, trust=_CAUTION * _GRAM_TRUST)
        return extraction.outcome is Outcome.IMPRECISE

    def solve(self, statistic: Any, batches: Iterable[Batch] | None = None) -> Fit:
        """Select from a statistic; ``batches`` allow a second pass over the chosen landmarks."""
        settings = self._settings
        coordinates, scale = self._coordinates(statistic)
        trust = 0.0 if statistic.keeps_all_digits else _GRAM_TRUST
        extraction = self._extract(coordinates, trust=trust)
        rough = build_model(
            extraction, self._pool, self._kernel, center=settings.center, dtype=settings.dtype
        )
        if isinstance(statistic, ChangingSums):
            lines = statistic.change_lines()[:, rough.names] @ rough.dual
            rough = replace(rough, changes=lines.T @ lines)
        if self._can_calibrate(extraction):
            measured = self._measure(rough, statistic, batches)
            if measured is not None:
                rough = reorthonormalise(rough, measured, scale)
        return self._finish(rough, coordinates)

    def _measure(
        self, rough: OrthonormalModel, statistic: Any, batches: Iterable[Batch] | None
    ) -> FeatureGram | None:
        """Measure features as they are computed, or else take them from what the statistic knows."""
        settings, target_shift = self._settings, self._frame.target_shift
        if batches is not None:
            return feature_gram(
                rough,
                batches,
                target_shift,
                block_rows=settings.block_rows,
                n_jobs=settings.n_jobs,
                changes=self._changes,
            )
        if not statistic.keeps_all_digits:
            return None
        if isinstance(statistic, ChangingSums):
            return feature_gram_from_statistic(
                rough, statistic.columns, target_shift, statistic.changes
            )
        return feature_gram_from_statistic(rough, statistic, target_shift)

    def _coordinates(self, statistic: Any) -> tuple[Coordinates, np.ndarray]:
        """Return columns and targets, these scaled as the criterion wants them, and the scale."""
        settings, criterion = self._settings, self._criterion
        coordinates = statistic.coordinates(
            self._frame.target_shift,
            self._frame_of(statistic).shift,
            center=centred_columns(self._criterion, settings),
        )
        if criterion.supervised:
            about_means = coordinates.targets[0 if centred_columns(self._criterion, settings) else 1 :]
            check_not_constant(
                about_means, coordinates.target_means * np.sqrt(coordinates.total_weight)
            )
        scale = criterion.target_scale(coordinates.target_means * coordinates.total_weight)
        return replace(coordinates, targets=coordinates.targets * scale), scale

    def _extract(self, coordinates: Coordinates, *, trust: float) -> Extraction:
        candidates, targets = self._candidates(coordinates)
        return extract(
            candidates,
            targets,
            self._criterion,
            self._settings.n_components,
            total_weight=coordinates.total_weight,
            floor=self._settings.floor,
            rounding=self._settings.rounding,
            trust=trust,
        )

    def _candidates(self, coordinates: Coordinates) -> tuple[Candidates, np.ndarray]:
        """Return the candidates, and the targets in the rows of their columns."""
        settings, criterion = self._settings, self._criterion
        centred = centred_columns(self._criterion, settings)
        columns = StoredColumns(coordinates.columns, coordinates.means, centred=centred)
        if centred:
            columns.raw_squared_norms = (
                columns.raw_squared_norms + coordinates.total_weight * coordinates.means**2
            )
        if criterion.symmetric:
            followed = FollowedCandidates(
                columns, self._metric, settings.n_components, cutoff=criterion.cutoff
            )
            return followed, coordinates.targets
        seen = with_ridge(columns, criterion)
        targets = padded(coordinates.targets, seen.shape[0])
        fixed = FixedCandidates(seen, self._metric, targets, settings.n_components)
        return without_equals(fixed, self._pool.points, criterion), targets

    def _can_calibrate(self, extraction: Extraction) -> bool:
        """Tell if a second pass is of use: features must be orthonormal, and not found in vain."""
        in_vain = extraction.outcome is Outcome.IMPRECISE and self._settings.precision == "auto"
        return len(extraction) > 0 and not in_vain and not self._criterion.symmetric

    def _finish(self, rough: OrthonormalModel, coordinates: Coordinates) -> Fit:
        settings, metric = self._settings, self._metric
        coefficients = metric.mean_coefficients(coordinates.means)
        mean_squared_norm = float(coefficients @ coordinates.means)
        if self._criterion.symmetric:
            total_weight = coordinates.total_weight
            means = np.zeros(len(rough.extraction))
            if self._criterion.centred_scores and not settings.center:
                means = coordinates.means[rough.names] @ rough.model.projection
            removed = total_weight * mean_squared_norm if settings.center else 0.0
            explained = variance_of_coordinates(
                rough.extraction.features, means, total_weight, coordinates.trace - removed
            )
        else:
            lengths = metric.lengths(rough.names, rough.dual)
            explained = variance_of_directions(rough, lengths, coordinates.trace, mean_squared_norm)
        means = coordinates.target_means
        heads = least_squares_heads(
            rough.extraction,
            means if settings.center else np.zeros(len(means)),
            means * coordinates.total_weight,
        )
        pool = self._pool.first_of_equals(rough.names)
        fit = finish(rough, self._criterion, pool, explained, heads)
        if not settings.center or self._criterion.supervised:
            return fit
        image = mean_image(self._kernel, self._pool.points, coefficients, coordinates.means)
        return replace(fit, mean_image=image)

    def _gather(self, batches: Iterable[Batch], form: type[Statistic]) -> Statistic | ChangingSums:
        """Pass once over all rows."""
        found = self._empty(form)
        for batch in batches:
            if isinstance(found, ChangingSums):
                self._absorb(found.columns, batch)
                self._absorb_changes(found.changes, batch)
            else:
                self._absorb(found, batch)
        return found

    def _absorb_changes(self, statistic: Statistic, batch: Batch) -> None:
        if self._changes is not None:
            self._changes.absorb(statistic, batch, self._kernel.against(self._pool.points))

    def _trace_of(self, batch: Batch) -> float:
        return trace_of(self._kernel, batch, self._metric.diagonal)


def _spread(batch: Batch, n_rows: int) -> tuple[list[Batch], list[Batch]]:
    """Return rows from the beginning, the middle and the end, and the two parts between them.

    Rows may be sorted, and the first would then be alike.
    """
    size = -(-n_rows // 3)
    if len(batch) <= 3 * size:
        return [batch], []
    middle, end = (len(batch) - size) // 2, len(batch) - size
    starts = (0, middle, end)
    some = [batch[start : start + size] for start in starts]
    return some, [batch[size:middle], batch[middle + size : end]]


def pool_pass(
    kernel: Kernel,
    pool: Pool,
    W: np.ndarray,
    target_shift: np.ndarray,
    criterion: Criterion,
    settings: Settings,
    changes: Changes | None = None,
) -> OnePass:
    """Return the pass for a pool of examples with ``W = K(pool, pool)``."""
    return OnePass(
        kernel, pool, PoolMetric(W), W.mean(axis=0), target_shift, criterion, settings, changes
    )
