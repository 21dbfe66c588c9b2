"""Sparse kernel partial least squares: few support vectors a feature (nu-KPLS)."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from .._sklearn import Interval, StrOptions
from ..data import Batch, TargetEncoder, check_not_constant, one_target, total_weight, trace_of
from ..deflation import Loss, SquaredLoss
from ..estimators import KernelEstimator, PredictMixin
from ..fitting import Candidates, Problem, Settings, check_target_memory
from ..kernels import KernelLike
from ..model import Fit, KernelModel, explained_variance_ratio
from .deflated_kernel import CachedColumns, DeflatedKernel
from .nu_kpls import nu_kpls
from .support_vectors import SupportVectors

_USUALLY_KEPT, _SHARE_KEPT = 200, 64  # kernel columns; that part of the memory if it is more
_MATRIX_VALUES = 2**23  # of a kernel matrix that "exact" keeps, as it comes back to its columns: 64 MB
_LEAST_SHARE = float(np.finfo(float).tiny)  # rounded up to one sample


class SparseLatentFeatures(PredictMixin, KernelEstimator):
    """Base of the sparse latent features: few support vectors, found feature by feature."""

    _candidates_parameter: ClassVar[str] = ""
    _moved: ClassVar[dict[str, str]] = {
        "cache_columns": "200 kernel columns are kept, or what a 64th of the memory holds that "
        "kernelsieve.config_context(max_memory=...) allows; a subclass may say columns_kept = ...."
    }
    _parameter_constraints: ClassVar[dict] = {
        **KernelEstimator._parameter_constraints,
        "nu": [Interval(Real, 0, 1, closed="right"), StrOptions({"min"})],
        "selection": [StrOptions({"mi", "mr", "mi-mr", "exact"})],
        "target_error": [Interval(Real, 0, None, closed="left"), None],
        "sample_size": [Interval(Integral, 2, None, closed="left")],
        "gap_tol": [Interval(Real, 0, 1, closed="neither")],
    }

    #: How many kernel columns are kept, at most; None for 200, or a 64th of the memory if that is more.
    columns_kept: ClassVar[int | None] = None

    nu: float | str
    selection: str
    target_error: float | None
    sample_size: int
    gap_tol: float
    tol: float

    def _candidates(self) -> Candidates:
        return Candidates("all")

    @abstractmethod
    def _loss(self) -> Loss:
        """Return the loss that the features follow."""

    @abstractmethod
    def _compared(self, batch: Batch) -> np.ndarray:
        """Return the target columns that the loss compares predictions with, (n, q)."""

    def _encoder(self, y: Any, classes: Any = None) -> TargetEncoder:
        return super()._encoder(one_target(y), classes)

    def _solve(self, problem: Problem) -> Fit:
        rows, kernel, loss = problem.rows, problem.kernel, self._loss()
        settings = problem.settings_for(len(rows))
        check_target_memory(rows, settings.max_memory)
        Y, root = self._compared(rows), rows.root_weight
        weight = root**2
        check_not_constant((Y - weight @ Y / weight.sum()) * root[:, None], Y * root[:, None])
        columns = CachedColumns(rows.X, kernel, self._capacity(len(rows), settings), self.n_jobs)
        rule = SupportVectors(
            self.selection,
            _LEAST_SHARE if isinstance(self.nu, str) else self.nu,
            weight,
            tol=self.tol,
            gap_tol=self.gap_tol,
            sample_size=self.sample_size,
            random_state=problem.random_state,
        )
        found = nu_kpls(
            DeflatedKernel(columns, settings.n_components),
            Y,
            weight,
            loss,
            rule,
            settings.n_components,
            target_error=self.target_error,
            tol=self.tol,
        )
        self.support_fraction_ = found.support
        self.duality_gaps_ = found.gaps
        losses = [loss.value(y, np.full(len(y), f)) for y, f in zip(Y.T, found.baseline, strict=True)]
        before = float(np.mean(weight @ np.transpose(losses)) / weight.sum())
        if isinstance(loss, SquaredLoss):
            before *= 2  # errors are mean squares, without the half
        lengths = kernel.diag_at(rows.X, found.landmarks)
        trace = trace_of(kernel, rows, lengths) if len(lengths) else total_weight(rows)
        centred = found.features - weight @ found.features / weight.sum()
        return Fit(
            model=KernelModel(
                kernel,
                kernel.points(rows.X, found.landmarks),
                found.projection,
                found.offset,
                found.first_use,
                settings.dtype,
            ),
            landmark_indices=found.landmarks,
            criterion_path=found.errors,
            explained_variance_ratio=explained_variance_ratio(centred * root[:, None], trace),
            explained_target_ratio=-np.diff(found.errors, prepend=before) / (before or 1.0),
            outcome=found.outcome,
            heads=found.heads,
        )

    def _capacity(self, n_rows: int, settings: Settings) -> int:
        """Return the number of kernel columns to cache, more if memory allows."""
        if self.selection == "exact" and n_rows**2 <= _MATRIX_VALUES:
            return n_rows
        most = int(settings.max_memory) // (8 * n_rows)
        return self.columns_kept or max(1, min(most, max(_USUALLY_KEPT, most // _SHARE_KEPT)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


class SparseKernelPLS(SparseLatentFeatures):
    """Kernel partial least squares whose directions rest on few samples (nu-KPLS).

    At every step a fraction nu of the samples, the support vectors, make the direction and the shift
    of the images. Their kernel columns are evaluated (and those of ``sample_size`` random samples a
    step, where ``selection`` is "mi"), so nothing of size n x n is formed, and a prediction costs as
    many kernel evaluations as there are support vectors in all. One target of numbers,
    integers included; :class:`SparseKernelBoostedLatentFeaturesClassifier` takes labels.

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
        Fraction of the samples that may become support vectors at each step; 1 is dense kernel PLS. A
        step evaluates that many kernel columns, so with a given fraction the time grows as the square
        of the number of samples. "min" is one support vector a step: more features are needed, each of
        them in linear time.
    selection : {"mr", "mi", "mi-mr", "exact"}, default="mr"
        How support vectors are chosen: by the largest residuals ("mr", which evaluates no kernel value
        for it), by the largest reconstruction errors from a random start ("mi", which evaluates k(x, x)
        and the kernel columns of ``sample_size`` random samples at each step, but for those that are
        kept), "mi" for the first feature and "mr" after, or by solving the dual problem (Frank-Wolfe;
        ``duality_gaps_`` says how well).
    target_error : float, default=None
        Stop when the training error, the mean squared error or the mean loss, is at or below it.
    sample_size : int, default=200
        Random samples that selection="mi" starts from.
    gap_tol : float, default=0.0001
        Duality gap, as a part of the objective, at which ``selection="exact"`` ends a step.
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

    Notes
    -----
    ``criterion_path_`` is the training error after each feature. Of equal residuals the first samples
    become support vectors, so where the target has few different values the order of the samples
    matters. The dual problem, the errors that "mi" compares and the coefficients for new samples are
    our derivation, where the paper's text is lost.

    References
    ----------
    M. Momma. Efficient computations via scalable sparse kernel partial least squares and boosted
    latent features. KDD, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import SparseKernelPLS
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SparseKernelPLS(n_components=8, nu=0.05).fit(X, y)
    >>> bool(len(model.landmarks_) < 0.4 * len(X) and model.score(X, y) > 0.45)
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
        tol: float = 1e-12,
        nu: float | str = 0.1,
        selection: str = "mr",
        target_error: float | None = None,
        sample_size: int = 200,
        gap_tol: float = 0.0001,
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
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _target_kind(self) -> str:
        return "continuous"

    def _loss(self) -> Loss:
        return SquaredLoss()

    def _compared(self, batch: Batch) -> np.ndarray:
        return batch.Y
