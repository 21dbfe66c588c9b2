"""A subspace spanned by the images of a few learned points, formula (16)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from sklearn.cluster import KMeans

from ..data import Batch
from ..exceptions import InvalidParameterError
from ..kernels import Kernel, Rows
from .centroids import count_distinct
from .images import class_columns, independent
from .objectives import Objective


class Points:
    """An objective as a function of points Z; the samples are projected onto their images."""

    def __init__(self, rows: Rows, root: np.ndarray, kernel: Kernel, objective: Objective) -> None:
        self._rows = rows
        self._root = root[:, None]
        self._kernel = kernel
        self._objective = objective

    def __call__(self, Z: np.ndarray) -> tuple[float, np.ndarray]:
        among = self._kernel.block(Z, Z)
        R = triangle(among)
        values = self._kernel.block(self._rows, Z)
        features = _divided(self._root * values, R)
        value, slope = self._objective.value_and_slope(features)
        if not np.isfinite(slope).all():  # points so far from all samples that nothing is left of them
            return -np.inf, np.zeros_like(Z)
        of_values = self._root * solve_triangular(R, slope.T).T
        # The value does not change when the basis is rotated, so this is all that the points' own
        # kernel matrix adds, whichever of its factors was taken.
        inner = -0.5 * solve_triangular(R, solve_triangular(R, features.T @ slope).T)
        gradient = self._kernel.landmark_gradient(self._rows, Z, values, of_values)
        gradient += self._kernel.landmark_gradient(Z, Z, among, inner + inner.T)
        return value, gradient

    def independent_points(self, Z: np.ndarray) -> np.ndarray:
        """Return the points with linearly independent images."""
        return Z[np.sort(independent(self._kernel.block(Z, Z))[1])]

    def features(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return features along an orthonormal basis, and the basis in terms of the points."""
        R = triangle(self._kernel.block(Z, Z))
        values = self._root * self._kernel.block(self._rows, Z)
        return _divided(values, R), solve_triangular(R, np.eye(len(R)))


def triangle(among: np.ndarray) -> np.ndarray:
    """Return the triangular factor of a kernel matrix, with a ridge for coinciding points."""
    ridge, size = 0.0, float(np.trace(among)) / len(among)
    while True:
        try:
            return cholesky(among + ridge * np.eye(len(among)))
        except LinAlgError:
            ridge = max(10 * ridge, 1e-14 * size)
            if not ridge < size:
                raise


def _divided(values: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Return ``values R^-1``."""
    return solve_triangular(R, values.T, trans="T").T


def first_points(
    batch: Batch, init: Any, n_points: int | None, random_state: np.random.RandomState
) -> np.ndarray:
    """Return initial points: given ones, class means, or cluster means within the classes."""
    if isinstance(init, str) and init != "koc":
        raise InvalidParameterError(
            f"init={init!r} gives directions, not points; pass init='koc' or an array of points with "
            "span='points'."
        )
    if not isinstance(init, str):
        Z = np.asarray(init, dtype=np.float64)
        if Z.ndim != 2 or Z.shape[1] != batch.X.shape[1] or not np.isfinite(Z).all():
            raise InvalidParameterError(
                f"init has shape {Z.shape}; with span='points' it must be finite numbers, one row for "
                f"each of the n_components points and {batch.X.shape[1]} columns."
            )
        if n_points not in (None, len(Z)):
            raise InvalidParameterError(
                f"n_components={n_points}, but init has {len(Z)} points; pass as many points as "
                "features, or n_components=None."
            )
        return Z
    return _means(batch, n_points, random_state)


def _means(batch: Batch, n_points: int | None, random_state: np.random.RandomState) -> np.ndarray:
    weight = batch.root_weight**2
    sums = batch.target_sums
    shares = class_columns(batch, weight)[:, sums > 0]  # of the classes that count
    sums = sums[sums > 0]
    n_points = len(sums) if n_points is None else n_points

    def centres(rows: Rows, count: int, weight: np.ndarray) -> np.ndarray:
        means = KMeans(count, n_init=3, random_state=random_state).fit(rows, None, weight)
        return np.asarray(means.cluster_centers_)

    if n_points <= len(sums):
        means = np.asarray(shares.T @ batch.X) / sums[:, None]
        if n_points == len(sums):
            return means
        return centres(means, count_distinct(means, n_points), sums)
    of_classes = sparse.csc_array(shares)
    members = np.split(of_classes.indices, of_classes.indptr[1:-1])
    most = np.array([count_distinct(batch.X[rows], n_points) for rows in members])
    counts = np.ones(len(sums), dtype=int)
    for _ in range(min(n_points, most.sum()) - len(sums)):  # to the class with most samples a cluster
        counts[np.argmax(np.where(counts < most, sums / counts, 0.0))] += 1
    parts = zip(members, counts, strict=True)
    return np.vstack([centres(batch.X[rows], count, weight[rows]) for rows, count in parts])
