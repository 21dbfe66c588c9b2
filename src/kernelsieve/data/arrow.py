"""Samples in columns of files: Parquet, CSV and whatever else a ``pyarrow.dataset`` reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ..exceptions import InvalidDataError
from .blocks import row_number
from .sources import FrameColumns, Part, Source

_READING = {"batch_size": 2**15, "batch_readahead": 2, "fragment_readahead": 1}


class ArrowSource(Source):
    """The rows of a ``pyarrow.dataset``; targets and weights are columns, called by their names."""

    in_memory = "dataset.to_table().to_pandas()"

    def __init__(
        self,
        dataset: Any,
        target: str | None = None,
        weight: str | None = None,
        inputs: Sequence[str] | None = None,
    ) -> None:
        self._dataset = dataset
        self._columns = FrameColumns.among(dataset.schema.names, target, weight, inputs)
        self._check_types()

    @property
    def n_rows(self) -> int:
        return int(self._dataset.count_rows())

    def labels(self) -> np.ndarray:
        batches = self._dataset.to_batches(columns=[self._columns.target])
        found = {label for batch in batches for label in batch.column(0).unique().to_pylist()}
        return np.array(sorted(found - {None}))

    def __iter__(self) -> Iterator[Part]:
        start = 0
        for batch in self._dataset.to_batches(columns=self._columns.names, **self._reading()):
            if batch.num_rows == 0:
                continue
            _refuse_nulls(batch, start)
            start += batch.num_rows
            yield self._columns.part(batch.to_pandas())

    def _reading(self) -> dict[str, Any]:
        """Return options that keep little in memory; by default a Parquet file would be kept whole."""
        parquet = import_module("pyarrow.dataset").ParquetFragmentScanOptions
        if getattr(getattr(self._dataset, "format", None), "default_extname", "") != "parquet":
            return _READING
        return _READING | {"fragment_scan_options": parquet(pre_buffer=False)}

    def _check_types(self) -> None:
        types = import_module("pyarrow").types
        numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
        for name in self._columns.inputs:
            kind = self._dataset.schema.field(name).type
            if not any(is_kind(kind) for is_kind in numeric):
                raise InvalidDataError(
                    f"Column {name!r} has the type {kind}, and inputs are numbers; leave it out with "
                    "kernelsieve.datasets.select_columns, or encode it first."
                )


def _refuse_nulls(batch: Any, start: int) -> None:
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if column.null_count:
            row = column.is_null().to_numpy(zero_copy_only=False).argmax()
            raise InvalidDataError(
                f"Column {name!r} has a null in row {row_number(start + row)} (counted from 0); remove "
                "such rows, for example by a filter, or fill them in."
            )
