"""Sparse and accelerated kernel feature analysis: SKFA, AKFA and ACKFA."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from .._sklearn import Interval, StrOptions
from ..deflation import Criterion, DirectionVariance, ExpansionVariance
from ..estimators import InverseTransformMixin, LoopEstimator, OutOfCoreMixin
from ..fitting import candidates_needed
from ..kernels import KernelLike

_FRESH = candidates_needed(top=0.05, probability=0.95)  # 59 candidates a step


def _chosen_indices(estimator: Any) -> np.ndarray:
    """Return the chosen samples, which come first in ``landmark_indices_``."""
    return np.asarray(estimator.landmark_indices_[: estimator.n_components_])


class AcceleratedKernelFeatureAnalysis(InverseTransformMixin, OutOfCoreMixin, LoopEstimator):
    """Sparse kernel principal components, each from a single landmark (AKFA, ACKFA).

    Each step takes the sample whose image, less the directions so far and scaled to unit length,
    has the largest mean squared projection of all images: the choice after which the mean squared
    reconstruction error is smallest. k components of a new sample cost k kernel evaluations, where
    kernel PCA needs one for every training sample. Directions are orthonormal in feature space.

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
        says. Pass :class:`~kernelsieve.Candidates` to say how they are drawn. With ``resample=True``,
        the quantile trick, 59 are drawn at every step where no number is given; the best of them is in
        the top 5 % with probability 95 %.
    center : bool, default=False
        Analyse the images about their mean. With all samples as candidates that is the doubly centred
        kernel matrix, and features then depend on every sample; on a pool, or where candidates are
        ``scored_on`` some samples or drawn anew, the features alone are centred and stay sparse.
    tol : float, default=1e-08
        A sample whose squared residual in feature space is below this part of k(z, z) counts as
        linearly dependent on the chosen ones.
    cutoff : float, default=0
        Candidates whose squared residual falls below it are dropped for good, and the analysis stops
        when none is left (ACKFA). Where all samples are candidates they leave the sums as well; on a
        pool, or with ``scored_on``, they leave as candidates only.
    fit_inverse_transform : bool, default=False
        Keep up to 3,000 training samples (out of core, the pool), from which
        ``inverse_transform`` is learned.
    alpha : float, default=1.0
        Ridge of ``inverse_transform``.
    random_state : int, RandomState or None, default=None
        Seed or generator for drawing candidates.
    n_jobs : int, default=None
        Number of threads; None for as many as BLAS uses.
    verbose : int or bool, default=0
        Above 0, print progress.

    Attributes
    ----------
    chosen_indices_ : ndarray of shape (n_components,)
        Indices of the chosen samples. ``landmark_indices_`` are these, too, unless features are
        centred with all samples as candidates: these depend on every sample.
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

    See Also
    --------
    SparseKernelFeatureAnalysis : Directions scaled by the l1 norm of their expansion.
    KernelPCA : Directions that combine all samples.

    Notes
    -----
    Selection among all samples keeps the n x n kernel matrix if it fits ``max_memory``; otherwise it is
    evaluated again for every component, which costs n * n kernel evaluations each. A pool of c
    candidates costs n * c evaluations and a single pass, whatever the number of components.

    References
    ----------
    X. Jiang, R. R. Snapp, Y. Motai, X. Zhu. Accelerated kernel feature analysis. IEEE Conference on
    Computer Vision and Pattern Recognition, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelsieve import AcceleratedKernelFeatureAnalysis
    >>> X, _ = load_digits(return_X_y=True)
    >>> analysis = AcceleratedKernelFeatureAnalysis(n_components=20).fit(X)
    >>> analysis.transform(X).shape, analysis.landmarks_.shape
    ((1797, 20), (20, 64))
    >>> bool(analysis.reconstruction_error(X) < analysis.reconstruction_error(X, n_components=10))
    True
    """

    _candidate_options: ClassVar[frozenset[str]] = frozenset({"resample", "scored_on"})
    _fresh: ClassVar[int] = _FRESH
    _parameter_constraints: ClassVar[dict] = {
        **LoopEstimator._parameter_constraints,
        "cutoff": [Interval(Real, 0, None, closed="left")],
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
        center: bool = False,
        tol: float = 1e-08,
        cutoff: float = 0.0,
        fit_inverse_transform: bool = False,
        alpha: float = 1.0,
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
        self.tol = tol
        self.cutoff = cutoff
        self.fit_inverse_transform = fit_inverse_transform
        self.alpha = alpha
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    chosen_indices_ = property(_chosen_indices)

    def _criterion(self) -> Criterion:
        return DirectionVariance(self.cutoff)


class SparseKernelFeatureAnalysis(InverseTransformMixin, OutOfCoreMixin, LoopEstimator):
    """Sparse kernel principal components under an l1 constraint (SKFA).

    Each step takes the sample whose image, less the directions so far and scaled so that its
    expansion in samples has l1 norm 1, has the largest variance of projections. Features are
    projections on the directions scaled to unit length, as for
    :class:`AcceleratedKernelFeatureAnalysis`, or scaled as they were chosen.

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
        says. Pass :class:`~kernelsieve.Candidates` to say how they are drawn. With ``resample=True``,
        the quantile trick, 59 are drawn at every step where no number is given; the best of them is in
        the top 5 % with probability 95 %.
    center : bool, default=False
        Analyse the images about their mean. With all samples as candidates that is the doubly centred
        kernel matrix, and features then depend on every sample; on a pool, or where candidates are
        ``scored_on`` some samples or drawn anew, the features alone are centred and stay sparse.
    tol : float, default=1e-08
        A sample whose squared residual in feature space is below this part of k(z, z) counts as
        linearly dependent on the chosen ones.
    variance : {"centered", "uncentered"}, default="centered"
        About the mean, as Smola et al. and kernlab's ``kfa`` define it, or the mean square, as Jiang
        et al. write it.
    scaling : {"unit", "l1"}, default="unit"
        Of the directions: unit length in feature space, so that features are coordinates, or
        expansions in samples with l1 norm 1, the constraint (7) of Jiang et al., under which the
        directions compete. The landmarks are the same.
    fit_inverse_transform : bool, default=False
        Keep up to 3,000 training samples (out of core, the pool), from which
        ``inverse_transform`` is learned.
    alpha : float, default=1.0
        Ridge of ``inverse_transform``.
    random_state : int, RandomState or None, default=None
        Seed or generator for drawing candidates.
    n_jobs : int, default=None
        Number of threads; None for as many as BLAS uses.
    verbose : int or bool, default=0
        Above 0, print progress.

    Attributes
    ----------
    chosen_indices_ : ndarray of shape (n_components,)
        Indices of the chosen samples. ``landmark_indices_`` are these, too, unless features are
        centred with all samples as candidates: these depend on every sample.
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

    See Also
    --------
    AcceleratedKernelFeatureAnalysis : Directions scaled to unit length, which explain more.

    References
    ----------
    A. J. Smola, O. L. Mangasarian, B. Schoelkopf. Sparse kernel feature analysis. Technical report
    99-04, Data Mining Institute, University of Wisconsin, 1999.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelsieve import SparseKernelFeatureAnalysis
    >>> X, _ = load_iris(return_X_y=True)
    >>> SparseKernelFeatureAnalysis(n_components=3, gamma=0.5).fit(X).landmark_indices_
    array([  7,  78, 102])
    """

    _candidate_options: ClassVar[frozenset[str]] = frozenset({"resample", "scored_on"})
    _fresh: ClassVar[int] = _FRESH
    _parameter_constraints: ClassVar[dict] = {
        **LoopEstimator._parameter_constraints,
        "variance": [StrOptions({"centered", "uncentered"})],
        "scaling": [StrOptions({"unit", "l1"})],
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
        center: bool = False,
        tol: float = 1e-08,
        variance: str = "centered",
        scaling: str = "unit",
        fit_inverse_transform: bool = False,
        alpha: float = 1.0,
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
        self.tol = tol
        self.variance = variance
        self.scaling = scaling
        self.fit_inverse_transform = fit_inverse_transform
        self.alpha = alpha
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    chosen_indices_ = property(_chosen_indices)

    def _criterion(self) -> Criterion:
        return ExpansionVariance(self.variance == "centered", self.scaling == "l1")
