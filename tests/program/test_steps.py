"""A kind of step is one class: what has it is served, and written as C and ONNX, like our own."""

from dataclasses import dataclass

import numpy as np
import pytest
from c_programs import COMPILER, applied, compiled
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from kernelsieve import export_c, export_onnx, predictor
from kernelsieve.exceptions import InvalidParameterError
from kernelsieve.program import AffineMap, ProgramStep


@dataclass(frozen=True)
class Sine(ProgramStep):
    size: int

    @property
    def n_inputs(self):
        return self.size

    @property
    def n_outputs(self):
        return self.size

    def run(self, X):
        return np.sin(X)

    def to_onnx(self, graph, value):
        return graph.add("Sin", value)

    def to_c(self, file, source):
        out = file.variable(self.size)
        file.add(f"for (int i = 0; i < {self.size}; i++) {out}[i] = sin({source}[i]);")
        return out


class Waves(TransformerMixin, BaseEstimator):
    """Sines of multiples of the inputs."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X):
        return np.sin(2.0 * X) + 1.0

    def __program_steps__(self, output):
        ones = np.ones(self.n_features_in_)
        return [AffineMap(2.0 * ones), Sine(self.n_features_in_), AffineMap(ones, shift=ones)]


@pytest.fixture
def pipeline(rng):
    X = rng.standard_normal((100, 3))
    return make_pipeline(Waves(), Ridge()).fit(X, np.sin(2 * X).sum(axis=1)), X


def test_it_is_run(pipeline):
    model, X = pipeline
    p = predictor(model)
    assert [type(step).__name__ for step in p.steps] == ["AffineMap", "Sine", "AffineMap", "Link"]
    assert_allclose(p(X), model.predict(X))
    assert_allclose(p(X[3]), model.predict(X)[3])


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler on this machine")
def test_it_is_written_in_c(pipeline, tmp_path):
    model, X = pipeline
    export_c(model, tmp_path / "model.c", name="served")
    library = compiled(tmp_path / "model.c")
    assert_allclose(applied(library.served, X, 1)[:, 0], model.predict(X))


def test_it_is_written_as_onnx(pipeline, tmp_path):
    pytest.importorskip("onnx", reason="what export_onnx writes is made by onnx")
    runtime = pytest.importorskip("onnxruntime", reason="graphs are run by onnxruntime")
    model, X = pipeline
    export_onnx(model, tmp_path / "model.onnx")
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    assert_allclose(session.run(None, {"X": X})[0], model.predict(X))


def test_scores_without_landmarks_have_no_explanation(pipeline):
    model, X = pipeline
    with pytest.raises(InvalidParameterError, match="no sums over landmarks"):
        predictor(model).explain(X, np.arange(3))
