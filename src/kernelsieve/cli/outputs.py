"""Results, written a block at a time: files appear when they are whole."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas

from ..model import replacing
from .errors import ClosedPipe, TableError

Write = Callable[[pandas.DataFrame], None]


@contextmanager
def writing(output: str) -> Iterator[Write]:
    """Return what takes blocks of rows for a file, or for standard output."""
    if output == "-":
        yield _csv(sys.stdout)
        return
    path = Path(output)
    if path.suffix not in _WRITERS:
        raise TableError(f"--output {output} must end in .csv, .tsv, .parquet or .npy, or be - .")
    if not path.parent.is_dir():
        raise FileNotFoundError(2, "No such folder", str(path.parent))
    with replacing(path) as file, _WRITERS[path.suffix](file) as write:
        yield write


def _csv(file: Any, separator: str = ",") -> Write:
    first = True

    def write(block: pandas.DataFrame) -> None:
        nonlocal first
        try:
            block.to_csv(file, index=False, header=first, sep=separator)
        except BrokenPipeError:  # which typer would turn into an exit code of its own
            raise ClosedPipe from None
        first = False

    return write


@contextmanager
def _text(file: IO[bytes], separator: str = ",") -> Iterator[Write]:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    yield _csv(text, separator)
    text.flush()
    text.detach()


@contextmanager
def _parquet(file: IO[bytes]) -> Iterator[Write]:
    pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    writer: Any = None

    def write(block: pandas.DataFrame) -> None:
        nonlocal writer
        schema = None if writer is None else writer.schema
        table = pyarrow.Table.from_pandas(block, schema=schema, preserve_index=False)
        writer = writer or parquet.ParquetWriter(file, table.schema)
        writer.write_table(table)

    yield write
    if writer is not None:
        writer.close()


@contextmanager
def _npy(file: IO[bytes]) -> Iterator[Write]:
    """Write numbers; the header has room for the number of rows, which is known in the end."""
    shape = [0, 0]

    def header() -> None:
        described = {"descr": "<f8", "fortran_order": False, "shape": tuple(shape)}
        np.lib.format.write_array_header_2_0(file, described)

    def write(block: pandas.DataFrame) -> None:
        try:
            values = block.to_numpy(dtype="<f8")
        except ValueError:
            raise TableError(
                ".npy holds numbers, and there are labels; write .csv or .parquet."
            ) from None
        if shape[1] == 0:
            shape[1] = values.shape[1]
            header()
        shape[0] += len(values)
        file.write(np.ascontiguousarray(values).tobytes())

    yield write
    file.seek(0)
    header()


_WRITERS: dict[str, Callable[[IO[bytes]], Any]] = {
    ".csv": _text,
    ".tsv": lambda file: _text(file, "\t"),
    ".parquet": _parquet,
    ".npy": _npy,
}
