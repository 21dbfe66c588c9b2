"""Sparse kernel boosted latent features: few support vectors a feature (nu-KBLF)."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .._sklearn import StrOptions
from ..data import Batch
from ..deflation import LOSSES, LogisticLoss, Loss, resolve_loss
from ..kernels import KernelLike
from .boosted import loss_of_numbers, predict_proba, probability_link
from .sparse_pls import SparseLatentFeatures


class SparseKernelBoostedLatentFeatures(SparseLatentFeatures):
    """Kernel boosted latent features that rest on few samples, for regression (nu-KBLF).

    As :class:`SparseKernelPLS`, with residuals that are the negative gradient of a loss, and
    coefficients that minimise it after every feature.

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
    tol : float, default=1e-12
        A direction whose squared length is below this part of its scale is noise.
    nu : float or "min", default=0.1
        Fraction of the samples that may become support vectors at each step, or one of them, as for
        :class:`SparseKernelPLS`.
    selection : {"mr", "mi", "mi-mr", "exact"}, default="mi-mr"
        How support vectors are chosen, as for :class:`SparseKernelPLS`.
    target_error : float, default=None
        Stop when the training error, the mean squared error or the mean loss, is at or below it.
    sample_size : int, default=200
        Random samples that selection="mi" starts from.
    gap_tol : float, default=0.0001
        Duality gap, as a part of the objective, at which ``selection="exact"`` ends a step.
    loss : {"squared", "absolute"} or Loss, default="squared"
        The squared loss is :class:`SparseKernelPLS`; the absolute loss is for targets with outliers.
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
    support_fraction_ : ndarray of shape (k,)
        Fraction of the samples that are support vectors of the first features.
    duality_gaps_ : ndarray of shape (k,)
        Duality gap of ``selection="exact"`` at each step; NaN for the other selections.
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

    _parameter_constraints: ClassVar[dict] = {
        **SparseLatentFeatures._parameter_constraints,
        "loss": [StrOptions({"squared", "absolute"}), Loss],
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
        tol: float = 1e-12,
        nu: float | str = 0.1,
        selection: str = "mi-mr",
        target_error: float | None = None,
        sample_size: int = 200,
        gap_tol: float = 0.0001,
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
        self.tol = tol
        self.nu = nu
        self.selection = selection
        self.target_error = target_error
        self.sample_size = sample_size
        self.gap_tol = gap_tol
        self.loss = loss
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _target_kind(self) -> str:
        return "continuous"

    def _loss(self) -> Loss:
        return loss_of_numbers(self)

    def _compared(self, batch: Batch) -> np.ndarray:
        return batch.Y


class SparseKernelBoostedLatentFeaturesClassifier(SparseLatentFeatures):
    """Kernel boosted latent features that rest on few samples, for classification (nu-KBLF).

    As :class:`SparseKernelBoostedLatentFeatures`, for labels. Of more than two classes each is
    separated from the rest, by features that all share: the next one follows the class with the
    largest loss.

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
    tol : float, default=1e-12
        A direction whose squared length is below this part of its scale is noise.
    nu : float or "min", default=0.1
        Fraction of the samples that may become support vectors at each step, or one of them, as for
        :class:`SparseKernelPLS`.
    selection : {"mr", "mi", "mi-mr", "exact"}, default="mi-mr"
        How support vectors are chosen, as for :class:`SparseKernelPLS`.
    target_error : float, default=None
        Stop when the training error, the mean squared error or the mean loss, is at or below it.
    sample_size : int, default=200
        Random samples that selection="mi" starts from.
    gap_tol : float, default=0.0001
        Duality gap, as a part of the objective, at which ``selection="exact"`` ends a step.
    loss : {"logistic", "exponential", "squared", "absolute"} or Loss, default="logistic"
        The first two give probabilities. An object of a class derived from
        :class:`kernelsieve.deflation.Loss` brings its own value, negative gradient and curvature; it
        is given -1 and +1.
    random_state : int, RandomState or None, default=None
        Seed or generator for drawing candidates.
    n_jobs : int, default=None
        Number of threads; None for as many as BLAS uses.
    verbose : int or bool, default=0
        Above 0, print progress.

    Attributes
    ----------
    support_fraction_ : ndarray of shape (k,)
        Fraction of the samples that are support vectors of the first features.
    duality_gaps_ : ndarray of shape (k,)
        Duality gap of ``selection="exact"`` at each step; NaN for the other selections.
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
        **SparseLatentFeatures._parameter_constraints,
        "loss": [StrOptions(set(LOSSES)), Loss],
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
        tol: float = 1e-12,
        nu: float | str = 0.1,
        selection: str = "mi-mr",
        target_error: float | None = None,
        sample_size: int = 200,
        gap_tol: float = 0.0001,
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
        self.tol = tol
        self.nu = nu
        self.selection = selection
        self.target_error = target_error
        self.sample_size = sample_size
        self.gap_tol = gap_tol
        self.loss = loss
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    predict_proba = predict_proba
    _probability_link = probability_link

    def _target_kind(self) -> str:
        return "classes"

    def _loss(self) -> Loss:
        return resolve_loss(self.loss)

    def _compared(self, batch: Batch) -> np.ndarray:
        return LogisticLoss().prepare(batch.Y)
