"""The one pass over the samples that all subspace methods share."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ..data import Batch
from ..fitting import Plan
from ..kernels import Inputs, Kernel, Linear
from ..model import Fit
from ..statistics import ClassScatter, ColumnSums, Coordinates, StatisticPass, form_of
from .images import CandidateImages, Images, InputImages, independent, present_classes, whiten

#: Finds a subspace from images.
SubspaceMethod = Callable[[Images], Fit]


class ImagePass:
    """Sums up samples as images in the span of a pool, and runs a subspace method on them.

    Under the linear kernel a plan without the values among its pool has the features of X as pool.
    """

    def __init__(self, plan: Plan, method: SubspaceMethod) -> None:
        pool, W, settings = plan.pool, plan.pool.W, plan.settings
        takes_inputs = isinstance(plan.kernel, Linear) and not len(W)
        self._kernel: Kernel = Inputs() if takes_inputs else plan.kernel
        self._pool = pool
        self._W = None if takes_inputs else W
        self._method = method
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
        return self._method(images)
