"""Kernel principal component analysis, exact and on a pool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import eigh, qr
from sklearn.exceptions import ConvergenceWarning

from .._sklearn import StrOptions
from ..data import total_weight, weighted_sum
from ..deflation import (
    Columns,
    Criterion,
    DoublyCentredColumns,
    Outcome,
    PrincipalDirections,
    StoredColumns,
    leading_eigenpairs,
)
from ..estimators import InverseTransformMixin, LoopEstimator, OutOfCoreMixin
from ..exceptions import KernelError, warn
from ..fitting import Problem, about_the_mean, diagonal_of, row_columns, select_in_pool
from ..kernels import KernelLike
from ..model import Fit, KernelModel, signs_of_largest
from .chemometrics import hotelling_t2, q_limit, q_residuals_of_coordinates, t2_limit

_DENSE_UP_TO = 1000  # samples
_DENSE_SHARE = 0.1  # of the samples as features, beyond which products in blocks do not pay
_EXTRA = 10  # vectors in a block of Krylov iteration beyond those asked for
_MOST_BLOCKS = 30
_RESIDUAL = 1e-13  # of the largest eigenvalue, at which an eigenvector is found


class KernelPCA(InverseTransformMixin, OutOfCoreMixin, LoopEstimator):
    """Kernel principal component analysis, exact or on a pool of candidates.

    With all samples as candidates this is classical kernel PCA on the doubly centred kernel matrix, and
    features need a kernel evaluation for every training sample. On a pool of c candidates the
    directions are the best ones in the span of the pool (Nystroem kernel PCA): two passes over the
    samples, out of core too, and c evaluations for a new sample.

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
        Take principal directions about the mean of the images.
    tol : float, default=1e-12
        Eigenvalues below this part of the largest are noise and are dropped.
    eigen_solver : {"auto", "dense", "krylov"}, default="auto"
        For all samples as candidates. "dense" is LAPACK's solver for the largest eigenvalues, "krylov"
        randomised block Krylov iteration, which needs products with the kernel matrix only; "auto"
        takes it beyond 1,000 samples, and wherever the matrix does not fit ``max_memory`` of
        :func:`~kernelsieve.config_context`.
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
    eigenvalues_ : ndarray of shape (n_components,)
        Of the (doubly centred) kernel matrix of the samples, or of what the pool shows of it.
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
    ``criterion_path_`` are the variances along the directions: eigenvalues over the number of samples.

    References
    ----------
    B. Schoelkopf, A. Smola, K.-R. Mueller. Nonlinear component analysis as a kernel eigenvalue
    problem. Neural Computation 10(5), 1998.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelsieve import KernelPCA
    >>> X, _ = load_digits(return_X_y=True)
    >>> exact = KernelPCA(n_components=10, gamma=0.001).fit(X)
    >>> pool = KernelPCA(n_components=10, gamma=0.001, candidates=300, random_state=0).fit(X)
    >>> len(exact.landmarks_), len(pool.landmarks_)
    (1797, 300)
    >>> bool(pool.explained_variance_ratio_.sum() > 0.95 * exact.explained_variance_ratio_.sum())
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **LoopEstimator._parameter_constraints,
        "eigen_solver": [StrOptions({"auto", "dense", "krylov"})],
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
        tol: float = 1e-12,
        eigen_solver: str = "auto",
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
        self.eigen_solver = eigen_solver
        self.fit_inverse_transform = fit_inverse_transform
        self.alpha = alpha
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    hotelling_t2, t2_limit = hotelling_t2, t2_limit
    q_residuals, q_limit = q_residuals_of_coordinates, q_limit

    @property
    def eigenvalues_(self) -> np.ndarray:
        fit = self._current_fit()
        return fit.criterion_path * fit.total_weight

    def _criterion(self) -> Criterion:
        return PrincipalDirections()

    def _pool_size(self, problem: Problem, n_samples: int) -> int:
        """Return the pool size, which is large, since no linear system is solved."""
        return problem.pool_size(n_samples, "combined", self._criterion())

    def _solve(self, problem: Problem) -> Fit:
        size = self._pool_size(problem, len(problem.rows))
        if problem.has_pool(size):
            candidates = problem.given or self._draw(problem, size)
            return select_in_pool(problem, problem.rows, candidates, self._criterion())
        return fit_exactly(problem, self.eigen_solver)


