"""Pools of candidate examples: given, random, near k-means centres, randomly pivoted Cholesky."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances_argmin

from ..kernels import Kernel, Rows

_SAMPLE_ROWS = 10_000  # rows that the data-dependent draws look at
_DENSE_VALUES = 2**23  # of a sparse sample that is made dense: 64 MB


@dataclass(frozen=True)
class Pool:
    """Candidate landmarks.

    ``indices`` are rows of the training set, or of the given array where the pool was given. ``W`` is
    the kernel matrix of the points, for a pool that stands for the samples; empty for all samples.
    """

    points: Rows
    indices: np.ndarray
    W: np.ndarray = field(default_factory=partial(np.empty, (0, 0)))

    def __len__(self) -> int:
        return int(self.points.shape[0])

    def __getitem__(self, chosen: np.ndarray) -> Pool:
        return Pool(self.points[chosen], self.indices[chosen])

    def first_of_equals(self, chosen: np.ndarray) -> Pool:
        """Return the pool with every chosen point under the number of the first point equal to it.

        Rounding decides which of equal points is chosen, and another division into blocks rounds
        otherwise. Where several of them were chosen, they keep their numbers.
        """
        keys = list(_keys(self.points[chosen]))
        maybe = np.arange(len(self))
        if not sparse.issparse(self.points):  # equal points have equal first inputs
            inputs = self.points.reshape(len(self), -1)[:, 0]
            maybe = np.flatnonzero(np.isin(inputs, inputs[chosen]))
        first: dict[bytes, np.intp] = {}
        for place, key in zip(maybe, _keys(self.points[maybe]), strict=True):
            first.setdefault(key, place)
        indices, counts = self.indices.copy(), Counter(keys)
        for place, key in zip(chosen, keys, strict=True):
            if counts[key] == 1:
                indices[place] = self.indices[first[key]]
        return replace(self, indices=indices)


def first_equals(rows: Rows) -> np.ndarray:
    """Return for each row the place of the first row that is equal to it, which may be its own.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.data import first_equals
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
    if sparse.issparse(points):
        for start, stop in pairwise(points.indptr):
            columns, data = points.indices[start:stop], points.data[start:stop]
            yield columns[data != 0].tobytes() + data[data != 0].tobytes()
    else:
        for row in points:
            yield (row + 0.0).tobytes()  # minus zero is zero


def draw_random(
    n_rows: int, n_pool: int, random_state: np.random.RandomState, weight: np.ndarray | None = None
) -> np.ndarray:
    """Return ``n_pool`` different rows, in ascending order.

    With weights, every draw is in proportion to the weights of the rows that are left, as if a row of
    weight 3 were three equal rows of which one is enough.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.data import draw_random
    >>> draw_random(5, 2, np.random.RandomState(0), np.array([1e-9, 1.0, 1e-9, 2.0, 1e-9]))
    array([1, 3])
    """
    return np.sort(_drawn(n_rows, n_pool, random_state, weight))


