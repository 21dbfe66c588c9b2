"""``kernelsieve predict`` and ``transform``: read rows and write columns, block by block."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from sklearn.pipeline import Pipeline

from .._sklearn import has_method
from ..model import load
from ..predictors.base import SievePredictor
from ..program import Explanation, compiled
from .columns import LostValues
from .errors import TableError, no_column
from .methods import find_extractor
from .outputs import check_files, check_format, open_writer
from .table_model import TableModel
from .tables import Table, open_table
from .terminal import Terminal


def load_table_model(path: Path) -> TableModel:
    """Load a model of tables from a file."""
    model = load(path)
    if isinstance(model, SievePredictor):
        return TableModel.from_sieve(model)
    if not isinstance(model, TableModel):
        raise TableError(
            f"{path} holds a {type(model).__name__}, which takes arrays and not tables; load it in "
            "Python with kernelsieve.load, or fit a model with kernelsieve fit."
        )
    return model


def transform_table(
    model: Path, data: str, output: str, k: int | None, text: Mapping[str, str | None]
) -> None:
    """Write the features of all rows."""
    check_files([model, data], [output])
    check_format(output)
    loaded = load_table_model(model)
    extractor = find_extractor(loaded.fitted)
    if not has_method(extractor, "transform"):
        raise TableError(
            f"{type(extractor).__name__} predicts and gives no features; use predict, or fit with "
            "--method sma."
        )
    if k is not None and not has_method(extractor, "truncate"):
        raise TableError(
            f"--k {k} is not for a {type(extractor).__name__}, whose features are not nested; leave "
            "it out."
        )
    if k is not None:
        extractor = extractor.truncate(k)
    names, lost = list(map(str, extractor.get_feature_names_out())), LostValues(loaded.kinds)
    program = compiled(Pipeline([*loaded.pipeline.steps[:-1], ("model", extractor)]), "features")

    def features(frame: pandas.DataFrame) -> pandas.DataFrame:
        return pandas.DataFrame(program(loaded.table(frame, lost)), columns=names)

    _stream(open_table(data, text, Terminal()), output, features, lost)


def predict_table(
    model: Path,
    data: str,
    output: str,
    wanted: Mapping[str, Any],
    text: Mapping[str, str | None],
) -> None:
    """Write the predictions of all rows, with the requested extra columns."""
    check_files([model, data], [output])
    check_format(output)
    loaded, kept = load_table_model(model), wanted["keep"] or []
    _check(loaded, wanted)
    lost, program = LostValues(loaded.kinds), loaded.program

    def predictions(frame: pandas.DataFrame) -> pandas.DataFrame:
        absent = [name for name in kept if name not in frame.columns]
        if absent:
            raise no_column(absent[0], frame.columns, " to keep")
        table = loaded.table(frame, lost)
        found: dict[str, Any] = {name: frame[name].to_numpy() for name in kept}
        found |= _columns_by_target("prediction", program.predict(table))
        if wanted["proba"]:
            p = program.predict_proba(table)
            found |= {f"probability_{c}": p[:, i] for i, c in enumerate(loaded.classes_)}
        if wanted["interval"] is not None:
            ends = loaded.predict_interval(frame, wanted["interval"])
            found |= _columns_by_target("lower", ends[..., 0]) | _columns_by_target(
                "upper", ends[..., 1]
            )
        if wanted["explain"]:
            found |= _strongest(loaded.explain(frame), wanted["explain"])
        return pandas.DataFrame(found)

    _stream(open_table(data, text, Terminal()), output, predictions, lost)


def _columns_by_target(name: str, values: np.ndarray) -> dict[str, np.ndarray]:
    """Return predictions as named columns, one for each target."""
    if values.ndim == 1:
        return {name: values}
    return {f"{name}_{i}": column for i, column in enumerate(values.T, start=1)}


def _check(model: TableModel, wanted: Mapping[str, Any]) -> None:
    """Raise an error for requests that the model cannot fulfil, before any row is read."""
    fitted = model.fitted
    if not model.predicts:
        raise TableError(
            "The model computes features and has no head to predict with; use transform, or fit with "
            "another --head."
        )
    if wanted["proba"] and not model.has_probabilities:
        raise TableError("The model has no probabilities; fit a classifier with --head logistic.")
    if wanted["interval"] is not None:
        model.check_has_intervals()
    if wanted["explain"] and not getattr(fitted, "_one_dimensional_y", True):
        raise TableError("--explain is for models of one target; call explain in Python.")


def _stream(
    table: Table,
    output: str,
    function: Callable[[pandas.DataFrame], pandas.DataFrame],
    lost: LostValues,
) -> None:
    """Apply a function to the blocks of a table, write the results, and report lost values."""
    with open_writer(output) as write:
        for block in table.blocks():
            write(function(block))
    for sentence in lost.sentences():
        Terminal().text(sentence)


def _strongest(explained: Explanation, number: int) -> dict[str, np.ndarray]:
    """Return the landmarks with the largest contributions to each prediction."""
    rows, added = (
        explained.landmark_indices,
        _contributions_to_largest(explained.contributions, explained.baseline),
    )
    number = min(number, len(rows))
    order = np.argsort(-np.abs(added), axis=1)[:, :number]
    sizes = np.take_along_axis(added, order, axis=1)
    found: dict[str, np.ndarray] = {}
    for i in range(number):
        found[f"landmark_{i + 1}"] = rows[order[:, i]]
        found[f"contribution_{i + 1}"] = sizes[:, i]
    return found


def _contributions_to_largest(added: np.ndarray, baseline: Any) -> np.ndarray:
    """Return the contributions to each row's largest score, that of the predicted label."""
    if added.ndim == 2:
        return added
    column = (added.sum(axis=1) + baseline).argmax(axis=1)
    return np.take_along_axis(added, column[:, None, None], axis=2)[:, :, 0]
