"""Sparse KFD of several classes together: a penalty that counts a column once for all of them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, qr
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lasso_path

from .column_generation import Effort, SparseSolution, most_violated
from .designs import Design
from .penalised_squares import check_solved

_SWEEPS = 20  # of block coordinate descent between two looks at the optimality conditions
_MOST_ROUNDS = 1000
_NEWTON_STEPS = 5
_CONJUGATE_STEPS = 50
_HALVINGS = 12
_ROUNDING = 1e-14  # of the objective
_IDLE_TURNS = 3


class PenalisedGroups:
    """``min sum_i w_i ||xi_i||^2 + C sum_j ||alpha_j||`` with ``K alpha + 1 b' = Y - xi``.

    The coefficients ``alpha_j`` of a column for all classes are zero together: a multi-task lasso. A
    column joins the working set when its slopes of all classes are longer than C.
    """

    def __init__(self, design: Design, tol: float, max_iter: int) -> None:
        self._design = design
        self._tol = tol
        self._max_iter = max_iter
        self._known = np.empty(0, np.intp)
        self._X = np.empty((len(design.targets), 0))
        self._means = np.empty(0)
        self._alpha = np.empty((0, design.targets.shape[1]))

    def solve(self, C: float) -> list[SparseSolution]:
        """Minimise for a penalty, from where the last one ended; return a solution for each class."""
        effort = Effort(self._max_iter)
        for _ in range(_MOST_ROUNDS):
            self._alpha = group_least_squares(
                self._X, self._design.targets, C, self._alpha, self._tol, effort
            )
            residual = self._design.targets - self._X @ self._alpha
            prices = np.linalg.norm(self._design.prices(residual), axis=1)
            new = most_violated(prices, C, self._known, self._tol, self._design.columns_a_round)
            if len(new) == 0 or effort.exhausted:
                break
            self._enter(new)
        check_solved(prices, C, self._tol, effort)
        return self._solutions(C, residual, float(prices.max()) / C, effort.spent)

    def _enter(self, new: np.ndarray) -> None:
        added, means = self._design.take(new)
        self._X = np.hstack([self._X, added])
        self._means = np.concatenate([self._means, means])
        self._known = np.concatenate([self._known, new])
        self._alpha = np.vstack([self._alpha, np.zeros((len(new), self._alpha.shape[1]))])

    def _solutions(
        self, C: float, residual: np.ndarray, largest: float, n_iter: int
    ) -> list[SparseSolution]:
        """Return what each class has of the solution, and its part of the objective."""
        used = np.flatnonzero(self._alpha.any(axis=1))
        used = used[np.argsort(self._known[used])]
        alpha = self._alpha[used]
        lengths = np.linalg.norm(alpha, axis=1)
        intercepts = self._design.target_means - self._means[used] @ alpha
        objectives = np.sum(residual**2, axis=0) + C * np.sum(alpha**2 / lengths[:, None], axis=0)
        return [
            SparseSolution(self._known[used], coefficients, float(b), float(objective), largest, n_iter)
            for coefficients, b, objective in zip(alpha.T, intercepts, objectives, strict=True)
        ]


def group_least_squares(
    X: np.ndarray, Y: np.ndarray, C: float, start: np.ndarray, tol: float, effort: Effort
) -> np.ndarray:
    """Minimise ``||Y - X A||^2 + C sum_j ||A_j||``, with A_j the rows of A.

    scikit-learn's block coordinate descent finds which rows are not zero. Kernel columns are so alike
    that it would take very many sweeps to converge; where no row is zero the objective is smooth, and
    Newton's method does the rest. The objective never rises.
    """
    if len(start) == 0:
        return start
    problem = _UnitGroups.reduced(X / C, Y)
    A = start * C
    if problem.objective(A) > problem.objective(np.zeros_like(A)):
        A = np.zeros_like(A)
    best, excess, idle = problem.objective(A), np.inf, 0
    while excess > tol / 2 and idle < _IDLE_TURNS and not effort.exhausted:
        effort.spent += 1
        turned = _on_rows(problem, _sweep(problem, A), effort)
        value, violated = problem.objective(turned), problem.excess(turned)
        if value > best * (1 + _ROUNDING):
            break
        idle = 0 if value < best * (1 - _ROUNDING) or violated < 0.5 * excess else idle + 1
        if idle == 0 or violated < excess:
            A, best, excess = turned, min(value, best), violated
    return np.asarray(A / C)


@dataclass(frozen=True)
class _UnitGroups:
    """``||Y - X A||^2 + sum_j ||A_j||``."""

    X: np.ndarray
    Y: np.ndarray

    @classmethod
    def reduced(cls, X: np.ndarray, Y: np.ndarray) -> _UnitGroups:
        """Return the same problem with no more rows than there are columns in X and Y."""
        m, width = X.shape[1], X.shape[1] + Y.shape[1]
        if len(X) > width:
            R = qr(np.hstack([X, Y]), mode="r", overwrite_a=True, check_finite=False)[0][:width]
            X, Y = R[:, :m], R[:, m:]
        return cls(np.asfortranarray(X), np.asfortranarray(Y))

    def objective(self, A: np.ndarray) -> float:
        return float(np.sum((self.Y - self.X @ A) ** 2) + np.linalg.norm(A, axis=1).sum())

    def excess(self, A: np.ndarray) -> float:
        """Return by how much the optimality conditions are violated."""
        slopes = 2 * self.X.T @ (self.Y - self.X @ A)
        used = A.any(axis=1)
        units = A[used] / np.linalg.norm(A[used], axis=1, keepdims=True)
        off = np.linalg.norm(slopes[used] - units, axis=1).max(initial=0.0)
        return max(float(np.linalg.norm(slopes, axis=1).max()) - 1, float(off))


def _sweep(problem: _UnitGroups, start: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, path, _ = lasso_path(
            problem.X,
            problem.Y,
            alphas=[0.5 / len(problem.Y)],
            coef_init=start.T,
            max_iter=_SWEEPS,
            tol=1e-14,
        )
    return np.asarray(path[:, :, 0].T)


def _on_rows(problem: _UnitGroups, A: np.ndarray, effort: Effort) -> np.ndarray:
    """Lower the objective by Newton's method on the rows that are not zero."""
    A, value = A.copy(), problem.objective(A)
    for _ in range(_NEWTON_STEPS):
        used = np.flatnonzero(A.any(axis=1))
        if len(used) == 0 or effort.exhausted:
            break
        effort.spent += 1
        few = _UnitGroups(problem.X[:, used], problem.Y)
        lower = _search(few, A[used], _newton(few, A[used]), value)
        if lower is None:
            break
        A[used] = lower
        value = problem.objective(A)
    return A


