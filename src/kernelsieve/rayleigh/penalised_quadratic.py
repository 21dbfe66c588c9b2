"""Fisher discriminants with a quadratic penalty and any loss, problem (9) of Mika et al. (2003)."""

from __future__ import annotations

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


class PenalisedQuadratic:
    """``min sum_i w_i loss(xi_i) + C alpha' P alpha`` with ``K alpha + b = y - xi``.

    P is the identity, or the kernel matrix of the candidates. In coordinates ``v`` with
    ``alpha = to_alpha v`` and ``Z = K to_alpha`` the penalty is ``C ||v||^2``. Without a smooth loss it
    is ``max(0, |xi| - epsilon)``.
    """

    def __init__(
        self,
        Z: np.ndarray,
        lines: Lines,
        loss: SmoothLoss | None,
        epsilon: float,
        to_alpha: np.ndarray,
        tol: float,
        max_iter: int,
    ) -> None:
        self._design = np.column_stack([Z, lines.constant])
        self._lines, self._loss, self._epsilon = lines, loss, epsilon
        self._to_alpha, self._tol, self._max_iter = to_alpha, tol, max_iter
        self._x = np.zeros(Z.shape[1] + 1)  # v and b

    def solve(self, C: float) -> list[SparseSolution]:
        """Solve for a penalty, with a smooth loss starting from the last solution."""
        effort, lines = Effort(self._max_iter), self._lines
        if self._loss is None:
            x, objective = interior_point(self._design, lines, self._epsilon, C, effort)
        else:
            x, objective = newton(self._design, lines, self._loss, C, self._x, self._tol, effort)
            self._x = x
        if effort.exhausted:
            warn(
                f"The penalised problem is not solved after max_systems={effort.limit} linear systems. "
                "Raise C, scale X, or raise max_systems in a subclass.",
                ConvergenceWarning,
            )
        alpha = self._to_alpha @ x[:-1]
        # Only columns that separate nothing have no coefficient.
        everyone = np.arange(len(alpha))
        return [SparseSolution(everyone, alpha, float(x[-1]), objective, 0.0, effort.spent)]


def coordinates_of(W: np.ndarray) -> np.ndarray:
    """Return M with ``M' W M = I``; small and negative eigenvalues of W are dropped."""
    sizes, axes = np.linalg.eigh(W)
    kept = sizes > _DEPENDENT * sizes[-1]
    return np.asarray(axes[:, kept] / np.sqrt(sizes[kept]))


def ridge_solver(
    design: np.ndarray, curvature: np.ndarray, C: float
) -> Callable[[np.ndarray], np.ndarray]:
    """Return a solver of ``(D' diag(curvature) D + C I) x = right``, with a free intercept."""
    scaled = design * np.sqrt(curvature)[:, None]
    matrix = scaled.T @ scaled
    diagonal = np.einsum("ii->i", matrix)
    diagonal[:-1] += C
    diagonal[-1] += 1e-14 * diagonal[-1] + 1e-14 * C  # there may be no curvature along it
    try:
        factor = cho_factor(matrix, check_finite=False)
    except LinAlgError:  # C is below the rounding of large kernel values
        return lambda right: np.asarray(lstsq(matrix, right, check_finite=False)[0])
    return lambda right: np.asarray(cho_solve(factor, right, check_finite=False))


def newton(
    design: np.ndarray,
    lines: Lines,
    loss: SmoothLoss,
    C: float,
    x: np.ndarray,
    tol: float,
    effort: Effort,
) -> tuple[np.ndarray, float]:
    """Minimise a differentiable loss with the penalty ``C ||v||^2``, by Newton's method.

    Returns v with b behind it, and the objective.
    """
    penalty = np.append(np.full(len(x) - 1, C), 0.0)

    def objective(x: np.ndarray) -> float:
        xi = np.asarray(lines.y - design @ x)
        return float(lines.weight @ loss.values(xi)) + C * float(x[:-1] @ x[:-1])

    def lower(xi: np.ndarray, downhill: np.ndarray) -> np.ndarray | None:
        """Return a lower point along a Newton step."""
        start = objective(x)
        for curvatures in (loss.curvatures(xi), loss.safe_curvatures(xi)):
            move = ridge_solver(design, lines.weight * curvatures, C)(downhill)
            for step in 0.5 ** np.arange(_HALVINGS):
                if objective(x + step * move) < start:
                    return x + step * move
        return None

    while not effort.exhausted:
        xi = np.asarray(lines.y - design @ x)
        slopes = lines.weight * loss.slopes(xi)
        downhill = design.T @ slopes - penalty * x
        scale = np.abs(design).T @ np.abs(slopes) + penalty * np.abs(x)
        if np.abs(downhill).max() <= 0.01 * tol * scale.max():
            break
        effort.spent += 1
        point = lower(xi, downhill)
        if point is None:
            break
        x = point
    return x, objective(x)


