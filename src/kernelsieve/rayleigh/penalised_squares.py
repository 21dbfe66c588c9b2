"""Sparse KFD: l1-penalised least squares on screened kernel columns, problem (12) of Mika et al."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lasso_path

from .priced_columns import PricedColumns, SparseSolution, most_violated

_SWEEPS = 200  # of coordinate descent between two looks at the optimality conditions
_MOST_TURNS = 200
_MOST_ROUNDS = 1000
_DEPENDENT = 1e-13  # relative eigenvalue below which a combination of columns is nothing but rounding


class PenalisedSquares:
    """``min sum_i w_i xi_i^2 + C ||alpha||_1`` with ``K alpha + b = y - xi``, on a working set."""

    def __init__(self, columns: PricedColumns, y: np.ndarray, weight: np.ndarray, tol: float) -> None:
        self._columns = columns
        self._weight = weight
        self._root = np.sqrt(weight)
        self._tol = tol
        self._mean = float(weight @ y / weight.sum())
        self._y = self._root * (y - self._mean)
        self._known = np.empty(0, np.intp)
        self._alpha = np.empty(0)
        self._X = np.empty((len(y), 0), order="F")  # their columns, weighted and centred
        self._means = np.empty(0)
        self._gram = np.empty((0, 0))
        self._prices: np.ndarray | None = None  # of all columns, for the last penalty
        self._last_C = np.inf

    def solve(self, C: float) -> SparseSolution:
        """Minimise for a penalty, from where the last one ended."""
        self._enter(self._screened(C))
        for _ in range(_MOST_ROUNDS):
            penalties = np.full(len(self._known), C)
            self._alpha = least_squares(self._X, self._y, self._gram, penalties, self._alpha, self._tol)
            residual = self._residual()
            self._prices = self._columns.prices(2 * self._root * residual)
            new = most_violated(self._prices, C, self._known, self._tol)
            if len(new) == 0:
                break
            self._enter(new)
        check_solved(self._prices, C, self._tol)
        self._last_C = C
        return self._solution(C, residual)

    def _screened(self, C: float) -> np.ndarray:
        """Return what the sequential strong rule keeps: prices of at least ``2 C - last C``.

        The rule may err, so every column is priced afterwards (Tibshirani et al., 2012).
        """
        if self._prices is None or not self._last_C > C:
            return np.empty(0, np.intp)
        survives = np.abs(self._prices) >= 2 * C - self._last_C
        return most_violated(np.where(survives, self._prices, 0.0), C, self._known, self._tol)

    def _enter(self, new: np.ndarray) -> None:
        """Add columns to the working set, with their inner products."""
        if len(new) == 0:
            return
        added, means = centred(self._columns.take(new), self._weight)
        cross = self._X.T @ added
        self._gram = np.block([[self._gram, cross], [cross.T, added.T @ added]])
        self._X = np.asfortranarray(np.hstack([self._X, added]))
        self._means = np.concatenate([self._means, means])
        self._known = np.concatenate([self._known, new])
        self._alpha = np.concatenate([self._alpha, np.zeros(len(new))])

    def _residual(self) -> np.ndarray:
        used = np.flatnonzero(self._alpha)
        return np.asarray(self._y - self._X[:, used] @ self._alpha[used])

    def _solution(self, C: float, residual: np.ndarray) -> SparseSolution:
        used = np.flatnonzero(self._alpha)
        used = used[np.argsort(self._known[used])]
        return SparseSolution(
            C=C,
            candidates=self._known[used],
            alpha=self._alpha[used],
            intercept=self._mean - float(self._means[used] @ self._alpha[used]),
            objective=float(residual @ residual) + C * float(np.abs(self._alpha).sum()),
            slopes=2 * self._root * residual,
            largest_price=float(np.abs(np.asarray(self._prices)).max()) / C,
            n_columns=len(self._known),
        )


def centred(values: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return columns less their means, times root weights, and the means."""
    means = weight @ values / weight.sum()
    return np.asarray((values - means) * np.sqrt(weight)[:, None]), means


