"""Explained variance: which share of the images' variance each feature adds to those before it."""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

_ADDITION = 1e-6  # of a vector; what is left of one that is nearly a combination of others is noise
_DEPENDENT = 1e-12  # of a squared length: less of a direction is left by others only through rounding
_INDEFINITE = -1e-8  # of directions of unit length: eigenvalues below are no rounding


def explained_variance_ratio(
    features: np.ndarray,
    total: float,
    lengths: np.ndarray | None = None,
    penalty: np.ndarray | None = None,
) -> np.ndarray:
    """Return the share of the images' variance that each direction adds to those before it.

    Parameters
    ----------
    features : ndarray of shape (N, k)
        Features along the directions, scaled by root weights and centred as the variance is, or any
        others with the same inner products.
    total : float
        Weighted sum of the squared lengths of the images, about their mean where features are centred.
    lengths : ndarray of shape (k, k), default=None
        Inner products of the directions in feature space; None where they are orthonormal.
    penalty : ndarray of shape (k, k), default=None
        The part of the features' inner products that is no variance, such as a ridge.

    Returns
    -------
    ndarray of shape (k,)
        Zero for a direction that depends linearly on those before it, and where there is no variance.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.model import explained_variance_ratio
    >>> features = np.array([[2.0, 2.0], [0.0, 1.0]])
    >>> explained_variance_ratio(features, 10.0, lengths=np.array([[1.0, 1.0], [1.0, 2.0]]))
    array([0.4, 0.1])
    """
    if not total > 0:
        return np.zeros(features.shape[1])
    if lengths is not None:
        directions = orthonormal_combinations(lengths, _DEPENDENT)
        features = features @ directions
        penalty = None if penalty is None else directions.T @ penalty @ directions
    captured = np.einsum("nk,nk->k", features, features)
    if penalty is not None:  # where it is nearly all, the rest may be below zero by rounding
        captured = np.maximum(captured - np.diagonal(penalty), 0.0)
    return captured / max(total, float(captured.sum()))  # a total from the candidates is an estimate


def is_indefinite(gram: np.ndarray) -> bool:
    """Tell if inner products are those of a kernel that is not positive definite."""
    sizes = np.sqrt(np.abs(np.diagonal(gram)))
    scales = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    scaled = gram * np.outer(scales, scales)
    return len(gram) > 0 and bool(np.linalg.eigvalsh(scaled)[0] < _INDEFINITE)


def orthonormal_combinations(gram: np.ndarray, tol: float = 1e-10) -> np.ndarray:
    """Return B, upper triangular, with ``B' gram B`` the identity; zero where nothing is added.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.model import orthonormal_combinations
    >>> orthonormal_combinations(np.array([[4.0, 4.0], [4.0, 4.0]]))
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    try:
        triangle = cholesky(gram)
        if (np.diagonal(triangle) ** 2 > tol * np.diagonal(gram)).all():
            return np.asarray(solve_triangular(triangle, np.eye(len(gram))))
    except LinAlgError:
        pass  # linearly dependent: one after another, then
    B = np.zeros_like(gram)
    for j, unit in enumerate(np.eye(len(gram))):
        rest = unit - B @ (B.T @ gram[:, j])
        rest -= B @ (B.T @ (gram @ rest))  # once more, against rounding
        squared = float(rest @ gram @ rest)
        if squared > tol * gram[j, j]:
            B[:, j] = rest / np.sqrt(squared)
    return B


def orthonormal_additions(vectors: np.ndarray) -> np.ndarray:
    """Return what each column adds to those before it, at unit length; zeros where it adds nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.model import orthonormal_additions
    >>> orthonormal_additions(np.array([[2.0, 3.0, 1.0], [0.0, 0.0, 1.0]]))
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """
    basis = np.zeros_like(vectors)
    for j, vector in enumerate(vectors.T):
        rest = vector.copy()
        for _ in range(2):
            rest -= basis[:, :j] @ (basis[:, :j].T @ rest)
        length = np.linalg.norm(rest)
        if length > _ADDITION * np.linalg.norm(vector):
            basis[:, j] = rest / length
    return basis
