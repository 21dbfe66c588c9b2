"""The general framework with any criterion, in the primal and in kernel space (Algorithms 1, 2)."""

from __future__ import annotations

from dataclasses import KW_ONLY, field
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from ..deflation import Criterion, IdentityMetric, resolve_criterion
from ..estimators import LoopEstimator, OutOfCoreMixin, PredictMixin, estimator, parameters
from ..exceptions import InvalidParameterError
from ..fitting import OnePass, Problem, fit_columns
from ..kernels import Inputs, Kernel, Rows
from ..model import Fit
from ..rows import Batch, Pool
from .coefficients import intercept, primal_coefficients


@estimator
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
    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelsieve import KernelFeatureExtraction
    >>> X, y = load_iris(return_X_y=True)
    >>> pca = KernelFeatureExtraction("kpca", n_components=2, gamma=0.1).fit(X)
    >>> pca.transform(X).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict] = {
        "criterion": [str, Criterion],
    }

    criterion: str | Criterion = "alignment"
    n_components: int | None = None
    _: KW_ONLY
    candidates: Any = "auto"
    resample: bool = False
    n_nonzero: int = 1
    tol: float = 1e-10
    target: str = "auto"
    dtype: str = "float64"
    max_memory: float = 2**30

    def _criterion(self) -> Criterion:
        return resolve_criterion(self.criterion)

    def _out_of_core_obstacle(self) -> str:
        if self._criterion().needs_rows:
            return f"criterion={self.criterion!r} looks at all samples; pass one of inner products."
        return super()._out_of_core_obstacle()


@parameters
class PrimalEstimator(LoopEstimator):
    """Base of the estimators whose candidates are the features of X themselves: without a kernel."""

    kernel: Any = field(init=False)
    gamma: Any = field(init=False)
    degree: Any = field(init=False)
    coef0: Any = field(init=False)
    kernel_params: Any = field(init=False)
    random_state: Any = field(init=False)
    tol: float = 1e-10
    max_memory: float = 2**30

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
        if criterion.needs_rows or len(rows) <= n_inputs:
            return fit_columns(rows, kernel, pool, criterion, settings, metric)
        # Any shift near the means will do; those of the first samples are free.
        shift = np.asarray(rows.X[:64].mean(axis=0), dtype=np.float64).ravel()
        target_shift, n_labels = rows[:64].target_means, problem.encoder.n_labels
        one_pass = OnePass(
            kernel, pool, metric, shift, target_shift, criterion, settings, n_labels=n_labels
        )
        return one_pass.fit([rows])


def _looks_at_targets(estimator: Any) -> bool:
    if not estimator._criterion().supervised:
        raise AttributeError(
            f"criterion={estimator.criterion!r} looks at no targets, so nothing can be predicted."
        )
    return True


_where_targets_are = available_if(_looks_at_targets)


@estimator
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
    {parameters}

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Predictions, or the scores of classes, are ``X @ coef_.T + intercept_``; where the criterion
        looks at targets.
    intercept_ : float or ndarray of shape (n_targets,)
        The constant term of the predictions.
    {attributes}

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
        "criterion": [str, Criterion],
    }

    criterion: str | Criterion = "pls"
    n_components: int | None = None
    _: KW_ONLY
    precision: str = "auto"
    target: str = "auto"
    block_size: int | None = None

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
