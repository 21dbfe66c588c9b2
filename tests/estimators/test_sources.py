"""Samples that are not in memory give what the same samples in memory give."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from source_cases import LABELS, METHODS, NAMES, POOL, TARGETS, WEIGHT, X, Y, in_memory

from kernelsieve import (
    KernelFisherDiscriminant,
    SparseKernelPLS,
    SparseMaximalAlignment,
)
from kernelsieve.exceptions import InvalidDataError
from kernelsieve.fitting import OnePass, one_pass


class Slices:
    """What HDF5 and Zarr have: a shape, a type, chunks and slices. It counts what is read."""

    chunks = (100, 4)

    def __init__(self, values):
        self._values = values
        self.shape, self.dtype = values.shape, values.dtype
        self.most = 0

    def __getitem__(self, rows):
        assert isinstance(rows, slice)
        found = self._values[rows].copy()
        self.most = max(self.most, len(found))
        return found


@pytest.mark.parametrize("name", METHODS)
def test_slices(name, monkeypatch):
    monkeypatch.setattr("kernelsieve.data.sources._PART_BYTES", 2**15)
    landmarks, features = in_memory(name, WEIGHT)
    model, target = METHODS[name]
    source = Slices(X)
    model.fit(source, TARGETS[target], WEIGHT)
    assert list(model.landmark_indices_) == landmarks
    assert_allclose(model.transform(source), features, atol=1e-8)
    assert source.most == 1000  # ten chunks of 32 bytes a row


def test_hdf5(tmp_path):
    h5py = pytest.importorskip("h5py")
    landmarks, features = in_memory("alignment")
    model, _ = METHODS["alignment"]
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        stored = file.create_dataset("X", data=X, chunks=(256, 4))
        targets = file.create_dataset("y", data=Y)
        model.fit(stored, targets)
        assert list(model.landmark_indices_) == landmarks
        assert_allclose(model.transform(stored), features, atol=1e-8)


@pytest.fixture
def table():
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow.dataset", reason="pyarrow reads Parquet and CSV")
    frame = pandas.DataFrame(X, columns=NAMES)
    return frame.assign(y=Y, label=LABELS, w=WEIGHT)


def written(frame, folder, kind="parquet"):
    import pyarrow as pa
    import pyarrow.dataset as ds

    options = {"max_rows_per_file": 700, "max_rows_per_group": 200} if kind == "parquet" else {}
    ds.write_dataset(pa.Table.from_pandas(frame), folder, format=kind, **options)
    return ds.dataset(folder, format=kind)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("name", METHODS)
def test_named_columns(name, kind, table, tmp_path):
    landmarks, features = in_memory(name, WEIGHT)
    model, target = METHODS[name]
    wanted = [*NAMES, "w", *([target] if target else [])]
    dataset = written(table[wanted], tmp_path / "rows", kind)
    model.fit(dataset, target, "w")
    assert list(model.landmark_indices_) == landmarks
    assert list(model.feature_names_in_) == NAMES
    # columns that are no inputs do no harm
    assert_allclose(model.transform(dataset), features, atol=1e-8)
    if hasattr(model, "predict"):
        assert_array_equal(model.predict(dataset), model.predict(table[NAMES]))


def test_a_class_that_no_sampled_row_has(table, tmp_path, monkeypatch):
    monkeypatch.setattr("kernelsieve.estimators.sources._SAMPLE_ROWS", 500)
    dataset = written(table[[*NAMES, "label"]], tmp_path / "rows")
    model = KernelFisherDiscriminant(candidates=POOL, gamma=0.3, random_state=0)
    model.fit(dataset, "label")
    assert list(model.classes_) == ["high", "left", "rare", "right"]
    assert_array_equal(model.fit(Slices(X), LABELS).classes_, model.classes_)


@pytest.mark.parametrize("candidates", [50, "auto"])
def test_a_drawn_pool_does_not_depend_on_parts(candidates, monkeypatch):
    monkeypatch.setattr("kernelsieve.estimators.sources._SAMPLE_ROWS", 1000)
    found = []
    for size in (2**10, 2**13, 2**25):
        monkeypatch.setattr("kernelsieve.data.sources._PART_BYTES", size)
        model = SparseMaximalAlignment(8, candidates=candidates, random_state=3).fit(Slices(X), Y)
        found.append((list(model.landmark_indices_), model.transform(X[:50])))
        assert_array_equal(X[model.landmark_indices_], model.landmarks_)
    for landmarks, features in found[1:]:
        assert landmarks == found[0][0]
        assert_allclose(features, found[0][1], atol=1e-8)


def test_only_chosen_columns_are_inputs(table, tmp_path):
    from kernelsieve.datasets import select_columns

    dataset = written(table[[*NAMES, "label", "y"]], tmp_path / "rows")
    model = SparseMaximalAlignment(3, gamma=0.3, random_state=0)
    with pytest.raises(InvalidDataError, match=r"Column 'label' has the type .*string.*select_columns"):
        model.fit(dataset, "y")
    model.fit(select_columns(dataset, ["b", "a", "y"]), "y")
    assert list(model.feature_names_in_) == ["b", "a"]
    with pytest.raises(InvalidDataError, match=r"y='z' is no column of X, which has \['a'"):
        model.fit(dataset, "z")
    with pytest.raises(InvalidDataError, match="y must be the name of a column"):
        model.fit(dataset, Y)
    with pytest.raises(InvalidDataError, match="X has no column 'b', which was there in fit"):
        model.transform(select_columns(dataset, ["a", "y"]))


def test_errors_name_column_and_row_of_all(table, tmp_path, monkeypatch):
    table.loc[2345, "c"] = None
    dataset = written(table[[*NAMES, "y"]], tmp_path / "rows")
    model = SparseMaximalAlignment(3, candidates=POOL, gamma=0.3)
    with pytest.raises(InvalidDataError, match=r"Column 'c' has a null in row 2345"):
        model.fit(dataset, "y")
    monkeypatch.setattr("kernelsieve.data.sources._PART_BYTES", 2**15)
    damaged = X.copy()
    damaged[2345, 1] = np.nan
    with pytest.raises(InvalidDataError, match="NaN in row 2345, column 1"):
        model.fit(Slices(damaged), Y)
    targets = Y.copy()
    targets[2346] = np.inf
    with pytest.raises(InvalidDataError, match="inf in row 2346"):
        model.fit(Slices(X), targets)
    assert not hasattr(model, "landmarks_")
    model.fit(X, Y)
    with pytest.raises(InvalidDataError, match="NaN in row 2345, column 1"):
        model.transform(Slices(damaged))


def test_what_needs_all_samples_says_so():
    with pytest.raises(InvalidDataError, match=r"SparseKernelPLS cannot be fitted .* Or pass X\[:\]"):
        SparseKernelPLS(2).fit(Slices(X), Y)
    with pytest.raises(InvalidDataError, match="candidates as a number"):
        SparseMaximalAlignment(2, candidates="all").fit(Slices(X), Y)
    with pytest.raises(InvalidDataError, match=r"y has shape \(10,\) and X has 3000 rows"):
        SparseMaximalAlignment(2).fit(Slices(X), Y[:10])
    with pytest.raises(InvalidDataError, match=r"0 sample\(s\)"):
        SparseMaximalAlignment(2).fit(Slices(X[:0]), Y[:0])


def test_precision_is_settled_by_samples_from_all_over(monkeypatch):
    """The first rows of sorted samples are alike, and would tell nothing about the others."""
    looked_at = []
    form_by = OnePass._form_by_trial

    def recorded(self, batches):
        looked_at.extend(one_pass._some_of(batches, 300))
        return form_by(self, batches)

    monkeypatch.setattr(OnePass, "_form_by_trial", recorded)
    monkeypatch.setattr(one_pass, "_FEW_VALUES", 0)
    monkeypatch.setattr(one_pass, "_FEW_PRODUCTS", 0)
    order = X[:, 0].argsort()
    SparseMaximalAlignment(8, candidates=POOL, gamma=0.3).fit(Slices(X[order]), Y[order])
    (batch,) = looked_at
    assert (batch.X[:, 0] < X[:, 0].mean()).mean() == pytest.approx(0.5, abs=0.1)
