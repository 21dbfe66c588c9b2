"""Largest eigenvalues of a symmetric matrix."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from ..data import single_threaded_blas


def leading_eigenpairs(symmetric: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k largest eigenvalues, largest first, and their eigenvectors as columns.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.deflation.eigen import leading_eigenpairs
    >>> leading_eigenpairs(np.diag([1.0, 3.0, 2.0]), 2)[0]
    array([3., 2.])
    """
    n = len(symmetric)
    k = min(k, n)
    with single_threaded_blas.lifted_for(n, n):
        values, vectors = eigh(symmetric, subset_by_index=[n - k, n - 1])
        if len(values) < k:  # LAPACK leaves out pairs of a subset where very many eigenvalues are close
            values, vectors = eigh(symmetric)
    return values[: -k - 1 : -1], vectors[:, : -k - 1 : -1]
