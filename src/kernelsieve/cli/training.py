"""Rows to learn from, with targets, weights and groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas

from .columns import _numbers, find_kinds, find_task
from .errors import TableError


@dataclass(frozen=True)
class LabelledRows:
    """Rows whose target is known."""

    frame: pandas.DataFrame
    y: np.ndarray
    weight: np.ndarray | None
    groups: np.ndarray | None
    n_dropped: int


@dataclass(frozen=True)
class Reading:
    """How tables are read: what is the target, which columns are what."""

    roles: Mapping[str, Any]
    kinds: Mapping[str, str]
    task: str
    whole_labels: bool
    notes: tuple[str, ...]

    @classmethod
    def of(cls, frame: pandas.DataFrame, roles: Mapping[str, Any], task: str) -> Reading:
        """Find out by some rows."""
        named = [roles["target"], *roles["drop"], roles["weight"], roles["group"]]
        for name in filter(None, named):
            if name not in frame.columns:
                raise TableError(
                    f"The table has no column {name!r}; it has {', '.join(map(repr, frame.columns))}."
                )
        y = frame[roles["target"]].dropna()
        if len(y) == 0:
            raise TableError(f"All values of the target {roles['target']!r} are missing.")
        if y.nunique() == 1:
            raise TableError(
                f"The target {roles['target']!r} is {y.iloc[0]!r} in all rows; nothing can be learnt."
            )
        found, sentence = find_task(y, task)
        kinds, notes = find_kinds(frame, [name for name in named if name])
        whole = bool(pandas.api.types.is_numeric_dtype(y) and not pandas.api.types.is_bool_dtype(y))
        return cls(roles, kinds, found, whole, (sentence, *notes))

    def labelled(self, frame: pandas.DataFrame) -> LabelledRows:
        """Return the rows whose target is known."""
        missing = [name for name in (self.roles["target"],) if name not in frame.columns]
        if missing:
            raise TableError(f"The table has no column {missing[0]!r}, which is the target.")
        target = frame[self.roles["target"]]
        known = _numbers(target).notna() if self.task == "regression" else target.notna()
        rows = frame[known]
        y = target[known]
        return LabelledRows(
            rows,
            self._targets(y),
            self._weights(rows),
            None if self.roles["group"] is None else rows[self.roles["group"]].astype(str).to_numpy(),
            int(len(frame) - known.sum()),
        )

    def _targets(self, y: pandas.Series) -> np.ndarray:
        if self.task == "regression":
            return _numbers(y).to_numpy()
        if not self.whole_labels:
            return y.astype(str).to_numpy(dtype=str)
        values = _numbers(y).to_numpy()
        whole = bool(np.all(values == np.round(values)))
        return values.astype(np.int64) if whole else y.astype(str).to_numpy(dtype=str)

    def _weights(self, rows: pandas.DataFrame) -> np.ndarray | None:
        name = self.roles["weight"]
        if name is None:
            return None
        weight = _numbers(rows[name]).to_numpy()
        if np.isnan(weight).any() or (weight < 0).any():
            raise TableError(f"Column {name!r} has weights that are missing or negative.")
        return weight
