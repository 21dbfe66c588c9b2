"""One statistic a fold: what cross-validation needs of the samples."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data import Batch, HashedFolds
from ..exceptions import InvalidDataError


@dataclass
class FoldSums:
    """The statistic of every fold, and that of samples that are never held out.

    Training samples of a fold are all others; their statistics are added up, never subtracted.
    """

    folds: list[Any]
    never_held_out: Any

    @property
    def n_rows(self) -> int:
        """Number of samples that have been seen."""
        return sum(sums.n_rows for sums in self._all)

    def all_but(self, left_out: int | None) -> Any:
        """Return the statistic of all samples but those of a fold."""
        total = copy.deepcopy(self.never_held_out)
        for number, sums in enumerate(self.folds):
            if number != left_out:
                total.merge(sums)
        return total

    def merge(self, other: FoldSums) -> None:
        """Take in what another one has seen."""
        for mine, theirs in self._pairs(other):
            mine.merge(theirs)

    def subtract(self, other: FoldSums) -> None:
        """Take out what another one has seen."""
        for mine, theirs in self._pairs(other):
            if theirs.n_rows:
                mine.subtract(theirs)

    def scale(self, factor: float) -> None:
        """Multiply the weights of all rows that have been seen."""
        for sums in self._all:
            sums.scale(factor)

    @property
    def _all(self) -> list[Any]:
        return [*self.folds, self.never_held_out]

    def _pairs(self, other: Any) -> Iterator[tuple[Any, Any]]:
        if not isinstance(other, FoldSums) or len(other.folds) != len(self.folds):
            raise InvalidDataError(
                "These sums belong to different plans: they are not in the same folds. Make all parts "
                "with one plan, or with copies of its file."
            )
        return zip(self._all, other._all, strict=True)


@dataclass(frozen=True)
class FoldWork:
    """The work of a pass: sums of folds that samples tell themselves."""

    empty_fold: Callable[[], Any]
    add_to_fold: Callable[[Any, Batch], None]
    folds: HashedFolds

    def empty(self) -> FoldSums:
        return FoldSums([self.empty_fold() for _ in range(self.folds.n_folds)], self.empty_fold())

    def add(self, sums: FoldSums, batch: Batch) -> None:
        of_samples = self.folds(batch.X)
        for number, of_fold in enumerate([*sums.folds, sums.never_held_out]):
            rows = np.flatnonzero(of_samples == number)
            if len(rows):
                self.add_to_fold(of_fold, batch[rows])


@dataclass
class SumsTogether:
    """Sums that one pass fills, of different work."""

    sums: list[Any]

    def merge(self, other: SumsTogether) -> None:
        for mine, theirs in zip(self.sums, other.sums, strict=True):
            mine.merge(theirs)


@dataclass(frozen=True)
class WorkTogether:
    """Several works that one pass does."""

    works: Sequence[Any]

    def empty(self) -> SumsTogether:
        return SumsTogether([work.empty() for work in self.works])

    def add(self, sums: SumsTogether, batch: Batch) -> None:
        for work, of_work in zip(self.works, sums.sums, strict=True):
            work.add(of_work, batch)
