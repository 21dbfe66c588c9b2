"""Reduced kernel orthonormalised PLS: multivariate regression on a few kernel columns."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

from .._sklearn import Interval, StrOptions
from ..deflation import Criterion, OrthonormalisedDirections
from ..estimators import KernelEstimator, LoopEstimator, OutOfCoreMixin
from ..fitting import Candidates, Problem, Settings, select_in_pool
from ..kernels import KernelLike
from ..model import Fit

_AUTO_LANDMARKS = 100


class ReducedKernelOPLS(OutOfCoreMixin, LoopEstimator):
    """The few features that predict several targets best by least squares (rKOPLS).

    Orthonormalised PLS in the span of a random subset of the samples. The first feature is the
    combination of their kernel columns that explains most of all targets together, the next one most
    of the rest, and so on. There are as many features as independent targets: one for a single
    target, and one less than the number of classes for labels. Least squares on all of them is least
    squares on all kernel columns of the subset, but for the ridge. The features are orthogonal with
    unit mean square.

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
    n_landmarks : "auto", int, array or Candidates, default="auto"
        Size r of the subset, or the points themselves (row numbers, for a precomputed kernel). All
        features of a new sample together cost r kernel evaluations. "auto" is 100, or as many as
        there are samples. Pass :class:`~kernelsieve.Candidates` to say how they are drawn.
    center : bool, default=True
        Give features zero mean. Sparse input stays sparse, and a feature still needs its own
        landmarks only.
    regularization : float, default=1e-08
        Ridge, as a part of the mean squared norm of the kernel columns. It limits how much rounding,
        and noise in the targets, is amplified where columns are nearly dependent.
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

    Notes
    -----
    With ``K`` the n x r kernel columns, each less its mean, and ``Y`` the centred targets, features
    are ``K B`` for the eigenvectors B of ``K'Y Y'K b = lambda (K'K + delta I) b``, made orthonormal
    one after another (which the ridge leaves undone), times the root of n. Only the columns are
    centred: centring on both sides would make the features depend on every sample.
    ``criterion_path_`` is the ratio of the targets that each component explains.

    References
    ----------
    J. Arenas-Garcia, K. B. Petersen, L. K. Hansen. Sparse kernel orthonormalized PLS for feature
    extraction in large data sets. Advances in Neural Information Processing Systems 19, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelsieve import ReducedKernelOPLS
    >>> X, y = load_digits(return_X_y=True)
    >>> opls = ReducedKernelOPLS(n_landmarks=200, gamma=0.001, random_state=0).fit(X, y)
    >>> opls.transform(X).shape, opls.landmarks_.shape
    ((1797, 9), (200, 64))
    >>> bool(opls.explained_target_ratio_.sum() > 0.9)
    True
    """

    _candidates_parameter: ClassVar[str] = "n_landmarks"
    _parameter_constraints: ClassVar[dict] = {
        **LoopEstimator._parameter_constraints,
        "n_landmarks": [
            StrOptions({"auto"}),
            Interval(Integral, 1, None, closed="left"),
            "array-like",
            "sparse matrix",
            Candidates,
        ],
        "regularization": [Interval(Real, 0, None, closed="left")],
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
        n_landmarks: Any = "auto",
        center: bool = True,
        regularization: float = 1e-08,
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
        self.n_landmarks = n_landmarks
        self.center = center
        self.regularization = regularization
        self.target = target
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _criterion(self) -> Criterion:
        return OrthonormalisedDirections(self.regularization)

    def _candidates(self) -> Candidates:
        found = Candidates.of(self.n_landmarks)
        return replace(found, how="random") if found.how == "auto" else found

    def _settings(self) -> Settings:
        return replace(KernelEstimator._settings(self), center=self.center)

    def _pool_size(self, problem: Problem, n_samples: int) -> int:
        asked = problem.candidates
        if asked.are_all:
            return n_samples
        return min(int(asked.size) if asked.is_number else _AUTO_LANDMARKS, n_samples)

    def _solve(self, problem: Problem) -> Fit:
        candidates = problem.given
        if candidates is None:
            size = self._pool_size(problem, len(problem.rows))
            candidates = self._draw(problem, size)
        return select_in_pool(problem, problem.rows, candidates, self._criterion())
