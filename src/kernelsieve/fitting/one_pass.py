"""Fits on a pool in one pass: selection from the statistic alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from ..data import Batch, HashedFolds, Pool, check_not_constant, reported, rows_in
from ..deflation import Criterion, Extraction, Metric, Outcome, PoolMetric, StoredColumns, extract
from ..exceptions import InvalidDataError
from ..kernels import Kernel
from ..model import (
    Fit,
    OrthonormalModel,
    build_model,
    explained_by_directions,
    explained_variance_ratio,
    finish,
    linear_heads,
    mean_image,
    orthonormal_loadings,
    reorthonormalise,
)
from ..statistics import (
    RESIDUAL_TRUST,
    Change,
    ColumnSums,
    Coordinates,
    FoldWork,
    GramStatistic,
    Statistic,
    StatisticPass,
    TriangularStatistic,
    change_blocks,
    form_of,
    may_become_safe,
)
from .exact import centred_columns, followed_candidates, padded
from .problem import Plan
from .settings import Settings
from .symmetric import with_means

# A trial selection takes so many samples for every feature, and at least so many; it takes residuals
# for too small that much sooner than a selection from all samples would. There is none where safe sums
# take little time: of so few kernel values, or of so few products for each step of a trial.
_TRIAL_EACH, _FEWEST_IN_A_TRIAL, _FEW_VALUES, _FEW_PRODUCTS = 4, 256, 2**18, 2**20
_CAUTION = 10


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
        settings, beside = self.settings, []
        if self.changes:
            fill = self.kernel.against(self.pool.points)
            beside = [change_blocks(self.changes, fill, len(self.pool))]
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
            beside=beside,
        )

    def new_statistic(self, *, repeatable: bool) -> ColumnSums:
        """Return empty sums: the safe form where asked or needed, or for a single pass."""
        needed = self.criterion.needs.digits or not repeatable
        return self._pass.empty(form_of(self.settings.precision, safe=needed))

    def absorb(self, statistic: ColumnSums, batch: Batch) -> None:
        self._pass.add(statistic, batch)

    def fit(self, batches: Iterable[Batch]) -> Fit:
        form = self.form_for(batches)
        fit = self.solve(self._pass.gather(batches, form), batches)
        if fit.outcome == Outcome.IMPRECISE and may_become_safe(self.settings.precision, form):
            fit = self.solve(self._pass.gather(batches, TriangularStatistic), batches)
        return fit

    def form_for(self, batches: Iterable[Batch]) -> type[Statistic]:
        """Choose fast or safe sums of these samples; safe ones of few kernel values take no time."""
        form = form_of(self.settings.precision, safe=self.criterion.needs.digits)
        if self.changes or not may_become_safe(self.settings.precision, form):
            return form
        n_values = (rows_in(batches) or np.inf) * len(self.pool)
        few_products = _FEW_PRODUCTS * self.settings.n_components
        if n_values <= _FEW_VALUES or n_values * len(self.pool) <= few_products:
            return TriangularStatistic
        return self._form_by_trial(batches)

    def _form_by_trial(self, batches: Iterable[Batch]) -> type[Statistic]:
        """Choose fast or safe sums by a trial selection on a few samples."""
        few = max(_FEWEST_IN_A_TRIAL, _TRIAL_EACH * self.settings.n_components)
        with reported("trial", verbose=False):
            sums = self._pass.gather(_some_of(batches, few), TriangularStatistic)
        try:
            coordinates, *_ = self._coordinates(sums)
        except InvalidDataError:  # equal targets in these samples tell nothing about the others
            return GramStatistic
        if not coordinates.total_weight > 0:
            return GramStatistic
        extraction = self._extract(coordinates, trust=_CAUTION * RESIDUAL_TRUST)
        # A selection that comes near residuals that a Gram matrix does not know.
        return TriangularStatistic if extraction.outcome == Outcome.IMPRECISE else GramStatistic

    def empty(self, form: type[Statistic]) -> ColumnSums:
        """Return sums that have seen no samples."""
        return self._pass.empty(form)

    def fold_work(self, folds: HashedFolds, sample: Batch | None) -> FoldWork:
        """Return how folds are summed up: in the form that some samples ask for, or the safe one."""
        form = form_of(self.settings.precision, safe=sample is None or self.criterion.needs.digits)
        if sample is not None and may_become_safe(self.settings.precision, form):
            form = self._form_by_trial([sample])
        return FoldWork(partial(self._pass.empty, form), self._pass.add, folds)

    def feature_products(self, statistic: ColumnSums, fit: Fit) -> np.ndarray:
        """Return the inner products of ``[1 | Y | features]`` over the samples of a statistic."""
        places = {number: place for place, number in reversed(list(enumerate(self.pool.indices)))}
        chosen = np.array([places[number] for number in fit.landmark_indices], np.intp)
        return self._pass.products(statistic, chosen, fit.model.projection, fit.model.offset)

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
        # Found in vain are features that are about to be found again, from the safe form.
        again = may_become_safe(settings.precision, type(statistic.columns))
        in_vain = extraction.outcome == Outcome.IMPRECISE and again
        orthonormal = len(extraction) > 0 and not self.criterion.deflation.symmetric
        if batches is not None and orthonormal and not in_vain:
            built = reorthonormalise(
                built,
                batches,
                self.target_shift,
                scale,
                n_labels=self.n_labels,
                block_rows=settings.block_rows,
                n_jobs=settings.n_jobs,
                changes=self.changes,
            )
        return self._finish(built, coordinates)

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


def loop_pass(plan: Plan, criterion: Criterion, changes: Sequence[Change] = ()) -> OnePass:
    """Return the one pass over samples for a pool; changes of its columns are a penalty."""
    W = plan.candidates.W
    candidates = plan.kernel, plan.pool, PoolMetric(W), W.mean(axis=0)
    n_labels = plan.encoder.n_labels
    return OnePass(*candidates, plan.target_shift, criterion, plan.settings, changes, n_labels)


def _fewer_targets(targets: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return as few targets as there are coordinates, and the rotation R with ``targets = few R'``.

    What a quadratic criterion sees of the targets does not change when they are rotated.
    """
    if targets.shape[1] <= len(targets):
        return targets, None
    rotation, few = np.linalg.qr(targets.T)
    return few.T, rotation


def _some_of(batches: Iterable[Batch], few: int) -> list[Batch]:
    """Return about so many samples: from all over, if there are more, for they may be sorted."""
    sample = getattr(batches, "sample", None)  # of all samples, which a source has drawn already
    some: list[Batch] = []
    for batch in batches if sample is None else [sample]:
        some.append(batch[:: max(1, len(batch) // few)])
        if sum(map(len, some)) >= few:
            break
    return some
