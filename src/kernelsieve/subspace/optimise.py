"""Maximise an objective over subspaces, spanned by directions or by points, by scipy's solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.optimize import minimize

from ..kernels import Kernel, Rows
from .images import independent
from .objectives import Objective

#: Value and derivative at a point.
Function = Callable[[np.ndarray], tuple[float, np.ndarray]]

_SOLVERS = {"lbfgs": "L-BFGS-B", "cg": "CG"}
_ROUND = 200  # iterations, after which the point is put in order and the solver starts afresh

_MANY_UNKNOWNS = 50_000
EARLY_STOP = 30  # iterations
_LOOK_BACK = 10  # iterations
_FLAT = 1e-6  # norm of the derivative at a summit, where floating-point numbers lead no further
_ILL_CONDITIONED = 1e3  # directions so near to each other that their inner products lose digits


class Ending:
    """Why the optimisation ended; the text goes into a warning and names the remedy."""

    CONVERGED = "the last iterations gained less than tol each"
    EARLY = (
        "the optimisation stops early with max_iter=None, before features fit single training samples. "
        "Pass max_iter as a number to go on"
    )
    START = "max_iter=0 asks for no iteration"
    LIMIT = "max_iter was reached. Raise max_iter, or raise tol"
    STUCK = "no step leads further up in floating-point numbers. Raise tol, or choose another init"


@dataclass(frozen=True)
class Optimum:
    """The last point of an optimisation, and the value after each iteration, the start first."""

    point: np.ndarray
    path: np.ndarray
    ending: str


def maximise(
    function: Function,
    start: np.ndarray,
    put_in_order: Callable[[np.ndarray], np.ndarray],
    *,
    solver: str,
    max_iter: int | None,
    tol: float,
) -> Optimum:
    """Maximise from ``start`` until the last ten iterations gain at most ``tol`` each on average.

    Without ``max_iter`` it stops early: alignment gained late is that of single samples.

    ``put_in_order`` gives another point of the same value where numbers are of moderate size.
    """
    most = EARLY_STOP if max_iter is None else max_iter
    point = put_in_order(start)
    path = [function(point)[0]]
    while len(path) <= most:
        n_before = len(path)
        point = put_in_order(_round(function, point, path, solver, most, tol))
        if _levels_off(path, tol):
            return Optimum(point, np.array(path), Ending.CONVERGED)
        if len(path) == n_before:
            flat = float(np.linalg.norm(function(point)[1])) <= _FLAT * max(1.0, abs(path[-1]))
            return Optimum(point, np.array(path), Ending.CONVERGED if flat else Ending.STUCK)
    if max_iter == 0:
        return Optimum(point, np.array(path), Ending.START)
    return Optimum(point, np.array(path), Ending.EARLY if max_iter is None else Ending.LIMIT)


def _levels_off(path: list[float], tol: float) -> bool:
    return len(path) > _LOOK_BACK and path[-1] - path[-1 - _LOOK_BACK] <= tol * _LOOK_BACK


def _round(
    function: Function, start: np.ndarray, path: list[float], solver: str, max_iter: int, tol: float
) -> np.ndarray:
    """Run the solver once, record the value after each iteration, and return the last point."""
    shape = start.shape

    def downhill(flat: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = function(flat.reshape(shape))
        return -value, -slope.ravel()

    def note(intermediate_result) -> None:  # type: ignore[no-untyped-def]
        value = -float(intermediate_result.fun)  # scipy asks for this name
        path.append(max(path[-1], value))  # solvers accept no lower value, but for rounding
        if _levels_off(path, tol):
            raise StopIteration

    options: dict[str, float] = {"maxiter": min(_ROUND, max_iter + 1 - len(path)), "gtol": 1e-14}
    if solver == "lbfgs":
        # With very many unknowns the solver itself would take longer than the objective.
        corrections = 5 if start.size > _MANY_UNKNOWNS else 10
        options |= {"ftol": 0.0, "maxfun": 20 * _ROUND, "maxcor": corrections}
    result = minimize(
        downhill, start.ravel(), jac=True, method=_SOLVERS[solver], callback=note, options=options
    )
    return np.asarray(result.x).reshape(shape)


class Directions:
    """An objective as a function of directions V, with features ``rows @ V``.

    Only the span of V counts: features are taken along an orthonormal basis of it.
    """

    def __init__(self, rows: Rows, objective: Objective) -> None:
        self._rows = rows
        self._lines = rows.T.tocsr() if sparse.issparse(rows) else rows.T
        self._objective = objective

    def __call__(self, V: np.ndarray) -> tuple[float, np.ndarray]:
        inverse = _inverse_triangle(V)
        Q = V @ inverse
        value, slope = self._objective(np.asarray(self._rows @ Q))
        gradient = np.asarray(self._lines @ slope)
        gradient -= Q @ (Q.T @ gradient)  # along the subspace nothing changes
        return value, gradient @ inverse.T


def orthonormalise(V: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the span of directions."""
    return np.linalg.qr(V)[0]


