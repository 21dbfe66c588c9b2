"""Data sets of the papers in a folder of yours."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from scipy import sparse

from ..exceptions import InvalidDataError
from ..kernels import Rows

DATA_VARIABLE = "KERNELSIEVE_DATA"


def local_data_folder() -> Path | None:
    """Return the folder that the environment variable ``KERNELSIEVE_DATA`` names, if it exists."""
    folder = os.environ.get(DATA_VARIABLE)
    path = Path(folder) if folder else None
    return path if path is not None and path.is_dir() else None


def load_local(name: str, file: str | None = None) -> dict[str, Rows]:
    """Load ``<folder>/<name>/<file>.npz``; sparse parts become a CSR matrix ``X``.

    Parameters
    ----------
    name : str
        Name of the data set, such as "boston".
    file : str, default=None
        Which file, for data sets that have several; None is the one with the data set's name.

    Returns
    -------
    dict
        At least ``X`` and ``y``; ``train_idx`` and ``test_idx`` where a split is known.
    """
    folder = local_data_folder()
    if folder is None:
        raise InvalidDataError(
            f"The data set {name!r} is read from a local folder; set the environment variable "
            f"{DATA_VARIABLE} to it."
        )
    path = folder / name / f"{file or name}.npz"
    if not path.is_file():
        raise InvalidDataError(_what_is_missing(folder, name, path))
    with np.load(path, allow_pickle=False) as archive:
        parts = {key: archive[key] for key in archive.files}
    if "indptr" in parts:
        keys = ("data", "indices", "indptr")
        shape = tuple(parts.pop("shape"))
        parts["X"] = sparse.csr_matrix(tuple(parts.pop(key) for key in keys), shape=shape)
    return parts


def _what_is_missing(folder: Path, name: str, path: Path) -> str:
    files = sorted(p.stem for p in (folder / name).glob("*.npz"))
    if files:
        return (
            f"The data set {name!r} has no file {path.stem!r} in {folder}; file may be one of {files}."
        )
    known = sorted(p.name for p in folder.iterdir() if p.is_dir())
    return f"There is no data set {name!r} in {folder}; there are {known}."
