"""Kernel ridge regression on drawn landmarks, with leave-one-out residuals and gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ..kernels import Kernel
from ..metric_learning.rounds import first_minimum
from .ridge import RidgePath

RIDGES = 10.0 ** np.arange(-8, 0.5, 0.5)
#: Where the width stands: a wider kernel with a smaller ridge asks for more digits than there are.
LAST_RIDGES = 10.0 ** np.arange(-10, 0.5, 0.5)
_JITTER = 1e-11  # of the mean of the diagonal of the landmarks' kernel matrix


@dataclass(frozen=True)
class LandmarkFit:
    """A kernel expansion on the first samples, which are in random order, for every ridge.

    The ridge penalises the norm of the function in the kernel's space.
    """

    kernel: Kernel
    landmarks: np.ndarray
    root: np.ndarray  # from kernel values to orthonormal coordinates in the kernel's space
    path: RidgePath
    residuals: np.ndarray  # (n_ridges, n, q), leave-one-out

    @classmethod
    def to(
        cls,
        kernel: Kernel,
        U: np.ndarray,
        Y: np.ndarray,
        weight: np.ndarray,
        n_landmarks: int,
        ridges: np.ndarray = RIDGES,
    ) -> LandmarkFit:
        landmarks = U[:n_landmarks]
        W = kernel.block(landmarks, landmarks)
        m = len(W)
        triangle = cholesky(W + _JITTER * np.trace(W) / m * np.eye(m))
        root = np.asarray(solve_triangular(triangle, np.eye(m)))
        path = RidgePath(kernel.block(U, landmarks) @ root, Y, weight)
        return cls(kernel, landmarks, root, path, path.left_out_residuals(ridges))

    @property
    def squares(self) -> np.ndarray:
        """Squared leave-one-out residuals, (n_ridges, n), summed over targets."""
        return np.einsum("rnq,rnq->rn", self.residuals, self.residuals)

    def gradient_products(
        self, U: np.ndarray, weight: np.ndarray, ridge: float, *, diagonal: bool
    ) -> np.ndarray:
        """Return the average outer product of gradients, or its diagonal, summed over targets."""
        coefficients = self.root @ self.path.head(ridge).coefficients
        gradients = self.kernel.sample_gradient(U, self.landmarks, coefficients)
        flat = (gradients * np.sqrt(weight / weight.sum())[:, None]).reshape(-1, U.shape[1])
        return (flat**2).sum(axis=0) if diagonal else flat.T @ flat


def best_ridge(errors: Sequence[float] | np.ndarray) -> int:
    """Return the number of the best ridge; of equals, the largest, which rounds least."""
    return len(errors) - 1 - first_minimum(errors[::-1])
