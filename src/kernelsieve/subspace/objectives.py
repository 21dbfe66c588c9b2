"""Objectives for subspaces, functions of the inner products of features."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy import sparse

from ..kernels import Rows


class Objective(ABC):
    """An objective to maximise over subspaces.

    Features are coordinates in an orthonormal basis of the subspace, one row a sample, scaled by
    the root of its weight. The number must not change when the basis is rotated.
    """

    @abstractmethod
    def value_and_slope(self, features: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the value, and its derivative by the features."""


class TargetAlignment(Objective):
    """Kernel-target alignment of the feature kernel, formula (17) of Wu and Farquhar.

    ``<K_w, K_y>`` and ``<K_w, K_w>`` are sums of squares of inner products between features and labels,
    (21), and between features, (22): no n x n matrix is formed.
    """

    def __init__(self, labels: Rows) -> None:
        self._labels = labels
        gram = labels.T @ labels
        self._size = float(sparse.linalg.norm(gram) if sparse.issparse(gram) else np.linalg.norm(gram))

    def value_and_slope(self, features: np.ndarray) -> tuple[float, np.ndarray]:
        largest = np.abs(features).max(initial=0.0)
        if largest == 0:
            return 0.0, np.zeros_like(features)
        features = features / largest  # the value has no scale, and fourth powers vanish early
        with_labels = features.T @ self._labels
        gram = features.T @ features
        size = float(np.linalg.norm(gram))
        value = float(np.sum(with_labels**2)) / (size * self._size)
        slope = self._labels @ with_labels.T * (2 / (size * self._size))
        slope -= features @ gram * (2 * value / size**2)
        return value, slope / largest

    def prefixes(self, features: np.ndarray) -> np.ndarray:
        """Return the alignment of the first 1, 2, ..., k features."""
        return np.array(
            [self.value_and_slope(features[:, : j + 1])[0] for j in range(features.shape[1])]
        )
