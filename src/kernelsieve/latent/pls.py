"""Kernel partial least squares."""

from __future__ import annotations

from typing import Any, ClassVar

from .._sklearn import StrOptions
from ..data import TargetEncoder
from ..deflation import Criterion, PartialLeastSquares
from ..estimators import KernelEstimator, LoopEstimator, OutOfCoreMixin, PredictMixin
from ..kernels import KernelLike
from .chemometrics import (
    dual_coefficients,
    hotelling_t2,
    intercept,
    q_limit,
    q_residuals,
    t2_limit,
    target_loadings,
    training_scores,
    vip_scores,
)


class KernelPLS(PredictMixin, OutOfCoreMixin, LoopEstimator):
    """Kernel partial least squares regression.

    Each step takes the direction, among combinations of all candidates, whose feature has the largest
    covariance with what is left of the targets, and removes its feature from all columns. Least
    squares on the features predicts. With a linear kernel this is
    ``sklearn.cross_decomposition.PLSRegression(scale=False)``; for one target it is the two-sided
    algorithm of Rosipal and Trejo as well, which deflates the kernel matrix from both sides.

    All targets are numbers, whole ones too; :class:`KernelPLSClassifier` takes labels. By default the
    width of the kernel is chosen by folds, and so is the number of components where it is None.

    Parameters
    ----------
    n_components : int, default=None
        Number of components; None for as many as the data give, up to 100.
    kernel : str, callable or Kernel, default="rbf"
        A name, "chi2", "cosine", "laplacian", "linear", "matern", "matern12", "matern32", "matern52",
        "poly", "precomputed", "rational_quadratic", "rbf", "sigmoid"; an object of
        :class:`~kernelsieve.kernels.Kernel`; or a function: vectorised, ``f(X, Z)`` giving an array of
        shape (len(X), len(Z)), or pairwise, ``f(x, z)`` giving a number.
    gamma : {"scale", "median"}, part or multiple of these, "cv", or float, default="cv"
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
    tol : float, default=1e-24
        A column whose squared residual is below this part of its squared norm counts as linearly
        dependent on the chosen ones. It limits how much rounding is amplified (see
        `python -m benchmarks accuracy`).
    random_state : int, RandomState or None, default=None
        Seed or generator for drawing candidates.
    n_jobs : int, default=None
        Number of threads; None for as many as BLAS uses.
    verbose : int or bool, default=0
        Above 0, print progress.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_landmarks,) or (n_landmarks, n_targets)
        Predictions are ``kernel(x, landmarks_) @ dual_coef_ + intercept_``.
    intercept_ : float or ndarray of shape (n_targets,)
        The constant term of the predictions.
    x_scores_ : ndarray of shape (n_samples, n_components)
        Components of the training samples (those with a positive weight), with all samples as
        candidates. A model on a pool does not have them, and is not as large as they are:
        ``transform(X)`` computes them.
    y_loadings_ : ndarray of shape (n_targets, n_components)
        Coefficients of the targets on each component alone: components are orthogonal.
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
    With all samples as candidates a component costs one product with the kernel matrix, whatever the
    number of targets, and a prediction one kernel evaluation for every training sample. A pool of c
    candidates takes two passes over the samples, out of core too, and c evaluations; :meth:`prune`
    leaves fewer. Sparse X stays sparse, because the features are centred and X is not.

    References
    ----------
    R. Rosipal, L. J. Trejo. Kernel partial least squares regression in reproducing kernel Hilbert
    space. Journal of Machine Learning Research 2, 2001. The deflation is that of C. Dhanjal, S. R.
    Gunn, J. Shawe-Taylor (2009), section 3.2.2.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import KernelPLS
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KernelPLS(n_components=5).fit(X, y)
    >>> model.predict(X[:2]).shape
    (2,)
    >>> bool(model.score(X, y) > 0.5)
    True
    >>> model.predict(X[:2], n_components=3).shape  # every k from one fit
    (2,)
    """

    _open_number: ClassVar[bool] = True

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: KernelLike = "rbf",
        gamma: str | float = "cv",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: dict[str, Any] | None = None,
        candidates: Any = "auto",
        center: bool = True,
        tol: float = 1e-24,
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
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    dual_coef_ = property(dual_coefficients)
    intercept_ = property(intercept)
    x_scores_ = property(training_scores)
    y_loadings_ = property(target_loadings)
    hotelling_t2, t2_limit = hotelling_t2, t2_limit
    q_residuals, q_limit = q_residuals, q_limit
    vip_scores = vip_scores

    def _criterion(self) -> Criterion:
        return PartialLeastSquares()

    def _target_kind(self) -> str:
        return "continuous"


