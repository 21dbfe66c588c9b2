"""Sparse KFD: l1-penalised least squares on screened kernel columns, problem (12) of Mika et al."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, qr, svd
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lasso_path

from ..exceptions import warn
from .column_generation import Effort, SparseSolution, most_violated
from .designs import Design

_SWEEPS = 200  # of coordinate descent between two looks at the optimality conditions
_MOST_TURNS = 200
_MOST_ROUNDS = 1000
_IDLE_TURNS = 3
_ROUNDING = 1e-14  # of the objective
_ALIKE = 1e-4  # part of a column that no other has, below which inner products are too inexact
_DEPENDENT = 1e-13  # relative size below which a combination of columns is nothing but rounding


class PenalisedSquares:
    """``min sum_i w_i xi_i^2 + C ||alpha||_1`` with ``K alpha + b = y - xi``, on a working set."""

    def __init__(self, design: Design, output: int, tol: float, max_iter: int) -> None:
        self._max_iter = max_iter
        self._design = design
        self._tol = tol
        self._y, self._mean = design.targets[:, output], float(design.target_means[output])
        self._known = np.empty(0, np.intp)
        self._alpha = np.empty(0)
        self._X = np.empty((len(self._y), 0), order="F")  # their columns, weighted and centred
        self._means = np.empty(0)
        self._prices: np.ndarray | None = None  # of all columns, for the last penalty
        self._last_C = np.inf

    def solve(self, C: float) -> SparseSolution:
        """Minimise for a penalty, from where the last one ended."""
        effort = Effort(self._max_iter)
        self._enter(self._screened(C))
        for _ in range(_MOST_ROUNDS):
            penalties = np.full(len(self._known), C)
            self._alpha = least_squares(self._X, self._y, penalties, self._alpha, self._tol, effort)
            residual = self._residual()
            self._prices = self._design.prices(residual)
            new = most_violated(self._prices, C, self._known, self._tol, self._design.columns_a_round)
            if len(new) == 0 or effort.exhausted:
                break
            self._enter(new)
        check_solved(self._prices, C, self._tol, effort)
        self._last_C = C
        return self._solution(C, residual, effort)

    def _screened(self, C: float) -> np.ndarray:
        """Return what the sequential strong rule keeps: prices of at least ``2 C - last C``.

        The rule may err, so every column is priced afterwards (Tibshirani et al., 2012).
        """
        if self._prices is None or not self._last_C > C:
            return np.empty(0, np.intp)
        survives = np.abs(self._prices) >= 2 * C - self._last_C
        return most_violated(np.where(survives, self._prices, 0.0), C, self._known, self._tol)

    def _enter(self, new: np.ndarray) -> None:
        """Add columns to the working set."""
        if len(new) == 0:
            return
        added, means = self._design.take(new)
        self._X = np.asfortranarray(np.hstack([self._X, added]))
        self._means = np.concatenate([self._means, means])
        self._known = np.concatenate([self._known, new])
        self._alpha = np.concatenate([self._alpha, np.zeros(len(new))])

    def _residual(self) -> np.ndarray:
        used = np.flatnonzero(self._alpha)
        return np.asarray(self._y - self._X[:, used] @ self._alpha[used])

    def _solution(self, C: float, residual: np.ndarray, effort: Effort) -> SparseSolution:
        used = np.flatnonzero(self._alpha)
        used = used[np.argsort(self._known[used])]
        return SparseSolution(
            candidates=self._known[used],
            alpha=self._alpha[used],
            intercept=self._mean - float(self._means[used] @ self._alpha[used]),
            objective=float(residual @ residual) + C * float(np.abs(self._alpha).sum()),
            largest_price=float(np.abs(np.asarray(self._prices)).max()) / C,
            n_iter=effort.spent,
        )


def check_solved(prices: np.ndarray | None, C: float, tol: float, effort: Effort) -> None:
    """Warn where the optimality conditions are far from holding."""
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
    y: np.ndarray,
    penalties: np.ndarray,
    start: np.ndarray,
    tol: float,
    effort: Effort,
) -> np.ndarray:
    """Minimise ``||y - X a||^2 + sum_j penalties_j |a_j|``.

    scikit-learn's coordinate descent finds which coefficients are not zero, and their signs. Kernel
    columns are so alike that it would take very many sweeps to converge; what is left is a
    linear system, whose solution is checked against the optimality conditions, and coordinate descent
    goes on from there where they do not hold. The objective never rises: what is returned is at least
    as good as the start, and as no coefficients at all.
    """
    if len(start) == 0:
        return start
    problem = _UnitPenalties.reduced(X / penalties, y)
    z = start * penalties
    if problem.objective(z) > problem.objective(np.zeros_like(z)):
        z = np.zeros_like(z)
    best, excess, idle = problem.objective(z), np.inf, 0
    for _ in range(_MOST_TURNS):
        turned = _on_support(problem, _sweep(problem, z), effort)
        value, violated = problem.objective(turned), problem.excess(turned)
        if value > best * (1 + _ROUNDING):
            break
        improves = value < best * (1 - _ROUNDING) or violated < 0.5 * excess
        if improves or violated < excess:
            z, best, excess = turned, min(value, best), violated
        idle = 0 if improves else idle + 1
        if excess <= tol / 2 or idle == _IDLE_TURNS or effort.exhausted:
            break
    return np.asarray(z / penalties)


@dataclass(frozen=True)
class _UnitPenalties:
    """``||y - X z||^2 + ||z||_1``."""

    X: np.ndarray
    y: np.ndarray

    @classmethod
    def reduced(cls, X: np.ndarray, y: np.ndarray) -> _UnitPenalties:
        """Return the same problem with no more rows than there are columns, and one.

        An orthogonal factor changes no length. Inner products of the columns would be as small, but
        have half the digits only, which is too few for kernels of very unequal eigenvalues.
        """
        n, m = X.shape
        if n > m + 1:
            R = qr(np.column_stack([X, y]), mode="r", overwrite_a=True, check_finite=False)[0]
            X, y = R[: m + 1, :m], R[: m + 1, m]
        return cls(np.asfortranarray(X), np.ascontiguousarray(y))

    def objective(self, z: np.ndarray) -> float:
        residual = self.y - self.X @ z
        return float(residual @ residual + np.abs(z).sum())

    def excess(self, z: np.ndarray) -> float:
        """Return by how much the optimality conditions are violated."""
        prices = 2 * self.X.T @ (self.y - self.X @ z)
        used = z != 0
        off = np.abs(prices[used] - np.sign(z[used])).max(initial=0.0)
        return max(float(np.abs(prices).max()) - 1, float(off))


def _sweep(problem: _UnitPenalties, start: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, path, _ = lasso_path(
            problem.X,
            problem.y,
            alphas=[0.5 / len(problem.y)],
            precompute=False,
            coef_init=start,
            max_iter=_SWEEPS,
            tol=1e-14,
        )
    return np.asarray(path[:, 0])


def _on_support(problem: _UnitPenalties, z: np.ndarray, effort: Effort) -> np.ndarray:
    """Go to the minimum for given signs; a coefficient that would change its sign becomes zero."""
    z = z.copy()
    while (support := np.flatnonzero(z)).size and not effort.exhausted:
        X, signs = problem.X[:, support], np.sign(z[support])
        move = _towards(X, problem.y - X @ z[support], signs, effort)
        shrinking = np.flatnonzero(move * signs < 0)
        steps = -z[support[shrinking]] / move[shrinking]
        if len(steps) == 0 or steps.min() > 1:
            z[support] += move
            return z
        first = int(np.argmin(steps))
        z[support] += steps[first] * move
        z[support[shrinking[first]]] = 0.0
    return z


def _towards(X: np.ndarray, residual: np.ndarray, signs: np.ndarray, effort: Effort) -> np.ndarray:
    """Return the move that lowers ``||residual - X move||^2 + signs'move`` most along its line.

    Where columns depend on each other and their penalties do not agree there is no minimum; along what
    is left of the signs the sum of squares hardly changes and the penalty falls.
    """
    slope = X.T @ residual - signs / 2
    move = _newton(X, residual, signs, slope, effort)
    change = X @ move
    curvature = float(change @ change)
    # Rounding of an almost singular system: its solution says where to go, the line how far.
    return np.asarray(move * (float(slope @ move) / curvature)) if curvature > 0 else move


def _newton(
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
