"""How kernel values change when a landmark moves: for methods that learn where landmarks are."""

from __future__ import annotations

import numpy as np

from ..exceptions import InvalidParameterError
from .base import Kernel, Rows, as_dtype
from .distances import RBF
from .products import Linear, Polynomial


def landmark_gradient(
    kernel: Kernel, X: Rows, Z: np.ndarray, values: np.ndarray, slopes: np.ndarray
) -> np.ndarray:
    """Return the derivative, with respect to landmarks ``Z``, of a function of kernel values.

    Parameters
    ----------
    kernel : Linear, Polynomial or RBF
        The kernel.
    X : array or CSR matrix of shape (n, d)
        Rows.
    Z : ndarray of shape (m, d)
        Landmarks.
    values : ndarray of shape (n, m)
        Kernel values ``k(x, z)``.
    slopes : ndarray of shape (n, m)
        The function's derivative with respect to them.

    Returns
    -------
    ndarray of shape (m, d)

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.kernels import RBF, landmark_gradient
    >>> X, Z = np.array([[1.0], [3.0]]), np.array([[2.0]])
    >>> landmark_gradient(RBF(0.5), X, Z, RBF(0.5).block(X, Z), np.ones((2, 1)))
    array([[0.]])
    """
    X = as_dtype(X, np.float64)
    if isinstance(kernel, RBF):
        pull = slopes * values
        return 2 * kernel.gamma * (np.asarray((X.T @ pull).T) - pull.sum(axis=0)[:, None] * Z)
    if isinstance(kernel, Linear):
        return np.asarray((X.T @ slopes).T)
    if isinstance(kernel, Polynomial):
        inner = np.asarray(X @ Z.T) * kernel.gamma + kernel.coef0
        outer = slopes * kernel.degree * inner ** (kernel.degree - 1)
        return kernel.gamma * np.asarray((X.T @ outer).T)
    raise InvalidParameterError(
        f"kernel={type(kernel).__name__.lower()!r} has no derivative here by which landmarks could be "
        "moved; pass 'rbf', 'poly' or 'linear'."
    )
