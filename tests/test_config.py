"""Settings of the machine: contexts, the whole process, and what a fit does with them."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from kernelsieve import (
    KernelPLS,
    SparseMaximalAlignment,
    config_context,
    get_config,
    set_config,
)
from kernelsieve.config import with_this_config
from kernelsieve.exceptions import InvalidParameterError
from kernelsieve.model_selection import ComponentPathCV

X = np.random.default_rng(0).standard_normal((80, 3))
Y = np.sin(X[:, 0]) + X[:, 1]
DEFAULTS = {"precision": "auto", "dtype": "float64", "max_memory": 2**30, "block_size": None}


def dtype_of(model):
    return model.transform(X[:2]).dtype


def test_contexts_are_laid_over_each_other_and_left_again():
    assert get_config() == DEFAULTS
    with config_context(precision="safe", block_size=7):
        with config_context(block_size=None, max_memory=1e6):
            assert get_config() == DEFAULTS | {"precision": "safe", "max_memory": 1e6}
        assert get_config() == DEFAULTS | {"precision": "safe", "block_size": 7}
        with pytest.raises(ZeroDivisionError), config_context(dtype="float32"):
            1 / 0  # noqa: B018
        assert get_config()["dtype"] == "float64"
    assert get_config() == DEFAULTS


def test_a_context_is_of_one_thread_and_the_process_has_one_default():
    seen = {}
    inside, done = threading.Event(), threading.Event()

    def other():
        inside.wait(5)
        seen["in a context"] = get_config()["precision"]
        done.set()

    thread = threading.Thread(target=other)
    thread.start()
    with config_context(precision="safe"):
        inside.set()
        done.wait(5)
    thread.join()
    assert seen == {"in a context": "auto"}
    try:
        set_config(precision="fast")
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(get_config).result()["precision"] == "fast"
    finally:
        set_config(precision="auto")
    assert get_config() == DEFAULTS


@pytest.mark.parametrize(
    "given",
    [
        {"precision": "low"},
        {"dtype": "float16"},
        {"max_memory": -1},
        {"max_memory": "1 GB"},
        {"block_size": 0},
        {"block_size": 2.5},
    ],
    ids=str,
)
@pytest.mark.parametrize("change", [set_config, lambda **given: config_context(**given).__enter__()])
def test_refusals_name_the_value_what_is_allowed_and_the_remedy(change, given):
    ((name, value),) = given.items()
    with pytest.raises(InvalidParameterError, match=rf"{name}=.* it must be .*\. Pass") as caught:
        change(**given)
    assert repr(value) in str(caught.value)
    assert get_config() == DEFAULTS


def test_a_fit_is_computed_with_the_settings_that_it_began_with():
    with config_context(dtype="float32"):
        model = SparseMaximalAlignment(3, gamma=0.3).fit(X, Y)
        assert dtype_of(model) == np.float32
    assert dtype_of(model) == np.float32
    assert dtype_of(SparseMaximalAlignment(3, gamma=0.3).fit(X, Y)) == np.float64


def test_a_plan_settles_them_for_all_parts_and_for_the_fit():
    model = SparseMaximalAlignment(3, candidates=X[:20], gamma=0.3)
    with config_context(dtype="float32"):
        plan = model.prepare(X, Y)
    with ThreadPoolExecutor(1) as pool:  # as a worker would, which knows nothing of the context
        part = pool.submit(plan.statistic, X, Y).result()
    assert part.merge(plan.statistic(X, Y)).n_samples == 160
    assert dtype_of(model.finish(plan, part)) == np.float32


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_folds_in_other_processes_have_them_too(n_jobs):
    search = ComponentPathCV(KernelPLS(3, gamma=0.3, candidates="all"), cv=2, n_jobs=n_jobs)
    with config_context(dtype="float32"):
        assert dtype_of(search.fit(X, Y).best_estimator_) == np.float32
    with config_context(precision="safe"), ThreadPoolExecutor(1) as pool:
        assert pool.submit(with_this_config(get_config)).result()["precision"] == "safe"


def test_a_head_is_fitted_beside():
    search = ComponentPathCV(SparseMaximalAlignment(3, gamma=0.3), Ridge(), cv=2)
    with config_context(block_size=9, precision="safe"):
        blocks = search.fit(X, Y).predict(X)
    np.testing.assert_allclose(search.fit(X, Y).predict(X), blocks, atol=1e-8)
