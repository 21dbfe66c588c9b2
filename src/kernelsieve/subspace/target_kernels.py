"""Target kernels K_y for the alignment, from codings of the classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import InvalidParameterError
from ..kernels import Rows

CODINGS = ("indicators", "signs", "balanced")
_ROUNDING = 1e-10  # of the largest entry, or eigenvalue


def coded_labels(labels: Rows, coding: str) -> Rows:
    """Return F with ``K_y = F F'`` for class indicators, scaled by root weights.

    "indicators" is 1 for two samples of a class and 0 otherwise, "signs" 1 and ``-1 / (c - 1)``, which
    is -1 for two classes, and "balanced" one over the weight of the class and 0.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.subspace.target_kernels import coded_labels
    >>> F = coded_labels(np.eye(2)[[0, 0, 1]], "signs")
    >>> (F @ F.T).round(12)
    array([[ 1.,  1., -1.],
           [ 1.,  1., -1.],
           [-1., -1.,  1.]])
    """
    if coding == "indicators":
        return labels
    if coding == "balanced":
        lengths = np.sqrt(np.asarray((labels * labels).sum(axis=0)))
        return labels / lengths
    n_classes = labels.shape[1]
    simplex = np.eye(n_classes) - 1 / n_classes
    return labels @ simplex * np.sqrt(n_classes / (n_classes - 1))


def checked_target_kernel(matrix: Any, n_samples: int) -> np.ndarray:
    """Return a given K_y; raise an error unless it is symmetric, finite and nonzero."""
    K_y = np.asarray(matrix, dtype=np.float64)
    size = np.abs(K_y).max(initial=0.0)
    if K_y.shape != (n_samples, n_samples) or not np.isfinite(size) or not size > 0:
        raise InvalidParameterError(
            f"target_kernel has shape {K_y.shape}; it must be finite, not zero, and have a row and a "
            f"column for each of the {n_samples} samples. Pass such a matrix, or one of "
            f"{', '.join(map(repr, CODINGS))}."
        )
    if np.abs(K_y - K_y.T).max() > _ROUNDING * size:
        raise InvalidParameterError(
            f"target_kernel is not symmetric: entries differ by {np.abs(K_y - K_y.T).max():g}; pass "
            "(M + M.T) / 2."
        )
    return K_y


def factor(K_y: np.ndarray) -> np.ndarray:
    """Return F with ``F F' = K_y``; raise an error for negative eigenvalues."""
    values, vectors = np.linalg.eigh(K_y)
    if values[0] < -_ROUNDING * values[-1]:
        raise InvalidParameterError(
            f"target_kernel has the eigenvalue {values[0]:g}; it must be positive semidefinite. Add "
            "that much to its diagonal, or pass one of "
            f"{', '.join(map(repr, CODINGS))}."
        )
    kept = values > _ROUNDING * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])
