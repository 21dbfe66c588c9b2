import gc
import os
from contextlib import ExitStack

import numpy as np
import pytest
from blas_threads import blas_threads, set_blas_threads
from hypothesis import settings
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.preprocessing import scale

from kernelsieve import config_context
from kernelsieve.data import progress
from kernelsieve.datasets import DATA_VARIABLE, load, local_data_folder
from kernelsieve.kernels import KERNELS
from kernelsieve.metric_learning import functions, rounds
from kernelsieve.predictors import metrics

# New examples are for developers to find; a check of a change must not fail by chance.
settings.register_profile("few", max_examples=25)
settings.register_profile("ci", max_examples=25, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "few")

SHORT_SEARCHES = [
    (functions, "_FEW_SAMPLES", 0),
    (functions, "_MOST_SPLITS", 2),
    (metrics, "_LANDMARKS", 40),
    (metrics, "_STEPS", 10),
    (rounds, "_EVIDENCE_LANDMARKS", 40),
    (rounds, "_EVIDENCE_STEPS", 15),
]
LONG_SEARCHES = [(module, name, getattr(module, name)) for module, name, _ in SHORT_SEARCHES]


@pytest.fixture
def known_kernels():
    """Forgets afterwards the kernels that a test has registered."""
    before = dict(KERNELS)
    yield KERNELS
    KERNELS.clear()
    KERNELS.update(before)


@pytest.fixture(scope="session")
def cancer():
    """569 rows, 30 standardised inputs, two classes."""
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


@pytest.fixture(scope="session")
def diabetes():
    """442 rows, 10 standardised inputs, a continuous target."""
    X, y = load_diabetes(return_X_y=True)
    return scale(X), y.astype(float)


@pytest.fixture(scope="session")
def digits():
    """700 rows, 64 pixels, ten classes."""
    X, y = load_digits(return_X_y=True)
    return X[:700] / 16, y[:700]


@pytest.fixture(scope="session")
def local_data():
    """Loads a data set of the local folder; a test that needs it is skipped without the folder."""
    if local_data_folder() is None:
        pytest.skip(f"set {DATA_VARIABLE} to the folder with the papers' data sets")
    return load


@pytest.fixture(scope="session", autouse=True)
def short_searches():
    """Let metrics and sieves search on two splits, with few landmarks and few steps.

    Most of the time of these tests would be searches that nothing looks at. A test that counts splits
    takes ``long_searches``.
    """
    with pytest.MonkeyPatch.context() as patch:
        for module, name, value in SHORT_SEARCHES:
            patch.setattr(module, name, value)
        yield


@pytest.fixture
def long_searches(monkeypatch):
    """Let metrics and sieves search as they do for users."""
    for module, name, value in LONG_SEARCHES:
        monkeypatch.setattr(module, name, value)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session", params=["diabetes", "boston", "abalone"])
def numbers(request):
    """Standardised inputs and a continuous target; two of the three sets are of the local folder."""
    if request.param == "diabetes":
        return request.getfixturevalue("diabetes")
    data = request.getfixturevalue("local_data")(request.param)
    return scale(np.asarray(data["X"], dtype=float))[:500], np.asarray(data["y"], dtype=float)[:500]


@pytest.fixture
def every_stage(monkeypatch):
    """Report stages of the work however short they are."""
    monkeypatch.setattr(progress, "_SECONDS_OF_A_STAGE", 0.0)


@pytest.fixture
def two_blas_threads():
    """Give BLAS two threads, so that a limit that stays on is seen on any machine."""
    original = max(blas_threads())
    set_blas_threads(2)
    before = blas_threads()
    if set(before) != {2}:
        pytest.skip("this BLAS has other numbers in every thread")
    yield before
    set_blas_threads(original)


@pytest.fixture
def configured():
    """Set settings of the machine for the rest of a test."""
    with ExitStack() as stack:
        yield lambda **config: stack.enter_context(config_context(**config))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect thousands of tests, which all stay, without looking for garbage among them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
