"""What a pass over samples does, here or where the samples are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from .blocks import Batch
from .progress import counted

_Sums = TypeVar("_Sums")


class Work(Protocol[_Sums]):
    """What a pass sums up; it can be sent to other processes, and so can its sums."""

    def empty(self) -> _Sums:
        """Return sums that have seen no rows."""

    def add(self, sums: _Sums, batch: Batch) -> None:
        """Add rows to sums that nobody needs after an error."""


def sum_up(batches: Iterable[Batch], work: Work[_Sums]) -> _Sums:
    """Pass once over all rows: here, or where the batches are, if they say how."""
    elsewhere = getattr(batches, "sum_up", None)
    if elsewhere is not None:
        return elsewhere(work)
    sums = work.empty()
    with counted(rows_in(batches)):
        for batch in batches:
            work.add(sums, batch)
    return sums


def rows_in(batches: Iterable[Batch]) -> int | None:
    """Return the number of rows, where it is known before a pass."""
    if isinstance(batches, list):
        return sum(map(len, batches))
    return getattr(batches, "n_rows", None)
