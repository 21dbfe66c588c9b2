"""Kernel columns for column generation: priced in blocks, stored only while a solver uses them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import qr

from ..data import Batch, row_slices
from ..deflation import RecomputedColumns, order_of_first_use
from ..kernels import Kernel, Rows

#: Columns that a solver takes in at once, the most violated ones first.
COLUMNS_A_ROUND = 20
_SAME_PRICE = 1e-12
_MOST_VALUES = 2**24  # that a factor of all columns may have: 128 MB
_BLOCKS = 4  # of rows at once, in sizes of the factor, so that little work is spent on the factor again


class PricedColumns:
    """The kernel columns ``k_j`` of all candidates, of which only selected ones are stored.

    ``prices`` evaluates all of them once, block by block, and ``take`` keeps those that were asked
    for, so that a path over penalties and several classes share them.

    Attributes
    ----------
    shape : tuple of int
        Samples and candidates.
    points : Rows
        The candidates.
    n_passes : int
        Number of passes over all columns.
    """

    def __init__(self, X: Rows, kernel: Kernel, points: Rows, *, n_jobs: int | None = None) -> None:
        self.shape = (int(X.shape[0]), int(points.shape[0]))
        self.points = points
        self.n_passes = 0
        batch = Batch(X, np.empty((self.shape[0], 0)))
        self._all = RecomputedColumns(batch, kernel, points, center=False, n_jobs=n_jobs)
        self._place = np.full(self.shape[1], -1)
        self._kept = np.empty((0, self.shape[0]))

    @property
    def n_kept(self) -> int:
        """Number of stored columns."""
        return len(self._kept)

    def prices(self, vector: np.ndarray) -> np.ndarray:
        """Return the inner product of every column with a vector."""
        self.n_passes += 1
        return self._all.inner(vector)

    def select(self, chosen: np.ndarray) -> np.ndarray:
        """Return columns, and store them, (n, len(chosen))."""
        missing = np.unique(chosen[self._place[chosen] < 0])
        if len(missing):
            self._place[missing] = len(self._kept) + np.arange(len(missing))
            self._kept = np.vstack([self._kept, self._all.take(missing).T])
        return self._kept[self._place[chosen]].T

    def block(self, rows: slice) -> np.ndarray:
        """Evaluate all columns at some samples, (n_samples, n_candidates)."""
        return self._all.block(rows).T


class ProgramColumns:
    """Columns of a program: scaled kernel columns, with their changes under transformations below.

    The lines below are ``k_j(x_i) - k_j(t x_i)`` for each transformation t. A penalty of one for the
    coefficient of a scaled column is one over its factor for that of the column as it was.
    """

    def __init__(
        self,
        columns: PricedColumns,
        moved: Sequence[PricedColumns] = (),
        factors: np.ndarray | None = None,
    ) -> None:
        self.shape = columns.shape
        self._columns = columns
        self._moved = moved
        self._factors = np.ones(columns.shape[1]) if factors is None else factors

    def prices(self, vector: np.ndarray) -> np.ndarray:
        """Return the inner product of every column with a vector."""
        parts = vector.reshape(1 + len(self._moved), -1, *vector.shape[1:])
        prices = self._columns.prices(parts.sum(axis=0))
        for moved, part in zip(self._moved, parts[1:], strict=True):
            prices = prices - moved.prices(part)
        return np.asarray((prices.T * self._factors).T)

    def select(self, chosen: np.ndarray) -> np.ndarray:
        """Return the columns of the chosen candidates."""
        values = self._columns.select(chosen)
        stacked = np.vstack([values, *(values - moved.select(chosen) for moved in self._moved)])
        return np.asarray(stacked * self._factors[chosen])

    @property
    def fits_in_memory(self) -> bool:
        """Whether the triangular factor of all columns fits in memory."""
        n, m = self.shape
        return not self._moved and min(n, m) * m <= _MOST_VALUES

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of samples with all their columns, a few times as many rows as columns."""
        for rows in row_slices(self.shape[0], _BLOCKS * (1 + self.shape[1])):
            yield rows, self._columns.block(rows) * self._factors


