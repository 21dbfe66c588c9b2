"""Base of sparse kernel PLS and sparse kernel boosted latent features."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from ..._sklearn import Interval, StrOptions
from ...data import Batch, TargetEncoder, check_not_constant, one_target, total_weight, trace_of
from ...deflation import Heads, Loss, SquaredLoss
from ...estimators import KernelEstimator, PredictMixin
from ...fitting import Candidates, Problem, check_target_memory
from ...kernels import Kernel
from ...model import Fit, KernelModel, explained_variance_ratio
from .extraction import SparseLatent, extract_sparse

_USUALLY_KEPT, _SHARE_KEPT = 200, 64  # kernel columns; that part of the memory if it is more
_LEAST_SHARE = float(np.finfo(float).tiny)  # rounded up to one sample


class SparseLatentFeatures(PredictMixin, KernelEstimator):
    """Base of the sparse latent features: few support vectors, found feature by feature."""

    _candidates_parameter: ClassVar[str] = ""
    _moved: ClassVar[dict[str, str]] = {
        "cache_columns": "200 kernel columns are kept, or what a 64th of the memory holds that "
        "kernelsieve.config_context(max_memory=...) allows; a subclass may say columns_kept = ...."
    }
    _parameter_constraints: ClassVar[dict] = {
        **KernelEstimator._parameter_constraints,
        "nu": [Interval(Real, 0, 1, closed="right"), StrOptions({"min"})],
        "selection": [StrOptions({"mi", "mr", "mi-mr", "exact"})],
        "target_error": [Interval(Real, 0, None, closed="left"), None],
        "sample_size": [Interval(Integral, 2, None, closed="left")],
        "gap_tol": [Interval(Real, 0, 1, closed="neither")],
    }

    #: How many kernel columns are kept, at most; None for 200, or a 64th of the memory if that is more.
    columns_kept: ClassVar[int | None] = None

    nu: float | str
    selection: str
    target_error: float | None
    sample_size: int
    gap_tol: float
    tol: float

    def _candidates(self) -> Candidates:
        return Candidates("all")

    @abstractmethod
    def _loss(self) -> Loss:
        """Return the loss that the features follow."""

    @abstractmethod
    def _compared(self, batch: Batch) -> np.ndarray:
        """Return the target columns that the loss compares predictions with, (n, q)."""

    def _encoder(self, y: Any, classes: Any = None) -> TargetEncoder:
        return super()._encoder(one_target(y), classes)

    def _solve(self, problem: Problem) -> Fit:
        rows, kernel, loss = problem.rows, problem.kernel, self._loss()
        settings = problem.settings_for(len(rows))
        check_target_memory(rows, settings.max_memory)
        Y, root = self._compared(rows), rows.root_weight
        weight = root**2
        check_not_constant((Y - weight @ Y / weight.sum()) * root[:, None], Y * root[:, None])
        latent = extract_sparse(
            rows.X,
            Y,
            kernel,
            settings.n_components,
            nu=_LEAST_SHARE if isinstance(self.nu, str) else self.nu,
            selection=self.selection,
            loss=loss,
            weight=rows.weight,
            target_error=self.target_error,
            sample_size=self.sample_size,
            cache_columns=self.columns_kept or _cache_capacity(settings.max_memory, len(rows)),
            tol=self.tol,
            gap_tol=self.gap_tol,
            random_state=problem.random_state,
            n_jobs=self.n_jobs,
        )
        self.support_fraction_ = latent.support
        self.duality_gaps_ = latent.gaps
        losses = [loss.value(y, np.full(len(y), f)) for y, f in zip(Y.T, latent.baseline, strict=True)]
        before = float(np.mean(weight @ np.transpose(losses)) / weight.sum())
        if isinstance(loss, SquaredLoss):
            before *= 2  # errors are mean squares, without the half
        return _fit_of(latent, rows, kernel, settings.dtype, before)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


def _cache_capacity(max_memory: float, n_rows: int) -> int:
    """Return the number of kernel columns to cache, more if memory allows."""
    most = int(max_memory) // (8 * n_rows)
    return max(1, min(most, max(_USUALLY_KEPT, most // _SHARE_KEPT)))


def _fit_of(
    latent: SparseLatent, batch: Batch, kernel: Kernel, dtype: type, error_before: float
) -> Fit:
    weight = batch.root_weight**2
    centred = latent.features - weight @ latent.features / weight.sum()
    lengths = kernel.diag_at(batch.X, latent.landmarks)
    trace = trace_of(kernel, batch, lengths) if len(lengths) else total_weight(batch)
    errors = np.concatenate([[error_before], latent.errors])
    return Fit(
        model=KernelModel(
            kernel,
            kernel.points(batch.X, latent.landmarks),
            latent.projection,
            latent.offset,
            latent.first_use,
            dtype,
        ),
        landmark_indices=latent.landmarks,
        criterion_path=latent.errors,
        explained_variance_ratio=explained_variance_ratio(centred * batch.root_weight[:, None], trace),
        explained_target_ratio=-np.diff(errors) / (error_before or 1.0),
        outcome=latent.outcome,
        heads=Heads(latent.intercepts, latent.coefficients),
    )
