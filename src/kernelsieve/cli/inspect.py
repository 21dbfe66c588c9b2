"""``kernelsieve inspect``: show a model in the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from scipy import sparse
from sklearn.base import is_classifier

from ..model import load
from ..model_selection import ComponentPathCV
from .methods import find_extractor
from .table_model import TableModel
from .terminal import numbers_table, output, plain

_SHOWN = 10  # landmarks, and columns of theirs
_MOST_INPUTS = 30
_HEIGHT, _WIDTH = 8, 60  # of the chart
_BLOCKS = " ▁▂▃▄▅▆▇█"


def inspect_model(model: Path) -> None:
    """Show method, kernel, price, landmarks, importances and scores of a model."""
    loaded, console = load(model), output()
    for line in description(loaded):
        console.print(plain(line))
    if isinstance(loaded, TableModel):
        kinds = loaded.kinds
        console.print(numbers_table({"column": list(kinds), "type": list(kinds.values())}))
    fitted = fitted_in(loaded)
    landmarks = landmark_columns(loaded, _SHOWN)
    if landmarks:
        console.print("The first landmarks, training rows that new rows are compared with:")
        console.print(numbers_table(landmarks))
    found = importances(loaded)
    if found:
        shown = dict(list(found.items())[:_MOST_INPUTS])
        console.print(numbers_table({"input": list(shown), "importance": list(shown.values())}))
    if isinstance(fitted, ComponentPathCV):
        console.print(f"Cross-validated {score_name(fitted)} by number of features, best settings:")
        for line in chart(*best_score_by_size(fitted.path_)):
            console.print(line)


def description(model: Any) -> Iterator[str]:
    """Yield sentences that describe a model."""
    fitted = fitted_in(model)
    extractor = find_extractor(fitted)
    if isinstance(model, TableModel):
        yield f"{model.task.capitalize()} of {model.target!r} from {len(model.kinds)} columns."
    yield f"Method: {type(extractor).__name__}"
    kernel, k, landmarks = (
        getattr(extractor, name, None) for name in ("kernel_", "n_components_", "landmark_indices_")
    )
    if kernel is not None:
        yield f"Kernel: {rounded_repr(kernel)}"
    if k is not None:
        yield f"Features: {k}"
    if landmarks is not None:
        yield f"Cost of a prediction: {len(landmarks)} kernel evaluations"
    head = getattr(getattr(fitted, "best_estimator_", fitted), "head", None)
    if head is not None and not callable(head):
        yield f"Head: {type(head).__name__}"
    yield from getattr(model, "notes", ())


def fitted_in(model: Any) -> Any:
    """Return the estimator inside a model of tables; other models are estimators themselves."""
    return model.fitted if isinstance(model, TableModel) else model


def score_name(search: Any) -> str:
    """Return the name of a search's scores: accuracy, R2, or score for a custom ``scoring``."""
    if getattr(search, "scoring", None) is not None:
        return "score"
    return "accuracy" if is_classifier(search) else "R2"


def rounded_repr(kernel: Any) -> str:
    """Return the repr of a kernel with numbers rounded to four digits."""
    return re.sub(r"\d+\.\d+(e-?\d+)?", lambda found: f"{float(found[0]):.4g}", repr(kernel))


def landmark_columns(model: Any, number: int) -> dict[str, list]:
    """Return the first landmarks by column: rows of the table, or inputs where there is no table."""
    if isinstance(model, TableModel) and model.landmarks is not None:
        rows = [] if model.landmark_rows is None else model.landmark_rows[:number].tolist()
        columns = {name: model.landmarks[name][:number] for name in _most_important(model)}
        target = model.landmarks[model.target][:number]
        return {"row": list(map(str, rows)), model.target: target, **columns}
    extractor = find_extractor(fitted_in(model))
    Z = getattr(extractor, "landmarks_", None)
    if Z is None or np.ndim(Z) != 2:
        return {}
    Z = Z[:number].toarray() if sparse.issparse(Z) else np.asarray(Z[:number])
    names = _input_names(model, Z.shape[1])[:_SHOWN]
    found: dict[str, list] = {"row": [str(i) for i in extractor.landmark_indices_[:number]]}
    return found | {name: list(map(float, Z[:, i])) for i, name in enumerate(names)}


def _most_important(model: TableModel) -> list[str]:
    """Return the columns to show, the most important ones first."""
    known = [name for name in importances(model) if name in model.kinds]
    return [*known, *(name for name in model.kinds if name not in known)][:_SHOWN]


def importances(model: Any) -> dict[str, float]:
    """Return the importances of the inputs, largest first; empty if the model has none."""
    found = getattr(fitted_in(model), "importances_", None)
    if found is None:
        return {}
    names = _input_names(model, len(found))
    return {names[i]: float(found[i]) for i in np.argsort(-np.asarray(found), kind="stable")}


def _input_names(model: Any, number: int) -> list[str]:
    if isinstance(model, TableModel):
        return model.input_names
    return list(map(str, getattr(model, "feature_names_in_", range(number))))


def mean_scores(path: dict[str, np.ndarray]) -> pandas.Series:
    """Return mean test scores by setting and number of features, where every fold has a score."""
    frame = pandas.DataFrame(path)
    settings = [name for name in path if name.startswith("param_")]
    frame[settings] = frame[settings].astype(str)
    scores = frame.groupby([*settings, "k"], sort=False)["test_score"]
    means = scores.agg(lambda of_folds: of_folds.mean(skipna=False))
    return means[np.isfinite(means)]


def best_score_by_size(path: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of features, and for each the best mean test score over all settings."""
    best = mean_scores(path).groupby(level="k").max()
    return best.index.to_numpy(), best.to_numpy()


def chart(sizes: np.ndarray, scores: np.ndarray) -> Iterator[str]:
    """Yield the lines of a bar chart drawn with block characters."""
    if len(sizes) == 0:
        return
    places = np.linspace(sizes[0], sizes[-1], min(_WIDTH, int(sizes[-1] - sizes[0]) + 1))
    heights = np.interp(places, sizes, scores)
    low, high = float(scores.min()), float(scores.max())
    filled = (heights - low) / ((high - low) or 1.0) * (_HEIGHT - 0.125) + 0.125
    for level in range(_HEIGHT - 1, -1, -1):
        eighths = np.clip(np.round((filled - level) * 8), 0, 8).astype(int)
        label = f"{high:9.4f} " if level == _HEIGHT - 1 else f"{low:9.4f} " if level == 0 else " " * 10
        yield label + "".join(_BLOCKS[e] for e in eighths)
    yield f"{'':10}{sizes[0]:<{max(1, len(places) - 6)}}{sizes[-1]:>6}"
