"""Reduced kernel orthonormalised PLS: regression on a few kernel columns as features."""

from __future__ import annotations

from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Any, ClassVar

from .._sklearn import Interval, StrOptions
from ..deflation import Criterion, OrthonormalisedDirections
from ..estimators import LoopEstimator, OutOfCoreMixin, estimator
from ..fitting import Problem, select_in_pool
from ..model import Fit

_AUTO_LANDMARKS = 100


@estimator
class ReducedKernelOPLS(OutOfCoreMixin, LoopEstimator):
    """The few features that predict several targets best by least squares (rKOPLS).

    Orthonormalised PLS in the span of a random subset of the samples. The first feature is the
    combination of their kernel columns that explains most of all targets together, the next one most
    of the rest, and so on. There are as many features as independent targets: one for a single
    target, and one less than the number of classes for labels. Least squares on all of them is least
    squares on all kernel columns of the subset, but for the ridge. The features are orthogonal with
    unit mean square.

    Parameters
    ----------
    n_landmarks : "auto", int or array, default="auto"
        Size r of the subset, or the points themselves (row numbers, for a precomputed kernel). All
        features of a new sample together cost r kernel evaluations. "auto" is 100, or as many as there
        are samples.
    pool : {"random", "kmeans", "rpcholesky"}, default="random"
        How the subset is drawn.
    regularization : float, default=1e-08
        Ridge, as a part of the mean squared norm of the kernel columns. It limits how much rounding,
        and noise in the targets, is amplified where columns are nearly dependent.
    precision : {"auto", "fast", "safe"}, default="auto"
        How a pass over the samples accumulates inner products. "fast" does so in float64, which knows
        columns to half the digits: raise ``regularization`` to 1e-4 or so with it. "safe" updates
        a triangular factor, at about twice the cost. "auto" is "safe" here.
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    With ``K`` the n x r kernel columns, each less its mean, and ``Y`` the centred targets, features
    are ``K B`` for the eigenvectors B of ``K'Y Y'K b = lambda (K'K + delta I) b``, made orthonormal
    one after another (which the ridge leaves undone), times the root of n. Only the columns are
    centred: centring on both sides would make the features depend on every sample.
    ``criterion_path_`` is the ratio of the targets that each component explains.

    References
    ----------
    J. Arenas-Garcia, K. B. Petersen, L. K. Hansen. Sparse kernel orthonormalized PLS for feature
    extraction in large data sets. Advances in Neural Information Processing Systems 19, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelsieve import ReducedKernelOPLS
    >>> X, y = load_digits(return_X_y=True)
    >>> opls = ReducedKernelOPLS(n_landmarks=200, gamma=0.001, random_state=0).fit(X, y)
    >>> opls.transform(X).shape, opls.landmarks_.shape
    ((1797, 9), (200, 64))
    >>> bool(opls.explained_target_ratio_.sum() > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_landmarks": [
            StrOptions({"auto"}),
            Interval(Integral, 1, None, closed="left"),
            "array-like",
            "sparse matrix",
        ],
        "pool": [StrOptions({"random", "kmeans", "rpcholesky"})],
        "regularization": [Interval(Real, 0, None, closed="left")],
    }

    n_components: int | None = None
    _: KW_ONLY
    n_landmarks: Any = "auto"
    pool: str = "random"
    regularization: float = 1e-8
    target: str = "auto"

    def _criterion(self) -> Criterion:
        return OrthonormalisedDirections(self.regularization)

    def _pool_size(self, problem: Problem, n_samples: int) -> int:
        number = problem.candidates.number
        return min(_AUTO_LANDMARKS if isinstance(number, str) else int(number), n_samples)

    def _solve(self, problem: Problem) -> Fit:
        candidates = problem.given
        if candidates is None:
            size = self._pool_size(problem, len(problem.rows))
            candidates = self._draw(problem, size)
        return select_in_pool(problem, problem.rows, candidates, self._criterion(), self._row_pass)
