"""Sparse KFD by penalised least squares on screened columns, problem (12) of Mika et al."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, qr, svd
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lasso_path

from ..exceptions import warn
from .column_generation import CentredColumns, Effort, ReducedColumns, SparseSolution, most_violated

_SWEEPS, _GROUP_SWEEPS = 200, 20  # of coordinate descent between two looks at the conditions
_MOST_ROUNDS = 1000
_IDLE_TURNS = 3
_ROUNDING = 1e-14  # of the objective
_ALIKE = 1e-4  # part of a column that no other has, below which inner products are too inexact
_DEPENDENT = 1e-13  # relative size below which a combination of columns is nothing but rounding
_NEWTON_STEPS = 5
_CONJUGATE_STEPS = 50
_HALVINGS = 12


class PenalisedSquares:
    """``min sum_i w_i ||xi_i||^2 + C sum_j ||alpha_j||`` with ``K alpha + 1 b' = Y - xi``.

    For one class the penalty is that of the lasso, ``C ||alpha||_1``. For several together the
    coefficients ``alpha_j`` of a column for all classes are zero together: a multi-task lasso. A column
    joins the working set when its slopes of all classes are longer than C.
    """

    def __init__(
        self,
        design: CentredColumns | ReducedColumns,
        outputs: slice,
        tol: float,
        max_iter: int,
        *,
        grouped: bool,
    ) -> None:
        self._design = design
        self._grouped = grouped
        self._tol = tol
        self._max_iter = max_iter
        self._Y, self._target_means = design.targets[:, outputs], design.target_means[outputs]
        self._known = np.empty(0, np.intp)
        self._alpha = np.empty((0, self._Y.shape[1]))
        self._X = np.empty((len(self._Y), 0), order="F")  # their columns, weighted and centred
        self._means = np.empty(0)
        self._prices = np.empty(0)  # of all columns, for the last penalty
        self._last_C = np.inf

    def solve(self, C: float) -> list[SparseSolution]:
        """Solve for a penalty, starting from the last solution; return a solution for each class."""
        effort = Effort(self._max_iter)
        self._enter(self._screened(C))
        for _ in range(_MOST_ROUNDS):
            problem = self._X, self._Y, C, self._alpha, self._tol, effort
            self._alpha = least_squares(*problem, grouped=self._grouped)
            used = np.flatnonzero(self._alpha.any(axis=1))
            residual = self._Y - self._X[:, used] @ self._alpha[used]
            self._prices = np.linalg.norm(self._design.prices(residual), axis=1)
            new = most_violated(self._prices, C, self._known, self._tol, self._design.columns_a_round)
            if len(new) == 0 or effort.exhausted:
                break
            self._enter(new)
        check_solved(self._prices, C, self._tol, effort)
        self._last_C = C
        return self._solutions(C, residual, effort)

    def _screened(self, C: float) -> np.ndarray:
        """Return the columns that pass the sequential strong rule: prices of at least ``2 C - last C``.

        The rule may err, so every column is priced afterwards (Tibshirani et al., 2012).
        """
        if not self._last_C > C or len(self._prices) == 0:
            return np.empty(0, np.intp)
        survives = self._prices >= 2 * C - self._last_C
        return most_violated(np.where(survives, self._prices, 0.0), C, self._known, self._tol)

    def _enter(self, new: np.ndarray) -> None:
        """Add columns to the working set."""
        if len(new) == 0:
            return
        added, means = self._design.select(new)
        self._X = np.asfortranarray(np.hstack([self._X, added]))
        self._means = np.concatenate([self._means, means])
        self._known = np.concatenate([self._known, new])
        self._alpha = np.vstack([self._alpha, np.zeros((len(new), self._Y.shape[1]))])

    def _solutions(self, C: float, residual: np.ndarray, effort: Effort) -> list[SparseSolution]:
        """Return the solution of each class, with its part of the objective."""
        used = np.flatnonzero(self._alpha.any(axis=1))
        used = used[np.argsort(self._known[used])]
        alpha, largest = self._alpha[used], float(self._prices.max()) / C
        intercepts = self._target_means - self._means[used] @ alpha
        lengths = np.linalg.norm(alpha, axis=1, keepdims=True)
        objectives = np.sum(residual**2, axis=0) + C * np.sum(alpha**2 / lengths, axis=0)
        return [
            SparseSolution(self._known[used], own, float(b), float(objective), largest, effort.spent)
            for own, b, objective in zip(alpha.T, intercepts, objectives, strict=True)
        ]


def check_solved(prices: np.ndarray | None, C: float, tol: float, effort: Effort) -> None:
    """Warn if the optimality conditions are violated."""
    largest = float(np.abs(np.asarray(prices)).max()) / C
    if effort.exhausted:
        warn(
            f"The penalised problem is not solved after max_systems={effort.limit} linear systems: an "
            f"optimality condition is violated by {max(largest - 1, 0.0):.2g} of C, or more. Raise "
            "C, scale X, or raise max_systems in a subclass.",
            ConvergenceWarning,
        )
    elif largest > 1 + max(100 * tol, 1e-4):
        warn(
            "The penalised problem is not solved: an optimality condition is violated by "
            f"{largest - 1:.2g} of C. Raise C, or scale X.",
            ConvergenceWarning,
        )


def least_squares(
    X: np.ndarray,
    Y: np.ndarray,
    C: float,
    start: np.ndarray,
    tol: float,
    effort: Effort,
    *,
    grouped: bool = False,
) -> np.ndarray:
    """Minimise ``||Y - X A||^2 + C sum_j ||A_j||``, with A_j the rows of A.

    scikit-learn's coordinate descent finds which rows are not zero. Kernel columns are so alike that
    it would take very many sweeps to converge. What is left is smooth: a linear system for a single
    target, whose signs are known by then, or, ``grouped``, a few steps of Newton's method. Coordinate
    descent goes on from there where the optimality conditions do not hold. The objective never rises:
    what is returned is at least as good as the start, and as no coefficients at all.
    """
    if len(start) == 0:
        return start
    problem = _UnitPenalties.reduced(X / C, Y)
    A = start * C
    if problem.objective(A) > problem.objective(np.zeros_like(A)):
        A = np.zeros_like(A)
    sweep, finish = (_group_sweep, _on_rows) if grouped else (_sweep, _on_support)
    best, excess, idle = problem.objective(A), np.inf, 0
    while excess > tol / 2 and idle < _IDLE_TURNS and not effort.exhausted:
        turned = finish(problem, sweep(problem, A), effort)
        value, violated = problem.objective(turned), problem.excess(turned)
        if value > best * (1 + _ROUNDING):
            break
        idle = 0 if value < best * (1 - _ROUNDING) or violated < 0.5 * excess else idle + 1
        if idle == 0 or violated < excess:
            A, best, excess = turned, min(value, best), violated
    return np.asarray(A / C)


@dataclass(frozen=True)
class _UnitPenalties:
    """``||Y - X A||^2 + sum_j ||A_j||``."""

    X: np.ndarray
    Y: np.ndarray

    @classmethod
    def reduced(cls, X: np.ndarray, Y: np.ndarray) -> _UnitPenalties:
        """Reduce the problem to at most as many rows as X and Y have columns.

        An orthogonal factor changes no length. Inner products of the columns would be as small, but
        have half the digits only, which is too few for kernels of very unequal eigenvalues.
        """
        m, width = X.shape[1], X.shape[1] + Y.shape[1]
        if len(X) > width:
            R = qr(np.hstack([X, Y]), mode="r", overwrite_a=True, check_finite=False)[0][:width]
            X, Y = R[:, :m], R[:, m:]
        return cls(np.asfortranarray(X), np.asfortranarray(Y))

    def objective(self, A: np.ndarray) -> float:
        return float(np.sum((self.Y - self.X @ A) ** 2) + np.linalg.norm(A, axis=1).sum())

    def excess(self, A: np.ndarray) -> float:
        """Return the violation of the optimality conditions."""
        slopes = 2 * self.X.T @ (self.Y - self.X @ A)
        used = A.any(axis=1)
        units = A[used] / np.linalg.norm(A[used], axis=1, keepdims=True)
        off = np.linalg.norm(slopes[used] - units, axis=1).max(initial=0.0)
        return max(float(np.linalg.norm(slopes, axis=1).max()) - 1, float(off))


def _sweep(problem: _UnitPenalties, start: np.ndarray) -> np.ndarray:
    return _descended(problem.X, problem.Y[:, 0], start[:, 0], _SWEEPS)[:, None]


def _group_sweep(problem: _UnitPenalties, start: np.ndarray) -> np.ndarray:
    return _descended(problem.X, problem.Y, start.T, _GROUP_SWEEPS).T


def _descended(X: np.ndarray, Y: np.ndarray, first: np.ndarray, n_sweeps: int) -> np.ndarray:
    """Run sweeps of coordinate descent, and return the coefficients."""
    how = {"precompute": False, "coef_init": first, "max_iter": n_sweeps, "tol": 1e-14}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(lasso_path(X, Y, alphas=[0.5 / len(Y)], **how)[1][..., 0])


def _on_support(problem: _UnitPenalties, A: np.ndarray, effort: Effort) -> np.ndarray:
    """Minimise for fixed signs; a coefficient that would change its sign becomes zero."""
    A = A.copy()
    z, y = A[:, 0], problem.Y[:, 0]
    while (support := np.flatnonzero(z)).size and not effort.exhausted:
        X, signs = problem.X[:, support], np.sign(z[support])
        move = _towards(X, y - X @ z[support], signs, effort)
        shrinking = np.flatnonzero(move * signs < 0)
        steps = -z[support[shrinking]] / move[shrinking]
        if len(steps) == 0 or steps.min() > 1:
            z[support] += move
            break
        first = int(np.argmin(steps))
        z[support] += steps[first] * move
        z[support[shrinking[first]]] = 0.0
    return A


def _towards(X: np.ndarray, residual: np.ndarray, signs: np.ndarray, effort: Effort) -> np.ndarray:
    """Return the step that minimises ``|residual - X move||^2 + signs'move`` along its line.

    Where columns depend on each other and their penalties do not agree there is no minimum; along what
    is left of the signs the sum of squares hardly changes and the penalty falls.
    """
    slope = X.T @ residual - signs / 2
    move = _system(X, residual, signs, slope, effort)
    change = X @ move
    curvature = float(change @ change)
    # Rounding of an almost singular system: its solution says where to go, the line how far.
    return np.asarray(move * (float(slope @ move) / curvature)) if curvature > 0 else move


def _system(
    X: np.ndarray, residual: np.ndarray, signs: np.ndarray, slope: np.ndarray, effort: Effort
) -> np.ndarray:
    effort.spent += 1
    try:
        factor = cho_factor(X.T @ X, check_finite=False)
        diagonal = np.abs(np.diagonal(factor[0]))
        if diagonal.min() > _ALIKE * diagonal.max():
            return np.asarray(cho_solve(factor, slope, check_finite=False))
    except LinAlgError:  # columns that are alike to the last digits
        pass
    left, sizes, right = svd(X, full_matrices=False, check_finite=False)
    curved = sizes > _DEPENDENT * sizes[0]
    right, flat = right[curved], signs - right[curved].T @ (right[curved] @ signs)
    if np.linalg.norm(flat) > 1e-7 * np.linalg.norm(signs):
        return -flat
    sizes = sizes[curved]
    return np.asarray(right.T @ ((left[:, curved].T @ residual - right @ signs / (2 * sizes)) / sizes))


def _on_rows(problem: _UnitPenalties, A: np.ndarray, effort: Effort) -> np.ndarray:
    """Take a Newton step on the nonzero rows."""
    effort.spent += 1  # for the sweeps
    A, value = A.copy(), problem.objective(A)
    for _ in range(_NEWTON_STEPS):
        used = np.flatnonzero(A.any(axis=1))
        if len(used) == 0 or effort.exhausted:
            break
        effort.spent += 1
        few = _UnitPenalties(problem.X[:, used], problem.Y)
        lower = _search(few, A[used], _newton(few, A[used]), value)
        if lower is None:
            break
        A[used] = lower
        value = problem.objective(A)
    return A


def _search(
    problem: _UnitPenalties, A: np.ndarray, move: np.ndarray, value: float
) -> np.ndarray | None:
    """Search along a step; a row that would reverse becomes zero."""
    along = np.einsum("jq,jq->j", A, move) / np.einsum("jq,jq->j", A, A)  # -1 is where it turns
    far = max(1.0, -float(along.min()))
    for step in np.append(1 / far, 0.5 ** np.arange(_HALVINGS)):
        lower = A + step * move
        lower[step * along <= -1 + 1e-12] = 0.0
        if problem.objective(lower) < value:
            return lower
    return None


def _factored(matrix: np.ndarray) -> Any:
    """Return a Cholesky factor, regularised if rounding makes the matrix indefinite."""
    try:
        return cho_factor(matrix, check_finite=False)
    except LinAlgError:
        rounding = 4 * len(matrix) * np.finfo(np.float64).eps * np.trace(matrix)
        return cho_factor(matrix + rounding * np.eye(len(matrix)), check_finite=False)


def _newton(problem: _UnitPenalties, A: np.ndarray) -> np.ndarray:
    """Return the Newton step, by conjugate gradients.

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
