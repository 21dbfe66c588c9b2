"""Images of samples in feature space: coordinates in an orthonormal basis of the candidates' span.

Everything that depends on features through inner products can be written in such coordinates, whatever
the kernel is. Directions are columns V of numbers, features are ``rows @ V``, and lengths and angles of
directions are those of V.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import lapack, solve_triangular

from ..data import Batch, Labels, Pool, total_weight, trace_of, weighted_sum
from ..deflation import store_columns
from ..exceptions import InvalidDataError, InvalidParameterError, KernelError
from ..kernels import Kernel, Linear, Rows
from ..model import KernelModel, signs_of_largest

_INDEPENDENT = 1e-10  # of the largest k(z, z): what a candidate must add to those before it
_SEPARATE = 1e-9  # of the largest singular value of directions at unit length


@dataclass(frozen=True)
class Labelled:
    """Class indicators, total weight and total k(x, x) of the samples.

    In place of the n samples there may be any others with the same inner products.
    """

    labels: Rows  # Y, (N, c): indicators, scaled by root weights; every class occurs
    total_weight: float
    trace: float  # weighted sum of k(x, x)

    def __post_init__(self) -> None:
        if not np.isfinite(self.trace):
            raise KernelError(
                f"The sum of k(x, x) over samples is {self.trace:g}; scale X, or lower degree."
            )
        if not abs(self.trace) > np.finfo(float).tiny * self.total_weight:
            raise InvalidDataError(
                f"No feature could be found: the sum of k(x, x) over the samples is {self.trace:g}. "
                "Look for samples of zeros, scale X up, or use another kernel."
            )

    @property
    def class_sums(self) -> np.ndarray:
        """Weighted number of samples of each class."""
        return squared_lengths(self.labels)


@dataclass(frozen=True)
class Images(Labelled):
    """Coordinates of the samples, scaled by root weights."""

    kernel: Kernel
    rows: Rows  # (N, r), dense or CSR

    @property
    def centroids(self) -> np.ndarray:
        """Mean image of each class, as columns."""
        return products(self.rows, self.labels) / self.class_sums

    @abstractmethod
    def model(self, V: np.ndarray) -> tuple[KernelModel, np.ndarray]:
        """Return the model with features along V, and the indices of its landmarks."""

    @abstractmethod
    def combinations(self, W: np.ndarray) -> np.ndarray:
        """Convert combinations of the candidates' images to directions, formula (2)."""


@dataclass(frozen=True)
class InputImages(Images):
    """Images under the linear kernel: coordinates are the features of X, landmarks the directions."""

    unweighted: Rows | None = None  # the samples as they were given, where they are at hand

    def model(self, V: np.ndarray) -> tuple[KernelModel, np.ndarray]:
        k = V.shape[1]
        signs = signs_of_largest(V.T)
        landmarks = np.ascontiguousarray((V * signs).T)
        model = KernelModel(self.kernel, landmarks, np.diag(signs), np.zeros(k), np.arange(k))
        return model, np.full(k, -1)

    def combinations(self, W: np.ndarray) -> np.ndarray:
        if self.unweighted is None:
            raise InvalidParameterError(
                "init as an array combines the training samples, which are not kept out of "
                "core; pass init='koc' or 'kpls', or candidates as an array of points."
            )
        return np.asarray(self.unweighted.T @ checked_start(W, self.unweighted.shape[0]))


@dataclass(frozen=True)
class CandidateImages(Images):
    """Images under any kernel, projected onto the span of the candidates.

    ``factor`` is a pivoted Cholesky factor of the candidates' kernel matrix, ``W = factor' factor``:
    their own coordinates. Those in ``chosen`` span all, and their part of it is triangular.
    """

    pool: Pool
    factor: np.ndarray  # (r, m)
    chosen: np.ndarray  # (r,)

    def model(self, V: np.ndarray) -> tuple[KernelModel, np.ndarray]:
        used = self.pool[self.chosen]
        projection = solve_triangular(self.factor[:, self.chosen], V)
        k = V.shape[1]
        first_use = np.zeros(len(used), dtype=np.intp)
        return KernelModel(self.kernel, used.points, projection, np.zeros(k), first_use), used.indices

    def combinations(self, W: np.ndarray) -> np.ndarray:
        return self.factor @ checked_start(W, self.factor.shape[1])


def labelled(batch: Batch, trace: float) -> tuple[Rows, float, float]:
    """Return the fields of :class:`Labelled` for a batch."""
    labels = present_classes(class_columns(batch, batch.root_weight))
    return labels, total_weight(batch), trace


def class_columns(batch: Batch, factors: np.ndarray) -> Rows:
    """Return class indicators scaled by a factor for each sample; CSR if there are many classes."""
    targets = batch.targets
    if not isinstance(targets, Labels):
        return targets * factors[:, None]
    ends, shape = np.arange(len(batch) + 1), (len(batch), targets.n_classes)
    return sparse.csr_array((factors, targets.codes, ends), shape=shape)


