"""Refit the model on all features so far: least squares, least absolutes, or Newton's method."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.linalg import solve_triangular

from ...deflation import AbsoluteLoss, Loss, SquaredLoss
from ...deflation.candidates import Basis, Residual
from ...deflation.losses import damped_newton

_DEPENDENT = 1e-10  # of its size: what a feature must have of its own
_EXPLAINED_SQUARES = 1e-20  # of the variance of y: a residual that is rounding
_EXPLAINED_ABSOLUTES = 1e-9  # of the mean absolute value of y
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
        """Add a feature and refit; return False, without a change, if it is linearly dependent."""
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
        """The negative gradient u of the loss, which the next feature follows, (n,)."""

    @property
    def sizes(self) -> np.ndarray:
        """The sizes of the residuals, which rank the samples, (n,)."""
        return np.abs(self.negative_gradient)

    @property
    @abstractmethod
    def error(self) -> float:
        """The training error, in the units of y."""

    @property
    @abstractmethod
    def is_explained(self) -> bool:
        """Whether the residuals are zero up to rounding."""

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


class LeastAbsolutes(Refit):
    """The absolute loss, on y with median 0 and mean absolute value 1, by linear programmes.

    The gradient is a sign. Samples are ranked by the residuals themselves, which differ.
    """

    def __init__(self, y: np.ndarray, weight: np.ndarray, capacity: int) -> None:
        self._loss = AbsoluteLoss()
        self._median = self._loss.minimise(y, np.empty((len(y), 0)), weight)[0]
        self._scale = float(np.average(np.abs(y - self._median), weights=weight))
        if not self._scale > 1e-14 * np.abs(y).max(initial=0.0):
            self._scale = 0.0  # y is constant but for rounding
        super().__init__((y - self._median) / (self._scale or np.inf), weight, capacity)
        self._solution = np.zeros(1)
        self._residual = self._y

    @property
    def negative_gradient(self) -> np.ndarray:
        return self._loss.negative_gradient(self._y, self._y - self._residual)

    @property
    def sizes(self) -> np.ndarray:
        return np.abs(self._residual)

    @property
    def error(self) -> float:
        return self._scale * float(self._root**2 @ np.abs(self._residual))

    @property
    def is_explained(self) -> bool:
        return float(self._root**2 @ np.abs(self._residual)) <= _EXPLAINED_ABSOLUTES

    def _fit(self) -> None:
        basis = self._basis.features / self._root[:, None]
        constant, others = self._loss.minimise(self._y, basis[:, 1:], self._weight)
        self._solution = np.append(constant, others)
        self._residual = self._y - basis @ self._solution

    def _coordinates(self) -> np.ndarray:
        coordinates = self._scale * self._solution
        coordinates[0] += self._median  # the first basis vector is the constant 1, times the roots
        return coordinates


class Newton(Refit):
    """Any other convex loss, by damped Newton steps from the previous solution."""

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
            self._loss, self._y, basis, self._root**2, start=before
        )

    def _coordinates(self) -> np.ndarray:
        return self._solution


class Refits:
    """One model for each column of Y, all on the same features.

    The next feature follows the column with the largest error: of several classes the one that is
    still separated worst from the rest.
    """

    def __init__(self, loss: Loss, Y: np.ndarray, weight: np.ndarray, capacity: int) -> None:
        self._columns = [make_refit(loss, y, weight, capacity) for y in Y.T]

    def add(self, feature: np.ndarray) -> bool:
        """Add a feature and refit; return False, without a change, if it is linearly dependent."""
        taken = [column.add(feature) for column in self._columns]  # by all or none: one basis
        return all(taken)

    def coefficients(self) -> np.ndarray:
        """Return the intercepts, and one row of coefficients for each feature, (1 + j, q)."""
        return np.column_stack([column.coefficients() for column in self._columns])

    def worst_first(self) -> list[Refit]:
        """Return the models that the next feature may improve, largest error first."""
        left = [column for column in self._columns if not column.is_explained]
        return sorted(left, key=lambda column: -column.error)

    @property
    def error(self) -> float:
        """The training error, averaged over the columns."""
        return float(np.mean([column.error for column in self._columns]))

    @property
    def is_explained(self) -> bool:
        """Whether all residuals are zero up to rounding."""
        return all(column.is_explained for column in self._columns)


def make_refit(loss: Loss, y: np.ndarray, weight: np.ndarray, capacity: int) -> Refit:
    """Return the refit for a loss."""
    y = np.asarray(y, dtype=np.float64)
    if isinstance(loss, SquaredLoss):
        return LeastSquares(y, weight, capacity)
    if isinstance(loss, AbsoluteLoss):
        return LeastAbsolutes(y, weight, capacity)
    return Newton(loss, y, weight, capacity)
