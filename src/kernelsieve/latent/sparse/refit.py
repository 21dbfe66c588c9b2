"""The model on all features so far: least squares, or Newton's method for other losses."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.linalg import solve_triangular

from ...deflation import Loss, SquaredLoss
from ...deflation.basis import Basis, Residual
from ...deflation.losses import damped_newton

_DEPENDENT = 1e-10  # of its size: what a feature must have of its own
_EXPLAINED_SQUARES = 1e-20  # of the variance of y: a residual that is rounding
_EXPLAINED_LOSS = 1e-6  # of the loss of predicting 0: separable classes never reach none at all


class Refit(ABC):
    """Minimises a loss over an intercept and the coefficients of the features so far.

    The sparse method's features are neither orthogonal nor centred. The fit works on an orthonormal
    basis of them, whose triangle gives the coefficients back.
    """

    def __init__(self, y: np.ndarray, weight: np.ndarray, capacity: int) -> None:
        self._y, self._weight = y, weight
        self._root = np.sqrt(weight / weight.sum())
        self._capacity = min(capacity + 1, len(y))
        self._basis = Basis(len(y), self._capacity)
        self._append(np.ones(len(y)))

    def add(self, feature: np.ndarray) -> bool:
        """Take a feature in and fit anew; False, and no change, where it is a combination of others."""
        if not self._append(feature):
            return False
        self._fit()
        return True

    def coefficients(self) -> np.ndarray:
        """Return the intercept, and one coefficient for each feature."""
        return np.asarray(solve_triangular(self._basis.triangle, self._coordinates()))

    @property
    @abstractmethod
    def negative_gradient(self) -> np.ndarray:
        """What the next feature should follow: u, (n,)."""

    @property
    @abstractmethod
    def error(self) -> float:
        """The training error, in the units of the user."""

    @property
    @abstractmethod
    def is_explained(self) -> bool:
        """Whether nothing is left to explain."""

    @abstractmethod
    def _fit(self) -> None:
        """Minimise the loss over the coordinates in the basis."""

    @abstractmethod
    def _coordinates(self) -> np.ndarray:
        """Return the coordinates of the prediction in the basis, in the units of the user."""

    def _append(self, feature: np.ndarray) -> bool:
        column = feature * self._root
        vector, coefficients = self._basis.orthogonalise(column)
        norm, size = float(np.linalg.norm(vector)), float(np.linalg.norm(column))
        if self._basis.size == self._capacity or not norm > _DEPENDENT * size:
            return False
        self._basis.append(Residual(column, vector, coefficients, norm, size))
        return True


class LeastSquares(Refit):
    """The squared loss, on y with mean 0 and variance 1."""

    def __init__(self, y: np.ndarray, weight: np.ndarray, capacity: int) -> None:
        share = weight / weight.sum()
        self._mean = float(share @ y)
        self._scale = float(np.sqrt(share @ (y - self._mean) ** 2))
        if not self._scale > 1e-14 * np.abs(y).max(initial=0.0):
            self._scale = 0.0  # y is constant but for rounding
        self._residual = (y - self._mean) / (self._scale or np.inf)
        self._solution: list[float] = []
        super().__init__(self._residual, weight, capacity)
        self._fit()

    @property
    def negative_gradient(self) -> np.ndarray:
        return self._residual

    @property
    def error(self) -> float:
        return self._scale**2 * self._squares

    @property
    def is_explained(self) -> bool:
        return self._squares <= _EXPLAINED_SQUARES

    def _fit(self) -> None:
        newest = self._basis.features[:, -1]  # the others have taken their part already
        part = float(newest @ (self._residual * self._root))
        self._solution.append(part)
        self._residual = self._residual - part * newest / self._root
        self._squares = float(np.sum((self._root * self._residual) ** 2))

    def _coordinates(self) -> np.ndarray:
        coordinates = self._scale * np.array(self._solution)
        coordinates[0] += self._mean  # the first basis vector is the constant 1, times the roots
        return coordinates


class Newton(Refit):
    """Any other convex loss, by damped Newton steps from the model before."""

    def __init__(self, loss: Loss, y: np.ndarray, weight: np.ndarray, capacity: int) -> None:
        super().__init__(y, weight, capacity)
        self._loss = loss
        self._solution = np.zeros(0)
        self._negligible = _EXPLAINED_LOSS * self._mean_loss(np.zeros(len(y)))
        self._fit()

    @property
    def negative_gradient(self) -> np.ndarray:
        return self._loss.negative_gradient(self._y, self._prediction)

    @property
    def error(self) -> float:
        return self._mean_loss(self._prediction)

    @property
    def is_explained(self) -> bool:
        return self.error <= self._negligible

    def _mean_loss(self, prediction: np.ndarray) -> float:
        return float(self._root**2 @ self._loss.value(self._y, prediction))

    def _fit(self) -> None:
        basis = self._basis.features / self._root[:, None]
        before = np.append(self._solution, np.zeros(basis.shape[1] - len(self._solution)))
        self._solution, self._prediction = damped_newton(
            self._loss, self._y, basis, self._root**2, start=before, negligible=self._negligible
        )

    def _coordinates(self) -> np.ndarray:
        return self._solution


def make_refit(loss: Loss, y: np.ndarray, weight: np.ndarray, capacity: int) -> Refit:
    """Return what fits a loss."""
    y = np.asarray(y, dtype=np.float64)
    if isinstance(loss, SquaredLoss):
        return LeastSquares(y, weight, capacity)
    return Newton(loss, y, weight, capacity)
