"""The general framework in kernel space with any criterion (Algorithm 2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from ..data import TargetEncoder
from ..deflation import Criterion, resolve_criterion
from ..estimators import LoopEstimator, OutOfCoreMixin, subset_criterion
from ..exceptions import InvalidParameterError
from ..fitting import Settings
from ..kernels import KernelLike


def scaled_settings(self: Any) -> Settings:
    """Return the settings of the loop with the given ``scale``; "auto" leaves it to the criterion."""
    scale = None if self.scale == "auto" else self.scale
    return replace(LoopEstimator._settings(self), scale=scale)


class KernelFeatureExtraction(OutOfCoreMixin, LoopEstimator):
    """Features in kernel space by any criterion.

    The general framework of Dhanjal, Gunn and Shawe-Taylor (2009), Algorithm 2: choose a direction,
    remove its feature from every column, repeat. The criterion decides what is extracted.

    Parameters
    ----------
    criterion : str or Criterion, default="alignment"
        ``"alignment"``, ``"covariance"`` and ``"variance"`` choose one sample at a time;
        ``"kpca"`` (or ``"pca"``), ``"kpls"`` (``"pls"``), ``"kopls"`` (``"opls"``) and ``"kblf"``
        (``"blf"``) combine all candidates: kernel PCA, kernel PLS, orthonormalised kernel PLS and
        kernel boosted latent features. So does ``"continuum"``, continuum regression; pass
        :class:`kernelsieve.deflation.ContinuumRegression` to set its ``alpha``. ``"akfa"`` and
        ``"skfa"`` are the two feature analyses, which choose one sample at a time and deflate
        symmetrically. An object of a class derived from :class:`kernelsieve.deflation.Criterion` is
        used as it is.
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
        samples, with unit mean square. "rkhs": coordinates along orthonormal directions of the kernel's
        space, for criteria that deflate columns. "auto": unit mean square for "alignment" and "kopls",
        and for others coordinates along directions of unit length, each less what earlier features have
        of it. The landmarks are the same.
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

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelsieve import KernelFeatureExtraction
    >>> X, y = load_iris(return_X_y=True)
    >>> pca = KernelFeatureExtraction("kpca", n_components=2, gamma=0.1).fit(X)
    >>> pca.transform(X).shape
    (150, 2)
    """

    _candidate_options: ClassVar[frozenset[str]] = frozenset({"resample"})
    _parameter_constraints: ClassVar[dict] = {
        **LoopEstimator._parameter_constraints,
        "criterion": [str, Criterion],
    }

    def __init__(
        self,
        criterion: str | Criterion = "alignment",
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
        self.criterion = criterion
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

    _settings = scaled_settings

    def _criterion(self) -> Criterion:
        criterion = resolve_criterion(self.criterion)
        if criterion.deflation.symmetric and self.scale == "unit_variance":
            raise InvalidParameterError(
                f"criterion={self.criterion!r} deflates images of samples, and its features are their "
                "coordinates; pass scale='auto', and scale them by sklearn's StandardScaler."
            )
        return criterion

    def _criterion_for(self, encoder: TargetEncoder) -> Criterion:
        return subset_criterion(self._criterion(), self.n_nonzero)

    def _out_of_core_obstacle(self) -> str:
        if self._criterion().needs.rows:
            return f"criterion={self.criterion!r} looks at all samples; pass one of inner products."
        return super()._out_of_core_obstacle()
