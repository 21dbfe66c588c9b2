"""One pass over samples: each block becomes lines of a matrix, and a statistic takes them in."""

from __future__ import annotations

import hashlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from scipy import sparse

from ..data import (
    Batch,
    Pool,
    advance,
    row_slices,
    rows_per_block,
    run_blocks,
    single_threaded_blas,
    sum_up,
    trace_of,
)
from ..exceptions import InvalidDataError
from ..kernels import Filler, Kernel
from .coordinates import ClassScatter, Coordinates
from .statistic import GramStatistic, Statistic, TriangularStatistic

#: Squared residuals of this part of the squared norm are the last that a Gram matrix knows well enough
#: to choose by: scores are good to about 1e-6 here, and become worse as the residuals become smaller.
RESIDUAL_TRUST = 1e-8

#: The part of the largest eigenvalue of a quadratic form that a ridge must have, for the form to be
#: known well enough from a Gram matrix. It is added before anything cancels, and so may be smaller
#: than a residual: rounding then changes the solutions of systems by 1e-8 or so.
RIDGE_TRUST = 1e-9


@dataclass(frozen=True)
class AugmentedBlock:
    """Fills ``[1 | Y | columns]'`` for a block of rows, less a shift of columns and targets.

    Labels of many classes have no lines, and no shift.

    With a shift near their means, the sums of squares keep the digits that centring afterwards would
    lose.
    """

    fill: Filler  # writes the columns as lines
    shift: np.ndarray  # of the columns
    target_shift: np.ndarray
    dtype: type = np.float64  # in which columns are filled in; the lines themselves are float64

    @property
    def n_lines(self) -> int:
        """Number of lines: one, the targets, the columns."""
        return 1 + len(self.target_shift) + len(self.shift)

    def lines(self, batch: Batch, out: np.ndarray) -> np.ndarray:
        """Write the lines of a batch into ``out``, of shape ``(n_lines, len(batch))``."""
        first = 1 + len(self.target_shift)
        out[0] = 1.0
        if first > 1:
            np.subtract(batch.Y.T, self.target_shift[:, None], out=out[1:first])
        columns = out[first:]
        if self.dtype == np.float64:
            self.fill(batch.X, columns)
        else:
            narrow: np.ndarray = np.empty(columns.shape, self.dtype)
            self.fill(batch.X, narrow)
            columns[...] = narrow
        columns -= self.shift[:, None]
        return out


def gather(
    batches: Iterable[Batch], block: AugmentedBlock, empty: Callable[[int], Statistic], **how: Any
) -> Statistic:
    """Pass once over all rows, as :func:`absorb` does; no more than a block of columns is held."""
    add = partial(absorb, block=block, **how)
    return sum_up(batches, partial(empty, block.n_lines), add)


def absorb(
    statistic: Statistic,
    batch: Batch,
    block: AugmentedBlock,
    *,
    trace_of: Callable[[Batch], float] | None = None,
    block_rows: int | None = None,
    n_jobs: int | None = None,
    again: bool = False,
) -> None:
    """Add samples to a statistic that nobody needs after an error.

    ``trace_of`` returns the weighted sum of k(x, x) over samples. Samples that are passed over
    ``again`` are not counted as progress.
    """
    done = None if again else advance()

    def take_in(own: Statistic, rows: slice) -> None:
        some = batch[rows]
        size = block.n_lines * len(some)
        if getattr(_kept, "buffer", _NOTHING).size < size:
            _kept.buffer = np.empty(size)
        lines = block.lines(some, _kept.buffer[:size].reshape(block.n_lines, -1))
        trace = 0.0 if trace_of is None else trace_of(some)
        own.update(lines, trace, some.weight, None if own.class_sums is None else some.codes)
        if done is not None:
            done(len(some))

    slices = list(row_slices(len(batch), block_rows or rows_per_block(block.n_lines)))
    run_blocks(take_in, slices, n_jobs, sums=statistic)
    statistic.check_finite()


# Room for lines that a thread keeps: new memory takes a while to be there.
_kept = threading.local()
_NOTHING = np.empty(0)


