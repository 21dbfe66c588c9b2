"""Explained variance: which share of the images' variance each feature adds to those before it."""

from __future__ import annotations

import numpy as np

_ADDITION = 1e-6  # of a vector; what is left of one that is nearly a combination of others is noise


def variance_of_coordinates(
    features: np.ndarray, means: np.ndarray, total_weight: float, trace: float
) -> np.ndarray:
    """Return the share of the images' variance along each of several orthonormal directions.

    ``features`` may lack their ``means``; ``trace`` is the weighted sum of squared lengths.
    """
    captured = np.einsum("nk,nk->k", features, features) + total_weight * means**2
    return share(captured, trace)


def share(captured: np.ndarray, total: float) -> np.ndarray:
    """Return parts of a whole; NaN where there is no whole."""
    return captured / total if total > 0 else np.full(len(captured), np.nan)


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
