"""Tables in files, read in blocks of rows, repeatedly if needed."""

from __future__ import annotations

import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from gzip import BadGzipFile
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas

from .errors import TableError
from .separated import read_separated
from .terminal import Terminal
from .text_format import TextFormat

ROWS = 50_000  # that are read together
_FORMATS = "CSV, TSV, Excel (.xlsx), Parquet, Arrow/Feather, svmlight, .npy or .npz"
_SEPARATED = {".csv": ",", ".txt": ",", ".tsv": "\t", ".tab": "\t"}
_NO_TEXT = "{name} is no text; --sep, --encoding and --decimal are for CSV and TSV files."


@dataclass(frozen=True)
class Table:
    """A table with named columns, read in blocks of rows."""

    name: str
    read: Callable[[], Iterator[pandas.DataFrame]]

    def blocks(self) -> Iterator[pandas.DataFrame]:
        """Yield all rows, a block at a time."""
        start = 0
        for block in self._whole():
            block.columns = block.columns.map(str)
            block.index = pandas.RangeIndex(start, start + len(block))
            start += len(block)
            yield block
        if start == 0:
            raise TableError(f"{self.name} has no rows; pass a table with a header and some rows.")

    def _whole(self) -> Iterator[pandas.DataFrame]:
        with _damage_reported(self.name):
            yield from self.read()

    def sampled(self, size: int, seed: int) -> tuple[pandas.DataFrame, int]:
        """Draw a sample of rows, in their order; return it with the number of all rows."""
        random, kept, keys, n_rows = np.random.default_rng(seed), None, np.empty(0), 0
        for block in self.blocks():
            n_rows += len(block)
            drawn = random.random(len(block))
            kept = block if kept is None else pandas.concat([kept, block])
            keys = np.concatenate([keys, drawn])
            if len(keys) > size:
                smallest = np.sort(np.argpartition(keys, size)[:size])
                kept, keys = kept.iloc[smallest], keys[smallest]
        assert kept is not None
        return kept, n_rows


@contextmanager
def _damage_reported(name: str) -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, BadGzipFile, BadZipFile) as error:
        raise TableError(f"{name} is damaged or cut short ({error}); copy it again.") from error


def open_table(
    data: str, options: Mapping[str, str | None] | None = None, show: Terminal | None = None
) -> Table:
    """Open a table: a file, a folder of Parquet files, or standard input.

    Options are ``sep``, ``encoding`` and ``decimal`` of a table of text. What was inferred of them is
    shown where it is not as in most such files.
    """
    text = TextFormat.from_options(**(options or {}))
    if data == "-":
        return _from_stdin(text, show)
    path = Path(data)
    if not path.exists():
        raise FileNotFoundError(2, "No such file or folder", data)
    if path.is_dir():
        files = sorted(path.rglob("*.parquet"))
        if not files:
            raise TableError(
                f"{data} is a folder without Parquet files; pass a file, or such a folder."
            )
        return Table(data, lambda: _parquet(files))
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    suffix = suffixes[-1] if suffixes else ""
    if suffix in _SEPARATED:
        return _text_table(data, path, _SEPARATED[suffix], text, show)
    reader = _READERS.get(suffix)
    if reader is None:
        raise TableError(f"{data} has an unknown file extension; tables are {_FORMATS}.")
    if not text.is_open:
        raise TableError(_NO_TEXT.format(name=data))
    return Table(data, lambda: reader(path))


def _text_table(
    name: str, path: Path, separator: str, asked: TextFormat, show: Terminal | None
) -> Table:
    with _damage_reported(name):
        text = asked.from_file(path, separator)
    found = text.in_words(separator)
    if found and show is not None:
        show.text(f"{name} was read with {found}; --sep, --encoding and --decimal override this.")
    return Table(name, lambda: _separated(path, text))


def _from_stdin(text: TextFormat, show: Terminal | None) -> Table:
    """Copy standard input to a temporary file, since it is read more than once."""
    if sys.stdin is None:
        raise TableError("Standard input is closed; name a file.")
    file = tempfile.NamedTemporaryFile(suffix=".csv")  # noqa: SIM115  (open as long as the table)
    shutil.copyfileobj(sys.stdin.buffer, file)
    file.flush()
    table = _text_table("standard input", Path(file.name), ",", text, show)

    def read() -> Iterator[pandas.DataFrame]:
        file.flush()  # and keep it
        yield from table.read()

    return Table(table.name, read)


