"""What the subspace estimators share: labels, and how rows become images."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from ..deflation import Criterion, Outcome
from ..estimators import KernelExtractor
from ..exceptions import FewerFeaturesWarning, warn
from ..fitting import Stream
from ..kernels import Inputs, Kernel, Linear, Rows
from ..model import Fit
from ..rows import Batch, Pool, TargetEncoder
from .image_pass import ImagePass, SubspaceMethod, input_pass
from .images import input_images, projected_images, row_images

_MOST_INPUTS = 3000  # of which a pass adds up inner products
_MANY_ROWS = 4  # times as many as inputs: a pass over them shortens the rest


class SubspaceExtractor(KernelExtractor):
    """Base of the estimators that look for a subspace of the feature space by labels."""

    resample = False
    center = False
    target = "classes"
    tol = 0.0

    _parameter_constraints: ClassVar[dict] = {**KernelExtractor._parameter_constraints}

    @abstractmethod
    def _single_criterion(self) -> SubspaceMethod:
        """Return the method that the parameters describe."""

    def _takes_inputs(self, kernel: Kernel) -> bool:
        """Tell if coordinates are the inputs: the linear kernel, and no candidates asked for."""
        return isinstance(kernel, Linear) and isinstance(self.candidates, str)

    def _fit_rows(
        self,
        batch: Batch,
        kernel: Kernel,
        criterion: Criterion,
        random_state: np.random.RandomState,
    ) -> Fit:
        method = self._method(criterion)
        batch = self._divided(batch, kernel, random_state)
        if self._takes_inputs(kernel):
            return self._fit_inputs(batch, method)
        size = self._pool_size(len(batch))
        self._settings(method, size)  # refuses before any work
        if size < len(batch):
            pool, W = self._drawn_pool(batch, kernel, size, method, random_state)
            return self._fit_span(batch, kernel, pool, W, method)
        return self._fit_everyone(batch, kernel, method)

    def _divided(self, batch: Batch, kernel: Kernel, random_state: np.random.RandomState) -> Batch:
        """Return the rows with the labels that the method is to see; here, those of the classes."""
        return batch

    def _fit_everyone(self, batch: Batch, kernel: Kernel, method: SubspaceMethod) -> Fit:
        return method.solve(row_images(batch, kernel, self.max_memory, self.n_jobs))

    def _fit_inputs(self, batch: Batch, method: SubspaceMethod) -> Fit:
        """Fit under the linear kernel, for which no candidates are needed."""
        n_rows, n_inputs = batch.X.shape
        settings = self._settings(method, max(n_rows, n_inputs))
        many = n_rows > _MANY_ROWS * n_inputs and n_inputs <= _MOST_INPUTS
        if many and not sparse.issparse(batch.X) and not method.keeps_rows:
            return input_pass(n_inputs, batch.Y[:64].mean(axis=0), method, settings).fit([batch])
        return method.solve(input_images(batch))

    def _fit_pool(
        self, batch: Batch, kernel: Kernel, pool: Pool, W: np.ndarray, criterion: Criterion
    ) -> Fit:
        batch = self._divided(batch, kernel, check_random_state(self.random_state))
        return self._fit_span(batch, kernel, pool, W, self._method(criterion))

    def _fit_span(
        self, batch: Batch, kernel: Kernel, pool: Pool, W: np.ndarray, method: SubspaceMethod
    ) -> Fit:
        """Fit in the span of a pool."""
        one_pass = self._one_pass(kernel, pool, W, batch.Y[:64].mean(axis=0), method)
        self._say(f"{len(pool)} candidates, {len(batch)} rows")
        if method.keeps_rows:
            return method.solve(projected_images(batch, kernel, pool, W, self.n_jobs))
        return one_pass.fit([batch])

    def _one_pass(
        self,
        kernel: Kernel,
        pool: Pool,
        W: np.ndarray,
        target_shift: np.ndarray,
        criterion: Criterion,
    ) -> ImagePass:
        settings = self._settings(criterion, len(pool))
        own = None if isinstance(kernel, Inputs) else W
        return ImagePass(kernel, pool, own, target_shift, self._method(criterion), settings)

    def _start_stream(
        self, X: Rows, y: Any, classes: Any, sample_weight: Any, criterion: Criterion
    ) -> Stream:
        named = isinstance(self.candidates, str) and self.candidates == "auto"
        if named and X.shape[1] <= _MOST_INPUTS and not self._is_precomputed:
            encoder = self._encoder(criterion, y, classes)
            batch = self._batch(X, y, sample_weight, encoder)
            kernel = self._resolve_kernel(batch, None, check_random_state(self.random_state))
            if isinstance(kernel, Linear):
                numbers = np.arange(X.shape[1])
                shift = batch.Y.mean(axis=0)
                return Stream(Inputs(), Pool(numbers, numbers), np.empty((0, 0)), encoder, shift)
        return super()._start_stream(X, y, classes, sample_weight, criterion)

    def _set_fit(self, fit: Fit, encoder: TargetEncoder) -> None:
        super()._set_fit(fit, encoder)
        if fit.outcome is Outcome.CENTROIDS and self.n_components is None:
            warn(
                f"The data gave {fit.model.n_components} features, and there are more centroids: those "
                "that are combinations of others, but for rounding, add none. Center the inputs if "
                "their means are large, raise gamma, or pass n_components as that number.",
                FewerFeaturesWarning,
            )

    @staticmethod
    def _method(criterion: Criterion) -> SubspaceMethod:
        if not isinstance(criterion, SubspaceMethod):
            raise TypeError(f"unknown method {type(criterion).__name__}")
        return criterion

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags
