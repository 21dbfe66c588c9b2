"""Squared distances: by a product where it keeps enough digits, otherwise by differences."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from .._compiled import AS_IT_IS, MOST_INPUTS, LineProduct, Profile, profile_inplace
from .base import (
    Filler,
    Rows,
    SharedPart,
    TiledFiller,
    as_dtype,
    inner_products,
    row_norms_squared,
)

_FAR = 4  # standard deviations from zero: squares then have more digits than distances
_PAIRS = 4096  # whose differences are taken at once


class Centre(NamedTuple):
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
            return SharedPart(self._name("csr"), self._of_csr(Z, dtype))
        centre = centre or Centre.from_landmarks(Z)
        eps = np.finfo(dtype).eps
        if width * centre.reach * eps > np.sqrt(eps):  # so narrow that rounded norms would show
            return SharedPart("exact squared distances", self._finished(self._differences(Z, dtype)))
        origin: np.ndarray = centre.origin.astype(dtype)  # rounded as the rows will see it
        near = self._near(centre.reach, dtype)
        if Z.shape[1] <= MOST_INPUTS:
            fill: Filler = self._augmented_product(Z, origin, near)
        else:
            steps = _product_and_norms(Z, origin, dtype, self.factor)

            def fill(X: Rows, out: np.ndarray) -> None:
                (self._of_csr(sparse.csr_matrix(Z), dtype) if sparse.issparse(X) else of_dense)(X, out)

            of_dense = self._finished(self._with_exact_near(steps, Z, near))
        return SharedPart(self._name(origin.tobytes()), fill)

    def _name(self, where: Hashable) -> Hashable:
        return "squared distances", where, self.exact_near

    def _near(self, reach: float, dtype: type) -> float:
        """Return the scaled squared distance below which norms lose more than half of the digits."""
        return float(np.finfo(dtype).eps ** 0.25 * reach * self.factor) if self.exact_near else 0.0

    def _finished(self, distances: Filler) -> Filler:
        def fill(X: Rows, out: np.ndarray) -> None:
            distances(X, out)
            profile_inplace(self.profile, out)

        return distances if self.profile is AS_IT_IS else fill

    def _augmented_product(self, Z: Rows, origin: np.ndarray, near: float) -> Filler:
        """Return the product of ``[2 factor z, -factor, -factor |z|^2]`` and ``[x, |x|^2, 1]``."""
        n_landmarks, n_inputs = Z.shape
        dtype, factor = origin.dtype.type, self.factor
        centred = Z - origin.astype(np.float64)
        left = np.empty((n_landmarks, n_inputs + 2), dtype)
        left[:, :n_inputs] = 2 * factor * centred
        left[:, n_inputs] = -factor
        left[:, n_inputs + 1] = -factor * row_norms_squared(centred)

        def fill_from_sparse(X: Rows, out: np.ndarray) -> None:
            self._of_csr(sparse.csr_matrix(Z), dtype)(X, out)

        return TiledFiller(LineProduct(left, origin, profile=self.profile, near=near), fill_from_sparse)

    def _of_csr(self, Z: Rows, dtype: type) -> Filler:
        """Return the filler for CSR rows; sums run in float64, since float32 would lose digits."""
        far = _far_columns(Z)
        exact, reach = _products_of_csr(Z, far, self.factor)
        distances = self._with_exact_near(exact, Z, self._near(reach, np.float64))

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
    full = np.flatnonzero(np.bincount(Z.indices, minlength=Z.shape[1]) == Z.shape[0])
    values = Z[:, full].toarray().astype(np.float64)
    return full[np.abs(values.mean(axis=0)) > _FAR * values.std(axis=0)]