def _separated(path: Path, text: TextFormat) -> Iterator[pandas.DataFrame]:
    assert text.separator
    assert text.encoding
    return map(text.numbers, read_separated(path, text.separator, ROWS, text.encoding))


def _excel(path: Path) -> Iterator[pandas.DataFrame]:
    try:
        import_module("openpyxl")
    except ImportError as error:
        raise ImportError('Excel files need openpyxl; run: pip install "kernelsieve[excel]"') from error
    frame = pandas.read_excel(path, dtype=object)  # of the first sheet, as its cells are
    for start in range(0, len(frame), ROWS):
        yield frame.iloc[start : start + ROWS]


def _parquet(files: list[Path]) -> Iterator[pandas.DataFrame]:
    pyarrow, parquet = _arrow(), import_module("pyarrow.parquet")
    for file in files:
        try:
            for batch in parquet.ParquetFile(file).iter_batches(ROWS):
                yield _frame(batch)
        except (pyarrow.ArrowException, OSError) as error:
            text = str(error).splitlines()[0]
            raise TableError(f"{file} cannot be read: {text} Write that part again.") from error


def _frame(batch: Any) -> pandas.DataFrame:
    """Convert an Arrow batch to pandas; whole numbers stay exact, lists and records become text."""
    is_nested = import_module("pyarrow.types").is_nested
    plain = [i for i, field in enumerate(batch.schema) if not is_nested(field.type)]
    frame = batch.select(plain).to_pandas(integer_object_nulls=True)
    for i, field in enumerate(batch.schema):
        if is_nested(field.type):
            texts = [None if value is None else str(value) for value in batch.column(i).to_pylist()]
            frame.insert(i, field.name, texts)
    return frame


def _feather(path: Path) -> Iterator[pandas.DataFrame]:
    pyarrow, dataset = _arrow(), import_module("pyarrow.dataset")
    try:
        for batch in dataset.dataset(path, format="feather").to_batches(batch_size=ROWS):
            yield _frame(batch)
    except pyarrow.ArrowException as error:
        raise TableError(f"{path} cannot be read: {str(error).splitlines()[0]}") from error


def _arrow() -> Any:
    try:
        return import_module("pyarrow")
    except ImportError as error:
        raise ImportError('This format needs pyarrow; run: pip install "kernelsieve[files]"') from error


def _svmlight(path: Path) -> Iterator[pandas.DataFrame]:
    X, y = import_module("sklearn.datasets").load_svmlight_file(str(path))
    for start in range(0, X.shape[0], ROWS):
        rows = slice(start, start + ROWS)
        frame = pandas.DataFrame(X[rows].toarray()).add_prefix("x")
        yield frame.assign(target=y[rows])


def _npy(path: Path) -> Iterator[pandas.DataFrame]:
    yield from _array_blocks({"x": _loaded(path, mmap_mode="r")}, path)


def _npz(path: Path) -> Iterator[pandas.DataFrame]:
    with _loaded(path) as arrays:
        found = {name: arrays[name] for name in arrays.files}
    yield from _array_blocks({("x" if name == "X" else name): v for name, v in found.items()}, path)


def _loaded(path: Path, **options: Any) -> Any:
    try:
        return np.load(path, allow_pickle=False, **options)
    except (ValueError, EOFError) as error:
        raise TableError(f"{path} cannot be read: {error}") from error


def _array_blocks(arrays: dict[str, np.ndarray], path: Path) -> Iterator[pandas.DataFrame]:
    lengths = {len(array) for array in arrays.values() if array.ndim}
    if len(lengths) != 1 or any(array.ndim not in (1, 2) for array in arrays.values()):
        raise TableError(f"{path} must have arrays of one or two dimensions with as many rows each.")
    for start in range(0, lengths.pop(), ROWS):
        columns: dict[str, Any] = {}
        for name, array in arrays.items():
            part = np.asarray(array[start : start + ROWS])
            if part.ndim == 1:
                columns[name] = part
            else:
                columns |= {f"{name}{i}": part[:, i] for i in range(part.shape[1])}
        yield pandas.DataFrame(columns)


_READERS: dict[str, Callable[[Path], Iterator[pandas.DataFrame]]] = {
    ".xlsx": _excel,
    ".parquet": lambda path: _parquet([path]),
    ".arrow": _feather,
    ".feather": _feather,
    ".svm": _svmlight,
    ".svmlight": _svmlight,
    ".libsvm": _svmlight,
    ".npy": _npy,
    ".npz": _npz,
}