#: Sums of squares beside the columns: each has a weight, and a block of lines without targets.
WeightedBlock = tuple[float, AugmentedBlock]


def absorb_weighted(
    statistic: Statistic,
    batch: Batch,
    blocks: Iterable[WeightedBlock],
    *,
    block_rows: int | None = None,
    n_jobs: int | None = None,
) -> None:
    """Add the lines of several blocks for the same rows, each with its weight."""
    for weight, block in blocks:
        rows = Batch(batch.X, np.empty((len(batch), 0)), weight * batch.root_weight**2)
        absorb(statistic, rows, block, block_rows=block_rows, n_jobs=n_jobs, again=True)


def form_of(precision: str, *, safe: bool = False) -> type[Statistic]:
    """Return the form that ``precision`` asks for; with "auto" the safe one where that is needed."""
    is_safe = precision == "safe" or (precision == "auto" and safe)
    return TriangularStatistic if is_safe else GramStatistic


def may_become_safe(precision: str, form: type[Statistic]) -> bool:
    """Tell if samples that were summed up in one form may be summed up again in the safe one."""
    return precision == "auto" and form is GramStatistic


class SumsTogether(ABC):
    """Sums that are filled together, and then merged, subtracted and scaled one by one."""

    @property
    @abstractmethod
    def parts(self) -> Sequence[Any]:
        """Sums of their own."""

    def merge(self, other: Self) -> None:
        """Take in what another one has seen."""
        self._check_plan(other)
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            mine.merge(theirs)

    def subtract(self, other: Self) -> None:
        """Take out what another one has seen."""
        self._check_plan(other)
        for mine, theirs in zip(self.parts, other.parts, strict=True):
            if theirs.n_rows:
                mine.subtract(theirs)

    def scale(self, factor: float) -> None:
        """Multiply the weights of all rows that have been seen."""
        for part in self.parts:
            part.scale(factor)

    @abstractmethod
    def _check_plan(self, other: Any) -> None:
        """Refuse sums that cannot be merged with these."""


@dataclass
class ColumnSums(SumsTogether):
    """The statistic of the columns, and statistics of lines beside them, such as their changes."""

    columns: Statistic
    beside: tuple[Statistic, ...] = ()
    key: str = ""  # of what made the lines; sums of different lines cannot be put together

    @property
    def n_rows(self) -> int:
        """Number of samples that have been seen."""
        return self.columns.n_rows

    @property
    def keeps_all_digits(self) -> bool:
        """Whether residuals are known to all digits, or to half of them."""
        return self.columns.keeps_all_digits

    @property
    def parts(self) -> tuple[Statistic, ...]:
        return self.columns, *self.beside

    def _check_plan(self, other: ColumnSums) -> None:
        if (self.key, type(self.columns)) != (other.key, type(other.columns)):
            raise InvalidDataError(
                "These sums belong to different plans: kernel, candidates, targets or precision are "
                "not the same. Make all parts with one plan, or with copies of its file."
            )

    def lines_beside(self, group: int) -> np.ndarray:
        """Return lines beside the columns in coordinates, which are not centred."""
        own = self.beside[group]
        zeros = np.zeros(own.n_lines - 1)
        if own.n_rows == 0:
            return np.empty((0, len(zeros)))
        return own.coordinates(np.zeros(0), zeros, center=False).columns


