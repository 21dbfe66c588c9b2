"""Kernel boosted latent features: kernel partial least squares for any convex loss."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from .._sklearn import StrOptions
from ..deflation import Criterion, Loss, LossGradient, MarginLoss, resolve_loss
from ..estimators import LoopEstimator, PredictMixin, row_wise
from ..exceptions import InvalidParameterError
from ..kernels import KernelLike
from .framework import scaled_settings

LOSS_CONSTRAINTS: dict[str, list] = {
    "loss": [StrOptions({"squared", "absolute", "exponential", "logistic"}), Loss],
    "scale": [StrOptions({"auto", "unit_variance"})],
}


def loss_of_numbers(model: Any) -> Loss:
    """Return the loss of a regressor; raise an error for a loss of labels."""
    loss = resolve_loss(model.loss)
    if isinstance(loss, MarginLoss):
        raise InvalidParameterError(
            f"loss={model.loss!r} separates classes, and {type(model).__name__} predicts numbers; use "
            f"{type(model).__name__}Classifier, or loss='squared' or 'absolute'."
        )
    return loss


def _has_probabilities(estimator: Any) -> bool:
    if resolve_loss(estimator.loss).probabilities(np.zeros(1)) is None:
        raise AttributeError(
            f"loss={estimator.loss!r} gives no probabilities; pass loss='logistic' or "
            "loss='exponential'."
        )
    return True


@available_if(_has_probabilities)
@row_wise
def predict_proba(self: Any, X: Any, n_components: int | None = None) -> np.ndarray:
    """Return the probability of each class under the loss.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        Samples, as for ``transform``.
    n_components : int, default=None
        Use the first features only; None for all.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        More than two classes are each compared with the rest, and normalised to sum 1.
    """
    return self._probability_link()(self._scores(X, n_components))


def probability_link(self: Any) -> Callable[[np.ndarray], np.ndarray] | None:
    """Return the function from scores to probabilities; None for a loss that gives none."""
    loss = resolve_loss(self.loss)
    if loss.probabilities(np.zeros(1)) is None:
        return None
    return partial(_probabilities_from_scores, loss)


def _probabilities_from_scores(loss: Loss, scores: np.ndarray) -> np.ndarray:
    p = np.asarray(loss.probabilities(scores))
    if p.shape[1] == 1:
        return np.hstack([1 - p, p])
    return p / p.sum(axis=1, keepdims=True)


class KernelBoostedLatentFeatures(PredictMixin, LoopEstimator):
    """Kernel latent features that follow the gradient of a loss, for regression (KBLF).

    As kernel PLS, but the vector that features follow is the negative gradient of a loss, which is
    minimised anew over all coefficients after every feature. With the squared loss this is kernel PLS;
    the absolute loss is for targets with outliers. :class:`KernelBoostedLatentFeaturesClassifier`
    takes labels.

    Parameters
    ----------
    n_components : int, default=None
        Number of components; None for as many as the data give, up to 100.
    kernel : str, callable or Kernel, default="rbf"
        A name, "chi2", "cosine", "laplacian", "linear", "matern", "matern12", "matern32", "matern52",
        "poly", "precomputed", "rational_quadratic", "rbf", "sigmoid"; an object of
        :class:`~kernelsieve.kernels.Kernel`; or a function: vectorised, ``f(X, Z)`` giving an array of
        shape (len(X), len(Z)), or pairwise, ``f(x, z)`` giving a number.
    gamma : {"scale", "median"}, part or multiple of these, "cv", or float, default="scale"
        Width of a named kernel; rbf is exp(-gamma d^2). "scale" is one over (number of features times
        variance of X, or standard deviation for a distance that is not squared); "median" is one over
        the median (squared) distance of a sample; "scale/4" and "median*2" are understood. With
        candidates given as points they are taken from these points, so that a fit may go out of core.
        "cv" is the best of eight multiples of "median", from narrow to nearly linear, by five folds of
        at most 1,000 samples; for estimators that predict, and within ``ComponentPathCV``.
    degree : float, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=1.0
        Constant term of the "poly" and "sigmoid" kernels.
    kernel_params : dict, default=None
        Keyword arguments for a kernel that is a function, or other parameters of a named kernel.
    candidates : {"auto", "all"}, int, array or Candidates, default="auto"
        Samples among which landmarks are chosen. "all" is exact selection; a number draws a pool of
        that many; an array of points (row numbers, for a precomputed kernel) is the pool. "auto" is
        "all" up to 10,000 samples where memory and about two seconds allow, 1,500 where single
        samples are chosen by a criterion that can screen them, 2,000 where systems of equations are
        solved; beyond, a pool of 200 to 1,000, 150 to 1,000, or 2,000, as the page "Which method?"
        says. Pass :class:`~kernelsieve.Candidates` to say how they are drawn.
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
    random_state : int, RandomState or None, default=None
        Seed or generator for drawing candidates.
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
    The loss needs all samples at once: on a pool the n x c kernel columns are kept if they fit
    ``max_memory`` of ``config_context``, and evaluated again for every product if not. The minimum
    over all coefficients is found by damped Newton steps, by least squares, or for the absolute loss by
    a linear programme. The direction and the projection are those of M. Momma and K. P. Bennett as C.
    Dhanjal et al. (2009) give them in section 3.2.3; the steps in between are our reconstruction.

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

    _parameter_constraints: ClassVar[dict] = {
        **LoopEstimator._parameter_constraints,
        **LOSS_CONSTRAINTS,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: KernelLike = "rbf",
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: dict[str, Any] | None = None,
        candidates: Any = "auto",
        center: bool = True,
        scale: str = "auto",
        tol: float = 1e-12,
        loss: str | Loss = "squared",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.candidates = candidates
        self.center = center
        self.scale = scale
        self.tol = tol
        self.loss = loss
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    _settings = scaled_settings

    def _criterion(self) -> Criterion:
        return LossGradient(loss_of_numbers(self))

    def _target_kind(self) -> str:
        return "continuous"


class KernelBoostedLatentFeaturesClassifier(PredictMixin, LoopEstimator):
    """Kernel latent features that follow the gradient of a loss of labels (KBLF).

    As :class:`KernelBoostedLatentFeatures`, for labels: each of more than two classes is separated
    from the rest.

    Parameters
    ----------
    n_components : int, default=None
        Number of components; None for as many as the data give, up to 100.
    kernel : str, callable or Kernel, default="rbf"
        A name, "chi2", "cosine", "laplacian", "linear", "matern", "matern12", "matern32", "matern52",
        "poly", "precomputed", "rational_quadratic", "rbf", "sigmoid"; an object of
        :class:`~kernelsieve.kernels.Kernel`; or a function: vectorised, ``f(X, Z)`` giving an array of
        shape (len(X), len(Z)), or pairwise, ``f(x, z)`` giving a number.
    gamma : {"scale", "median"}, part or multiple of these, "cv", or float, default="scale"
        Width of a named kernel; rbf is exp(-gamma d^2). "scale" is one over (number of features times
        variance of X, or standard deviation for a distance that is not squared); "median" is one over
        the median (squared) distance of a sample; "scale/4" and "median*2" are understood. With
        candidates given as points they are taken from these points, so that a fit may go out of core.
        "cv" is the best of eight multiples of "median", from narrow to nearly linear, by five folds of
        at most 1,000 samples; for estimators that predict, and within ``ComponentPathCV``.
    degree : float, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=1.0
        Constant term of the "poly" and "sigmoid" kernels.
    kernel_params : dict, default=None
        Keyword arguments for a kernel that is a function, or other parameters of a named kernel.
    candidates : {"auto", "all"}, int, array or Candidates, default="auto"
        Samples among which landmarks are chosen. "all" is exact selection; a number draws a pool of
        that many; an array of points (row numbers, for a precomputed kernel) is the pool. "auto" is
        "all" up to 10,000 samples where memory and about two seconds allow, 1,500 where single
        samples are chosen by a criterion that can screen them, 2,000 where systems of equations are
        solved; beyond, a pool of 200 to 1,000, 150 to 1,000, or 2,000, as the page "Which method?"
        says. Pass :class:`~kernelsieve.Candidates` to say how they are drawn.
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
    random_state : int, RandomState or None, default=None
        Seed or generator for drawing candidates.
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

    _parameter_constraints: ClassVar[dict] = {
        **LoopEstimator._parameter_constraints,
        **LOSS_CONSTRAINTS,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: KernelLike = "rbf",
        gamma: str | float = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: dict[str, Any] | None = None,
        candidates: Any = "auto",
        center: bool = True,
        scale: str = "auto",
        tol: float = 1e-12,
        loss: str | Loss = "logistic",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.candidates = candidates
        self.center = center
        self.scale = scale
        self.tol = tol
        self.loss = loss
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    predict_proba = predict_proba
    _probability_link = probability_link

    _settings = scaled_settings

    def _criterion(self) -> Criterion:
        return LossGradient(self.loss)

    def _target_kind(self) -> str:
        return "classes"
