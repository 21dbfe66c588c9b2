"""``kernelsieve compare``: cross-validate our methods and scikit-learn's on a table."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import KernelPCA
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline

from ..estimators import KernelEstimator
from ..predictors.base import SievePredictor
from .columns import coerce_columns, column_encoder
from .methods import OPEN, CrossValidatedMethod, find_extractor, make_sieve
from .outputs import check_files, write_text
from .page import page, paragraph
from .page import table as html_table
from .tables import open_table
from .terminal import Terminal, numbers_table, output
from .training import LabelledRows, Reading


def compare_methods(
    data: str,
    roles: Mapping[str, Any],
    limits: Mapping[str, Any],
    csv: Path | None,
    html: Path | None,
    text: Mapping[str, str | None],
) -> None:
    """Cross-validate methods on a table; show and write the scores, and recommend one."""
    check_files([data], [csv, html])
    show = Terminal()
    table = open_table(data, text, show)
    frame, n_rows = table.sampled(limits["rows"], limits["seed"])
    drawn_from = table if len(frame) < n_rows else None
    reading = Reading.infer(frame, roles, limits["task"], limits.get("dates", "auto"), drawn_from)
    rows = reading.labelled(frame)
    show.text(*reading.notes)
    if n_rows > len(frame):
        show.text(f"{len(frame):,} of {n_rows:,} rows were drawn at random; --rows sets how many.")
    measured = {}
    for name, make in _methods(reading.task, limits, rows.y).items():
        with show.working(name):
            measured[name] = _cross_validated(make, reading, rows, limits)
    scores = _table(measured, reading.task)
    sentence = _recommendation(scores)
    output().print(numbers_table(scores.to_dict("list")))
    output(soft_wrap=True).print(sentence)
    for path, content in ((csv, scores.to_csv(index=False)), (html, _html(scores, sentence, data))):
        if path is not None:
            write_text(path, content)


def _methods(task: str, limits: Mapping[str, Any], y: np.ndarray) -> dict[str, Callable[[], Any]]:
    k = min(limits["budget"], len(y) // 2)
    seed = {"random_state": limits["seed"]}
    classifies = task == "classification"

    def ours(method: str) -> Callable[[], Any]:
        return lambda: CrossValidatedMethod({**OPEN, **limits, "method": method}, task)

    def head() -> Any:
        return LogisticRegression(max_iter=1000) if classifies else RidgeCV(np.logspace(-4, 2, 7))

    boosting = HistGradientBoostingClassifier if classifies else HistGradientBoostingRegressor
    found: dict[str, Callable[[], Any]] = {}
    found["kernelsieve auto"] = lambda: make_sieve(task, k, limits["seed"])
    found |= {f"kernelsieve {name}": ours(name) for name in ("sma", "kpls")}
    found |= {
        "KernelPCA": lambda: make_pipeline(KernelPCA(k, kernel="rbf", **seed), head()),
        "Nystroem": lambda: make_pipeline(Nystroem(n_components=k, **seed), head()),
        "RBFSampler": lambda: make_pipeline(RBFSampler(n_components=k, **seed), head()),
        "linear": head,
        "HistGradientBoosting": lambda: boosting(**seed),
    }
    if not classifies:
        found["PLSRegression"] = lambda: PLSRegression(1)
    return found


def _cross_validated(
    make: Callable[[], Any], reading: Reading, rows: LabelledRows, limits: Mapping[str, Any]
) -> list[tuple]:
    """Return score, kernel evaluations, seconds to fit and microseconds to predict, by fold."""
    classifies = reading.task == "classification"
    kind = StratifiedKFold if classifies else KFold
    splitter: Any = kind(limits["folds"], shuffle=True, random_state=limits["seed"])
    if rows.groups is not None:
        splitter = GroupKFold(limits["folds"])
    found = []
    for train, test in splitter.split(rows.frame, rows.y, rows.groups):
        X, X_test = (coerce_columns(rows.frame.iloc[part], reading.kinds) for part in (train, test))
        model = make()
        if not isinstance(model, SievePredictor):  # which takes tables as they are
            columns = column_encoder(reading.kinds).fit(X)
            X, X_test = columns.transform(X), columns.transform(X_test)
        weight = np.ones(len(rows.y)) if rows.weight is None else rows.weight
        start = time.perf_counter()
        model = model.fit(X, rows.y[train], **_weights(model, rows, train))
        fitted = time.perf_counter()
        predicted = np.ravel(model.predict(X_test))
        seconds = time.perf_counter() - fitted
        score = accuracy_score if classifies else r2_score
        found_score = score(rows.y[test], predicted, sample_weight=weight[test])
        found.append((found_score, _evaluations(model), fitted - start, 1e6 * seconds / len(test)))
    return found


def _weights(model: Any, rows: LabelledRows, train: np.ndarray) -> dict[str, np.ndarray]:
    """Return the sample weights as fit parameters of a model; empty for models without weights."""
    if rows.weight is None or isinstance(model, PLSRegression):
        return {}
    prefix = f"{model.steps[-1][0]}__" if isinstance(model, Pipeline) else ""
    return {f"{prefix}sample_weight": rows.weight[train]}


def _evaluations(model: Any) -> int:
    extractor = find_extractor(model)
    if isinstance(extractor, KernelEstimator | SievePredictor):
        return len(extractor.landmark_indices_)
    first = model.steps[0][1] if isinstance(model, Pipeline) else None
    if isinstance(first, KernelPCA):
        return len(first.X_fit_)
    return first.n_components if isinstance(first, Nystroem | RBFSampler) else 0


def _table(measured: Mapping[str, list[tuple]], task: str) -> pandas.DataFrame:
    values = {name: np.array(folds) for name, folds in measured.items()}
    score = _score_name(task)
    table = pandas.DataFrame(
        {
            "method": list(values),
            score: [v[:, 0].mean() for v in values.values()],
            "std err": [v[:, 0].std(ddof=1) / np.sqrt(len(v)) for v in values.values()],
            "kernel evaluations": [v[:, 1].mean() for v in values.values()],
            "fit s": [v[:, 2].mean() for v in values.values()],
            "predict us": [v[:, 3].mean() for v in values.values()],
        }
    )
    return table.sort_values(score, ascending=False, ignore_index=True)


def _score_name(task: str) -> str:
    return "accuracy" if task == "classification" else "R2"


def _recommendation(table: pandas.DataFrame) -> str:
    """Recommend the fastest of the methods that are as good as the best one."""
    score = table.columns[1]
    best = table.iloc[0]
    as_good = table[table[score] >= best[score] - best["std err"]]
    chosen = as_good.sort_values("predict us").iloc[0]
    told = f"Recommended: {chosen['method']}, with cross-validated {score} {chosen[score]:.4g}"
    if chosen["method"] == best["method"]:
        return f"{told}, the best; no method within one standard error of it predicts faster."
    return (
        f"{told}, within one standard error of the best, {best[score]:.4g} of {best['method']}; it "
        "predicts fastest of the methods in that range."
    )


def _html(table: pandas.DataFrame, sentence: str, data: str) -> str:
    columns = {str(name): values for name, values in table.to_dict("list").items()}
    return page(f"Methods on {data}", paragraph(sentence) + html_table(columns))
