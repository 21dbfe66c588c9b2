"""Largest eigenvalues of a symmetric operator by randomised block Krylov iteration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import eigh, qr
from sklearn.exceptions import ConvergenceWarning

from ..exceptions import warn

_EXTRA = 10  # vectors in a block beyond those asked for
_MOST_BLOCKS = 30
_RESIDUAL = 1e-13  # of the largest eigenvalue, at which an eigenvector is found


def krylov_eigenpairs(
    multiply: Callable[[np.ndarray], np.ndarray],
    n: int,
    k: int,
    random_state: np.random.RandomState,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the k largest eigenvalues with eigenvectors, given a function that multiplies blocks.

    Musco and Musco (2015): the best approximation within the span of ``S V, S^2 V, ...`` for random
    V, which needs far fewer products than powers of S alone. Blocks are added until every residual
    ``S v - lambda v`` is at the level of rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.latent.eigen import krylov_eigenpairs
    >>> S = np.diag(1.0 / np.arange(1, 201) ** 2)
    >>> values, _ = krylov_eigenpairs(S.dot, 200, 2, np.random.RandomState(0))
    >>> values.round(6)
    array([1.  , 0.25])
    """
    width = min(n, k + _EXTRA)
    block = qr(random_state.standard_normal((n, width)), mode="economic")[0]
    basis, products = np.empty((n, 0)), np.empty((n, 0))
    for _ in range(_MOST_BLOCKS):
        basis = np.hstack([basis, block])
        products = np.hstack([products, multiply(block)])
        small = basis.T @ products
        values, mixes = eigh((small + small.T) / 2)
        values, mixes = values[: -k - 1 : -1], mixes[:, : -k - 1 : -1]
        vectors = basis @ mixes
        residuals = np.linalg.norm(products @ mixes - vectors * values, axis=0)
        block = _orthonormal_rest(products[:, -block.shape[1] :], basis)
        if residuals.max() <= _RESIDUAL * abs(values[0]) or block.shape[1] == 0:
            return values, vectors
    warn(
        f"The eigenvectors still change by {residuals.max() / abs(values[0]):.1e} of the largest "
        "eigenvalue; pass eigen_solver='dense', or lower n_components.",
        ConvergenceWarning,
    )
    return values, vectors


def _orthonormal_rest(block: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """Orthogonalise a block against a basis, and return an orthonormal basis of the rest."""
    size = np.linalg.norm(block, axis=0).max()
    for _ in range(2):
        block = block - basis @ (basis.T @ block)
    if basis.shape[1] + block.shape[1] > len(block):
        block = block[:, : len(block) - basis.shape[1]]
    rest, triangle, _ = qr(block, mode="economic", pivoting=True)
    found = np.abs(np.diagonal(triangle)) > 1e-14 * size
    rest = rest[:, found]
    return rest - basis @ (basis.T @ rest)