@dataclass(frozen=True)
class Lines:
    """Right-hand side of ``K alpha + b constant = y - xi``: lines of samples, then of changes.

    A change is to be zero, whatever b is; its weight is that of its sample times that of its
    transformation.
    """

    y: np.ndarray  # of one class, or a column for each
    weight: np.ndarray
    constant: np.ndarray  # 1 for samples, 0 for changes

    @classmethod
    def from_labels(cls, y: np.ndarray, weight: np.ndarray, of_changes: Sequence[float] = ()) -> Lines:
        """Return the lines for labels and weights of samples, and weights of transformations."""
        none = np.zeros(len(y) * len(of_changes))
        return cls(
            np.concatenate([y, np.zeros((len(none), *y.shape[1:]))]),
            np.concatenate([weight, *(part * weight for part in of_changes)]),
            np.concatenate([np.ones(len(y)), none]),
        )

    def of_outputs(self) -> list[Lines]:
        """Return the same lines for each class."""
        return [replace(self, y=np.ascontiguousarray(y)) for y in self.y.T]

    def centred(self, values: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Centre values over the samples and scale them by root weights; return the means, too."""
        of_rows = weight * self.constant
        means = np.asarray(of_rows @ values / of_rows.sum())
        less = np.multiply.outer(self.constant, means)
        return np.asarray(((values - less).T * np.sqrt(weight)).T), means


class CentredColumns:
    """A least-squares problem with an unpenalised intercept, removed by centring columns on demand.

    ``targets`` are weighted and centred, ``target_means`` what centring subtracted from them, and
    ``columns_a_round`` how many columns a solver should add at once.
    """

    columns_a_round = COLUMNS_A_ROUND

    def __init__(self, columns: ProgramColumns, lines: Lines) -> None:
        self._columns = columns
        self._lines = lines
        self._root = np.sqrt(lines.weight)
        self.targets, self.target_means = lines.centred(lines.y, lines.weight)

    def select(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the chosen centred columns, (n_rows, len(chosen)), and their means."""
        return self._lines.centred(self._columns.select(chosen), self._lines.weight)

    def prices(self, residuals: np.ndarray) -> np.ndarray:
        """Return the slopes of the sum of squares along every column, (n_columns, ...)."""
        return self._columns.prices(2 * (residuals.T * self._root).T)


class ReducedColumns:
    """The same problem with all columns, reduced to the triangular factor of columns and targets.

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

    def select(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._values[:, chosen], self._means[chosen]

    def prices(self, residuals: np.ndarray) -> np.ndarray:
        return np.asarray(2 * self._values.T @ residuals)


@dataclass
class Effort:
    """The number of linear systems that a solver may solve for one penalty."""

    limit: int
    spent: int = 0

    @property
    def exhausted(self) -> bool:
        """Whether the limit is reached."""
        return self.spent >= self.limit


@dataclass(frozen=True)
class SparseSolution:
    """A minimiser of ``sum_i w_i loss(y_i - f(x_i)) + C ||alpha||_1`` with f = K alpha + b."""

    candidates: np.ndarray  # where alpha is not zero, in ascending order
    alpha: np.ndarray  # there
    intercept: float  # b
    objective: float
    largest_price: float  # slope of the losses along any column, as a part of C: 1 at the optimum
    n_iter: int  # linear systems, or rounds of a linear program


def most_violated(
    prices: np.ndarray, C: float, known: np.ndarray, tol: float, count: int = COLUMNS_A_ROUND
) -> np.ndarray:
    """Return the columns outside the working set that violate ``|k_j' d| <= C`` most.

    Of columns with the same price one is enough for now, and none where a known one has it: those of
    equal examples are the same, and a solver would share a coefficient between them.
    """
    sizes = np.abs(prices)
    is_known = np.zeros(len(sizes), dtype=bool)
    is_known[known] = True
    order = np.lexsort([np.arange(len(sizes)), ~is_known, -sizes])
    sizes = sizes[order]
    # Groups of equal prices; rounding may put a known column anywhere in its group.
    group = np.cumsum(np.append(0, sizes[1:] < (1 - _SAME_PRICE) * sizes[:-1]))
    has_known = np.bincount(group, is_known[order])[group] > 0
    is_first = np.append(True, np.diff(group) > 0)
    worst = order[is_first & ~has_known & (sizes > C * (1 + tol))]
    return worst[:count]


def merged_coefficients(
    solutions: list[SparseSolution], n_candidates: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Merge solutions: candidates by first use, that use, and their coefficients (m, k)."""
    alpha = np.zeros((n_candidates, len(solutions)))
    for j, solution in enumerate(solutions):
        alpha[solution.candidates, j] = solution.alpha
    used, first_use = order_of_first_use([solution.candidates for solution in solutions])
    if len(used) == 0:
        used = first_use = np.zeros(1, np.intp)  # a model has at least one landmark
    return used, first_use, alpha[used]
