"""Samples in a Ray dataset: summed up where the blocks are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import Any

import numpy as np
import ray
from pandas import DataFrame
from ray.data.block import BlockAccessor

from .blocks import Batch
from .sources import FrameColumns, Part, Source
from .tasks import (
    RowWise,
    Summing,
    distinct_labels,
    example_table,
    merged,
    result_table,
)

_FAN_IN = 8  # sums that one task merges
_LOST = (
    ray.exceptions.WorkerCrashedError,
    ray.exceptions.OutOfMemoryError,
    ray.exceptions.NodeDiedError,
    ray.exceptions.ObjectLostError,
)
_Join = Callable[[list[Any]], list[Any]]


class RaySource(Source):
    """The rows of a dataset; targets and weights are columns, and results become further ones."""

    in_memory = "X.to_pandas()"
    is_lazy = True

    def __init__(self, data: Any, target: Any, weight: Any, inputs: Sequence[str] | None) -> None:
        names = list(data.columns() or ())
        self._columns = FrameColumns.among(names, target, weight, inputs)
        self._whole, self._data = data, data.select_columns(self._columns.names)
        self._data.context.execution_options.preserve_order = True  # for rows have numbers

    @cached_property
    def n_rows(self) -> int:
        return int(self._data.count())

    def labels(self) -> np.ndarray:
        found = self._run(lambda part, start: distinct_labels(part))
        return np.unique(list(set().union(*found)))

    def __iter__(self) -> Iterator[Part]:
        with _clear_errors():
            for part in map(ray.get, self._begun(lambda part, start: part)):
                if len(part):
                    yield part

    def take(self, rows: np.ndarray) -> Part:
        def inside(part: Part, start: int) -> Part:
            first, last = np.searchsorted(rows, (start, start + len(part)))
            return part.take(rows[first:last] - start)

        return Part.joined(self._run(inside))

    def sum_up(self, check: Callable[[Part], Batch], empty: Any, add: Any) -> Any:
        """Sum up every block in a task of its own, and merge the sums by a tree."""
        sums = self._run(Summing(check, empty, add).sums, _merged_by_a_tree)
        return sums[0] if sums else empty()

    def apply(self, function: Any) -> Any:
        inputs = self._columns.inputs
        example = example_table(function, DataFrame(1.0, [0], inputs), self._whole.columns())
        row_wise = RowWise(partial(result_table, function), example[:0])

        def with_results(rows: DataFrame) -> DataFrame:
            return rows.join(row_wise(rows[inputs]))

        return self._whole.map_batches(with_results, batch_format="pandas")

    def _run(self, function: Callable[[Part, int], Any], join: _Join = list) -> list[Any]:
        """Return what a function makes of every block, or what tasks that join these make of it.

        After an error or an interrupt nobody waits for the others, so they are cancelled.
        """
        tasks: list[Any] = []
        try:
            with _clear_errors():
                tasks.extend(self._begun(function))
                return ray.get(join(tasks))
        except BaseException:
            for task in tasks:
                ray.cancel(task)
            raise

    def _begun(self, function: Callable[[Part, int], Any]) -> Iterator[Any]:
        """Begin with one task a block, which gets its samples and the number of the first."""
        shared, start = ray.put(function), 0
        for bundle in self._data.iter_internal_ref_bundles():
            for block, about in zip(bundle.block_refs, bundle.metadata, strict=True):
                yield _of_block.remote(shared, block, self._columns, start)
                start += about.num_rows


@ray.remote
def _of_block(
    function: Callable[[Part, int], Any], block: Any, columns: FrameColumns, start: int
) -> Any:
    return function(columns.part(BlockAccessor.for_block(block).to_pandas()), start)


@ray.remote
def _merged(*sums: Any) -> Any:
    return merged(sums)


def _merged_by_a_tree(sums: list[Any]) -> list[Any]:
    while len(sums) > 1:
        sums = [_merged.remote(*sums[i : i + _FAN_IN]) for i in range(0, len(sums), _FAN_IN)]
    return sums


@contextmanager
def _clear_errors() -> Iterator[None]:
    """Raise what a task raised, without the trace of a worker, and say what to do where one died."""
    try:
        yield
    except ray.exceptions.RayError as error:
        cause = getattr(error, "cause", None) or error
        if not isinstance(cause, _LOST):
            raise cause from None
        raise RuntimeError(
            f"Ray tried again and again, and gave up ({type(cause).__name__}). Mostly workers had too "
            "little memory: cut X into more blocks by X.repartition, let fewer tasks run at once, or "
            "take fewer candidates. A kernel of your own may have ended its process, too."
        ) from error
