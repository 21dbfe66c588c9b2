"""One statistic a fold: what cross-validation needs of the samples."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data import Batch, HashedFolds
from ..exceptions import InvalidDataError
from .passes import SumsTogether


@dataclass
class FoldSums(SumsTogether):
    """The statistic of every fold, and that of samples that are never held out.

    Training samples of a fold are all others; their statistics are added up, never subtracted.
    """

    folds: list[Any]
    never_held_out: Any

    @property
    def parts(self) -> list[Any]:
        return [*self.folds, self.never_held_out]

    @property
    def n_rows(self) -> int:
        """Number of samples that have been seen."""
        return sum(sums.n_rows for sums in self.parts)

    def all_but(self, left_out: int | None) -> Any:
        """Return the statistic of all samples but those of a fold."""
        total = copy.deepcopy(self.never_held_out)
        for number, sums in enumerate(self.folds):
            if number != left_out:
                total.merge(sums)
        return total

    def _check_plan(self, other: Any) -> None:
        if not isinstance(other, FoldSums) or len(other.folds) != len(self.folds):
            raise InvalidDataError(
                "These sums belong to different plans: they are not in the same folds. Make all parts "
                "with one plan, or with copies of its file."
            )


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
class SumsOfWorks(SumsTogether):
    """Sums of different works that one pass does."""

    sums: list[Any]

    @property
    def parts(self) -> list[Any]:
        return self.sums

    def _check_plan(self, other: Any) -> None:
        """Accept all: tasks of one pass have one plan."""


@dataclass(frozen=True)
class WorkTogether:
    """Several works that one pass does."""

    works: Sequence[Any]

    def empty(self) -> SumsOfWorks:
        return SumsOfWorks([work.empty() for work in self.works])

    def add(self, sums: SumsOfWorks, batch: Batch) -> None:
        for work, of_work in zip(self.works, sums.sums, strict=True):
            work.add(of_work, batch)
