"""Laplacian and chi2 kernels, of the sums of absolute and of chi2 distances."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import additive_chi2_kernel, manhattan_distances

from .._compiled import absolute_differences, exp_inplace
from ..exceptions import InvalidDataError
from .base import Filler, Kernel, Rows, SharedPart, as_dtype
from .registry import register_kernel


class _DistanceKernel(Kernel):
    """The exponential of a distance that does not depend on the width."""

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
    """``k(x, z) = exp(-gamma |x - z|_1)``.

    Parameters
    ----------
    gamma : float, default=1.0
        Above 0; the larger, the narrower is the kernel.
    """

    gamma: float = 1.0

    other_names = ("exponential",)
    distance = "cityblock"

    def shared_part(self, Z: Rows, dtype: type = np.float64) -> SharedPart:
        Z = as_dtype(Z, np.float64)

        def fill(X: Rows, out: np.ndarray) -> None:
            X = as_dtype(X, np.float64)
            if sparse.issparse(Z) or sparse.issparse(X):
                out[...] = manhattan_distances(_with_short_indices(Z), _with_short_indices(X))
            else:
                absolute_differences(Z, X, out)

        return SharedPart("sums of absolute differences", fill)

    def finish(self, values: np.ndarray) -> None:
        values *= values.dtype.type(-self.gamma)
        exp_inplace(values)

    def sample_gradient(self, X: np.ndarray, Z: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        values, gradient = self.block(X, Z), np.empty((coefficients.shape[1], *X.shape))
        for i in range(X.shape[1]):  # one feature at a time: all would need a cube
            towards = np.sign(Z[:, i] - X[:, i, None])
            towards *= values
            gradient[:, :, i] = self.gamma * (towards @ coefficients).T
        return gradient


def _with_short_indices(X: Rows) -> Rows:
    """Return a CSR matrix with 32-bit indices, which scikit-learn's loop needs."""
    X = sparse.csr_matrix(X)
    indices, starts = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
    return sparse.csr_matrix((X.data, indices, starts), shape=X.shape)


@register_kernel
@dataclass(frozen=True)
class Chi2(_DistanceKernel):
    """``k(x, z) = exp(-gamma sum_i (x_i - z_i)^2 / (x_i + z_i))``, for histograms.

    Parameters
    ----------
    gamma : float, default=1.0
        Above 0; the larger, the narrower is the kernel.
    """

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
