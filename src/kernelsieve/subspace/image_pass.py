"""One pass over the rows for all subspace methods."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from ..deflation import IdentityMetric, PartialLeastSquares, PoolMetric
from ..fitting import OnePass, Settings
from ..kernels import Inputs, Kernel, Linear
from ..model import Fit
from ..rows import Pool
from ..statistics import Statistic
from .images import CandidateImages, Images, InputImages, independent, present_classes, whitened


class SubspaceMethod(PartialLeastSquares):
    """What finds a subspace from images; to the drivers, a criterion. The loop itself is not run."""

    needs_all_digits = True  # coordinates solve systems in the candidates' columns
    symmetric = True  # directions are orthonormal
    #: Whether it needs the images of all rows, and not only their inner products.
    keeps_rows = False

    def __init__(self, n_components: int | None) -> None:
        super().__init__()
        self.n_components = n_components

    @abstractmethod
    def solve(self, images: Images) -> Fit:
        """Return the fit."""


class ImagePass(OnePass):
    """The one pass over rows, of which a method sees images in the span of a pool."""

    def __init__(
        self,
        kernel: Kernel,
        pool: Pool,
        W: np.ndarray | None,
        target_shift: np.ndarray,
        method: SubspaceMethod,
        settings: Settings,
    ) -> None:
        """Without ``W`` the kernel is :class:`Inputs`, and the pool is the inputs."""
        metric = IdentityMetric(len(pool)) if W is None else PoolMetric(W)
        shift = np.zeros(len(pool)) if W is None else W.mean(axis=0)
        super().__init__(kernel, pool, metric, shift, target_shift, method, settings)
        self._W = W
        self._method = method

    def solve(self, statistic: Statistic, batches: object = None) -> Fit:
        """Let the method find its subspace."""
        frame = self._frame_of(statistic)  # shifted as the columns were when they were summed up
        coordinates = statistic.coordinates(frame.target_shift, frame.shift, center=False)
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


def input_pass(
    n_inputs: int, target_shift: np.ndarray, method: SubspaceMethod, settings: Settings
) -> ImagePass:
    """Return the pass for the linear kernel: the inputs are the pool, and nothing is lost."""
    numbers = np.arange(n_inputs)
    return ImagePass(Inputs(), Pool(numbers, numbers), None, target_shift, method, settings)
