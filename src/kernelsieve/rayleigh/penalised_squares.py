"""Sparse KFD: l1-penalised least squares on screened kernel columns, problem (12) of Mika et al."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, lstsq, solve
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lasso_path

from .priced_columns import PricedColumns, SparseSolution, most_violated

_SWEEPS = 200  # of coordinate descent between two looks at the optimality conditions
_MOST_TURNS = 200
_MOST_ROUNDS = 1000


class PenalisedSquares:
    """``min sum_i w_i xi_i^2 + C ||alpha||_1`` with ``K alpha + b = y - xi``, on a working set.

    With a finite ``delta`` squares beyond it become lines, ``2 delta |xi| - delta^2`` (Huber). That is
    the same problem with a shift of its own for every row, at a price: ``min sum_i w_i (xi_i - s_i)^2
    + 2 delta w_i |s_i|``. Shifts are columns of the identity matrix that join when ``|xi_i|`` exceeds
    delta, just as kernel columns join when ``|2 k_j' W xi|`` exceeds C.
    """

    def __init__(
        self,
        columns: PricedColumns,
        y: np.ndarray,
        weight: np.ndarray,
        delta: float,
        tol: float,
    ) -> None:
        self._columns = columns
        self._weight = weight
        self._root = np.sqrt(weight)
        self._delta = delta
        self._tol = tol
        self._mean = float(weight @ y / weight.sum())
        self._y = self._root * (y - self._mean)
        self._target = y
        self._known = np.empty(0, np.intp)  # candidates, then shifted rows beyond their number
        self._coefficients = np.empty(0)
        self._X = np.empty((len(y), 0), order="F")  # their columns, weighted and centred
        self._means = np.empty(0)
        self._gram = np.empty((0, 0))
        self._prices: np.ndarray | None = None  # of all columns, for the last penalty
        self._last_C = np.inf

    def solve(self, C: float) -> SparseSolution:
        """Minimise for a penalty, from where the last one ended."""
        n_candidates = self._columns.shape[1]
        limit = np.concatenate([np.full(n_candidates, C), self._shift_penalties()])
        self._screen(C, limit)
        for _ in range(_MOST_ROUNDS):
            self._coefficients = least_squares(
                self._X, self._y, self._gram, limit[self._known], self._coefficients, self._tol
            )
            slopes = self._slopes()
            self._prices = self._all_prices(slopes)
            new = self._violated(limit)
            if len(new) == 0:
                break
            self._enter(new)
        else:
            warnings.warn(
                "The penalised least squares problem is not solved to the tolerance; raise tol or C.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._last_C = C
        return self._solution(C, limit, slopes)

    def _shift_penalties(self) -> np.ndarray:
        return 2 * self._delta * self._weight if np.isfinite(self._delta) else np.empty(0)

    def _screen(self, C: float, limit: np.ndarray) -> None:
        """Take in what the sequential strong rule keeps: prices of at least ``2 C - last C``.

        The rule may err, so every column is priced afterwards (Tibshirani et al., 2012).
        """
        if self._prices is None or not self._last_C > C:
            return
        survivors = np.abs(self._prices[: self._columns.shape[1]]) >= 2 * C - self._last_C
        prices = np.where(survivors, self._prices[: len(survivors)], 0.0)
        self._enter(most_violated(prices, C, self._known[self._known < len(survivors)], self._tol))

    def _violated(self, limit: np.ndarray) -> np.ndarray:
        """Return the worst kernel columns, and every row whose residual is beyond delta."""
        prices, n_candidates = np.asarray(self._prices), self._columns.shape[1]
        of_kernel = self._known < n_candidates
        worst = most_violated(
            prices[:n_candidates], limit[:n_candidates], self._known[of_kernel], self._tol
        )
        beyond = np.abs(prices[n_candidates:]) > limit[n_candidates:] * (1 + self._tol)
        beyond[self._known[~of_kernel] - n_candidates] = False
        return np.concatenate([worst, n_candidates + np.flatnonzero(beyond)])

    def _enter(self, new: np.ndarray) -> None:
        """Add columns to the working set, with their inner products."""
        if len(new) == 0:
            return
        n_candidates = self._columns.shape[1]
        added = np.zeros((len(self._y), len(new)), order="F")
        is_shift = new >= n_candidates
        added[:, ~is_shift] = self._columns.take(new[~is_shift])
        added[new[is_shift] - n_candidates, np.flatnonzero(is_shift)] = 1.0
        means = self._weight @ added / self._weight.sum()
        added -= means
        added *= self._root[:, None]
        cross = self._X.T @ added
        self._gram = np.block([[self._gram, cross], [cross.T, added.T @ added]])
        self._X = np.asfortranarray(np.hstack([self._X, added]))
        self._means = np.concatenate([self._means, means])
        self._known = np.concatenate([self._known, new])
        self._coefficients = np.concatenate([self._coefficients, np.zeros(len(new))])

    def _slopes(self) -> np.ndarray:
        used = np.flatnonzero(self._coefficients)
        residual = self._y - self._X[:, used] @ self._coefficients[used]
        return np.asarray(2 * self._root * residual)

    def _all_prices(self, slopes: np.ndarray) -> np.ndarray:
        prices = self._columns.prices(slopes)
        return np.concatenate([prices, slopes]) if np.isfinite(self._delta) else prices

    def _solution(self, C: float, limit: np.ndarray, slopes: np.ndarray) -> SparseSolution:
        n_candidates = self._columns.shape[1]
        used = np.flatnonzero(self._coefficients)
        used = used[np.argsort(self._known[used])]
        of_kernel = used[self._known[used] < n_candidates]
        coefficients = self._coefficients
        residual = slopes / (2 * self._root)
        penalty = limit[self._known[used]] @ np.abs(coefficients[used])
        prices = np.asarray(self._prices)
        return SparseSolution(
            C=C,
            candidates=self._known[of_kernel],
            alpha=coefficients[of_kernel],
            intercept=self._mean - float(self._means[used] @ coefficients[used]),
            objective=float(residual @ residual) + float(penalty),
            slopes=slopes,
            largest_price=float(np.abs(prices[:n_candidates]).max()) / C,
            n_columns=int((self._known < n_candidates).sum()),
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
        goal = _solved(G[np.ix_(support, support)], q[support] - signs / 2)
        crossing = np.flatnonzero(goal * signs <= 0)
        if len(crossing) == 0:
            z[support] = goal
            return z
        steps = z[support[crossing]] / (z[support[crossing]] - goal[crossing])
        first = int(np.argmin(steps))
        z[support] += steps[first] * (goal - z[support])
        z[support[crossing[first]]] = 0.0


def _solved(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("error", LinAlgWarning)
        try:
            return np.asarray(solve(A, b, assume_a="pos"))
        except (LinAlgError, LinAlgWarning):  # columns that are alike to the last digits
            return np.asarray(lstsq(A, b)[0])
