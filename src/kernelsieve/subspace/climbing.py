"""The way up: maximise an objective over subspaces with scipy's solvers, and tell how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

from ..kernels import Rows
from .objectives import Objective

#: Value and derivative at a point.
Function = Callable[[np.ndarray], tuple[float, np.ndarray]]

_SOLVERS = {"lbfgs": "L-BFGS-B", "cg": "CG"}
_ROUND = 200  # iterations, after which the point is put in order and the solver starts afresh


class Ending(Enum):
    """Why the climb ended; the text goes into a warning and names the remedy."""

    CONVERGED = "the slope is below tol"
    LIMIT = "max_iter was reached. Raise max_iter, or raise tol"
    STUCK = "no step leads further up in floating-point numbers. Raise tol, or choose another init"


@dataclass(frozen=True)
class Climb:
    """Where the climb ended, and the value after each iteration, the start first."""

    point: np.ndarray
    path: np.ndarray
    ending: Ending
    slope: float  # Euclidean norm of the derivative at the end

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.path) - 1


def climb(
    function: Function,
    start: np.ndarray,
    put_in_order: Callable[[np.ndarray], np.ndarray],
    *,
    solver: str,
    max_iter: int,
    tol: float,
) -> Climb:
    """Go up from ``start`` until the norm of the derivative is at most ``tol``.

    ``put_in_order`` gives another point of the same value where numbers are of moderate size.
    """
    point = put_in_order(start)
    value, slope = function(point)
    path = [value]
    while True:
        steepness = float(np.linalg.norm(slope))
        if steepness <= tol:
            return Climb(point, np.array(path), Ending.CONVERGED, steepness)
        left = max_iter - len(path) + 1
        if left <= 0:
            return Climb(point, np.array(path), Ending.LIMIT, steepness)
        found, values = _round(function, point, solver, min(left, _ROUND), tol)
        if not values:
            return Climb(point, np.array(path), Ending.STUCK, steepness)
        point = put_in_order(found)
        value, slope = function(point)
        path += values


def _round(
    function: Function, start: np.ndarray, solver: str, max_iter: int, tol: float
) -> tuple[np.ndarray, list[float]]:
    """Run the solver once; return the last point and the value after each iteration."""
    shape = start.shape
    values: list[float] = []

    def downhill(flat: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = function(flat.reshape(shape))
        return -value, -slope.ravel()

    def note(intermediate_result) -> None:  # type: ignore[no-untyped-def]
        values.append(-float(intermediate_result.fun))  # scipy asks for this name

    options: dict[str, float] = {"maxiter": max_iter, "gtol": tol / np.sqrt(start.size)}
    if solver == "lbfgs":
        options |= {"ftol": 0.0, "maxcor": 20, "maxfun": 20 * max_iter}
    result = minimize(
        downhill, start.ravel(), jac=True, method=_SOLVERS[solver], callback=note, options=options
    )
    return result.x.reshape(shape), values


class Directions:
    """An objective as a function of directions V, of which features are ``rows @ V``.

    Only the span of V counts: features are taken along an orthonormal basis of it.
    """

    def __init__(self, rows: Rows, objective: Objective) -> None:
        self._rows = rows
        self._lines = rows.T.tocsr() if sparse.issparse(rows) else rows.T
        self._objective = objective

    def __call__(self, V: np.ndarray) -> tuple[float, np.ndarray]:
        Q, R = np.linalg.qr(V)
        value, slope = self._objective.value_and_slope(np.asarray(self._rows @ Q))
        gradient = np.asarray(self._lines @ slope)
        gradient -= Q @ (Q.T @ gradient)  # along the subspace nothing changes
        return value, solve_triangular(R, gradient.T).T

    @staticmethod
    def put_in_order(V: np.ndarray) -> np.ndarray:
        """Return an orthonormal basis of the same span."""
        return np.linalg.qr(V)[0]
