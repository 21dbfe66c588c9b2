"""Features as the loop collects them: ``columns @ B = F R``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Residual:
    """What the features so far leave of a direction's column.

    ``column = features @ coefficients + vector``, and ``vector / norm`` would be the next feature.
    """

    column: np.ndarray
    vector: np.ndarray
    coefficients: np.ndarray
    norm: float
    size: float  # what the norm was before anything cancelled: rounding errors are relative to it


class Basis:
    """Features F and the triangle R, with room for ``capacity`` of them."""

    def __init__(self, n_rows: int, capacity: int) -> None:
        self._storage = np.empty((n_rows, capacity), order="F")
        self._triangle = np.zeros((capacity, capacity))
        self.size = 0

    @property
    def features(self) -> np.ndarray:
        return self._storage[:, : self.size]

    @property
    def triangle(self) -> np.ndarray:
        return self._triangle[: self.size, : self.size]

    def orthogonalise(self, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what orthonormal features leave of a column, and its coefficients.

        Done twice, which is enough.
        """
        Q = self.features
        first = Q.T @ column
        residual = column - Q @ first
        second = Q.T @ residual
        residual -= Q @ second
        return residual, first + second

    def append(self, residual: Residual) -> np.ndarray:
        """Add a feature and return it."""
        self._storage[:, self.size] = residual.vector / residual.norm
        self._triangle[: self.size, self.size] = residual.coefficients
        self._triangle[self.size, self.size] = residual.norm
        self.size += 1
        return self._storage[:, self.size - 1]

    def narrow(self, kept: np.ndarray) -> None:
        """Forget all rows but the kept ones."""
        self._storage = np.asfortranarray(self._storage[kept])
