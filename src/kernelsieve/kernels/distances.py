"""Kernels of a distance: rbf, laplacian, chi2."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import additive_chi2_kernel, manhattan_distances

from ..exceptions import InvalidDataError
from .base import (
    Filler,
    Kernel,
    Rows,
    SharedPart,
    as_dtype,
    inner_products,
    product_pays,
    row_norms_squared,
)
from .fast_exp import exp_inplace


@njit(nogil=True, fastmath={"reassoc", "contract"})
def _move_and_append_norms(X, origin, out):  # type: ignore[no-untyped-def]
    """Write ``[x - origin, |x - origin|^2, 1]`` for every row, reading each number once."""
    n_rows, n_inputs = X.shape
    for i in range(n_rows):
        total = out.dtype.type(0)
        for j in range(n_inputs):
            moved = out.dtype.type(X[i, j] - origin[j])
            out[i, j] = moved
            total += moved * moved
        out[i, n_inputs] = total
        out[i, n_inputs + 1] = 1


@dataclass(frozen=True)
class RBF(Kernel):
    """``k(x, z) = exp(-gamma |x - z|^2)``."""

    gamma: float = 1.0

    def against(self, Z: Rows, dtype: type = np.float64) -> Filler:
        exponents = self._exponents(Z, dtype, self.gamma)

        def fill(X: Rows, out: np.ndarray) -> None:
            exponents.fill(X, out)
            exp_inplace(out, at_most=0.0)

        return fill

    def shared_part(self, Z: Rows, dtype: type = np.float64) -> SharedPart | None:
        return self._exponents(Z, dtype, 1.0) if product_pays(Z) else None

    def finish(self, values: np.ndarray) -> None:
        values *= values.dtype.type(self.gamma)
        exp_inplace(values, at_most=0.0)

    def _exponents(self, Z: Rows, dtype: type, factor: float) -> SharedPart:
        """Prepare ``-factor |x - z|^2``, in the way that suits this kernel's width."""
        if sparse.issparse(Z):
            return SharedPart("squared distances", _by_sparse_products(Z, dtype, factor))
        # -factor |x - z|^2 = [2 factor z, -factor, -factor |z|^2] [x, |x|^2, 1]': one matrix product.
        # Moving the origin to the mean changes no distance and keeps the norms, and so the digits
        # lost when they cancel, small.
        n_landmarks, n_inputs = Z.shape
        # (rounded as the rows will see it, or landmarks and rows would be moved by different amounts)
        origin = Z.mean(axis=0, dtype=np.float64).astype(dtype).astype(np.float64)
        centred = Z - origin
        norms = row_norms_squared(centred)
        eps = np.finfo(dtype).eps
        if self.gamma * norms.max(initial=0.0) * eps > np.sqrt(eps):
            return SharedPart("exact squared distances", _by_differences(Z, dtype, factor))
        left = np.empty((n_landmarks, n_inputs + 2), dtype)
        left[:, :n_inputs] = 2 * factor * centred
        left[:, n_inputs] = -factor
        left[:, n_inputs + 1] = -factor * norms
        origin_in_dtype = origin.astype(dtype)

        def fill(X: Rows, out: np.ndarray) -> None:
            if sparse.issparse(X):
                _by_sparse_products(sparse.csr_matrix(Z), dtype, factor)(X, out)
                return
            right = np.empty((X.shape[0], n_inputs + 2), dtype)
            _move_and_append_norms(np.asarray(X), origin_in_dtype, right)
            np.dot(left, right.T, out=out)

        return SharedPart("squared distances", fill)

    def diag(self, X: Rows) -> np.ndarray:
        return np.ones(X.shape[0])


def _by_differences(Z: Rows, dtype: type, factor: float) -> Filler:
    """A kernel so narrow that rounding of the norms would show: slower, with all digits."""
    Z = as_dtype(Z, np.float64)

    def fill(X: Rows, out: np.ndarray) -> None:
        X = X.toarray() if sparse.issparse(X) else X
        out[...] = cdist(Z, as_dtype(X, np.float64), "sqeuclidean")
        out *= dtype(-factor)

    return fill


def _by_sparse_products(Z: Rows, dtype: type, factor: float) -> Filler:
    # Moving the origin would fill the zeros in, so the norms are used as they are.
    Z = as_dtype(Z, dtype)
    norms = row_norms_squared(Z)

    def fill(X: Rows, out: np.ndarray) -> None:
        X = as_dtype(X, dtype)
        inner_products(Z, X, out)
        out *= dtype(2)
        out -= norms[:, None]
        out -= row_norms_squared(X)[None, :]
        out *= dtype(factor)

    return fill


@dataclass(frozen=True)
class Laplacian(Kernel):
    """``k(x, z) = exp(-gamma |x - z|_1)``."""

    gamma: float = 1.0

    def against(self, Z: Rows, dtype: type = np.float64) -> Filler:
        distances = self.shared_part(Z, dtype)

        def fill(X: Rows, out: np.ndarray) -> None:
            distances.fill(X, out)
            self.finish(out)

        return fill

    def shared_part(self, Z: Rows, dtype: type = np.float64) -> SharedPart:
        Z = as_dtype(Z, np.float64)

        def fill(X: Rows, out: np.ndarray) -> None:
            X = as_dtype(X, np.float64)
            if sparse.issparse(Z) or sparse.issparse(X):
                out[...] = manhattan_distances(sparse.csr_matrix(Z), sparse.csr_matrix(X))
            elif out.dtype == np.float64:
                cdist(Z, X, "cityblock", out=out)
            else:
                out[...] = cdist(Z, X, "cityblock")

        return SharedPart("sums of absolute differences", fill)

    def finish(self, values: np.ndarray) -> None:
        values *= values.dtype.type(-self.gamma)
        exp_inplace(values)

    def diag(self, X: Rows) -> np.ndarray:
        return np.ones(X.shape[0])


@dataclass(frozen=True)
class Chi2(Kernel):
    """``k(x, z) = exp(-gamma sum_i (x_i - z_i)^2 / (x_i + z_i))``, for histograms."""

    gamma: float = 1.0

    accepts_sparse = False

    def against(self, Z: Rows, dtype: type = np.float64) -> Filler:
        distances = self.shared_part(Z, dtype)

        def fill(X: Rows, out: np.ndarray) -> None:
            distances.fill(X, out)
            self.finish(out)

        return fill

    def shared_part(self, Z: Rows, dtype: type = np.float64) -> SharedPart:
        Z = _non_negative(Z)

        def fill(X: Rows, out: np.ndarray) -> None:
            out[...] = additive_chi2_kernel(Z, _non_negative(X))

        return SharedPart("chi2 distances", fill)

    def finish(self, values: np.ndarray) -> None:
        values *= values.dtype.type(self.gamma)
        exp_inplace(values)

    def diag(self, X: Rows) -> np.ndarray:
        return np.ones(X.shape[0])


def _non_negative(X: np.ndarray) -> np.ndarray:
    if X.size and X.min() < 0:
        raise InvalidDataError(
            f"kernel='chi2' compares histograms and needs values of at least 0; X has {X.min():g}. "
            "Shift or bin the data, or choose kernel='laplacian'."
        )
    X = np.ascontiguousarray(X, dtype=np.float64)
    return X if X.flags.writeable else X.copy()  # scikit-learn's loop refuses read-only memory
