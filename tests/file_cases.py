"""Models of every kind, small, for tests of files. Run as a program it writes files that are not there.

Files in ``model/files/`` stay as they are: every later version must read them.
"""

import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from contract_cases import PUBLIC, target_of
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import kernelsieve
from kernelsieve import ComponentPathCV, GradientMetric, KernelPCA, SparseMaximalAlignment
from kernelsieve.cli.columns import coerced, column_encoder
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


def _estimators() -> Iterator[tuple[str, Any]]:
    for entry in PUBLIC:
        if entry is ComponentPathCV:
            continue
        common = {"n_components": 2, "gamma": 0.3, "random_state": 0, "max_iter": 10}
        model = entry(**{name: v for name, v in common.items() if name in entry().get_params()})
        labelled = model.get_params().get("target") == "auto" or not hasattr(model, "target")
        target = target_of(entry, {}) if labelled else "numbers"
        yield entry.__name__, model.fit(X, TARGETS[target])


def _composed() -> Iterator[tuple[str, Any]]:
    y = TARGETS["numbers"]
    sieve = partial(SparseMaximalAlignment, 3, gamma=0.2)
    yield "search", ComponentPathCV(sieve(), Ridge(), cv=3, param_grid={"gamma": [0.1, 0.3]}).fit(X, y)
    metric = GradientMetric(n_components=5, n_rounds=1, random_state=0)
    yield "metric_and_head", make_pipeline(StandardScaler(), metric, sieve(), Ridge()).fit(X, y)
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["width", "long name", "hauteur é"]),
        (OneHotEncoder(handle_unknown="ignore"), ["colour"]),
    )
    head = LogisticRegression()
    yield (
        "columns",
        make_pipeline(columns, sieve(), head).fit(FRAME, np.array(["no", "yes"])[TARGETS["two"]]),
    )
    kinds = {"hauteur é": "number", "colour": "category", "width": "number"}
    encoder, search = column_encoder(kinds), ComponentPathCV(sieve(), Ridge(), cv=3)
    search.fit(encoder.fit_transform(coerced(FRAME, kinds)), y)
    landmarks = {"colour": ["red", "blue"], "width": ["0.5", ""]}
    yield (
        "table",
        TableModel(
            *(make_pipeline(encoder, search), kinds, "area", "regression", ["a note"]),
            *(landmarks, np.array([3, 5]), y / 10, np.ones(len(y))),
        ),
    )
    yield "partial", KernelPCA(2, candidates=X[:8], gamma=0.3).partial_fit(X[:12]).partial_fit(X[12:])


def cases() -> dict[str, Any]:
    """Return fitted models by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {**dict(_estimators()), **dict(_composed())}


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
    for name, model in cases().items():
        if not (FILES / f"{name}.ksv").exists():
            kernelsieve.save(model, FILES / f"{name}.ksv")
            np.savez(FILES / f"{name}.npz", **outputs(model))
