"""One pass over the rows into the statistic of a pool's columns, in either form."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy import sparse

from ..data import Batch, Pool, Summation, single_threaded_blas, sum_up, trace_of
from ..exceptions import InvalidDataError
from ..kernels import Kernel
from ..kernels.distance_cache import unshared
from .base import Statistic
from .class_sums import ClassScatter
from .coordinates import Coordinates
from .passes import AugmentedBlock, absorb
from .tangents import WeightedBlock, absorb_weighted


@dataclass
class ColumnSums:
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

    def merge(self, other: ColumnSums) -> None:
        """Take in what another one has seen."""
        for mine, theirs in self._pairs(other):
            mine.merge(theirs)

    def subtract(self, other: ColumnSums) -> None:
        """Take out what another one has seen."""
        for mine, theirs in self._pairs(other):
            mine.subtract(theirs)

    def scale(self, factor: float) -> None:
        """Multiply the weights of all rows that have been seen."""
        for statistic in self.statistics:
            statistic.scale(factor)

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        return self.columns, *self.beside

    def _pairs(self, other: ColumnSums) -> Iterator[tuple[Statistic, Statistic]]:
        if (self.key, type(self.columns)) != (other.key, type(other.columns)):
            raise InvalidDataError(
                "These sums belong to different plans: kernel, candidates, targets or precision are "
                "not the same. Make all parts with one plan, or with copies of its file."
            )
        return zip(self.statistics, other.statistics, strict=True)

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
        for name, value in sorted(vars(unshared(self.kernel)).items()):
            if not name.startswith("_"):
                made_of.update(_bytes(value))
        return made_of.hexdigest()

    def empty(self, form: type[Statistic]) -> ColumnSums:
        """Return sums that have seen no rows."""
        n_beside = 1 + len(self.diagonal)
        columns = form(self._block.n_lines, n_classes=self.n_labels)
        beside = tuple(form(n_beside if group else 1) for group in self.beside)
        return ColumnSums(columns, beside, self.key)

    def gather(self, batches: Iterable[Batch], form: type[Statistic]) -> ColumnSums:
        """Pass once over all rows."""
        return sum_up(batches, Summation(partial(self.empty, form), self.add))

    def add(self, sums: ColumnSums, batch: Batch) -> None:
        """Add rows to sums that nobody needs after an error."""
        how: dict[str, Any] = {"block_rows": self.block_rows, "n_jobs": self.n_jobs}
        trace = partial(trace_of, self.kernel, of_candidates=self.diagonal)
        absorb(sums.columns, batch, self._block, trace_of=trace, in_place=True, **how)
        for statistic, group in zip(sums.beside, self.beside, strict=True):
            absorb_weighted(statistic, batch, group, **how)

    def coordinates(self, sums: ColumnSums, *, center: bool) -> Coordinates:
        """Return columns and targets in coordinates, without the shift that they were summed with."""
        self._check_key(sums)
        columns, block = sums.columns, self._block
        with single_threaded_blas.lifted_for(columns.n_lines, columns.n_lines):
            return columns.coordinates(block.target_shift, block.shift, center=center)

    def class_scatter(self, sums: ColumnSums, *, center: bool) -> ClassScatter:
        """Return class means, and what is within classes, where lines are summed up by class."""
        self._check_key(sums)
        return sums.columns.class_scatter(self.shift, center=center)

    def products(
        self, sums: ColumnSums, chosen: np.ndarray, projection: np.ndarray, offset: np.ndarray
    ) -> np.ndarray:
        """Return the inner products of ``[1 | Y | columns[:, chosen] @ projection - offset]``."""
        self._check_key(sums)
        return sums.columns.products(self._combinations(chosen, projection, offset))

    def _combinations(
        self, chosen: np.ndarray, projection: np.ndarray, offset: np.ndarray
    ) -> np.ndarray:
        """Return the combinations of shifted lines that are 1, targets and features."""
        block = self._block
        first = 1 + len(block.target_shift)
        combinations = np.zeros((block.n_lines, first + projection.shape[1]))
        combinations[:first, :first] = np.eye(first)
        combinations[0, 1:first] = block.target_shift
        combinations[0, first:] = block.shift[chosen] @ projection - offset
        np.add.at(combinations[:, first:], first + chosen, projection)
        return combinations

    def _check_key(self, sums: ColumnSums) -> None:
        if sums.key != self.key:
            raise InvalidDataError(
                "The statistic was made for another kernel, other candidates, other targets or another "
                "kind of estimator than it is to be fitted with; finish it with the plan that made it."
            )


def _bytes(value: Any) -> bytes:
    """Return the bytes of an array or a parameter; code of the user's is told by its name."""
    if sparse.issparse(value):
        return b"".join(map(_bytes, (value.data, value.indices, value.indptr)))
    if isinstance(value, np.ndarray):
        return value.tobytes()
    return getattr(value, "__qualname__", repr(value) if np.isscalar(value) else "").encode()
