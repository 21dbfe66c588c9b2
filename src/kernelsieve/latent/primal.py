"""Methods on the features of X themselves: any criterion (Algorithm 1), boosted latent features."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from ..data import Batch, Pool
from ..deflation import Criterion, IdentityMetric, Loss, LossGradient, resolve_criterion
from ..estimators import LoopEstimator, PredictMixin
from ..exceptions import InvalidParameterError
from ..fitting import Candidates, OnePass, Problem, fit_columns
from ..kernels import Inputs, Kernel, Rows
from ..model import Fit
from .boosted import LOSS_CONSTRAINTS, loss_of_numbers, predict_proba, probability_link
from .chemometrics import intercept, primal_coefficients
from .framework import scaled_settings


class PrimalEstimator(LoopEstimator):
    """Base of the primal estimators, whose candidates are the features of X, without a kernel."""

    _candidates_parameter: ClassVar[str] = ""
    _kernel_class = Inputs
    _has_open_width = False
    _seed = None

    def _candidates(self) -> Candidates:
        return Candidates("all")

    def _resolve_kernel(
        self, batch: Batch, points: Rows | None, random_state: np.random.RandomState
    ) -> Kernel:
        return Inputs()

    def _solve(self, problem: Problem) -> Fit:
        rows, criterion = problem.rows, self._criterion_for(problem.encoder)
        n_inputs = rows.X.shape[1]
        settings = problem.settings_for(n_inputs)
        inputs = np.arange(n_inputs)
        kernel, pool, metric = Inputs(), Pool(inputs, inputs), IdentityMetric(n_inputs)
        if criterion.needs.rows or len(rows) <= n_inputs:
            return fit_columns(rows, kernel, pool, criterion, settings, metric)
        # Any shift near the means will do; those of the first samples are free.
        shift = np.asarray(rows.X[:64].mean(axis=0), dtype=np.float64).ravel()
        return OnePass(problem.plan(pool), criterion, metric=metric, shift=shift).fit([rows])


def _looks_at_targets(estimator: Any) -> bool:
    if not estimator._criterion().needs.targets:
        raise AttributeError(
            f"criterion={estimator.criterion!r} looks at no targets; pass one that does to predict."
        )
    return True


_where_targets_are = available_if(_looks_at_targets)


class FeatureExtraction(PredictMixin, PrimalEstimator):
    """Feature extraction from the columns of X by any criterion.

    Algorithm 1 of Dhanjal, Gunn and Shawe-Taylor (2009). The candidates are the columns of X, so
    ``"alignment"`` chooses columns one at a time, as forward orthogonal least squares does, and the
    dense criteria give PCA, PLS and boosted latent features. Where the criterion looks at targets,
    least squares on the features predicts them (the loss itself, for ``"blf"``).

    Parameters
    ----------
    criterion : str or Criterion, default="pls"
        ``"pca"``, ``"pls"``, ``"opls"``, ``"blf"`` and ``"continuum"`` (continuum regression, with
        its ``alpha`` in :class:`kernelsieve.deflation.ContinuumRegression`) combine all columns of X;
        ``"alignment"``, ``"covariance"`` and ``"variance"`` choose one at a time; or an object of a
        class derived from :class:`kernelsieve.deflation.Criterion`.
    n_components : int, default=None
        Number of components; None for as many as the data give, up to 100.
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
    n_jobs : int, default=None
        Number of threads; None for as many as BLAS uses.
    verbose : int or bool, default=0
        Above 0, print progress.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Predictions, or the scores of classes, are ``X @ coef_.T + intercept_``; where the criterion
        looks at targets.
    intercept_ : float or ndarray of shape (n_targets,)
        The constant term of the predictions.
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
    ``landmarks_`` are column numbers of X here, and so are ``landmark_indices_``. Sparse X is made
    dense a block at a time.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import FeatureExtraction
    >>> X, y = load_diabetes(return_X_y=True)
    >>> FeatureExtraction("alignment", n_components=3).fit(X, y).landmarks_
    array([2, 8, 3])
    >>> pls = FeatureExtraction("pls", n_components=3).fit(X, y)
    >>> bool(abs(pls.predict(X) - (X @ pls.coef_ + pls.intercept_)).max() < 1e-8)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **PrimalEstimator._parameter_constraints,
        "criterion": [str, Criterion],
    }

    def __init__(
        self,
        criterion: str | Criterion = "pls",
        n_components: int | None = None,
        *,
        center: bool = True,
        tol: float = 1e-10,
        target: str = "auto",
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.criterion = criterion
        self.n_components = n_components
        self.center = center
        self.tol = tol
        self.target = target
        self.n_jobs = n_jobs
        self.verbose = verbose

    predict = _where_targets_are(PredictMixin.predict)
    score = _where_targets_are(PredictMixin.score)
    head = _where_targets_are(PredictMixin.head)
    coef_ = property(primal_coefficients)
    intercept_ = property(intercept)

    def _criterion(self) -> Criterion:
        criterion = resolve_criterion(self.criterion)
        if criterion.deflation.symmetric:
            raise InvalidParameterError(
                f"criterion={self.criterion!r} deflates images of samples, and the candidates are "
                "features of X; use KernelFeatureExtraction with kernel='linear'."
            )
        return criterion


class BoostedLatentFeatures(PredictMixin, PrimalEstimator):
    """Linear latent features that follow the gradient of a loss, for regression (BLF).

    Partial least squares for any convex loss: see :class:`KernelBoostedLatentFeatures`, of which this
    is the form on the features of X themselves.

    Parameters
    ----------
    n_components : int, default=None
        Number of components; None for as many as the data give, up to 100.
    center : bool, default=True
        Give features zero mean. Sparse input stays sparse, and a feature still needs its own
        landmarks only.
    scale : {"auto", "unit_variance"}, default="auto"
        Scale of the features, which are orthogonal on the training samples. "auto": each is a
        coordinate along a direction of unit length, less what earlier features have of it.
        "unit_variance": unit mean square on the training samples. Predictions are the same.
    tol : float, default=1e-12
        A column whose squared residual is below this part of its squared norm counts as linearly
        dependent on the chosen ones. It limits how much rounding is amplified (see
        `python -m benchmarks accuracy`).
    loss : {"squared", "absolute"} or Loss, default="squared"
        An object of a class derived from :class:`kernelsieve.deflation.Loss` brings its own value,
        negative gradient and curvature.
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
    ``landmarks_`` are numbers of features of X here. See :class:`KernelBoostedLatentFeatures` for what
    is reconstructed.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import BoostedLatentFeatures
    >>> X, y = load_diabetes(return_X_y=True)
    >>> robust = BoostedLatentFeatures(n_components=3, loss="absolute").fit(X, y)
    >>> bool(robust.score(X, y) > 0.4)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **PrimalEstimator._parameter_constraints,
        **LOSS_CONSTRAINTS,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        center: bool = True,
        scale: str = "auto",
        tol: float = 1e-12,
        loss: str | Loss = "squared",
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_components = n_components
        self.center = center
        self.scale = scale
        self.tol = tol
        self.loss = loss
        self.n_jobs = n_jobs
        self.verbose = verbose

    _settings = scaled_settings

    def _criterion(self) -> Criterion:
        return LossGradient(loss_of_numbers(self))

    def _target_kind(self) -> str:
        return "continuous"


class BoostedLatentFeaturesClassifier(PredictMixin, PrimalEstimator):
    """Linear latent features that follow the gradient of a loss of labels (BLF).

    As :class:`BoostedLatentFeatures`, for labels: each of more than two classes is separated from the
    rest.

    Parameters
    ----------
    n_components : int, default=None
        Number of components; None for as many as the data give, up to 100.
    center : bool, default=True
        Give features zero mean. Sparse input stays sparse, and a feature still needs its own
        landmarks only.
    scale : {"auto", "unit_variance"}, default="auto"
        Scale of the features, which are orthogonal on the training samples. "auto": each is a
        coordinate along a direction of unit length, less what earlier features have of it.
        "unit_variance": unit mean square on the training samples. Predictions are the same.
    tol : float, default=1e-12
        A column whose squared residual is below this part of its squared norm counts as linearly
        dependent on the chosen ones. It limits how much rounding is amplified (see
        `python -m benchmarks accuracy`).
    loss : {"logistic", "exponential", "squared", "absolute"} or Loss, default="logistic"
        The first two give probabilities.
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
    >>> from kernelsieve import BoostedLatentFeaturesClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(BoostedLatentFeaturesClassifier(n_components=3).fit(X, y).score(X, y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        **PrimalEstimator._parameter_constraints,
        **LOSS_CONSTRAINTS,
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        center: bool = True,
        scale: str = "auto",
        tol: float = 1e-12,
        loss: str | Loss = "logistic",
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_components = n_components
        self.center = center
        self.scale = scale
        self.tol = tol
        self.loss = loss
        self.n_jobs = n_jobs
        self.verbose = verbose

    predict_proba = predict_proba
    _probability_link = probability_link

    _settings = scaled_settings

    def _criterion(self) -> Criterion:
        return LossGradient(self.loss)

    def _target_kind(self) -> str:
        return "classes"
