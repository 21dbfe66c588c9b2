"""Encode tables as numbers: imputed inputs, and indicators of categories and missing values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Number as AnyNumber
from typing import TYPE_CHECKING, Any

import numpy as np

from ...data import is_frame
from ...exceptions import InvalidParameterError
from ..tables import column_of, is_missing, numbers_of
from .step import ProgramStep

if TYPE_CHECKING:
    from ..c_file import CFile
    from ..onnx_graph import Graph

NUMBERS, TEXTS = "X", "categories"  # names of the inputs of a graph
_UNKNOWN = -1


@dataclass(frozen=True)
class Number:
    """A numeric input, with the value that replaces missing ones; NaN for none."""

    input: int
    fill: Any = np.nan

    @property
    def is_filled(self) -> bool:
        return not is_missing(self.fill)


@dataclass(frozen=True)
class Indicator:
    """1 where an input equals a value or, if requested, is missing (NaN or None); 0 elsewhere.

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


def missing_indicator(number: int) -> Indicator:
    """Return the indicator of missing values of an input."""
    return Indicator(number, None, of_nan=True, of_none=True)


def _composed(source: Column, column: Column) -> Column | None:
    """Return a column of what a column gives; None for an indicator of an indicator."""
    if isinstance(column, Number):
        if isinstance(source, Indicator) or source.is_filled:
            return source
        return replace(source, fill=column.fill)
    if isinstance(source, Indicator):
        return None
    if not source.is_filled or column == missing_indicator(column.input):
        return replace(column, input=source.input)
    return replace(column, input=source.input, of_nan=source.fill == column.value)


def _key(value: Any) -> Any:
    """Return a hashable key for a value of a table."""
    return _NAN if value is not None and is_missing(value) else value


