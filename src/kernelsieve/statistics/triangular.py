"""The safe form: the triangular factor itself, updated by QR factorisations (TSQR)."""

from __future__ import annotations

from typing import Self

import numpy as np

from .base import Statistic
from .gram import GramStatistic


class TriangularStatistic(Statistic):
    """The factor R of ``A = Q R`` for ``A = [1 | Y | columns]``, with all digits of float64.

    Rows wait until there are as many as columns: a factorisation for every single row would cost the
    cube of the number of columns each time.
    """

    keeps_all_digits = True

    def __init__(self, n_lines: int) -> None:
        super().__init__(n_lines)
        self._triangle = np.zeros((0, n_lines))
        self._waiting: list[np.ndarray] = []

    def squared(self) -> GramStatistic:
        """Return the fast form of the same rows."""
        self._fold()
        gram = GramStatistic(self.n_lines)
        gram.update(self._triangle.T, self.trace)
        gram.n_rows = self.n_rows
        return gram

    def _absorb(self, lines: np.ndarray) -> None:
        self._wait(lines.T.copy())

    def _absorb_statistic(self, other: Self) -> None:
        self._wait(other._triangle, *other._waiting)

    def _wait(self, *rows: np.ndarray) -> None:
        self._waiting += rows
        if sum(map(len, self._waiting)) >= self.n_lines:
            self._fold()

    def _fold(self) -> None:
        if self._waiting:
            stacked = np.vstack([self._triangle, *self._waiting])
            self._triangle = np.asarray(np.linalg.qr(stacked, mode="r"))
            self._waiting = []

    def _squared_norms(self) -> np.ndarray:
        norms = [np.einsum("nl,nl->l", rows, rows) for rows in (self._triangle, *self._waiting)]
        return np.sum(norms, axis=0)

    def _factor(self) -> tuple[np.ndarray, np.ndarray]:
        self._fold()
        triangle = self._triangle * (1.0 if self._triangle[0, 0] >= 0 else -1.0)
        return triangle[0], triangle[1:, 1:]
