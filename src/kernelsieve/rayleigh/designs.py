"""Kernel columns for least squares: weighted, centred over the samples, and as short as possible."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.linalg import qr

from .column_generation import COLUMNS_A_ROUND, Lines, ProgramColumns


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

    def __init__(self, columns: ProgramColumns, lines: Lines) -> None:
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

    def __init__(self, columns: ProgramColumns, lines: Lines) -> None:
        m, width = columns.shape[1], 1 + columns.shape[1] + lines.y.shape[1]
        factor = np.empty((0, width))
        for rows, values in columns.blocks():
            block = np.column_stack([lines.constant[rows], values, lines.y[rows]])
            block *= np.sqrt(lines.weight[rows, None])
            factor = np.vstack([factor, block])
            factor = qr(factor, mode="r", overwrite_a=True, check_finite=False)[0][:width]
        means = factor[0, 1:] / factor[0, 0]
        self._values, self._means = np.asfortranarray(factor[1:, 1 : m + 1]), means[:m]
        self.targets, self.target_means = factor[1:, m + 1 :], means[m:]

    def take(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._values[:, chosen], self._means[chosen]

    def prices(self, residuals: np.ndarray) -> np.ndarray:
        return np.asarray(2 * self._values.T @ residuals)
