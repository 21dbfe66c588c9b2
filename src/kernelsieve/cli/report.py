"""``kernelsieve report``: a model and its scores on a table, as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from ..model_selection import ComponentPathCV
from ..predictors.base import SievePredictor
from ..predictors.report import kernel_in_words
from .columns import CATEGORY, coerce_columns
from .dates import DATES
from .errors import TableError, shortened
from .held_out import classification_scores, held_out_scores, regression_scores
from .inspect import (
    best_score_by_size,
    description,
    importances,
    landmark_columns,
    mean_scores,
    score_name,
)
from .methods import find_extractor
from .outputs import check_files, saved_message, write_text
from .page import folded, page, paragraph, picture, plain, section, side_by_side, table
from .predict import load_table_model
from .table_model import TableModel
from .tables import open_table
from .terminal import Terminal
from .training import LabelledRows, Reading

_ROWS = 20_000  # of the table that are looked at
_LANDMARKS = 12
_BINS = 10
_MANY = 800  # points: more are drawn as a picture
_IN_LEGEND = 10  # labels
_IN_MATRIX = 30  # labels; of more, so many confusions
_INPUTS, _ALONG, _CATEGORIES = 20, 3, 12  # that are shown
_COVERAGE = 0.9


def write_report(
    model: Path, data: str, output: Path, target: str | None, text: Mapping[str, str | None]
) -> None:
    """Write a report on a model and its scores on a table."""
    check_files([model, data], [output])
    loaded, show = load_table_model(model), Terminal()
    frame, n_rows = open_table(data, text, show).sampled(_ROWS, 0)
    loaded.target = _target(loaded, frame, target)
    whole = loaded.task == "classification" and loaded.classes_.dtype.kind in "iu"
    reading = Reading({"target": loaded.target}, loaded.kinds, loaded.task, whole, ())
    rows = reading.labelled(frame)
    if not len(rows.y):
        raise TableError(f"No row of {data} has a target, so there is nothing to report.")
    with show.working("Writing the report"):
        parts = [
            _sentence_about_rows(rows, frame, n_rows, data),
            *_scores(loaded, rows),
            *_model_section(loaded),
            *_path_sections(loaded),
            *_landmarks(loaded),
            *_features(loaded, rows),
            *_along_inputs(loaded, rows),
        ]
        html = page(f"{shortened(loaded.target)}: report on a model", "".join(parts))
    write_text(output, html)
    show.text(saved_message(output))


def _sentence_about_rows(rows: LabelledRows, frame: pandas.DataFrame, n_rows: int, data: str) -> str:
    """Return a sentence about the rows that the report uses."""
    drawn = f", drawn at random from {n_rows:,}" if len(frame) < n_rows else ""
    left_out = f"; {rows.n_dropped:,} without a target are not used" if rows.n_dropped else ""
    name = "standard input" if data == "-" else Path(data).name
    return paragraph(f"Table: {len(rows.y):,} rows of {name}{drawn}{left_out}.")


def _target(model: TableModel, frame: pandas.DataFrame, asked: str | None) -> str:
    """Return the name of the target column; a sieve fitted in Python does not know it."""
    if not getattr(model.fitted, "_one_dimensional_y", True):
        raise TableError("The model has several targets, and reports are about one; use Python.")
    others = [name for name in frame.columns if name not in model.kinds]
    if asked or model.target:
        return asked or model.target
    if len(others) == 1:
        return others[0]
    raise TableError(
        f"The model does not know the name of its target, which may be any of {len(others)} columns "
        "of the table; pass --target."
    )


def _axes(width: float = 4.6, height: float = 3.2) -> tuple[Any, Any]:
    figure_class = import_module("matplotlib.figure").Figure
    figure = figure_class(figsize=(width, height))
    return figure, figure.subplots()


def _scores(model: TableModel, rows: LabelledRows) -> Iterator[str]:
    """Yield cross-validated scores, scores on the table, and pictures of the errors."""
    if not model.predicts:
        return
    predicted = model.predict(rows.frame)
    if model.task == "regression":
        here = regression_scores(rows.y, predicted)
        if model.has_intervals:
            low, high = model.predict_interval(rows.frame, _COVERAGE).T
            here[f"coverage of {_COVERAGE:.0%} intervals"] = ((low <= rows.y) & (rows.y <= high)).mean()
        pictures = _residuals(predicted, rows.y - predicted)
    else:
        proba = model.predict_proba(rows.frame) if model.has_probabilities else None
        here = classification_scores(rows.y, predicted, proba, model.classes_)
        pictures = _errors_of_labels(model, rows.y, predicted, proba)
    before = held_out_scores(model)
    columns = {
        "score": list(here),
        "cross-validated": [_number(before.get(name)) for name in here],
        "this table": [_number(value) for value in here.values()],
    }
    about = "If the rows of this table were used for training, its scores are optimistic."
    yield section("Scores", table(columns), paragraph(about))
    yield from pictures


def _model_section(model: TableModel) -> Iterator[str]:
    kinds = table({"column": list(model.kinds), "type": list(model.kinds.values())})
    columns = folded(f"Types of {len(model.kinds)} columns", kinds)
    yield section("Model", *map(paragraph, description(model)), columns)
    found = importances(model)
    if found:
        shown = dict(reversed(list(found.items())[:_INPUTS]))
        figure, axes = _axes(4.6, 0.25 * len(shown) + 0.8)
        axes.barh([plain(name) for name in shown], list(shown.values()), color="#4477aa")
        axes.set_xlabel("importance, in parts of the sum")
        left = len(found) - len(shown)
        more = [paragraph(f"{left} columns of lower importance are not shown.")] if left else []
        yield section("Importances", picture(figure, "Importances of the inputs"), *more)


def _path_sections(model: TableModel) -> Iterator[str]:
    """Yield the scores by number of features, and the settings that were compared."""
    if not isinstance(model.fitted, ComponentPathCV):
        yield from _trial_section(model)
        return
    tried = model.fitted.path_
    sizes, scores = best_score_by_size(tried)
    figure, axes = _axes()
    axes.plot(sizes, scores, color="#4477aa")
    axes.axvline(model.fitted.best_n_components_, color="#aa3377", linestyle="--")
    score = f"cross-validated {score_name(model.fitted)}"
    axes.set(xlabel="number of features", ylabel=score)
    yield section("Score by number of features", picture(figure, f"{score} by number of features"))
    means = mean_scores(tried)
    settings = means.index.names[:-1]
    if settings and len(means):
        best = means[means.groupby(level=settings, sort=False).idxmax()].rename(f"best {score}")
        columns = best.reset_index()[[*settings, best.name, "k"]]
        columns = columns.rename(columns={"k": "number of features"})
        columns.columns = columns.columns.str.replace("^param_(head__)?", "", regex=True)
        yield section("Settings that were compared", table(columns.to_dict("list")))


def _trial_section(model: TableModel) -> Iterator[str]:
    """Yield the kernels and metrics that a sieve compared."""
    if not isinstance(model.fitted, SievePredictor):
        return
    preparation = model.fitted._current_fit().preparation
    trials = sorted(preparation.trials, key=lambda trial: (-trial.n_samples, trial.error))
    best = {(trial.kind.label, trial.metric): trial for trial in reversed(trials)}
    shown = [trial for trial in trials if best[trial.kind.label, trial.metric] is trial]
    about = (
        f"Kernels and metrics were compared on up to {preparation.n_samples:,} training rows, by R2 "
        "when each row is left out, with landmarks drawn at random: many of them on few rows, the "
        "better ones on more."
    )
    if model.task == "classification":
        about += " R2 is that of the class indicators."
    columns: dict[str, list] = {
        "kernel": [kernel_in_words(trial) for trial in shown],
        "metric": ["none" if t.metric == "identity" else t.metric for t in shown],
        "rows": [f"{trial.n_samples:,}" for trial in shown],
        "held-out R2": [_number(1 - trial.error) for trial in shown],
    }
    yield section("Settings that were compared", paragraph(about), table(columns))


def _landmarks(model: TableModel) -> Iterator[str]:
    columns = landmark_columns(model, _LANDMARKS)
    if columns:
        in_units = "" if model.landmarks is not None else " Values are standardised."
        about = (
            "Training rows that the model compares new rows with, the first that were selected; rows "
            f"are counted from 0. Another seed selects others.{in_units}"
        )
        yield section("Landmarks", paragraph(about), table(columns))


def _along_inputs(model: TableModel, rows: LabelledRows) -> Iterator[str]:
    """Yield predictions against the most important inputs, where the model has importances."""
    names = [name for name in importances(model) if name in model.kinds][:_ALONG]
    classifies = model.task == "classification"
    if not names or (classifies and len(model.classes_) > 2):
        return
    predicted = model.predict_proba(rows.frame)[:, 1] if classifies else model.predict(rows.frame)
    of_what = (
        f"probability of {plain(str(model.classes_[1]))}"
        if classifies
        else f"predicted {plain(model.target)}"
    )
    values = coerce_columns(rows.frame, model.kinds)
    pictures = []
    for name in names:
        figure, axes = _axes()
        if model.kinds[name] == CATEGORY:
            _draw_by_category(axes, values[name].fillna("(missing)"), predicted)
        else:
            style = {"s": 6, "color": "#4477aa", "rasterized": len(predicted) > _MANY}
            axes.scatter(values[name], predicted, **style)
            axes.locator_params(axis="x", nbins=6)
        unit = ", days since 1970" if model.kinds[name] in DATES else ""
        axes.set(xlabel=plain(name) + unit, ylabel=of_what)
        pictures.append(picture(figure, f"Predictions against {shortened(name)}"))
    yield section("Predictions against the most important columns", side_by_side(*pictures))


def _draw_by_category(axes: Any, values: pandas.Series, predicted: np.ndarray) -> None:
    medians = pandas.Series(predicted, values.index).groupby(values).median().sort_values()
    shown = list(medians.index[-_CATEGORIES:])
    axes.boxplot([predicted[values == value] for value in shown])
    turned = len(shown) > 4
    axes.set_xticks(
        range(1, len(shown) + 1),
        [plain(value) for value in shown],
        rotation=45 if turned else 0,
        ha="right" if turned else "center",
    )


def _features(model: TableModel, rows: LabelledRows) -> Iterator[str]:
    """Yield a map of the first two features."""
    extractor = find_extractor(model.fitted)
    if getattr(extractor, "n_components_", 0) < 2:
        return
    Z = model.transform(rows.frame)
    figure, axes = _axes()
    style: dict[str, Any] = {"s": 6, "rasterized": len(Z) > _MANY}
    if model.task == "regression":
        points = axes.scatter(Z[:, 0], Z[:, 1], c=rows.y, cmap="viridis", **style)
        figure.colorbar(points, label=plain(model.target))
    else:
        for label in model.classes_:
            mine = rows.y == label
            axes.scatter(Z[mine, 0], Z[mine, 1], label=plain(str(label)), **style)
        if len(model.classes_) <= _IN_LEGEND:
            axes.legend(title=plain(model.target))
    axes.set(xlabel="feature 1", ylabel="feature 2")
    yield section("The first two features", picture(figure, "Rows by their first two features"))


def _residuals(predicted: np.ndarray, residuals: np.ndarray) -> Iterator[str]:
    figure, axes = _axes()
    axes.scatter(predicted, residuals, s=6, color="#4477aa", rasterized=len(predicted) > _MANY)
    axes.axhline(0, color="#888888")
    axes.set(xlabel="prediction", ylabel="residual")
    axes.locator_params(axis="x", nbins=5)  # for numbers with many digits
    yield section("Residuals", picture(figure, "Residuals against predictions"))


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _errors_of_labels(
    model: TableModel, y: np.ndarray, predicted: np.ndarray, proba: np.ndarray | None
) -> Iterator[str]:
    classes = model.classes_
    if len(classes) <= _IN_MATRIX:
        found = {
            f"predicted {label}": [int(np.sum((predicted == label) & (y == true))) for true in classes]
            for label in classes
        }
        yield section("Confusion matrix", table({"true": list(map(str, classes))} | found))
    else:
        wrong = pandas.DataFrame({"true": y, "predicted": predicted}).astype(str)[predicted != y]
        counts = wrong.value_counts()[:_IN_MATRIX].rename("rows").reset_index()
        yield section("Most frequent confusions", table(counts.to_dict("list")))
    if proba is not None:
        yield section("Calibration", _calibration(proba, y, classes))


def _calibration(p: np.ndarray, y: np.ndarray, classes: np.ndarray) -> str:
    confident, right = p.max(axis=1), classes[p.argmax(axis=1)] == y
    bins = np.clip((confident * _BINS).astype(int), 0, _BINS - 1)
    present = np.unique(bins)
    figure, axes = _axes()
    axes.plot([0, 1], [0, 1], color="#888888", linestyle="--")
    means = [confident[bins == b].mean() for b in present]
    axes.plot(means, [right[bins == b].mean() for b in present], "o-", color="#4477aa")
    axes.set(xlabel="probability of the predicted label", ylabel="accuracy")
    return picture(figure, "Accuracy by probability of the predicted label")
