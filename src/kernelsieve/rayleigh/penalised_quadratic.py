"""Fisher discriminants with a quadratic penalty and any loss, problem (9) of Mika et al. (2003)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq
from sklearn.exceptions import ConvergenceWarning

from ..exceptions import warn
from .column_generation import Effort, Lines, SparseSolution
from .penalised_smooth import SmoothLoss

_HALVINGS = 30
_GAP = 1e-9  # between the objective and its lower bound, as a part of it
_INSIDE = 0.995  # part of the way to the boundary that an interior point may go
_SIDES = np.array([[1.0], [-1.0]])
_DEPENDENT = 1e-12  # relative size below which an eigenvalue of the penalty is nothing but rounding


class PenalisedQuadratic(ABC):
    """``min sum_i w_i loss(xi_i) + C alpha' P alpha`` with ``K alpha + b = y - xi``.

    P is the identity, or the kernel matrix of the candidates. In coordinates ``v`` with
    ``alpha = to_alpha v`` and ``Z = K to_alpha`` the penalty is ``C ||v||^2``.
    """

    def __init__(self, to_alpha: np.ndarray, max_iter: int) -> None:
        self._to_alpha = to_alpha
        self._max_iter = max_iter

    def solve(self, C: float) -> list[SparseSolution]:
        """Solve for a penalty."""
        effort = Effort(self._max_iter)
        v, b, objective = self.minimise(C, effort)
        if effort.exhausted:
            warn(
                f"The penalised problem is not solved after max_systems={effort.limit} linear systems. "
                "Raise C, scale X, or raise max_systems in a subclass.",
                ConvergenceWarning,
            )
        alpha = self._to_alpha @ v
        # Only columns that separate nothing have no coefficient.
        return [SparseSolution(np.arange(len(alpha)), alpha, b, objective, 0.0, effort.spent)]

    @abstractmethod
    def minimise(self, C: float, effort: Effort) -> tuple[np.ndarray, float, float]:
        """Return v, b and the objective."""


def coordinates_of(W: np.ndarray) -> np.ndarray:
    """Return M with ``M' W M = I``; small and negative eigenvalues of W are dropped."""
    sizes, axes = np.linalg.eigh(W)
    kept = sizes > _DEPENDENT * sizes[-1]
    return np.asarray(axes[:, kept] / np.sqrt(sizes[kept]))


class _Ridge:
    """Ridge regression with an unpenalised intercept, reweighted at each step."""

    def __init__(self, Z: np.ndarray, constant: np.ndarray) -> None:
        self.constant = constant
        self.design = np.column_stack([Z, constant])

    def solver(self, curvature: np.ndarray, C: float) -> Callable[[np.ndarray], np.ndarray]:
        """Return a solver of ``(D' diag(curvature) D + C I) x = right``, with a free intercept."""
        scaled = self.design * np.sqrt(curvature)[:, None]
        matrix = scaled.T @ scaled
        diagonal = np.einsum("ii->i", matrix)
        diagonal[:-1] += C
        diagonal[-1] += 1e-14 * diagonal[-1] + 1e-14 * C  # there may be no curvature along it
        try:
            factor = cho_factor(matrix, check_finite=False)
        except LinAlgError:  # C is below the rounding of large kernel values
            return lambda right: np.asarray(lstsq(matrix, right, check_finite=False)[0])
        return lambda right: np.asarray(cho_solve(factor, right, check_finite=False))


class SmoothRegression(PenalisedQuadratic):
    """Regression with a differentiable loss, by Newton's method with a line search."""

    def __init__(
        self,
        Z: np.ndarray,
        lines: Lines,
        loss: SmoothLoss,
        to_alpha: np.ndarray,
        tol: float,
        max_iter: int,
    ) -> None:
        super().__init__(to_alpha, max_iter)
        self._ridge = _Ridge(Z, lines.constant)
        self._lines = lines
        self._loss = loss
        self._tol = tol
        self._x = np.zeros(Z.shape[1] + 1)  # v and b

    def minimise(self, C: float, effort: Effort) -> tuple[np.ndarray, float, float]:
        penalty = np.append(np.full(len(self._x) - 1, C), 0.0)
        design = self._ridge.design
        while not effort.exhausted:
            xi = self._residual(self._x)
            slopes = self._lines.weight * self._loss.slopes(xi)
            downhill = design.T @ slopes - penalty * self._x
            scale = np.abs(design).T @ np.abs(slopes) + penalty * np.abs(self._x)
            if np.abs(downhill).max() <= 0.01 * self._tol * scale.max():
                break
            effort.spent += 1
            if not self._step(xi, downhill, C):
                break
        return self._x[:-1], float(self._x[-1]), self._objective(self._x, C)

    def _step(self, xi: np.ndarray, downhill: np.ndarray, C: float) -> bool:
        """Take one Newton step; return whether the objective fell."""
        start = self._objective(self._x, C)
        for curvatures in (self._loss.curvatures(xi), self._loss.safe_curvatures(xi)):
            move = self._ridge.solver(self._lines.weight * curvatures, C)(downhill)
            for step in 0.5 ** np.arange(_HALVINGS):
                if self._objective(self._x + step * move, C) < start:
                    self._x = self._x + step * move
                    return True
        return False

    def _residual(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self._lines.y - self._ridge.design @ x)

    def _objective(self, x: np.ndarray, C: float) -> float:
        loss = self._loss.values(self._residual(x))
        return float(self._lines.weight @ loss) + C * float(x[:-1] @ x[:-1])


