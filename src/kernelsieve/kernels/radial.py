"""Kernels of the Euclidean distance: rbf, Matern, rational quadratic.

All have the same width: ``gamma`` is ``1 / (2 s^2)`` with ``s`` the length scale. So kernels of one
``gamma`` can be compared, and ``gamma="scale"`` or ``"median"`` means the same for all.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from .._compiled import AS_IT_IS, EXPONENTIAL, MATERN, Profile, power_profile, profile_inplace
from ..exceptions import InvalidParameterError
from .base import Filler, Kernel, Rows, SharedPart, as_dtype, is_worth_caching
from .registry import register_kernel
from .squared_distances import Centre, SquaredDistances

_KINK = 1e-7  # of the distance of landmarks from their mean


@dataclass(frozen=True)
class RadialKernel(Kernel):
    """A function of ``t = gamma |x - z|^2``: a profile of ``stretch * t``."""

    gamma: float = 1.0
    #: Of all landmarks with which some are to be rounded alike; None for that of the landmarks given.
    _centre: Centre | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    @abstractmethod
    def _profile(self) -> Profile: ...

    @property
    def _stretch(self) -> float:
        return 1.0

    @property
    def _exact_near(self) -> bool:
        """Whether the profile has a kink at 0, where rounding of distances would show."""
        return False

    @abstractmethod
    def _decay(self, X: Rows, Z: Rows, values: np.ndarray) -> np.ndarray:
        """Return the derivatives of kernel values by ``-t``; 0 at a kink."""

    def against(self, Z: Rows, dtype: type = np.float64) -> Filler:
        return self._distances(self._width, self._profile).against(Z, dtype, **self._how).fill

    def shared_part(self, Z: Rows, dtype: type = np.float64) -> SharedPart | None:
        return self._distances().against(Z, dtype, **self._how) if is_worth_caching(Z) else None

    def finish(self, values: np.ndarray) -> None:
        values *= values.dtype.type(self._width)
        profile_inplace(self._profile, values)

    def diag(self, X: Rows) -> np.ndarray:
        return np.ones(X.shape[0])

    def landmark_gradient(
        self, X: Rows, Z: np.ndarray, values: np.ndarray, slopes: np.ndarray
    ) -> np.ndarray:
        pull = slopes * self._decay(X, Z, values)
        drawn = np.asarray((as_dtype(X, np.float64).T @ pull).T)
        return 2 * self.gamma * (drawn - pull.sum(axis=0)[:, None] * Z)

    def sample_gradient(self, X: np.ndarray, Z: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        pull = self._decay(X, Z, self.block(X, Z))
        drawn = np.stack([pull @ (alpha[:, None] * Z) for alpha in coefficients.T])
        return 2 * self.gamma * (drawn - (pull @ coefficients).T[:, :, None] * X)

    def rounded_as_with(self, Z: Rows) -> Kernel:
        if sparse.issparse(Z) or self._centre is not None:
            return self
        return replace(self, _centre=Centre.from_landmarks(Z))

    @property
    def _width(self) -> float:
        return self.gamma * self._stretch

    @property
    def _how(self) -> dict:
        return {"width": self._width, "centre": self._centre}

    def _distances(self, factor: float = 1.0, profile: Profile = AS_IT_IS) -> SquaredDistances:
        return SquaredDistances(factor, profile, self._exact_near)


@register_kernel
@dataclass(frozen=True)
class RBF(RadialKernel):
    """``k(x, z) = exp(-gamma |x - z|^2)``.

    Parameters
    ----------
    gamma : float, default=1.0
        Above 0; the larger, the narrower is the kernel.
    """

    other_names = ("gaussian", "gauss")

    @property
    def _profile(self) -> Profile:
        return EXPONENTIAL

    def _decay(self, X: Rows, Z: Rows, values: np.ndarray) -> np.ndarray:
        return values


@register_kernel
@dataclass(frozen=True)
class Matern(RadialKernel):
    """``k(x, z) = p(a) exp(-a)`` with ``a = sqrt(4 nu gamma) |x - z|``, for rougher functions than rbf.

    ``nu`` is 0.5 with ``p = 1``, 1.5 with ``p = 1 + a``, or 2.5 with ``p = 1 + a + a^2 / 3``: functions
    of such a kernel are continuous, or have one or two derivatives. ``kernel="matern"`` is that of 1.5;
    "matern12", "matern32" and "matern52" say which.

    Parameters
    ----------
    gamma : float, default=1.0
        Above 0; the larger, the narrower is the kernel.
    nu : {0.5, 1.5, 2.5}, default=1.5
        Smoothness.
    """

    nu: float = 1.5

    other_names = ("exponential", "ornstein_uhlenbeck")

    def __post_init__(self) -> None:
        if self.nu not in MATERN:
            raise InvalidParameterError(
                f"nu={self.nu!r} is not implemented; pass 0.5, 1.5 or 2.5, or kernel='rbf' for "
                "smoother functions."
            )

    @property
    def _profile(self) -> Profile:
        return MATERN[self.nu]

    @property
    def _stretch(self) -> float:
        return 4 * self.nu

    @property
    def _exact_near(self) -> bool:
        return self.nu == 0.5

    def _decay(self, X: Rows, Z: Rows, values: np.ndarray) -> np.ndarray:
        a = np.empty((Z.shape[0], X.shape[0]))
        self._distances(self._width).against(Z, np.float64, **self._how).fill(X, a)
        a = np.sqrt(np.maximum(-a.T, 0.0))
        if self.nu == 0.5:
            # Nearer to the kink the derivative would be the difference of two large numbers.
            off_the_kink = a > _KINK * np.sqrt(self._width * Centre.from_landmarks(Z).reach)
            return np.divide(values, a, out=np.zeros_like(values), where=off_the_kink)
        if self.nu == 1.5:
            return 3 * values / (1 + a)
        return 5 * values * (1 + a) / (3 + a * (3 + a))


@register_kernel
@dataclass(frozen=True)
class RationalQuadratic(RadialKernel):
    """``k(x, z) = (1 + gamma |x - z|^2 / alpha) ** -alpha``: a mixture of rbf kernels of many widths.

    Parameters
    ----------
    gamma : float, default=1.0
        Above 0; the larger, the narrower is the kernel.
    alpha : float, default=1.0
        Above 0; the larger, the fewer widths are mixed, and the nearer is the rbf kernel.
    """

    alpha: float = 1.0

    name = "rational_quadratic"
    other_names = ("cauchy", "student")

    def __post_init__(self) -> None:
        if not 0 < self.alpha < np.inf:
            raise InvalidParameterError(
                f"alpha={self.alpha!r} must be above 0 and finite; pass a positive number, such as 1.0."
            )

    @property
    def _profile(self) -> Profile:
        return power_profile(self.alpha)

    @property
    def _stretch(self) -> float:
        return 1 / self.alpha

    def _decay(self, X: Rows, Z: Rows, values: np.ndarray) -> np.ndarray:
        return values ** (1 + 1 / self.alpha)
