"""Kernels of the inner product: linear, polynomial, sigmoid, cosine."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from .._compiled import MOST_INPUTS, LineProduct
from ..exceptions import KernelError
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


@register_kernel
@dataclass(frozen=True)
class Linear(Kernel):
    """``k(x, z) = x'z``."""

    def against(self, Z: Rows, dtype: type = np.float64) -> Filler:
        Z = as_dtype(Z, dtype)

        def fill(X: Rows, out: np.ndarray) -> None:
            inner_products(Z, as_dtype(X, dtype), out)

        if sparse.issparse(Z) or Z.shape[1] > MOST_INPUTS:
            return fill
        return LineProduct(Z, of_sparse=fill)

    def diag(self, X: Rows) -> np.ndarray:
        return row_norms_squared(as_dtype(X, np.float64))

    def landmark_gradient(
        self, X: Rows, Z: np.ndarray, values: np.ndarray, slopes: np.ndarray
    ) -> np.ndarray:
        return np.asarray((as_dtype(X, np.float64).T @ slopes).T)

    def sample_gradient(self, X: np.ndarray, Z: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        return np.repeat((coefficients.T @ Z)[:, None], len(X), axis=1)


class _AffineProductKernel(Kernel):
    """A function of ``gamma x'z + coef0``."""

    gamma: float
    coef0: float

    @abstractmethod
    def _apply(self, values: np.ndarray) -> None:
        """Convert values of ``gamma x'z + coef0`` to kernel values, in place."""

    def against(self, Z: Rows, dtype: type = np.float64) -> Filler:
        inner = Linear().against(Z * dtype(self.gamma), dtype)

        def fill(X: Rows, out: np.ndarray) -> None:
            inner(X, out)
            out += dtype(self.coef0)
            self._apply(out)

        return fill

    def shared_part(self, Z: Rows, dtype: type = np.float64) -> SharedPart | None:
        return SharedPart("inner products", Linear().against(Z, dtype)) if is_worth_caching(Z) else None

    def finish(self, values: np.ndarray) -> None:
        values *= values.dtype.type(self.gamma)
        values += values.dtype.type(self.coef0)
        self._apply(values)


@register_kernel
@dataclass(frozen=True)
class Polynomial(_AffineProductKernel):
    """``k(x, z) = (gamma x'z + coef0) ** degree``.

    Parameters
    ----------
    gamma : float, default=1.0
        Factor of the inner product.
    degree : float, default=3
        The power.
    coef0 : float, default=1.0
        Added to the product: the larger, the more small powers count.
    """

    gamma: float = 1.0
    degree: float = 3
    coef0: float = 1.0

    name = "poly"
    other_names = ("polynomial",)

    def _apply(self, values: np.ndarray) -> None:
        _power_inplace(values, self.degree)

    def diag(self, X: Rows) -> np.ndarray:
        return (self.gamma * Linear().diag(X) + self.coef0) ** self.degree

    def landmark_gradient(
        self, X: Rows, Z: np.ndarray, values: np.ndarray, slopes: np.ndarray
    ) -> np.ndarray:
        outer = slopes * self._slopes(X, Z)
        return self.gamma * np.asarray((as_dtype(X, np.float64).T @ outer).T)

    def sample_gradient(self, X: np.ndarray, Z: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        slopes = self.gamma * self._slopes(X, Z)
        return np.stack([slopes @ (alpha[:, None] * Z) for alpha in coefficients.T])

    def _slopes(self, X: Rows, Z: np.ndarray) -> np.ndarray:
        """Return the derivatives of the power by its base."""
        inner = np.asarray(as_dtype(X, np.float64) @ Z.T) * self.gamma + self.coef0
        return self.degree * inner ** (self.degree - 1)


@register_kernel
@dataclass(frozen=True)
class Sigmoid(_AffineProductKernel):
    """``k(x, z) = tanh(gamma x'z + coef0)``; not positive definite for every parameter.

    Parameters
    ----------
    gamma : float, default=1.0
        Factor of the inner product.
    coef0 : float, default=1.0
        Added to the product.
    """

    gamma: float = 1.0
    coef0: float = 1.0

    other_names = ("tanh",)

    def _apply(self, values: np.ndarray) -> None:
        np.tanh(values, out=values)

    def diag(self, X: Rows) -> np.ndarray:
        return np.tanh(self.gamma * Linear().diag(X) + self.coef0)


@register_kernel
@dataclass(frozen=True)
class Cosine(Kernel):
    """``k(x, z) = x'z / (|x| |z|)``; zero rows have similarity 0 with everything."""

    def against(self, Z: Rows, dtype: type = np.float64) -> Filler:
        def directions(X: Rows) -> Rows:  # float32 may not hold X itself
            wider = np.promote_types(X.dtype, dtype).type
            return as_dtype(unit_rows(as_dtype(X, wider)), dtype)

        inner = Linear().against(directions(Z), dtype)
        return lambda X, out: inner(directions(X), out)

    def diag(self, X: Rows) -> np.ndarray:
        return (_largest(X) > 0).astype(np.float64)


def unit_rows(X: Rows) -> Rows:
    """Scale rows to unit length; scikit-learn takes short dense rows for zeros."""
    squares = row_norms_squared(X)
    info = np.finfo(squares.dtype)
    has_digits = (squares > info.tiny / info.eps) & (squares < np.inf)
    if not has_digits.all():
        X = _divided(X, np.where(has_digits, 1, _largest(X)))
        squares = row_norms_squared(X)
    if sparse.issparse(X):
        return normalize(X)
    norms = np.sqrt(squares)
    return X / np.where(norms > 0, norms, 1)[:, None]


def _largest(X: Rows) -> np.ndarray:
    """Return the largest absolute value of each row."""
    if sparse.issparse(X):
        return abs(X).max(axis=1).toarray().ravel()
    return np.abs(X).max(axis=1, initial=0)


def _divided(X: Rows, by: np.ndarray) -> Rows:
    """Divide rows by numbers, except by 0."""
    divisors = np.where(by > 0, by, 1).astype(X.dtype)
    if not sparse.issparse(X):
        return X / divisors[:, None]
    X = X.copy()
    X.data /= np.repeat(divisors, np.diff(X.indptr))
    return X


def _power_inplace(values: np.ndarray, degree: float) -> None:
    """Raise to a power in place; small integer powers by multiplication, which is many times faster."""
    if degree != int(degree) and values.size and values.min() < 0:
        raise KernelError(
            f"degree={degree} of a negative number, gamma x'z + coef0 = {values.min():g}, is not a "
            "number; pass a whole degree, or raise coef0."
        )
    if degree != int(degree) or not 1 <= degree <= 16:
        np.power(values, values.dtype.type(degree), out=values)
        return
    base = values.copy()
    for bit in bin(int(degree))[3:]:  # the binary digits after the leading one
        values *= values
        if bit == "1":
            values *= base
