"""Output files: checked before any work, and written completely or not at all."""

from __future__ import annotations

import errno
import io
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas

from ..model import check_writable, is_stream, replacing
from .errors import TableError

Write = Callable[[pandas.DataFrame], None]
Name = str | Path


def check_files(reads: Iterable[Name], writes: Iterable[Name | None]) -> None:
    """Raise an error for outputs that cannot be written or are inputs, before any work.

    Links and hard links to an input count as the input; ``-`` is standard input or output.
    """
    known = {}
    for name in reads:
        for file in _files_in(name):
            known[_identity(file, sys.stdin)] = (
                f"{_display_name(name, 'input')} is read by this command, too"
            )
    for output in [name for name in writes if name is not None]:
        if str(output) != "-":
            check_writable(output)
        identity = _identity(output, sys.stdout)
        if identity is not None and identity in known:
            told = _display_name(output, "output")
            raise TableError(f"{told} cannot be written: {known[identity]}; name another file.")
        known[identity] = f"{output} is written by this command, too"


def _display_name(name: Name, stream: str) -> str:
    return f"Standard {stream}" if str(name) == "-" else str(name)


def _files_in(name: Name) -> list[Name]:
    """Return the files of a table: one file, or the Parquet files of a folder."""
    return [*Path(name).rglob("*.parquet")] if Path(name).is_dir() else [name]


def _identity(name: Name, stream: Any) -> Any:
    """Return a key that all names of one file share; None for terminals, pipes and devices."""
    try:
        found = os.stat(stream.fileno() if str(name) == "-" else name)
    except (OSError, ValueError, AttributeError):  # a new file, or a stream that is closed
        return None if str(name) == "-" else os.path.realpath(name)
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def check_format(output: str) -> None:
    """Raise an error for unknown output formats; devices and pipes get CSV."""
    if output != "-" and not is_stream(output) and Path(output).suffix not in _WRITERS:
        raise TableError(f"--output {output} must end in .csv, .tsv, .parquet or .npy, or be - .")


def _writer(output: str) -> Callable[[IO[bytes]], Any]:
    return _WRITERS.get(Path(output).suffix, _text)


@contextmanager
def open_writer(output: str) -> Iterator[Write]:
    """Open a file, or standard output, and return a function that writes blocks of rows to it."""
    check_format(output)
    if output == "-":
        if sys.stdout is None:
            raise OSError(errno.EBADF, "Standard output is closed; name a file with --output.")
        yield _csv(sys.stdout)
        return
    with replacing(output) as file, _writer(output)(file) as write:
        yield write


def write_text(path: Path, text: str) -> None:
    """Write a file of text, wholly or not at all."""
    with replacing(path) as file:
        file.write(text.encode())


def saved_message(path: Path, what: str = "") -> str:
    """Return the message about a file that was written, with its size."""
    size = f"{path.stat().st_size:,} bytes" if path.is_file() else ""
    told = ", ".join(filter(None, (what, size)))
    return f"Saved: {path} ({told})" if told else f"Saved: {path}"


def _csv(file: Any, separator: str = ",") -> Write:
    first = True

    def write(block: pandas.DataFrame) -> None:
        nonlocal first
        block.to_csv(file, index=False, header=first, sep=separator)
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
    """Write numbers as .npy, and fill in the number of rows, known only at the end, in the header."""
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
