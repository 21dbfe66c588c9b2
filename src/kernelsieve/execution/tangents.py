"""Changes of rows under transformations, which features are to be blind to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..kernels import Filler, Rows
from ..rows import AugmentedBlock, Batch
from ..statistics import Coordinates, GramStatistic, Statistic
from . import absorb


@dataclass(frozen=True)
class Change:
    """A transformation of rows, and how much the squared changes under it weigh."""

    move: Callable[[Rows], Rows]
    weight: float

    def frame(self, fill: Filler, n_columns: int) -> AugmentedBlock:
        """Return what fills lines with values less those of the moved rows."""

        def fill_changes(X: Rows, out: np.ndarray) -> None:
            fill(X, out)
            moved = np.empty_like(out)
            fill(self.move(X), moved)
            out -= moved

        return AugmentedBlock(fill_changes, np.zeros(n_columns), np.zeros(0))


@dataclass(frozen=True)
class Changes:
    """Several transformations, whose changes are summed up together."""

    each: Sequence[Change]
    block_rows: int | None = None
    n_jobs: int | None = None

    def absorb(self, statistic: Statistic, batch: Batch, fill: Filler) -> None:
        """Add the changes of the rows of a batch; ``fill`` writes values for all lines but one."""
        for change in self.each:
            rows = Batch(batch.X, np.empty((len(batch), 0)), change.weight * batch.root_weight**2)
            frame = change.frame(fill, statistic.n_lines - 1)
            absorb(statistic, [rows], frame, block_rows=self.block_rows, n_jobs=self.n_jobs)

    def products(self, batches: Iterable[Batch], fill: Filler, n_columns: int) -> np.ndarray:
        """Return inner products of the changes of columns, summed over all rows."""
        statistic = GramStatistic(1 + n_columns)
        for batch in batches:
            self.absorb(statistic, batch, fill)
        return statistic.gram[1:, 1:]


@dataclass
class ChangingSums:
    """The statistic of the columns, and that of their changes."""

    columns: Any  # two of the same kind
    changes: Any

    @property
    def keeps_all_digits(self) -> bool:
        """Whether residuals are known to all digits, or to half of them."""
        return self.columns.keeps_all_digits

    def merge(self, other: Any) -> None:
        """Take in what another one has seen."""
        self.columns.merge(other.columns)
        self.changes.merge(other.changes)

    def change_lines(self) -> np.ndarray:
        """Return the changes of the columns in coordinates, which are not centred."""
        zeros = np.zeros(self.changes.n_lines - 1)
        return self.changes.coordinates(np.zeros(0), zeros, center=False).columns

    def coordinates(self, target_shift: np.ndarray, shift: np.ndarray, *, center: bool) -> Coordinates:
        """Return columns with their changes below, where targets are zero."""
        top = self.columns.coordinates(target_shift, shift, center=center)
        below = self.change_lines()
        targets = np.pad(top.targets, ((0, len(below)), (0, 0)))
        return replace(top, columns=np.vstack([top.columns, below]), targets=targets)
