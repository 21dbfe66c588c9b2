"""Sparse kernel PLS and sparse kernel boosted latent features: few support vectors a feature."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from ..._sklearn import Interval, StrOptions
from ...deflation import LOSSES, Heads, LogisticLoss, Loss, SquaredLoss, resolve_loss
from ...estimators import KernelEstimator, PredictMixin, estimator, parameters
from ...fitting import Problem, check_target_memory, total_weight, trace_of
from ...kernels import Kernel
from ...model import Fit, KernelModel, explained_variance_ratio
from ...rows import Batch, TargetEncoder, check_not_constant, one_target
from ..boosted import loss_of_numbers
from ..probabilities import predict_proba, probability_link
from .extraction import SparseLatent, extract_sparse

_LEAST_SHARE = float(np.finfo(float).tiny)  # rounded up to one sample


@parameters
class _SparseLatentFeatures(PredictMixin, KernelEstimator):
    """What the two share: support vectors are found feature by feature, columns as needed."""

    _parameter_constraints: ClassVar[dict] = {
        "nu": [Interval(Real, 0, 1, closed="right"), StrOptions({"min"})],
        "selection": [StrOptions({"mi", "mr", "mi-mr", "exact"})],
        "target_error": [Interval(Real, 0, None, closed="left"), None],
        "sample_size": [Interval(Integral, 2, None, closed="left")],
        "cache_columns": [Interval(Integral, 1, None, closed="left")],
        "gap_tol": [Interval(Real, 0, 1, closed="neither")],
    }

    nu: float | str = 0.1
    selection: str = "mr"
    target_error: float | None = None
    sample_size: int = 200
    cache_columns: int = 200
    gap_tol: float = 1e-4
    tol: float = 1e-12
    dtype: str = "float64"

    @abstractmethod
    def _loss(self) -> Loss:
        """Return the loss that features follow."""

    @abstractmethod
    def _compared(self, batch: Batch) -> np.ndarray:
        """Return the columns of y that the loss compares with, (n, q)."""

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
            cache_columns=self.cache_columns,
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


@estimator
class SparseKernelPLS(_SparseLatentFeatures):
    """Kernel partial least squares whose directions rest on few samples (nu-KPLS).

    At every step a fraction nu of the samples, the support vectors, make the direction and the shift
    of the images. Their kernel columns are evaluated (and those of ``sample_size`` random samples a
    step, where ``selection`` is "mi"), so nothing of size n x n is formed, and a prediction costs as
    many kernel evaluations as there are support vectors in all. One target of numbers,
    integers included; :class:`SparseKernelBoostedLatentFeaturesClassifier` takes labels.

    Parameters
    ----------
    nu : float or "min", default=0.1
        Fraction of the samples that may become support vectors at each step; 1 is dense kernel PLS. A
        step evaluates that many kernel columns, so with a given fraction the time grows as the square
        of the number of samples. "min" is one support vector a step: more features are needed, each of
        them in linear time.
    selection : {"mr", "mi", "mi-mr", "exact"}, default="mr"
        How support vectors are chosen: by the largest residuals ("mr", which evaluates no kernel value
        for it), by the largest reconstruction errors from a random start ("mi", which evaluates k(x, x)
        and the kernel columns of ``sample_size`` random samples at each step, but for those that are
        kept), "mi" for the first feature and "mr" after, or by solving the dual problem (Frank-Wolfe;
        ``duality_gaps_`` says how well).
    tol : float, default=1e-12
        A direction whose squared length is below this part of its scale is noise.
    {parameters}

    Attributes
    ----------
    support_fraction_ : ndarray of shape (k,)
        Fraction of the samples that are support vectors of the first features.
    duality_gaps_ : ndarray of shape (k,)
        How far from the optimum ``selection="exact"`` may be at each step; NaN for the others.
    {attributes}

    Notes
    -----
    ``criterion_path_`` is the training error after each feature. Of equal residuals the first samples
    become support vectors, so where the target has few different values the order of the samples
    matters. The dual problem, the errors that "mi" compares and the coefficients for new samples are
    our derivation, where the paper's text is lost.

    References
    ----------
    M. Momma. Efficient computations via scalable sparse kernel partial least squares and boosted
    latent features. KDD, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import SparseKernelPLS
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SparseKernelPLS(n_components=8, nu=0.05).fit(X, y)
    >>> bool(len(model.landmarks_) < 0.4 * len(X) and model.score(X, y) > 0.45)
    True
    """

    n_components: int | None = None
    _: KW_ONLY
    selection: str = "mr"

    def _target_kind(self) -> str:
        return "continuous"

    def _loss(self) -> Loss:
        return SquaredLoss()

    def _compared(self, batch: Batch) -> np.ndarray:
        return batch.Y


@estimator
class SparseKernelBoostedLatentFeatures(_SparseLatentFeatures):
    """Kernel boosted latent features that rest on few samples, for regression (nu-KBLF).

    As :class:`SparseKernelPLS`, with residuals that are the negative gradient of a loss, and
    coefficients that minimise it after every feature.

    Parameters
    ----------
    loss : {"squared", "absolute"} or Loss, default="squared"
        The squared loss is :class:`SparseKernelPLS`; the absolute loss is for targets with outliers.
        An object of a class derived from :class:`kernelsieve.deflation.Loss` brings its own value,
        negative gradient and curvature.
    nu : float or "min", default=0.1
        Fraction of the samples that may become support vectors at each step, or one of them, as for
        :class:`SparseKernelPLS`.
    selection : {"mr", "mi", "mi-mr", "exact"}, default="mi-mr"
        How support vectors are chosen, as for :class:`SparseKernelPLS`.
    tol : float, default=1e-12
        A direction whose squared length is below this part of its scale is noise.
    {parameters}

    Attributes
    ----------
    support_fraction_ : ndarray of shape (k,)
        Fraction of the samples that are support vectors of the first features.
    duality_gaps_ : ndarray of shape (k,)
        How far from the optimum ``selection="exact"`` may be at each step; NaN for the others.
    {attributes}

    References
    ----------
    M. Momma. Efficient computations via scalable sparse kernel partial least squares and boosted
    latent features. KDD, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import SparseKernelBoostedLatentFeatures
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SparseKernelBoostedLatentFeatures(n_components=8, nu=0.05, random_state=0)
    >>> bool(model.fit(X, y).score(X, y) > 0.45)
    True
    """

    _parameter_constraints: ClassVar[dict] = {"loss": [StrOptions({"squared", "absolute"}), Loss]}

    n_components: int | None = None
    _: KW_ONLY
    loss: str | Loss = "squared"
    selection: str = "mi-mr"

    def _target_kind(self) -> str:
        return "continuous"

    def _loss(self) -> Loss:
        return loss_of_numbers(self)

    def _compared(self, batch: Batch) -> np.ndarray:
        return batch.Y


@estimator
class SparseKernelBoostedLatentFeaturesClassifier(_SparseLatentFeatures):
    """Kernel boosted latent features that rest on few samples, for classes (nu-KBLF).

    As :class:`SparseKernelBoostedLatentFeatures`, for labels. Of more than two classes each is
    separated from the rest, by features that all share: the next one follows the class with the
    largest loss.

    Parameters
    ----------
    loss : {"logistic", "exponential", "squared", "absolute"} or Loss, default="logistic"
        The first two give probabilities. An object of a class derived from
        :class:`kernelsieve.deflation.Loss` brings its own value, negative gradient and curvature; it
        is given -1 and +1.
    nu : float or "min", default=0.1
        Fraction of the samples that may become support vectors at each step, or one of them, as for
        :class:`SparseKernelPLS`.
    selection : {"mr", "mi", "mi-mr", "exact"}, default="mi-mr"
        How support vectors are chosen, as for :class:`SparseKernelPLS`.
    tol : float, default=1e-12
        A direction whose squared length is below this part of its scale is noise.
    {parameters}

    Attributes
    ----------
    support_fraction_ : ndarray of shape (k,)
        Fraction of the samples that are support vectors of the first features.
    duality_gaps_ : ndarray of shape (k,)
        How far from the optimum ``selection="exact"`` may be at each step; NaN for the others.
    {attributes}

    References
    ----------
    M. Momma. Efficient computations via scalable sparse kernel partial least squares and boosted
    latent features. KDD, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from kernelsieve import SparseKernelBoostedLatentFeaturesClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SparseKernelBoostedLatentFeaturesClassifier(n_components=5, nu=0.1, random_state=0)
    >>> bool(model.fit(scale(X), y).score(scale(X), y) > 0.97)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "loss": [StrOptions(set(LOSSES)), Loss],
    }

    n_components: int | None = None
    _: KW_ONLY
    loss: str | Loss = "logistic"
    selection: str = "mi-mr"

    predict_proba = predict_proba
    _probability_link = probability_link

    def _target_kind(self) -> str:
        return "classes"

    def _loss(self) -> Loss:
        return resolve_loss(self.loss)

    def _compared(self, batch: Batch) -> np.ndarray:
        return LogisticLoss().prepare(batch.Y)
