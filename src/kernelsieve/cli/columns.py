"""What columns of a table are: numbers, dates, categories, or nothing that a model can use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from .errors import TableError, no_column

_FEW, _ROWS_OF_EACH = 50, 20  # texts with more values than these, and fewer rows for each, are names
_DATE = r"\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T].*)?"
_SURE = 0.95  # of the values that are there
NUMBER, DATE, CATEGORY = "number", "date", "category"


def find_kinds(frame: pandas.DataFrame, left_out: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """Return what each column is, and a sentence about each that is not used."""
    kinds: dict[str, str] = {}
    notes: list[str] = []
    for name in frame.columns:
        if name in left_out:
            continue
        kind = _kind(frame[name].dropna())
        if kind in (NUMBER, DATE, CATEGORY):
            kinds[name] = kind
        else:
            notes.append(f"Column {name!r} is left out: {kind}.")
    if not kinds:
        raise TableError("No column is left to predict from. " + " ".join(notes))
    return kinds, notes


def _kind(values: pandas.Series) -> str:
    """Return the kind of some values, or why they have none."""
    if len(values) == 0:
        return "it has no values"
    if pandas.api.types.is_numeric_dtype(values) or pandas.api.types.is_bool_dtype(values):
        return NUMBER
    if pandas.api.types.is_datetime64_any_dtype(values):
        return DATE
    text = values.astype(str)
    if numbers_in(values).notna().mean() >= _SURE:
        return NUMBER
    if text.str.fullmatch(_DATE).mean() >= _SURE and _days(values).notna().mean() >= _SURE:
        return DATE
    n_different = text.nunique()
    if n_different <= max(_FEW, len(text) / _ROWS_OF_EACH):
        return CATEGORY
    return f"it has {n_different} different texts, as names and identifiers have"


def coerced(frame: pandas.DataFrame, kinds: Mapping[str, str]) -> pandas.DataFrame:
    """Return the columns of a model, in its order; what is not as it should be is missing."""
    absent = [name for name in kinds if name not in frame.columns]
    if absent:
        raise no_column(absent[0], frame.columns, ", which the model needs", kinds)
    convert = {NUMBER: numbers_in, DATE: _days, CATEGORY: _texts}
    return pandas.DataFrame({name: convert[kind](frame[name]) for name, kind in kinds.items()})


@dataclass
class LostValues:
    """Values of tables that are not what their column is, and are missing for a model."""

    kinds: Mapping[str, str]
    n_rows: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, frame: pandas.DataFrame, table: pandas.DataFrame) -> None:
        """Look at the next rows, as they are and as :func:`coerced` returns them."""
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


def numbers_in(values: pandas.Series) -> pandas.Series:
    """Return values as numbers; what is none, or infinite, is missing."""
    numbers = pandas.to_numeric(values, errors="coerce").astype(np.float64)
    return numbers.where(np.isfinite(numbers))


def _days(values: pandas.Series) -> pandas.Series:
    """Return days since 1970."""
    times = pandas.to_datetime(values, errors="coerce", format="mixed", utc=True)
    return (times - pandas.Timestamp(0, tz="utc")) / pandas.Timedelta(days=1)


def _texts(values: pandas.Series) -> pandas.Series:
    return values.astype(object).where(values.isna(), values.astype(str)).where(values.notna(), np.nan)


def column_encoder(kinds: Mapping[str, str]) -> ColumnTransformer:
    """Return what imputes and standardises numbers, and encodes categories."""
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
    """Return "regression" or "classification", and a sentence about what was assumed."""
    if asked not in ("auto", "regression", "classification"):
        raise TableError(f"--task {asked} must be auto, regression or classification.")
    if asked != "auto":
        return asked, f"{asked.capitalize()}, by --task."
    n_different = y.nunique()
    if _kind(y) != NUMBER or pandas.api.types.is_bool_dtype(y):
        task, reason = "classification", f"{n_different} labels"
    elif (numbers_in(y) % 1 == 0).all() and (n_different <= 20 or n_different <= min(50, len(y) // 10)):
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
