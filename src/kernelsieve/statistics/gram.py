"""The fast form: inner products of the lines, one symmetric product a block."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.linalg import lapack

from .base import Statistic


class GramStatistic(Statistic):
    """``G = A'A`` for ``A = [1 | Y | columns]``.

    A factor of ``G`` is good to half the digits of float64: a column whose squared residual has
    fallen below about 1e-8 of its squared norm is no longer known well. :class:`TriangularStatistic`
    does not have that limit and costs several times as much.
    """

    keeps_all_digits = False

    def __init__(self, n_lines: int) -> None:
        super().__init__(n_lines)
        self.gram = np.zeros((n_lines, n_lines))

    def _absorb(self, lines: np.ndarray) -> None:
        # numpy sees one array with its transpose, calls syrk and releases the interpreter's lock
        self.gram += np.dot(lines, lines.T)

    def _absorb_statistic(self, other: Self) -> None:
        self.gram += other.gram

    def _factor(self) -> tuple[np.ndarray, np.ndarray]:
        ones = self.gram[0] / np.sqrt(self.gram[0, 0])
        centred = self.gram[1:, 1:] - np.outer(ones[1:], ones[1:])
        if not np.isfinite(centred).all():
            return ones, centred  # nothing to factorise; the caller says why
        return ones, _pivoted_factor(centred)


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
