"""Oriented kernel PCA: features that vary with the data and not with the noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from .._sklearn import Interval, StrOptions
from ..estimators import estimator
from ..exceptions import InvalidParameterError
from ..fitting import Plan, RowPass
from .scatter import NoiseCovariance, NoiseSamples, Scatter, TotalScatter
from .solve import Ratio, RatioEstimator, RayleighPass


@estimator
class OrientedKernelPCA(RatioEstimator):
    """Oriented kernel PCA: the most variance of the data for the least variance of known noise.

    Noise is given as samples, as a covariance of the features of X (for the linear kernel), or as
    transformations under which features are to stay as they are. Without any of these the features
    are those of kernel PCA on the candidates, with lengths measured as ``penalty`` says.

    Parameters
    ----------
    noise : array-like of shape (s, d) or (d, d), default=None
        Samples of the noise, or its covariance, as ``noise_type`` says.
    noise_type : {"samples", "covariance"}, default="samples"
        What ``noise`` is. A covariance of the features of X needs ``kernel="linear"``.
    noise_weight : float, default=1.0
        Weight of the noise in the denominator, beside those of the invariances.
    candidates : {"auto", "all"}, int or array, default="auto"
        Samples that directions combine, all of which a new sample is compared with: "all", a number of
        them, or an array of points (row numbers, for a precomputed kernel). "auto" is "all" up to
        2,000 samples and 2,000 of them beyond.
    pool : {"random", "kmeans", "rpcholesky"}, default="random"
        How candidates given as a number are drawn.
    tol : float, default=1e-10
        Ratios below this part of the largest are noise, and their features are dropped.
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    The numerator is n times the covariance (2) of the paper, the denominator the sum of n times the
    noise covariance, of the tangent covariances (3) and of the penalty. ``criterion_path_`` holds
    the ratios. Features have the denominator, over the number of samples, equal to one.

    References
    ----------
    S. Mika, G. Raetsch, J. Weston, B. Schoelkopf, A. Smola, K.-R. Mueller. Constructing descriptive
    and discriminative nonlinear features: Rayleigh coefficients in kernel feature spaces. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 25(5), 2003. Oriented PCA: K. I.
    Diamantaras, S. Y. Kung. Principal Component Neural Networks. Wiley, 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve import OrientedKernelPCA
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> turn = np.array([[np.cos(0.1), -np.sin(0.1)], [np.sin(0.1), np.cos(0.1)]])
    >>> okpca = OrientedKernelPCA(1, gamma=0.5, invariances=[(lambda X: X @ turn.T, 1.0)]).fit(X)
    >>> change = np.abs(okpca.transform(X @ turn.T @ turn.T) - okpca.transform(X))
    >>> bool(change.mean() < 0.05 * okpca.transform(X).std())
    True
    """

    _parameter_constraints: ClassVar[dict] = {
        "noise": ["array-like", "sparse matrix", None],
        "noise_type": [StrOptions({"samples", "covariance"})],
        "noise_weight": [Interval(Real, 0, None, closed="left")],
    }

    n_components: int | None = None
    _: KW_ONLY
    noise: Any = None
    noise_type: str = "samples"
    noise_weight: float = 1.0
    penalty: str = "norm"
    invariances: list[tuple[Callable, float]] | None = None

    def _target_kind(self) -> None:
        return None

    def _row_pass(self, plan: Plan, copies: np.ndarray | None = None) -> RowPass:
        denominator: list[Scatter] = [*self._tangents()]
        if self.noise is not None:
            kind = NoiseSamples if self.noise_type == "samples" else NoiseCovariance
            denominator.append(kind(self.noise, self.noise_weight))
        if self.reg == 0 and not any(scatter.weight > 0 for scatter in denominator):
            raise InvalidParameterError(
                "The denominator is zero: reg=0, and there is neither noise nor an invariance of "
                "positive weight; raise reg, or pass noise or invariances."
            )
        ratio = Ratio([TotalScatter()], denominator, self.reg, self.penalty)
        return RayleighPass(plan, ratio, copies)
