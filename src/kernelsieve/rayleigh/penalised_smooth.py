"""Sparse KFD with smooth losses and l1 penalty, by reweighted least squares on a working set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .column_generation import Effort, Lines, ProgramColumns, SparseSolution, most_violated
from .penalised_squares import check_solved, least_squares

_MOST_ROUNDS = 1000
_MOST_STEPS = 500
_FLAT = 1e-6  # part of the largest curvature that samples are given where the loss has none
_HALVINGS = 12


@dataclass(frozen=True)
class Huber:
    """xi^2 up to delta, and the line ``2 delta |xi| - delta^2`` beyond; delta may differ by line.

    Slopes and curvatures of losses are halved, as for xi^2. Safe curvatures are those of squares with
    the same slopes that lie above the loss nearby.
    """

    delta: np.ndarray

    def values(self, xi: np.ndarray) -> np.ndarray:
        inner = np.minimum(np.abs(xi), self.delta)
        return np.asarray(inner * (2 * np.abs(xi) - inner))

    def slopes(self, xi: np.ndarray) -> np.ndarray:
        return np.clip(xi, -self.delta, self.delta)

    def curvatures(self, xi: np.ndarray) -> np.ndarray:
        return np.where(np.abs(xi) > self.delta, 0.0, 1.0)

    def safe_curvatures(self, xi: np.ndarray) -> np.ndarray:
        return np.asarray(1 / np.maximum(np.abs(xi) / self.delta, 1.0))


@dataclass(frozen=True)
class Power:
    """``|xi|^power``, with a power of at least 2 that may differ by line."""

    power: np.ndarray

    def values(self, xi: np.ndarray) -> np.ndarray:
        return np.asarray(np.abs(xi) ** self.power)

    def slopes(self, xi: np.ndarray) -> np.ndarray:
        return np.asarray(self.power / 2 * np.sign(xi) * np.abs(xi) ** (self.power - 1))

    def curvatures(self, xi: np.ndarray) -> np.ndarray:
        return np.asarray(self.power * (self.power - 1) / 2 * np.abs(xi) ** (self.power - 2))

    def safe_curvatures(self, xi: np.ndarray) -> np.ndarray:
        return self.curvatures(np.full_like(xi, np.abs(xi).max(initial=0.0)))


SmoothLoss = Huber | Power


class PenalisedSmooth:
    """``min sum_i w_i loss(xi_i) + C ||alpha||_1`` with ``K alpha + b = y - xi``.

    On a working set of columns the loss is replaced by a square with the same slope at the residuals as
    they are, and the penalised least squares problem is solved for a direction. With the curvature of
    the loss itself that is Newton's method, which for the Huber loss is finished when it knows which
    samples are outlying; where such a step leads nowhere, the curvature of a square above the loss lets
    the loss fall.
    """

    def __init__(
        self, columns: ProgramColumns, lines: Lines, loss: SmoothLoss, tol: float, max_iter: int
    ) -> None:
        self._max_iter = max_iter
        self._effort = Effort(max_iter)
        self._columns = columns
        self._lines = lines
        self._y = lines.y
        self._weight = lines.weight
        self._loss = loss
        self._tol = tol
        self._known = np.empty(0, np.intp)
        self._X = np.empty((len(self._y), 0))
        self._alpha = np.empty(0)
        self._b = 0.0

    def solve(self, C: float) -> list[SparseSolution]:
        """Solve for a penalty, starting from the last solution."""
        self._effort = Effort(self._max_iter)
        for _ in range(_MOST_ROUNDS):
            self._minimise(C)
            slopes = self._slopes(self._residual())
            prices = self._columns.prices(slopes)
            new = most_violated(prices, C, self._known, self._tol)
            if len(new) == 0 or self._effort.exhausted:
                break
            self._X = np.hstack([self._X, self._columns.select(new)])
            self._known = np.concatenate([self._known, new])
            self._alpha = np.concatenate([self._alpha, np.zeros(len(new))])
        check_solved(prices, C, self._tol, self._effort)
        used = np.flatnonzero(self._alpha)
        used = used[np.argsort(self._known[used])]
        objective = self._objective(self._residual(), self._alpha, C)
        largest, n_iter = float(np.abs(prices).max()) / C, self._effort.spent
        known, alpha = self._known[used], self._alpha[used]
        return [SparseSolution(known, alpha, self._b, objective, largest, n_iter)]

    def _residual(self) -> np.ndarray:
        return self._residual_of(self._alpha, self._b)

    def _residual_of(self, alpha: np.ndarray, b: float) -> np.ndarray:
        return np.asarray(self._y - self._X @ alpha - b * self._lines.constant)

    def _slopes(self, xi: np.ndarray) -> np.ndarray:
        return np.asarray(2 * self._weight * self._loss.slopes(xi))

    def _objective(self, xi: np.ndarray, alpha: np.ndarray, C: float) -> float:
        return float(self._weight @ self._loss.values(xi)) + C * float(np.abs(alpha).sum())

    def _minimise(self, C: float) -> None:
        """Find the minimum on the working set."""
        for _ in range(_MOST_STEPS):
            xi = self._residual()
            if self._violation(xi, C) <= self._tol / 2 or self._effort.exhausted:
                return
            curvatures, safe = self._loss.curvatures(xi), self._loss.safe_curvatures(xi)
            largest = max(curvatures.max(), safe.max())
            if not largest > 0:  # residuals of a high power that are all zero
                return
            newton = self._minimum(xi, np.maximum(curvatures, _FLAT * largest), C)
            if self._search(xi, *newton, C):
                continue
            reweighted = self._minimum(xi, np.maximum(safe, _FLAT * largest), C)
            # Where the objective falls by no more than rounding, the conditions decide.
            if not (self._search(xi, *reweighted, C) or self._polish(xi, *newton, C)):
                return

    def _violation(self, xi: np.ndarray, C: float) -> float:
        """Return the violation of the optimality conditions on the working set."""
        slopes = self._slopes(xi)
        prices = self._X.T @ slopes / C
        used = self._alpha != 0
        return max(
            float(np.abs(prices).max(initial=0.0)) - 1,
            float(np.abs(prices[used] - np.sign(self._alpha[used])).max(initial=0.0)),
            abs(float(slopes @ self._lines.constant)) / float(np.abs(slopes).sum() or 1.0),
        )

    def _minimum(self, xi: np.ndarray, curvature: np.ndarray, C: float) -> tuple[np.ndarray, float]:
        """Return coefficients and intercept at the minimum of a quadratic model."""
        v = self._weight * curvature
        response = self._y - xi + self._loss.slopes(xi) / curvature
        X, means = self._lines.centred(self._X, v)
        y, mean = self._lines.centred(response, v)
        start = self._alpha[:, None]
        alpha = least_squares(X, y[:, None], C, start, self._tol, self._effort)[:, 0]
        return alpha, float(mean - means @ alpha)

    def _search(self, xi: np.ndarray, alpha: np.ndarray, b: float, C: float) -> bool:
        """Search along the line to a point; return whether the step was long enough."""
        change = xi - self._residual_of(alpha, b)
        start = self._objective(xi, self._alpha, C)
        for step in 0.5 ** np.arange(_HALVINGS):
            between = self._alpha + step * (alpha - self._alpha) if step < 1 else alpha
            if self._objective(xi - step * change, between, C) < start * (1 - 1e-15):
                self._alpha, self._b = between, self._b + step * (b - self._b)
                return bool(step > 0.1)
        return False

    def _polish(self, xi: np.ndarray, alpha: np.ndarray, b: float, C: float) -> bool:
        """Take the full step if it satisfies the optimality conditions better."""
        before, violation = (self._alpha, self._b), self._violation(xi, C)
        self._alpha, self._b = alpha, b
        if self._violation(self._residual(), C) < 0.5 * violation:
            return True
        self._alpha, self._b = before
        return False
