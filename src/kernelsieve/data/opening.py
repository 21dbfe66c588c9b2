"""What kind of source holds the samples: chosen by what was given, without a word of the user's."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from .arrow import ArrowSource
from .sources import SlicedSource, Source

#: Packages whose objects are sources: the module here, and what opens them.
_OF_PACKAGES = {
    "dask": ("kernelsieve.data.dask", "open_collection"),
    "dask_expr": ("kernelsieve.data.dask", "open_collection"),
    "pyspark": ("kernelsieve.data.spark", "SparkSource"),
    "ray": ("kernelsieve.data.ray", "RaySource"),
}


def open_source(
    X: Any, y: Any = None, sample_weight: Any = None, inputs: Sequence[str] | None = None
) -> Source | None:
    """Return the source of samples that are not in memory, or None where they are.

    ``inputs`` are the columns to take where X is a table; by default all that are neither target nor
    weight, which may be given by their names.
    """
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        return None
    if isinstance(X, Source):
        return X
    package = type(X).__module__.partition(".")[0]
    if package in _OF_PACKAGES:
        module, name = _OF_PACKAGES[package]
        return getattr(import_module(module), name)(X, y, sample_weight, inputs)
    if package == "pyarrow" and isinstance(X, import_module("pyarrow.dataset").Dataset):
        return ArrowSource(X, y, sample_weight, inputs)
    return SlicedSource(X, y, sample_weight) if SlicedSource.fits(X) else None
