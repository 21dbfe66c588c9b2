"""NaN and None in columns of objects: what is served sees them as the pipeline does."""

import ctypes
import json

import numpy as np
import pandas
import pytest
from c_programs import COMPILER, applied, compiled
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from kernelsieve import SieveRegressor, SparseMaximalAlignment, export_c, export_onnx, predictor
from kernelsieve.exceptions import InvalidParameterError

N = 120


def table(*missing):
    """Return a table whose text is missing in some rows, in these ways by turns."""
    random = np.random.default_rng(3)
    colour = random.choice(["red", "blue", "green"], N).astype(object)
    colour[::5] = np.resize(np.array(missing, object), len(colour[::5]))
    frame = pandas.DataFrame({"size": random.normal(size=N)})
    frame["colour"] = pandas.Series(colour, dtype=object)
    steps = {"red": 1.0, "blue": -1.0, "green": 0.3, None: 3.0}
    y = frame["size"] + [steps.get(value, -2.0) for value in colour]
    return frame, y.to_numpy()


def pipeline(imputer=None):
    texts = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = make_column_transformer(
        (texts if imputer is None else make_pipeline(imputer, texts), ["colour"]), (numbers, ["size"])
    )
    return make_pipeline(columns, SparseMaximalAlignment(10, candidates=40, random_state=0), Ridge())


def sieve():
    return SieveRegressor(10, kernel="rbf", metric=False, cv=2, random_state=0)


MODELS = {
    "constant": lambda: pipeline(SimpleImputer(strategy="constant", fill_value="(none)")),
    "most frequent": lambda: pipeline(SimpleImputer(strategy="most_frequent")),
    "of red": lambda: pipeline(SimpleImputer(strategy="constant", fill_value="red")),
    "no imputer": pipeline,
    "sieve": sieve,
}
REPLACES = ("most frequent", "of red")  # what is filled in is a value of its own, which None is not


def strange(frame):
    """Return rows with both ways to be missing, and a text that was not seen."""
    rows = frame.iloc[:6].copy()
    rows["colour"] = pandas.Series([None, np.nan, "never", "red", None, np.nan], dtype=object)
    return pandas.concat([frame, rows], ignore_index=True)


@pytest.mark.filterwarnings("ignore:Found unknown categories")
@pytest.mark.parametrize("missing", [(None,), (np.nan,), (None, np.nan)], ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_predictors(name, missing):
    frame, y = table(*missing)
    model, rows = MODELS[name]().fit(frame, y), strange(frame)
    assert_allclose(predictor(model)(rows), model.predict(rows), rtol=1e-9, atol=1e-9)
    one = rows.iloc[-2]
    assert_allclose(predictor(model)(one), model.predict(rows.iloc[[-2]])[0], rtol=1e-9)


@pytest.mark.parametrize("missing", [(None,), (np.nan,)], ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_a_gap_of_other_programs_is_the_one_of_training(name, missing, tmp_path):
    if name in REPLACES and None in missing:
        pytest.skip("None and NaN differ, and the next test has the refusal")
    frame, y = table(*missing)
    model = MODELS[name]().fit(frame, y)
    expected = model.predict(frame)
    if COMPILER is not None:
        assert_allclose(of_c(model, frame, tmp_path), expected, rtol=1e-9, atol=1e-9)
    pytest.importorskip("onnx", reason="what export_onnx writes is made by onnx")
    assert_allclose(of_onnx(model, frame, tmp_path), expected, rtol=1e-9, atol=1e-9)


def of_c(model, frame, folder):
    export_c(model, folder / "served.c", name="served")
    library = compiled(folder / "served.c")
    library.served_code.restype = ctypes.c_double
    texts = [None if pandas.isna(value) else value.encode() for value in frame["colour"]]
    codes = [library.served_code(1, text) for text in texts]
    return applied(library.served, np.column_stack([frame["size"], codes]), 1).ravel()


def of_onnx(model, frame, folder):
    runtime = pytest.importorskip("onnxruntime", reason="graphs are run by onnxruntime")
    export_onnx(model, folder / "model.onnx")
    session = runtime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    assert json.loads(session.get_modelmeta().custom_metadata_map["columns_of_categories"]) == [
        "colour"
    ]
    texts = frame["colour"].fillna("").to_numpy(object)
    return session.run(None, {"X": frame[["size"]].to_numpy(), "categories": texts[:, None]})[0]


@pytest.mark.parametrize("write", [export_c, export_onnx])
@pytest.mark.parametrize(
    ("name", "missing"), [("constant", (None, np.nan)), *((name, (None,)) for name in REPLACES)]
)
def test_two_ways_to_be_missing_are_refused_where_there_is_one(name, missing, write, tmp_path):
    frame, y = table(*missing)
    with pytest.raises(InvalidParameterError, match=r"NaN and None in input 1 .*Fit without None"):
        write(MODELS[name]().fit(frame, y), tmp_path / "model")
    write(
        MODELS[name]().fit(frame.assign(colour=frame["colour"].fillna(np.nan)), y), tmp_path / "model"
    )
