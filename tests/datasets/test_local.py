"""Data sets in a folder of the user's."""

import numpy as np
import pytest
from scipy import sparse

from kernelsieve.datasets import DATA_VARIABLE, load_local, local_data_folder
from kernelsieve.exceptions import InvalidDataError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    return tmp_path


def save(folder, name, **parts):
    (folder / name).mkdir()
    np.savez(folder / name / f"{name}.npz", **parts)


def test_the_folder_is_the_one_of_the_environment(folder):
    assert local_data_folder() == folder


@pytest.mark.parametrize("value", [None, "", "/no/such/folder"])
def test_without_a_folder_there_is_none_and_the_error_names_the_variable(monkeypatch, value):
    if value is None:
        monkeypatch.delenv(DATA_VARIABLE, raising=False)
    else:
        monkeypatch.setenv(DATA_VARIABLE, value)
    assert local_data_folder() is None
    with pytest.raises(InvalidDataError, match=rf"'boston'.*{DATA_VARIABLE}"):
        load_local("boston")


def test_a_file_is_not_a_folder(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "file"))
    assert local_data_folder() is None


def test_dense_data_come_as_they_were_saved(folder):
    parts = {
        "X": np.arange(6.0).reshape(3, 2),
        "y": np.array([1, 0, 1]),
        "train_idx": np.array([0, 1]),
        "test_idx": np.array([2]),
    }
    save(folder, "toy", **parts)
    loaded = load_local("toy")
    assert loaded.keys() == parts.keys()
    for key, part in parts.items():
        np.testing.assert_array_equal(loaded[key], part)
        assert loaded[key].dtype == part.dtype


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_parts_become_one_matrix(folder, dtype):
    X = sparse.random(7, 5, density=0.4, format="csr", random_state=0, dtype=dtype)
    save(
        folder,
        "words",
        data=X.data,
        indices=X.indices,
        indptr=X.indptr,
        shape=np.array(X.shape),
        y=np.arange(7),
    )
    loaded = load_local("words")
    assert loaded.keys() == {"X", "y"}
    assert loaded["X"].format == "csr"
    assert loaded["X"].dtype == dtype
    # the last rows or columns may be empty: the shape is the one that was saved
    assert loaded["X"].shape == (7, 5)
    assert (loaded["X"] != X).nnz == 0
    np.testing.assert_array_equal(loaded["y"], np.arange(7))


def test_sparse_data_may_end_in_empty_columns(folder):
    X = sparse.csr_matrix(([1.0], ([0], [0])), shape=(3, 9))
    save(folder, "tail", data=X.data, indices=X.indices, indptr=X.indptr, shape=np.array(X.shape))
    assert load_local("tail")["X"].shape == (3, 9)


def test_a_name_that_is_not_there_gets_the_list(folder):
    save(folder, "boston", X=np.eye(2))
    save(folder, "reuters", X=np.eye(2))
    (folder / "notes.txt").write_text("not a data set")
    with pytest.raises(InvalidDataError, match=r"no data set 'bostn'.*\['boston', 'reuters'\]"):
        load_local("bostn")


def test_a_folder_without_its_file_is_not_a_data_set(folder):
    (folder / "empty").mkdir()
    with pytest.raises(InvalidDataError, match="no data set 'empty'"):
        load_local("empty")


def test_a_data_set_may_have_several_files(folder):
    (folder / "faces").mkdir()
    np.savez(folder / "faces" / "small.npz", X=np.eye(2))
    np.savez(folder / "faces" / "large.npz", X=np.eye(3))
    np.testing.assert_array_equal(load_local("faces", "small")["X"], np.eye(2))
    np.testing.assert_array_equal(load_local("faces", file="large")["X"], np.eye(3))


@pytest.mark.parametrize("file", [None, "smal"])
def test_a_file_that_is_not_there_gets_the_list(folder, file):
    (folder / "faces").mkdir()
    np.savez(folder / "faces" / "small.npz", X=np.eye(2))
    np.savez(folder / "faces" / "large.npz", X=np.eye(3))
    with pytest.raises(InvalidDataError, match=rf"no file '{file or 'faces'}'.*\['large', 'small'\]"):
        load_local("faces", file)


def test_pickled_objects_are_not_read(folder):
    # a data file must not be able to run code
    save(folder, "objects", X=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle"):
        load_local("objects")
