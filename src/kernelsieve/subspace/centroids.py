"""Class centroids in feature space, or stand-ins for them, and features in their span."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from sklearn.cluster import KMeans

from ..data import Batch, Pool, draw_random, total_weight, weighted_sum
from ..deflation import Outcome
from ..exceptions import InvalidDataError
from ..fitting import Settings, diagonal_of, row_columns
from ..kernels import Kernel, Linear, Rows
from ..model import (
    Fit,
    KernelModel,
    explained_variance_ratio,
    orthonormal_additions,
    signs_of_largest,
)
from .images import (
    Images,
    Labelled,
    independent,
    input_images,
    labelled,
    orthonormal,
    present_classes,
    products,
    squared_lengths,
    whiten,
)

_INDEPENDENT = 1e-12  # of the largest eigenvalue of the centroids' kernel matrix at unit diagonal
_ALL_ZERO = (
    "No feature could be found: the centroids of all classes are zero. Look for samples of zeros, or "
    "another kernel."
)
_CLUSTERED = 1000  # samples of a class that span the space in which it is clustered


#: From combinations, as columns, to the model and the numbers of its landmarks.
Combine = Callable[[np.ndarray], tuple[KernelModel, np.ndarray]]


@dataclass(frozen=True)
class Centroids(Labelled):
    """One centroid, or stand-in, for each class, in an orthonormal basis of their span."""

    features: np.ndarray  # Q, (N, k): the samples, scaled by root weights
    own: np.ndarray  # R', (c, k): the centroids themselves
    model: Combine  # of the basis

    def outcome(self, found: int, wanted: int | None) -> str:
        """Return whether linearly dependent centroids leave fewer features than requested."""
        return Outcome.COMPLETE if found == (wanted or len(self.own)) else Outcome.CENTROIDS


def class_centroids(images: Images) -> Centroids:
    """Return the class centroids of images."""
    C = images.centroids
    # From the centroids and not from their inner products, which know them to half the digits.
    basis = orthonormal(C)
    if basis.shape[1] == 0:
        raise InvalidDataError(_ALL_ZERO)
    known = (images.labels, images.total_weight, images.trace)
    features = np.asarray(images.rows @ basis)
    return Centroids(*known, features, C.T @ basis, lambda B: images.model(basis @ B))


def _from_inner_products(
    known: Labelled, values: np.ndarray, gram: np.ndarray, model: Combine
) -> Centroids:
    """Return centroids from inner products with the samples, and among themselves.

    ``model`` combines them.
    """
    gram = (gram + gram.T) / 2
    lengths = np.sqrt(np.maximum(gram.diagonal(), 0.0))
    scales = 1 / np.where(lengths > 0, lengths, 1.0)
    sizes, vectors = eigh(gram * np.outer(scales, scales))
    if not sizes[-1] > 0:
        raise InvalidDataError(_ALL_ZERO)
    kept = sizes > _INDEPENDENT * sizes[-1]
    basis = scales[:, None] * vectors[:, kept] / np.sqrt(sizes[kept])
    fields = (known.labels, known.total_weight, known.trace, values @ basis, gram @ basis)
    return Centroids(*fields, lambda B: model(basis @ B))


def exact_centroids(batch: Batch, kernel: Kernel, settings: Settings) -> Centroids:
    """Return class centroids as combinations of all samples; a large K is not stored."""
    everyone = np.arange(len(batch))
    pool = Pool(kernel.points(batch.X, everyone), everyone)
    columns = row_columns(batch, kernel, pool, settings, everyone=True, center=False)
    root = batch.root_weight[:, None]
    labels = present_classes(batch.Y * root)
    averages = labels / squared_lengths(labels)
    values = root * columns.inner(averages)
    trace = weighted_sum(diagonal_of(columns, batch), batch)
    known = Labelled(labels, total_weight(batch), trace)

    def model(B: np.ndarray) -> tuple[KernelModel, np.ndarray]:
        first_use = np.zeros(len(batch), dtype=np.intp)
        dual = root * averages @ B  # M B
        return KernelModel(kernel, pool.points, dual, np.zeros(B.shape[1]), first_use), pool.indices

    return _from_inner_products(known, values, averages.T @ values, model)


def mean_images(batch: Batch, kernel: Kernel, n_jobs: int | None) -> Centroids:
    """Return the images of the class means of X, which cost one kernel evaluation each."""
    if isinstance(kernel, Linear):  # then they are the centroids
        return class_centroids(input_images(batch))
    root = batch.root_weight[:, None]
    known = Labelled(*labelled(batch, weighted_sum(kernel.diag(batch.X), batch)))
    averages = sparse.csr_array(known.labels / known.class_sums).multiply(root)
    means = averages.T @ batch.X
    if sparse.issparse(batch.X):
        means = sparse.csr_matrix(means)

    def model(B: np.ndarray) -> tuple[KernelModel, np.ndarray]:
        first_use = np.zeros(len(B), dtype=np.intp)
        return KernelModel(kernel, means, B, np.zeros(B.shape[1]), first_use), np.full(len(B), -1)

    values = root * model(np.eye(means.shape[0]))[0].features(batch.X, n_jobs)
    return _from_inner_products(known, values, kernel.block(means, means), model)


def by_contribution(features: np.ndarray, labels: Rows) -> np.ndarray:
    """Return a rotation that sorts features by their contribution to ``<K_w, K_y>``.

    That is a sum over features, formula (21), and this rotation makes its first terms as large as can
    be. Features that add nothing come last, those of large variance first.
    """
    sums = products(features, labels)
    rotation, sizes, _ = np.linalg.svd(sums, full_matrices=len(sums) > sums.shape[1])
    rank = int(np.count_nonzero(sizes > 1e-10 * sizes.max(initial=0.0)))
    rest = features @ rotation[:, rank:]
    rotation[:, rank:] = rotation[:, rank:] @ np.linalg.eigh(rest.T @ rest)[1][:, ::-1]
    return rotation


def make_fit(
    model: KernelModel,
    indices: np.ndarray,
    features: np.ndarray,
    captured: np.ndarray,
    known: Labelled,
    criterion_path: np.ndarray,
    outcome: str,
) -> Fit:
    """Fix the signs of the features, and return the fit of a subspace.

    ``features`` are those of the samples, ``captured`` the same along what each direction adds to those
    before it, at unit length.
    """
    signs = _signs(features, model.projection, known)
    explained = orthonormal_additions(features).T @ known.labels
    return Fit(
        model=replace(model, projection=model.projection * signs),
        landmark_indices=indices,
        criterion_path=criterion_path,
        explained_variance_ratio=explained_variance_ratio(captured, known.trace),
        explained_target_ratio=np.einsum("kc,kc->k", explained, explained) / known.total_weight,
        outcome=outcome,
    )


def _signs(features: np.ndarray, projection: np.ndarray, known: Labelled) -> np.ndarray:
    """Return signs that make the largest class covariance positive; else the mean, or the weight."""
    sums = features.T @ known.labels
    covariances = sums - np.outer(sums.sum(axis=1), known.class_sums) / known.total_weight
    negligible = 1e-8 * np.sqrt(known.total_weight) * np.linalg.norm(features, axis=0)
    choices = zip(covariances, sums, projection.T, negligible, strict=True)
    return np.array(
        [
            signs_of_largest(next(x for x in (a, b, c) if np.abs(x).max() > floor or x is c)[None])[0]
            for a, b, c, floor in choices
        ]
    )


def clusters_as_labels(
    batch: Batch, kernel: Kernel, n_clusters: int, random_state: np.random.RandomState
) -> np.ndarray:
    """Return cluster labels: k-means within each class, on the images in feature space."""
    of_rows = batch.Y.argmax(axis=1) if batch.codes is None else batch.codes
    clusters, n_found = np.empty(len(batch), np.intp), 0
    order = np.argsort(of_rows, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(of_rows[order])) + 1):
        rows = _coordinates(batch, kernel, members, random_state)
        count = count_distinct(rows, n_clusters)
        weight = None if batch.weight is None else batch.weight[members]
        means = KMeans(count, n_init=3, random_state=random_state).fit(rows, sample_weight=weight)
        found, codes = np.unique(means.labels_, return_inverse=True)
        clusters[members] = n_found + codes
        n_found += len(found)
    return clusters


def _coordinates(
    batch: Batch, kernel: Kernel, members: np.ndarray, random_state: np.random.RandomState
) -> Rows:
    """Return coordinates with the distances of the images in feature space."""
    if isinstance(kernel, Linear):
        return batch.X[members]
    weight = None if batch.weight is None else batch.weight[members]
    some = draw_random(len(members), min(len(members), _CLUSTERED), random_state, weight)
    points = kernel.points(batch.X, members[some])
    factor, chosen = independent(kernel.block(batch.X[members[some]], points))
    return whiten(kernel.block(batch.X[members], points[chosen]), factor, chosen)


def count_distinct(rows: Rows, most: int) -> int:
    """Count distinct samples, up to ``most``; there cannot be more clusters."""
    seen: set[bytes] = set()
    for i in range(rows.shape[0]):
        row = rows[[i]]
        parts = (row.indices, row.data) if sparse.issparse(row) else (row,)
        seen.add(b"".join(np.ascontiguousarray(part).tobytes() for part in parts))
        if len(seen) == most:
            break
    return len(seen)
