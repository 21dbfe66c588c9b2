"""``kernelsieve fit``: from a table to a model file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline

from ..model import save
from ..model_selection import ComponentPathCV, ExtractorWithHead
from .columns import LostValues, coerce_columns, column_encoder
from .errors import TableError
from .held_out import held_out_residuals
from .inspect import rounded_repr, score_name
from .methods import CrossValidatedMethod, find_extractor, make_sieve
from .outputs import check_files, saved_message
from .table_model import TableModel
from .tables import Table, open_table
from .terminal import Terminal
from .training import LabelledRows, Reading, TableSource

_SAMPLE = 20_000  # rows that settle types, widths and numbers where not all are in memory
_IN_MEMORY = 4_000_000  # values of a table
_LANDMARKS = 50  # whose values are kept
_OPEN = {"method": "auto", "k": "auto", "kernel": "rbf", "gamma": "auto", "head": "auto"}


def fit_table(
    data: str,
    roles: Mapping[str, Any],
    given: Mapping[str, Any],
    output: Path,
    quiet: bool,
    text: Mapping[str, str | None] | None = None,
) -> None:
    """Fit a model to a table, report assumptions and results, and save it."""
    show = Terminal(quiet)
    check_files([data], [output])
    model = fitted_model(open_table(data, text, show), roles, given, show)
    save(model, output)
    show.text(saved_message(output))


@dataclass(frozen=True)
class _Job:
    """The table, how to read it, the rows in memory, and the options of the user."""

    table: Table
    reading: Reading
    rows: LabelledRows
    is_all: bool  # the rows in memory
    given: Mapping[str, Any]
    show: Terminal


@dataclass(frozen=True)
class _Fitted:
    """The fitted pipeline, with landmarks and residuals to be saved beside it."""

    pipeline: Pipeline
    landmarks: pandas.DataFrame  # as rows of the table
    residuals: np.ndarray | None = None
    weights: np.ndarray | None = None


def fitted_model(
    table: Table, roles: Mapping[str, Any], given: Mapping[str, Any], show: Terminal
) -> TableModel:
    """Fit a model to a table, in memory or out of core."""
    frame, n_rows = table.sampled(_SAMPLE, given["seed"])
    if len(frame) < n_rows and n_rows * frame.shape[1] <= _IN_MEMORY:
        frame = table.sampled(n_rows, given["seed"])[0]
    is_all = len(frame) == n_rows
    dates = given.get("dates", "auto")
    reading = Reading.infer(frame, roles, given["task"], dates, None if is_all else table)
    rows = reading.labelled(frame)
    notes = list(reading.notes)
    if rows.n_dropped:
        notes.append(f"{rows.n_dropped:,} of {len(frame):,} rows have no target and are not used.")
    lost = LostValues(reading.kinds)
    lost.add(frame, coerce_columns(frame, reading.kinds))
    notes.extend(lost.sentences())
    if not is_all:
        notes.append(
            f"{n_rows:,} rows are fitted out of core; settings are chosen on {len(rows.y):,} of them."
        )
    show.kinds(frame, reading.kinds, roles)
    for note in notes:
        show.text(note)
    job = _Job(table, reading, rows, is_all, given, show)
    left_open = all(given[name] == value for name, value in _OPEN.items())
    found = _fit_sieve(job) if left_open and rows.groups is None else _fit_chosen(job)
    sentences = list(_sentences(found.pipeline.steps[-1][1]))
    for sentence in sentences:
        show.text(sentence)
    return TableModel(
        found.pipeline,
        dict(reading.kinds),
        roles["target"],
        reading.task,
        notes + sentences,
        _cells(found.landmarks, [*reading.kinds, roles["target"]]),
        np.asarray(found.landmarks.index),
        found.residuals,
        found.weights,
    )


def _cells(rows: pandas.DataFrame, names: list[str]) -> dict[str, list[str]]:
    """Format the first rows for display."""
    first = rows[:_LANDMARKS]
    return {name: [_cell(value) for value in first[name].tolist()] for name in names}


def _cell(value: Any) -> str:
    if pandas.isna(value):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _fit_sieve(job: _Job) -> _Fitted:
    """Fit a sieve estimator, which chooses all settings itself, to the table."""
    rows, sieve = job.rows, make_sieve(job.reading.task, job.given["budget"], job.given["seed"])
    if job.is_all:
        with job.show.working(f"Fitting {len(rows.y):,} rows"):
            sieve.fit(coerce_columns(rows.frame, job.reading.kinds), rows.y, sample_weight=rows.weight)
        landmarks = rows.frame.iloc[sieve.landmark_indices_]
    else:
        source = TableSource(job.table, job.reading, job.show)
        sieve.fit(source, None)
        landmarks = source.table_rows(sieve.landmark_indices_)
    return _Fitted(Pipeline([("model", sieve)]), landmarks)


def _fit_chosen(job: _Job) -> _Fitted:
    """Fit the requested method to the encoded columns."""
    columns, rows, given = column_encoder(job.reading.kinds), job.rows, job.given
    chosen = CrossValidatedMethod(
        given, job.reading.task
    )  # which refuses options before anything is fitted
    X = columns.fit_transform(coerce_columns(rows.frame, job.reading.kinds))
    with job.show.working(f"Fitting {len(X):,} rows"):
        model: Any = chosen.fit(X, rows.y, rows.groups, rows.weight)
        features_only = given["head"] == "none" and model.head is not None
        has_residuals = job.reading.task == "regression" and not features_only
        residuals = held_out_residuals(model, X, rows, given["seed"]) if has_residuals else None
    if features_only:
        model = find_extractor(model)
    if not job.is_all:
        model = _fitted_to_all(job, model, columns, X)
    landmarks = rows.frame.iloc[find_extractor(model).landmark_indices_]
    pipeline = Pipeline([("columns", columns), ("model", model)])
    return _Fitted(pipeline, landmarks, residuals, None if residuals is None else rows.weight)


def _fitted_to_all(job: _Job, by_sample: Any, columns: Any, X: np.ndarray) -> Any:
    """Refit to all rows out of core, with the settings chosen on a sample."""
    rows, source = job.rows, TableSource(job.table, job.reading, job.show)
    if rows.groups is not None:
        raise TableError(
            "--group needs all rows in memory, and the table has too many; pass fewer rows, or "
            "leave --group out."
        )
    extractor = find_extractor(by_sample)
    if not hasattr(extractor, "prepare"):
        job.show.text(
            f"This method needs all rows in memory, so only a sample of {len(X):,} rows is fitted."
        )
        return by_sample
    fresh = clone(extractor)
    head = getattr(getattr(by_sample, "best_estimator_", None), "head", None)
    if isinstance(head, Ridge):
        plan = fresh.prepare(X, rows.y, sample_weight=rows.weight, folds=5)
        search = ComponentPathCV(fresh, clone(head), n_components=by_sample.n_components)
        return search.finish(plan, source.summed(plan, columns))
    fresh.set_params(n_components=extractor.n_components_)
    classes = {} if job.reading.task == "regression" else {"classes": source.labels()}
    plan = fresh.prepare(X, rows.y, sample_weight=rows.weight, **classes)
    whole = fresh.finish(plan, source.summed(plan, columns))
    if head is None or by_sample.head is None:
        return whole
    weights = {} if rows.weight is None else {"sample_weight": rows.weight}
    return ExtractorWithHead(whole, clone(head).fit(whole.transform(X), rows.y, **weights))


def _sentences(model: Any) -> Iterator[str]:
    """Yield sentences about the fitted model."""
    extractor = find_extractor(model)
    if hasattr(model, "report_"):
        yield model.report_
    if hasattr(model, "reason_"):
        yield model.reason_
        yield f"Cross-validated {score_name(model)}: {model.best_score_:.4f}."
    if hasattr(extractor, "landmarks_"):
        yield (
            f"{type(extractor).__name__}, {rounded_repr(extractor.kernel_)}: {extractor.n_components_} "
            f"features; a prediction takes {len(extractor.landmarks_)} kernel evaluations."
        )
