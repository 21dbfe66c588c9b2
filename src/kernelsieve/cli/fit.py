"""``kernelsieve fit``: from a table to a model file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import Pipeline

from ..estimators import KernelEstimator, is_summed_up
from ..model import save
from ..model_selection import ComponentPathCV, ExtractorWithHead
from ..predictors.base import SievePredictor
from .columns import LostValues, coerce_columns, column_encoder
from .errors import TableError
from .held_out import held_out_residuals
from .inspect import rounded_repr, score_name
from .methods import OPEN, CrossValidatedMethod, find_extractor, make_sieve
from .outputs import check_files, saved_message
from .table_model import TableModel
from .tables import Table, open_table
from .terminal import Terminal
from .training import LabelledRows, Reading, TableSource

_SAMPLE = 20_000  # rows that settle types, widths and numbers where not all are in memory
_IN_MEMORY = 4_000_000  # values of a table
_LANDMARKS = 50  # whose values are kept


def fit_table(
    data: str,
    roles: Mapping[str, Any],
    given: Mapping[str, Any],
    output: Path,
    quiet: bool,
    text: Mapping[str, str | None],
) -> None:
    """Fit a model to a table, report assumptions and results, and save it."""
    show = Terminal(quiet)
    check_files([data], [output])
    model = fitted_model(open_table(data, text, show), roles, given, show)
    save(model, output)
    show.text(saved_message(output))


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
    show.text(*notes)
    source = None if is_all else TableSource(table, reading, show)
    left_open = all(given[name] == value for name, value in OPEN.items())
    fit = _fit_sieve if left_open and rows.groups is None else _fit_chosen
    pipeline, landmarks, residuals = fit(reading, rows, source, given, show)
    sentences = list(_sentences(pipeline.steps[-1][1]))
    show.text(*sentences)
    return TableModel(
        pipeline,
        dict(reading.kinds),
        roles["target"],
        reading.task,
        notes + sentences,
        _cells(landmarks, [*reading.kinds, roles["target"]]),
        np.asarray(landmarks.index),
        residuals,
        None if residuals is None else rows.weight,
    )


def _cells(rows: pandas.DataFrame, names: list[str]) -> dict[str, list[str]]:
    """Format the first rows for display."""
    first = rows[:_LANDMARKS]
    return {name: [_cell(value) for value in first[name].tolist()] for name in names}


def _cell(value: Any) -> str:
    if pandas.isna(value):
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


#: A fitted pipeline, its landmarks as rows of the table, and residuals of held-out rows.
_Fitted = tuple[Pipeline, pandas.DataFrame, np.ndarray | None]


def _fit_sieve(
    reading: Reading,
    rows: LabelledRows,
    source: TableSource | None,
    given: Mapping[str, Any],
    show: Terminal,
) -> _Fitted:
    """Fit a sieve estimator, which chooses all settings itself, to the table."""
    sieve = make_sieve(reading.task, given["budget"], given["seed"])
    if source is None:
        with show.working(f"Fitting {len(rows.y):,} rows"):
            sieve.fit(coerce_columns(rows.frame, reading.kinds), rows.y, sample_weight=rows.weight)
        landmarks = rows.frame.iloc[sieve.landmark_indices_]
    else:
        sieve.fit(source, None)
        landmarks = source.table_rows(sieve.landmark_indices_)
    return Pipeline([("model", sieve)]), landmarks, None


def _fit_chosen(
    reading: Reading,
    rows: LabelledRows,
    source: TableSource | None,
    given: Mapping[str, Any],
    show: Terminal,
) -> _Fitted:
    """Fit the requested method to the encoded columns."""
    columns = column_encoder(reading.kinds)
    chosen = CrossValidatedMethod(given, reading.task)  # which refuses options before it fits
    X = columns.fit_transform(coerce_columns(rows.frame, reading.kinds))
    with show.working(f"Fitting {len(X):,} rows"):
        model: Any = chosen.fit(X, rows.y, rows.groups, rows.weight)
        features_only = given["head"] == "none" and model.head is not None
        has_residuals = reading.task == "regression" and not features_only
        residuals = held_out_residuals(model, X, rows, given["seed"]) if has_residuals else None
    if features_only:
        model = find_extractor(model)
    if source is not None:
        model = _fitted_to_all(source, model, rows, columns, X, show)
    landmarks = rows.frame.iloc[find_extractor(model).landmark_indices_]
    return Pipeline([("columns", columns), ("model", model)]), landmarks, residuals


def _fitted_to_all(
    source: TableSource, by_sample: Any, rows: LabelledRows, columns: Any, X: np.ndarray, show: Terminal
) -> Any:
    """Refit to all rows out of core, with the settings chosen on a sample."""
    if rows.groups is not None:
        raise TableError(
            "--group needs all rows in memory, and the table has too many; pass fewer rows, or "
            "leave --group out."
        )
    extractor = find_extractor(by_sample)
    if not is_summed_up(extractor):
        show.text(
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
    classes = {"classes": source.labels()} if rows.y.dtype.kind != "f" else {}
    plan = fresh.prepare(X, rows.y, sample_weight=rows.weight, **classes)
    whole = fresh.finish(plan, source.summed(plan, columns))
    if head is None or by_sample.head is None:
        return whole
    weights = {} if rows.weight is None else {"sample_weight": rows.weight}
    return ExtractorWithHead(whole, clone(head).fit(whole.transform(X), rows.y, **weights))


def _sentences(model: Any) -> Iterator[str]:
    """Yield sentences about the fitted model."""
    extractor = find_extractor(model)
    if isinstance(model, SievePredictor):
        yield model.report_
    if isinstance(model, ComponentPathCV):
        yield model.reason_
        yield f"Cross-validated {score_name(model)}: {model.best_score_:.4f}."
    if isinstance(extractor, KernelEstimator):
        yield (
            f"{type(extractor).__name__}, {rounded_repr(extractor.kernel_)}: {extractor.n_components_} "
            f"features; a prediction takes {len(extractor.landmarks_)} kernel evaluations."
        )
