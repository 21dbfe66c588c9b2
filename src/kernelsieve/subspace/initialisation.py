"""Initial directions and points of the subspace search."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, svds

from ..exceptions import InvalidParameterError
from ..kernels import Rows
from .centroids import by_contribution
from .images import Images, orthonormal, products

_DENSE_UP_TO = 500  # coordinates or samples
_RANK = 1e-7  # singular values, as a part of the largest
_SQUARED_RANK = 1e-12  # eigenvalues of inner products, as a part of their trace


def initial_directions(images: Images, init: str | np.ndarray, n_components: int) -> np.ndarray:
    """Return orthonormal initial directions; fewer if the images span fewer."""
    if not isinstance(init, str):
        directions = images.combinations(init)
    elif init == "koc":
        directions = images.centroids
    else:
        directions = pls_directions(images.rows, images.labels, n_components)
    basis = orthonormal(directions)
    if not isinstance(init, str) and basis.shape[1] == 0:
        raise InvalidParameterError(
            "init combines the candidates to nothing; it needs a column that is not zero. Pass another "
            "array, or init='koc'."
        )
    if basis.shape[1] > n_components:  # of the centroids' span, what separates classes best
        rotation = by_contribution(np.asarray(images.rows @ basis), images.labels)
        return np.asarray(basis @ rotation[:, :n_components])
    missing = n_components - basis.shape[1]
    return np.hstack([basis, principal_rest(images.rows, basis, missing)]) if missing else basis


def pls_directions(rows: Rows, labels: Rows, n_components: int) -> np.ndarray:
    """Return partial least squares directions with left deflation, by products only.

    Each is the direction whose feature has the largest covariance with what the features before it
    leave of the labels.
    """
    directions: list[np.ndarray] = []
    features = np.empty((rows.shape[0], 0))
    with_labels = left = products(rows, labels)
    for _ in range(n_components):
        vectors, sizes, _ = np.linalg.svd(left, full_matrices=False)
        feature = np.asarray(rows @ vectors[:, 0])
        rest = feature - features @ (features.T @ feature)
        rest -= features @ (features.T @ rest)
        if not np.linalg.norm(rest) > _RANK * np.linalg.norm(feature) or not sizes[0] > 0:
            break
        directions.append(vectors[:, 0])
        features = np.column_stack([features, rest / np.linalg.norm(rest)])
        left = with_labels - np.asarray(rows.T @ features) @ (features.T @ labels)
    return np.array(directions).reshape(len(directions), rows.shape[1]).T


def principal_rest(rows: Rows, basis: np.ndarray, n_components: int) -> np.ndarray:
    """Return the principal directions of the complement of a basis."""

    def without(values: np.ndarray) -> np.ndarray:
        return values - basis @ (basis.T @ values)

    n, r = rows.shape
    if min(n, r) <= max(_DENSE_UP_TO, 2 * n_components):
        if sparse.issparse(rows):
            return _sparse_rest(rows, basis, n_components)
        sizes, vectors = np.linalg.svd(without(rows.T).T, full_matrices=False)[1:]
        kept = sizes[:n_components] > _RANK * np.linalg.norm(rows)
        return np.asarray(vectors[:n_components][kept].T)
    operator = LinearOperator(
        (n, r),
        matvec=lambda v: rows @ without(v.reshape(r, -1)),
        rmatvec=lambda u: without(rows.T @ u.reshape(n, -1)),
        dtype=np.float64,
    )
    first = np.full(min(n, r), 1 / np.sqrt(min(n, r)))
    _, sizes, vectors = svds(operator, k=n_components, v0=first)
    order = np.argsort(-sizes)
    kept = sizes[order] > _RANK * sizes.max()
    return np.asarray(vectors[order][kept].T)


def _sparse_rest(rows: sparse.csr_matrix, basis: np.ndarray, n_components: int) -> np.ndarray:
    """Return the same for few samples or few features, from the smaller Gram matrix."""
    n, r = rows.shape
    if n <= r:
        along = np.asarray(rows @ basis)
        values, vectors = np.linalg.eigh((rows @ rows.T).toarray() - along @ along.T)
    else:
        outside = np.eye(r) - basis @ basis.T
        values, vectors = np.linalg.eigh(outside @ (rows.T @ rows).toarray() @ outside)
    # eigenvalues are squares, known to half as many digits
    kept = values[::-1][:n_components] > _SQUARED_RANK * sparse.linalg.norm(rows) ** 2
    vectors = vectors[:, ::-1][:, :n_components][:, kept]
    directions = np.asarray(rows.T @ vectors) if n <= r else vectors
    directions = directions - basis @ (basis.T @ directions)
    return np.linalg.qr(directions / np.linalg.norm(directions, axis=0))[0]
