"""The subspace kernel as a callable, for any kernel machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from ..estimators import check_precomputed_columns
from ..exceptions import InvalidDataError
from ..kernels import Precomputed, Rows
from ..model import KernelModel


class SubspaceKernel:
    """The kernel ``K_w(x, x')``, formula (14): the inner product of projections onto a subspace.

    A function ``f(X, Z)`` that can be pickled and handed to any kernel machine of scikit-learn. Some,
    such as ``KernelRidge``, call it for one pair of samples at a time; ``kernel="precomputed"`` with
    ``f(X, X)`` is much faster there.

    Parameters
    ----------
    model : KernelModel
        Features along orthonormal directions.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from kernelsieve import SubspaceKernelFeatures
    >>> X, y = load_iris(return_X_y=True)
    >>> kernel = SubspaceKernelFeatures().fit(X, y).subspace_kernel_
    >>> bool(SVC(kernel=kernel).fit(X, y).score(X, y) > 0.95)
    True
    """

    def __init__(self, model: KernelModel) -> None:
        self._model = model

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray | float:
        if np.ndim(X) == 1 and np.ndim(Z) == 1:  # how pairwise_kernels asks
            return float(self._features([X])[0] @ self._features([Z])[0])
        left = self._features(X)
        return left @ (left if Z is None else self._features(Z)).T

    def diag(self, X: Any) -> np.ndarray:
        """Return ``K_w(x, x)``.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        features = self._features(X)
        return np.einsum("nk,nk->n", features, features)

    def _features(self, X: Any) -> np.ndarray:
        rows: Rows = check_array(X, accept_sparse="csr", dtype=np.float64)
        kernel, landmarks = self._model.kernel, self._model.landmarks
        if isinstance(kernel, Precomputed):
            check_precomputed_columns(rows, (kernel.n_columns, len(landmarks)), "the subspace kernel")
        elif rows.shape[1] != landmarks.shape[1]:
            raise InvalidDataError(
                f"X has {rows.shape[1]} features, but the subspace kernel was learned on "
                f"{landmarks.shape[1]}."
            )
        return self._model.features(rows)
