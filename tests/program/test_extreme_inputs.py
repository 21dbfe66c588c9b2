"""Inputs of which squares overflow or vanish: programs and predictors give what models give."""

import warnings

import numpy as np
import pandas
import pytest
from c_programs import COMPILER, applied, compiled
from export_cases import KERNELS, X, Y
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from kernelsieve import SparseMaximalAlignment, export_c, export_onnx, predictor
from kernelsieve.exceptions import InvalidParameterError

SCALED = StandardScaler().fit_transform(X)[:150]
OF_PRODUCTS = {"poly", "poly3"}  # of which values overflow themselves
LARGE = [1e153, 1e155, -1e155, 1e200, 1e300, -1e300]
FITTED = {
    name: make_pipeline(SparseMaximalAlignment(5, candidates=20, random_state=0, **how), Ridge()).fit(
        SCALED, Y[:150]
    )
    for name, how in KERNELS.items()
    if name not in OF_PRODUCTS
}


def extreme_rows():
    rows = np.repeat(SCALED[:1], 2 * len(LARGE), axis=0)
    rows[: len(LARGE), 2] = LARGE
    rows[len(LARGE) :] *= np.reshape(LARGE, (-1, 1))  # all of its entries
    vanishing = np.zeros((2, rows.shape[1]))
    vanishing[:, :3] = [[1e-170, 0, 2e-170], [0, 0, 5e-324]]
    return np.vstack([rows, vanishing, np.zeros_like(rows[:1])])


ROWS = extreme_rows()


def expected_of(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = FITTED[name].predict(ROWS)
    assert np.isfinite(expected).all()
    return expected


@pytest.mark.parametrize("name", FITTED)
def test_predictors(name):
    serve, expected = predictor(FITTED[name]), expected_of(name)
    assert_allclose(serve(ROWS), expected, rtol=1e-9, atol=1e-9)
    assert_allclose([serve(row) for row in ROWS], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler on this machine")
@pytest.mark.parametrize("name", FITTED)
def test_programs_of_c(name, tmp_path):
    export_c(FITTED[name], tmp_path / "served.c", name="served")
    found = applied(compiled(tmp_path / "served.c").served, ROWS, 1)
    assert_allclose(found.ravel(), expected_of(name), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", FITTED)
def test_graphs(name, tmp_path):
    pytest.importorskip("onnx", reason="what export_onnx writes is made by onnx")
    runtime = pytest.importorskip("onnxruntime", reason="graphs are run by onnxruntime")
    export_onnx(FITTED[name], tmp_path / "model.onnx")
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    found = session.run(None, {"X": ROWS})[0]
    assert_allclose(found, expected_of(name), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", FITTED)
def test_missing_values_stay_visible(name):
    row = SCALED[0].copy()
    row[3] = np.nan
    assert np.isnan(predictor(FITTED[name])(row))
    assert np.isnan(predictor(FITTED[name])(np.vstack([SCALED[:30], row]))[-1])


# ---------------------------------------------------------------------- names and texts of C

TAKEN = [
    "int",
    "while",
    "exp",
    "expf",
    "sqrt",
    "sin",
    "gamma",
    "strcmp",
    "memx",
    "x",
    "s",
    "out",
    "NAN",
    "typeof",
    "linux",
    "HUGE_VAL",
    "FP_NAN",
    "M_PI",
    "double_t",
]


@pytest.mark.parametrize("name", TAKEN)
def test_names_that_mean_something_else(name, tmp_path):
    with pytest.raises(InvalidParameterError, match=f"name='{name}' is reserved in C"):
        export_c(FITTED["matern32"], tmp_path / "model.c", name=name)
    assert not any(tmp_path.iterdir())


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler on this machine")
def test_names_of_comments_are_free(tmp_path):
    for name in ("model", "sample", "NAME"):
        export_c(FITTED["rbf"], tmp_path / f"{name}.c", name=name)
        compiled(tmp_path / f"{name}.c")


def of_texts(*texts, labels=("no", "yes")):
    """Return a classifier of one column of texts."""
    table = pandas.DataFrame({"kind": np.resize(np.array(texts, object), 150)})
    y = np.where(table["kind"] == texts[0], *labels)
    return make_pipeline(OneHotEncoder(), LogisticRegression()).fit(table, y)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: of_texts("a", "a\0b"), r"'a\\x00b' of input 'kind' has a NUL character"),
        (lambda: of_texts("a", "b", labels=("x\0y", "x")), "of the labels has a NUL character"),
    ],
    ids=["categories", "labels"],
)
def test_texts_that_end_early_in_c(model, message, tmp_path):
    with pytest.raises(InvalidParameterError, match=message):
        export_c(model(), tmp_path / "model.c")
    assert not any(tmp_path.iterdir())
