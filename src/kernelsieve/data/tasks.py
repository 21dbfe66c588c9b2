"""What one task of an engine does, in whatever process and on whatever machine it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from ..exceptions import InvalidDataError
from .blocks import Batch, rows_from
from .sources import Part, is_frame
from .threads import QUIET, one_thread, reported

_Sums = TypeVar("_Sums")


@dataclass(frozen=True)
class Summing(Generic[_Sums]):
    """Checks samples and sums them up."""

    check: Callable[[Part], Batch]
    empty: Callable[[], _Sums]  # returns sums of no samples
    to_sums: Callable[[_Sums, Batch], None]  # adds samples

    def add(self, sums: _Sums, part: Part, start: int) -> None:
        """Add the samples of a part, whose first one has the number ``start`` among all."""
        if len(part):
            # Whoever began the task counts its rows when it ends.
            with one_thread(), rows_from(start), reported("task", verbose=False):
                self.to_sums(sums, self.check(part))

    def sums(self, part: Part, start: int) -> _Sums:
        """Return the sums of one part alone."""
        sums = self.empty()
        self.add(sums, part, start)
        return sums


def merged(sums: Sequence[Any]) -> Any:
    """Return sums of the samples of all; none of them is changed, for others may need it."""
    whole = deepcopy(sums[0])
    with one_thread(), np.errstate(**QUIET):
        for other in sums[1:]:
            whole.merge(other)
    return whole


@dataclass(frozen=True)
class RowWise:
    """Applies a function to samples, of which there may be none."""

    function: Callable[[Any], Any]
    of_none: Any  # what it would return for no samples

    def __call__(self, X: Any, start: int = 0) -> Any:
        if not X.shape[0]:
            return self.of_none
        with one_thread(), rows_from(start):
            return self.function(X)


def distinct_labels(part: Part) -> set[Any]:
    """Return the different labels; what is none, such as NaN, is refused with its row later."""
    labels = set(np.asarray(part.y).ravel().tolist())
    return {label for label in labels if label is not None and label == label}


def result_table(function: Any, rows: Any) -> Any:
    """Return the data frame of what a function makes of samples, with names for its columns."""
    import pandas

    result = function(rows)
    if is_frame(result):
        return result
    columns = np.asarray(result).reshape(len(result), -1)
    return pandas.DataFrame(columns, rows.index, function.column_names(columns.shape[1]))


def example_table(function: Any, row: Any, taken: Sequence[str]) -> Any:
    """Return the result of one sample, whose columns are to stand beside those that are there."""
    example = result_table(function, row)
    both = [name for name in example if name in taken]
    if both:
        raise InvalidDataError(
            f"X has a column {both[0]!r} already, which the result would be called; rename it."
        )
    return example
