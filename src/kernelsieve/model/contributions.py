"""What landmarks contribute to scores: a score is a weighted sum of those of the landmarks."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from ..kernels import Kernel, Rows

_NOT_INTERPOLATED = 1e-6  # of the mean of the diagonal: directions as weak as this


def landmark_contributions(
    kernel: Kernel, landmarks: Rows, coefficients: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """Return contributions of shape (n_samples, n_landmarks, n_outputs).

    A function ``f = kernel(., Z) @ coefficients`` is determined by what it is at the landmarks:
    ``f(x) = w(x) f(Z)`` with the weights of interpolation ``w(x) = kernel(x, Z) W^-1``, where W is the
    kernel matrix of the landmarks. The products ``w_j(x) (f(z_j) - mean of f(Z))`` have the size of
    scores, where those of kernel values and coefficients are many times as large and cancel if the
    kernel is wide. ``values`` are the kernel values of samples and landmarks.

    Examples
    --------
    A landmark's own score depends on itself alone:

    >>> import numpy as np
    >>> from kernelsieve.kernels import RBF
    >>> from kernelsieve.model import landmark_contributions
    >>> kernel, Z, coefficients = RBF(0.1), np.array([[0.0], [1.0]]), np.array([[3.0], [-1.0]])
    >>> W = kernel.block(Z, Z)
    >>> landmark_contributions(kernel, Z, coefficients, W[:1])[0, :, 0].round(3) + 0.0
    array([0.19, 0.  ])
    """
    W = kernel.block(landmarks, landmarks)
    eigenvalues, vectors = eigh((W + W.T) / 2)
    weak = _NOT_INTERPOLATED * np.abs(np.diagonal(W)).mean()
    inverses = eigenvalues / (eigenvalues**2 + weak**2)  # of an indefinite kernel as well
    weights = (values @ vectors * inverses) @ vectors.T
    at_landmarks = W @ coefficients
    return weights[:, :, None] * (at_landmarks - at_landmarks.mean(axis=0))
