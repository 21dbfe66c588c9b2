"""Pools of candidate examples: given, random, near k-means centres, randomly pivoted Cholesky."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics import pairwise_distances_argmin

from ..kernels import Kernel, Rows

_SAMPLE_ROWS = 10_000  # rows that the data-dependent draws look at


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


def draw_random(n_rows: int, n_pool: int, random_state: np.random.RandomState) -> np.ndarray:
    """Return ``n_pool`` different rows, in ascending order."""
    return np.sort(random_state.choice(n_rows, n_pool, replace=False))


def draw_kmeans(X: Rows, n_pool: int, random_state: np.random.RandomState) -> np.ndarray:
    """Return the rows nearest to the centres of ``n_pool`` clusters of a sample."""
    sample = draw_random(X.shape[0], min(X.shape[0], max(n_pool, _SAMPLE_ROWS)), random_state)
    rows = X[sample]
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
    rows = X[sample]
    residual = np.maximum(kernel.diag_at(X, sample), 0.0)  # an indefinite kernel may have others
    floor = 1e-10 * residual.max(initial=0.0)
    factor = np.empty((n_pool, len(sample)))
    picks: list[int] = []
    while len(picks) < n_pool and residual.max() > floor:
        pick = int(random_state.choice(len(sample), p=residual / residual.sum()))
        used = factor[: len(picks)]
        column = kernel.block(rows, kernel.points(X, sample[pick : pick + 1]))[:, 0]
        column -= used[:, pick] @ used
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
