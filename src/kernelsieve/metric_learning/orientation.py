"""Principal axes that rotate with the samples, so that results are invariant to rotations.

A search of many steps makes rounding larger, and rounding depends on the orientation of the inputs. A
full metric is therefore learned along axes of the samples' own, where rotated inputs are the same
numbers to the last digit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from sklearn.utils.extmath import svd_flip

_BITS = 20  # of the largest spread, far more than a metric needs and far less than rounding spoils


@dataclass(frozen=True)
class Orientation:
    """Orthonormal axes as columns; the rows and columns of constant inputs are 0."""

    axes: np.ndarray

    @classmethod
    def from_samples(cls, X: np.ndarray) -> Orientation:
        """Compute the axes from fourth moments: second ones of white samples prefer no direction."""
        used = np.ptp(X, axis=0) > 0
        axes = np.zeros((len(used), len(used)))
        if not used.any():
            return cls(axes)
        centred = X[:, used] - X[:, used].mean(axis=0)
        far = centred * np.linalg.norm(centred, axis=1)[:, None]
        _, vectors = eigh(far.T @ far)
        _, turned = svd_flip(centred @ vectors, vectors.T)
        axes[np.ix_(used, used)] = turned.T
        return cls(axes)

    def coordinates(self, X: np.ndarray) -> np.ndarray:
        """Return the coordinates of samples along the axes, rounded."""
        U = X @ self.axes
        spread = U.std(axis=0).max()
        if spread == 0:  # the samples that were drawn are equal
            return U
        step = 2.0 ** (np.floor(np.log2(spread)) - _BITS)
        return np.round(U / step) * step

    def rotate_back(self, L: np.ndarray, *, symmetric: bool) -> np.ndarray:
        """Rotate a map of the coordinates back to the samples; symmetric maps stay symmetric."""
        if L.ndim == 1:
            return L  # the same for all axes
        return self.axes @ (L @ self.axes.T if symmetric else L)
