"""Models of tables for programs without kernelsieve."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import kernelsieve
from kernelsieve.cli.columns import coerce_columns


def test_export(folder, houses, run, tmp_path):
    """The model that fit makes by default, of a table with categories, gaps and dates."""
    runtime = pytest.importorskip("onnxruntime", reason="graphs are run by onnxruntime")
    _, said = run("export", folder / "auto.ksv", "--onnx", tmp_path / "m.onnx", "--c", tmp_path / "m.c")
    assert "kernel evaluations" in said
    assert "Pass dates as days since 1970-01-01: sold on." in said
    model = kernelsieve.load(folder / "auto.ksv")
    rows = coerce_columns(houses, model.kinds)
    texts = [name for name, kind in model.kinds.items() if kind == "category"]
    inputs = {
        "X": rows.drop(columns=texts).to_numpy(dtype=float),
        "categories": rows[texts].fillna("").to_numpy(dtype=object),
    }
    session = runtime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    expected = model.predict(houses)
    assert np.allclose(session.run(None, inputs)[0], expected, 1e-10, 1e-10)
    compiler = shutil.which("cc")
    if compiler is not None:
        library = tmp_path / "model.so"
        subprocess.run(
            [compiler, "-shared", "-fPIC", tmp_path / "m.c", "-o", library, "-lm"], check=True
        )
        served = ctypes.CDLL(str(library))
        served.model_code.restype = ctypes.c_double
        first = rows.iloc[3]
        x = np.array(
            [
                served.model_code(i, first[name].encode()) if name in texts else first[name]
                for i, name in enumerate(model.kinds)
            ],
            dtype=float,
        )
        out = np.empty(1)
        served.model(x.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p))
        assert np.allclose(out, expected[3], 1e-10, 1e-10)


def test_export_of_features(folder, houses, run, tmp_path):
    runtime = pytest.importorskip("onnxruntime", reason="graphs are run by onnxruntime")
    run("export", folder / "plain.ksv", "--onnx", tmp_path / "m.onnx", "--features")
    session = runtime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    model = kernelsieve.load(folder / "plain.ksv")
    X = houses[list(model.kinds)].to_numpy(dtype=float)
    assert np.allclose(session.run(None, {"X": X})[0], model.transform(houses), 1e-8, 1e-8)
