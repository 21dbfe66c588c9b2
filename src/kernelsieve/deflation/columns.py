"""Candidate columns as the loop sees them: stored, or evaluated anew for every product."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Self

import numpy as np

from ..data import Batch, row_slices, rows_per_block, run_blocks
from ..kernels import Kernel, Rows

_TAKEN_VALUES = 2**20  # of columns that are copied at once


class Columns(ABC):
    """The N x C matrix A of candidate columns: weighted, and centred where that was asked."""

    shape: tuple[int, int]
    #: Whether the means have been subtracted.
    centred: bool
    #: Weighted mean of each column before centring.
    means: np.ndarray
    #: Squared norm of each column before centring, against which a centred column is noise.
    raw_squared_norms: np.ndarray
    #: What a ridge adds to the squared norms.
    ridge: float = 0.0

    @abstractmethod
    def scan(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the squared norms of the columns and ``A' vectors``, from one evaluation of A."""

    @abstractmethod
    def inner(self, vectors: np.ndarray) -> np.ndarray:
        """Return ``A' vectors``."""

    @abstractmethod
    def take(self, chosen: np.ndarray) -> np.ndarray:
        """Return the chosen columns as a float64 (N, len(chosen)) array of its own."""

    def combined(self, chosen: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the combination of the chosen columns by weights, (N,)."""
        if len(chosen) == 1:
            return self.take(chosen)[:, 0] * weights[0]
        column = np.zeros(self.shape[0])
        for some in row_slices(len(chosen), max(1, _TAKEN_VALUES // self.shape[0])):
            column += self.take(chosen[some]) @ weights[some]
        return column

    def residual_squared_norms(
        self, chosen: np.ndarray, features: np.ndarray, coefficients: np.ndarray, counts: np.ndarray
    ) -> np.ndarray:
        """Return the squared norms of ``A - features @ coefficients'`` over the rows that count."""
        squares = np.empty(len(chosen))
        for some in row_slices(len(chosen), max(1, _TAKEN_VALUES // self.shape[0])):
            residual = self.take(chosen[some])
            residual -= features @ coefficients[some].T
            residual *= counts[:, None]
            squares[some] = np.einsum("ij,ij->j", residual, residual)
        return squares

    def narrowed(self, kept: np.ndarray) -> Columns | None:
        """Return the kept rows of the kept columns, or None where that is no cheaper."""
        return None


class StoredColumns(Columns):
    """A dense array, float64 or float32."""

    def __init__(
        self,
        values: np.ndarray,
        means: np.ndarray,
        raw_squared_norms: np.ndarray | None = None,
        *,
        centred: bool,
    ) -> None:
        self.values = values
        self.centred = centred
        self.shape = (values.shape[0], values.shape[1])
        self.means = means
        self._squared_norms = np.einsum("ij,ij->j", values, values, dtype=np.float64)
        self.raw_squared_norms = self._squared_norms if raw_squared_norms is None else raw_squared_norms

    def scan(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._squared_norms.copy(), self.inner(vectors)

    def inner(self, vectors: np.ndarray) -> np.ndarray:
        # In the precision of the store: numpy would otherwise convert the whole of it first.
        product = self.values.T @ vectors.astype(self.values.dtype, copy=False)
        return product.astype(np.float64, copy=False)

    def take(self, chosen: np.ndarray) -> np.ndarray:
        return self.values.T[chosen].astype(np.float64, copy=False).T

    def narrowed(self, kept: np.ndarray) -> StoredColumns:
        values = self.values.T[np.ix_(kept, kept)].T
        return StoredColumns(
            values, self.means[kept], self.raw_squared_norms[kept], centred=self.centred
        )


def store_columns(
    batch: Batch,
    kernel: Kernel,
    points: Rows,
    *,
    center: bool,
    dtype: type = np.float64,
    n_jobs: int | None = None,
) -> StoredColumns:
    """Evaluate the kernel once and keep all values."""
    lines = _evaluated(batch, kernel, points, dtype, n_jobs)
    root = batch.root_weight
    total = float(root @ root)
    means = np.empty(lines.shape[0])

    def settle(some: slice) -> None:
        part = lines[some]
        means[some] = part @ (root**2) / total
        if center:
            part -= means[some, None].astype(dtype)
        if batch.weight is not None:
            part *= root.astype(dtype)

    run_blocks(settle, list(row_slices(len(lines), rows_per_block(lines.shape[1]))), n_jobs)
    columns = StoredColumns(lines.T, means, centred=center)
    columns.raw_squared_norms = columns.raw_squared_norms + center * total * means**2
    return columns


def _evaluated(
    batch: Batch, kernel: Kernel, points: Rows, dtype: type, n_jobs: int | None
) -> np.ndarray:
    """Return the columns of points as lines, each contiguous."""
    lines = np.empty((points.shape[0], len(batch)), dtype)
    fill = kernel.against(points, dtype)

    def fill_rows(rows: slice) -> None:
        whole = rows.stop - rows.start == len(batch)
        block = lines if whole else np.empty((len(lines), rows.stop - rows.start), dtype)
        fill(batch.X[rows], block)
        if not whole:
            lines[:, rows] = block

    slices = list(row_slices(len(batch), rows_per_block(lines.shape[0])))
    run_blocks(fill_rows, slices, n_jobs)
    return lines


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
            values = _evaluated(self._batch, self._kernel, self._points[chosen], float, self._n_jobs)
        else:
            values = self._memory[chosen]
        self.means[chosen] = values @ self._root**2 / self._total
        if self.centred:
            values -= self.means[chosen, None]
        return (values * self._root).T

    def combined(self, chosen: np.ndarray, weights: np.ndarray) -> np.ndarray:
        if self._memory is not None or len(chosen) * self.shape[0] <= _TAKEN_VALUES:
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
            self._lines[new] = _evaluated(self._batch, self._kernel, points, np.float64, self._n_jobs)
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


class DoublyCentredColumns(Columns):
    """The doubly centred kernel matrix of all rows, ``H K H``, as columns.

    The columns of a symmetric kernel, centred already, lack only the same vector r in each of them:
    the means of the rows, less the mean of all.
    """

    centred = False  # of its own: these columns are what they are

    def __init__(self, columns: Columns, root_weight: np.ndarray) -> None:
        columns.scan(np.empty((columns.shape[0], 0)))  # settles the means
        self.base = columns
        self.shape = columns.shape
        weight = root_weight**2
        self.mean_of_all = float(weight @ columns.means / weight.sum())
        self.row_means = columns.means
        self._common = root_weight * (columns.means - self.mean_of_all)  # r
        self.means = np.zeros(columns.shape[1])
        self.raw_squared_norms = columns.raw_squared_norms

    def scan(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        everyone = np.arange(self.shape[1])
        nothing = np.empty((self.shape[0], 0)), np.empty((self.shape[1], 0))
        counts = np.ones(self.shape[0], dtype=bool)
        return self.residual_squared_norms(everyone, *nothing, counts), self.inner(vectors)

    def inner(self, vectors: np.ndarray) -> np.ndarray:
        return self.base.inner(vectors) - self._common @ vectors

    def take(self, chosen: np.ndarray) -> np.ndarray:
        return self.base.take(chosen) - self._common[:, None]

    def narrowed(self, kept: np.ndarray) -> Columns | None:
        columns = self.base.narrowed(kept)
        if columns is None:
            return None
        narrow = copy.copy(self)
        narrow.base = columns
        narrow.shape = columns.shape
        narrow._common = self._common[kept]
        narrow.means, narrow.raw_squared_norms = self.means[kept], self.raw_squared_norms[kept]
        return narrow


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
