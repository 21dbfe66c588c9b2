"""Folds and random orders by what a sample is, not by where it stands: all machines find them alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from ..kernels import Rows
from .blocks import row_slices

_ROWS = 4096  # hashed together
_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIXERS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))  # of SplitMix64


def row_hashes(X: Rows) -> np.ndarray:
    """Return a number for every sample, the same for equal ones, dense or sparse, in any precision.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.data import row_hashes
    >>> first, second, third = row_hashes(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]]))
    >>> bool(first == third), bool(first == second)
    (True, False)
    """
    if sparse.issparse(X):
        of_entries = _mixed(X.data, X.indices)
        ends = np.zeros(len(of_entries) + 1, np.uint64)
        np.cumsum(of_entries, out=ends[1:])  # which may wrap around
        return _scrambled(np.diff(ends[X.indptr]))
    columns = np.arange(X.shape[1])
    found = np.empty(X.shape[0], np.uint64)
    for rows in row_slices(X.shape[0], _ROWS):
        found[rows] = _mixed(np.asarray(X[rows]), columns).sum(axis=1, dtype=np.uint64)
    return _scrambled(found)


def _mixed(values: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return numbers for entries in their columns; 0 for 0, which sparse rows do not hold."""
    bits = (np.asarray(values, np.float64) + 0.0).view(np.uint64)  # -0.0 is 0.0
    factors = (columns.astype(np.uint64) << np.uint64(1)) * _ODD + np.uint64(1)
    return _scrambled(bits * _scrambled(factors))


def _scrambled(numbers: np.ndarray) -> np.ndarray:
    for shift, factor in _MIXERS:
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(factor)
    return numbers ^ (numbers >> np.uint64(31))


def drawn_order(
    hashes: np.ndarray, random_state: np.random.RandomState, ties: Sequence[np.ndarray] = ()
) -> np.ndarray:
    """Return a random order of samples that depends on what they are, not on where they stand.

    Equal hashes are ordered by ``ties``, the last of them first, as ``lexsort`` does.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.data import drawn_order, row_hashes
    >>> X = np.arange(8.0)[:, None]
    >>> orders = [drawn_order(row_hashes(x), np.random.RandomState(0)) for x in (X, X[::-1])]
    >>> bool((X[orders[0]] == X[::-1][orders[1]]).all())
    True
    """
    seed = random_state.randint(np.iinfo(np.int64).max, dtype=np.int64)
    return np.lexsort((*ties, _scrambled(hashes ^ np.uint64(seed))))


@dataclass(frozen=True)
class HashedFolds:
    """Which fold holds a sample out, by a hash of its inputs.

    Samples by whose targets candidates were screened are in no fold: a score on them would be too good.
    """

    n_folds: int
    screened: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64))  # hashes, sorted

    def __call__(self, X: Rows) -> np.ndarray:
        """Return the number of each sample's fold; ``n_folds`` for those that are never held out."""
        hashes = row_hashes(X)
        folds = (hashes % np.uint64(self.n_folds)).astype(np.intp)
        if len(self.screened):
            places = np.searchsorted(self.screened, hashes).clip(max=len(self.screened) - 1)
            folds[self.screened[places] == hashes] = self.n_folds
        return folds