def draw_sample(
    n_rows: int, size: int, random_state: np.random.RandomState, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Draw rows that sums over all rows are estimated from: the rows, and their weights in the sums.

    A row that was drawn because of its weight must not be weighted once more: its weight is divided by
    the probability to be drawn (a bottom-k sketch; Cohen and Kaplan, 2008). Light rows then count
    alike, and rows that are drawn in any case count as before.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.data import draw_sample
    >>> rows, weight = draw_sample(1000, 100, np.random.RandomState(0), np.r_[500.0, np.full(999, 0.5)])
    >>> int(rows[0]), weight[[0, 1, 99]].round(1).tolist()
    (0, [500.0, 5.0, 5.0])
    """
    if weight is None or _are_equal(weight):
        rows = np.sort(_drawn(n_rows, size, random_state, None))
        return rows, None if weight is None else weight[rows]
    if size >= n_rows:
        return np.arange(n_rows), weight
    arrivals = _arrivals(weight, random_state)
    order = np.argpartition(arrivals, size)
    rows = np.sort(order[:size])
    expected = np.exp(np.log(weight[rows]) + arrivals[order[size]])  # arrivals before the next row's
    return rows, weight[rows] / -np.expm1(-expected)


def _drawn(
    n_rows: int, size: int, random_state: np.random.RandomState, weight: np.ndarray | None
) -> np.ndarray:
    """Return different rows, in the order in which they were drawn."""
    if weight is None or _are_equal(weight):
        return random_state.choice(n_rows, size, replace=False)
    return np.argsort(_arrivals(weight, random_state))[:size]


def _arrivals(weight: np.ndarray, random_state: np.random.RandomState) -> np.ndarray:
    """Return the logarithm of when each row first arrives, if it arrives at the rate of its weight.

    The row that arrives next is a draw in proportion to weight among those that have not arrived.
    """
    return np.log(random_state.standard_exponential(len(weight))) - np.log(weight)


def _are_equal(weight: np.ndarray) -> bool:
    return bool((weight == weight[0]).all())


def dense_sample(rows: Rows) -> Rows:
    """Return a sample of rows dense, unless it is so wide that zeros would fill the memory.

    Equal rows tie for a place in a pool, and the last digits decide: those of sparse products are
    others than those of dense ones, and sparse input must be given the same pool.
    """
    is_small = sparse.issparse(rows) and rows.shape[0] * rows.shape[1] <= _DENSE_VALUES
    return rows.toarray() if is_small else rows


def draw_kmeans(
    X: Rows, n_pool: int, random_state: np.random.RandomState, weight: np.ndarray | None = None
) -> np.ndarray:
    """Return the rows nearest to the centres of ``n_pool`` clusters of a sample."""
    size = min(X.shape[0], max(n_pool, _SAMPLE_ROWS))
    sample, weight = draw_sample(X.shape[0], size, random_state, weight)
    rows = dense_sample(X[sample])
    from sklearn.cluster import MiniBatchKMeans  # whose import takes longer than the rest of this room

    clusters = MiniBatchKMeans(n_pool, n_init=1, max_iter=20, random_state=random_state)
    centres = clusters.fit(rows, sample_weight=weight).cluster_centers_
    nearest = pairwise_distances_argmin(
        sparse.csr_matrix(centres) if sparse.issparse(rows) else centres.astype(rows.dtype), rows
    )
    return filled_up(sample, np.unique(nearest), n_pool, random_state, weight)


def draw_rpcholesky(
    X: Rows,
    kernel: Kernel,
    n_pool: int,
    random_state: np.random.RandomState,
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """Return rows drawn in proportion to what the rows so far leave unexplained, times their weight.

    This is randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber, 2023) on a sample of rows.
    """
    size = min(X.shape[0], max(n_pool, _SAMPLE_ROWS))
    sample, weight = draw_sample(X.shape[0], size, random_state, weight)
    fill = kernel.against(kernel.points(X, sample))
    residual = np.maximum(kernel.diag_at(X, sample), 0.0)  # an indefinite kernel may have others
    floor = 1e-10 * residual.max(initial=0.0)
    factor = np.empty((n_pool, len(sample)))
    values = np.empty((len(sample), 1))
    picks: list[int] = []
    while len(picks) < n_pool and residual.max() > floor:
        chances = residual if weight is None else np.where(residual > floor, residual, 0.0) * weight
        pick = int(random_state.choice(len(sample), p=chances / chances.sum()))
        used = factor[: len(picks)]
        fill(X[sample[pick : pick + 1]], values)
        column = values[:, 0] - used[:, pick] @ used
        factor[len(picks)] = column / np.sqrt(residual[pick])
        residual = np.maximum(residual - factor[len(picks)] ** 2, 0.0)
        residual[pick] = 0.0
        picks.append(pick)
    return filled_up(sample, np.array(picks, dtype=np.intp), n_pool, random_state, weight)


def filled_up(
    sample: np.ndarray,
    picks: np.ndarray,
    n_pool: int,
    random_state: np.random.RandomState,
    weight: np.ndarray | None = None,
) -> np.ndarray:
    """Turn picks within a sample into rows, with random ones where there are too few."""
    others = np.setdiff1d(np.arange(len(sample)), picks)
    missing = max(0, n_pool - len(picks))
    weight = None if weight is None else weight[others]
    extra = _drawn(len(others), missing, random_state, weight) if missing else others[:0]
    return sample[np.concatenate([picks, others[extra]])]
