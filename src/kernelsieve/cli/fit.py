"""``kernelsieve fit``: from a table to a model file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline

from ..model import save
from ..model_selection import ComponentPathCV, ExtractorWithHead
from .columns import coerced, column_encoder
from .errors import TableError
from .methods import automatic, extractor_of, other_head, search
from .table_model import TableModel
from .tables import Table, open_table
from .terminal import Terminal
from .training import LabelledRows, Reading

_SAMPLE = 20_000  # rows that settle types, widths and numbers where not all are in memory
_IN_MEMORY = 4_000_000  # values of a table


def fit_table(
    data: str, roles: Mapping[str, Any], given: Mapping[str, Any], output: Path, quiet: bool
) -> None:
    """Fit a model to a table, say what was assumed and found, and save it."""
    show = Terminal(quiet)
    if not output.parent.is_dir():
        raise FileNotFoundError(2, "No such folder", str(output.parent))
    model = fitted_model(open_table(data), roles, given, show)
    save(model, output)
    show.text(f"Saved: {output} ({output.stat().st_size:,} bytes)")


def fitted_model(
    table: Table, roles: Mapping[str, Any], given: Mapping[str, Any], show: Terminal
) -> TableModel:
    """Fit a model to a table, in memory or out of core."""
    frame, n_rows = table.sampled(_SAMPLE, given["seed"])
    is_all = n_rows <= len(frame)
    if not is_all and n_rows * frame.shape[1] <= _IN_MEMORY:
        frame, is_all = table.sampled(n_rows, given["seed"])[0], True
    reading = Reading.of(frame, roles, given["task"])
    rows = reading.labelled(frame)
    notes = list(reading.notes)
    if rows.n_dropped:
        notes.append(f"{rows.n_dropped:,} of {len(frame):,} rows have no target and are left out.")
    show.kinds(frame, reading.kinds, roles)
    for note in notes:
        show.text(note)
    columns = column_encoder(reading.kinds)
    X = columns.fit_transform(coerced(rows.frame, reading.kinds))
    with show.working(f"Fitting {len(X):,} rows"):
        model = _in_memory(X, rows, given, reading.task, is_all=is_all)
    if not is_all:
        notes.append(f"{n_rows:,} rows were fitted out of core; {len(X):,} of them chose the settings.")
        show.text(notes[-1])
        whole = _OutOfCore(table, reading, columns, given, show)
        model = whole.fitted(model, X, rows)
    sentences = _sentences(model)
    for sentence in sentences:
        show.text(sentence)
    pipeline = Pipeline([("columns", columns), ("model", model)])
    return TableModel(pipeline, dict(reading.kinds), roles["target"], reading.task, notes + sentences)


_OPEN = {"method": "auto", "k": "auto", "kernel": "rbf", "gamma": "auto", "head": "auto"}


def _in_memory(
    X: np.ndarray, rows: LabelledRows, given: Mapping[str, Any], task: str, *, is_all: bool
) -> Any:
    left_open = all(given[name] == value for name, value in _OPEN.items())
    if left_open and is_all and rows.groups is None:
        chosen = automatic(task, given["budget"], given["seed"])
        if chosen is not None:
            return chosen.fit(X, rows.y, sample_weight=rows.weight)
    found = search(given, task, rows.y, grouped=rows.groups is not None)
    found.fit(X, rows.y, groups=rows.groups, sample_weight=rows.weight)
    head = other_head(given["head"], task)
    if head is not None and found.head is not None:
        chosen = found.best_estimator_
        weights = {} if rows.weight is None else {"sample_weight": rows.weight}
        found.best_estimator_ = ExtractorWithHead(
            chosen.extractor, head.fit(chosen.transform(X), rows.y, **weights)
        )
    return extractor_of(found) if given["head"] == "none" and found.head is not None else found


class _OutOfCore:
    """Fits all rows by sums of blocks, with the settings that a sample has chosen."""

    def __init__(
        self, table: Table, reading: Reading, columns: Any, given: Mapping[str, Any], show: Terminal
    ) -> None:
        self._table, self._reading, self._columns = table, reading, columns
        self._given, self._show = given, show

    def fitted(self, by_sample: Any, X: np.ndarray, rows: LabelledRows) -> Any:
        """Return the model of all rows."""
        if rows.groups is not None:
            raise TableError("--group needs all rows in memory, and they are too many; pass fewer.")
        extractor = extractor_of(by_sample)
        if not hasattr(extractor, "prepare"):
            self._show.text("This method needs all rows in memory; the sample alone is fitted.")
            return by_sample
        fresh = clone(extractor)
        head = getattr(getattr(by_sample, "best_estimator_", None), "head", None)
        if isinstance(head, Ridge):
            plan = fresh.prepare(X, rows.y, sample_weight=rows.weight, folds=5)
            sizes = by_sample.n_components
            return ComponentPathCV(fresh, clone(head), n_components=sizes).finish(plan, self._sum(plan))
        plan = fresh.prepare(X, rows.y, sample_weight=rows.weight, **self._classes())
        whole = fresh.finish(plan, self._sum(plan))
        if head is None or hasattr(whole, "predict"):
            return whole
        weights = {} if rows.weight is None else {"sample_weight": rows.weight}
        return ExtractorWithHead(whole, clone(head).fit(whole.transform(X), rows.y, **weights))

    def _classes(self) -> dict[str, Any]:
        """Return all labels: a sample may lack some."""
        if self._reading.task == "regression":
            return {}
        found = [np.unique(self._reading.labelled(block).y) for block in self._table.blocks()]
        return {"classes": np.unique(np.concatenate(found))}

    def _sum(self, plan: Any) -> Any:
        total = None
        for X, rows in self._blocks():
            part = plan.statistic(X, rows.y, rows.weight)
            total = part if total is None else total.merge(part)
        return total

    def _blocks(self) -> Iterator[tuple[np.ndarray, LabelledRows]]:
        with self._show.counting() as done:
            for block in self._table.blocks():
                rows = self._reading.labelled(block)
                if len(rows.y):
                    yield self._columns.transform(coerced(rows.frame, self._reading.kinds)), rows
                done(len(block))


def _sentences(model: Any) -> list[str]:
    """Return what was found, in sentences."""
    extractor = extractor_of(model)
    found = [model.report_] if hasattr(model, "report_") else []
    if hasattr(model, "reason_"):
        found.append(model.reason_)
        found.append(f"Cross-validated score: {model.best_score_:.4f}.")
    if hasattr(extractor, "landmarks_"):
        found.append(
            f"{type(extractor).__name__}, {extractor.kernel_!r}: {extractor.n_components_} features, "
            f"{len(extractor.landmarks_)} kernel evaluations for a new row."
        )
    return found
