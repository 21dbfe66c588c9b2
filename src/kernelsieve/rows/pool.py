"""Pools of candidate examples: given, random, near k-means centres, randomly pivoted Cholesky."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np
from scipy import sparse
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics import pairwise_distances_argmin

from ..kernels import Kernel, Rows

_SAMPLE_ROWS = 10_000  # rows that the data-dependent draws look at
_DENSE_VALUES = 2**23  # of a sparse sample that is made dense: 64 MB


@dataclass(frozen=True)
class Pool:
    """Candidate landmarks.

    ``indices`` are rows of the training set, or of the given array where the pool was given.
    """

    points: Rows
    indices: np.ndarray

    def __len__(self) -> int:
        return int(self.points.shape[0])

    def __getitem__(self, chosen: np.ndarray) -> Pool:
        return Pool(self.points[chosen], self.indices[chosen])

    def first_of_equals(self, chosen: np.ndarray) -> Pool:
        """Return the pool with every chosen point under the number of the first point equal to it.

        Rounding decides which of equal points is chosen, and another division into blocks rounds
        otherwise. Where several of them were chosen, they keep their numbers.
        """
        places: dict[bytes, list[int]] = {}
        for i, key in zip(chosen, _keys(self.points[chosen]), strict=True):
            places.setdefault(key, []).append(i)
        alone = {key: i for key, (i, *others) in places.items() if not others}
        indices = self.indices.copy()
        for first, key in enumerate(_keys(self.points)):
            if key in alone:
                indices[alone.pop(key)] = self.indices[first]
        return replace(self, indices=indices)


def first_equals(rows: Rows) -> np.ndarray:
    """Return for each row the place of the first row that is equal to it, which may be its own.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rows import first_equals
    >>> first_equals(np.array([[1.0, 2.0], [0.0, 3.0], [1.0, 2.0]]))
    array([0, 1, 0])
    """
    places: dict[bytes, int] = {}
    digests = (blake2b(key, digest_size=16).digest() for key in _keys(rows))  # rows may be long
    return np.array([places.setdefault(digest, i) for i, digest in enumerate(digests)], dtype=np.intp)


def distinct(rows: Rows) -> np.ndarray:
    """Return the places of rows that are equal to no earlier one."""
    firsts = first_equals(rows)
    return np.flatnonzero(firsts == np.arange(len(firsts)))


def _keys(points: Rows) -> Iterator[bytes]:
    """Yield something for each row that is the same for equal rows only, dense or not."""
    if not sparse.issparse(points):
        return ((row + 0.0).tobytes() for row in points)  # minus zero is zero
    rows = zip(points.indptr[:-1], points.indptr[1:], strict=True)
    parts = ((points.indices[i:j], points.data[i:j]) for i, j in rows)
    return (columns[data != 0].tobytes() + data[data != 0].tobytes() for columns, data in parts)


def draw_random(n_rows: int, n_pool: int, random_state: np.random.RandomState) -> np.ndarray:
    """Return ``n_pool`` different rows, in ascending order."""
    return np.sort(random_state.choice(n_rows, n_pool, replace=False))


def dense_sample(rows: Rows) -> Rows:
    """Return a sample of rows dense, unless it is so wide that zeros would fill the memory.

    Equal rows tie for a place in a pool, and the last digits decide: those of sparse products are
    others than those of dense ones, and sparse input must be given the same pool.
    """
    is_small = sparse.issparse(rows) and rows.shape[0] * rows.shape[1] <= _DENSE_VALUES
    return rows.toarray() if is_small else rows


def draw_kmeans(X: Rows, n_pool: int, random_state: np.random.RandomState) -> np.ndarray:
    """Return the rows nearest to the centres of ``n_pool`` clusters of a sample."""
    sample = draw_random(X.shape[0], min(X.shape[0], max(n_pool, _SAMPLE_ROWS)), random_state)
    rows = dense_sample(X[sample])
    clusters = MiniBatchKMeans(n_pool, n_init=1, max_iter=20, random_state=random_state).fit(rows)
    centres = clusters.cluster_centers_
    nearest = pairwise_distances_argmin(
        sparse.csr_matrix(centres) if sparse.issparse(rows) else centres.astype(rows.dtype), rows
    )
    return filled_up(sample, np.unique(nearest), n_pool, random_state)


def draw_rpcholesky(
    X: Rows, kernel: Kernel, n_pool: int, random_state: np.random.RandomState
) -> np.ndarray:
    """Return rows drawn in proportion to what the rows so far leave unexplained.

    This is randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber, 2023) on a sample of rows.
    """
    sample = draw_random(X.shape[0], min(X.shape[0], max(n_pool, _SAMPLE_ROWS)), random_state)
    fill = kernel.against(kernel.points(X, sample))
    residual = np.maximum(kernel.diag_at(X, sample), 0.0)  # an indefinite kernel may have others
    floor = 1e-10 * residual.max(initial=0.0)
    factor = np.empty((n_pool, len(sample)))
    values = np.empty((len(sample), 1))
    picks: list[int] = []
    while len(picks) < n_pool and residual.max() > floor:
        pick = int(random_state.choice(len(sample), p=residual / residual.sum()))
        used = factor[: len(picks)]
        fill(X[sample[pick : pick + 1]], values)
        column = values[:, 0] - used[:, pick] @ used
        factor[len(picks)] = column / np.sqrt(residual[pick])
        residual = np.maximum(residual - factor[len(picks)] ** 2, 0.0)
        residual[pick] = 0.0
        picks.append(pick)
    return filled_up(sample, np.array(picks, dtype=np.intp), n_pool, random_state)


def filled_up(
    sample: np.ndarray, picks: np.ndarray, n_pool: int, random_state: np.random.RandomState
) -> np.ndarray:
    """Turn picks within a sample into rows, with random ones where there are too few."""
    others = np.setdiff1d(np.arange(len(sample)), picks)
    missing = n_pool - len(picks)
    extra = random_state.choice(others, missing, replace=False) if missing > 0 else others[:0]
    return sample[np.concatenate([picks, extra])]
