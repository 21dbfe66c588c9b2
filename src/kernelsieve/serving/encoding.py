"""Tables as numbers: inputs whose gaps are filled, and indicators of values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Number as AnyNumber
from typing import Any

import numpy as np

from ..kernels import Rows
from ..predictors.inputs import column_of, is_missing, numbers_of


@dataclass(frozen=True)
class Number:
    """An input as it is, and what takes its place where it is missing; NaN where nothing does."""

    input: int
    fill: Any = np.nan

    @property
    def is_filled(self) -> bool:
        return not is_missing(self.fill)


@dataclass(frozen=True)
class Indicator:
    """1 where an input has a value, or, if asked for, where it is NaN or None; 0 elsewhere.

    The two are not the same to scikit-learn: imputers fill NaN and leave None, and encoders have a
    category for each.
    """

    input: int
    value: Any  # None: missing ones only
    of_nan: bool = False
    of_none: bool = False

    @property
    def of_missing(self) -> bool:
        return self.of_nan or self.of_none


Column = Number | Indicator

_NAN = object()  # stands for all NaN, which do not equal each other, and for pandas.NA


def _key(value: Any) -> Any:
    """Return what stands for a value in a table of values."""
    return _NAN if value is not None and is_missing(value) else value


@dataclass(frozen=True)
class Encoding:
    """Columns of numbers, each made from one input."""

    columns: tuple[Column, ...]
    n_inputs: int

    @classmethod
    def of_all(cls, n_inputs: int) -> Encoding:
        """Return the encoding that leaves all inputs as they are."""
        return cls(tuple(map(Number, range(n_inputs))), n_inputs)

    @property
    def changes(self) -> bool:
        """Whether anything but the inputs comes out."""
        as_it_is = (
            isinstance(c, Number) and c.input == i and not c.is_filled
            for i, c in enumerate(self.columns)
        )
        return len(self.columns) != self.n_inputs or not all(as_it_is)

    @cached_property
    def numbers(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Places of columns that are numbers, their inputs, and what fills them."""
        found = [(i, c.input, c.fill) for i, c in enumerate(self.columns) if isinstance(c, Number)]
        places, inputs, fill = zip(*found, strict=True) if found else ((), (), ())
        return np.array(places, np.intp), np.array(inputs, np.intp), np.array(fill, np.float64)

    @cached_property
    def indicators(self) -> tuple[tuple[int, Indicator], ...]:
        """Columns that are indicators, with their places."""
        return tuple((i, c) for i, c in enumerate(self.columns) if isinstance(c, Indicator))

    @cached_property
    def texts(self) -> dict[int, list[Any]]:
        """The values of inputs that are categories by name, in the order of inputs and columns."""
        values: dict[int, list[Any]] = {}
        for _, column in self.indicators:
            if column.value is not None:
                values.setdefault(column.input, []).append(column.value)
        ordered = sorted(values.items())
        return {i: v for i, v in ordered if not all(isinstance(x, AnyNumber) for x in v)}

    @cached_property
    def _tables(self) -> list[tuple[int, list[int], dict[Any, int], np.ndarray]]:
        """Return for each input with indicators: their places, rows of values, and a row for each."""
        inputs = dict.fromkeys(column.input for _, column in self.indicators)
        found = []
        for number in inputs:
            mine = [(i, column) for i, column in self.indicators if column.input == number]
            values = [c.value for _, c in mine if c.value is not None]
            rows = {value: row for row, value in enumerate([*values, None, _NAN])}
            table = np.zeros((len(rows) + 1, len(mine)))  # the last one is of values that are not known
            for place, (_, column) in enumerate(mine):
                if column.value is not None:
                    table[rows[column.value], place] = 1.0
                table[rows[None], place] = column.of_none
                table[rows[_NAN], place] = column.of_nan
            found.append((number, [i for i, _ in mine], rows, table))
        return found

    def __call__(self, X: Any) -> np.ndarray:
        encoded = np.empty((X.shape[0], len(self.columns)))
        places, inputs, fill = self.numbers
        is_frame = hasattr(X, "iloc")
        numbers = numbers_of(X, inputs) if is_frame else np.asarray(X[:, inputs], np.float64)
        encoded[:, places] = np.where(np.isnan(numbers), fill, numbers)
        for number, of_input, rows, table in self._tables:
            values = column_of(X, number).tolist()
            known = (rows.get(_key(v), len(rows)) for v in values)
            encoded[:, of_input] = table[np.fromiter(known, np.intp, len(values))]
        return encoded

    def taken_from(self, inputs: Iterable[int], n_inputs: int) -> Encoding:
        """Return the encoding of a table that has these inputs among others."""
        numbers = list(inputs)
        columns = (replace(column, input=numbers[column.input]) for column in self.columns)
        return Encoding(tuple(columns), n_inputs)


def as_rows(X: Any, encoding: Encoding | None) -> Rows | Any:
    """Return samples as they can be cut: matrices as they are, all else as arrays.

    Data frames that are to be encoded stay as well; a row of one is a series.
    """
    if hasattr(X, "tocsr") or (encoding is not None and hasattr(X, "iloc") and X.ndim == 2):
        return X
    return np.asarray(X, dtype=object if encoding is not None and encoding.texts else None)