@dataclass(frozen=True)
class EncodeColumns(ProgramStep):
    """Makes numeric columns, each from one input."""

    columns: tuple[Column, ...]
    n_features: int

    @classmethod
    def passthrough(cls, n_features: int) -> EncodeColumns:
        """Return the encoding that leaves all inputs unchanged."""
        return cls(tuple(map(Number, range(n_features))), n_features)

    def __reduce__(self) -> tuple:
        return EncodeColumns, (self.columns, self.n_features)  # tables have keys that are not copied

    @property
    def n_inputs(self) -> int:
        return self.n_features

    @property
    def n_outputs(self) -> int:
        return len(self.columns)

    @property
    def changes(self) -> bool:
        """Whether the encoding changes anything."""
        as_it_is = (
            isinstance(c, Number) and c.input == i and not c.is_filled
            for i, c in enumerate(self.columns)
        )
        return len(self.columns) != self.n_features or not all(as_it_is)

    def on_inputs(self, inputs: Iterable[int], n_features: int) -> EncodeColumns:
        """Return the encoding for a wider table that has these inputs among others."""
        numbers = list(inputs)
        columns = (replace(column, input=numbers[column.input]) for column in self.columns)
        return EncodeColumns(tuple(columns), n_features)

    def then(self, other: EncodeColumns) -> EncodeColumns | None:
        """Return this encoding and the next as one; None if that has indicators of indicators."""
        columns = [_composed(self.columns[column.input], column) for column in other.columns]
        known = tuple(column for column in columns if column is not None)
        return EncodeColumns(known, self.n_features) if len(known) == len(columns) else None

    @property
    def only_imputes(self) -> bool:
        """Whether all inputs stay in their places, and only marks of missing values follow."""
        numbers, marks = self.columns[: self.n_features], self.columns[self.n_features :]
        in_place = [isinstance(c, Number) and c.input == i for i, c in enumerate(numbers)]
        only_marks = all(mark == missing_indicator(mark.input) for mark in marks)
        return len(in_place) == self.n_features and all(in_place) and only_marks

    def filled_with(self, fill: np.ndarray) -> EncodeColumns:
        """Return an encoding that only imputes, with other values."""
        numbers = map(Number, range(self.n_features), fill.tolist())
        return EncodeColumns((*numbers, *self.columns[self.n_features :]), self.n_features)

    # ------------------------------------------------------------------ running

    @cached_property
    def numbers(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions of the numeric columns, their inputs, and their fill values."""
        found = [(i, c.input, c.fill) for i, c in enumerate(self.columns) if isinstance(c, Number)]
        places, inputs, fill = zip(*found, strict=True) if found else ((), (), ())
        return np.array(places, np.intp), np.array(inputs, np.intp), np.array(fill, np.float64)

    @cached_property
    def indicators(self) -> tuple[tuple[int, Indicator], ...]:
        """Indicator columns with their positions."""
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
    def _gaps(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions of missing-value indicators of numeric columns, and positions of these columns."""
        of_input = {c.input: k for k, c in enumerate(self.columns) if isinstance(c, Number)}
        found = [
            (i, of_input[c.input])
            for i, c in self.indicators
            if c.value is None and c.of_nan and c.of_none and c.input in of_input
        ]
        return np.array([i for i, _ in found], np.intp), np.array([k for _, k in found], np.intp)

    @cached_property
    def _tables(self) -> list[tuple[int, list[int], dict[Any, int], np.ndarray]]:
        """Return for each input the positions of its indicators, and a table of their values."""
        gaps = set(self._gaps[0].tolist())
        others = [(i, column) for i, column in self.indicators if i not in gaps]
        found = []
        for number in dict.fromkeys(column.input for _, column in others):
            mine = [(i, column) for i, column in others if column.input == number]
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

    def run(self, X: Any) -> np.ndarray:
        encoded = np.empty((X.shape[0], len(self.columns)))
        places, inputs, fill = self.numbers
        numbers = numbers_of(X, inputs) if is_frame(X) else np.asarray(X[:, inputs], np.float64)
        encoded[:, places] = numbers
        gaps, of_numbers = self._gaps
        if len(gaps):
            encoded[:, gaps] = np.isnan(encoded[:, of_numbers])
        missing = np.isnan(numbers)
        if missing.any():
            encoded[:, places] = np.where(missing, fill, numbers)
        for number, of_input, rows, table in self._tables:
            values = column_of(X, number).tolist()
            known = (rows.get(_key(v), len(rows)) for v in values)
            encoded[:, of_input] = table[np.fromiter(known, np.intp, len(values))]
        return encoded

    # ------------------------------------------------------------------ ONNX

    def to_onnx(self, graph: Graph, value: str) -> str:
        """Return numbers and indicators, of numbers and of texts, in the order of the columns."""
        self._check_categories()
        texts = list(self.texts)
        others = [i for i in range(self.n_features) if i not in self.texts]
        place_of = {i: place for part in (texts, others) for place, i in enumerate(part)}
        of_texts = [(i, c) for i, c in self.indicators if c.input in self.texts]
        of_numbers = [(i, c) for i, c in self.indicators if c.input not in self.texts]
        places, inputs, fill = self.numbers
        parts, order = [], list(places)
        if len(places):
            parts.append(_numbers(graph, value, [place_of[i] for i in inputs], fill))
        if of_numbers:
            parts.append(_number_indicators(graph, value, [c for _, c in of_numbers], place_of))
            order += [i for i, _ in of_numbers]
        if of_texts:
            parts.append(_text_indicators(graph, [column for _, column in of_texts], place_of))
            order += [i for i, _ in of_texts]
        joined = parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)
        back = np.argsort(order)
        if np.array_equal(back, np.arange(len(back))):
            return joined
        return graph.add("Gather", joined, graph.integers(back.tolist()), axis=1)

    # ------------------------------------------------------------------ C

    def to_c(self, file: CFile, source: str) -> str:
        self._check_categories()
        if self.texts:
            inputs = [str(i) for i, values in self.texts.items() for _ in values]
            file.functions.append(_LOOKUP.format(n=len(inputs), inputs=", ".join(inputs)))
            file.texts["categories"] = [str(v) for values in self.texts.values() for v in values]
        d, out = len(self.columns), file.variable(len(self.columns))
        kinds = [0 if isinstance(c, Number) else 2 if c.of_missing else 1 for c in self.columns]
        which = file.array("input", np.array([c.input for c in self.columns], np.int32))
        kind = file.array("kind", np.array(kinds, np.int32))
        values = file.array("value", np.array([self._value(c) for c in self.columns], np.float64))
        file.add(
            f"for (int i = 0; i < {d}; i++) {{",
            f"    const double v = {source}[{which}[i]], w = {values}[i];",
            f"    if ({kind}[i] == 0) {out}[i] = isnan(v) ? w : v; /* a number */",
            f"    else {out}[i] = v == w || ({kind}[i] == 2 && isnan(v)); /* an indicator */",
            "}",
        )
        return out

    def _value(self, column: Column) -> float:
        """Return the fill value of a number, or the category of an indicator, as a number."""
        if isinstance(column, Number):
            return float(column.fill)
        if column.value is None:
            return float("nan")
        texts = self.texts.get(column.input)
        return float(column.value) if texts is None else float(texts.index(column.value))

    def _check_categories(self) -> None:
        """Raise an error for categories that differ as values, but are written alike."""
        for number, values in self.texts.items():
            texts = list(map(str, values))
            twice = next((text for text in texts if texts.count(text) > 1), None)
            if twice is not None:
                raise InvalidParameterError(
                    f"Input {number} has categories of several types that are all written {twice!r}; "
                    "fit with texts alone, such as X[column].astype(str)."
                )
        for number in {column.input for _, column in self.indicators}:
            mine = [column for _, column in self.indicators if column.input == number]
            of_nan, of_none = [c.of_nan for c in mine], [c.of_none for c in mine]
            if any(of_nan) and any(of_none) and of_nan != of_none:
                raise InvalidParameterError(
                    f"The model takes NaN and None in input {number} for different values, as imputers "
                    "do; other programs have one missing value. Fit without None, such as with "
                    "X[column].fillna(np.nan)."
                )


