"""Sparse Maximal Alignment and Sparse Maximal Covariance (Dhanjal, Gunn and Shawe-Taylor, 2009)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from ..data import TargetEncoder
from ..deflation import Alignment, Covariance, Criterion
from ..estimators import LoopEstimator, OutOfCoreMixin, subset_criterion
from ..fitting import Settings
from ..kernels import KernelLike


class _SparseMaximal(OutOfCoreMixin, LoopEstimator):
    """Base of SMA and SMC: one candidate a direction, or the best pair or triple."""

    _candidate_options: ClassVar[frozenset[str]] = frozenset({"resample"})

    n_nonzero: int

    def _criterion_for(self, encoder: TargetEncoder) -> Criterion:
        return subset_criterion(self._criterion(), self.n_nonzero)


class SparseMaximalAlignment(_SparseMaximal):
    """Features from single landmarks, chosen for their alignment with the target (SMA).

    Each step takes the sample whose kernel column, after removing the features so far, is best
    aligned with the target. The features cost a new sample one kernel evaluation each, and are
    orthogonal with unit mean square, or coordinates in the kernel's space, as ``scale`` says. Followed
    by least squares this is forward orthogonal least squares on kernel columns, and the cumulative
    alignment is the R2 of that fit.

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
    n_nonzero : {1, 2, 3}, default=1
        Most landmarks in one direction. 2 and 3 search all pairs or triples of the candidates.
    center : bool, default=True
        Give features zero mean. Sparse input stays sparse, and a feature still needs its own
        landmarks only.
    scale : {"auto", "unit_variance", "rkhs"}, default="auto"
        Which of the features with the same span are given. "unit_variance": orthogonal on the training
        samples, with unit mean square, so that least squares treats each alone and a penalty every
        direction alike. "rkhs": coordinates along orthonormal directions of the kernel's space, in
        which a direction along which the samples vary little stays small, so that a ridge on them is
        the kernel ridge regression on the landmarks. "auto": "rkhs", or "unit_variance" where the
        kernel is not positive definite on the landmarks. The landmarks are the same.
    tol : float, default=1e-10
        A column whose squared residual is below this part of its squared norm counts as linearly
        dependent on the chosen ones. It limits how much rounding is amplified (see
        `python -m benchmarks accuracy`).
    target : {"auto", "continuous", "classes"}, default="auto"
        Kind of ``y``. "auto" takes strings, booleans and integers of few values for labels, others for
        continuous, and warns where whole numbers may be either. Two classes are one column of -1 and +1
        where features are not centred, and one column a class otherwise, which is the same there.
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

    References
    ----------
    C. Dhanjal, S. R. Gunn, J. Shawe-Taylor. Efficient sparse kernel feature extraction based on
    partial least squares. IEEE Transactions on Pattern Analysis and Machine Intelligence 31(8), 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelsieve import SparseMaximalAlignment
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> sieve = SparseMaximalAlignment(n_components=20)
    >>> model = make_pipeline(StandardScaler(), sieve, LogisticRegression()).fit(X, y)
    >>> sieve.landmarks_.shape
    (20, 30)
    >>> bool(model.score(X, y) > 0.97)
    True
    """

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
        n_nonzero: int = 1,
        center: bool = True,
        scale: str = "auto",
        tol: float = 1e-10,
        target: str = "auto",
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
        self.n_nonzero = n_nonzero
        self.center = center
        self.scale = scale
        self.tol = tol
        self.target = target
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _criterion(self) -> Criterion:
        return Alignment()

    def _settings(self) -> Settings:
        return replace(super()._settings(), scale=self.scale)


class SparseMaximalCovariance(_SparseMaximal):
    """Features from single landmarks, chosen for their covariance with the target (SMC).

    As :class:`SparseMaximalAlignment`, but a direction has unit length in feature space, so samples
    along which the data vary more are preferred. The features are coordinates along the directions
    and keep that variance.

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
    n_nonzero : {1, 2, 3}, default=1
        Most landmarks in one direction. 2 and 3 search all pairs or triples of the candidates.
    center : bool, default=True
        Give features zero mean. Sparse input stays sparse, and a feature still needs its own
        landmarks only.
    tol : float, default=1e-10
        A column whose squared residual is below this part of its squared norm counts as linearly
        dependent on the chosen ones. It limits how much rounding is amplified (see
        `python -m benchmarks accuracy`).
    target : {"auto", "continuous", "classes"}, default="auto"
        Kind of ``y``. "auto" takes strings, booleans and integers of few values for labels, others for
        continuous, and warns where whole numbers may be either. Two classes are one column of -1 and +1
        where features are not centred, and one column a class otherwise, which is the same there.
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

    References
    ----------
    C. Dhanjal, S. R. Gunn, J. Shawe-Taylor. Efficient sparse kernel feature extraction based on
    partial least squares. IEEE Transactions on Pattern Analysis and Machine Intelligence 31(8), 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import SparseMaximalCovariance
    >>> X, y = load_diabetes(return_X_y=True)
    >>> sieve = SparseMaximalCovariance(n_components=5, gamma="median").fit(X, y)
    >>> sieve.transform(X, n_components=3).shape
    (442, 3)
    """

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
        n_nonzero: int = 1,
        center: bool = True,
        tol: float = 1e-10,
        target: str = "auto",
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
        self.n_nonzero = n_nonzero
        self.center = center
        self.tol = tol
        self.target = target
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _criterion(self) -> Criterion:
        return Covariance()
