"""Samples in columns of files: Parquet, CSV and whatever else a ``pyarrow.dataset`` reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ..exceptions import InvalidDataError
from .blocks import row_number
from .sources import Part, Source

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
        self._target = named_column(target, "y", dataset.schema.names)
        self._weight = named_column(weight, "sample_weight", dataset.schema.names)
        self._inputs = input_columns(dataset.schema.names, inputs, self._target, self._weight)
        self._check_types()

    @property
    def n_rows(self) -> int:
        return int(self._dataset.count_rows())

    def labels(self) -> np.ndarray:
        batches = self._dataset.to_batches(columns=[self._target])
        found = {label for batch in batches for label in batch.column(0).unique().to_pylist()}
        return np.array(sorted(found - {None}))

    def __iter__(self) -> Iterator[Part]:
        others = [name for name in (self._target, self._weight) if name is not None]
        start = 0
        for batch in self._dataset.to_batches(columns=[*self._inputs, *others], **self._reading()):
            if batch.num_rows == 0:
                continue
            _refuse_nulls(batch, start)
            start += batch.num_rows
            frame = batch.to_pandas()
            y, weight = (None if name is None else frame[name] for name in (self._target, self._weight))
            yield Part(frame[self._inputs], y, weight)

    def _reading(self) -> dict[str, Any]:
        """Return options that keep little in memory; by default a Parquet file would be kept whole."""
        parquet = import_module("pyarrow.dataset").ParquetFragmentScanOptions
        if getattr(getattr(self._dataset, "format", None), "default_extname", "") != "parquet":
            return _READING
        return _READING | {"fragment_scan_options": parquet(pre_buffer=False)}

    def _check_types(self) -> None:
        types = import_module("pyarrow").types
        numeric = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
        for name in self._inputs:
            kind = self._dataset.schema.field(name).type
            if not any(is_kind(kind) for is_kind in numeric):
                raise InvalidDataError(
                    f"Column {name!r} has the type {kind}, and inputs are numbers; leave it out with "
                    "kernelsieve.datasets.select_columns, or encode it first."
                )


def named_column(name: Any, role: str, names: Sequence[str]) -> str | None:
    """Return the name of a column that is a target or a weight."""
    if name is None:
        return None
    if not isinstance(name, str):
        raise InvalidDataError(
            f"{role} must be the name of a column where X is a table of named columns; it is of type "
            f"{type(name).__name__}."
        )
    if name not in names:
        raise InvalidDataError(f"{role}={name!r} is no column of X, which has {list(names)}.")
    return name


def input_columns(
    names: Sequence[str], inputs: Sequence[str] | None, target: str | None, weight: str | None
) -> list[str]:
    """Return the columns that are inputs: those that are asked for, or all others."""
    if inputs is None:
        inputs = [name for name in names if name not in (target, weight)]
    missing = [name for name in inputs if name not in names]
    if missing:
        raise InvalidDataError(
            f"X has no column {missing[0]!r}, which was there in fit; it has {list(names)}."
        )
    if not len(inputs):
        raise InvalidDataError("X has no column beside targets and weights; at least one is needed.")
    return list(inputs)


def _refuse_nulls(batch: Any, start: int) -> None:
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if column.null_count:
            row = column.is_null().to_numpy(zero_copy_only=False).argmax()
            raise InvalidDataError(
                f"Column {name!r} has a null in row {row_number(start + row)} (counted from 0); remove "
                "such rows, for example by a filter, or fill them in."
            )
