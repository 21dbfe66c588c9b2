"""Features of more samples than memory has room for, written where the user wants them."""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np
from sklearn.utils import _safe_indexing

from ..data import (
    count_rows,
    counted,
    open_source,
    reported,
    row_slices,
    rows_from,
    single_threaded_blas,
)
from ..exceptions import InvalidDataError, InvalidParameterError
from ..model import replacing

_ROWS = 2**16  # that are written together

#: Takes features of rows, and the number of the first.
Write = Callable[[np.ndarray, int], None]


@single_threaded_blas()
def transform_to(self: Any, X: Any, out: Any, n_components: int | None = None) -> Any:
    """Compute the features of new samples a block at a time, and write them.

    Parameters
    ----------
    X : array-like, CSR matrix, memory map, or samples that are not in memory
        As for ``transform``.
    out : array-like of shape (n_samples, n_components), or path
        What takes slices of rows, such as a memory map or an array of HDF5 or Zarr; or a file to be
        written, ``.npy`` or ``.parquet``, which appears when it is whole.
    n_components : int, default=None
        Use the first components only; None for all.

    Returns
    -------
    out
        As it was given.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve import KernelPCA
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> pca = KernelPCA(2, candidates=20, random_state=0).fit(X)
    >>> out = np.empty((100, 2), dtype=np.float32)
    >>> bool(np.allclose(pca.transform_to(X, out), pca.transform(X)))
    True
    """
    fit = self._prefix(n_components)
    source = open_source(X, inputs=vars(self).get("feature_names_in_"))
    n_rows = count_rows(X) if source is None else source.n_rows
    shape = (n_rows, fit.model.n_components)
    blocks = _blocks(X) if source is None else (part.X for part in source)
    names = self._with_fit(fit).get_feature_names_out()
    dtype = fit.model.dtype
    with (
        reported(type(self).__name__, self.verbose),
        _writer(out, shape, dtype, names) as write,
        counted(n_rows, stage="writing features"),
    ):
        start = 0
        for block in blocks:
            with rows_from(start):
                features = self._features(block, fit)
            write(features, start)
            start += len(features)
    return out


def _blocks(X: Any) -> Iterator[Any]:
    for rows in row_slices(count_rows(X), _ROWS):
        yield _safe_indexing(X, rows)


@contextmanager
def _writer(out: Any, shape: tuple[int, int], dtype: type, names: np.ndarray) -> Iterator[Write]:
    if not isinstance(out, (str, os.PathLike)):
        yield _into_array(out, shape)
        return
    path = Path(out)
    files = {".npy": _npy_file, ".parquet": _parquet_file}
    if path.suffix not in files:
        raise InvalidParameterError(f"out={str(path)!r} must end in .npy or .parquet, or be an array.")
    with replacing(path) as file, files[path.suffix](file, shape, dtype, names) as write:
        yield write


def _into_array(out: Any, shape: tuple[int, int]) -> Write:
    if tuple(out.shape) != shape:
        raise InvalidDataError(f"out has shape {tuple(out.shape)}; the features have {shape}.")

    def write(features: np.ndarray, start: int) -> None:
        out[start : start + len(features)] = features
        if isinstance(out, np.memmap):
            _let_go(out)

    return write


def _let_go(out: np.memmap) -> None:
    """Write what has changed to the file; its pages need not stay in memory."""
    out.flush()
    mapped: Any = getattr(out, "_mmap", None)
    if mapped is not None and sys.platform != "win32":
        mapped.madvise(mmap.MADV_DONTNEED)


@contextmanager
def _npy_file(
    file: IO[bytes], shape: tuple[int, int], dtype: type, names: np.ndarray
) -> Iterator[Write]:
    header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_2_0(file, header)
    yield lambda features, start: np.ascontiguousarray(features, dtype).tofile(file)


@contextmanager
def _parquet_file(
    file: IO[bytes], shape: tuple[int, int], dtype: type, names: np.ndarray
) -> Iterator[Write]:
    pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    of_dtype = pyarrow.from_numpy_dtype(np.dtype(dtype))
    schema = pyarrow.schema([(str(name), of_dtype) for name in names])
    with parquet.ParquetWriter(file, schema) as writer:

        def write(features: np.ndarray, start: int) -> None:
            columns = [np.ascontiguousarray(column) for column in features.T]
            writer.write_table(pyarrow.table(columns, schema=schema))

        yield write