def _numbers(graph: Graph, X: str, places: list[int], fill: np.ndarray) -> str:
    values = graph.inner(graph.add("Gather", X, graph.integers(places), axis=1))
    if np.isnan(fill).all():
        return values
    return graph.add("Where", graph.add("IsNaN", values), graph.constant(fill), values)


def _number_indicators(
    graph: Graph, X: str, columns: Sequence[Indicator], place_of: dict[int, int]
) -> str:
    places = graph.integers([place_of[column.input] for column in columns])
    values = graph.add("Gather", X, places, axis=1)
    wanted = [np.nan if column.value is None else float(column.value) for column in columns]
    is_it = graph.add("Equal", values, graph.typed(wanted, graph.outer))
    return _or_missing(graph, is_it, graph.add("IsNaN", values), columns)


def _text_indicators(graph: Graph, columns: Sequence[Indicator], place_of: dict[int, int]) -> str:
    """Compare numbers of texts; an empty text is a missing value, unless it is a value."""
    known = list(dict.fromkeys(str(column.value) for column in columns if column.value is not None))
    is_value = "" in known
    if not is_value:
        known.append("")
    numbers = graph.add(
        "LabelEncoder",
        TEXTS,
        domain="ai.onnx.ml",
        keys_strings=known,
        values_int64s=list(range(len(known))),
        default_int64=_UNKNOWN,
    )
    places = graph.integers([place_of[column.input] for column in columns])
    values = graph.add("Gather", numbers, places, axis=1)
    number_of = {text: number for number, text in enumerate(known)}
    wanted = [_UNKNOWN - 1 if c.value is None else number_of[str(c.value)] for c in columns]
    is_it = graph.add("Equal", values, graph.integers(wanted))
    missing = _UNKNOWN - 1 if is_value else number_of[""]
    is_missing = graph.add("Equal", values, graph.integers([missing]))
    return _or_missing(graph, is_it, is_missing, columns)


def _or_missing(graph: Graph, is_it: str, is_missing: str, columns: Sequence[Indicator]) -> str:
    counted = graph.typed([column.of_missing for column in columns], np.bool_)
    either = graph.add("Or", is_it, graph.add("And", is_missing, counted))
    return graph.cast(either, graph.dtype)


_LOOKUP = """static const int NAME_category_input[{n}] = {{{inputs}}};

/* The number that stands for a text in x[input]: -1 if it is not known, NAN if it is empty. */
double NAME_code(int input, const char *text) {{
    double code = 0.0;
    if (text == NULL) return NAN;
    for (int j = 0; j < {n}; j++) {{
        if (NAME_category_input[j] != input) continue;
        if (strcmp(NAME_categories[j], text) == 0) return code;
        code += 1.0;
    }}
    return *text ? -1.0 : NAN;
}}
"""
