"""Models of every kind, small, for tests of files. Run as a program it writes files that are not there.

Files in ``model/files/`` stay as they are: every later version must read them.
"""

import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from contract_cases import PUBLIC, target_of
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import kernelsieve
from kernelsieve import ComponentPathCV, GradientMetric, KernelPCA, SparseMaximalAlignment
from kernelsieve.cli.columns import coerce_columns, column_encoder
from kernelsieve.cli.table_model import TableModel

FILES = Path(__file__).parent / "model" / "files"
_RANDOM = np.random.default_rng(3)
X = _RANDOM.standard_normal((24, 3)).round(3)
_SIGNAL = X[:, 0] + X[:, 1] ** 2
TARGETS = {
    "numbers": _SIGNAL,
    "labels": np.digitize(_SIGNAL, np.quantile(_SIGNAL, [0.33, 0.67])),
    "two": (np.median(_SIGNAL) < _SIGNAL).astype(int),
}
FRAME = pandas.DataFrame(X, columns=["width", "long name", "hauteur é"])
FRAME["colour"] = np.where(X[:, 2] > 0, "red", "blue")
FRAME.iloc[2, 0] = np.nan


def _estimator(entry: type) -> Any:
    common = {"n_components": 2, "gamma": 0.3, "random_state": 0, "max_iter": 10}
    model = entry(**{name: v for name, v in common.items() if name in entry().get_params()})
    labelled = model.get_params().get("target") == "auto" or not hasattr(model, "target")
    target = target_of(entry, {}) if labelled else "numbers"
    return model.fit(X, TARGETS[target])


def _landmarks() -> SparseMaximalAlignment:
    return SparseMaximalAlignment(3, gamma=0.2)


def _search() -> ComponentPathCV:
    search = ComponentPathCV(_landmarks(), Ridge(), cv=3, param_grid={"gamma": [0.1, 0.3]})
    return search.fit(X, TARGETS["numbers"])


def _metric_and_head() -> Pipeline:
    metric = GradientMetric(n_components=5, n_rounds=1, random_state=0)
    return make_pipeline(StandardScaler(), metric, _landmarks(), Ridge()).fit(X, TARGETS["numbers"])


def _columns() -> Pipeline:
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["width", "long name", "hauteur é"]),
        (OneHotEncoder(handle_unknown="ignore"), ["colour"]),
    )
    labels = np.array(["no", "yes"])[TARGETS["two"]]
    return make_pipeline(columns, _landmarks(), LogisticRegression()).fit(FRAME, labels)


def _table() -> TableModel:
    y = TARGETS["numbers"]
    kinds = {"hauteur é": "number", "colour": "category", "width": "number"}
    encoder, search = column_encoder(kinds), ComponentPathCV(_landmarks(), Ridge(), cv=3)
    search.fit(encoder.fit_transform(coerce_columns(FRAME, kinds)), y)
    landmarks = {"colour": ["red", "blue"], "width": ["0.5", ""]}
    return TableModel(
        *(make_pipeline(encoder, search), kinds, "area", "regression", ["a note"]),
        *(landmarks, np.array([3, 5]), y / 10, np.ones(len(y))),
    )


def _partial() -> KernelPCA:
    return KernelPCA(2, candidates=X[:8], gamma=0.3).partial_fit(X[:12]).partial_fit(X[12:])


_MAKERS: dict[str, Callable[[], Any]] = {
    **{entry.__name__: partial(_estimator, entry) for entry in PUBLIC if entry is not ComponentPathCV},
    "search": _search,
    "metric_and_head": _metric_and_head,
    "columns": _columns,
    "table": _table,
    "partial": _partial,
}
NAMES = list(_MAKERS)


@cache
def fitted(name: str) -> Any:
    """Return the fitted model of a name, the same one for all tests."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _MAKERS[name]()


def samples_of(model: Any) -> Any:
    """Return samples that a model takes."""
    names = getattr(model, "kinds", getattr(model, "feature_names_in_", ()))
    return FRAME if "colour" in names else X


def outputs(model: Any) -> dict[str, np.ndarray]:
    """Return what a model makes of samples."""
    methods = ("transform", "predict", "decision_function", "predict_proba")
    rows = samples_of(model)
    return {name: np.asarray(getattr(model, name)(rows)) for name in methods if hasattr(model, name)}


if __name__ == "__main__":
    FILES.mkdir(exist_ok=True)
    for name in NAMES:
        if not (FILES / f"{name}.ksv").exists():
            kernelsieve.save(fitted(name), FILES / f"{name}.ksv")
            np.savez(FILES / f"{name}.npz", **outputs(fitted(name)))