def check_solved(prices: np.ndarray | None, C: float, tol: float) -> None:
    """Warn where the optimality conditions are far from holding."""
    largest = float(np.abs(np.asarray(prices)).max()) / C
    if largest > 1 + max(100 * tol, 1e-4):
        warnings.warn(
            "The penalised problem is not solved: an optimality condition is violated by "
            f"{largest - 1:.2g} of C. Raise C, or scale the inputs.",
            ConvergenceWarning,
            stacklevel=2,
        )


def least_squares(
    X: np.ndarray,
    y: np.ndarray,
    gram: np.ndarray,
    penalties: np.ndarray,
    start: np.ndarray,
    tol: float,
) -> np.ndarray:
    """Minimise ``||y - X a||^2 + sum_j penalties_j |a_j|``.

    scikit-learn's coordinate descent finds which coefficients are not zero, and their signs. Kernel
    columns are so alike that it would take very many sweeps to get all digits; what is left is a
    linear system, whose solution is checked against the optimality conditions, and coordinate descent
    goes on from there where they do not hold.
    """
    if len(start) == 0:
        return start
    scaled = np.asfortranarray(X / penalties)  # so that all penalties are 1
    G = np.ascontiguousarray(gram / np.outer(penalties, penalties))
    q = scaled.T @ y
    z = start * penalties
    for _ in range(_MOST_TURNS):
        z = _on_support(G, q, _sweep(scaled, y, G, q, z))
        excess = 2 * np.abs(q - G @ z) - 1
        if excess.max() <= tol / 2:
            break
    return np.asarray(z / penalties)


def _sweep(
    X: np.ndarray, y: np.ndarray, gram: np.ndarray, products: np.ndarray, start: np.ndarray
) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, path, _ = lasso_path(
            X,
            y,
            alphas=[0.5 / len(y)],
            precompute=gram,
            Xy=products,
            coef_init=start,
            max_iter=_SWEEPS,
            tol=1e-14,
        )
    return np.asarray(path[:, 0])


def _on_support(G: np.ndarray, q: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Go to the minimum for given signs; a coefficient that would change its sign becomes zero."""
    z = z.copy()
    while True:
        support = np.flatnonzero(z)
        if len(support) == 0:
            return z
        signs = np.sign(z[support])
        move, furthest = _towards(G[np.ix_(support, support)], q[support] - signs / 2, z[support])
        shrinking = np.flatnonzero(move * signs < 0)
        steps = -z[support[shrinking]] / move[shrinking]
        if len(steps) == 0 or steps.min() > furthest:
            z[support] += move
            return z
        first = int(np.argmin(steps))
        z[support] += steps[first] * move
        z[support[shrinking[first]]] = 0.0


def _towards(A: np.ndarray, b: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, float]:
    """Return a move from z that lowers ``z'A z / 2 - b'z``, and how many times it may be made.

    Where columns depend on each other and their penalties do not agree there is no minimum; along what
    is left of b the sum of squares stays as it is and the penalty falls.
    """
    try:
        factor = cho_factor(A)
        diagonal = np.abs(np.diagonal(factor[0]))
        if diagonal.min() ** 2 > _DEPENDENT * diagonal.max() ** 2:
            return np.asarray(cho_solve(factor, b)) - z, 1.0
    except LinAlgError:  # columns that are alike to the last digits
        pass
    values, vectors = eigh(A)
    curved = values > _DEPENDENT * values[-1]
    along = vectors.T @ b
    left = vectors[:, ~curved] @ along[~curved]
    if np.linalg.norm(left) > 1e-9 * np.linalg.norm(b):
        return left, np.inf
    return vectors[:, curved] @ (along[curved] / values[curved] - vectors[:, curved].T @ z), 1.0
