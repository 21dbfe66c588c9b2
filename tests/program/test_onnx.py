"""ONNX graphs give what models give."""

import json

import numpy as np
import pandas
import pytest
from export_cases import CASES, TABLES, X, Y, fitted, fitted_table
from sklearn.ensemble import RandomForestRegressor
from sklearn.pipeline import make_pipeline

import kernelsieve as ks
from kernelsieve import export_onnx
from kernelsieve.exceptions import InvalidParameterError

onnx = pytest.importorskip("onnx", reason="what export_onnx writes is made by onnx")
runtime = pytest.importorskip("onnxruntime", reason="graphs are run by onnxruntime")


def run(path, rows, **more):
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": rows, **more}), strict=True))


def check_close(found, expected, tolerance):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


def check_outputs(found, model, rows, tolerance):
    if "features" in found:
        check_close(found["features"], model.transform(rows), tolerance)
    elif "prediction" in found:
        check_close(found["prediction"], model.predict(rows), tolerance)
    else:
        scores = model.decision_function(rows)
        check_close(found["scores"], scores, tolerance)
        if hasattr(model, "predict_proba"):
            check_close(found["probabilities"], model.predict_proba(rows), tolerance)
        margins = np.abs(scores) if scores.ndim == 1 else np.ptp(np.sort(scores)[:, -2:], axis=1)
        clear = margins > 1e-3
        assert np.array_equal(found["label"][clear], model.predict(rows)[clear])


TOLERANCES = {"float64": 1e-10, "float32": 1e-5}


def of_all(names):
    """Run a test in float64 for all names, and in float32 for a third; for all with the slow tests."""
    pairs = [(name, "float64") for name in names]
    for place, name in enumerate(names):
        marks = [pytest.mark.slow] if place % 3 else []
        pairs.append(pytest.param(name, "float32", marks=marks))
    return pytest.mark.parametrize(("name", "dtype"), pairs)


@of_all(CASES)
def test_graphs_give_what_models_give(name, dtype, tmp_path):
    tolerance = TOLERANCES[dtype]
    model, rows = fitted(name)
    rows = rows.astype(dtype)
    written = export_onnx(model, tmp_path / "model.onnx", dtype=dtype)
    found = run(tmp_path / "model.onnx", rows)
    assert all(v.dtype == dtype for key, v in found.items() if key != "label")
    check_outputs(found, model, rows.astype(np.float64), tolerance)
    assert written.n_bytes == (tmp_path / "model.onnx").stat().st_size


@of_all(TABLES)
@pytest.mark.filterwarnings("ignore:Found unknown categories")  # which are ignored, as asked for
def test_graphs_of_tables(name, dtype, tmp_path):
    tolerance = TOLERANCES[dtype]
    model, table = fitted_table(name)
    written = export_onnx(model, tmp_path / "model.onnx", dtype=dtype)
    if isinstance(table, np.ndarray):
        rows = table.astype(dtype)
        check_outputs(run(tmp_path / "model.onnx", rows), model, rows.astype(float), tolerance)
        return
    numbers, texts = (written.inputs[key] for key in ("X", "categories"))
    assert texts == ["colour", "kind"]
    X = table[numbers].astype(float).to_numpy().astype(dtype)
    categories = table[texts].fillna("").to_numpy(dtype=object)
    found = run(tmp_path / "model.onnx", X, categories=categories)
    rounded = table.assign(**{name: X[:, i].astype(float) for i, name in enumerate(numbers)})
    check_outputs(found, model, rounded[table.columns], tolerance)
    properties = {p.key: p.value for p in onnx.load(tmp_path / "model.onnx").metadata_props}
    assert json.loads(properties["columns_of_X"]) == numbers
    assert json.loads(properties["columns_of_categories"]) == texts


def test_categories_that_look_alike(tmp_path):
    frame = pandas.DataFrame({"a": [1, "1", "2"] * 20, "b": np.arange(60.0)})
    model = ks.SieveRegressor(5, metric=False, kernel="rbf", cv=2).fit(frame, frame["b"] ** 2)
    with pytest.raises(InvalidParameterError, match="several types that are all written '1'"):
        export_onnx(model, tmp_path / "model.onnx")


def test_costs_are_stated(tmp_path):
    model, _ = fitted("rbf")
    written = export_onnx(model, tmp_path / "model.onnx")
    assert written.kernel_evaluations == 8
    properties = {p.key: p.value for p in onnx.load(tmp_path / "model.onnx").metadata_props}
    assert properties["kernel_evaluations"] == "8"
    assert 0 < int(properties["bytes_of_arrays"]) < written.n_bytes


def test_features_of_what_predicts(tmp_path):
    model, rows = fitted("two targets")
    export_onnx(model, tmp_path / "model.onnx", output="features")
    check_close(run(tmp_path / "model.onnx", rows)["features"], model.transform(rows), 1e-10)
    model, rows = fitted("rbf")
    export_onnx(model, tmp_path / "model.onnx", output="features")
    check_close(run(tmp_path / "model.onnx", rows)["features"], model[:-1].transform(rows), 1e-10)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (ks.KernelPCA(2, kernel="chi2", candidates=5), {}, "has no formula that can be exported"),
        (ks.KernelPCA(2, kernel=lambda a, b: a @ b.T, candidates=5), {}, "has no formula"),
        (ks.KernelPCA(2, candidates=5), {"dtype": "float16"}, "dtype='float16' must be one of"),
        (ks.KernelPCA(2, candidates=5), {"output": "x"}, "output='x' must be one of"),
        (make_pipeline(ks.KernelPCA(2), RandomForestRegressor(5)), {}, "linear function"),
    ],
    ids=["chi2", "callable", "dtype", "output", "forest"],
)
def test_refusals(model, options, message, tmp_path):
    model.fit(np.abs(X), Y)
    with pytest.raises(InvalidParameterError, match=message):
        export_onnx(model, tmp_path / "model.onnx", **options)
    assert not any(tmp_path.iterdir())


def test_without_onnx(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(ImportError, match=r'pip install "kernelsieve\[onnx\]"'):
        export_onnx(fitted("rbf")[0], tmp_path / "model.onnx")
