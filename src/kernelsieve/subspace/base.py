"""Base of the subspace estimators: labels, and images of the samples."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..data import Batch, Pool, TargetEncoder
from ..deflation import Alignment, Criterion, Outcome
from ..estimators import KernelEstimator, OutOfCoreMixin
from ..exceptions import FewerFeaturesWarning, warn
from ..fitting import Plan, Problem, RowPass
from ..kernels import Inputs, Kernel, Linear, Rows
from ..model import Fit
from ..statistics import ClassScatter, ColumnSums, Coordinates, StatisticPass, form_of
from .images import (
    CandidateImages,
    Images,
    InputImages,
    independent,
    input_images,
    present_classes,
    projected_images,
    row_images,
    whiten,
)

_MOST_INPUTS = 3000  # of which a pass adds up inner products
_MANY_SAMPLES = 4  # times as many as features of X: a pass over them shortens the rest


class SubspaceEstimator(OutOfCoreMixin, KernelEstimator):
    """Base of the estimators that find a subspace of the feature space from labels."""

    _use_of_candidates: ClassVar[str] = "combined"

    @abstractmethod
    def _find(self, images: Images) -> Fit:
        """Find the subspace from the images of samples."""

    def _needs_samples(self) -> bool:
        """Return True if the method needs the images of all samples, not only inner products."""
        return False

    def _target_kind(self) -> str:
        return "classes"

    def _screening(self) -> Criterion | None:
        return Alignment()  # samples that are good one by one serve a subspace, too

    def _takes_inputs(self, kernel: Kernel) -> bool:
        """Return True if the features of X serve as coordinates: linear kernel, no candidates."""
        return isinstance(kernel, Linear) and isinstance(self._candidates().size, str)

    def _solve(self, problem: Problem) -> Fit:
        if problem.given is not None:
            return self._solve_in_span(problem, problem.given)
        if self._takes_inputs(problem.kernel):
            return self._solve_inputs(problem)
        n_samples = len(problem.rows)
        size = self._pool_size(problem, n_samples)
        if size < n_samples:
            return self._solve_in_span(problem, self._draw(problem, size))
        return self._solve_among_all(problem)

    def _solve_among_all(self, problem: Problem) -> Fit:
        settings = problem.settings
        images = row_images(problem.rows, problem.kernel, settings.max_memory, settings.n_jobs)
        return self._find(images)

    def _solve_inputs(self, problem: Problem) -> Fit:
        """Find a subspace under the linear kernel, without candidates."""
        rows = problem.rows
        n_samples, n_inputs = rows.X.shape
        many = n_samples > _MANY_SAMPLES * n_inputs and n_inputs <= _MOST_INPUTS
        if not many or sparse.issparse(rows.X) or self._needs_samples():
            return self._find(input_images(rows))
        return self._row_pass(problem.plan(_inputs(n_inputs))).fit([rows])

    def _solve_in_span(self, problem: Problem, candidates: Pool) -> Fit:
        rows, plan = problem.rows, problem.plan(candidates)
        if not self._needs_samples():
            return self._row_pass(plan).fit([rows])
        images = projected_images(rows, plan.kernel, plan.pool, plan.pool.W, plan.settings.n_jobs)
        return self._find(images)

    def _row_pass(self, plan: Plan) -> RowPass:
        return ImagePass(plan, self._find)

    def _plan(self, X: Rows, y: Any, classes: Any, sample_weight: Any) -> Plan:
        size = self._candidates().size
        named = isinstance(size, str) and size == "auto"
        if named and X.shape[1] <= _MOST_INPUTS and self._kernel_class is Linear:
            encoder = self._encoder(y, classes)
            problem = self._problem_of(self._batch(X, y, sample_weight, encoder), encoder)
            return problem.plan(_inputs(X.shape[1]))
        return super()._plan(X, y, classes, sample_weight)

    def _set_fit(self, fit: Fit, encoder: TargetEncoder, rows: Rows) -> None:
        super()._set_fit(fit, encoder, rows)
        if fit.outcome == Outcome.CENTROIDS and self.n_components is None:
            warn(
                f"The data gave {fit.model.n_components} features, and there are more centroids: those "
                "that are combinations of others, but for rounding, add none. Center X if "
                "their means are large, raise gamma, or pass n_components as that number.",
                FewerFeaturesWarning,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


def _inputs(n_inputs: int) -> Pool:
    """Return the features of X as candidates, which is lossless for the linear kernel."""
    numbers = np.arange(n_inputs)
    return Pool(numbers, numbers)


class ImagePass:
    """Sums up samples as images in the span of a pool, and runs a subspace method on them.

    Under the linear kernel a plan without the values among its pool has the features of X as pool.
    """

    def __init__(self, plan: Plan, find: Callable[[Images], Fit]) -> None:
        pool, W, settings = plan.pool, plan.pool.W, plan.settings
        takes_inputs = isinstance(plan.kernel, Linear) and not len(W)
        self._kernel: Kernel = Inputs() if takes_inputs else plan.kernel
        self._pool = pool
        self._W = None if takes_inputs else W
        self._find = find
        # Coordinates solve systems in the candidates' columns.
        self._form = form_of(settings.precision, safe=True)
        self._pass = StatisticPass(
            self._kernel,
            pool,
            np.ones(len(pool)) if takes_inputs else np.diagonal(W),
            np.zeros(len(pool)) if takes_inputs else W.mean(axis=0),
            plan.target_shift,
            n_labels=plan.encoder.n_labels,
            dtype=settings.dtype,
            block_rows=settings.block_rows,
            n_jobs=settings.n_jobs,
        )

    def new_statistic(self, *, repeatable: bool) -> ColumnSums:
        """Return an empty statistic."""
        return self._pass.empty(self._form)

    def absorb(self, statistic: ColumnSums, batch: Batch) -> None:
        """Add samples to a statistic, which is invalid after an error."""
        self._pass.add(statistic, batch)

    def fit(self, batches: Iterable[Batch]) -> Fit:
        """Fit to samples that come in batches."""
        return self.solve(self._pass.gather(batches, self._form))

    def solve(self, statistic: ColumnSums) -> Fit:
        """Run the subspace method on a statistic."""
        coordinates: Coordinates | ClassScatter
        if self._pass.n_labels:
            coordinates = self._pass.class_scatter(statistic, center=False)
            labels = present_classes(coordinates.labels)
        else:
            coordinates = self._pass.coordinates(statistic, center=False)
            labels = present_classes(coordinates.targets)
        columns = coordinates.columns
        sums = (labels, coordinates.total_weight, coordinates.trace)
        images: Images
        if self._W is None:
            images = InputImages(*sums, Linear(), columns)
        else:
            factor, chosen = independent(self._W)
            rows = whiten(columns[:, chosen], factor, chosen)
            images = CandidateImages(*sums, self._kernel, rows, self._pool, factor, chosen)
        return self._find(images)