class KernelPLSClassifier(PredictMixin, OutOfCoreMixin, LoopEstimator):
    """Kernel partial least squares for labels.

    As :class:`KernelPLS`, with labels that become columns of ``Y (Y'Y)^-1/2``, so that small classes
    count as much as large ones. The class with the largest fitted indicator, or with
    the nearest mean, is predicted.

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
    tol : float, default=1e-24
        A column whose squared residual is below this part of its squared norm counts as linearly
        dependent on the chosen ones. It limits how much rounding is amplified (see
        `python -m benchmarks accuracy`).
    decision : {"argmax", "centroid", "alignment"}, default="argmax"
        How labels are predicted: by the largest of the indicators that least squares fits to the
        features; by the nearest mean of the classes' features (Barker and Rayens, 2003); or by the
        largest mean, over the samples of a class, of the inner product of features, which is the kernel
        that is aligned with the labels (Dhanjal et al., 2009).
    random_state : int, RandomState or None, default=None
        Seed or generator for drawing candidates.
    n_jobs : int, default=None
        Number of threads; None for as many as BLAS uses.
    verbose : int or bool, default=0
        Above 0, print progress.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_landmarks, n_classes)
        Scores of classes are ``kernel(x, landmarks_) @ dual_coef_ + intercept_``.
    intercept_ : ndarray of shape (n_classes,)
        The constant terms of the scores.
    x_scores_ : ndarray of shape (n_samples, n_components)
        Components of the training samples, as for :class:`KernelPLS`.
    y_loadings_ : ndarray of shape (n_classes, n_components)
        Coefficients of the classes' indicators on each component alone; with ``decision="argmax"``.
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
    KernelPLS : The same for numbers.

    References
    ----------
    R. Rosipal, L. J. Trejo, B. Matthews. Kernel PLS-SVC for linear and nonlinear classification.
    International Conference on Machine Learning, 2003. Class means: M. Barker, W. Rayens. Partial least
    squares for discrimination. Journal of Chemometrics 17(3), 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from kernelsieve import KernelPLSClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = KernelPLSClassifier(n_components=4).fit(scale(X), y)
    >>> bool(model.score(scale(X), y) > 0.97)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **LoopEstimator._parameter_constraints,
        "decision": [StrOptions({"argmax", "centroid", "alignment"})],
    }

    _open_number: ClassVar[bool] = True

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
        tol: float = 1e-24,
        decision: str = "argmax",
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
        self.decision = decision
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    dual_coef_ = property(dual_coefficients)
    intercept_ = property(intercept)
    x_scores_ = property(training_scores)
    y_loadings_ = property(target_loadings)
    hotelling_t2, t2_limit = hotelling_t2, t2_limit
    q_residuals, q_limit = q_residuals, q_limit
    vip_scores = vip_scores

    def _criterion(self) -> Criterion:
        return PartialLeastSquares(
            balanced=True,
            nearest_centre=self.decision == "centroid",
            by_alignment=self.decision == "alignment",
        )

    def _target_kind(self) -> str:
        return "classes"

    def _encoder(self, y: Any, classes: Any = None) -> TargetEncoder:
        # Balanced indicators of two classes differ in length, so that signs would not do.
        return KernelEstimator._encoder(self, y, classes)
