"""Sparse Maximal Alignment and Sparse Maximal Covariance (Dhanjal, Gunn and Shawe-Taylor, 2009)."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from ..deflation import Alignment, Covariance, Criterion
from ..estimators import LoopEstimator, OutOfCoreMixin, estimator, parameters


@parameters
class _SparseMaximal(OutOfCoreMixin, LoopEstimator):
    """What the two share: their parameters."""

    n_components: int | None = field(default=None, kw_only=False)
    candidates: Any = "auto"
    resample: bool = False
    n_nonzero: int = 1
    tol: float = 1e-10
    target: str = "auto"
    dtype: str = "float64"
    max_memory: float = 2**30


@estimator
class SparseMaximalAlignment(_SparseMaximal):
    """Features from single landmarks, chosen for their alignment with the target (SMA).

    Each step takes the sample whose kernel column, after removing the features so far, is best
    aligned with the target. The features cost a new sample one kernel evaluation each, and are
    orthogonal with unit mean square, or coordinates in the kernel's space, as ``scale`` says. Followed
    by least squares this is forward orthogonal least squares on kernel columns, and the cumulative
    alignment is the R2 of that fit.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

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

    scale: str = "auto"

    def _criterion(self) -> Criterion:
        return Alignment()


@estimator
class SparseMaximalCovariance(_SparseMaximal):
    """Features from single landmarks, chosen for their covariance with the target (SMC).

    As :class:`SparseMaximalAlignment`, but a direction has unit length in feature space, so samples
    along which the data vary more are preferred. The features are coordinates along the directions
    and keep that variance.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

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

    def _criterion(self) -> Criterion:
        return Covariance()
