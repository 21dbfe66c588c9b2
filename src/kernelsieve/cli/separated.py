"""Delimited text files, with every value read as text.

What a column is, numbers, dates or categories, is for :mod:`.columns` to say, by all values that are
known: the value "01" is the same text in every file and in every block of rows.
"""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pandas

from .errors import TableError

#: Texts that are missing values, as pandas has them.
_WORDS = "#N/A #NA -1.#IND -1.#QNAN -NaN -nan 1.#IND 1.#QNAN <NA> N/A NA NULL NaN None n/a nan null"
MISSING = frozenset(["", "#N/A N/A", *_WORDS.split()])
_VALUES = 4_000_000  # that are read together, of tables with many columns
_LONGEST = 2**31 - 1  # characters of a value

Row = list[str]


def read_separated(
    path: Path, separator: str, n_rows: int, encoding: str = "utf-8-sig"
) -> Iterator[pandas.DataFrame]:
    """Yield blocks of rows as text; missing values are NaN."""
    csv.field_size_limit(_LONGEST)
    opened: Callable[..., Any] = gzip.open if path.suffix.lower() == ".gz" else open
    with opened(path, "rt", encoding=encoding, newline="") as file:
        try:
            yield from _blocks(path, csv.reader(file, delimiter=separator, strict=True), n_rows)
        except (csv.Error, UnicodeError) as error:
            raise TableError(f"{path} cannot be read as a table: {error}.") from error


def _blocks(path: Path, reader: Iterator[Row], most: int) -> Iterator[pandas.DataFrame]:
    rows = (row for row in reader if row)  # lines without anything are none
    header = next(rows, None)
    if header is None:
        raise TableError(f"{path} is empty; pass a table with a header and some rows.")
    names, start = _names(header), 0
    while block := list(islice(rows, max(1, min(most, _VALUES // len(names))))):
        _check_lengths(path, block, len(names), start)
        columns = zip(*block, strict=True)
        yield pandas.DataFrame(dict(zip(names, map(_column, columns), strict=True)))
        start += len(block)


def _column(values: tuple[str, ...]) -> pandas.Series:
    texts = pandas.Series(values, dtype="str")
    return texts.mask(texts.isin(MISSING))


def _names(header: Row) -> list[str]:
    """Return unique column names; delimiters at the end of the header name no column."""
    while len(header) > 1 and not header[-1].strip():
        header = header[:-1]
    names: list[str] = []
    seen: Counter[str] = Counter()
    for i, name in enumerate(header):
        own = plain = name or f"Unnamed: {i}"
        while own in names:
            seen[plain] += 1
            own = f"{plain}.{seen[plain]}"
        names.append(own)
    return names


def _check_lengths(path: Path, block: list[Row], n_names: int, start: int) -> None:
    """Raise an error for rows whose number of values differs from the header's.

    Separators at the end of a row, with nothing behind them, are no values.
    """
    if set(map(len, block)) == {n_names}:
        return
    for number, row in enumerate(block, start + 1):
        while len(row) > n_names and not row[-1].strip():
            row.pop()
        if len(row) != n_names:
            raise TableError(
                f"{path} cannot be read as a table: row {number:,} after the header has "
                f"{len(row)} values, and the header has {n_names} names; give every row as many."
            )
