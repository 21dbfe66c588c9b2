"""Samples in Dask collections give what the same samples in memory give."""

import os
import threading

import numpy as np
import pytest
from blas_threads import blas_threads
from numpy.testing import assert_allclose, assert_array_equal
from source_cases import (
    LABELS,
    METHODS,
    NAMES,
    POOL,
    TARGETS,
    WEIGHT,
    N,
    X,
    Y,
    deadly_kernel,
    in_memory,
)

import kernelsieve
from kernelsieve import (
    KernelFisherDiscriminant,
    KernelPCA,
    KernelPLS,
    SparseKernelPLS,
    SparseMaximalAlignment,
)
from kernelsieve.exceptions import InvalidDataError

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pandas = pytest.importorskip("pandas")

ROWS = (500, 1, 0, 1000, 1499, 0)  # of chunks


@pytest.fixture(scope="module")
def client():
    """Two worker processes of one thread each."""
    with (
        dask.config.set({"distributed.scheduler.work-stealing": False}),  # tasks here take no time
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",  # any port that is free: with None it is a fixed one
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(params=["threads", "cluster"])
def scheduler(request):
    if request.param == "cluster":
        with request.getfixturevalue("client").as_current():
            yield
    else:
        with dask.config.set(scheduler="threads", num_workers=2):
            yield


@pytest.fixture
def threads():
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


def rows_of(values, chunks=ROWS):
    return da.from_array(values, chunks=(chunks, *((size,) for size in values.shape[1:])))


def frame_of(values, n_partitions=4):
    table = pandas.DataFrame(values, columns=NAMES).assign(y=Y, label=LABELS, w=WEIGHT)
    return dd.from_pandas(table, npartitions=n_partitions)


def ways(on_cluster):
    """Run a test with every method by threads, and with some on the cluster; all are slow tests."""
    slow = [(name, "cluster") for name in METHODS if name not in on_cluster]
    return pytest.mark.parametrize(
        ("name", "scheduler"),
        [
            *((name, "threads") for name in METHODS),
            *((name, "cluster") for name in on_cluster),
            *(pytest.param(*pair, marks=pytest.mark.slow) for pair in slow),
        ],
        indirect=["scheduler"],
    )


@ways(on_cluster=["alignment", "pls"])
def test_arrays(name, scheduler):
    landmarks, features = in_memory(name, WEIGHT)
    model, target = METHODS[name]
    y = None if target is None else rows_of(TARGETS[target], (N // 2, N // 2))
    model.fit(rows_of(X), y, WEIGHT)
    assert list(model.landmark_indices_) == landmarks
    lazy = model.transform(rows_of(X))
    assert lazy.chunks == (ROWS, (features.shape[1],))
    assert lazy.dtype == features.dtype
    assert (type(lazy._meta), lazy._meta.ndim) == (np.ndarray, 2)
    assert_allclose(lazy.compute(), features, atol=1e-8)


@ways(on_cluster=["analysis", "fisher"])
def test_frames(name, scheduler):
    landmarks, features = in_memory(name, WEIGHT)
    model, target = METHODS[name]
    frame = frame_of(X)
    model.fit(frame[[*NAMES, "w", *([target] if target else [])]], target, "w")
    assert list(model.landmark_indices_) == landmarks
    assert list(model.feature_names_in_) == NAMES
    lazy = model.transform(frame)  # columns that are no inputs do no harm
    assert isinstance(lazy, da.Array)
    assert lazy.numblocks == (4, 1)
    assert_allclose(lazy.compute(), features, atol=1e-8)


def test_targets_beside_a_frame(threads):
    landmarks, _ = in_memory("alignment", WEIGHT)
    model, _ = METHODS["alignment"]
    others = frame_of(X, n_partitions=7)
    for y in (others["y"], others[["y"]], rows_of(Y), Y):
        model.fit(frame_of(X)[NAMES], y, others["w"])
        assert list(model.landmark_indices_) == landmarks


def test_unknown_sizes_of_chunks(scheduler):
    landmarks, features = in_memory("pls")
    model, _ = METHODS["pls"]
    some, targets = frame_of(X)[NAMES].to_dask_array(), frame_of(X, 3)["y"].to_dask_array()
    model.fit(some, targets)
    assert list(model.landmark_indices_) == landmarks
    assert_allclose(model.transform(some).compute(), features, atol=1e-8)


def test_chunks_along_columns(threads):
    landmarks, features = in_memory("alignment")
    model, _ = METHODS["alignment"]
    cut = rows_of(X).rechunk({1: 3})
    with pytest.warns(da.PerformanceWarning, match=r"X has 2 chunks along its columns"):
        model.fit(cut, Y)
    assert list(model.landmark_indices_) == landmarks
    with pytest.warns(da.PerformanceWarning, match=r"X.rechunk"):
        assert_allclose(model.transform(cut).compute(), features, atol=1e-8)
    targets = np.column_stack([Y, X[:, 2]])
    whole = KernelPLS(4, candidates=POOL, gamma=0.3).fit(X, targets)
    parts = KernelPLS(4, candidates=POOL, gamma=0.3).fit(rows_of(X), rows_of(targets).rechunk({1: 1}))
    assert_allclose(parts.transform(X), whole.transform(X), atol=1e-8)


@pytest.mark.parametrize("candidates", [50, "auto"])
def test_a_drawn_pool_does_not_depend_on_chunks(candidates, threads, monkeypatch):
    monkeypatch.setattr("kernelsieve.estimators.sources._SAMPLE_ROWS", 1000)
    found = []
    for chunks in (ROWS, (N,), (100,) * 30):
        model = SparseMaximalAlignment(8, candidates=candidates, random_state=3)
        model.fit(rows_of(X, chunks), Y)
        found.append((list(model.landmark_indices_), model.transform(X[:50])))
        assert_array_equal(X[model.landmark_indices_], model.landmarks_)
    for landmarks, features in found[1:]:
        assert landmarks == found[0][0]
        assert_allclose(features, found[0][1], atol=1e-8)


def test_a_class_that_no_sampled_row_has(scheduler, monkeypatch):
    monkeypatch.setattr("kernelsieve.estimators.sources._SAMPLE_ROWS", 500)
    model = KernelFisherDiscriminant(candidates=POOL, gamma=0.3, random_state=0)
    model.fit(rows_of(X), rows_of(LABELS))
    assert list(model.classes_) == ["high", "left", "rare", "right"]
    lazy = model.predict(rows_of(X))
    assert (lazy.dtype, lazy.chunks) == (np.dtype("<U5"), (ROWS,))
    assert_array_equal(lazy.compute(), model.predict(X))
    model.fit(frame_of(X)[[*NAMES, "label"]], "label")
    assert_array_equal(
        model.predict(frame_of(X)).compute(), model.predict(frame_of(X).compute()[NAMES])
    )


def test_results_are_frames_where_asked(scheduler):
    _, features = in_memory("alignment")
    model = SparseMaximalAlignment(8, candidates=POOL, gamma=0.3).set_output(transform="pandas")
    model.fit(frame_of(X)[[*NAMES, "y"]], "y")
    shifted = frame_of(X).set_index("w")  # a result has the index of its samples
    lazy = model.transform(shifted)
    assert list(lazy.columns) == list(model.get_feature_names_out())
    assert_array_equal(lazy.index.compute(), np.sort(WEIGHT))
    assert_allclose(lazy.compute(), features[np.argsort(WEIGHT)], atol=1e-8)
    model.fit(rows_of(X), Y)
    assert_allclose(model.transform(rows_of(X)).compute(), features, atol=1e-8)


def test_a_lazy_result_does_not_follow_another_fit(threads):
    model = SparseMaximalAlignment(3, candidates=POOL, gamma=0.3).fit(X, Y)
    features, lazy = model.transform(X), model.transform(rows_of(X))
    model.fit(X, -Y + X[:, 3])
    assert_array_equal(lazy.compute(), features)


def test_errors_name_the_row_of_all_samples(scheduler):
    model = SparseMaximalAlignment(3, candidates=POOL, gamma=0.3)
    damaged = X.copy()
    damaged[2345, 1] = np.nan
    with pytest.raises(InvalidDataError, match="NaN in row 2345, column 1"):
        model.fit(rows_of(damaged), Y)
    with pytest.raises(InvalidDataError, match="NaN in row 2345, column 1"):
        model.fit(frame_of(damaged)[[*NAMES, "y"]], "y")
    targets = Y.copy()
    targets[2346] = np.inf
    with pytest.raises(InvalidDataError, match="inf in row 2346"):
        model.fit(rows_of(X), rows_of(targets))
    assert not hasattr(model, "landmarks_")
    model.fit(rows_of(X), Y)  # the cluster goes on
    with pytest.raises(InvalidDataError, match="NaN in row 2345, column 1"):
        model.transform(rows_of(damaged)).compute()


def test_errors_of_drawn_samples_name_the_row_of_all(threads, monkeypatch):
    monkeypatch.setattr("kernelsieve.estimators.sources._SAMPLE_ROWS", 500)
    damaged = X.copy()
    damaged[1500:] = np.nan  # samples are drawn from there as well
    with pytest.raises(InvalidDataError, match=r"NaN in row (1[5-9]|2\d)\d\d, column 0"):
        SparseMaximalAlignment(3, candidates=POOL, random_state=0).fit(rows_of(damaged), Y)


def test_refusals(threads):
    model = SparseMaximalAlignment(2)
    with pytest.raises(InvalidDataError, match=r"y has 10 entries and X has 3000 rows"):
        model.fit(rows_of(X), Y[:10])
    with pytest.raises(InvalidDataError, match=r"sample_weight has 10 entries and X has 3000 rows"):
        model.fit(rows_of(X), Y, da.from_array(WEIGHT[:10]))
    with pytest.raises(InvalidDataError, match=r"y='z' is no column of X"):
        model.fit(frame_of(X), "z")
    with pytest.raises(InvalidDataError, match="array of two dimensions or a data frame"):
        model.fit(dask.delayed(X), Y)
    with pytest.raises(InvalidDataError, match=r"Or pass X.compute\(\)"):
        SparseKernelPLS(2).fit(rows_of(X), Y)
    with pytest.raises(InvalidDataError, match=r"0 sample\(s\)"):
        model.fit(da.zeros((0, 4)), np.zeros(0))


def counting(values):
    """Return a kernel that notes how many values it was asked for."""

    def kernel(X, Z):
        values.append(len(X) * len(Z))
        return np.exp(-0.3 * ((X[:, None] - Z[None]) ** 2).sum(axis=2))

    return kernel


def test_work(threads, monkeypatch):
    """One part a chunk, the candidates once in a graph, and no kernel value more than in memory."""
    monkeypatch.setattr("kernelsieve.estimators.sources._SAMPLE_ROWS", 10)
    graphs = []
    compute = dask.compute

    def recorded(*values, **options):
        graphs.append([dict(value.__dask_graph__()) for value in values])
        return compute(*values, **options)

    monkeypatch.setattr(dask, "compute", recorded)
    spent = []
    for samples in (X, rows_of(X)):
        values = []
        KernelPCA(4, candidates=POOL, kernel=counting(values)).fit(samples)
        spent.append(sum(values))
    assert spent[1] <= spent[0] + len(POOL) * 10
    (graph,) = graphs[-1]
    names = [str(key).rpartition("-")[0].partition("-")[0] for key in graph]
    assert names.count("_sums") == len(ROWS)
    assert names.count("_Sent") == 1
    assert names.count("merged") == 1


def test_small_chunks_share_tasks(threads, monkeypatch):
    lengths = []
    each = kernelsieve.data.dask._each

    def recorded(function, *values):
        tasks = each(function, *values)
        if function.__name__ == "_sums":
            lengths.append(len(tasks))
        return tasks

    monkeypatch.setattr("kernelsieve.data.dask._each", recorded)
    landmarks, features = in_memory("alignment")
    model, _ = METHODS["alignment"]
    model.fit(da.from_array(X, chunks=(40, 4)), da.from_array(Y, chunks=40))
    assert list(model.landmark_indices_) == landmarks
    assert_allclose(model.transform(X), features, atol=1e-8)
    assert set(lengths) == {19}  # of 75 chunks


def test_tasks_keep_to_one_thread(threads):
    from kernelsieve.data import n_threads

    seen = []

    def kernel(X, Z):
        if threading.current_thread() is not threading.main_thread():
            seen.append((n_threads(4), max(blas_threads())))
        return np.exp(-0.3 * ((X[:, None] - Z[None]) ** 2).sum(axis=2))

    model = SparseMaximalAlignment(3, candidates=POOL, kernel=kernel, n_jobs=2)
    model.fit(rows_of(X), Y).transform(rows_of(X)).compute()
    assert set(seen) == {(1, 1)}


class PickledBeforeUse:
    """Changes when it is used, as objects with caches do, and cannot be pickled from then on."""

    def __init__(self):
        self.used = False

    def use(self, _):
        self.used = True
        return os.getpid()

    def __getstate__(self):
        if self.used:
            raise RuntimeError("dictionary changed size during iteration")
        return {"used": False}


def use(sent, number):
    return sent.value.use(number)


def test_work_reaches_workers_while_others_use_it(client):
    from kernelsieve.data.dask import _each, _once

    places = list(client.scheduler_info()["workers"])
    held = client.persist(_once(PickledBeforeUse()), workers=places[:1])
    found = [
        client.compute(task, workers=[place]).result(timeout=60)  # the second gets it from the first
        for task, place in zip(_each(use, [held] * 2, [1, 2]), places, strict=True)
    ]
    assert len(set(found)) == 2


@pytest.mark.slow
def test_a_killed_worker(client, tmp_path):
    """The other worker, and the one that is started instead, do its work."""
    once = tmp_path / "killed"
    model = SparseMaximalAlignment(8, candidates=POOL, kernel=deadly_kernel(once))
    landmarks, features = list(model.fit(X, Y).landmark_indices_), model.transform(X)
    with client.as_current():
        model.fit(rows_of(X, (300,) * 10), Y)
    assert once.exists()
    assert list(model.landmark_indices_) == landmarks
    assert_allclose(model.transform(X), features, atol=1e-8)


def test_progress(scheduler, every_stage, capsys):
    model = SparseMaximalAlignment(3, candidates=POOL, gamma=0.3, verbose=1)
    model.fit(rows_of(X), rows_of(Y))
    lines = capsys.readouterr().err.splitlines()
    assert all(line.startswith("[SparseMaximalAlignment: ") for line in lines)
    whole = [line for line in lines if "] 3,000 rows of 3,000 in" in line]
    assert len(whole) == 2  # a pass, and a finishing pass; slow ones tell of parts of them, too