def products(rows: Rows, labels: Rows) -> np.ndarray:
    """Return ``rows' labels`` as a dense array."""
    found = rows.T @ labels
    return found.toarray() if sparse.issparse(found) else np.asarray(found)


def input_images(batch: Batch) -> InputImages:
    """Return images under the linear kernel; CSR input stays sparse."""
    rows = batch.X.astype(np.float64, copy=False)
    kernel, root = Linear(), batch.root_weight
    if batch.weight is not None:
        rows = rows.multiply(root[:, None]).tocsr() if sparse.issparse(rows) else rows * root[:, None]
    trace = weighted_sum(kernel.diag(batch.X), batch)
    return InputImages(*labelled(batch, trace), kernel, rows, unweighted=batch.X)


def row_images(batch: Batch, kernel: Kernel, max_memory: float, n_jobs: int | None) -> CandidateImages:
    """Return exact images, with all samples as candidates."""
    n = len(batch)
    needed = 3 * 8 * n * n  # the matrix, its factor, and the coordinates
    if needed > max_memory:
        raise InvalidParameterError(
            f"candidates='all' takes {needed / 2**20:.0f} MB for {n} samples, and max_memory is "
            f"{max_memory / 2**20:.0f} MB; pass candidates as a number, or raise it by config_context."
        )
    everyone = np.arange(n)
    pool = Pool(kernel.points(batch.X, everyone), everyone)
    unweighted = replace(batch, weight=None)
    W = store_columns(unweighted, kernel, pool.points, center=False, n_jobs=n_jobs).values
    trace = weighted_sum(W.diagonal(), batch)
    factor, chosen = independent(W)
    rows = factor.T * batch.root_weight[:, None]
    return CandidateImages(*labelled(batch, trace), kernel, rows, pool, factor, chosen)


def projected_images(
    batch: Batch, kernel: Kernel, pool: Pool, W: np.ndarray, n_jobs: int | None
) -> CandidateImages:
    """Return all samples projected onto the span of a pool, for objectives that need the samples."""
    factor, chosen = independent(W)
    columns = store_columns(batch, kernel, pool.points[chosen], center=False, n_jobs=n_jobs).values
    trace = trace_of(kernel, batch, W.diagonal())
    rows = whiten(columns, factor, chosen)
    return CandidateImages(*labelled(batch, trace), kernel, rows, pool, factor, chosen)


def independent(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Factorise a kernel matrix, ``W = factor' factor``; return independent columns, too."""
    if not np.isfinite(W).all():
        raise KernelError("Kernel values are not all finite; scale X, or lower degree.")
    largest = W.diagonal().max()
    if not largest > 0:
        raise InvalidDataError(
            f"No feature could be found: k(z, z) is at most {largest:g} for the candidates. Look for "
            "samples of zeros, scale X up, or use another kernel."
        )
    upper, pivots, rank, _ = lapack.dpstrf(W, lower=0, tol=_INDEPENDENT * largest)
    order = pivots.astype(np.intp) - 1
    factor = np.empty((rank, len(W)))
    factor[:, order] = np.triu(upper)[:rank]
    return factor, order[:rank]


def whiten(columns: np.ndarray, factor: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Convert kernel columns of the independent candidates to orthonormal coordinates."""
    return solve_triangular(factor[:, chosen], columns.T, trans="T").T


def orthonormal(directions: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the span; linearly dependent directions are dropped."""
    largest = np.abs(directions).max(axis=0, initial=0.0)
    scaled = directions[:, largest > 0] / largest[largest > 0]  # squares of small numbers would vanish
    if scaled.shape[1] == 0:
        return scaled
    basis, sizes, _ = np.linalg.svd(scaled / np.linalg.norm(scaled, axis=0), full_matrices=False)
    return np.asarray(basis[:, sizes > _SEPARATE * sizes[0]])


def squared_lengths(labels: Rows) -> np.ndarray:
    """Return the squared norm of each column."""
    if sparse.issparse(labels):
        return np.asarray(labels.power(2).sum(axis=0)).ravel()
    return np.einsum("nc,nc->c", labels, labels)


def present_classes(labels: Rows) -> Rows:
    """Return the columns of the classes that occur; raise an error for fewer than two."""
    sums = squared_lengths(labels)
    present = sums > 1e-13 * sums.sum()  # a triangular factor leaves rounding where a class is empty
    if np.count_nonzero(present) < 2:
        raise InvalidDataError(
            "y is constant, or of one class, in the samples that count; at least 2 classes are needed. "
            "Check the target column and the sample weights."
        )
    return labels[:, present]


def checked_start(W: np.ndarray, n_candidates: int) -> np.ndarray:
    """Raise an error if the rows of an initialisation do not match the candidates."""
    W = np.asarray(W, dtype=np.float64)
    if W.ndim != 2 or len(W) != n_candidates or not np.isfinite(W).all():
        raise InvalidParameterError(
            f"init has shape {W.shape}; it must be finite numbers with one row for each of the "
            f"{n_candidates} candidates and one column for each direction."
        )
    return W
