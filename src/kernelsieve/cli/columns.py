"""Column types of a table: numbers, dates, categories, or unusable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from .dates import DATE, DATES, DAY_FIRST, MONTH_FIRST, DateOrder, date_orders, days
from .errors import TableError, no_column

_FEW, _ROWS_OF_EACH = 50, 20  # texts with more values than these, and fewer rows for each, are names
_DATE = r"\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T].*)?"
_SURE = 0.95  # of the values that are there
_TRUTH = {"True": "1", "TRUE": "1", "true": "1", "False": "0", "FALSE": "0", "false": "0"}
_CODE = r"0\d+"  # which no number begins with
NUMBER, CATEGORY = "number", "category"
_DATE_OPTIONS = {"auto": None, "day-first": DAY_FIRST, "month-first": MONTH_FIRST}


def infer_kinds(
    frame: pandas.DataFrame,
    left_out: Sequence[str],
    dates: str = "auto",
    read: Callable[[], Iterable[pandas.DataFrame]] | None = None,
) -> tuple[dict[str, str], list[str]]:
    """Infer the type of every column; return also sentences about unused columns and date orders.

    ``read`` yields all rows, of which ``frame`` may be a sample: one order is right for all dates.
    """
    if dates not in _DATE_OPTIONS:
        raise TableError(f"--dates {dates} must be auto, day-first or month-first.")
    kinds: dict[str, str] = {}
    notes: list[str] = []
    for name in frame.columns:
        if name in left_out:
            continue
        kind = _kind(frame[name].dropna())
        if kind == DATE:
            blocks = [frame] if read is None else read()
            orders = _orders_in(block[name].dropna() for block in blocks)
            kind, told = _order_of(name, orders, _DATE_OPTIONS[dates])
            notes += told
        if kind in (NUMBER, CATEGORY, *DATES):
            kinds[name] = kind
        else:
            notes.append(f"Column {name!r} is left out: {kind}.")
    if not kinds:
        raise TableError("No column is left to predict from. " + " ".join(notes))
    return kinds, notes


def _kind(values: pandas.Series) -> str:
    """Return the type of a column's values, or the reason why the column cannot be used."""
    if len(values) == 0:
        return "it has no values"
    if pandas.api.types.is_numeric_dtype(values) or pandas.api.types.is_bool_dtype(values):
        return NUMBER
    if pandas.api.types.is_datetime64_any_dtype(values):
        return DATE
    text = as_texts(values)
    share = as_numbers(values).notna().mean()
    if share >= _SURE and not (share < 1 and text.str.fullmatch(_CODE).any()):
        return NUMBER
    if text.str.fullmatch(_DATE).mean() >= _SURE and _share_of_dates(text) >= _SURE:
        return DATE
    n_different = text.nunique()
    if n_different <= max(_FEW, len(text) / _ROWS_OF_EACH):
        return CATEGORY
    return f"it has {n_different} different texts, as names and identifiers have"


def _share_of_dates(text: pandas.Series) -> float:
    return max(float(days(text, order).notna().mean()) for order in (DAY_FIRST, MONTH_FIRST))


def _orders_in(blocks: Iterable[pandas.Series]) -> dict[str, DateOrder]:
    """Count, over all blocks, how many dates each date order can read."""
    found: dict[str, DateOrder] = {}
    for values in blocks:
        if not pandas.api.types.is_datetime64_any_dtype(values):
            for order, counted in date_orders(as_texts(values)).items():
                found[order] = counted + found[order] if order in found else counted
    return found


def _order_of(name: str, orders: dict[str, DateOrder], asked: str | None) -> tuple[str, list[str]]:
    """Return the date order of a column, and a sentence about it."""
    if not orders:
        return DATE, []
    day, month = orders[DAY_FIRST], orders[MONTH_FIRST]
    if asked is not None:
        found, reason = asked, "by --dates"
    elif day.n_read == month.n_read:
        found = MONTH_FIRST if "/" in day.example else DAY_FIRST
        reason = f"though {day.example!r} and all others may be either"
    else:
        found, other = (DAY_FIRST, month) if day.n_read > month.n_read else (MONTH_FIRST, day)
        reason = f"as {other.not_read!r} shows"
    told = found.removeprefix("date, ")
    option = (
        "" if asked else f"; --dates {'month' if found == DAY_FIRST else 'day'}-first overrides this"
    )
    return found, [f"Column {name!r}: dates are read {told}, {reason}{option}."]


def coerce_columns(frame: pandas.DataFrame, kinds: Mapping[str, str]) -> pandas.DataFrame:
    """Return a model's columns in its order; values that do not fit the column type become missing."""
    absent = [name for name in kinds if name not in frame.columns]
    if absent:
        raise no_column(absent[0], frame.columns, ", which the model needs", kinds)
    return pandas.DataFrame({name: _converted(frame[name], kind) for name, kind in kinds.items()})


