"""Rayleigh coefficients in kernel space: features with the largest ratio of two scatters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY
from typing import ClassVar

import numpy as np

from ..estimators import estimator
from ..exceptions import InvalidParameterError
from ..fitting import Plan, RowPass
from .scatter import Scatter, Tangent, TotalScatter
from .solve import Ratio, RatioEstimator, RayleighPass


@estimator
class RayleighCoefficient(RatioEstimator):
    """Features with the largest ratio of what is wanted to what is not.

    Numerator and denominator are sums of scatters, each with a weight, that are combined freely:
    :class:`~kernelsieve.rayleigh.TotalScatter`, :class:`~kernelsieve.rayleigh.BetweenClasses`,
    :class:`~kernelsieve.rayleigh.WithinClasses`, :class:`~kernelsieve.rayleigh.Tangent` (invariance
    under a transformation), :class:`~kernelsieve.rayleigh.NoiseSamples`,
    :class:`~kernelsieve.rayleigh.NoiseCovariance`, or a class of your own that is derived from
    :class:`~kernelsieve.rayleigh.Scatter`. ``KernelFisherDiscriminant`` and ``OrientedKernelPCA`` are
    special cases.

    Parameters
    ----------
    numerator : list of Scatter, default=None
        What is wanted; None is the total scatter.
    denominator : list of Scatter, default=None
        What is not; None is nothing but the penalty.
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
    In the coefficients alpha of the candidates the ratio is ``alpha' M alpha`` over
    ``alpha' (N + reg I) alpha``, or ``N + reg K`` for ``penalty="norm"``, with M and N sums over the
    samples. Directions are the generalised eigenvectors, scaled so that the denominator of a feature is
    the number of samples, and ``criterion_path_`` holds the ratios.

    References
    ----------
    S. Mika, G. Raetsch, J. Weston, B. Schoelkopf, A. Smola, K.-R. Mueller. Constructing descriptive
    and discriminative nonlinear features: Rayleigh coefficients in kernel feature spaces. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 25(5), 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from kernelsieve import RayleighCoefficient
    >>> from kernelsieve.rayleigh import BetweenClasses, ImageRotation, Tangent, WithinClasses
    >>> X, y = load_digits(return_X_y=True)
    >>> features = RayleighCoefficient(
    ...     numerator=[BetweenClasses()],
    ...     denominator=[WithinClasses(), Tangent(ImageRotation(10.0), weight=0.1)],
    ...     gamma=0.001,
    ...     candidates=200,
    ...     random_state=0,
    ... ).fit(X, y)
    >>> features.transform(X).shape
    (1797, 9)
    """

    _parameter_constraints: ClassVar[dict] = {
        "numerator": [list, tuple, None],
        "denominator": [list, tuple, None],
    }

    n_components: int | None = None
    _: KW_ONLY
    numerator: Sequence[Scatter] | None = None
    denominator: Sequence[Scatter] | None = None

    def _target_kind(self) -> str | None:
        numerator, denominator = self._scatters()
        supervised = any(scatter.supervised for scatter in [*numerator, *denominator])
        return "classes" if supervised else None

    def _given_tangents(self) -> list[Tangent]:
        return [scatter for scatter in self._scatters()[1] if isinstance(scatter, Tangent)]

    def _row_pass(self, plan: Plan, copies: np.ndarray | None = None) -> RowPass:
        return RayleighPass(plan, Ratio(*self._scatters(), self.reg, self.penalty), copies)

    def _scatters(self) -> tuple[list[Scatter], list[Scatter]]:
        numerator: list[Scatter] = [TotalScatter()]
        if self.numerator is not None:
            numerator = list(self.numerator)
        denominator = list(self.denominator or ())
        strange = [s for s in [*numerator, *denominator] if not isinstance(s, Scatter)]
        if strange or not any(s.weight > 0 for s in numerator):
            raise InvalidParameterError(
                f"numerator={self.numerator!r} and denominator={self.denominator!r} must be lists of "
                "scatters such as kernelsieve.rayleigh.TotalScatter(), with at least one of positive "
                "weight in the numerator."
            )
        if self.reg == 0 and not any(s.weight > 0 for s in denominator):
            raise InvalidParameterError(
                "The denominator is zero: reg=0 and no scatter has a positive weight; raise reg."
            )
        return numerator, denominator
