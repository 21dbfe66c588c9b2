"""Samples in a Ray dataset: summed up where the blocks are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import ray
from pandas import DataFrame
from ray.data.block import BlockAccessor

from ..rows import Part, Source
from ..rows.arrow import input_columns, named_column
from .tasks import (
    EngineBatches,
    FrameColumns,
    RowWise,
    Summing,
    distinct_labels,
    example_table,
    merged,
    result_table,
)


class RaySource(Source):
    """The rows of a dataset; targets and weights are columns, and results become further ones."""

    in_memory = "X.to_pandas()"
    is_lazy = True

    def __init__(self, data: Any, target: Any, weight: Any, inputs: Sequence[str] | None) -> None:
        names = list(data.columns() or ())
        given = named_column(target, "y", names), named_column(weight, "sample_weight", names)
        self._columns = FrameColumns(input_columns(names, inputs, *given), *given)
        self._whole, self._data = data, data.select_columns(self._columns.names)
        self._data.context.execution_options.preserve_order = True  # for rows have numbers

    @cached_property
    def n_rows(self) -> int:
        return int(self._data.count())

    def labels(self) -> np.ndarray:
        found = _results(self._run(lambda part, start: distinct_labels(part)))
        return np.unique(list(set().union(*found)))

    def __iter__(self) -> Iterator[Part]:
        return (part for part in map(ray.get, self._run(lambda part, start: part)) if len(part))

    def take(self, rows: np.ndarray) -> Part:
        def inside(part: Part, start: int) -> Part:
            first, last = np.searchsorted(rows, (start, start + len(part)))
            return part.take(rows[first:last] - start)

        return Part.joined(_results(self._run(inside)))

    def batches(self, check: Callable[[Part], Any], sample: Any) -> EngineBatches:
        return EngineBatches(self, check, sample)

    def sum_up(self, summing: Summing) -> Any:
        """Sum up every block in a task of its own, and merge the sums by a tree."""
        sums = list(self._run(summing.sums))
        while len(sums) > 1:
            sums = [_merged.remote(*sums[i : i + 8]) for i in range(0, len(sums), 8)]
        return _results(sums)[0] if sums else summing.empty()

    def apply(self, function: Any) -> Any:
        inputs = list(self._columns.inputs)
        example = example_table(function, DataFrame(1.0, [0], inputs), self._whole.columns())
        row_wise = RowWise(partial(result_table, function), example[:0])

        def with_results(rows: DataFrame) -> DataFrame:
            return rows.join(row_wise(rows[inputs]))

        return self._whole.map_batches(with_results, batch_format="pandas")

    def _run(self, function: Callable[[Part, int], Any]) -> Iterator[Any]:
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


def _results(tasks: Iterable[Any]) -> list[Any]:
    try:
        return ray.get(list(tasks))
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None  # without the trace of a worker
