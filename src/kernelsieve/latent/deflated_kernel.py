"""Kernel columns of support vectors, and the shifted and deflated kernel matrix.

No n x n matrix exists here. A column is evaluated when a support vector needs it, some are kept, and
the deflated matrix is known through the features, one vector and one number (equation (6) of the
paper that :mod:`.nu_kpls` names).
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from ..data import row_slices, rows_per_block, run_blocks
from ..exceptions import KernelError
from ..kernels import Kernel, Rows

_COLUMNS_AT_ONCE = 4096  # a block of samples of all columns would be too large with many of them


class CachedColumns:
    """Kernel columns ``k(X, x_i)`` of samples of ``X``; at most ``capacity`` are cached.

    The least recently used column makes room, but never one of the request at hand: a request that is
    larger than the cache would otherwise throw out what it is about to use.

    Attributes
    ----------
    evaluated : int
        How many columns have been evaluated, those that came again counted again.
    """

    def __init__(self, X: Rows, kernel: Kernel, capacity: int, n_jobs: int | None = None) -> None:
        self.n_rows = int(X.shape[0])
        self.evaluated = 0
        self._X = X
        self._kernel = kernel
        self._n_jobs = n_jobs
        self._lines = np.empty((min(capacity, self.n_rows), self.n_rows))  # one line a column
        self._slots: OrderedDict[int, int] = OrderedDict()  # the least recently used comes first
        self._diagonal = np.full(self.n_rows, np.nan)  # as far as columns have shown it
        self._whole_diagonal: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def diagonal(self) -> np.ndarray:
        """``k(x, x)`` of all samples, evaluated at the first use."""
        if self._whole_diagonal is None:
            self._whole_diagonal = np.asarray(self._kernel.diag(self._X), dtype=np.float64)
        return self._whole_diagonal

    def diagonal_at(self, rows: np.ndarray) -> np.ndarray:
        """``k(x, x)`` of samples with evaluated columns, which costs nothing."""
        return self._diagonal[rows]

    def product(self, rows: np.ndarray, vectors: np.ndarray, *, replace: bool = True) -> np.ndarray:
        """Return ``K[:, rows] @ vectors``; without ``replace`` new columns take free slots only."""
        known = np.array([int(i) in self._slots for i in rows], dtype=bool)
        out = self._product_of_kept(rows[known], vectors[known])
        missing = rows[~known]
        if len(missing):
            stored = self._make_room(missing, set(rows.tolist()), replace)
            order = np.argsort([int(i) not in stored for i in missing], kind="stable")
            self._evaluate(missing[order], vectors[~known][order], list(stored.values()), out)
        if not np.isfinite(out).all():
            raise KernelError(
                "The kernel of some samples is too large, or not a number; scale X, or choose "
                "another kernel or smaller parameters."
            )
        return out.T

    def column(self, row: int) -> np.ndarray:
        """Return one column; do not write to it."""
        if row not in self._slots:
            value = self.product(np.array([row]), np.ones((1, 1)))[:, 0]
            if row not in self._slots:  # there is no room at all
                return value
        self._slots.move_to_end(row)
        return self._lines[self._slots[row]]

    def _product_of_kept(self, rows: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        if not len(rows):
            return np.zeros((vectors.shape[1], self.n_rows))
        for i in rows.tolist():
            self._slots.move_to_end(i)
        slots = [self._slots[i] for i in rows.tolist()]
        # Lines that do not take part get the weight 0: cheaper than a copy of those that do.
        weights = np.zeros((vectors.shape[1], len(self._slots)))
        weights[:, slots] = vectors.T
        return weights @ self._lines[: len(self._slots)]

    def _make_room(self, missing: np.ndarray, request: set[int], replace: bool) -> dict[int, int]:
        """Assign cache slots to as many missing columns as there is room for."""
        given: dict[int, int] = {}
        for i in missing.tolist():
            if len(self._slots) < len(self._lines):
                slot = len(self._slots)
            elif replace and self._slots and next(iter(self._slots)) not in request:
                slot = self._slots.popitem(last=False)[1]
            else:
                break
            self._slots[i] = given[i] = slot
        return given

    def _evaluate(
        self, rows: np.ndarray, vectors: np.ndarray, slots: list[int], out: np.ndarray
    ) -> None:
        """Add the product with new columns, and cache the first of them in the given slots."""
        try:
            for some in row_slices(len(rows), _COLUMNS_AT_ONCE):
                self._evaluate_some(rows[some], vectors[some], slots[some], out)
        except BaseException:
            self._slots.clear()  # slots were promised to columns that are not there
            raise
        self.evaluated += len(rows)

    def _evaluate_some(
        self, rows: np.ndarray, vectors: np.ndarray, slots: list[int], out: np.ndarray
    ) -> None:
        fill = self._kernel.against(self._kernel.points(self._X, rows))

        def multiply_block(block: slice) -> None:
            values = np.empty((len(rows), block.stop - block.start))
            fill(self._X[block], values)
            with np.errstate(invalid="ignore", over="ignore"):  # an error says more than a warning
                out[:, block] += vectors.T @ values
            self._lines[slots, block] = values[: len(slots)]
            own = np.flatnonzero((rows >= block.start) & (rows < block.stop))
            self._diagonal[rows[own]] = values[own, rows[own] - block.start]

        slices = list(row_slices(self.n_rows, rows_per_block(len(rows))))
        run_blocks(multiply_block, slices, self._n_jobs)


@dataclass(frozen=True)
class Multipliers:
    """Support vectors and their multipliers alpha, which sum to one.

    Without ``shifted`` the images are not shifted: one support vector alone has no spread, and its
    loading is its own image.
    """

    rows: np.ndarray
    alpha: np.ndarray
    shifted: bool = True


@dataclass(frozen=True)
class Loading:
    """A unit direction in feature space, with its effect on the kernel matrix."""

    rows: np.ndarray
    beta: np.ndarray  # the direction as a combination of the deflated images of these samples
    overlap: np.ndarray  # T' beta: what earlier loadings have taken of it already
    feature: np.ndarray  # t, (n,)
    level: float  # what shifting takes from the feature, next to the overlap with earlier ones
    shift: np.ndarray  # m = K alpha-hat of the deflated matrix, (n,)
    shift_length: float  # alpha-hat' m
    cancellation: float  # how much longer the loading was before its terms cancelled


class DeflatedKernel:
    """The deflated matrix ``K - e m' - m e' + rho e e' - T T'``, known by products only.

    Loadings have unit length, so the paper's ``r_j`` are all one.
    """

    def __init__(self, columns: CachedColumns, capacity: int) -> None:
        self.columns = columns
        self._features = np.empty((columns.n_rows, min(capacity, columns.n_rows)), order="F")
        self._mean = np.zeros(columns.n_rows)  # m, summed over the steps
        self._length = 0.0  # rho
        self._squares = np.zeros(columns.n_rows)  # the diagonal of T T'
        self.loadings: list[Loading] = []
        self._amplified = 1.0  # how far rounding errors have been raised by short loadings

    @property
    def features(self) -> np.ndarray:
        """T, (n, number of loadings)."""
        return self._features[:, : len(self.loadings)]

    @property
    def diagonal(self) -> np.ndarray:
        """The diagonal of the deflated matrix, clipped at zero against rounding."""
        diagonal = self.columns.diagonal - 2 * self._mean + self._length - self._squares
        return np.maximum(diagonal, 0.0)

    def product(self, rows: np.ndarray, vectors: np.ndarray, *, replace: bool = True) -> np.ndarray:
        """Return the deflated columns of some samples times ``vectors``, (n, p)."""
        values = self.columns.product(rows, vectors, replace=replace)
        sums = vectors.sum(axis=0)
        values -= self._mean[rows] @ vectors - self._length * sums
        values -= np.multiply.outer(self._mean, sums)
        values -= self.features @ (self.features[rows].T @ vectors)
        return values

    def column(self, row: int) -> np.ndarray:
        """Return one deflated column."""
        values = self.columns.column(row) - self._mean
        values -= self._mean[row] - self._length
        values -= self.features @ self.features[row]
        return values

    def loading(self, multipliers: Multipliers, u: np.ndarray, tol: float) -> Loading | None:
        """Return the loading of given multipliers; None if their images do not vary.

        Nothing changes until :meth:`commit`.
        """
        rows, alpha = multipliers.rows, multipliers.alpha
        mean = float(alpha @ u[rows]) if multipliers.shifted else 0.0
        beta = alpha * (u[rows] - mean)
        vectors = [beta, alpha] if multipliers.shifted else [beta]
        values = self.product(rows, np.column_stack(vectors))
        squared_length = float(beta @ values[rows, 0])
        # The most that can cancel in a length: images without any cancellation would be this long.
        longest = float(np.abs(beta) @ np.sqrt(np.maximum(self.columns.diagonal_at(rows), 0.0)))
        if not squared_length > tol * self._amplified * longest**2:
            return None
        r = float(np.sqrt(squared_length))
        beta, along = beta / r, values[:, 0] / r
        if not multipliers.shifted:
            overlap = self.features[rows].T @ beta
            return Loading(rows, beta, overlap, along, 0.0, np.zeros_like(along), 0.0, longest / r)
        alpha_hat = alpha - mean * beta
        level = float(alpha_hat @ along[rows])
        shift = values[:, 1] - mean * along
        return Loading(
            rows=rows,
            beta=beta,
            overlap=self.features[rows].T @ beta,
            feature=along - level,
            level=level + float(self._mean[rows] @ beta),
            shift=shift,
            shift_length=float(alpha_hat @ shift[rows]),
            cancellation=longest / r,
        )

    def commit(self, loading: Loading) -> None:
        """Shift the images and deflate them by the loading, equation (6)."""
        self._features[:, len(self.loadings)] = loading.feature
        self._squares += loading.feature**2
        self._mean += loading.shift
        self._length += loading.shift_length
        self._amplified = max(self._amplified, loading.cancellation)
        self.loadings.append(loading)