@dataclass(eq=False)
class StatisticPass:
    """Sums up the columns of a pool, less a shift near their means, and gives them back as coordinates.

    Nobody else knows of the shift, which keeps digits of columns that vary little.
    """

    kernel: Kernel
    pool: Pool
    diagonal: np.ndarray  # k(z, z) of the pool
    shift: np.ndarray  # near the means of the columns
    target_shift: np.ndarray  # near the means of the targets
    _: KW_ONLY
    n_labels: int = 0  # classes by which lines are summed up, where they are many
    dtype: type = np.float64
    block_rows: int | None = None
    n_jobs: int | None = None
    #: Groups of lines whose squares are summed up beside the columns, one for each of the pool.
    beside: Sequence[Sequence[WeightedBlock]] = ()

    def __post_init__(self) -> None:
        fill = self.kernel.against(self.pool.points, self.dtype)
        target_shift = np.empty(0) if self.n_labels else self.target_shift
        self._block = AugmentedBlock(fill, self.shift, target_shift, self.dtype)

    @cached_property
    def key(self) -> str:
        """What the lines are made of, in a few letters; the same on every machine."""
        made_of = hashlib.sha256(str(np.dtype(self.dtype)).encode())
        made_of.update(f"{self.kernel.name} {len(self.target_shift)} {len(self.beside)}".encode())
        made_of.update(_bytes(self.pool.points))
        made_of.update(_bytes(self.target_shift))
        for name, value in sorted(vars(self.kernel.without_cache()).items()):
            if not name.startswith("_"):
                made_of.update(_bytes(value))
        return made_of.hexdigest()

    def empty(self, form: type[Statistic]) -> ColumnSums:
        """Return sums that have seen no rows."""
        columns, beside = form(self._block.n_lines, self.n_labels), []
        for group in self.beside:
            beside.append(form(1 + len(self.diagonal) if group else 1))
        return ColumnSums(columns, tuple(beside), self.key)

    def gather(self, batches: Iterable[Batch], form: type[Statistic]) -> ColumnSums:
        """Pass once over all rows."""
        return sum_up(batches, partial(self.empty, form), self.add)

    def add(self, sums: ColumnSums, batch: Batch) -> None:
        """Add rows to sums that nobody needs after an error."""
        how: dict[str, Any] = {"block_rows": self.block_rows, "n_jobs": self.n_jobs}
        trace = partial(trace_of, self.kernel, of_candidates=self.diagonal)
        absorb(sums.columns, batch, self._block, trace_of=trace, **how)
        for statistic, group in zip(sums.beside, self.beside, strict=True):
            absorb_weighted(statistic, batch, group, **how)

    def coordinates(self, sums: ColumnSums, *, center: bool) -> Coordinates:
        """Return columns and targets in coordinates, without the shift that they were summed with."""
        if sums.key != self.key:
            raise _other_plan()
        columns, block = sums.columns, self._block
        with single_threaded_blas(unless_large=(columns.n_lines, columns.n_lines)):
            return columns.coordinates(block.target_shift, block.shift, center=center)

    def class_scatter(self, sums: ColumnSums, *, center: bool) -> ClassScatter:
        """Return class means, and what is within classes, where lines are summed up by class."""
        if sums.key != self.key:
            raise _other_plan()
        return sums.columns.class_scatter(self.shift, center=center)

    def products(
        self, sums: ColumnSums, chosen: np.ndarray, projection: np.ndarray, offset: np.ndarray
    ) -> np.ndarray:
        """Return the inner products of ``[1 | Y | columns[:, chosen] @ projection - offset]``.

        These are combinations of the lines that were summed up, which are shifted.
        """
        if sums.key != self.key:
            raise _other_plan()
        block = self._block
        first = 1 + len(block.target_shift)
        combinations = np.zeros((block.n_lines, first + projection.shape[1]))
        combinations[:first, :first] = np.eye(first)
        combinations[0, 1:first] = block.target_shift
        combinations[0, first:] = block.shift[chosen] @ projection - offset
        np.add.at(combinations[:, first:], first + chosen, projection)
        return sums.columns.products(combinations)


def _other_plan() -> InvalidDataError:
    return InvalidDataError(
        "The statistic was made for another kernel, other candidates, other targets or another kind of "
        "estimator than it is to be fitted with; finish it with the plan that made it."
    )


def _bytes(value: Any) -> bytes:
    """Return the bytes of an array or a parameter; code of the user's is told by its name."""
    if sparse.issparse(value):
        return b"".join(map(_bytes, (value.data, value.indices, value.indptr)))
    if isinstance(value, np.ndarray):
        return value.tobytes()
    return getattr(value, "__qualname__", repr(value) if np.isscalar(value) else "").encode()