class CornerRegression(PenalisedQuadratic):
    """``sum_i w_i max(0, |xi_i| - epsilon_i) + C ||v||^2`` by a primal-dual interior point method.

    Each residual has two multipliers u in [0, w], for lying above and below the tube; their difference
    is the slope of its loss. With slacks t and z of both bounds the optimality conditions are
    ``t - z = +-xi - epsilon``, ``z u = 0``, ``t (w - u) = 0``, that ``2 C v`` is the sum of the columns
    times the slopes, and that the slopes have sum zero. A step is a weighted ridge regression, solved
    for Mehrotra's predictor and corrector.
    """

    def __init__(
        self, Z: np.ndarray, lines: Lines, epsilon: float, to_alpha: np.ndarray, max_iter: int
    ) -> None:
        super().__init__(to_alpha, max_iter)
        counts = lines.weight > 0  # without room between its bounds a multiplier has no interior
        self._ridge = _Ridge(Z[counts], lines.constant[counts])
        self._y, self._weight = lines.y[counts], lines.weight[counts]
        self._epsilon = epsilon * self._ridge.constant

    def minimise(self, C: float, effort: Effort) -> tuple[np.ndarray, float, float]:
        point = _Interior.start(self._ridge.design.shape[1], self._weight)
        while not effort.exhausted and not self._is_solved(point, C):
            effort.spent += 1
            point = self._advanced(point, C)
        return point.x[:-1], float(point.x[-1]), self._objective(point, C)

    def _is_solved(self, point: _Interior, C: float) -> bool:
        off, slack = self._violations(point, C)
        size = float(np.abs(self._ridge.design).max() * self._weight.sum())
        small = np.abs(off).max() <= _GAP * size and np.abs(slack).max() <= _GAP
        return bool(small and point.gap(self._weight) <= _GAP * self._objective(point, C))

    def _objective(self, point: _Interior, C: float) -> float:
        xi = self._y - self._ridge.design @ point.x
        loss = np.maximum(np.abs(xi) - self._epsilon, 0.0)
        return float(self._weight @ loss) + C * float(point.x[:-1] @ point.x[:-1])

    def _violations(self, point: _Interior, C: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the residuals of the linear conditions: of v and b, and of the slacks."""
        xi = self._y - self._ridge.design @ point.x
        off = self._ridge.design.T @ (point.u[0] - point.u[1])
        off[:-1] -= 2 * C * point.x[:-1]
        return off, _SIDES * xi - self._epsilon - (point.t - point.z)

    def _advanced(self, point: _Interior, C: float) -> _Interior:
        """Take one predictor-corrector step of Mehrotra's method."""
        u, z, t = point.u, point.z, point.t
        room = self._weight - u
        off, slack = self._violations(point, C)
        theta = 1 / (t / room + z / u)
        solve = self._ridge.solver(theta.sum(axis=0), 2 * C)

        def towards(of_zero: np.ndarray, of_weight: np.ndarray) -> _Interior:
            """Return the Newton step for given products ``z u`` and ``t (w - u)``."""
            more_z, more_t = of_zero / u - z, of_weight / room - t
            shift = theta * (slack - more_t + more_z)
            x = solve(off + self._ridge.design.T @ (shift[0] - shift[1]))
            move = shift - _SIDES * theta * (self._ridge.design @ x)
            return _Interior(x, move, more_z - z / u * move, more_t + t / room * move)

        mean = point.gap(self._weight) / (2 * u.size)
        nothing = np.zeros_like(u)
        guess = towards(nothing, nothing)
        step = point.longest(guess, self._weight)
        centring = mean * (point.moved(guess, step).gap(self._weight) / (2 * u.size) / mean) ** 3
        move = towards(centring - guess.u * guess.z, centring + guess.u * guess.t)
        return point.moved(move, _INSIDE * point.longest(move, self._weight))


@dataclass(frozen=True)
class _Interior:
    """A point of the interior point method, or a step: coefficients, multipliers and slacks."""

    x: np.ndarray  # v and b
    u: np.ndarray  # (2, n), as z and t: above the tube and below
    z: np.ndarray
    t: np.ndarray

    @classmethod
    def start(cls, n_coefficients: int, weight: np.ndarray) -> _Interior:
        ones = np.ones((2, len(weight)))
        return cls(np.zeros(n_coefficients), ones * weight / 2, ones, ones)

    def gap(self, weight: np.ndarray) -> float:
        return float(np.sum(self.u * self.z + (weight - self.u) * self.t))

    def moved(self, move: _Interior, step: float) -> _Interior:
        return _Interior(
            self.x + step * move.x,
            self.u + step * move.u,
            self.z + step * move.z,
            self.t + step * move.t,
        )

    def longest(self, move: _Interior, weight: np.ndarray) -> float:
        """Return the longest step, at most 1, within all bounds."""
        values = np.concatenate([self.u, weight - self.u, self.z, self.t])
        changes = np.concatenate([move.u, -move.u, move.z, move.t])
        falls = changes < 0
        return float(min(1.0, (-values[falls] / changes[falls]).min(initial=1.0)))
