"""Features that are written a block at a time."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from kernelsieve import KernelPCA
from kernelsieve.exceptions import InvalidDataError, InvalidParameterError

X = np.random.default_rng(0).normal(size=(1000, 3))


@pytest.fixture
def model(monkeypatch):
    monkeypatch.setattr("kernelsieve.estimators.writing._ROWS", 300)
    return KernelPCA(4, candidates=30, gamma=0.3, random_state=0).fit(X)


def test_arrays(model):
    out = np.empty((1000, 4))
    assert model.transform_to(X, out) is out
    assert_allclose(out, model.transform(X), atol=1e-13)
    few = np.empty((1000, 2), np.float32)
    model.transform_to(sparse.csr_matrix(X), few, 2)
    assert_allclose(few, model.transform(X, 2), atol=1e-6)


def test_files(model, tmp_path):
    expected = model.transform(X)
    model.transform_to(X, tmp_path / "features.npy")
    assert_allclose(np.load(tmp_path / "features.npy"), expected, atol=1e-13)
    parquet = pytest.importorskip("pyarrow.parquet")
    model.transform_to(X, str(tmp_path / "features.parquet"))
    frame = parquet.read_table(tmp_path / "features.parquet")
    assert frame.schema.names == list(model.get_feature_names_out())
    assert_array_equal(np.column_stack(frame.columns), np.load(tmp_path / "features.npy"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["features.npy", "features.parquet"]


@pytest.mark.parametrize("kind", ["npy", "parquet"])
def test_an_error_leaves_the_old_file(model, tmp_path, kind):
    pytest.importorskip("pyarrow.parquet")
    path = tmp_path / f"features.{kind}"
    model.transform_to(X, path)
    before = path.read_bytes()
    damaged = X.copy()
    damaged[777, 2] = np.nan
    with pytest.raises(InvalidDataError, match="NaN in row 777, column 2"):
        model.transform_to(damaged, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_to(model, tmp_path):
    with pytest.raises(InvalidParameterError, match=r"must end in \.npy or \.parquet"):
        model.transform_to(X, tmp_path / "features.txt")
    with pytest.raises(InvalidDataError, match=r"shape \(1000, 3\); the features have \(1000, 4\)"):
        model.transform_to(X, np.empty((1000, 3)))


def test_memory_does_not_grow_with_samples(model, tmp_path):
    rows = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float32, (60_000, 3))
    rows[:] = 1.0
    tracemalloc.start()
    try:
        peaks = []
        for n_rows in (6_000, 60_000):
            tracemalloc.reset_peak()
            model.transform_to(rows[:n_rows], tmp_path / "features.npy")
            peaks.append(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0] + 100_000
