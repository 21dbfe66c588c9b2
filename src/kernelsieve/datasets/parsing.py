"""Readers of data files, one a format, with the same result."""

from __future__ import annotations

import bz2
import csv
import gzip
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import IO, Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_files

from .._sklearn import arff
from ..exceptions import InvalidDataError

Parts = dict[str, Any]


def read_npz(file: Any) -> Parts:
    """Return the arrays of an ``.npz`` file; sparse parts become a CSR matrix ``X``."""
    with np.load(file, allow_pickle=False) as archive:
        parts = {key: archive[key] for key in archive.files}
    if "indptr" in parts:
        shape = tuple(parts.pop("shape"))
        csr = tuple(parts.pop(key) for key in ("data", "indices", "indptr"))
        parts["X"] = sparse.csr_matrix(csr, shape=shape)
    return parts


def read_table(path: Any) -> Parts:
    """Read a CSV file with a header; return a data frame, and its column ``target``."""
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise ImportError('Tables need pandas: pip install "kernelsieve[files]".') from error
    frame = pandas.read_csv(path)
    return {"X": frame.drop(columns="target"), "y": frame["target"]}


def read_files(files: Sequence[IO[bytes]], names: Sequence[str], format: str, options: Any) -> Parts:
    """Return ``X`` and ``y`` of several files, concatenated."""
    readable = [_decompressed(file, name) for file, name in zip(files, names, strict=True)]
    return _READERS[format](readable, **options)


def _csv(
    files: Sequence[IO[bytes]],
    *,
    target: int = -1,
    drop: Sequence[int] = (),
    labels: Sequence[str] | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
) -> Parts:
    """Read CSV; ``categories`` become one-hot columns, and ``labels`` class numbers."""
    rows = [
        [value.strip() for value in row] for file in files for row in csv.reader(_lines(file)) if row
    ]
    table = np.array(rows)
    places = np.arange(table.shape[1])
    kept = np.setdiff1d(places, [*drop, places[target]])
    coded = {int(column): values for column, values in (categories or {}).items()}
    columns = [
        _codes(table[:, j], coded[j])[:, None] == np.arange(len(coded[j]))
        if j in coded
        else table[:, [j]]
        for j in kept
    ]
    y = table[:, target]
    return {
        "X": np.hstack([column.astype(np.float64) for column in columns]),
        "y": _codes(y, labels) if labels else y.astype(np.float64),
    }


def _codes(values: np.ndarray, labels: Sequence[str]) -> np.ndarray:
    unknown = sorted(set(values.tolist()) - set(labels))
    if unknown:
        raise InvalidDataError(f"The file has the label {unknown[0]!r}; known are {list(labels)}.")
    return np.array([labels.index(value) for value in values])


def _arff(files: Sequence[IO[bytes]]) -> Parts:
    """Read dense or sparse ARFF; the target is the only nominal attribute, or the last one."""
    (file,) = files
    lines = _lines(file)
    first = next((line for line in _data_of(lines) if line.strip() and line[0] != "%"), "")
    kind = arff.COO if first.lstrip().startswith("{") else arff.DENSE
    content = arff.loads("\n".join(lines), encode_nominal=True, return_type=kind)
    attributes, data = content["attributes"], content["data"]
    nominal = [j for j, (_, type_) in enumerate(attributes) if isinstance(type_, list)]
    target = nominal[0] if len(nominal) == 1 else len(attributes) - 1
    others = np.setdiff1d(np.arange(len(attributes)), target)
    if kind == arff.DENSE:
        table = np.array(data, dtype=np.float64)
        X, y = table[:, others], table[:, target]
    else:
        values, rows, columns = data
        n_rows = sum(line.lstrip().startswith("{") for line in _data_of(lines))
        matrix = sparse.csc_matrix((values, (rows, columns)), shape=(n_rows, len(attributes)))
        X, y = matrix[:, others].tocsr(), matrix[:, [target]].toarray().ravel()
    return {"X": X, "y": y.astype(int) if target in nominal else y}


def _data_of(lines: Sequence[str]) -> Sequence[str]:
    start = next((i for i, line in enumerate(lines) if line.strip().lower() == "@data"), len(lines))
    return lines[start + 1 :]


def _svmlight(
    files: Sequence[IO[bytes]], *, n_features: int | None = None, thousandths: bool = False
) -> Parts:
    """Read svmlight; ``thousandths`` stores values of [-1, 1] as integers, 1000 (x + 1)."""
    loaded = load_svmlight_files(list(files), n_features=n_features)
    X, y = sparse.vstack(loaded[::2], format="csr"), np.concatenate(loaded[1::2])
    if thousandths:
        X = np.rint(1000 * (X.toarray() + 1)).astype(np.uint16)
    labels, codes = np.unique(y, return_inverse=True)
    # classes that are counted from 1 are counted from 0 here; -1 and 1 stay
    return {"X": X, "y": codes if np.array_equal(labels, 1 + np.arange(len(labels))) else y}


def _npz(files: Sequence[IO[bytes]]) -> Parts:
    (file,) = files
    return read_npz(file)


def _lines(file: IO[bytes]) -> list[str]:
    return file.read().decode("utf-8").splitlines()


def _decompressed(file: IO[bytes], name: str) -> IO[bytes]:
    if name.endswith(".bz2"):
        return bz2.open(file)
    return gzip.open(file) if name.endswith(".gz") else file  # type: ignore[return-value]


_READERS: dict[str, Callable[..., Parts]] = {
    "arff": _arff,
    "csv": _csv,
    "npz": _npz,
    "svmlight": _svmlight,
}
