"""Kernels of a distance: rbf, laplacian, chi2."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import additive_chi2_kernel, manhattan_distances

from ..exceptions import InvalidDataError
from .base import (
    Filler,
    Kernel,
    Rows,
    SharedPart,
    TiledFiller,
    as_dtype,
    inner_products,
    product_pays,
    row_norms_squared,
)
from .compiled import MOST_INPUTS, LineProduct, exp_inplace
from .registry import register_kernel

_FAR = 4  # standard deviations from zero: squares then have more digits than distances


class Centre(NamedTuple):
    """Where inputs are counted from, and the largest squared distance of a landmark from there.

    Moving the origin changes no distance, and near the mean it keeps the norms, and so the digits lost
    when they cancel, small.
    """

    origin: np.ndarray
    reach: float

    @classmethod
    def of(cls, Z: np.ndarray) -> Centre:
        Z = np.ascontiguousarray(Z)  # summed up in the same order whatever the layout was
        origin: np.ndarray = Z.mean(axis=0, dtype=np.float64)
        return cls(origin, float(row_norms_squared(Z - origin).max(initial=0.0)))


@register_kernel
@dataclass(frozen=True)
class RBF(Kernel):
    """``k(x, z) = exp(-gamma |x - z|^2)``."""

    gamma: float = 1.0
    #: Of all landmarks with which some are to be rounded alike; None for that of the landmarks given.
    _centre: Centre | None = field(default=None, compare=False, repr=False)

    other_names = ("gaussian", "gauss")

    def against(self, Z: Rows, dtype: type = np.float64) -> Filler:
        return self.exponents(Z, dtype, self.gamma, exponential=True).fill

    def shared_part(self, Z: Rows, dtype: type = np.float64) -> SharedPart | None:
        return self.exponents(Z, dtype, 1.0) if product_pays(Z) else None

    def finish(self, values: np.ndarray) -> None:
        values *= values.dtype.type(self.gamma)
        exp_inplace(values, at_most=0.0)

    def diag(self, X: Rows) -> np.ndarray:
        return np.ones(X.shape[0])

    def landmark_gradient(
        self, X: Rows, Z: np.ndarray, values: np.ndarray, slopes: np.ndarray
    ) -> np.ndarray:
        pull = slopes * values
        drawn = np.asarray((as_dtype(X, np.float64).T @ pull).T)
        return 2 * self.gamma * (drawn - pull.sum(axis=0)[:, None] * Z)

    def rounded_as_with(self, Z: Rows) -> Kernel:
        if sparse.issparse(Z) or self._centre is not None:
            return self
        return replace(self, _centre=Centre.of(Z))

    def exponents(
        self, Z: Rows, dtype: type, factor: float, *, exponential: bool = False
    ) -> SharedPart:
        """Prepare ``-factor |x - z|^2``, or its exponential, as suits the inputs and the width."""
        finished = _exponential if exponential else _as_it_is
        if sparse.issparse(Z):
            return SharedPart("squared distances", finished(_products_of_csr(Z, dtype, factor)))
        centre = self._centre or Centre.of(Z)
        if self._is_narrow(centre.reach, dtype):
            return SharedPart("exact squared distances", finished(_differences(Z, dtype, factor)))
        origin: np.ndarray = centre.origin.astype(dtype)  # rounded as the rows will see it
        name = ("squared distances", origin.tobytes())
        if Z.shape[1] <= MOST_INPUTS:
            return SharedPart(name, _augmented_product(Z, origin, factor, exponential=exponential))
        return SharedPart(name, finished(_product_and_norms(Z, origin, dtype, factor)))

    def _is_narrow(self, reach: float, dtype: type) -> bool:
        """Tell if so narrow that the rounding of squared norms would show."""
        eps = np.finfo(dtype).eps
        return bool(self.gamma * reach * eps > np.sqrt(eps))


def _exponential(exponents: Filler) -> Filler:
    def fill(X: Rows, out: np.ndarray) -> None:
        exponents(X, out)
        exp_inplace(out, at_most=0.0)

    return fill


def _as_it_is(exponents: Filler) -> Filler:
    return exponents


def _augmented_product(
    Z: Rows, origin: np.ndarray, factor: float, *, exponential: bool = False
) -> Filler:
    """Return ``-factor |x - z|^2``, or its exponential, from one product.

    It is the product of ``[2 factor z, -factor, -factor |z|^2]`` and ``[x, |x|^2, 1]``.
    """
    n_landmarks, n_inputs = Z.shape
    dtype = origin.dtype.type
    centred = Z - origin.astype(np.float64)
    left = np.empty((n_landmarks, n_inputs + 2), dtype)
    left[:, :n_inputs] = 2 * factor * centred
    left[:, n_inputs] = -factor
    left[:, n_inputs + 1] = -factor * row_norms_squared(centred)

    def fill_from_sparse(X: Rows, out: np.ndarray) -> None:
        _products_of_csr(sparse.csr_matrix(Z), dtype, factor)(X, out)
        if exponential:
            exp_inplace(out, at_most=0.0)

    return TiledFiller(LineProduct(left, origin, exponential=exponential), fill_from_sparse)


def _product_and_norms(Z: Rows, origin: np.ndarray | None, dtype: type, factor: float) -> Filler:
    """The same in steps, for many inputs, and for CSR rows where they are not moved."""
    moved = as_dtype(Z if origin is None else Z - origin.astype(np.float64), dtype)
    norms = row_norms_squared(moved)

    def fill(X: Rows, out: np.ndarray) -> None:
        if origin is not None and sparse.issparse(X):
            _products_of_csr(sparse.csr_matrix(Z), dtype, factor)(X, out)
            return
        X = as_dtype(X if origin is None else X - origin, dtype)
        inner_products(moved, X, out)
        out *= dtype(2)
        out -= norms[:, None]
        out -= row_norms_squared(X)[None, :]
        out *= dtype(factor)

    return fill


def _products_of_csr(Z: Rows, dtype: type, factor: float) -> Filler:
    """The same for CSR rows, where moving the origin would fill zeros in.

    Only columns without zeros that are far from zero, such as a date, are moved, and made dense. What
    is left cancels more than float32 has digits.
    """
    if dtype != np.float64:
        exact = _products_of_csr(Z, np.float64, factor)

        def fill_rounded(X: Rows, out: np.ndarray) -> None:
            values = np.empty(out.shape)
            exact(X, values)
            out[...] = values

        return fill_rounded
    far = _far_columns(Z)
    if not len(far):
        return _product_and_norms(Z, None, dtype, factor)
    near = np.setdiff1d(np.arange(Z.shape[1]), far)
    of_near = _product_and_norms(Z[:, near], None, dtype, factor)
    Z_far = Z[:, far].toarray()
    of_far = _product_and_norms(Z_far, Z_far.mean(axis=0).astype(dtype), dtype, factor)

    def fill(X: Rows, out: np.ndarray) -> None:
        of_near(X[:, near], out)
        X_far, others = X[:, far], np.empty_like(out)
        of_far(X_far.toarray() if sparse.issparse(X_far) else X_far, others)
        out += others

    return fill


def _far_columns(Z: Rows) -> np.ndarray:
    """Return the columns of a CSR matrix that vary little about a mean that is not zero."""
    full = np.flatnonzero(np.bincount(Z.indices, minlength=Z.shape[1]) == Z.shape[0])
    values = Z[:, full].toarray().astype(np.float64)
    return full[np.abs(values.mean(axis=0)) > _FAR * values.std(axis=0)]


def _differences(Z: Rows, dtype: type, factor: float) -> Filler:
    """The same from differences of inputs: slower, with all digits."""
    Z = as_dtype(Z, np.float64)

    def fill(X: Rows, out: np.ndarray) -> None:
        X = X.toarray() if sparse.issparse(X) else X
        out[...] = cdist(Z, as_dtype(X, np.float64), "sqeuclidean")
        out *= dtype(-factor)

    return fill


class _DistanceKernel(Kernel):
    """The exponential of a distance that kernels of all widths share."""

    units = 1

    def against(self, Z: Rows, dtype: type = np.float64) -> Filler:
        distances = self.shared_part(Z, dtype)

        def fill(X: Rows, out: np.ndarray) -> None:
            distances.fill(X, out)
            self.finish(out)

        return fill

    @abstractmethod
    def shared_part(self, Z: Rows, dtype: type = np.float64) -> SharedPart: ...

    def diag(self, X: Rows) -> np.ndarray:
        return np.ones(X.shape[0])


@register_kernel
@dataclass(frozen=True)
class Laplacian(_DistanceKernel):
    """``k(x, z) = exp(-gamma |x - z|_1)``."""

    gamma: float = 1.0

    other_names = ("exponential",)
    distance = "cityblock"

    def shared_part(self, Z: Rows, dtype: type = np.float64) -> SharedPart:
        Z = as_dtype(Z, np.float64)

        def fill(X: Rows, out: np.ndarray) -> None:
            X = as_dtype(X, np.float64)
            if sparse.issparse(Z) or sparse.issparse(X):
                out[...] = manhattan_distances(_with_short_indices(Z), _with_short_indices(X))
            elif out.dtype == np.float64:
                cdist(Z, X, "cityblock", out=out)
            else:
                out[...] = cdist(Z, X, "cityblock")

        return SharedPart("sums of absolute differences", fill)

    def finish(self, values: np.ndarray) -> None:
        values *= values.dtype.type(-self.gamma)
        exp_inplace(values)


def _with_short_indices(X: Rows) -> Rows:
    """Return a CSR matrix with the indices that scikit-learn's loop takes."""
    X = sparse.csr_matrix(X)
    indices, starts = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
    return sparse.csr_matrix((X.data, indices, starts), shape=X.shape)


@register_kernel
@dataclass(frozen=True)
class Chi2(_DistanceKernel):
    """``k(x, z) = exp(-gamma sum_i (x_i - z_i)^2 / (x_i + z_i))``, for histograms."""

    gamma: float = 1.0

    accepts_sparse = False
    non_negative = True
    distance = "chi2"

    def shared_part(self, Z: Rows, dtype: type = np.float64) -> SharedPart:
        Z = _non_negative(Z)

        def fill(X: Rows, out: np.ndarray) -> None:
            out[...] = additive_chi2_kernel(Z, _non_negative(X))

        return SharedPart("chi2 distances", fill)

    def finish(self, values: np.ndarray) -> None:
        values *= values.dtype.type(self.gamma)
        exp_inplace(values)


def _non_negative(X: np.ndarray) -> np.ndarray:
    if X.size and X.min() < 0:
        raise InvalidDataError(
            "Negative values in data: "
            f"kernel='chi2' compares histograms and needs values of at least 0; X has {X.min():g}. "
            "Shift or bin the data, or choose kernel='laplacian'."
        )
    X = np.ascontiguousarray(X, dtype=np.float64)
    return X if X.flags.writeable else X.copy()  # scikit-learn's loop refuses read-only memory
