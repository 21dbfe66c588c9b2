"""The fast form: inner products of the lines, one symmetric product a block."""

from __future__ import annotations

import ctypes
from typing import Self

import numpy as np
from numba.extending import get_cython_function_address
from scipy.linalg import lapack

from .base import Statistic

# BLAS as scipy offers it to compiled code: other than scipy.linalg.blas it adds to what is there while
# the interpreter's lock is released, and other than numpy's product it leaves one half alone.
_dsyrk = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 10)(
    get_cython_function_address("scipy.linalg.cython_blas", "dsyrk")
)


class GramStatistic(Statistic):
    """``G = A'A`` for ``A = [1 | Y | columns]``.

    A factor of ``G`` is good to half the digits of float64: a column whose squared residual has
    fallen below about 1e-8 of its squared norm is no longer known well. :class:`CompensatedStatistic`
    does not have that limit and takes four or five times as long.
    """

    keeps_all_digits = False

    def __init__(self, n_lines: int) -> None:
        super().__init__(n_lines)
        self._half = np.zeros((n_lines, n_lines))  # below and on the diagonal

    @property
    def gram(self) -> np.ndarray:
        """The inner products of all lines."""
        return np.tril(self._half) + np.tril(self._half, -1).T

    def add_products(self, products: np.ndarray) -> None:
        """Take in the inner products of lines that are not at hand."""
        self._half += products

    def _absorb(self, lines: np.ndarray, weight: np.ndarray | None) -> None:
        if weight is not None:
            lines = lines * np.sqrt(weight)
        _add_products(np.ascontiguousarray(lines, np.float64), self._half)

    def _absorb_statistic(self, other: Self) -> None:
        self._half += other._half

    def _squared_norms(self) -> np.ndarray:
        return np.diagonal(self._half)

    def _factor(self) -> tuple[np.ndarray, np.ndarray]:
        gram = self.gram
        ones = gram[0] / np.sqrt(gram[0, 0])
        centred = gram[1:, 1:] - np.outer(ones[1:], ones[1:])
        if not np.isfinite(centred).all():
            return ones, centred  # nothing to factorise; the caller says why
        return ones, _pivoted_factor(centred)


def _add_products(lines: np.ndarray, half: np.ndarray) -> None:
    """Add ``lines @ lines.T`` to the half of a matrix below its diagonal."""
    n_lines, n_rows = lines.shape
    if lines.size == 0:
        return
    # BLAS counts columns first, so that it sees transposed lines, and the other half.
    sizes = [ctypes.c_int(size) for size in (n_lines, n_rows, n_rows, n_lines)]
    order, terms, lines_stride, half_stride = map(ctypes.byref, sizes)
    one, upper, transposed = (
        ctypes.byref(value)
        for value in (ctypes.c_double(1.0), ctypes.c_char(b"U"), ctypes.c_char(b"T"))
    )
    _dsyrk(
        upper,
        transposed,
        order,
        terms,
        one,
        lines.ctypes.data,
        lines_stride,
        one,
        half.ctypes.data,
        half_stride,
    )


def _pivoted_factor(gram: np.ndarray) -> np.ndarray:
    """Return R with ``R'R = gram`` and as many rows as ``gram`` has numerical rank."""
    # Unit diagonal first, so that a target in other units than the kernel is not taken for noise.
    norms = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    safe = np.where(norms > 0, norms, 1.0)
    scaled = gram / np.outer(safe, safe)
    factor, pivots, rank, info = lapack.dpstrf(scaled, lower=0)
    if info < 0:
        raise ValueError(f"dpstrf refused argument {-info}")  # not reached by valid input
    unpivoted = np.zeros((rank, len(gram)))
    unpivoted[:, pivots - 1] = np.triu(factor)[:rank]
    return unpivoted * norms
