"""Boosted latent features of X: partial least squares for any convex loss."""

from __future__ import annotations

from typing import ClassVar

from ..deflation import Criterion, Loss, LossGradient
from ..estimators import PredictMixin
from .boosted import LOSS_CONSTRAINTS, loss_of_numbers
from .framework import PrimalEstimator, scaled_settings
from .probabilities import predict_proba, probability_link


class BoostedLatentFeatures(PredictMixin, PrimalEstimator):
    """Linear latent features that follow the gradient of a loss, for regression (BLF).

    Partial least squares for any convex loss: see :class:`KernelBoostedLatentFeatures`, of which this
    is the form on the features of X themselves.

    Parameters
    ----------
    n_components : int, default=None
        Number of components; None for as many as the data give, up to 100.
    center : bool, default=True
        Give features zero mean. Sparse input stays sparse, and a feature still needs its own
        landmarks only.
    scale : {"auto", "unit_variance"}, default="auto"
        Scale of the features, which are orthogonal on the training samples. "auto": each is a
        coordinate along a direction of unit length, less what earlier features have of it.
        "unit_variance": unit mean square on the training samples. Predictions are the same.
    tol : float, default=1e-12
        A column whose squared residual is below this part of its squared norm counts as linearly
        dependent on the chosen ones. It limits how much rounding is amplified (see
        `python -m benchmarks accuracy`).
    loss : {"squared", "absolute"} or Loss, default="squared"
        An object of a class derived from :class:`kernelsieve.deflation.Loss` brings its own value,
        negative gradient and curvature.
    n_jobs : int, default=None
        Number of threads; None for as many as BLAS uses.
    verbose : int or bool, default=0
        Above 0, print progress.

    Attributes
    ----------
    landmarks_ : array of shape (n_landmarks, n_features)
        The chosen samples, in the order of choice; column numbers for a precomputed kernel.
    landmark_indices_ : ndarray of shape (n_landmarks,)
        Indices of the landmarks in the training set, or in the given candidates; -1 for other points.
    projection_ : ndarray of shape (n_landmarks, n_components)
        Features are ``kernel(x, landmarks_) @ projection_ - offset_``.
    offset_ : ndarray of shape (n_components,)
        Subtracted from the features, so that centred features have mean zero.
    n_components_ : int
        Number of components found.
    kernel_, gamma_ : Kernel, float
        The fitted kernel with all its parameters, and its width if it has one.
    kernel_evaluations_ : ndarray of shape (n_components,)
        Kernel evaluations for a new sample with the first 1, 2, ... components.
    criterion_path_ : ndarray of shape (n_components,)
        The criterion's value at each step.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the variance of the kernel images that each component adds.
    explained_target_ratio_ : ndarray of shape (n_components,)
        Share of the variance of the targets that each component explains; zeros without targets.
    classes_ : ndarray of shape (n_classes,)
        Class labels, if ``y`` holds labels.
    n_features_in_, feature_names_in_
        Number and names of the features of X, as in scikit-learn.

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

    _parameter_constraints: ClassVar[dict] = {
        **PrimalEstimator._parameter_constraints,
        **LOSS_CONSTRAINTS,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        center: bool = True,
        scale: str = "auto",
        tol: float = 1e-12,
        loss: str | Loss = "squared",
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_components = n_components
        self.center = center
        self.scale = scale
        self.tol = tol
        self.loss = loss
        self.n_jobs = n_jobs
        self.verbose = verbose

    _settings = scaled_settings

    def _criterion(self) -> Criterion:
        return LossGradient(loss_of_numbers(self))

    def _target_kind(self) -> str:
        return "continuous"


class BoostedLatentFeaturesClassifier(PredictMixin, PrimalEstimator):
    """Linear latent features that follow the gradient of a loss of labels (BLF).

    As :class:`BoostedLatentFeatures`, for labels: each of more than two classes is separated from the
    rest.

    Parameters
    ----------
    n_components : int, default=None
        Number of components; None for as many as the data give, up to 100.
    center : bool, default=True
        Give features zero mean. Sparse input stays sparse, and a feature still needs its own
        landmarks only.
    scale : {"auto", "unit_variance"}, default="auto"
        Scale of the features, which are orthogonal on the training samples. "auto": each is a
        coordinate along a direction of unit length, less what earlier features have of it.
        "unit_variance": unit mean square on the training samples. Predictions are the same.
    tol : float, default=1e-12
        A column whose squared residual is below this part of its squared norm counts as linearly
        dependent on the chosen ones. It limits how much rounding is amplified (see
        `python -m benchmarks accuracy`).
    loss : {"logistic", "exponential", "squared", "absolute"} or Loss, default="logistic"
        The first two give probabilities.
    n_jobs : int, default=None
        Number of threads; None for as many as BLAS uses.
    verbose : int or bool, default=0
        Above 0, print progress.

    Attributes
    ----------
    landmarks_ : array of shape (n_landmarks, n_features)
        The chosen samples, in the order of choice; column numbers for a precomputed kernel.
    landmark_indices_ : ndarray of shape (n_landmarks,)
        Indices of the landmarks in the training set, or in the given candidates; -1 for other points.
    projection_ : ndarray of shape (n_landmarks, n_components)
        Features are ``kernel(x, landmarks_) @ projection_ - offset_``.
    offset_ : ndarray of shape (n_components,)
        Subtracted from the features, so that centred features have mean zero.
    n_components_ : int
        Number of components found.
    kernel_, gamma_ : Kernel, float
        The fitted kernel with all its parameters, and its width if it has one.
    kernel_evaluations_ : ndarray of shape (n_components,)
        Kernel evaluations for a new sample with the first 1, 2, ... components.
    criterion_path_ : ndarray of shape (n_components,)
        The criterion's value at each step.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Share of the variance of the kernel images that each component adds.
    explained_target_ratio_ : ndarray of shape (n_components,)
        Share of the variance of the targets that each component explains; zeros without targets.
    classes_ : ndarray of shape (n_classes,)
        Class labels, if ``y`` holds labels.
    n_features_in_, feature_names_in_
        Number and names of the features of X, as in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelsieve import BoostedLatentFeaturesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(BoostedLatentFeaturesClassifier(n_components=3).fit(X, y).score(X, y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **PrimalEstimator._parameter_constraints,
        **LOSS_CONSTRAINTS,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        center: bool = True,
        scale: str = "auto",
        tol: float = 1e-12,
        loss: str | Loss = "logistic",
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_components = n_components
        self.center = center
        self.scale = scale
        self.tol = tol
        self.loss = loss
        self.n_jobs = n_jobs
        self.verbose = verbose

    predict_proba = predict_proba
    _probability_link = probability_link

    _settings = scaled_settings

    def _criterion(self) -> Criterion:
        return LossGradient(self.loss)

    def _target_kind(self) -> str:
        return "classes"
