"""Fits on a pool in one pass: selection from the statistic alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from ..data import Batch, HashedFolds, Pool, check_not_constant, reported, rows_in
from ..deflation import Criterion, Metric, Outcome, PoolMetric, Selection, StoredColumns, select
from ..exceptions import InvalidDataError, KernelError
from ..model import (
    Fit,
    KernelModel,
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
from .exact import fit_columns
from .problem import Plan, Problem
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
    """Selection on a pool from the one-pass statistic; rows may come in any number of batches.

    Changes of the pool's columns are a penalty. Metric and shift are those of the pool's kernel matrix,
    unless they are given: the shift is near the means of the columns.
    """

    plan: Plan
    criterion: Criterion
    changes: Sequence[Change] = ()
    metric: Metric | None = None
    shift: np.ndarray | None = None

    def __post_init__(self) -> None:
        plan, settings, beside = self.plan, self.plan.settings, []
        W = plan.pool.W
        self._metric = PoolMetric(W) if self.metric is None else self.metric
        if self.changes:
            fill = plan.kernel.against(plan.pool.points)
            beside = [change_blocks(self.changes, fill, len(plan.pool))]
        self._pass = StatisticPass(
            plan.kernel,
            plan.pool,
            self._metric.diagonal,
            W.mean(axis=0) if self.shift is None else self.shift,
            plan.target_shift,
            n_labels=plan.encoder.n_labels,
            dtype=settings.dtype,
            block_rows=settings.block_rows,
            n_jobs=settings.n_jobs,
            beside=beside,
        )

    def new_statistic(self, *, repeatable: bool) -> ColumnSums:
        """Return empty sums: the safe form where asked or needed, or for a single pass."""
        needed = self.criterion.needs.digits or not repeatable
        return self._pass.empty(form_of(self.plan.settings.precision, safe=needed))

    def empty(self, form: type[Statistic]) -> ColumnSums:
        """Return sums that have seen no samples."""
        return self._pass.empty(form)

    def absorb(self, statistic: ColumnSums, batch: Batch) -> None:
        self._pass.add(statistic, batch)

    def fit(self, batches: Iterable[Batch]) -> Fit:
        form = self.form_for(batches)
        fit = self.solve(self._pass.gather(batches, form), batches)
        if fit.outcome == Outcome.IMPRECISE and may_become_safe(self.plan.settings.precision, form):
            fit = self.solve(self._pass.gather(batches, TriangularStatistic), batches)
        return fit

    def form_for(self, batches: Iterable[Batch]) -> type[Statistic]:
        """Choose fast or safe sums of these samples; safe ones of few kernel values take no time."""
        form = form_of(self.plan.settings.precision, safe=self.criterion.needs.digits)
        if self.changes or not may_become_safe(self.plan.settings.precision, form):
            return form
        n_values = (rows_in(batches) or np.inf) * len(self.plan.pool)
        few_products = _FEW_PRODUCTS * self.plan.settings.n_components
        if n_values <= _FEW_VALUES or n_values * len(self.plan.pool) <= few_products:
            return TriangularStatistic
        return self._form_by_trial(batches)

    def _form_by_trial(self, batches: Iterable[Batch]) -> type[Statistic]:
        """Choose fast or safe sums by a trial selection on a few samples."""
        few = max(_FEWEST_IN_A_TRIAL, _TRIAL_EACH * self.plan.settings.n_components)
        with reported("trial", verbose=False):
            sums = self._pass.gather(_some_of(batches, few), TriangularStatistic)
        try:
            found, *_ = self._select(sums, trust=_CAUTION * RESIDUAL_TRUST)
        except (InvalidDataError, KernelError):
            # Samples of equal targets, or without weight, tell nothing about the others.
            return GramStatistic
        # A selection that comes near residuals that a Gram matrix does not know.
        return TriangularStatistic if found.outcome == Outcome.IMPRECISE else GramStatistic

    def fold_work(self, folds: HashedFolds, sample: Batch | None) -> FoldWork:
        """Return how folds are summed up: in the form that some samples ask for, or the safe one."""
        precision = self.plan.settings.precision
        form = form_of(precision, safe=sample is None or self.criterion.needs.digits)
        if sample is not None and may_become_safe(precision, form):
            form = self._form_by_trial([sample])
        return FoldWork(partial(self._pass.empty, form), self._pass.add, folds)

    def feature_products(self, statistic: ColumnSums, fit: Fit) -> np.ndarray:
        """Return the inner products of ``[1 | Y | features]`` over the samples of a statistic."""
        numbers = reversed(list(enumerate(self.plan.pool.indices)))
        places = {number: place for place, number in numbers}
        chosen = np.array([places[number] for number in fit.landmark_indices], np.intp)
        return self._pass.products(statistic, chosen, fit.model.projection, fit.model.offset)

    def solve(self, statistic: ColumnSums, batches: Iterable[Batch] | None = None) -> Fit:
        """Select from a statistic; ``batches`` allow a second pass over the chosen landmarks."""
        plan, settings = self.plan, self.plan.settings
        trust = 0.0 if statistic.keeps_all_digits else RESIDUAL_TRUST
        found, coordinates, scale = self._select(statistic, trust)
        model = build_model(found, plan.pool, plan.kernel, center=settings.center, dtype=settings.dtype)
        if self.changes:
            lines = statistic.lines_beside(0)[:, found.names] @ found.dual
            found = replace(found, changes=lines.T @ lines)
        # Found in vain are features that are about to be found again, from the safe form.
        again = may_become_safe(settings.precision, type(statistic.columns))
        in_vain = found.outcome == Outcome.IMPRECISE and again
        orthonormal = len(found) > 0 and not self.criterion.deflation.symmetric
        if batches is not None and orthonormal and not in_vain:
            found, model = reorthonormalise(
                found,
                model,
                batches,
                plan.target_shift,
                scale,
                center=settings.center,
                n_labels=plan.encoder.n_labels,
                block_rows=settings.block_rows,
                n_jobs=settings.n_jobs,
                changes=self.changes,
            )
        return self._described(found, model, coordinates)

    def _select(self, statistic: ColumnSums, trust: float) -> tuple[Selection, Coordinates, np.ndarray]:
        """Run the loop on a statistic's coordinates; return these and the scale of targets, too."""
        plan, criterion, settings = self.plan, self.criterion, self.plan.settings
        centred = settings.center or criterion.centred_scores
        coordinates = self._pass.coordinates(statistic, center=centred)
        values, means, weight = coordinates.columns, coordinates.means, coordinates.total_weight
        if criterion.needs.targets:
            about_means = coordinates.targets[0 if centred else 1 :]
            if plan.encoder.n_labels:
                about_means = np.array(np.count_nonzero(coordinates.target_means) - 1.0)
            check_not_constant(about_means, coordinates.target_means * np.sqrt(weight))
        scale = criterion.target_scale(coordinates.target_means * weight)
        targets, rotation = coordinates.targets * scale, None
        if plan.encoder.n_labels and targets.shape[1] > len(targets):
            # A quadratic criterion sees the same of targets that are rotated into few.
            rotation, few = np.linalg.qr(targets.T)
            targets = few.T
        if self.changes:  # below the columns, where targets are zero
            values = np.vstack([values, statistic.lines_beside(0)])
        columns = StoredColumns(values, means, centred=centred)
        if centred:
            columns.raw_squared_norms = columns.raw_squared_norms + weight * means**2
        floor, rounding = settings.tolerances
        found = select(
            columns,
            self._metric,
            targets,
            plan.pool.points,
            criterion,
            settings.n_components,
            total_weight=weight,
            floor=floor,
            rounding=rounding,
            trust=trust,
        )
        if rotation is not None:
            found = replace(found, target_products=found.target_products @ rotation.T)
        return found, coordinates, scale

    def _described(self, found: Selection, model: KernelModel, coordinates: Coordinates) -> Fit:
        """Return the fit: what was found, and what it explains of images and targets."""
        criterion, metric, center = self.criterion, self._metric, self.plan.settings.center
        total_weight, trace = coordinates.total_weight, coordinates.trace
        coefficients = metric.mean_coefficients(coordinates.means)
        mean_squared_norm = float(coefficients @ coordinates.means) if center else 0.0
        lengths = loadings = None
        if criterion.deflation.symmetric:
            features = found.features
            if criterion.centred_scores and not center:
                means = coordinates.means[found.names] @ model.projection
                features = with_means(features, means, total_weight)
            explained = explained_variance_ratio(features, trace - total_weight * mean_squared_norm)
        else:
            lengths = metric.lengths(found.names, found.dual)
            explained = explained_by_directions(found, lengths, trace, mean_squared_norm)
        heads = linear_heads(found, criterion, coordinates.target_means * total_weight, center=center)
        if criterion.keeps_loadings:
            loadings = orthonormal_loadings(found, model, metric, center=center)
        fit = finish(
            found,
            model,
            criterion,
            self.plan.pool.first_of_equals(found.names),
            explained,
            heads,
            directions=lengths,
            scale=self.plan.settings.scale,
            loadings=loadings,
        )
        if not center or (criterion.needs.targets and not criterion.keeps_loadings):
            return fit
        landmarks, pool = fit.model.landmarks, self.plan.pool
        points = landmarks if criterion.keeps_loadings else pool.points  # all of them, once
        image = mean_image(self.plan.kernel, points, coefficients, coordinates.means)
        return replace(fit, mean_image=image)


def select_in_pool(problem: Problem, samples: Batch, pool: Pool, criterion: Criterion) -> Fit:
    """Select from a pool in one pass; with kept columns, where a criterion needs the samples."""
    if not criterion.needs.rows:
        return OnePass(problem.plan(pool), criterion).fit([samples])
    settings = problem.settings_for(len(pool))
    return fit_columns(samples, problem.kernel, pool, criterion, settings, PoolMetric(pool.W))


def _some_of(batches: Iterable[Batch], few: int) -> list[Batch]:
    """Return about so many samples: from all over, if there are more, for they may be sorted."""
    sample = getattr(batches, "sample", None)  # of all samples, which a source has drawn already
    some: list[Batch] = []
    for batch in batches if sample is None else [sample]:
        some.append(batch[:: max(1, len(batch) // few)])
        if sum(map(len, some)) >= few:
            break
    return some