def _inverse_triangle(V: np.ndarray) -> np.ndarray:
    """Return ``R^-1`` for ``V = Q R``: by Cholesky, or by QR if V is ill-conditioned."""
    try:
        R = cholesky(V.T @ V)
    except LinAlgError:
        R = np.linalg.qr(V, mode="r")
    inverse = solve_triangular(R, np.eye(len(R)))
    if np.linalg.norm(inverse) * np.linalg.norm(R) > _ILL_CONDITIONED:
        R = np.linalg.qr(V, mode="r")
        inverse = solve_triangular(R, np.eye(len(R)))
    return inverse


class Points:
    """An objective as a function of points Z whose images span the subspace, formula (16)."""

    def __init__(self, rows: Rows, root: np.ndarray, kernel: Kernel, objective: Objective) -> None:
        self._rows = rows
        self._root = root[:, None]
        self._kernel = kernel
        self._objective = objective

    def __call__(self, Z: np.ndarray) -> tuple[float, np.ndarray]:
        among = self._kernel.block(Z, Z)
        R = triangle(among)
        values = self._kernel.block(self._rows, Z)
        features = _divided(self._root * values, R)
        value, slope = self._objective(features)
        if not np.isfinite(slope).all():  # points so far from all samples that nothing is left of them
            return -np.inf, np.zeros_like(Z)
        of_values = self._root * solve_triangular(R, slope.T).T
        # The value does not change when the basis is rotated, so this is all that the points' own
        # kernel matrix adds, whichever of its factors was taken.
        inner = -0.5 * solve_triangular(R, solve_triangular(R, features.T @ slope).T)
        gradient = self._kernel.landmark_gradient(self._rows, Z, values, of_values)
        gradient += self._kernel.landmark_gradient(Z, Z, among, inner + inner.T)
        return value, gradient

    def independent_points(self, Z: np.ndarray) -> np.ndarray:
        """Return the points with linearly independent images."""
        return Z[np.sort(independent(self._kernel.block(Z, Z))[1])]

    def features(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return features along an orthonormal basis, and the basis in terms of the points."""
        R = triangle(self._kernel.block(Z, Z))
        values = self._root * self._kernel.block(self._rows, Z)
        return _divided(values, R), solve_triangular(R, np.eye(len(R)))


def triangle(among: np.ndarray) -> np.ndarray:
    """Return the triangular factor of a kernel matrix, with a ridge for coinciding points."""
    ridge, size = 0.0, float(np.trace(among)) / len(among)
    while True:
        try:
            return cholesky(among + ridge * np.eye(len(among)))
        except LinAlgError:
            ridge = max(10 * ridge, 1e-14 * size)
            if not ridge < size:
                raise


def _divided(values: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Return ``values R^-1``."""
    return solve_triangular(R, values.T, trans="T").T
