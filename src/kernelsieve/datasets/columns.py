"""Select columns of a table that is not in memory."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ..exceptions import InvalidDataError


def select_columns(dataset: Any, columns: Sequence[str]) -> Any:
    """Return a ``pyarrow.dataset`` with some of its columns, in that order, without reading it.

    Parameters
    ----------
    dataset : pyarrow.dataset.Dataset
        Files with named columns.
    columns : sequence of str
        The inputs, and the target and the weights where they are needed.

    Returns
    -------
    pyarrow.dataset.Dataset

    Examples
    --------
    >>> import pyarrow as pa, pyarrow.dataset as ds
    >>> table = ds.dataset(pa.table({"id": [1, 2], "area": [3.0, 4.0], "price": [5.0, 6.0]}))
    >>> select_columns(table, ["area", "price"]).schema.names
    ['area', 'price']
    """
    pyarrow = import_module("pyarrow")
    missing = [name for name in columns if name not in dataset.schema.names]
    if missing:
        raise InvalidDataError(f"There is no column {missing[0]!r}; there are {dataset.schema.names}.")
    return dataset.replace_schema(pyarrow.schema([dataset.schema.field(name) for name in columns]))
