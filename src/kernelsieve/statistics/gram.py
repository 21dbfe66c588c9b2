"""The fast form: inner products of the lines, one symmetric product a block."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.linalg import lapack

from .._compiled import add_squares
from .arrays import packed, unpacked
from .base import Statistic


class GramStatistic(Statistic):
    """``G = A'A`` for ``A = [1 | Y | columns]``.

    A factor of ``G`` is good to half the digits of float64: a column whose squared residual has
    fallen below about 1e-8 of its squared norm is no longer known well. :class:`TriangularStatistic`
    does not have that limit and takes about twice as long.
    """

    keeps_all_digits = False
    _least_left = 1e-8

    def __init__(self, n_lines: int, n_classes: int = 0) -> None:
        super().__init__(n_lines, n_classes)
        self._half = np.zeros((n_lines, n_lines))  # below and on the diagonal

    @property
    def gram(self) -> np.ndarray:
        """The inner products of all lines."""
        return np.tril(self._half) + np.tril(self._half, -1).T

    def __getstate__(self) -> dict[str, Any]:
        """Send half of a symmetric matrix to other processes."""
        return vars(self) | {"_half": packed(self._half)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._half = unpacked(state["_half"], self.n_lines)

    def products(self, combinations: np.ndarray) -> np.ndarray:
        """Return the inner products of combinations of the lines, one in each column."""
        return combinations.T @ self.gram @ combinations

    def _absorb(self, lines: np.ndarray, weight: np.ndarray | None) -> None:
        if weight is not None:
            lines = lines * np.sqrt(weight)
        add_squares(np.ascontiguousarray(lines, np.float64), self._half)

    def _absorb_statistic(self, other: Self) -> None:
        self._half += other._half

    def _take_out(self, other: Self) -> None:
        self._half -= other._half

    def _multiply(self, factor: float) -> None:
        self._half *= factor

    def _to_arrays(self) -> dict[str, np.ndarray]:
        return {"products": packed(self._half)}

    def _take_arrays(self, arrays: dict[str, np.ndarray]) -> None:
        self._half = unpacked(arrays["products"], self.n_lines)

    def _squared_norms(self) -> np.ndarray:
        return np.diagonal(self._half)

    def _factor(self) -> tuple[np.ndarray, np.ndarray]:
        return factor_about_ones(self.gram)

    def _factor_within(self, means: np.ndarray, between: np.ndarray) -> np.ndarray:
        gram = self.gram
        return factor_within(gram[1:, 1:] - gram[0, 0] * np.outer(means, means), between)


def factor_about_ones(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a factor of inner products: its first row, and the others less their first column."""
    ones = gram[0] / np.sqrt(gram[0, 0])
    centred = gram[1:, 1:] - np.outer(ones[1:], ones[1:])
    if not np.isfinite(centred).all():
        return ones, centred  # nothing to factorise; the caller says why
    return ones, _pivoted_factor(centred)


def factor_within(centred: np.ndarray, between: np.ndarray) -> np.ndarray:
    """Return a factor of what the scatter of class means leaves of that of all samples."""
    if not np.isfinite(centred).all():
        return centred
    return _pivoted_factor(centred - between.T @ between, np.diagonal(centred))


def _pivoted_factor(gram: np.ndarray, squares: np.ndarray | None = None) -> np.ndarray:
    """Return R with ``R'R = gram`` and as many rows as ``gram`` has numerical rank.

    Rounding is relative to ``squares``, where these are not the diagonal.
    """
    # Unit diagonal first, so that a target in other units than the kernel is not taken for noise.
    norms = np.sqrt(np.maximum(np.diagonal(gram) if squares is None else squares, 0.0))
    safe = np.where(norms > 0, norms, 1.0)
    scaled = gram / np.outer(safe, safe)
    tol = len(gram) * np.finfo(np.float64).eps
    factor, pivots, rank, info = lapack.dpstrf(scaled, lower=0, tol=tol)
    if info < 0:
        raise ValueError(f"dpstrf refused argument {-info}")  # not reached by valid input
    unpivoted = np.zeros((rank, len(gram)))
    unpivoted[:, pivots - 1] = np.triu(factor)[:rank]
    return unpivoted * norms