def fit_exactly(problem: Problem, solver: str) -> Fit:
    """Compute the principal directions from all samples."""
    batch, kernel, pool = problem.rows, problem.kernel, problem.everyone
    settings = problem.settings_for(len(batch))
    columns = row_columns(batch, kernel, pool, settings, everyone=True, center=settings.center)
    lengths = diagonal_of(columns, batch)
    row_means = np.zeros(len(batch))
    if settings.center:
        columns = DoublyCentredColumns(columns, batch.root_weight)
        row_means = columns.row_means
        lengths = lengths - 2 * row_means + columns.mean_of_all
    _finite(lengths @ lengths)
    root = batch.root_weight
    k, random_state = settings.n_components, problem.random_state
    values, vectors = _eigenpairs(columns, root, k, solver, random_state)
    found = values > settings.tol * values[0]
    outcome = Outcome.COMPLETE if found.all() else Outcome.EXHAUSTED
    if values[-1] < -settings.tol * values[0]:
        outcome = Outcome.INDEFINITE
    values, vectors = values[found], vectors[:, found]
    dual = root[:, None] * vectors / np.sqrt(values)
    # By the features of the samples, which weights and repetition leave the same.
    dual *= signs_of_largest((vectors / root[:, None]).T)
    k, total = len(values), weighted_sum(lengths, batch)
    first_use = np.zeros(len(batch), dtype=np.intp)
    fit = Fit(
        model=KernelModel(kernel, pool.points, dual, np.zeros(k), first_use, settings.dtype),
        landmark_indices=pool.indices,
        criterion_path=values / total_weight(batch),
        explained_variance_ratio=values / total if total > 0 else np.zeros(k),
        explained_target_ratio=np.zeros(k),
        outcome=outcome,
        total_weight=total_weight(batch),
        feature_squares=values,
    )
    return about_the_mean(fit, pool.indices, pool, batch, row_means) if settings.center else fit


def _eigenpairs(
    columns: Columns,
    root: np.ndarray,
    k: int,
    solver: str,
    random_state: np.random.RandomState,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest eigenvalues and eigenvectors of the weighted kernel matrix."""
    n = columns.shape[0]
    few = n <= _DENSE_UP_TO or k > _DENSE_SHARE * n
    if solver == "dense" or (solver == "auto" and few and _is_kept(columns)):
        symmetric = _finite(columns.take(np.arange(n)) * root)
        return leading_eigenpairs((symmetric + symmetric.T) / 2, k)

    def multiply(block: np.ndarray) -> np.ndarray:
        return _finite(root[:, None] * columns.inner(block))

    return krylov_eigenpairs(multiply, n, k, random_state)


def _finite(values: np.ndarray) -> np.ndarray:
    """Return values made of kernel values; refuse those that are no numbers."""
    if not np.isfinite(values).all():
        raise KernelError("Kernel values are too large to be squared, or not numbers; scale X.")
    return values


def _is_kept(columns: Columns) -> bool:
    base = columns.base if isinstance(columns, DoublyCentredColumns) else columns
    return isinstance(base, StoredColumns)


def krylov_eigenpairs(
    multiply: Callable[[np.ndarray], np.ndarray],
    n: int,
    k: int,
    random_state: np.random.RandomState,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the k largest eigenvalues with eigenvectors, given a function that multiplies blocks.

    Musco and Musco (2015): the best approximation within the span of ``S V, S^2 V, ...`` for random
    V, which needs far fewer products than powers of S alone. Blocks are added until every residual
    ``S v - lambda v`` is at the level of rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.latent.principal import krylov_eigenpairs
    >>> S = np.diag(1.0 / np.arange(1, 201) ** 2)
    >>> values, _ = krylov_eigenpairs(S.dot, 200, 2, np.random.RandomState(0))
    >>> values.round(6)
    array([1.  , 0.25])
    """
    width = min(n, k + _EXTRA)
    block = qr(random_state.standard_normal((n, width)), mode="economic")[0]
    basis, products = np.empty((n, 0)), np.empty((n, 0))
    for _ in range(_MOST_BLOCKS):
        basis = np.hstack([basis, block])
        products = np.hstack([products, multiply(block)])
        small = basis.T @ products
        values, mixes = eigh((small + small.T) / 2)
        values, mixes = values[: -k - 1 : -1], mixes[:, : -k - 1 : -1]
        vectors = basis @ mixes
        residuals = np.linalg.norm(products @ mixes - vectors * values, axis=0)
        block = _orthonormal_rest(products[:, -block.shape[1] :], basis)
        if residuals.max() <= _RESIDUAL * abs(values[0]) or block.shape[1] == 0:
            return values, vectors
    warn(
        f"The eigenvectors still change by {residuals.max() / abs(values[0]):.1e} of the largest "
        "eigenvalue; pass eigen_solver='dense', or lower n_components.",
        ConvergenceWarning,
    )
    return values, vectors


def _orthonormal_rest(block: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Orthogonalise a block against a basis, and return an orthonormal basis of the rest."""
    size = np.linalg.norm(block, axis=0).max()
    for _ in range(2):
        block = block - basis @ (basis.T @ block)
    if basis.shape[1] + block.shape[1] > len(block):
        block = block[:, : len(block) - basis.shape[1]]
    rest, triangle, _ = qr(block, mode="economic", pivoting=True)
    found = np.abs(np.diagonal(triangle)) > 1e-14 * size
    rest = rest[:, found]
    return rest - basis @ (basis.T @ rest)
