"""One pass over the samples for all subspace methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

import numpy as np

from ..fitting import ColumnSums, PrecisionPolicy, Settings, StatisticPass
from ..kernels import Kernel, Linear
from ..model import Fit
from ..rows import Batch, Pool
from .images import CandidateImages, Images, InputImages, independent, present_classes, whitened


class SubspaceMethod(ABC):
    """What finds a subspace from images."""

    supervised = True
    #: Whether it needs all samples at once.
    needs_rows = False
    #: Whether it needs the images of all samples, and not only their inner products.
    keeps_rows = False
    #: Whether directions combine candidates, so that a pool is screened for a criterion of its own.
    needs_metric = True

    def __init__(self, n_components: int | None) -> None:
        self.n_components = n_components

    @abstractmethod
    def solve(self, images: Images) -> Fit:
        """Return the fit."""


class ImagePass:
    """The one pass over samples, of which a method sees images in the span of a pool.

    Without ``W`` the kernel is :class:`Inputs`, and the pool is the features of X.
    """

    def __init__(
        self,
        kernel: Kernel,
        pool: Pool,
        W: np.ndarray | None,
        target_shift: np.ndarray,
        method: SubspaceMethod,
        settings: Settings,
    ) -> None:
        self._kernel = kernel
        self._pool = pool
        self._W = W
        self._method = method
        # Coordinates solve systems in the candidates' columns.
        self._policy = PrecisionPolicy(settings.precision, needs_double_double=True)
        self._pass = StatisticPass(
            kernel,
            pool,
            np.ones(len(pool)) if W is None else np.diagonal(W),
            np.zeros(len(pool)) if W is None else W.mean(axis=0),
            target_shift,
            dtype=settings.dtype,
            block_rows=settings.block_rows,
            n_jobs=settings.n_jobs,
        )

    def new_statistic(self, *, repeatable: bool) -> ColumnSums:
        """Return an empty statistic."""
        return self._pass.empty(self._policy.form())

    def absorb(self, statistic: ColumnSums, batch: Batch) -> None:
        """Add samples to a statistic; an error leaves it as it was."""
        self._pass.absorb(statistic, batch)

    def fit(self, batches: Iterable[Batch]) -> Fit:
        """Fit on samples that come in batches."""
        return self.solve(self._pass.gather(batches, self._policy.form()))

    def solve(self, statistic: ColumnSums) -> Fit:
        """Let the method find its subspace."""
        coordinates = self._pass.coordinates(statistic, center=False)
        labels = present_classes(coordinates.targets)
        sums = (labels, coordinates.total_weight, coordinates.trace)
        images: Images
        if self._W is None:
            images = InputImages(*sums, Linear(), coordinates.columns)
        else:
            factor, chosen = independent(self._W)
            rows = whitened(coordinates.columns[:, chosen], factor, chosen)
            images = CandidateImages(*sums, self._kernel, rows, self._pool, factor, chosen)
        return self._method.solve(images)
