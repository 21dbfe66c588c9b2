"""Samples in a Ray dataset give what the same samples in memory give."""

import os
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from source_cases import (
    LABELS,
    METHODS,
    NAMES,
    POOL,
    WEIGHT,
    X,
    Y,
    deadly_kernel,
    interrupted_when,
    slow_kernel,
)

from kernelsieve import KernelFisherDiscriminant, SparseKernelPLS, SparseMaximalAlignment
from kernelsieve.exceptions import InvalidDataError

pandas = pytest.importorskip("pandas")
ray = pytest.importorskip("ray", reason="Ray is not installed")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::Warning:ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # Ray leaves files open
]
TABLE = pandas.DataFrame(X, columns=NAMES).assign(y=Y, label=LABELS, w=WEIGHT)


@pytest.fixture(scope="module", autouse=True)
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def dataset_of(table, n_blocks=3):
    parts = np.array_split(np.arange(len(table)), n_blocks)
    return ray.data.from_pandas([table.iloc[part] for part in parts])


@pytest.mark.parametrize("name", ["alignment", "analysis", "fisher"])
def test_named_columns(name):
    model, target = METHODS[name]
    model.fit(X, None if target is None else TABLE[target], WEIGHT)
    landmarks, features = list(model.landmark_indices_), model.transform(X)
    wanted = [*NAMES, "w", *([target] if target else [])]
    model.fit(dataset_of(TABLE[wanted]), target, "w")
    assert list(model.landmark_indices_) == landmarks
    assert list(model.feature_names_in_) == NAMES
    assert_allclose(model.transform(TABLE[NAMES]), features, atol=1e-8)


def test_results_are_further_columns():
    model = KernelFisherDiscriminant(candidates=POOL, gamma=0.3)
    data = dataset_of(TABLE[[*NAMES, "label"]])
    model.fit(data, "label")
    assert list(model.classes_) == ["high", "left", "rare", "right"]
    result = model.predict(model.transform(data))
    names = [*model.get_feature_names_out(), "prediction"]
    assert result.columns() == [*NAMES, "label", *names]
    found = result.to_pandas()
    assert_array_equal(found[NAMES], X)
    assert_allclose(found[names[:-1]].to_numpy(float), model.transform(found[NAMES]), atol=1e-8)
    assert_array_equal(found["prediction"], model.predict(found[NAMES]))
    with pytest.raises(InvalidDataError, match="X has a column 'prediction' already"):
        model.predict(result)


def test_a_drawn_pool_is_that_of_memory_whatever_the_blocks_are():
    table = TABLE[[*NAMES, "y"]]
    model = SparseMaximalAlignment(8, candidates=50, random_state=3, gamma=0.3)
    found = []
    for n_blocks in (1, 12):
        model.fit(dataset_of(table, n_blocks), "y")
        found.append((model.landmark_indices_, model.transform(table[NAMES])))
    assert_array_equal(found[0][0], found[1][0])
    assert_allclose(found[0][1], found[1][1], atol=1e-8)


def test_an_error_names_the_row_and_the_cluster_goes_on():
    model = SparseMaximalAlignment(3, candidates=POOL, gamma=0.3)
    table = TABLE[[*NAMES, "y"]].copy()
    table.loc[2345, "c"] = np.nan
    with pytest.raises(InvalidDataError, match=r"^Input X contains NaN in row 2345, column 2"):
        model.fit(dataset_of(table, 7), "y")
    assert not hasattr(model, "landmarks_")
    model.fit(dataset_of(table.dropna(), 7), "y")


def test_refusals():
    model, data = SparseMaximalAlignment(2), dataset_of(TABLE)
    with pytest.raises(InvalidDataError, match=r"y='z' is no column of X"):
        model.fit(data, "z")
    with pytest.raises(InvalidDataError, match="y must be the name of a column"):
        model.fit(data, Y)
    with pytest.raises(InvalidDataError, match=r"Or pass X.to_pandas\(\)"):
        SparseKernelPLS(2).fit(data.drop_columns(["label"]), "y")


def test_some_rows_of_a_dataset():
    model = SparseMaximalAlignment(5, candidates=POOL, gamma=0.3)
    landmarks = model.fit(X[:1234], Y[:1234]).landmark_indices_
    model.fit(dataset_of(TABLE[[*NAMES, "y"]], 7).limit(1234), "y")
    assert_array_equal(model.landmark_indices_, landmarks)


def test_a_killed_worker(tmp_path):
    """Its block is summed up again by another one, and counted once."""
    once = tmp_path / "killed"
    model = SparseMaximalAlignment(8, candidates=POOL, kernel=deadly_kernel(once))
    landmarks, features = list(model.fit(X, Y).landmark_indices_), model.transform(X)
    model.fit(dataset_of(TABLE[[*NAMES, "y"]], 12), "y")
    assert once.exists()
    assert list(model.landmark_indices_) == landmarks
    assert_allclose(model.transform(TABLE[NAMES]), features, atol=1e-8)


def test_workers_that_die_again_and_again():
    model = SparseMaximalAlignment(3, candidates=POOL, kernel=deadly_kernel())
    with pytest.raises(
        RuntimeError, match=r"^Ray tried again .*WorkerCrashed.*X\.repartition"
    ) as raised:
        model.fit(dataset_of(TABLE[[*NAMES, "y"]], 1), "y")
    assert isinstance(raised.value.__cause__, ray.exceptions.RayError)
    assert not hasattr(model, "landmarks_")


def test_a_kernel_that_raises():
    parent = os.getpid()

    def kernel(X, Z):
        if os.getpid() != parent:
            raise ZeroDivisionError("no such kernel")
        return X @ Z.T

    model = SparseMaximalAlignment(3, candidates=POOL, kernel=kernel)
    with pytest.raises(ZeroDivisionError, match=r"^no such kernel$"):
        model.fit(dataset_of(TABLE[[*NAMES, "y"]]), "y")


def test_an_interrupt_ends_the_tasks_that_nobody_waits_for(tmp_path):
    begun = tmp_path / "begun"
    model = SparseMaximalAlignment(3, candidates=POOL, kernel=slow_kernel(begun))
    with pytest.raises(KeyboardInterrupt), interrupted_when(begun):
        model.fit(dataset_of(TABLE[[*NAMES, "y"]], 20), "y")
    time.sleep(1)
    n_begun = begun.stat().st_size
    time.sleep(2)
    assert n_begun == begun.stat().st_size < 20
    model.set_params(kernel="rbf").fit(dataset_of(TABLE[[*NAMES, "y"]]), "y")  # the cluster goes on