def interior_point(
    design: np.ndarray, lines: Lines, epsilon: float, C: float, effort: Effort
) -> tuple[np.ndarray, float]:
    """Minimise ``sum_i w_i max(0, |xi_i| - epsilon_i) + C ||v||^2``, by a primal-dual interior point.

    Each residual has two multipliers u in [0, w], for lying above and below the tube; their difference
    is the slope of its loss. With slacks t and z of both bounds the optimality conditions are
    ``t - z = +-xi - epsilon``, ``z u = 0``, ``t (w - u) = 0``, that ``2 C v`` is the sum of the columns
    times the slopes, and that the slopes have sum zero. A step is a weighted ridge regression, solved
    for Mehrotra's predictor and corrector. Returns v with b behind it, and the objective.
    """
    counts = lines.weight > 0  # without room between its bounds a multiplier has no interior
    design, y, weight = design[counts], lines.y[counts], lines.weight[counts]
    tube, size = epsilon * lines.constant[counts], float(np.abs(design).max() * weight.sum())
    ones = np.ones((2, len(weight)))
    point = _Interior(np.zeros(design.shape[1]), ones * weight / 2, ones, ones)
    while True:
        xi = y - design @ point.x
        loss = float(weight @ np.maximum(np.abs(xi) - tube, 0.0))
        objective = loss + C * float(point.x[:-1] @ point.x[:-1])
        # The residuals of the linear conditions: of v and b, and of the slacks.
        off = design.T @ (point.u[0] - point.u[1])
        off[:-1] -= 2 * C * point.x[:-1]
        slack = _SIDES * xi - tube - (point.t - point.z)
        small = np.abs(off).max() <= _GAP * size and np.abs(slack).max() <= _GAP
        if effort.exhausted or (small and point.gap(weight) <= _GAP * objective):
            return point.x, objective
        effort.spent += 1
        point = _advanced(point, design, weight, off, slack, C)


def _advanced(
    point: _Interior,
    design: np.ndarray,
    weight: np.ndarray,
    off: np.ndarray,
    slack: np.ndarray,
    C: float,
) -> _Interior:
    """Take one predictor-corrector step of Mehrotra's method."""
    u, z, t = point.u, point.z, point.t
    room = weight - u
    theta = 1 / (t / room + z / u)
    solve = ridge_solver(design, theta.sum(axis=0), 2 * C)

    def towards(of_zero: np.ndarray, of_weight: np.ndarray) -> _Interior:
        """Return the Newton step for given products ``z u`` and ``t (w - u)``."""
        more_z, more_t = of_zero / u - z, of_weight / room - t
        shift = theta * (slack - more_t + more_z)
        x = solve(off + design.T @ (shift[0] - shift[1]))
        move = shift - _SIDES * theta * (design @ x)
        return _Interior(x, move, more_z - z / u * move, more_t + t / room * move)

    mean = point.gap(weight) / (2 * u.size)
    nothing = np.zeros_like(u)
    guess = towards(nothing, nothing)
    after = point.moved(guess, point.longest(guess, weight))
    centring = mean * (after.gap(weight) / (2 * u.size) / mean) ** 3
    move = towards(centring - guess.u * guess.z, centring + guess.u * guess.t)
    return point.moved(move, _INSIDE * point.longest(move, weight))


@dataclass(frozen=True)
class _Interior:
    """A point of the interior point method, or a step: coefficients, multipliers and slacks."""

    x: np.ndarray  # v and b
    u: np.ndarray  # (2, n), as z and t: above the tube and below
    z: np.ndarray
    t: np.ndarray

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
