"""Rayleigh coefficients in kernel space, with any scatters, and oriented kernel PCA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..estimators import KernelEstimator, OutOfCoreMixin
from ..exceptions import InvalidParameterError
from ..fitting import Plan, RowPass, Settings
from ..kernels import KernelLike
from .ratios import RayleighPass, solve_ratio
from .scatter import (
    MOVED_TO_TANGENT,
    NoiseCovariance,
    NoiseSamples,
    Scatter,
    Tangent,
    TotalScatter,
    draw_with_moved,
    read_tangents,
)


class RayleighCoefficient(OutOfCoreMixin, KernelEstimator):
    """Features that maximise the ratio of two scatters, of wanted and unwanted variation.

    Numerator and denominator are sums of scatters, each with a weight, that are combined freely:
    :class:`~kernelsieve.rayleigh.TotalScatter`, :class:`~kernelsieve.rayleigh.BetweenClasses`,
    :class:`~kernelsieve.rayleigh.WithinClasses`, :class:`~kernelsieve.rayleigh.Tangent` (invariance
    under a transformation), :class:`~kernelsieve.rayleigh.NoiseSamples`,
    :class:`~kernelsieve.rayleigh.NoiseCovariance`, or a class of your own that is derived from
    :class:`~kernelsieve.rayleigh.Scatter`. ``KernelFisherDiscriminant`` and ``OrientedKernelPCA`` are
    special cases.

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
    tol : float, default=1e-10
        Ratios below this part of the largest are noise, and their features are dropped.
    numerator : list of Scatter, default=None
        Scatters to maximise; None for the total scatter.
    denominator : list of Scatter, default=None
        Scatters to minimise; None for the penalty alone.
    reg : float, default=0.001
        Added to the denominator, which is a sum over the samples: ``reg * I`` or ``reg * K``, as
        ``penalty`` says.
    penalty : {"alpha", "norm"}, default="alpha"
        Quantity that ``reg`` keeps small: the coefficients alpha of the candidates, or the length of
        the direction in feature space.
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
    In the coefficients alpha of the candidates the ratio is ``alpha' M alpha`` over
    ``alpha' (N + reg I) alpha``, or ``N + reg K`` for ``penalty="norm"``, with M and N sums over the
    samples. Directions are the generalised eigenvectors, scaled so that the denominator of a feature is
    the number of samples, and ``criterion_path_`` holds the ratios.

    References
    ----------
    S. Mika, G. Raetsch, J. Weston, B. Schoelkopf, A. Smola, K.-R. Mueller. Constructing descriptive
    and discriminative nonlinear features: Rayleigh coefficients in kernel feature spaces. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 25(5), 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelsieve import RayleighCoefficient
    >>> from kernelsieve.rayleigh import BetweenClasses, ImageRotation, Tangent, WithinClasses
    >>> X, y = load_digits(return_X_y=True)
    >>> features = RayleighCoefficient(
    ...     numerator=[BetweenClasses()],
    ...     denominator=[WithinClasses(), Tangent(ImageRotation(10.0), weight=0.1)],
    ...     gamma=0.001,
    ...     candidates=200,
    ...     random_state=0,
    ... ).fit(X, y)
    >>> features.transform(X).shape
    (1797, 9)
    """

    _moved: ClassVar[dict[str, str]] = MOVED_TO_TANGENT
    _parameter_constraints: ClassVar[dict] = {
        **KernelEstimator._parameter_constraints,
        "numerator": [list, tuple, None],
        "denominator": [list, tuple, None],
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
        tol: float = 1e-10,
        numerator: Sequence[Scatter] | None = None,
        denominator: Sequence[Scatter] | None = None,
        reg: float = 0.001,
        penalty: str = "alpha",
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
        self.numerator = numerator
        self.denominator = denominator
        self.reg = reg
        self.penalty = penalty
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _target_kind(self) -> str | None:
        numerator, denominator = self._scatters()
        supervised = any(scatter.supervised for scatter in [*numerator, *denominator])
        return "classes" if supervised else None

    _solve = solve_ratio
    _draw = draw_with_moved

    def _settings(self) -> Settings:
        return replace(super()._settings(), center=self.center, tol=self.tol)

    def _tangents(self) -> list[Tangent]:
        """Return the invariances."""
        tangents = [scatter for scatter in self._scatters()[1] if isinstance(scatter, Tangent)]
        return read_tangents(tangents, precomputed=self._is_precomputed)

    def _row_pass(self, plan: Plan, copies: np.ndarray | None = None) -> RowPass:
        """Maximise the sum M of the numerator's scatters over the sum N of the denominator's, (1)."""
        M, N = self._scatters()
        if self.reg == 0 and not any(scatter.weight > 0 for scatter in N):
            raise InvalidParameterError(
                "The denominator is zero: reg=0, and there is neither a scatter nor noise nor an "
                "invariance of positive weight; raise reg, or pass one of these."
            )
        return RayleighPass(plan, M, N, reg=self.reg, penalty=self.penalty, copies=copies)

    def _scatters(self) -> tuple[list[Scatter], list[Scatter]]:
        """Return the scatters of the numerator, and those of the denominator."""
        numerator: list[Scatter] = [TotalScatter()] if self.numerator is None else list(self.numerator)
        denominator = list(self.denominator or ())
        strange = [s for s in numerator + denominator if not isinstance(s, Scatter)]
        if strange or not any(s.weight > 0 for s in numerator):
            raise InvalidParameterError(
                f"numerator={self.numerator!r} and denominator={self.denominator!r} must be lists of "
                "scatters such as kernelsieve.rayleigh.TotalScatter(), with at least one of positive "
                "weight in the numerator."
            )
        return numerator, denominator


class OrientedKernelPCA(RayleighCoefficient):
    """Oriented kernel PCA: the most variance of the data for the least variance of known noise.

    Noise is given as samples, as a covariance of the features of X (for the linear kernel), or as
    transformations under which features are to stay as they are. Without any of these the features
    are those of kernel PCA on the candidates, with lengths measured as ``penalty`` says.

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
        Samples that directions combine, all of which a new sample is compared with: "all", a number
        of them, or an array of points (row numbers, for a precomputed kernel). "auto" is "all" up to
        2,000 samples and 2,000 of them beyond. Pass :class:`~kernelsieve.Candidates` to say how they
        are drawn.
    center : bool, default=True
        Give features zero mean. Sparse input stays sparse, and a feature still needs its own
        landmarks only.
    tol : float, default=1e-10
        Ratios below this part of the largest are noise, and their features are dropped.
    noise : array-like of shape (s, d), NoiseSamples or NoiseCovariance, default=None
        Samples of the noise; or :class:`~kernelsieve.rayleigh.NoiseSamples`, which have a weight in
        the denominator beside those of the invariances, or
        :class:`~kernelsieve.rayleigh.NoiseCovariance`, a covariance of the features of X, which needs
        ``kernel="linear"``.
    reg : float, default=0.001
        Added to the denominator, which is a sum over the samples: ``reg * I`` or ``reg * K``, as
        ``penalty`` says.
    penalty : {"alpha", "norm"}, default="norm"
        Quantity that ``reg`` keeps small: the coefficients alpha of the candidates, or the length of
        the direction in feature space.
    invariances : list of (transform, weight) or Tangent, default=None
        Features are to change little under these: each transform is a function from X to X transformed
        by a small step, such as ``kernelsieve.rayleigh.ImageRotation(5.0)``, and the squared changes,
        summed over the samples, are added to the denominator with that weight.
        :class:`~kernelsieve.rayleigh.Tangent` in place of a pair may give ``virtual_candidates``.
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
    The numerator is n times the covariance (2) of the paper, the denominator the sum of n times the
    noise covariance, of the tangent covariances (3) and of the penalty. ``criterion_path_`` holds
    the ratios. Features have the denominator, over the number of samples, equal to one.

    References
    ----------
    S. Mika, G. Raetsch, J. Weston, B. Schoelkopf, A. Smola, K.-R. Mueller. Constructing descriptive
    and discriminative nonlinear features: Rayleigh coefficients in kernel feature spaces. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 25(5), 2003. Oriented PCA: K. I.
    Diamantaras, S. Y. Kung. Principal Component Neural Networks. Wiley, 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve import OrientedKernelPCA
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> turn = np.array([[np.cos(0.1), -np.sin(0.1)], [np.sin(0.1), np.cos(0.1)]])
    >>> okpca = OrientedKernelPCA(1, gamma=0.5, invariances=[(lambda X: X @ turn.T, 1.0)]).fit(X)
    >>> change = np.abs(okpca.transform(X @ turn.T @ turn.T) - okpca.transform(X))
    >>> bool(change.mean() < 0.05 * okpca.transform(X).std())
    True
    """

    _moved: ClassVar[dict[str, str]] = MOVED_TO_TANGENT | {
        "noise_type": "pass noise=NoiseCovariance(covariance), of kernelsieve.rayleigh.",
        "noise_weight": "pass noise=NoiseSamples(samples, weight), of kernelsieve.rayleigh.",
    }
    _parameter_constraints: ClassVar[dict] = {
        **KernelEstimator._parameter_constraints,
        "noise": ["array-like", "sparse matrix", NoiseSamples, NoiseCovariance, None],
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
        tol: float = 1e-10,
        noise: Any = None,
        reg: float = 0.001,
        penalty: str = "norm",
        invariances: Sequence[Any] | None = None,
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
        self.noise = noise
        self.reg = reg
        self.penalty = penalty
        self.invariances = invariances
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _target_kind(self) -> None:
        return None

    def _scatters(self) -> tuple[list[Scatter], list[Scatter]]:
        noise: list[Scatter] = [*read_tangents(self.invariances, precomputed=self._is_precomputed)]
        if self.noise is not None:
            known = isinstance(self.noise, (NoiseSamples, NoiseCovariance))
            noise.append(self.noise if known else NoiseSamples(self.noise))
        return [TotalScatter()], noise
