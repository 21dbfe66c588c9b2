"""Convert dates in table columns to days since 1970."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas

#: How dates of a column are written, as models keep it: those that end with the year follow one order.
DATE, DAY_FIRST, MONTH_FIRST = "date", "date, day first", "date, month first"
DATES = (DATE, DAY_FIRST, MONTH_FIRST)

_TIME = (
    r"(?:[ T]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:\.\d*)?))?"
    r"\s*(?P<half>[AaPp][Mm])?\s*(?P<zone>Z|UTC|[+-]\d{2}(?::?\d{2})?)?)?\s*$"
)
_YEAR_FIRST = rf"^\s*(?P<year>\d{{4}})[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}}){_TIME}"
_YEAR_LAST = rf"^\s*(?P<one>\d{{1,2}})[-/.](?P<two>\d{{1,2}})[-/.](?P<year>\d{{4}}|\d{{2}}){_TIME}"
_FIRST, _END = np.datetime64("0002-01-01"), np.datetime64("9999-01-01")  # years 1 and 9999 say "never"
_NEXT_CENTURY = 69  # as in POSIX: years of two digits below are of this one


def days(values: pandas.Series, order: str) -> pandas.Series:
    """Return days since 1970; NaN for text that is no date in this order, and for the years 1 and 9999.

    ``DATE`` takes dates that begin with the year; and those that end with it, month first where that
    is possible, as models of earlier versions read them.
    """
    if pandas.api.types.is_datetime64_any_dtype(values):
        times = values if values.dt.tz is None else values.dt.tz_convert("UTC").dt.tz_localize(None)
        moments = times.to_numpy(dtype="datetime64[us]")
        return pandas.Series(_days_of_known(moments), values.index)
    known = values.dropna()
    codes, texts = pandas.factorize(known.astype(str))
    found = pandas.Series(_days_in(pandas.Series(texts, dtype=object), order))
    return pandas.Series(found.to_numpy()[codes], known.index, dtype=np.float64).reindex(values.index)


@dataclass(frozen=True)
class DateOrder:
    """How many dates one order, day first or month first, can read, with examples."""

    n_read: int
    example: str
    not_read: str  # a date that is none in this order; empty where there is none

    def __add__(self, other: DateOrder) -> DateOrder:
        return DateOrder(
            self.n_read + other.n_read, self.example or other.example, self.not_read or other.not_read
        )


def date_orders(texts: pandas.Series) -> dict[str, DateOrder]:
    """Count the dates that day first and month first can read; empty if no date ends with its year."""
    different = pandas.Series(texts.unique(), dtype=object)
    last = different.str.extract(_YEAR_LAST).dropna(subset="year")
    if len(last) == 0:
        return {}
    different, found = different[last.index], {}
    for order, names in ((DAY_FIRST, ("one", "two")), (MONTH_FIRST, ("two", "one"))):
        read = np.isfinite(_days_from_parts(last, *names))
        not_read = "" if read.all() else str(different[~read].iloc[0])
        found[order] = DateOrder(int(read.sum()), str(different.iloc[0]), not_read)
    return found


def _days_in(texts: pandas.Series, order: str) -> np.ndarray:
    found = _iso_days(texts)
    rest = np.isnan(found)
    found[rest] = _days_from_parts(texts[rest].str.extract(_YEAR_FIRST), "day", "month")
    last = texts.str.extract(_YEAR_LAST) if np.isnan(found).any() else None
    orders = [("two", "one")] * (order != DAY_FIRST) + [("one", "two")] * (order != MONTH_FIRST)
    for names in orders if last is not None else []:
        found = np.where(np.isnan(found), _days_from_parts(last, *names), found)
    return found


def _iso_days(texts: pandas.Series) -> np.ndarray:
    """Return days since 1970 of ISO 8601 dates, by pandas' fast parser."""
    found = np.full(len(texts), np.nan)
    plain = texts.str.match(r"\d{4}-").to_numpy(dtype=bool)
    times = pandas.to_datetime(texts[plain], format="ISO8601", errors="coerce", utc=True)
    found[plain] = _days_of_known(times.dt.tz_localize(None).to_numpy(dtype="datetime64[us]"))
    return found


def _days_from_parts(parts: pandas.DataFrame, day_name: str, month_name: str) -> np.ndarray:
    """Return days since 1970 from date parts; NaN where the day or time does not exist."""
    numbers = {
        name: pandas.to_numeric(parts[name]).fillna(0).to_numpy(np.float64)
        for name in ("year", "hour", "minute", "second")
    }
    day, month = (
        pandas.to_numeric(parts[name]).fillna(0).to_numpy(np.int64) for name in (day_name, month_name)
    )
    year = numbers["year"].astype(np.int64)
    short = (parts["year"].str.len() == 2).to_numpy()
    year = np.where(short, year + np.where(year < _NEXT_CENTURY, 2000, 1900), year)
    first = (12 * (year - 1970) + np.clip(month, 1, 12) - 1).astype("datetime64[M]")
    date = first.astype("datetime64[D]") + (day - 1)
    half = parts["half"].str.lower().to_numpy()
    hour = numbers["hour"] % np.where(pandas.isna(half), 100, 12) + np.where(half == "pm", 12, 0)
    seconds = 3600 * hour + 60 * numbers["minute"] + numbers["second"] - _offset(parts["zone"])
    exists = parts["year"].notna().to_numpy() & (month >= 1) & (month <= 12)
    exists &= date.astype("datetime64[M]") == first
    exists &= (hour < 24) & (numbers["minute"] < 60) & (numbers["second"] < 62)
    return np.where(exists, _days_of_known(date) + seconds / 86_400, np.nan)


def _offset(zones: pandas.Series) -> np.ndarray:
    """Convert time zones such as +02:00 to seconds from UTC."""
    found = zones.str.extract(r"^(?P<sign>[+-])(?P<hours>\d{2}):?(?P<minutes>\d{2})?$")
    hours, minutes = (pandas.to_numeric(found[name]).fillna(0) for name in ("hours", "minutes"))
    sign = np.where(found["sign"] == "-", -1, 1)
    return np.asarray(sign * (3600 * hours + 60 * minutes), dtype=np.float64)


def _days_of_known(moments: np.ndarray) -> np.ndarray:
    """Return days since 1970; NaN for missing moments and placeholders such as the year 9999."""
    microseconds = moments.astype("datetime64[us]")
    inside = ~np.isnat(moments) & (moments >= _FIRST) & (moments < _END)
    return np.where(inside, microseconds.astype(np.int64) / 86_400e6, np.nan)
