"""Samples: a batch of them, blocks that fit the cache, and one pass over all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from scipy import sparse

from ..exceptions import InvalidDataError
from ..kernels import Kernel, Rows
from .threads import counted, run_blocks

#: Classes up to which indicators are written down as columns.
MANY_CLASSES = 100

_BLOCK_BYTES = 2**24  # of kernel values; past this a block leaves the cache before it is used again
_LARGEST_BYTES = 2**26  # of a block of few rows, one of which every thread has
_FEWEST, _FEW, _MOST = 32, 256, 8192  # rows; a product with fewer takes several times as long a row

_CHECKED_VALUES = 500_000  # looked at together

_Sums = TypeVar("_Sums")


@dataclass(frozen=True)
class Labels:
    """Class labels as numbers from 0: what n x q indicators say, in n numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.data import Labels
    >>> labels = Labels(np.array([2, 0]), 3)
    >>> labels.indicators
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """

    codes: np.ndarray  # (n,)
    n_classes: int

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: slice | np.ndarray) -> Labels:
        return Labels(self.codes[rows], self.n_classes)

    @property
    def indicators(self) -> np.ndarray:
        """One row a sample and one column a class, all zero but one; for few samples or classes."""
        indicators = np.zeros((len(self), self.n_classes))
        indicators[np.arange(len(self)), self.codes] = 1.0
        return indicators


@dataclass(frozen=True)
class Batch:
    """Validated rows with what belongs to them."""

    X: Rows
    targets: np.ndarray | Labels  # (n, q), q is 0 where there are none; labels of many classes
    weight: np.ndarray | None = None  # positive sample weights, or None for all ones

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __getitem__(self, rows: slice | np.ndarray) -> Batch:
        weight = None if self.weight is None else self.weight[rows]
        return Batch(self.X[rows], self.targets[rows], weight)

    @property
    def Y(self) -> np.ndarray:  # noqa: N802  # as formulas call it
        """The targets as an array; that of all samples may be large where classes are many."""
        return self.targets.indicators if isinstance(self.targets, Labels) else self.targets

    @property
    def n_targets(self) -> int:
        """How many targets there are, or classes."""
        return self.targets.n_classes if isinstance(self.targets, Labels) else self.targets.shape[1]

    @property
    def codes(self) -> np.ndarray | None:
        """The numbers of the samples' classes, where these are many."""
        return self.targets.codes if isinstance(self.targets, Labels) else None

    @property
    def target_means(self) -> np.ndarray:
        """The means of the targets, whatever the weights are."""
        if isinstance(self.targets, Labels):
            return replace(self, weight=None).target_sums / len(self)
        return np.asarray(self.targets.mean(axis=0))

    @property
    def target_sums(self) -> np.ndarray:
        """The sum of the targets by the weights of the samples."""
        if isinstance(self.targets, Labels):
            codes, n_classes = self.targets.codes, self.targets.n_classes
            return np.bincount(codes, self.weight, n_classes).astype(np.float64)
        return np.asarray(self.root_weight**2 @ self.targets)

    def without_zero_weights(self) -> tuple[Batch, np.ndarray | None]:
        """Return the rows that count, and which they are; a row of weight 0 is as good as absent."""
        if self.weight is None or self.weight.all():
            return self, None
        kept = np.flatnonzero(self.weight)
        return self[kept], kept

    @property
    def root_weight(self) -> np.ndarray:
        """The factors that turn a weighted problem into an unweighted one."""
        return np.ones(len(self)) if self.weight is None else np.sqrt(self.weight)


