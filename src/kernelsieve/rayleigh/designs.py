"""Kernel columns for least squares: weighted, centred over the samples, and as short as possible."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.linalg import qr

from ..rows import row_slices
from .column_generation import COLUMNS_A_ROUND, Lines, PricedColumns, SolverColumns

_MOST_VALUES = 2**24  # that a reduced design may have: 128 MB
_BLOCKS = 4  # of rows at once, in sizes of the factor, so that little work is spent on the factor again


class Design(Protocol):
    """Columns and targets of least squares with a free constant, which centring takes out.

    Attributes
    ----------
    targets : ndarray of shape (n_rows, n_outputs)
        Weighted and centred.
    target_means : ndarray of shape (n_outputs,)
        What centring took from them.
    columns_a_round : int
        How many columns a solver should take at once.
    """

    columns_a_round: int
    targets: np.ndarray
    target_means: np.ndarray

    def take(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the chosen columns, (n_rows, len(chosen)), and what centring took from them."""

    def prices(self, residuals: np.ndarray) -> np.ndarray:
        """Return the slopes of the sum of squares along every column, (n_columns, ...)."""


class CentredColumns:
    """Columns that are evaluated when they are asked for."""

    columns_a_round = COLUMNS_A_ROUND

    def __init__(self, columns: SolverColumns, lines: Lines) -> None:
        self._columns = columns
        self._lines = lines
        self._root = np.sqrt(lines.weight)
        self.targets, self.target_means = lines.centred(lines.y, lines.weight)

    def take(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._lines.centred(self._columns.take(chosen), self._lines.weight)

    def prices(self, residuals: np.ndarray) -> np.ndarray:
        return self._columns.prices(2 * (residuals.T * self._root).T)


class ReducedColumns:
    """All columns at once, by the triangular factor of them and the targets.

    An orthogonal transformation of the rows changes no sum of squares. Behind the column of ones the
    factor has the centred columns, and its first row has their means. It is found from blocks of
    samples in one pass, which many classes share. Inner products of the columns would have half the
    digits only.
    """

    columns_a_round = 3 * COLUMNS_A_ROUND  # they are in memory anyway

    def __init__(self, columns: PricedColumns, lines: Lines, factors: np.ndarray | None) -> None:
        n_columns, width = columns.shape[1], 1 + columns.shape[1] + lines.y.shape[1]
        factor = np.empty((0, width))
        for rows in row_slices(columns.shape[0], _BLOCKS * width):
            block = np.column_stack([lines.constant[rows], columns.block(rows), lines.y[rows]])
            block *= np.sqrt(lines.weight[rows, None])
            factor = np.vstack([factor, block])
            factor = qr(factor, mode="r", overwrite_a=True, check_finite=False)[0][:width]
        means = factor[0, 1:] / factor[0, 0]
        scale = np.ones(n_columns) if factors is None else factors
        self._values = np.asfortranarray(factor[1:, 1 : n_columns + 1] * scale)
        self._means = means[:n_columns] * scale
        self.targets, self.target_means = factor[1:, n_columns + 1 :], means[n_columns:]

    @staticmethod
    def fits(columns: PricedColumns) -> bool:
        """Return whether the factor is of moderate size."""
        return min(columns.shape) * columns.shape[1] <= _MOST_VALUES

    def take(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._values[:, chosen], self._means[chosen]

    def prices(self, residuals: np.ndarray) -> np.ndarray:
        return np.asarray(2 * self._values.T @ residuals)
