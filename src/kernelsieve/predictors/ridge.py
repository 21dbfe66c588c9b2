"""Ridge regression for many penalties at once, with leave-one-out predictions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

_LEAST_REST = 1e-6  # of 1 - h, by which residuals are divided


@dataclass(frozen=True)
class LinearHead:
    """``features @ coefficients + intercept``."""

    coefficients: np.ndarray  # (k, q)
    intercept: np.ndarray  # (q,)

    def scores(self, features: np.ndarray) -> np.ndarray:
        return features @ self.coefficients + self.intercept


class RidgePath:
    """Ridge regressions with an intercept, one for each penalty, relative to a mean of squares.

    Features are rotated to where the weighted samples are uncorrelated, so that every further penalty
    is a division.
    """

    def __init__(self, features: np.ndarray, Y: np.ndarray, weight: np.ndarray) -> None:
        self.means, self.target_means = (np.average(V, axis=0, weights=weight) for V in (features, Y))
        self._root_share = np.sqrt(weight / weight.sum())[:, None]
        centred = (features - self.means) * self._root_share
        self._targets = (Y - self.target_means) * self._root_share
        variances, self.rotation = eigh(centred.T @ centred, driver="evd")
        self.variances = np.maximum(variances, 0.0)
        self._rotated = centred @ self.rotation
        self._covariances = self._rotated.T @ self._targets

    def head(self, ridge: float) -> LinearHead:
        """Return the regression with a penalty."""
        coefficients = self.rotation @ (self._covariances / (self.variances + ridge)[:, None])
        return LinearHead(coefficients, self.target_means - self.means @ coefficients)

    def left_out_residuals(self, ridges: np.ndarray) -> np.ndarray:
        """Return, for each penalty, the residual of each sample in the fit without it.

        That is e / (1 - h), with the residual e and the leverage h of the sample in the fit to all.
        """
        shrinkage = 1 / (self.variances[:, None] + ridges)
        leverages = (self._rotated**2) @ shrinkage + self._root_share**2
        weights = self._covariances * shrinkage.T[:, :, None]
        residuals = (self._targets - self._rotated @ weights) / self._root_share
        return residuals / np.maximum(1 - leverages, _LEAST_REST).T[:, :, None]