def _converted(values: pandas.Series, kind: str) -> pandas.Series:
    if kind == NUMBER:
        return as_numbers(values)
    return as_texts(values) if kind == CATEGORY else days(values, kind)


@dataclass
class LostValues:
    """Counts values that do not fit the type of their column and become missing."""

    kinds: Mapping[str, str]
    n_rows: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, frame: pandas.DataFrame, table: pandas.DataFrame) -> None:
        """Count the values lost in the next block, given before and after :func:`coerce_columns`."""
        for name in self.kinds:
            lost = (table[name].isna() & frame[name].notna()).to_numpy()
            if lost.any():
                row = int(lost.argmax())
                self.counts[name] += int(lost.sum())
                place = f"{str(frame[name].iloc[row])!r} in row {self.n_rows + row + 1}"
                self.first.setdefault(name, place)
        self.n_rows += len(frame)

    def sentences(self) -> Iterator[str]:
        for name, count in self.counts.items():
            yield (
                f"Column {name!r}: {count:,} of {self.n_rows:,} values are no {self.kinds[name]} and "
                f"count as missing, such as {self.first[name]}."
            )


def as_numbers(values: pandas.Series) -> pandas.Series:
    """Convert values to numbers; text that is no number and infinite values become missing."""
    if not pandas.api.types.is_numeric_dtype(values):
        values = values.astype(object)
        values = values.where(~values.isin(list(_TRUTH)), values.map(_TRUTH.get))
    numbers = pandas.to_numeric(values, errors="coerce").astype(np.float64)
    return numbers.where(np.isfinite(numbers))


def as_texts(values: pandas.Series) -> pandas.Series:
    """Convert values to text, independently of the other values of the column; missing ones stay NaN.

    Where values are missing, whole numbers are floats for pandas: 1.0 is the text "1" as 1 is.
    """
    if pandas.api.types.is_float_dtype(values):
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan).tolist()
        found = [np.nan if x != x else str(int(x)) if x.is_integer() else repr(x) for x in numbers]
        return pandas.Series(found, values.index, dtype=object)
    known = values.dropna()
    return known.astype(object).map(_text).astype(object).reindex(values.index)


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def column_encoder(kinds: Mapping[str, str]) -> ColumnTransformer:
    """Return a transformer that imputes and standardises numbers and one-hot encodes categories."""
    numbers = [name for name, kind in kinds.items() if kind != CATEGORY]
    categories = [name for name, kind in kinds.items() if kind == CATEGORY]
    steps: list[Any] = []
    if numbers:
        steps.append(
            ("numbers", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers)
        )
    if categories:
        missing = SimpleImputer(strategy="constant", fill_value="(missing)")
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        steps.append(("categories", make_pipeline(missing, encoder), categories))
    return ColumnTransformer(steps)


def find_task(y: pandas.Series, asked: str) -> tuple[str, str]:
    """Return "regression" or "classification", and a sentence if the task was inferred."""
    if asked not in ("auto", "regression", "classification"):
        raise TableError(f"--task {asked} must be auto, regression or classification.")
    if asked != "auto":
        return asked, f"{asked.capitalize()}, by --task."
    numbers = as_numbers(y).dropna()
    n_different = n_values(y)
    if _kind(y) != NUMBER or is_boolean(y):
        task, reason = "classification", f"{n_different} labels"
    elif (numbers % 1 == 0).all() and (n_different <= 20 or n_different <= min(50, len(y) // 10)):
        task, reason = (
            "classification",
            f"{n_different} different whole numbers, which look like labels",
        )
    else:
        task, reason = "regression", f"{n_different} different numbers"
    other = "regression" if task == "classification" else "classification"
    return (
        task,
        f"{task.capitalize()} was chosen, as the target has {reason}; --task {other} overrides this.",
    )


def n_values(values: pandas.Series) -> int:
    """Return the number of distinct values; in a column of numbers, 1 and 1.0 are the same."""
    numbers = as_numbers(values)
    return int(numbers.nunique() if numbers.notna().all() else as_texts(values).nunique())


def is_boolean(values: pandas.Series) -> bool:
    """Return True if all values are True or False, or these words."""
    return bool(
        pandas.api.types.is_bool_dtype(values) or as_texts(values.dropna()).isin(list(_TRUTH)).all()
    )


def are_whole_numbers(values: pandas.Series) -> bool:
    """Return True if labels are whole numbers; "01" is a code, not the number 1."""
    if is_boolean(values):
        return False
    return bool(as_texts(values.dropna()).str.fullmatch(r"[+-]?(0|[1-9]\d*)(\.0*)?").all())