def _search(problem: _UnitGroups, A: np.ndarray, move: np.ndarray, value: float) -> np.ndarray | None:
    """Go as far along a move as the objective falls; a row that would turn round becomes zero."""
    along = np.einsum("jq,jq->j", A, move) / np.einsum("jq,jq->j", A, A)  # -1 is where it turns
    far = max(1.0, -float(along.min()))
    for step in np.append(1 / far, 0.5 ** np.arange(_HALVINGS)):
        lower = A + step * move
        lower[step * along <= -1 + 1e-12] = 0.0
        if problem.objective(lower) < value:
            return lower
    return None


def _factored(matrix: np.ndarray) -> Any:
    """Return a Cholesky factor, of a slightly larger matrix where rounding makes it indefinite."""
    try:
        return cho_factor(matrix, check_finite=False)
    except LinAlgError:
        rounding = 4 * len(matrix) * np.finfo(np.float64).eps * np.trace(matrix)
        return cho_factor(matrix + rounding * np.eye(len(matrix)), check_finite=False)


def _newton(problem: _UnitGroups, A: np.ndarray) -> np.ndarray:
    """Return Newton's move, by conjugate gradients.

    The curvature of the length of a row is the identity over that length, less a direction. Without
    "less", one small matrix serves all classes: that is the preconditioner.
    """
    lengths = np.linalg.norm(A, axis=1, keepdims=True)
    units = A / lengths
    gram = 2 * problem.X.T @ problem.X
    factor = _factored(gram + np.diag(1 / lengths[:, 0]))

    def curved(V: np.ndarray) -> np.ndarray:
        across = V - units * np.sum(units * V, axis=1, keepdims=True)
        return np.asarray(gram @ V + across / lengths)

    rest = 2 * problem.X.T @ (problem.Y - problem.X @ A) - units
    move, direction, before = np.zeros_like(A), np.zeros_like(A), 1.0
    first = None
    for _ in range(_CONJUGATE_STEPS):
        corrected = cho_solve(factor, rest, check_finite=False)
        now = float(np.sum(rest * corrected))
        first = now if first is None else first
        if not now > 1e-24 * first:
            break
        direction = corrected + (now / before) * direction
        change = curved(direction)
        curvature = float(np.sum(direction * change))
        if not curvature > 0:
            break
        move += (now / curvature) * direction
        rest = rest - (now / curvature) * change
        before = now
    return move
