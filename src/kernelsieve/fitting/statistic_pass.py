"""One pass over the rows into the statistic of a pool's columns, in either form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace

import numpy as np

from ..execution import WeightedBlock, absorb, absorb_weighted
from ..kernels import Kernel
from ..rows import AugmentedBlock, Batch, Pool
from ..statistics import ClassScatter, Coordinates, DoubleDoubleStatistic, Statistic
from .exact import trace_of

_NEARLY_CONSTANT = 0.9  # the mean of a column by the largest value that it can have


@dataclass
class ColumnSums:
    """The statistic of the columns, and statistics of lines beside them, such as their changes."""

    columns: Statistic
    beside: tuple[Statistic, ...] = ()

    @property
    def keeps_all_digits(self) -> bool:
        """Whether residuals are known to all digits, or to half of them."""
        return self.columns.keeps_all_digits

    def merge(self, other: ColumnSums) -> None:
        """Take in what another one has seen."""
        self.columns.merge(other.columns)
        for mine, theirs in zip(self.beside, other.beside, strict=True):
            mine.merge(theirs)

    def lines_beside(self, group: int) -> np.ndarray:
        """Return lines beside the columns in coordinates, which are not centred."""
        own = self.beside[group]
        zeros = np.zeros(own.n_lines - 1)
        if own.n_rows == 0:
            return np.empty((0, len(zeros)))
        return own.coordinates(np.zeros(0), zeros, center=False).columns


@dataclass(eq=False)
class StatisticPass:
    """Sums up the columns of a pool, in whatever form, and gives them back as coordinates.

    The fast form sums up shifted columns, the safe one subtracts a shift itself, with all digits, from
    columns that vary little, or sums up shifted ones as well. Nobody else knows of shifts.
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
    #: Whether the safe form sums up shifted columns, too: for methods that centre all columns.
    always_shifted: bool = False
    #: Groups of lines whose squares are summed up beside the columns, one for each of the pool.
    beside: Sequence[Sequence[WeightedBlock]] = ()

    def __post_init__(self) -> None:
        fill = self.kernel.against(self.pool.points, self.dtype)
        target_shift = np.empty(0) if self.n_labels else self.target_shift
        self._shifted = AugmentedBlock(fill, self.shift, target_shift, self.dtype)
        no_shift = np.zeros_like(self.shift)
        self._safe = self._shifted if self.always_shifted else replace(self._shifted, shift=no_shift)

    def empty(self, form: type[Statistic]) -> ColumnSums:
        """Return sums that have seen no rows."""
        n_lines, n_beside = self._shifted.n_lines, 1 + len(self.diagonal)
        columns: Statistic
        if form is DoubleDoubleStatistic:
            shift = self._of_lines(self._shift_of_nearly_constant())
            columns = DoubleDoubleStatistic(n_lines, shift, n_classes=self.n_labels)
        else:
            columns = form(n_lines, n_classes=self.n_labels)
        return ColumnSums(columns, tuple(form(n_beside if group else 1) for group in self.beside))

    def absorb(self, sums: ColumnSums, batch: Batch) -> None:
        """Add rows; an error leaves the sums as they were."""
        if self.beside:
            sums.merge(self.gather([batch], type(sums.columns)))
        else:
            self.add(sums, batch)

    def gather(self, batches: Iterable[Batch], form: type[Statistic]) -> ColumnSums:
        """Pass once over all rows."""
        sums = self.empty(form)
        for batch in batches:
            self.add(sums, batch)
        return sums

    def add(self, sums: ColumnSums, *batches: Batch) -> None:
        """Add rows to sums that nobody needs after an error."""
        how = {"block_rows": self.block_rows, "n_jobs": self.n_jobs}
        absorb(sums.columns, batches, self._block_of(sums), trace_of=self._trace_of, **how)
        for statistic, group in zip(sums.beside, self.beside, strict=True):
            for batch in batches:
                absorb_weighted(statistic, batch, group, **how)

    def squared(self, sums: ColumnSums) -> ColumnSums:
        """Return the fast form of what the safe one has seen."""
        if not isinstance(sums.columns, DoubleDoubleStatistic) or sums.beside:
            raise TypeError("only the safe form of columns alone can become the fast one")
        return ColumnSums(sums.columns.squared(self._of_lines(self._shifted.shift)))

    def coordinates(self, sums: ColumnSums, *, center: bool) -> Coordinates:
        """Return columns and targets in coordinates, without the shift that they were summed with."""
        shift = self._block_of(sums).shift
        return sums.columns.coordinates(self._shifted.target_shift, shift, center=center)

    def class_scatter(self, sums: ColumnSums, *, center: bool) -> ClassScatter:
        """Return class means, and what is within classes, where lines are summed up by class."""
        return sums.columns.class_scatter(self._block_of(sums).shift, center=center)

    def _block_of(self, sums: ColumnSums) -> AugmentedBlock:
        """Return what makes the lines: shifted where that saves digits, and not where it costs one."""
        return self._safe if sums.keeps_all_digits else self._shifted

    def _shift_of_nearly_constant(self) -> np.ndarray:
        shift, diagonal = self._shifted.shift - self._safe.shift, self.diagonal
        largest = np.sqrt(np.maximum(diagonal, 0.0) * diagonal.max(initial=0.0))
        return np.where(shift > _NEARLY_CONSTANT * largest, shift, 0.0)

    def _of_lines(self, shift: np.ndarray) -> np.ndarray:
        return np.concatenate([np.zeros(1 + len(self._shifted.target_shift)), shift])

    def _trace_of(self, batch: Batch) -> float:
        return trace_of(self.kernel, batch, self.diagonal)
