"""Candidate columns as the loop sees them: stored, or evaluated anew for every product."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod

import numpy as np

from ..data import Batch, row_slices, rows_per_block, run_blocks
from ..kernels import Kernel, Rows

TAKEN_VALUES = 2**20  # of columns that are copied at once


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
        for some in row_slices(len(chosen), max(1, TAKEN_VALUES // self.shape[0])):
            column += self.take(chosen[some]) @ weights[some]
        return column

    def residual_squared_norms(
        self, chosen: np.ndarray, features: np.ndarray, coefficients: np.ndarray, counts: np.ndarray
    ) -> np.ndarray:
        """Return the squared norms of ``A - features @ coefficients'`` over the rows that count."""
        squares = np.empty(len(chosen))
        for some in row_slices(len(chosen), max(1, TAKEN_VALUES // self.shape[0])):
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
    lines = evaluated_columns(batch, kernel, points, dtype, n_jobs)
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


def evaluated_columns(
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


class RidgeColumns(Columns):
    """Columns with the root of a ridge below them, ``[A; sqrt(ridge) I]``.

    Inner products become ``A'A + ridge I``, so that least squares on the columns is ridge regression.
    Each column has a further row of its own, or the one in ``places``: columns of which one at most
    is ever taken up may share a row.
    """

    def __init__(
        self, columns: Columns, ridge: float, places: np.ndarray | None = None, n_places: int = 0
    ) -> None:
        n_rows, n_columns = columns.shape
        self.base = columns
        self.ridge = ridge
        self._places = n_rows + (np.arange(n_columns) if places is None else places)
        self.shape = (n_rows + (n_columns if places is None else n_places), n_columns)
        self.centred = columns.centred

    @property
    def means(self) -> np.ndarray:  # type: ignore[override]
        return self.base.means

    @property
    def raw_squared_norms(self) -> np.ndarray:  # type: ignore[override]
        return self.base.raw_squared_norms + self.ridge

    def scan(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        squared_norms, products = self.base.scan(vectors[: self.base.shape[0]])
        return squared_norms + self.ridge, products + self._of_ridge(vectors)

    def inner(self, vectors: np.ndarray) -> np.ndarray:
        return self.base.inner(vectors[: self.base.shape[0]]) + self._of_ridge(vectors)

    def take(self, chosen: np.ndarray) -> np.ndarray:
        values = np.zeros((self.shape[0], len(chosen)), order="F")
        values[: self.base.shape[0]] = self.base.take(chosen)
        values[self._places[chosen], np.arange(len(chosen))] = np.sqrt(self.ridge)
        return values

    def _of_ridge(self, vectors: np.ndarray) -> np.ndarray:
        return np.sqrt(self.ridge) * vectors[self._places]
