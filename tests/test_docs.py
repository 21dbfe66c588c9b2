"""The pages for contributors are true: named objects exist, and recipes run as they stand."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale

import kernelsieve

DOCS = Path(__file__).parent.parent / "docs"
ROOMS = sorted(path.name for path in Path(kernelsieve.__file__).parent.iterdir() if path.is_dir())


def named_objects() -> list[str]:
    text = (DOCS / "architecture.md").read_text()
    names = re.findall(r"`([a-z_]+(?:\.\w+)+)`", text)
    return sorted({name for name in names if name.split(".")[0] in ROOMS})


def resolve(name: str) -> object:
    """Return the module, class or function of that name, below the package."""
    found = importlib.import_module("kernelsieve")
    for i, part in enumerate(name.split(".")):
        try:
            found = getattr(found, part)
        except AttributeError:
            found = importlib.import_module(f"kernelsieve.{'.'.join(name.split('.')[: i + 1])}")
    return found


def test_what_the_architecture_names_exists():
    for name in named_objects():
        resolve(name)


def test_the_architecture_names_every_room():
    text = (DOCS / "architecture.md").read_text()
    picture = text.split("```")[1]
    rooms = [room for room in ROOMS if not room.startswith("__")]
    assert [room for room in rooms if room not in picture] == []


def recipes() -> list[dict]:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "contributing.md").read_text(), re.DOTALL)
    spaces = []
    for block in blocks:
        space = {"__name__": "recipe"}
        exec(compile(block, "contributing.md", "exec"), space)
        spaces.append(space)
    return spaces


@pytest.fixture(scope="module")
def data():
    X, y = load_diabetes(return_X_y=True)
    return scale(X), scale(y)


def test_the_recipe_of_a_loop_method(data):
    X, y = data
    method = recipes()[0]["PositiveAlignment"]
    assert {"n_components", "kernel", "candidates", "tol"} <= set(method().get_params())
    model = method(n_components=5, candidates=X[:100]).fit(X, y)
    features = model.transform(X)
    assert np.allclose(features.T @ features / len(X), np.eye(5), atol=1e-10)
    assert ((features.T @ y) > 0).all()
    halves = clone(model).partial_fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    assert np.allclose(halves.transform(X), features, atol=1e-8)


def test_the_recipe_of_a_method_without_the_loop(data):
    X, _ = data
    method = recipes()[1]["RandomLandmarks"]
    model = method(n_components=20, gamma=0.05, random_state=0).fit(X)
    landmarks = model.transform(model.landmarks_)
    kernel = np.exp(-0.05 * ((model.landmarks_[:, None] - model.landmarks_) ** 2).sum(axis=2))
    assert np.allclose(landmarks @ landmarks.T, kernel, atol=1e-8)
    assert model.truncate(3).transform(X).shape == (len(X), 3)
    assert not hasattr(model, "partial_fit")


def test_the_recipe_of_a_step(data, tmp_path):
    X, y = np.abs(data[0]), data[1]
    transformer = recipes()[2]["LogarithmTransformer"]()
    model = make_pipeline(transformer, Ridge()).fit(X, y)
    served = kernelsieve.predictor(model)
    assert np.allclose(served(X), model.predict(X))
    assert np.isclose(served(X[0]), model.predict(X)[0])
    kernelsieve.export_c(model, tmp_path / "model.c")
    assert "u1[i] = log1p(x[i]);" in (tmp_path / "model.c").read_text()
