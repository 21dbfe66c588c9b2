"""Columns that do not fit in memory, or are drawn at every step: evaluated for every product."""

from __future__ import annotations

from typing import Self

import numpy as np

from ..data import Batch, row_slices, rows_per_block, run_blocks
from ..kernels import Kernel, Rows
from .columns import TAKEN_VALUES, Columns, evaluated_columns


class RecomputedColumns(Columns):
    """Kernel columns that do not fit in memory: every product evaluates the kernel again.

    Where the points are rows of the batch, ``rows`` says which, and :attr:`diagonal` is read off the
    values of the first :meth:`scan` instead of being evaluated. Where there is ``memory`` for them,
    one line a column, the values of a pass are left there, and :meth:`take` finds them; they may be
    there already.
    """

    diagonal: np.ndarray
    #: Whether all values are in memory already.
    is_filled = False

    def __init__(
        self,
        batch: Batch,
        kernel: Kernel,
        points: Rows,
        *,
        center: bool,
        rows: np.ndarray | None = None,
        memory: np.ndarray | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self._batch = batch
        self._memory = memory
        self._points = points
        self._kernel = kernel
        self._fill = kernel.against(points)
        self.centred = center
        self._n_jobs = n_jobs
        self._root = batch.root_weight
        self._total = float(self._root @ self._root)
        self.shape = (len(batch), points.shape[0])
        self._rows = rows
        self.diagonal = np.zeros(0 if rows is None else len(rows))  # until rows are passed over
        self.means = np.zeros(self.shape[1])
        self.raw_squared_norms = np.zeros(self.shape[1])

    def scan(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self._pass(moments := _Moments(self, vectors, self._root))
        self.means = moments.mean
        self.raw_squared_norms = moments.squares + self._total * moments.mean**2
        squared_norms = moments.squares if self.centred else self.raw_squared_norms
        return squared_norms.copy(), self._centred(moments.products, vectors)

    def inner(self, vectors: np.ndarray) -> np.ndarray:
        self._pass(sums := _Products(self, vectors, self._root))
        return self._centred(sums.products, vectors)

    def take(self, chosen: np.ndarray) -> np.ndarray:
        if self._memory is None:
            known = self._batch, self._kernel, self._points[chosen]
            values = evaluated_columns(*known, np.float64, self._n_jobs)
        else:
            values = self._memory[chosen]
        self.means[chosen] = values @ self._root**2 / self._total
        if self.centred:
            values -= self.means[chosen, None]
        return (values * self._root).T

    def combined(self, chosen: np.ndarray, weights: np.ndarray) -> np.ndarray:
        if self._memory is not None or len(chosen) * self.shape[0] <= TAKEN_VALUES:
            return super().combined(chosen, weights)
        column = np.empty(self.shape[0])
        fill = self._kernel.against(self._points[chosen])

        def combine(rows: slice) -> None:
            block = np.empty((len(chosen), rows.stop - rows.start))
            fill(self._batch.X[rows], block)
            column[rows] = weights @ block

        slices = list(row_slices(self.shape[0], rows_per_block(len(chosen))))
        run_blocks(combine, slices, self._n_jobs)
        if self.centred:
            column -= column @ self._root**2 / self._total
        return column * self._root

    def narrowed(self, kept: np.ndarray) -> RecomputedColumns | None:
        if self.centred:  # about means over all rows
            return None
        batch, points, rows = self._batch[kept], self._points[kept], np.arange(len(kept))
        narrow = RecomputedColumns(
            batch, self._kernel, points, center=False, rows=rows, n_jobs=self._n_jobs
        )
        narrow.means, narrow.raw_squared_norms = self.means[kept], self.raw_squared_norms[kept]
        narrow.diagonal = self.diagonal[kept]
        return narrow

    def _centred(self, products: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """Turn products with the columns as they are into products with the centred ones."""
        if not self.centred:
            return products
        return products - np.multiply.outer(self.means, self._root @ vectors)

    def block(self, rows: slice) -> np.ndarray:
        """Evaluate some rows, one line a column, as they are."""
        if self._memory is not None and self.is_filled:
            block = self._memory[:, rows].copy()
        else:
            block = np.empty((self.shape[1], rows.stop - rows.start))
            self._fill(self._batch.X[rows], block)
            if self._memory is not None:
                self._memory[:, rows] = block
        if self._rows is not None:
            own = np.flatnonzero((self._rows >= rows.start) & (self._rows < rows.stop))
            self.diagonal[own] = block[own, self._rows[own] - rows.start]
        return block

    def _pass(self, sums: _Products) -> None:
        slices = list(row_slices(self.shape[0], rows_per_block(self.shape[1])))
        run_blocks(type(sums).add, slices, self._n_jobs, sums=sums)


class ColumnTable:
    """Kernel columns of samples, each evaluated over a batch when it is first asked for, and kept."""

    def __init__(self, batch: Batch, kernel: Kernel, X: Rows, n_jobs: int | None = None) -> None:
        self._batch, self._kernel, self._X, self._n_jobs = batch, kernel, X, n_jobs
        self._lines = np.empty((X.shape[0], len(batch)))
        self._is_known = np.zeros(X.shape[0], dtype=bool)

    @classmethod
    def if_it_fits(
        cls, max_memory: float, batch: Batch, kernel: Kernel, X: Rows, n_jobs: int | None
    ) -> ColumnTable | None:
        """Return a table of all samples, if there is memory for their columns."""
        return cls(batch, kernel, X, n_jobs) if 8 * X.shape[0] * len(batch) <= max_memory else None

    def lines(self, chosen: np.ndarray) -> np.ndarray:
        """Return the values of chosen samples, one line for each, as they are."""
        new = chosen[~self._is_known[chosen]]
        if len(new):
            points = self._kernel.points(self._X, new)
            known = self._batch, self._kernel, points
            self._lines[new] = evaluated_columns(*known, np.float64, self._n_jobs)
            self._is_known[new] = True
        return self._lines[chosen]

    def columns(self, chosen: np.ndarray, *, center: bool, own: bool) -> RecomputedColumns:
        """Return the columns of chosen samples, which may be the batch's own."""
        found = RecomputedColumns(
            self._batch,
            self._kernel,
            self._kernel.points(self._X, chosen),
            center=center,
            rows=chosen if own else None,
            memory=self.lines(chosen),
            n_jobs=self._n_jobs,
        )
        found.is_filled = True
        return found


class _Products:
    """Sums ``A' vectors`` over row blocks."""

    def __init__(self, columns: RecomputedColumns, vectors: np.ndarray, root: np.ndarray) -> None:
        self.products = np.zeros((columns.shape[1], *vectors.shape[1:]))
        self._columns, self._vectors, self._root = columns, vectors, root
        self._weighted = (vectors.T * root).T

    def empty(self) -> Self:
        """Return sums over no rows."""
        return type(self)(self._columns, self._vectors, self._root)

    def add(self, rows: slice) -> np.ndarray:
        """Add the products over a block of rows, and return the block."""
        block = self._columns.block(rows)
        self.products += block @ self._weighted[rows]
        return block

    def merge(self, other: Self) -> None:
        """Add what another thread has summed."""
        self.products += other.products


class _Moments(_Products):
    """Sums products, and means and squared deviations without cancellation (Chan et al., 1979)."""

    def __init__(self, columns: RecomputedColumns, vectors: np.ndarray, root: np.ndarray) -> None:
        super().__init__(columns, vectors, root)
        self.weight = 0.0
        self.mean = np.zeros(columns.shape[1])
        self.squares = np.zeros(columns.shape[1])

    def add(self, rows: slice) -> np.ndarray:
        block = super().add(rows)
        weight = self._root[rows] ** 2
        total = float(weight.sum())
        mean = block @ weight / total
        block -= mean[:, None]
        block *= block
        self._combine(total, mean, block @ weight)
        return block

    def merge(self, other: Self) -> None:
        super().merge(other)
        self._combine(other.weight, other.mean, other.squares)

    def _combine(self, weight: float, mean: np.ndarray, squares: np.ndarray) -> None:
        total = self.weight + weight
        gap = mean - self.mean
        self.squares += squares + gap**2 * (self.weight * weight / total)
        self.mean += gap * (weight / total)
        self.weight = total
