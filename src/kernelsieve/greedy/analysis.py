"""Sparse and accelerated kernel feature analysis: SKFA, AKFA and ACKFA."""

from __future__ import annotations

from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from .._sklearn import Interval, StrOptions
from ..deflation import Criterion, DirectionVariance, ExpansionVariance
from ..estimators import InverseTransformMixin, LoopEstimator, OutOfCoreMixin, estimator
from ..fitting import Problem, candidates_needed, select
from ..model import Fit

_FRESH = candidates_needed(top=0.05, probability=0.95)  # 59 candidates a step


def _chosen_indices(estimator: Any) -> np.ndarray:
    """Return the chosen samples, which come first among those that features depend on."""
    return np.asarray(estimator.landmark_indices_[: estimator.n_components_])


@estimator
class AcceleratedKernelFeatureAnalysis(InverseTransformMixin, OutOfCoreMixin, LoopEstimator):
    """Sparse kernel principal components, each from a single landmark (AKFA, ACKFA).

    Each step takes the sample whose image, less the directions so far and scaled to unit length,
    has the largest mean squared projection of all images: the choice after which the mean squared
    reconstruction error is smallest. k components of a new sample cost k kernel evaluations, where
    kernel PCA needs one for every training sample. Directions are orthonormal in feature space.

    Parameters
    ----------
    cutoff : float, default=0
        Candidates whose squared residual falls below it are dropped for good, and the analysis stops
        when none is left (ACKFA). Where all samples are candidates they leave the sums as well; on a
        pool, or with ``sample_rows``, they leave as candidates only.
    center : bool, default=False
        Analyse the images about their mean. With all samples as candidates that is the doubly centred
        kernel matrix, and features then depend on every sample; on a pool, or with ``sample_rows`` or
        ``resample``, the features alone are centred and stay sparse.
    tol : float, default=1e-08
        A sample whose squared residual in feature space is below this part of k(z, z) counts as
        linearly dependent on the chosen ones.
    resample : bool, default=False
        Draw new random candidates at every step instead of one pool: the quantile trick. With
        candidates="auto" 59 are drawn; the best of them is in the top 5 % with probability 95 %.
    {parameters}

    Attributes
    ----------
    chosen_indices_ : ndarray of shape (n_components,)
        Indices of the chosen samples. ``landmark_indices_`` are these, too, unless features are
        centred with all samples as candidates: these depend on every sample.
    {attributes}

    See Also
    --------
    SparseKernelFeatureAnalysis : Directions scaled by the l1 norm of their expansion.
    KernelPCA : Directions that combine all samples.

    Notes
    -----
    Selection among all samples keeps the n x n kernel matrix if it fits ``max_memory``; otherwise it is
    evaluated again for every component, which costs n * n kernel evaluations each. A pool of c
    candidates costs n * c evaluations and a single pass, whatever the number of components.

    References
    ----------
    X. Jiang, R. R. Snapp, Y. Motai, X. Zhu. Accelerated kernel feature analysis. IEEE Conference on
    Computer Vision and Pattern Recognition, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelsieve import AcceleratedKernelFeatureAnalysis
    >>> X, _ = load_digits(return_X_y=True)
    >>> analysis = AcceleratedKernelFeatureAnalysis(n_components=20).fit(X)
    >>> analysis.transform(X).shape, analysis.landmarks_.shape
    ((1797, 20), (20, 64))
    >>> bool(analysis.reconstruction_error(X) < analysis.reconstruction_error(X, n_components=10))
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "sample_rows": [Interval(Integral, 1, None, closed="left"), None],
        "cutoff": [Interval(Real, 0, None, closed="left")],
    }

    n_components: int | None = None
    _: KW_ONLY
    candidates: Any = "auto"
    resample: bool = False
    sample_rows: int | None = None
    cutoff: float = 0.0
    center: bool = False
    tol: float = 1e-8
    dtype: str = "float64"
    max_memory: float = 2**30

    chosen_indices_ = property(_chosen_indices)

    def _criterion(self) -> Criterion:
        return DirectionVariance(self.cutoff)

    def _solve(self, problem: Problem) -> Fit:
        return select(problem, self._criterion(), self._draw, self._row_pass, fresh=_FRESH)


@estimator
class SparseKernelFeatureAnalysis(InverseTransformMixin, OutOfCoreMixin, LoopEstimator):
    """Sparse kernel principal components under an l1 constraint (SKFA).

    Each step takes the sample whose image, less the directions so far and scaled so that its
    expansion in samples has l1 norm 1, has the largest variance of projections. Features are
    projections on the directions scaled to unit length, as for
    :class:`AcceleratedKernelFeatureAnalysis`, or scaled as they were chosen.

    Parameters
    ----------
    variance : {"centered", "uncentered"}, default="centered"
        About the mean, as Smola et al. and kernlab's ``kfa`` define it, or the mean square, as Jiang
        et al. write it.
    scaling : {"unit", "l1"}, default="unit"
        Of the directions: unit length in feature space, so that features are coordinates, or
        expansions in samples with l1 norm 1, the constraint (7) of Jiang et al., under which the
        directions compete. The landmarks are the same.
    center : bool, default=False
        Analyse the images about their mean. With all samples as candidates that is the doubly centred
        kernel matrix, and features then depend on every sample; on a pool, or with ``sample_rows`` or
        ``resample``, the features alone are centred and stay sparse.
    tol : float, default=1e-08
        A sample whose squared residual in feature space is below this part of k(z, z) counts as
        linearly dependent on the chosen ones.
    resample : bool, default=False
        Draw new random candidates at every step instead of one pool: the quantile trick. With
        candidates="auto" 59 are drawn; the best of them is in the top 5 % with probability 95 %.
    {parameters}

    Attributes
    ----------
    chosen_indices_ : ndarray of shape (n_components,)
        Indices of the chosen samples. ``landmark_indices_`` are these, too, unless features are
        centred with all samples as candidates: these depend on every sample.
    {attributes}

    See Also
    --------
    AcceleratedKernelFeatureAnalysis : Directions scaled to unit length, which explain more.

    References
    ----------
    A. J. Smola, O. L. Mangasarian, B. Schoelkopf. Sparse kernel feature analysis. Technical report
    99-04, Data Mining Institute, University of Wisconsin, 1999.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernelsieve import SparseKernelFeatureAnalysis
    >>> X, _ = load_iris(return_X_y=True)
    >>> SparseKernelFeatureAnalysis(n_components=3, gamma=0.5).fit(X).landmark_indices_
    array([  7,  78, 102])
    """

    _parameter_constraints: ClassVar[dict] = {
        "sample_rows": [Interval(Integral, 1, None, closed="left"), None],
        "variance": [StrOptions({"centered", "uncentered"})],
        "scaling": [StrOptions({"unit", "l1"})],
    }

    n_components: int | None = None
    _: KW_ONLY
    candidates: Any = "auto"
    resample: bool = False
    sample_rows: int | None = None
    variance: str = "centered"
    scaling: str = "unit"
    center: bool = False
    tol: float = 1e-8
    dtype: str = "float64"
    max_memory: float = 2**30

    chosen_indices_ = property(_chosen_indices)

    def _criterion(self) -> Criterion:
        return ExpansionVariance(self.variance == "centered", self.scaling == "l1")

    def _solve(self, problem: Problem) -> Fit:
        return select(problem, self._criterion(), self._draw, self._row_pass, fresh=_FRESH)