def rows_per_block(n_columns: int, n_bytes: int = _BLOCK_BYTES) -> int:
    """Return how many rows of ``n_columns`` float64 values stay in a cache of that size."""
    width = 8 * max(1, n_columns)
    few = np.clip(_LARGEST_BYTES // width // _FEWEST * _FEWEST, _FEWEST, _FEW)
    return int(np.clip(n_bytes // width // 64 * 64, few, _MOST))


def row_slices(n_rows: int, size: int) -> Iterator[slice]:
    """Cut ``n_rows`` rows into blocks of ``size``.

    Examples
    --------
    >>> from kernelsieve.data import row_slices
    >>> list(row_slices(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


_numbers: ContextVar[int | np.ndarray] = ContextVar("_numbers", default=0)


@contextmanager
def rows_from(start: int | np.ndarray) -> Iterator[None]:
    """Let errors count rows from the beginning of all samples, of which a part is checked.

    The numbers of samples that do not follow each other are an array.
    """
    token = _numbers.set(start)
    try:
        yield
    finally:
        _numbers.reset(token)


def row_number(row: int) -> int:
    """Return the number by which an error calls a row of what is checked."""
    numbers = _numbers.get()
    return int(numbers[row]) if isinstance(numbers, np.ndarray) else numbers + int(row)


def check_finite(X: Rows, name: str, n_jobs: int | None = None) -> None:
    """Refuse NaN and infinity, and say where the first one is."""
    if sparse.issparse(X):
        bad = np.flatnonzero(~np.isfinite(X.data))
        if len(bad):
            row = int(np.searchsorted(X.indptr, bad[0], side="right")) - 1
            _refuse(X.data[bad[0]], name, row, int(X.indices[bad[0]]))
        return
    suspects: list[slice] = []

    def look(rows: slice) -> None:
        # One sum tells of most blocks that all is well; a false alarm by overflow is looked into.
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(X[rows].sum()):
                suspects.append(rows)

    slices = list(row_slices(X.shape[0], max(1, _CHECKED_VALUES // max(1, X.shape[1]))))
    run_blocks(look, slices, n_jobs)
    for rows in sorted(suspects, key=lambda rows: rows.start):
        places = np.argwhere(~np.isfinite(X[rows]))
        if len(places):
            row, column = places[0]
            _refuse(X[rows][row, column], name, rows.start + int(row), int(column))


def _refuse(value: float, name: str, row: int, column: int) -> None:
    kind = "NaN" if np.isnan(value) else "inf"
    raise InvalidDataError(
        f"Input {name} contains {kind} in row {row_number(row)}, column {column} (counted from 0); "
        "remove such rows, or fill them in, for example with sklearn.impute.SimpleImputer."
    )


def total_weight(batch: Batch) -> float:
    """Return the number of rows, or the sum of their weights."""
    return float(len(batch)) if batch.weight is None else float(batch.weight.sum())


def weighted_sum(values: np.ndarray, batch: Batch) -> float:
    """Sum one value for each row by the weights."""
    return float(values.sum() if batch.weight is None else values @ batch.weight)


def trace_of(kernel: Kernel, batch: Batch, of_candidates: np.ndarray) -> float:
    """Return the weighted sum of k(x, x); from the candidates where that is the cheap estimate."""
    if kernel.cheap_diag:
        values = kernel.diag(batch.X)
        return float(values.sum() if batch.weight is None else values @ batch.weight)
    return float(of_candidates.mean()) * total_weight(batch)


def sum_up(
    batches: Iterable[Batch],
    empty: Callable[[], _Sums],
    add: Callable[[_Sums, Batch], None],
    n_rows: int | None = None,
) -> _Sums:
    """Pass once over all rows: here, or where the batches are, if they say how.

    ``empty`` returns sums that have seen no rows, and ``add`` adds rows to sums that nobody needs after
    an error. Both can be sent to other processes, and so can the sums.
    """
    elsewhere = getattr(batches, "sum_up", None)
    if elsewhere is not None:
        return elsewhere(empty, add)
    sums = empty()
    with counted(n_rows or rows_in(batches)):
        for batch in batches:
            add(sums, batch)
    return sums


def rows_in(batches: Iterable[Batch]) -> int | None:
    """Return the number of rows, where it is known before a pass."""
    if isinstance(batches, list):
        return sum(map(len, batches))
    return getattr(batches, "n_rows", None)
