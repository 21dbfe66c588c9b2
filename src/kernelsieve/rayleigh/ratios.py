"""Maximise ratios of two quadratic forms: pure functions on arrays.

Forms are given by factors: F stands for ``F'F``. Factors keep the digits that products lose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, qr, solve_triangular, svd

from ..deflation import leading_eigenpairs

_DEPENDENT = 1e-12  # of the largest: a smaller pivot belongs to a column that others combine to
_SMALL_NUMERATOR = 0.25  # of the columns: up to so many rows the singular values are found directly


@dataclass(frozen=True)
class Denominator:
    """A factorised quadratic form, on its linearly independent columns."""

    triangle: np.ndarray  # R with R'R the form on these columns
    kept: np.ndarray  # which columns they are
    n_columns: int

    @property
    def largest(self) -> float:
        """The largest eigenvalue, approximated by a few products."""
        vector, size = np.ones(len(self.triangle)), float(len(self.triangle))
        for _ in range(20):
            if size > 0:
                vector = self.triangle.T @ (self.triangle @ (vector / size))
                size = float(np.linalg.norm(vector))
        return size

    def whiten(self, factor: np.ndarray) -> np.ndarray:
        """Return ``F R^-1``: a form in coordinates in which this one is the identity."""
        return solve_triangular(self.triangle, factor[:, self.kept].T, trans="T").T

    def directions(self, vectors: np.ndarray) -> np.ndarray:
        """Convert whitened coordinates to combinations of the columns."""
        alpha = np.zeros((self.n_columns, vectors.shape[1]))
        alpha[self.kept] = solve_triangular(self.triangle, vectors)
        return alpha


def factorise(factors: Sequence[np.ndarray], *, squared: bool = False) -> Denominator:
    """Factorise a sum of forms; linearly dependent columns are dropped.

    ``squared`` goes by products, faster, for factors that come from products themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.ratios import factorise
    >>> factorise([np.array([[1.0, 1.0], [0.0, 0.0]])]).kept
    array([0])
    """
    n_columns = factors[0].shape[1]
    everyone = np.arange(n_columns)
    if squared:
        try:
            form = sum(factor.T @ factor for factor in factors)
            return Denominator(cholesky(form, overwrite_a=True), everyone, n_columns)
        except LinAlgError:
            pass  # nearly dependent columns: by factors, then
    stacked = np.vstack(factors)
    triangle = np.asarray(np.linalg.qr(stacked, mode="r"))
    sizes = np.abs(np.diagonal(triangle))
    if len(triangle) == n_columns and sizes.min() > _DEPENDENT * sizes.max():
        return Denominator(triangle, everyone, n_columns)
    triangle, pivots = qr(stacked, mode="r", pivoting=True, check_finite=False)
    sizes = np.abs(np.diagonal(triangle))
    rank = int(np.count_nonzero(sizes > _DEPENDENT * sizes.max(initial=0.0)))
    # Sorted, so that columns keep their order; the triangle is made anew for that order.
    kept = np.sort(pivots[:rank]).astype(np.intp)
    return Denominator(np.asarray(np.linalg.qr(stacked[:, kept], mode="r")), kept, n_columns)


def largest_ratios(
    numerator: np.ndarray, denominator: Denominator, n_components: int, tol: float = 1e-10
) -> tuple[np.ndarray, np.ndarray]:
    """Return directions (c, k) with the largest ratios, and the ratios, largest first.

    The generalised eigenvectors of both forms, of unit length in the denominator. Ratios below
    ``tol`` times the largest are noise, and are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.ratios import factorise, largest_ratios
    >>> directions, ratios = largest_ratios(np.diag([1.0, 3.0]), factorise([np.diag([1.0, 2.0])]), 2)
    >>> ratios
    array([2.25, 1.  ])
    """
    whitened = denominator.whiten(numerator)
    if len(whitened) <= _SMALL_NUMERATOR * whitened.shape[1]:
        _, sizes, vectors = svd(whitened, full_matrices=False, check_finite=False)
        ratios, vectors = sizes[:n_components] ** 2, vectors[:n_components].T
    else:
        ratios, vectors = leading_eigenpairs(whitened.T @ whitened, n_components)
    found = ratios > tol * ratios.max(initial=0.0)
    return denominator.directions(vectors[:, found]), ratios[found]


def one_against_rest(
    columns: np.ndarray, targets: np.ndarray, denominator: Denominator
) -> tuple[np.ndarray, np.ndarray]:
    """Return for each target the direction that separates it from the rest, with its ratio.

    ``denominator`` holds the total scatter of the (centred) columns where the Fisher criterion has
    the scatter within both sides. They differ by the numerator itself, which changes the length of
    the solution and not its direction, so one factorisation serves all targets. Directions are scaled
    so that the means of both sides differ by 2.
    """
    lengths = np.linalg.norm(targets, axis=0)
    between = columns.T @ (targets / lengths)  # the numerator is the square of this, for each target
    whitened = denominator.whiten(between.T)
    of_total = np.einsum("qc,qc->q", whitened, whitened)  # ratio to the total scatter, below 1
    if not (of_total > 0).any():
        return np.empty((columns.shape[1], 0)), np.empty(0)
    # The length that the ratio's own denominator would give is lost by rounding where classes are
    # separated well; the distance of the means is not.
    alpha = denominator.directions(whitened.T) * (2 * lengths / np.maximum(of_total, 1e-300))
    return alpha, of_total / np.maximum(1 - of_total, np.finfo(float).eps)
