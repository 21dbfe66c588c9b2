"""Format of a text table: delimiter, encoding and decimal sign, given or inferred."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import IO, Any

import pandas

from .errors import TableError

_UTF8 = "utf-8-sig"  # with a byte order mark or without
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_SEPARATORS = ",;\t|"
_NAMES = {"\t": "tab", " ": "space"}
_SAMPLE, _RECORDS = 2**18, 200  # bytes and rows that tell delimiter and decimal sign
_CHUNK = 2**20
_POINT = re.compile(r"[-+]?\d+\.\d+([eE][-+]?\d+)?")
_COMMA = re.compile(r"[-+]?(\d{1,3}(\.\d{3})+|\d+),\d+([eE][-+]?\d+)?")
_WITH_COMMA = r"\s*[-+]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d*)?(?:[eE][-+]?\d+)?\s*"
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True)
class TextFormat:
    """Delimiter, encoding and decimal sign; None means inferred from the file."""

    separator: str | None = None
    encoding: str | None = None
    decimal: str | None = None

    @classmethod
    def from_options(
        cls, sep: str | None = None, encoding: str | None = None, decimal: str | None = None
    ) -> TextFormat:
        """Return the format that command line options ask for."""
        separator = {"\\t": "\t", "tab": "\t", "space": " "}.get(sep or "", sep)
        if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
            raise TableError(f"--sep {sep!r} must be one character, or tab.")
        if decimal not in (None, ".", ","):
            raise TableError(f"--decimal {decimal!r} must be a point or a comma.")
        try:
            " ".encode(encoding or "utf-8")
        except LookupError:
            raise TableError(
                f"--encoding {encoding} is not known; pass utf-8, utf-16, latin-1, cp1252 or another "
                "that Python knows."
            ) from None
        is_utf8 = encoding is not None and codecs.lookup(encoding).name == "utf-8"
        return cls(separator, _UTF8 if is_utf8 else encoding, decimal)

    @property
    def is_open(self) -> bool:
        """Whether no option was given."""
        return self == TextFormat()

    def from_file(self, path: Path, separator: str) -> TextFormat:
        """Infer the format of a file; keep the default delimiter unless the rows need another.

        A pipe or device can be read only once, so its format is not inferred.
        """
        known = TextFormat(self.separator or separator, self.encoding or _UTF8, self.decimal or ".")
        if not path.is_file():
            return known
        with _opened(path) as file:
            start = file.read(_SAMPLE)
            encoding = self.encoding or _encoding(start, file, path)
        text = start.decode(encoding, errors="replace")
        if len(start) == _SAMPLE:
            text = text[: text.rfind("\n") + 1] or text
        separator = self.separator or _separator(text, separator)
        decimal = self.decimal or ("," if _has_decimal_commas(text, separator) else ".")
        return replace(known, separator=separator, encoding=encoding, decimal=decimal)

    def in_words(self, default: str) -> str:
        """Describe what differs from the usual format of such files; empty if nothing does."""
        separator = self.separator or default
        found = [] if separator == default else [f"delimiter {_NAMES.get(separator, repr(separator))}"]
        found += [] if self.encoding in (None, _UTF8) else [f"encoding {self.encoding}"]
        found += ["decimal commas"] if self.decimal == "," else []
        return " and ".join(filter(None, [", ".join(found[:-1]), *found[-1:]]))

    def numbers(self, block: pandas.DataFrame) -> pandas.DataFrame:
        """Convert decimal commas to points, and remove thousands separators."""
        if self.decimal != ",":
            return block
        return block.apply(_with_points)


def _opened(path: Path) -> Any:
    return (gzip.open if path.suffix.lower() == ".gz" else open)(path, "rb")


def _encoding(start: bytes, rest: IO[bytes], path: Path) -> str:
    """Detect the encoding: a byte order mark, UTF-8 if all bytes are valid, else Windows-1252."""
    for mark, name in _MARKS.items():
        if start.startswith(mark):
            return name
    even, odd = start[::2].count(0), start[1::2].count(0)
    if max(even, odd) > 0.3 * (len(start) // 2) > 4 * min(even, odd):
        return "utf-16-be" if even > odd else "utf-16-le"
    decoder, undefined, chunk = codecs.getincrementaldecoder("utf-8")(), False, start
    try:
        while chunk:
            decoder.decode(chunk)
            chunk = rest.read(_CHUNK)
        decoder.decode(b"", final=True)
        return _UTF8
    except UnicodeDecodeError:
        pass
    if _NO_TEXT.search(start) or _NO_TEXT.search(chunk):
        raise TableError(f"{path} cannot be read as a table: it is not text.")
    while chunk:
        undefined = undefined or bool(re.search(rb"[\x81\x8d\x8f\x90\x9d]", chunk))
        chunk = rest.read(_CHUNK)
    return "latin-1" if undefined else "cp1252"


def _separator(text: str, default: str) -> str:
    """Return the delimiter that divides most rows into as many fields as the header."""
    shares = {each: _share(text, each) for each in (default, *_SEPARATORS)}
    return max(shares, key=lambda each: shares[each])  # the default where others are no better


def _share(text: str, separator: str) -> float:
    records = _records(text, separator)
    if not records or len(records[0]) < 2:
        return 0.0
    alike = [len(record) == len(records[0]) for record in records[1:]]
    return 0.01 + (sum(alike) / len(alike) if alike else 1.0)


def _records(text: str, separator: str) -> list[list[str]]:
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        return list(islice(filter(None, reader), _RECORDS + 1))
    except csv.Error:
        return []


def _has_decimal_commas(text: str, separator: str) -> bool:
    fields = [field.strip() for record in _records(text, separator)[1:] for field in record]
    n_commas = sum(_COMMA.fullmatch(field) is not None for field in fields)
    return n_commas > sum(_POINT.fullmatch(field) is not None for field in fields)


def _with_points(values: pandas.Series) -> pandas.Series:
    is_number = values.str.fullmatch(_WITH_COMMA).fillna(False).astype(bool)
    plain = values.str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
    return values.where(~is_number, plain)
