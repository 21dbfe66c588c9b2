"""Linear heads: a prediction from the first j features, for every j."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data import row_slices, rows_per_block

_BLOCK_BYTES = 2**22  # of predictions
#: The score of a class that is never the one, such as one without weight: finite, also as float32.
NEVER = -1e30


@dataclass(frozen=True)
class Heads:
    """``intercepts[j - 1] + features[:, :j] @ coefficients[j - 1, :j]`` predicts from j features.

    Where features are orthogonal, coefficients do not depend on how many follow; they then have
    one axis less, and ``coefficients[:j]`` are those of the first j.

    Parameters
    ----------
    intercepts : ndarray of shape (k, q)
        For the first 1, 2, ..., k features, and q targets.
    coefficients : ndarray of shape (k, k, q) or (k, q)
        See above.
    """

    intercepts: np.ndarray  # (k, q)
    coefficients: np.ndarray  # (k, k, q) or (k, q)

    def predict(self, features: np.ndarray) -> np.ndarray:
        """Return the predictions from as many features as are given.

        Parameters
        ----------
        features : ndarray of shape (n, j)
            The first j features.

        Returns
        -------
        ndarray of shape (n, q)
        """
        j = features.shape[1]
        return np.asarray(features @ self._coefficients_of(j) + self.intercepts[j - 1])

    @property
    def last_coefficients(self) -> np.ndarray:
        """The (k, q) coefficients of all features; ``intercepts[-1]`` goes with them."""
        return self._coefficients_of(len(self.intercepts))

    def _coefficients_of(self, j: int) -> np.ndarray:
        nested = self.coefficients.ndim == 2
        return self.coefficients[:j] if nested else self.coefficients[j - 1, :j]

    def classes(self, features: np.ndarray) -> np.ndarray:
        """Return the number of the class with the largest prediction, in blocks of rows.

        Parameters
        ----------
        features : ndarray of shape (n, j)
            The first j features.

        Returns
        -------
        ndarray of int of shape (n,)
        """
        found = np.empty(len(features), np.intp)
        size = rows_per_block(self.intercepts.shape[1], _BLOCK_BYTES)
        for rows in row_slices(len(features), size):
            scores = self.predict(features[rows])
            # A single score is a margin between two classes.
            found[rows] = scores[:, 0] > 0 if scores.shape[1] == 1 else scores.argmax(axis=1)
        return found

    def truncate(self, j: int) -> Heads:
        """Return the heads of the first j features.

        Parameters
        ----------
        j : int
            How many.

        Returns
        -------
        Heads
        """
        nested = self.coefficients.ndim == 2
        coefficients = self.coefficients[:j] if nested else self.coefficients[:j, :j]
        return Heads(self.intercepts[:j], coefficients)

    def for_scaled(self, scales: np.ndarray) -> Heads:
        """Return the heads for features that are multiplied by ``scales``.

        Parameters
        ----------
        scales : ndarray of shape (k,)
            A factor for each feature.

        Returns
        -------
        Heads
        """
        return Heads(self.intercepts, self.coefficients / scales[:, None])
