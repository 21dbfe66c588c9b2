"""Kernel partial least squares with orthogonal loadings, which needs no deflation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..data import TargetEncoder, check_not_constant, one_target, total_weight, weighted_sum
from ..deflation import DoublyCentredColumns, Heads, Outcome
from ..estimators import KernelEstimator, PredictMixin
from ..fitting import Candidates, Problem, Settings, about_the_mean, diagonal_of, row_columns
from ..kernels import KernelLike
from ..model import Fit, KernelModel, explained_variance_ratio

_EXPLAINED = 1e-24  # of the squares of the target: a residual that is rounding


class OrthogonalLoadingsKernelPLS(PredictMixin, KernelEstimator):
    """Kernel partial least squares with orthogonal directions instead of features (KOLPLS).

    Each direction is the combination of all samples by what least squares on the features so far leaves
    of the target. Such directions are orthogonal in feature space by themselves, so nothing has to be
    deflated, and predictions are those of :class:`KernelPLS` with the same number of features. One
    continuous target.

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
    Features are coordinates along directions of unit length. ``criterion_path_`` is the squared
    covariance with what was left of the target.

    References
    ----------
    M. Momma. Efficient computations via scalable sparse kernel partial least squares and boosted
    latent features. KDD, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import OrthogonalLoadingsKernelPLS
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = OrthogonalLoadingsKernelPLS(n_components=5).fit(X, y)
    >>> bool(model.score(X, y) > 0.5)
    True
    """

    _candidates_parameter: ClassVar[str] = ""

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
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _candidates(self) -> Candidates:
        return Candidates("all")

    def _settings(self) -> Settings:
        return replace(super()._settings(), tol=self.tol)

    def _target_kind(self) -> str:
        return "continuous"

    def _encoder(self, y: Any, classes: Any = None) -> TargetEncoder:
        return super()._encoder(one_target(y), classes)

    def _solve(self, problem: Problem) -> Fit:
        batch, kernel, pool = problem.rows, problem.kernel, problem.everyone
        settings, root = problem.settings_for(len(batch)), batch.root_weight
        mean = float(root**2 @ batch.Y[:, 0] / (root @ root))
        y = (batch.Y[:, 0] - mean) * root
        check_not_constant(y, batch.Y[:, 0] * root)
        stored = row_columns(batch, kernel, pool, settings, everyone=True, center=True)
        K = DoublyCentredColumns(stored, root)
        lengths = diagonal_of(stored, batch) - 2 * K.row_means + K.mean_of_all
        B, T, C = kolpls(K, root, y, settings.n_components, self.tol)
        k, fitted = len(C), T @ C.T
        left = y[:, None] - np.column_stack([np.zeros(len(y)), fitted])[:, :k]  # before each feature
        covariances = (T * left).sum(axis=0)
        explained = np.diff((fitted**2).sum(axis=0), prepend=0.0) / (y @ y)
        first_use = np.zeros(len(batch), dtype=np.intp)
        fit = Fit(
            model=KernelModel(kernel, pool.points, B, np.zeros(k), first_use, settings.dtype),
            landmark_indices=pool.indices,
            criterion_path=(covariances / total_weight(batch)) ** 2,
            explained_variance_ratio=explained_variance_ratio(T, weighted_sum(lengths, batch)),
            explained_target_ratio=explained,
            outcome=Outcome.COMPLETE if k == settings.n_components else Outcome.EXPLAINED,
            heads=Heads(np.full((k, 1), mean), C[:, :, None]),
        )
        return about_the_mean(fit, pool.indices, pool, batch, K.row_means)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


def kolpls(
    K: DoublyCentredColumns, root: np.ndarray, y: np.ndarray, n_components: int, tol: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return dual directions B, features T, and in line j - 1 of C the coefficients of the first j.

    A direction combines all samples by what is left of the target, ``u = y - T c``: such directions are
    orthogonal, so K is not deflated and a feature costs one product with it.
    """
    B, T = np.zeros((len(y), n_components)), np.zeros((len(y), n_components))
    C, k, u = np.zeros((n_components, n_components)), 0, y
    least = tol * float(y @ y) * float(np.abs(K.raw_squared_norms).max())
    while k < n_components and float(u @ u) > _EXPLAINED * float(y @ y):
        t = root * K.inner(u)  # K u, weighted as the samples are
        squared_length = float(u @ t)  # of the direction, w'w
        if not squared_length > least:
            break
        B[:, k] = root * u / np.sqrt(squared_length)
        T[:, k] = t / np.sqrt(squared_length)
        k += 1
        C[k - 1, :k] = np.linalg.lstsq(T[:, :k], y, rcond=None)[0]
        u = y - T[:, :k] @ C[k - 1, :k]
    return B[:, :k], T[:, :k], C[:k, :k]
