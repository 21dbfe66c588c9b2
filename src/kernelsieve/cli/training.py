"""Training rows of a table, with targets, weights and groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas

from ..data import Part, Source
from ..estimators import StatisticPart, StatisticPlan
from .columns import (
    are_whole_numbers,
    as_numbers,
    as_texts,
    coerce_columns,
    find_task,
    infer_kinds,
    n_values,
)
from .errors import TableError, no_column
from .tables import Table
from .terminal import Terminal


@dataclass(frozen=True)
class LabelledRows:
    """The rows with a known target."""

    frame: pandas.DataFrame
    y: np.ndarray
    weight: np.ndarray | None
    groups: np.ndarray | None
    n_dropped: int


@dataclass(frozen=True)
class Reading:
    """How to read a table: its target column, column types and task."""

    roles: Mapping[str, Any]
    kinds: Mapping[str, str]
    task: str
    whole_labels: bool
    notes: tuple[str, ...]

    @classmethod
    def infer(
        cls,
        frame: pandas.DataFrame,
        roles: Mapping[str, Any],
        task: str,
        dates: str = "auto",
        table: Table | None = None,
    ) -> Reading:
        """Infer column types from sample rows, or from all of ``table`` if the sample leaves doubt."""
        given = [roles["target"], *(roles.get("drop") or []), roles.get("weight"), roles.get("group")]
        named = [name for name in given if name]
        for name in named:
            if name not in frame.columns:
                raise no_column(name, frame.columns)
        y = frame[roles["target"]].dropna()
        if len(y) == 0:
            raise TableError(f"All values of the target {roles['target']!r} are missing.")
        if n_values(y) == 1:
            told = repr(as_texts(y).iloc[0]) if as_numbers(y).isna().any() else as_texts(y).iloc[0]
            raise TableError(
                f"The target {roles['target']!r} is {told} in all rows, so there is nothing to learn."
            )
        found, sentence = find_task(y, task)
        if found == "regression" and as_numbers(y).notna().mean() < 0.5:
            raise TableError(
                f"The target {roles['target']!r} is text such as {str(y.iloc[0])!r}, not numbers; "
                "pass --task classification."
            )
        read = None if table is None else table.blocks
        kinds, notes = infer_kinds(frame, named, dates, read)
        whole = are_whole_numbers(y)
        if whole and found == "classification" and table is not None:
            whole = all(are_whole_numbers(block[roles["target"]]) for block in table.blocks())
        return cls(roles, kinds, found, whole, (sentence, *notes))

    def labelled(self, frame: pandas.DataFrame) -> LabelledRows:
        """Return the rows with a known target."""
        if self.roles["target"] not in frame.columns:
            raise no_column(self.roles["target"], frame.columns, ", which is the target")
        target = frame[self.roles["target"]]
        known = as_numbers(target).notna() if self.task == "regression" else target.notna()
        rows = frame[known]
        y = target[known]
        return LabelledRows(
            rows,
            self._targets(y),
            self._weights(rows),
            self._groups(rows),
            int(len(frame) - known.sum()),
        )

    def _targets(self, y: pandas.Series) -> np.ndarray:
        if self.task == "regression":
            return as_numbers(y).to_numpy()
        if not self.whole_labels:
            return as_texts(y).to_numpy(dtype=str)
        if not are_whole_numbers(y):
            other = next(text for text in as_texts(y) if not are_whole_numbers(pandas.Series([text])))
            raise TableError(
                f"The target {self.roles['target']!r} has the label {other!r}, but all labels of the "
                "model are whole numbers; leave such rows out."
            )
        return as_numbers(y).to_numpy().astype(np.int64)

    def _groups(self, rows: pandas.DataFrame) -> np.ndarray | None:
        name = self.roles.get("group")
        return None if name is None else as_texts(rows[name]).fillna("").to_numpy(dtype=str)

    def _weights(self, rows: pandas.DataFrame) -> np.ndarray | None:
        name = self.roles.get("weight")
        if name is None:
            return None
        weight = as_numbers(rows[name]).to_numpy()
        if np.isnan(weight).any() or (weight < 0).any():
            raise TableError(f"Column {name!r} has weights that are missing or negative.")
        return weight


class TableSource(Source):
    """Reads the labelled rows of a table in blocks, for estimators that take tables."""

    in_memory = "a table of fewer rows"

    def __init__(self, table: Table, reading: Reading, show: Terminal) -> None:
        self._table, self._reading, self._show = table, reading, show

    @cached_property
    def n_rows(self) -> int:
        return sum(len(rows.y) for rows in self._blocks())

    def __iter__(self) -> Iterator[Part]:
        kinds = self._reading.kinds
        return (Part(coerce_columns(rows.frame, kinds), rows.y, rows.weight) for rows in self._blocks())

    def summed(self, plan: StatisticPlan, columns: Any) -> StatisticPart | None:
        """Return the one-pass statistic of all encoded rows; None if no row has a target."""
        total: StatisticPart | None = None
        for part in self:
            new = plan.statistic(columns.transform(part.X), part.y, part.weight)
            total = new if total is None else total.merge(new)
        return total

    def labels(self) -> np.ndarray:
        return np.unique(np.concatenate([np.unique(rows.y) for rows in self._blocks()]))

    def table_rows(self, numbers: np.ndarray) -> pandas.DataFrame:
        """Return the rows with the given numbers, unchanged, in that order."""
        start, found = 0, []
        for rows in self._blocks():
            inside = (numbers >= start) & (numbers < start + len(rows.y))
            places = numbers[inside] - start
            found.append(rows.frame.iloc[places].assign(_order=np.flatnonzero(inside)))
            start += len(rows.y)
        return pandas.concat(found).sort_values("_order").drop(columns="_order")

    def _blocks(self) -> Iterator[LabelledRows]:
        with self._show.counting() as done:
            for block in self._table.blocks():
                rows = self._reading.labelled(block)
                done(len(block))
                if len(rows.y):
                    yield rows
