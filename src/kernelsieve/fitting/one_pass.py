"""Fits on a pool in one pass: selection from the statistic alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from ..deflation import Criterion, Extraction, Metric, Outcome, StoredColumns, extract
from ..exceptions import InvalidDataError
from ..execution import Change, change_blocks, counted, reported, rows_in
from ..kernels import CallableKernel, Kernel
from ..model import (
    FeatureGram,
    Fit,
    OrthonormalModel,
    build_model,
    explained_by_directions,
    explained_variance_ratio,
    feature_gram,
    feature_gram_from_statistic,
    finish,
    linear_heads,
    mean_image,
    orthonormal_loadings,
    reorthonormalise,
)
from ..rows import Batch, HashedFolds, Pool, check_not_constant
from ..statistics import Coordinates, DoubleDoubleStatistic, Statistic
from .exact import centred_columns, followed_candidates, padded
from .fold_sums import FoldWork
from .precision import RESIDUAL_TRUST, PrecisionPolicy
from .settings import Settings
from .statistic_pass import ColumnSums, StatisticPass
from .symmetric import with_means

# Looking ahead: rows for every feature, and at least so many; residuals of these rows are taken for too
# small that much sooner than those of all. So many kernel values need no decision: all digits of them
# take little time.
_ROWS_AHEAD, _FEWEST_AHEAD, _FEW_VALUES = 4, 256, 2**18
_CAUTION = 10
# With so many multiplications or fewer, a pass that was in vain takes no longer than a look ahead.
_QUICK_PASS = 2**33

_Rows = TypeVar("_Rows", Batch, np.ndarray)  # samples, or their numbers


class RowPass(Protocol):
    """How a fit on a pool sees the rows: in batches, through a statistic of its own kind."""

    def new_statistic(self, *, repeatable: bool) -> Any:
        """Return an empty statistic, for rows that can be passed over again or come once."""

    def absorb(self, statistic: Any, batch: Batch) -> None:
        """Add rows to a statistic that nobody needs after an error."""

    def fit(self, batches: Iterable[Batch]) -> Fit:
        """Fit on rows that can be passed over more than once."""

    def solve(self, statistic: Any) -> Fit:
        """Fit from a statistic alone."""


@dataclass(eq=False)
class OnePass:
    """Selection on a pool from the one-pass statistic; rows may come in any number of batches."""

    kernel: Kernel
    pool: Pool
    metric: Metric
    shift: np.ndarray  # near the means of the columns
    target_shift: np.ndarray  # near the means of the targets
    criterion: Criterion
    settings: Settings
    changes: Sequence[Change] = ()
    n_labels: int = 0  # classes, where they are many and targets are labels

    def __post_init__(self) -> None:
        settings, fill = self.settings, self.kernel.against(self.pool.points)
        self._policy = PrecisionPolicy(settings.precision, self.criterion.needs.digits)
        self._pass = StatisticPass(
            self.kernel,
            self.pool,
            self.metric.diagonal,
            self.shift,
            self.target_shift,
            n_labels=self.n_labels,
            dtype=settings.dtype,
            block_rows=settings.block_rows,
            n_jobs=settings.n_jobs,
            beside=[change_blocks(self.changes, fill, len(self.pool))] if self.changes else (),
        )

    def new_statistic(self, *, repeatable: bool) -> ColumnSums:
        """Return empty sums: the safe form where asked or needed, or for a single pass."""
        return self._pass.empty(self._policy.form(prefer_safe=not repeatable))

    def absorb(self, statistic: ColumnSums, batch: Batch) -> None:
        self._pass.add(statistic, batch)

    def fit(self, batches: Iterable[Batch]) -> Fit:
        def gather(form: type[Statistic]) -> ColumnSums:
            looks_ahead = self._policy.may_change(form) and not self.changes
            if looks_ahead and not self._passes_quickly(batches):
                with counted(rows_in(batches)):
                    return self._gather_looking_ahead(batches)
            return self._pass.gather(batches, form)

        return self._policy.solve(
            gather,
            lambda statistic: self.solve(statistic, batches),
            lambda fit: fit.outcome == Outcome.IMPRECISE,
        )

    def _passes_quickly(self, batches: Iterable[Batch]) -> bool:
        """Tell if rows are as well passed over again, should the fast form turn out too coarse.

        A function of the user's may take its time, and is evaluated once for all digits of few values.
        """
        n_values = (rows_in(batches) or np.inf) * len(self.pool)
        known = not isinstance(self.kernel, CallableKernel) and n_values > _FEW_VALUES
        return known and n_values * len(self.pool) <= _QUICK_PASS

    def begin_apart(
        self, batch: Batch, groups: Sequence[np.ndarray]
    ) -> list[tuple[ColumnSums, list[np.ndarray]]]:
        """Begin sums of several groups of samples, all in the form that some of each ask for.

        The numbers of samples that have not been summed up yet are returned with every group.
        """
        form = self._policy.form()
        if not self._policy.may_change(form) or self.changes:
            return [(self._pass.empty(form), [rows]) for rows in groups]
        few = max(_FEWEST_AHEAD, _ROWS_AHEAD * self.settings.n_components) // len(groups) + 1
        parts = [_spread(rows, few) for rows in groups]
        safe = self._policy.form(prefer_safe=True)
        with reported("looking ahead", verbose=False):
            begun = [self._pass.gather([batch[rows] for rows in some], safe) for some, _ in parts]
        total = self._pass.empty(safe)
        for sums in begun:
            total.merge(sums)
        if not self._needs_double_double(total):
            begun = list(map(self._pass.squared, begun))
        return [(sums, others) for sums, (_, others) in zip(begun, parts, strict=True)]

    def fold_work(self, folds: HashedFolds, sample: Batch | None) -> FoldWork:
        """Return how folds are summed up: in the form that some samples ask for, or with all digits."""
        form = self._policy.form(prefer_safe=sample is None)
        if sample is not None and self._policy.may_change(form):
            form = self._form_by(self._few_of(sample))
        return FoldWork(partial(self._pass.empty, form), self._pass.add, folds)

    def empty_like(self, sums: ColumnSums) -> ColumnSums:
        """Return sums of no samples, in the same form."""
        return self._pass.empty(type(sums.columns))

    def feature_products(self, statistic: ColumnSums, fit: Fit) -> np.ndarray:
        """Return the inner products of ``[1 | Y | features]`` over the samples of a statistic."""
        places = {number: place for place, number in reversed(list(enumerate(self.pool.indices)))}
        chosen = np.array([places[number] for number in fit.landmark_indices], np.intp)
        return self._pass.products(statistic, chosen, fit.model.projection, fit.model.offset)

    def _gather_looking_ahead(self, batches: Iterable[Batch]) -> ColumnSums:
        """Pass once over all rows, in the form that a selection from a few of them asks for.

        Rows whose kernel values are known only as inner products would have to be passed over again
        if these turned out to be too coarse.
        """
        sample = getattr(batches, "sample", None)
        if sample is not None:  # of all samples, which a source has drawn already
            return self._pass.gather(batches, self._form_by(self._few_of(sample)))
        few = max(_FEWEST_AHEAD, _ROWS_AHEAD * self.settings.n_components)
        safe = statistic = self._pass.empty(self._policy.form(prefer_safe=True))
        decided = False
        for batch in batches:
            some, others = [batch], list[Batch]()
            n_seen = safe.columns.n_rows
            if decided or (n_seen + len(batch)) * len(self.pool) > _FEW_VALUES:
                missing = 0 if decided else few - n_seen
                some, others = _spread(batch, missing) if missing > 0 else ([], [batch])
            self._pass.add(safe, *some)
            if others and not decided:
                decided = True
                if not self._needs_double_double(safe):
                    statistic = self._pass.squared(safe)
            self._pass.add(statistic, *others)
        return statistic

    def _few_of(self, sample: Batch) -> Batch:
        """Return as many samples as a look ahead takes, from all over: they may be sorted."""
        few = max(_FEWEST_AHEAD, _ROWS_AHEAD * self.settings.n_components)
        return sample[:: max(1, len(sample) // few)]

    def _form_by(self, sample: Batch) -> type[Statistic]:
        """Return the form that a selection from a few samples asks for."""
        safe = self._policy.form(prefer_safe=True)
        with reported("looking ahead", verbose=False):
            needed = self._needs_double_double(self._pass.gather([sample], safe))
        return safe if needed else self._policy.form()

    def _needs_double_double(self, statistic: ColumnSums) -> bool:
        """Tell if a selection comes near residuals that a Gram matrix does not know."""
        try:
            coordinates, *_ = self._coordinates(statistic)
        except InvalidDataError:  # equal targets in these rows tell nothing about the others
            return False
        if not coordinates.total_weight > 0:
            return False
        extraction = self._extract(coordinates, trust=_CAUTION * RESIDUAL_TRUST)
        return extraction.outcome == Outcome.IMPRECISE

    def solve(self, statistic: ColumnSums, batches: Iterable[Batch] | None = None) -> Fit:
        """Select from a statistic; ``batches`` allow a second pass over the chosen landmarks."""
        settings = self.settings
        coordinates, scale, rotation = self._coordinates(statistic)
        trust = 0.0 if statistic.keeps_all_digits else RESIDUAL_TRUST
        extraction = self._extract(coordinates, trust=trust)
        if rotation is not None:
            products = extraction.target_products @ rotation.T
            extraction = extraction.with_factor(extraction.triangle, products)
        built = build_model(
            extraction, self.pool, self.kernel, center=settings.center, dtype=settings.dtype
        )
        if self.changes:
            lines = statistic.lines_beside(0)[:, built.names] @ built.dual
            built = replace(built, changes=lines.T @ lines)
        if self._can_be_measured(extraction, statistic):
            measured = self._feature_gram(built, statistic, batches)
            if measured is not None:
                built = reorthonormalise(built, measured, scale)
        return self._finish(built, coordinates)

    def _feature_gram(
        self, built: OrthonormalModel, statistic: ColumnSums, batches: Iterable[Batch] | None
    ) -> FeatureGram | None:
        """Measure features as they are computed, or else take them from what the statistic knows."""
        settings, target_shift = self.settings, self.target_shift
        if batches is not None:
            return feature_gram(
                built,
                batches,
                target_shift,
                n_labels=self.n_labels,
                block_rows=settings.block_rows,
                n_jobs=settings.n_jobs,
                changes=self.changes,
            )
        if not isinstance(statistic.columns, DoubleDoubleStatistic):
            return None
        return feature_gram_from_statistic(built, statistic.columns, target_shift, *statistic.beside)

    def _coordinates(self, statistic: ColumnSums) -> tuple[Coordinates, np.ndarray, np.ndarray | None]:
        """Return columns and targets, these scaled as the criterion wants them, and the scale.

        Changes of the columns are below them, where targets are zero. Where targets are more than
        coordinates they are rotated, and the rotation is returned as well.
        """
        criterion = self.criterion
        centred = centred_columns(criterion, self.settings)
        coordinates = self._pass.coordinates(statistic, center=centred)
        if criterion.needs.targets:
            about_means = coordinates.targets[0 if centred else 1 :]
            if self.n_labels:
                about_means = np.array(np.count_nonzero(coordinates.target_means) - 1.0)
            before = coordinates.target_means * np.sqrt(coordinates.total_weight)
            check_not_constant(about_means, before)
        scale = criterion.target_scale(coordinates.target_means * coordinates.total_weight)
        columns, targets = coordinates.columns, coordinates.targets * scale
        targets, rotation = _fewer_targets(targets) if self.n_labels else (targets, None)
        if self.changes:
            columns = np.vstack([columns, statistic.lines_beside(0)])
        targets = padded(targets, len(columns))
        return replace(coordinates, columns=columns, targets=targets), scale, rotation

    def _extract(self, coordinates: Coordinates, *, trust: float) -> Extraction:
        centred = centred_columns(self.criterion, self.settings)
        columns = StoredColumns(coordinates.columns, coordinates.means, centred=centred)
        if centred:
            columns.raw_squared_norms = (
                columns.raw_squared_norms + coordinates.total_weight * coordinates.means**2
            )
        targets, criterion, settings = coordinates.targets, self.criterion, self.settings
        candidates = followed_candidates(
            columns, self.metric, targets, self.pool.points, criterion, settings
        )
        return extract(
            candidates,
            padded(targets, candidates.columns.shape[0]),
            criterion,
            settings.n_components,
            total_weight=coordinates.total_weight,
            floor=settings.floor,
            rounding=settings.rounding,
            trust=trust,
        )

    def _can_be_measured(self, extraction: Extraction, statistic: ColumnSums) -> bool:
        """Tell if a second pass is of use: features must be orthonormal, and not found in vain."""
        again = self._policy.may_change(type(statistic.columns))
        in_vain = extraction.outcome == Outcome.IMPRECISE and again
        return len(extraction) > 0 and not in_vain and not self.criterion.deflation.symmetric

    def _finish(self, built: OrthonormalModel, coordinates: Coordinates) -> Fit:
        settings, metric = self.settings, self.metric
        coefficients = metric.mean_coefficients(coordinates.means)
        mean_squared_norm = float(coefficients @ coordinates.means)
        lengths = None
        if self.criterion.deflation.symmetric:
            total_weight, features = coordinates.total_weight, built.extraction.features
            if self.criterion.centred_scores and not settings.center:
                means = coordinates.means[built.names] @ built.model.projection
                features = with_means(features, means, total_weight)
            removed = total_weight * mean_squared_norm if settings.center else 0.0
            explained = explained_variance_ratio(features, coordinates.trace - removed)
        else:
            lengths = metric.lengths(built.names, built.dual)
            explained = explained_by_directions(built, lengths, coordinates.trace, mean_squared_norm)
        sums = coordinates.target_means * coordinates.total_weight
        heads = linear_heads(built.extraction, self.criterion, sums, center=settings.center)
        pool = self.pool.first_of_equals(built.names)
        keeps_loadings = self.criterion.keeps_loadings
        fit = finish(
            built,
            self.criterion,
            pool,
            explained,
            heads,
            directions=lengths,
            scale=settings.scale,
            loadings=orthonormal_loadings(built, metric) if keeps_loadings else None,
        )
        if not settings.center or (self.criterion.needs.targets and not keeps_loadings):
            return fit
        points = fit.model.landmarks if keeps_loadings else self.pool.points  # all of them, once
        image = mean_image(self.kernel, points, coefficients, coordinates.means)
        return replace(fit, mean_image=image)


def _fewer_targets(targets: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return as few targets as there are coordinates, and the rotation R with ``targets = few R'``.

    What a quadratic criterion sees of the targets does not change when they are rotated.
    """
    if targets.shape[1] <= len(targets):
        return targets, None
    rotation, few = np.linalg.qr(targets.T)
    return few.T, rotation


def _spread(batch: _Rows, n_rows: int) -> tuple[list[_Rows], list[_Rows]]:
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
