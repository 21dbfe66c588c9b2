"""Kernels of the Euclidean distance: rbf, Matern, rational quadratic; and squared distances.

All have the same width: ``gamma`` is ``1 / (2 s^2)`` with ``s`` the length scale. So kernels of one
``gamma`` can be compared, and ``gamma="scale"`` or ``"median"`` means the same for all.

Squared distances are had from a product where it keeps enough digits, otherwise from differences.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from .._compiled import (
    AS_IT_IS,
    EXPONENTIAL,
    MATERN,
    MOST_INPUTS,
    LineProduct,
    Profile,
    power_profile,
    profile_inplace,
)
from ..exceptions import InvalidParameterError
from .base import (
    Filler,
    Kernel,
    Rows,
    SharedPart,
    as_dtype,
    inner_products,
    is_worth_caching,
    row_norms_squared,
)
from .registry import register_kernel

_FAR = 4  # standard deviations from zero: squares then have more digits than distances
_PAIRS = 4096  # whose differences are taken at once


_KINK = 1e-7  # of the distance of landmarks from their mean


@dataclass(frozen=True, eq=False)
class Centre:
    """The origin of the inputs, and the largest squared distance of a landmark from it.

    Moving the origin changes no distance, and near the mean it keeps the norms, and so the digits lost
    when they cancel, small.
    """

    origin: np.ndarray
    reach: float

    @classmethod
    def from_landmarks(cls, Z: np.ndarray) -> Centre:
        Z = np.ascontiguousarray(Z)  # summed up in the same order whatever the layout was
        origin: np.ndarray = Z.sum(axis=0, dtype=np.float64) / max(1, len(Z))  # of no landmarks, zero
        return cls(origin, float(row_norms_squared(Z - origin).max(initial=0.0)))


@dataclass(frozen=True)
class SquaredDistances:
    """Fills ``-factor |x - z|^2``, or a profile of it, for fixed landmarks.

    Parameters
    ----------
    factor : float, default=1.0
        Factor of the squared distances.
    profile : Profile
        A function of the products that is evaluated with them; by default they stay as they are.
    exact_near : bool, default=False
        Take the distances of near points from differences of their inputs, without loss of digits.
    """

    factor: float = 1.0
    profile: Profile = AS_IT_IS
    #: Take those of near points from differences: a square root would show how they are rounded.
    exact_near: bool = False

    def against(
        self, Z: Rows, dtype: type, *, width: float = 1.0, centre: Centre | None = None
    ) -> SharedPart:
        """Prepare landmarks, by the method that suits the inputs and the width of the kernel.

        Parameters
        ----------
        Z : array or CSR matrix of shape (n_landmarks, n_features)
            Landmarks.
        dtype : type
            Type of the values, float64 or float32.
        width : float, default=1.0
            Final factor of the squared distances, applied here or later.
        centre : Centre, default=None
            Origin of the inputs; None for the mean of the landmarks.

        Returns
        -------
        SharedPart
            Its ``fill`` is a filler, as :meth:`Kernel.against` returns.
        """
        if sparse.issparse(Z):
            return SharedPart(("squared distances", "csr", self.exact_near), self._of_csr(Z, dtype))
        centre = centre or Centre.from_landmarks(Z)
        eps = np.finfo(dtype).eps
        if width * centre.reach * eps > np.sqrt(eps):  # so narrow that rounded norms would show
            return SharedPart("exact squared distances", self._finished(self._differences(Z, dtype)))
        origin: np.ndarray = centre.origin.astype(dtype)  # rounded as the rows will see it
        near = self._near(centre.reach, dtype) if self.exact_near else 0.0

        def of_sparse(X: Rows, out: np.ndarray) -> None:
            self._of_csr(sparse.csr_matrix(Z), dtype)(X, out)

        if Z.shape[1] <= MOST_INPUTS:
            left = self._augmented(Z, origin)
            fill: Filler = LineProduct(
                left, origin, profile=self.profile, near=near, of_sparse=of_sparse
            )
        else:
            steps = _product_and_norms(Z, origin, dtype, self.factor)
            of_dense = self._finished(self._with_exact_near(steps, Z, near))

            def fill(X: Rows, out: np.ndarray) -> None:
                (of_sparse if sparse.issparse(X) else of_dense)(X, out)

        return SharedPart(("squared distances", origin.tobytes(), self.exact_near), fill)

    def _near(self, reach: float, dtype: type) -> float:
        """Return the scaled squared distance below which norms lose more than half of the digits."""
        return float(np.finfo(dtype).eps ** 0.25 * reach * self.factor)

    def _finished(self, distances: Filler) -> Filler:
        def fill(X: Rows, out: np.ndarray) -> None:
            distances(X, out)
            profile_inplace(self.profile, out)

        return distances if self.profile is AS_IT_IS else fill

    def _augmented(self, Z: Rows, origin: np.ndarray) -> np.ndarray:
        """Return ``[2 factor z, -factor, -factor |z|^2]``, to multiply ``[x, |x|^2, 1]`` with."""
        n_landmarks, n_inputs = Z.shape
        centred = Z - origin.astype(np.float64)
        left = np.empty((n_landmarks, n_inputs + 2), origin.dtype)
        left[:, :n_inputs] = 2 * self.factor * centred
        left[:, n_inputs] = -self.factor
        left[:, n_inputs + 1] = -self.factor * row_norms_squared(centred)
        return left

    def _of_csr(self, Z: Rows, dtype: type) -> Filler:
        """Return the filler for CSR rows; sums run in float64, since float32 would lose digits."""
        far = _far_columns(Z)
        exact, reach = _products_of_csr(Z, far, self.factor)
        near = self._near(reach, np.float64) if self.exact_near else 0.0
        distances = self._with_exact_near(exact, Z, near)

        def fill_rounded(X: Rows, out: np.ndarray) -> None:
            values = np.empty(out.shape)
            distances(X, values)
            out[...] = values

        return self._finished(distances if dtype == np.float64 else fill_rounded)

    def _with_exact_near(self, distances: Filler, Z: Rows, near: float) -> Filler:
        def fill(X: Rows, out: np.ndarray) -> None:
            distances(X, out)
            lines, rows = np.nonzero(out > -near)
            for start in range(0, len(lines), _PAIRS):
                pairs = lines[start : start + _PAIRS], rows[start : start + _PAIRS]
                out[pairs] = -self.factor * row_norms_squared(_difference(Z[pairs[0]], X[pairs[1]]))

        return fill if near > 0 else distances

    def _differences(self, Z: Rows, dtype: type) -> Filler:
        """Return the filler by differences of inputs, which is slower and keeps all digits."""
        Z = as_dtype(Z, np.float64)

        def fill(X: Rows, out: np.ndarray) -> None:
            X = X.toarray() if sparse.issparse(X) else X
            out[...] = cdist(Z, as_dtype(X, np.float64), "sqeuclidean")
            with np.errstate(over="ignore"):  # infinitely far is far
                out *= dtype(-self.factor)

        return fill


def _difference(X: Rows, Z: Rows) -> Rows:
    if sparse.issparse(X) or sparse.issparse(Z):
        return as_dtype(sparse.csr_matrix(X), np.float64) - sparse.csr_matrix(Z)
    return as_dtype(X, np.float64) - Z


def _product_and_norms(Z: Rows, origin: np.ndarray | None, dtype: type, factor: float) -> Filler:
    """Return ``-factor |x - z|^2`` in steps: for many inputs, and for CSR rows, which are not moved."""
    moved = as_dtype(Z if origin is None else Z - origin.astype(np.float64), dtype)
    norms = row_norms_squared(moved)

    def fill(X: Rows, out: np.ndarray) -> None:
        X = as_dtype(X if origin is None else X - origin, dtype)
        inner_products(moved, X, out)
        out *= dtype(2)
        out -= norms[:, None]
        out -= row_norms_squared(X)[None, :]
        out *= dtype(factor)

    return fill


def _products_of_csr(Z: Rows, far: np.ndarray, factor: float) -> tuple[Filler, float]:
    """Return the products for CSR rows, and the largest distance of a landmark.

    Moving the origin would fill zeros in. Only columns without zeros that are ``far`` from zero, such
    as a date, are moved, and made dense.
    """
    if not len(far):
        reach = float(row_norms_squared(Z).max(initial=0.0))
        return _product_and_norms(Z, None, np.float64, factor), reach
    near = np.setdiff1d(np.arange(Z.shape[1]), far)
    of_near, reach = _products_of_csr(Z[:, near], far[:0], factor)
    Z_far = Z[:, far].toarray()
    centre = Centre.from_landmarks(Z_far)
    of_far = _product_and_norms(Z_far, centre.origin, np.float64, factor)

    def fill(X: Rows, out: np.ndarray) -> None:
        of_near(X[:, near], out)
        X_far, others = X[:, far], np.empty_like(out)
        of_far(X_far.toarray() if sparse.issparse(X_far) else X_far, others)
        out += others

    return fill, reach + centre.reach


def _far_columns(Z: Rows) -> np.ndarray:
    """Return the columns of a CSR matrix with a small variance about a nonzero mean."""
    if Z.shape[0] == 0:
        return np.empty(0, np.intp)
    full = np.flatnonzero(np.bincount(Z.indices, minlength=Z.shape[1]) == Z.shape[0])
    values = Z[:, full].toarray().astype(np.float64)
    return full[np.abs(values.mean(axis=0)) > _FAR * values.std(axis=0)]


@dataclass(frozen=True)
class RadialKernel(Kernel):
    """A function of ``t = gamma |x - z|^2``: a profile of ``factor * t``."""

    gamma: float = 1.0
    #: Of all landmarks with which some are to be rounded alike; None for that of the landmarks given.
    _centre: Centre | None = field(default=None, compare=False, repr=False, kw_only=True)

    @property
    @abstractmethod
    def _form(self) -> tuple[Profile, float, bool]:
        """The profile, the factor of t in it, and whether it has a kink at 0.

        Rounding of distances would show at a kink.
        """

    @abstractmethod
    def _decay(self, X: Rows, Z: Rows, values: np.ndarray) -> np.ndarray:
        """Return the derivatives of kernel values by ``-t``; 0 at a kink."""

    def against(self, Z: Rows, dtype: type = np.float64) -> Filler:
        profile, factor, kink = self._form
        width = self.gamma * factor
        distances = SquaredDistances(width, profile, kink)
        return distances.against(Z, dtype, width=width, centre=self._centre).fill

    def shared_part(self, Z: Rows, dtype: type = np.float64) -> SharedPart | None:
        if not is_worth_caching(Z):
            return None
        _, factor, kink = self._form
        distances = SquaredDistances(exact_near=kink)
        return distances.against(Z, dtype, width=self.gamma * factor, centre=self._centre)

    def finish(self, values: np.ndarray) -> None:
        profile, factor, _ = self._form
        values *= values.dtype.type(self.gamma * factor)
        profile_inplace(profile, values)

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
    _form = EXPONENTIAL, 1.0, False

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
    def _form(self) -> tuple[Profile, float, bool]:
        return MATERN[self.nu], 4 * self.nu, self.nu == 0.5

    def _decay(self, X: Rows, Z: Rows, values: np.ndarray) -> np.ndarray:
        a, width = np.empty((Z.shape[0], X.shape[0])), self.gamma * 4 * self.nu
        distances = SquaredDistances(width, exact_near=self.nu == 0.5)
        distances.against(Z, np.float64, width=width, centre=self._centre).fill(X, a)
        a = np.sqrt(np.maximum(-a.T, 0.0))
        if self.nu == 0.5:
            # Nearer to the kink the derivative would be the difference of two large numbers.
            off_the_kink = a > _KINK * np.sqrt(width * Centre.from_landmarks(Z).reach)
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
    def _form(self) -> tuple[Profile, float, bool]:
        return power_profile(self.alpha), 1 / self.alpha, False

    def _decay(self, X: Rows, Z: Rows, values: np.ndarray) -> np.ndarray:
        return values ** (1 + 1 / self.alpha)
