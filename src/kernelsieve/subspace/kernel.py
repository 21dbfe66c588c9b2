"""The subspace kernel as a function, for any kernel machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from ..exceptions import InvalidDataError
from ..kernels import Precomputed, Rows
from ..model import KernelModel


class SubspaceKernel:
    """``K_w(x, x')``, formula (14): the inner product of projections on a subspace.

    A function ``f(X, Z)`` that can be pickled and handed to any kernel machine of scikit-learn.

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

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        left = self._features(X)
        return left @ (left if Z is None else self._features(Z)).T

    def diag(self, X: Any) -> np.ndarray:
        """Return ``K_w(x, x)``."""
        features = self._features(X)
        return np.einsum("nk,nk->n", features, features)

    def _features(self, X: Any) -> np.ndarray:
        rows: Rows = check_array(X, accept_sparse="csr", dtype=np.float64)
        width = self._width
        if width is not None and rows.shape[1] != width:
            raise InvalidDataError(
                f"X has {rows.shape[1]} features, but the subspace kernel was learned on {width}."
            )
        return self._model.features(rows)

    @property
    def _width(self) -> int | None:
        return None if isinstance(self._model.kernel, Precomputed) else self._model.landmarks.shape[1]
