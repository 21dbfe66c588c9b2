"""Linear heads: a prediction from the first j features, for every j."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Heads:
    """``intercepts[j - 1] + features[:, :j] @ coefficients[j - 1, :j]`` predicts from j features.

    Where features are orthogonal, coefficients do not depend on how many follow; they then have
    one axis less, and ``coefficients[:j]`` are those of the first j.
    """

    intercepts: np.ndarray  # (k, q)
    coefficients: np.ndarray  # (k, k, q) or (k, q)

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Return the (n, q) predictions from as many features as are given."""
        j = features.shape[1]
        nested = self.coefficients.ndim == 2
        coefficients = self.coefficients[:j] if nested else self.coefficients[j - 1, :j]
        return np.asarray(features @ coefficients + self.intercepts[j - 1])

    def truncate(self, j: int) -> Heads:
        """Return the heads of the first j features."""
        nested = self.coefficients.ndim == 2
        coefficients = self.coefficients[:j] if nested else self.coefficients[:j, :j]
        return Heads(self.intercepts[:j], coefficients)

    def for_scaled(self, scales: np.ndarray) -> Heads:
        """Return the heads for features that are multiplied by ``scales``."""
        return Heads(self.intercepts, self.coefficients / scales[:, None])
