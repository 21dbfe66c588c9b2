"""``kernelsieve report``: a model and how it does on a table, as one HTML file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from ..model import replacing
from ..predictors.base import SievePredictor
from ..predictors.report import kernel_in_words
from .columns import CATEGORY, DATE, coerced
from .inspect import best_curve, description, importances, landmark_columns, mean_scores
from .methods import extractor_of
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
_INPUTS, _ALONG, _CATEGORIES = 20, 3, 12  # that are shown


def write_report(path: Path, data: str, output: Path) -> None:
    """Write what a model is, and how it does on a table."""
    model = load_table_model(path)
    frame, n_rows = open_table(data).sampled(_ROWS, 0)
    roles: dict[str, Any] = {"target": model.target, "drop": [], "weight": None, "group": None}
    whole = model.task == "classification" and model.classes_.dtype.kind in "iu"
    rows = Reading(roles, model.kinds, model.task, whole, ()).labelled(frame)
    with Terminal().working("Writing the report"):
        parts = [*_about(model), *_scores(model), *_landmarks(model), *_features(model, rows)]
        parts += _along_inputs(model, rows)
        parts += (
            _regression(model, rows) if model.task == "regression" else _classification(model, rows)
        )
        seen = f"{len(rows.y):,} of {n_rows:,} rows of {Path(data).name} were looked at."
        text = page(f"{model.target}: a model and how it does", paragraph(seen) + "".join(parts))
    with replacing(output) as file:
        file.write(text.encode())
    Terminal().text(f"Saved: {output} ({output.stat().st_size:,} bytes)")


def _axes(width: float = 4.6, height: float = 3.2) -> tuple[Any, Any]:
    figure_class = import_module("matplotlib.figure").Figure
    figure = figure_class(figsize=(width, height))
    return figure, figure.subplots()


def _about(model: TableModel) -> Iterator[str]:
    kinds = table({"column": list(model.kinds), "taken for": list(model.kinds.values())})
    columns = folded(f"{len(model.kinds)} columns, and what they were taken for", kinds)
    yield section("What it is", *map(paragraph, description(model)), columns)
    found = importances(model)
    if found:
        shown = dict(reversed(list(found.items())[:_INPUTS]))
        figure, axes = _axes(4.6, 0.25 * len(shown) + 0.8)
        axes.barh([plain(name) for name in shown], list(shown.values()), color="#4477aa")
        axes.set_xlabel("share of what moves the prediction")
        left = len(found) - len(shown)
        more = [paragraph(f"{left} more columns count less.")] if left else []
        yield section("Importances", picture(figure, "Importances of the inputs"), *more)


def _scores(model: TableModel) -> Iterator[str]:
    """Yield scores against numbers of features, and what was tried."""
    tried = getattr(model.fitted, "path_", None)
    if not tried or "k" not in tried:
        yield from _trials(model)
        return
    sizes, scores = best_curve(tried)
    figure, axes = _axes()
    axes.plot(sizes, scores, color="#4477aa")
    axes.axvline(model.fitted.best_n_components_, color="#aa3377", linestyle="--")
    axes.set(xlabel="number of features", ylabel="mean test score")
    yield section(
        "Score against the number of features", picture(figure, "Scores by number of features")
    )
    names = [re.sub("^param_(head__)?", "", name) for name in tried if name.startswith("param_")]
    found = {setting: by_size for setting, by_size in mean_scores(tried).items() if by_size}
    if names and found:
        columns: dict[str, list] = {n: [setting[i] for setting in found] for i, n in enumerate(names)}
        columns["best mean score"] = [max(by_size.values()) for by_size in found.values()]
        columns["with so many features"] = [max(b, key=b.__getitem__) for b in found.values()]
        yield section("What was tried", table(columns))


def _trials(model: TableModel) -> Iterator[str]:
    """Yield which kernels and metrics a sieve has tried."""
    if not isinstance(model.fitted, SievePredictor):
        return
    preparation = model.fitted._current_fit().preparation
    trials = sorted(preparation.trials, key=lambda trial: trial.error)
    about = (
        f"Errors of {preparation.n_samples:,} rows, held out of fits with landmarks drawn at random, "
        "in parts of the variance of the target. The best of each kernel were fitted again, with "
        "chosen landmarks, and the last column, where it has a number, decided."
    )
    decided = {(each.trial.kind.label, each.trial.metric): each for each in preparation.finalists}
    last = [decided.get((trial.kind.label, trial.metric)) for trial in trials]
    columns: dict[str, list] = {
        "kernel": [kernel_in_words(trial) for trial in trials],
        "metric": [trial.metric for trial in trials],
        "error": [float(trial.error) for trial in trials],
        "with chosen landmarks": ["" if each is None else f"{each.error:.4g}" for each in last],
    }
    yield section("What was tried", paragraph(about), table(columns))


def _landmarks(model: TableModel) -> Iterator[str]:
    columns = landmark_columns(model, _LANDMARKS)
    if columns:
        in_units = "" if model.landmarks is not None else ", in standardised units"
        about = (
            "Rows of the training table that the model compares new rows with"
            f"{in_units}, the first that were chosen. Rows are counted from 0. Another seed chooses "
            "others."
        )
        yield section("Landmarks", paragraph(about), table(columns))


def _along_inputs(model: TableModel, rows: LabelledRows) -> Iterator[str]:
    """Yield predictions along the inputs that count most, where the model tells which these are."""
    names = [name for name in importances(model) if name in model.kinds][:_ALONG]
    classifies = model.task == "classification"
    if not names or (classifies and len(model.classes_) > 2):
        return
    predicted = model.predict_proba(rows.frame)[:, 1] if classifies else model.predict(rows.frame)
    of_what = f"probability of {model.classes_[1]}" if classifies else f"predicted {model.target}"
    values = coerced(rows.frame, model.kinds)
    pictures = []
    for name in names:
        figure, axes = _axes()
        if model.kinds[name] == CATEGORY:
            _draw_by_category(axes, values[name].fillna("(missing)"), predicted)
        else:
            style = {"s": 6, "color": "#4477aa", "rasterized": len(predicted) > _MANY}
            axes.scatter(values[name], predicted, **style)
            axes.locator_params(axis="x", nbins=6)
        unit = ", days since 1970" if model.kinds[name] == DATE else ""
        axes.set(xlabel=plain(name + unit), ylabel=plain(of_what))
        pictures.append(picture(figure, f"Predictions by {name}"))
    yield section("Predictions along the columns that count most", side_by_side(*pictures))


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
    extractor = extractor_of(model.fitted)
    if getattr(extractor, "n_components_", 0) < 2:
        return
    Z = np.asarray(extractor.transform(model.encoded(rows.frame), n_components=2))
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


def _regression(model: TableModel, rows: LabelledRows) -> Iterator[str]:
    if not hasattr(model.fitted, "predict"):
        return
    predicted = model.predict(rows.frame)
    residuals = rows.y - predicted
    spread = float(np.var(rows.y)) or 1.0
    sentence = (
        f"R2 is {1 - np.mean(residuals**2) / spread:.4f} on these rows; the mean absolute error is "
        f"{_number(np.abs(residuals).mean())}. Where the model was fitted to them, that is too good."
    )
    figure, axes = _axes()
    axes.scatter(predicted, residuals, s=6, color="#4477aa", rasterized=len(predicted) > _MANY)
    axes.axhline(0, color="#888888")
    axes.set(xlabel="prediction", ylabel="residual")
    axes.locator_params(axis="x", nbins=5)  # for numbers with many digits
    yield section("Residuals", paragraph(sentence), picture(figure, "Residuals against predictions"))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _classification(model: TableModel, rows: LabelledRows) -> Iterator[str]:
    if not hasattr(model.fitted, "predict"):
        return
    predicted, classes = model.predict(rows.frame), model.classes_
    rate = np.mean(predicted != rows.y)
    counts = {
        f"predicted {label}": [int(np.sum((predicted == label) & (rows.y == true))) for true in classes]
        for label in classes
    }
    sentence = (
        f"{rate:.2%} of these rows are predicted wrongly. Where the model was fitted to them, that is "
        "too good."
    )
    labels = {"true": list(map(str, classes))}
    yield section("Confusion matrix", paragraph(sentence), table(labels | counts))
    if hasattr(model.fitted, "predict_proba"):
        yield section("Calibration", _calibration(model.predict_proba(rows.frame), rows.y, classes))


def _calibration(p: np.ndarray, y: np.ndarray, classes: np.ndarray) -> str:
    confident, right = p.max(axis=1), classes[p.argmax(axis=1)] == y
    bins = np.clip((confident * _BINS).astype(int), 0, _BINS - 1)
    present = np.unique(bins)
    figure, axes = _axes()
    axes.plot([0, 1], [0, 1], color="#888888", linestyle="--")
    means = [confident[bins == b].mean() for b in present]
    axes.plot(means, [right[bins == b].mean() for b in present], "o-", color="#4477aa")
    axes.set(xlabel="probability of the predicted label", ylabel="share that is right")
    return picture(figure, "How often predictions are right, by their probability")
