"""Principal axes that rotate with the samples, so that results are invariant to rotations.

A search of many steps makes rounding larger, and rounding depends on the orientation of the inputs. A
full metric is therefore learned along axes of the samples' own, where rotated inputs are the same
numbers to the last digit.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from sklearn.utils.extmath import svd_flip

_BITS = 20  # of the largest spread, far more than a metric needs and far less than rounding spoils


def own_axes(X: np.ndarray) -> np.ndarray:
    """Return orthonormal axes of the samples as columns; rows and columns of constant inputs are 0.

    They are by fourth moments: second ones of white samples prefer no direction.
    """
    used = np.ptp(X, axis=0) > 0
    axes = np.zeros((len(used), len(used)))
    if not used.any():
        return axes
    centred = X[:, used] - X[:, used].mean(axis=0)
    far = centred * np.linalg.norm(centred, axis=1)[:, None]
    _, vectors = eigh(far.T @ far)
    _, turned = svd_flip(centred @ vectors, vectors.T)
    axes[np.ix_(used, used)] = turned.T
    return axes


def along_axes(X: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Return the coordinates of samples along the axes, rounded."""
    U = X @ axes
    spread = U.std(axis=0).max()
    if spread == 0:  # the samples that were drawn are equal
        return U
    step = 2.0 ** (np.floor(np.log2(spread)) - _BITS)
    return np.round(U / step) * step
