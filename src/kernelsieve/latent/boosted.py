"""Boosted latent features: partial least squares for any convex loss, primal and in kernel space."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any, ClassVar

from .._sklearn import StrOptions
from ..deflation import Criterion, Loss, LossGradient, MarginLoss, resolve_loss
from ..estimators import LoopEstimator, PredictMixin, estimator, parameters
from ..exceptions import InvalidParameterError
from .framework import PrimalEstimator
from .probabilities import predict_proba, probability_link

_CONSTRAINTS: dict[str, list] = {
    "loss": [StrOptions({"squared", "absolute", "exponential", "logistic"}), Loss]
}


def loss_of_numbers(model: Any) -> Loss:
    """Return the loss of a regressor, which no loss of labels can be."""
    loss = resolve_loss(model.loss)
    if isinstance(loss, MarginLoss):
        raise InvalidParameterError(
            f"loss={model.loss!r} separates classes, and {type(model).__name__} predicts numbers; use "
            f"{type(model).__name__}Classifier, or loss='squared' or 'absolute'."
        )
    return loss


@parameters
class _KernelBoosted(PredictMixin, LoopEstimator):
    """What kernel boosted latent features of numbers and of labels share: their parameters."""

    _parameter_constraints: ClassVar[dict] = _CONSTRAINTS

    candidates: Any = "auto"
    pool: str = "auto"
    tol: float = 1e-12
    dtype: str = "float64"
    block_size: int | None = None
    max_memory: float = 2**30


@estimator
class KernelBoostedLatentFeatures(_KernelBoosted):
    """Kernel latent features that follow the gradient of a loss, for regression (KBLF).

    As kernel PLS, but the vector that features follow is the negative gradient of a loss, which is
    minimised anew over all coefficients after every feature. With the squared loss this is kernel PLS;
    the absolute loss is for targets with outliers. :class:`KernelBoostedLatentFeaturesClassifier`
    takes labels.

    Parameters
    ----------
    loss : {"squared", "absolute"} or Loss, default="squared"
        An object of a class derived from :class:`kernelsieve.deflation.Loss` brings its own value,
        negative gradient and curvature.
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    The loss needs all samples at once: on a pool the n x c kernel columns are kept if they fit
    ``max_memory``, and evaluated again for every product if not. The minimum over all coefficients is
    found by damped Newton steps, by least squares, or for the absolute loss by a linear programme. The
    direction and the projection are those of M. Momma and K. P. Bennett as C. Dhanjal et al. (2009)
    give them in section 3.2.3; the steps in between are our reconstruction.

    References
    ----------
    M. Momma, K. P. Bennett. Constructing orthogonal latent features for arbitrary loss. In Feature
    Extraction: Foundations and Applications, Springer, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import KernelBoostedLatentFeatures
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KernelBoostedLatentFeatures(n_components=5, loss="absolute").fit(X, y)
    >>> bool(model.score(X, y) > 0.4)
    True
    """

    n_components: int | None = None
    _: KW_ONLY
    loss: str | Loss = "squared"

    def _criterion(self) -> Criterion:
        return LossGradient(loss_of_numbers(self))

    def _target_kind(self) -> str:
        return "continuous"


@estimator
class KernelBoostedLatentFeaturesClassifier(_KernelBoosted):
    """Kernel latent features that follow the gradient of a loss of labels (KBLF).

    As :class:`KernelBoostedLatentFeatures`, for labels: each of more than two classes is separated
    from the rest.

    Parameters
    ----------
    loss : {"logistic", "exponential", "squared", "absolute"} or Loss, default="logistic"
        The first two give probabilities.
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from kernelsieve import KernelBoostedLatentFeaturesClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = KernelBoostedLatentFeaturesClassifier(n_components=5).fit(scale(X), y)
    >>> bool(model.score(scale(X), y) > 0.97)
    True
    >>> model.predict_proba(scale(X)[:3]).shape
    (3, 2)
    """

    n_components: int | None = None
    _: KW_ONLY
    loss: str | Loss = "logistic"

    predict_proba = predict_proba
    _probability_link = probability_link

    def _criterion(self) -> Criterion:
        return LossGradient(self.loss)

    def _target_kind(self) -> str:
        return "classes"


@estimator
class BoostedLatentFeatures(PredictMixin, PrimalEstimator):
    """Linear latent features that follow the gradient of a loss, for regression (BLF).

    Partial least squares for any convex loss: see :class:`KernelBoostedLatentFeatures`, of which this
    is the form on the features of X themselves.

    Parameters
    ----------
    loss : {"squared", "absolute"} or Loss, default="squared"
        An object of a class derived from :class:`kernelsieve.deflation.Loss` brings its own value,
        negative gradient and curvature.
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    ``landmarks_`` are numbers of features of X here. See :class:`KernelBoostedLatentFeatures` for what
    is reconstructed.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import BoostedLatentFeatures
    >>> X, y = load_diabetes(return_X_y=True)
    >>> robust = BoostedLatentFeatures(n_components=3, loss="absolute").fit(X, y)
    >>> bool(robust.score(X, y) > 0.4)
    True
    """

    _parameter_constraints: ClassVar[dict] = _CONSTRAINTS

    n_components: int | None = None
    _: KW_ONLY
    loss: str | Loss = "squared"
    tol: float = 1e-12

    def _criterion(self) -> Criterion:
        return LossGradient(loss_of_numbers(self))

    def _target_kind(self) -> str:
        return "continuous"


@estimator
class BoostedLatentFeaturesClassifier(PredictMixin, PrimalEstimator):
    """Linear latent features that follow the gradient of a loss of labels (BLF).

    As :class:`BoostedLatentFeatures`, for labels: each of more than two classes is separated from the
    rest.

    Parameters
    ----------
    loss : {"logistic", "exponential", "squared", "absolute"} or Loss, default="logistic"
        The first two give probabilities.
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelsieve import BoostedLatentFeaturesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(BoostedLatentFeaturesClassifier(n_components=3).fit(X, y).score(X, y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict] = _CONSTRAINTS

    n_components: int | None = None
    _: KW_ONLY
    loss: str | Loss = "logistic"
    tol: float = 1e-12

    predict_proba = predict_proba
    _probability_link = probability_link

    def _criterion(self) -> Criterion:
        return LossGradient(self.loss)

    def _target_kind(self) -> str:
        return "classes"
