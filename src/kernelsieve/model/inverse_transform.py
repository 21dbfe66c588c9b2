"""Back from features to inputs, by kernel ridge regression."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import solve

from ..kernels import Kernel


@dataclass
class PreImages:
    """Kernel ridge regression of inputs on features, solved for the first j features when asked.

    Bakir, Weston and Schoelkopf (2004): the kernel of the inputs serves for the features as well.
    """

    kernel: Kernel
    inputs: np.ndarray  # of the anchors, (m, d)
    features: np.ndarray  # (m, k)
    alpha: float
    _dual: dict[int, np.ndarray] = field(default_factory=dict)

    def __call__(self, features: np.ndarray) -> np.ndarray:
        j = features.shape[1]
        return self.kernel.block(features, self._anchors(j)) @ self._solve(j)

    def _anchors(self, j: int) -> np.ndarray:
        return np.ascontiguousarray(self.features[:, :j])

    def _solve(self, j: int) -> np.ndarray:
        if j not in self._dual:
            anchors = self._anchors(j)
            matrix = self.kernel.block(anchors, anchors)
            matrix.flat[:: len(matrix) + 1] += self.alpha
            self._dual[j] = solve(matrix, self.inputs, assume_a="sym")
        return self._dual[j]
