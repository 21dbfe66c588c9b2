"""The dual problem (4) of one step: its gradient, and an exact solver.

The primal problem looks for a shift s and a unit loading w that reconstruct the images from the
residuals u, and minds the worst of them only::

    min  epsilon + sum(xi) / (nu n)   such that   |phi_i - s - u_i w|^2 / 2 <= epsilon + xi_i,  xi >= 0

The dual maximises over ``sum(alpha) = 1, 0 <= alpha_i <= 1 / (nu n)`` the concave ::

    D(alpha) = (alpha' diag K - alpha' K alpha + alpha' (u * u) - mean^2) / 2 - r

with ``mean = alpha' u``, ``beta = alpha * (u - mean)`` and ``r^2 = beta' K beta``; then ``w`` is
``Phi' beta / r`` and ``s`` is ``Phi' alpha - mean w``. The constraints and the part of nu are stated
in the paper that :mod:`.extraction` names; the dual and the solver are our derivation, since the
paper's text of (4) is lost.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from sklearn.exceptions import ConvergenceWarning

from ...exceptions import warn
from .columns import DeflatedKernel, Multipliers

_STEPS_PER_ROW = 50
_LOOK_EVERY = 20  # steps between two looks at the duality gap
_NO_SPREAD = 1e-8  # of what it can be: an r that is zero within the accuracy of the gap


def reconstruction_errors(
    kernel: DeflatedKernel, u: np.ndarray, multipliers: Multipliers, *, replace: bool = True
) -> np.ndarray:
    """Return ``|phi_i - s - u_i w|^2 / 2`` of every sample: the gradient of the dual."""
    rows, alpha = multipliers.rows, multipliers.alpha
    products = kernel.product(rows, np.column_stack([alpha, alpha * u[rows]]), replace=replace)
    return _errors(kernel.diagonal, u, rows, alpha, products[:, 0], products[:, 1])


def frank_wolfe_vertex(errors: np.ndarray, caps: np.ndarray) -> np.ndarray:
    """Return the Frank-Wolfe vertex: the alpha with all its mass on the largest errors."""
    order = np.argsort(-errors, kind="stable")
    before = np.cumsum(caps[order]) - caps[order]
    vertex = np.zeros(len(errors))
    vertex[order] = np.clip(1.0 - before, 0.0, caps[order])
    return vertex


def solve_dual(
    kernel: DeflatedKernel, u: np.ndarray, caps: np.ndarray, gap_tol: float = 1e-4
) -> Multipliers | None:
    """Maximise the dual by pairwise Frank-Wolfe steps with exact line search.

    A step moves weight from the support vector with the least error to the sample with the largest that
    may still take some, so only columns of samples that have been support vectors at some time are
    evaluated. It ends when the duality gap is at most ``gap_tol`` of the objective, or where r
    vanishes: then there is no loading, the dual does not meet the primal, and the multipliers are of no
    use.

    Parameters
    ----------
    kernel : DeflatedKernel
    u : ndarray
        Residuals.
    caps : ndarray
        The largest alpha of each sample; they sum to one or more.
    gap_tol : float, default=1e-4
        Duality gap to be reached, as a part of the objective.

    Returns
    -------
    Multipliers or None
        None where r vanishes: with few values of u, small nu or small u.
    """
    # Both ends of the residuals: a start without a spread would have no loading, and no gradient.
    dual = _Dual(kernel, u, caps, (frank_wolfe_vertex(u, caps) + frank_wolfe_vertex(-u, caps)) / 2)
    for step in range(_STEPS_PER_ROW * len(u)):
        errors = dual.errors()
        if step % _LOOK_EVERY == 0 and dual.is_solved(errors, gap_tol):
            break
        if not dual.spreads():
            return None
        if not dual.improve(errors):
            break
    else:
        warn(
            f"The duality gap is above gap_tol={gap_tol:g} after {step + 1} steps; see duality_gaps_, "
            "or pass a larger gap_tol.",
            ConvergenceWarning,
        )
    rows = np.flatnonzero(dual.alpha > 1e-12 * caps)
    return Multipliers(rows, dual.alpha[rows] / dual.alpha[rows].sum())


class _Dual:
    """A feasible point of the dual, with ``K alpha`` and ``K (alpha * u)`` updated by each step."""

    def __init__(
        self, kernel: DeflatedKernel, u: np.ndarray, caps: np.ndarray, start: np.ndarray
    ) -> None:
        self.alpha = start
        self._kernel, self._u, self._caps = kernel, u, caps
        self._diagonal = kernel.diagonal
        rows = np.flatnonzero(start)
        weights = np.column_stack([start[rows], start[rows] * u[rows]])
        self._products = np.ascontiguousarray(kernel.product(rows, weights).T)

    def errors(self) -> np.ndarray:
        rows = np.flatnonzero(self.alpha)
        return _errors(self._diagonal, self._u, rows, self.alpha[rows], *self._products)

    def is_solved(self, errors: np.ndarray, gap_tol: float) -> bool:
        value = float(self.alpha @ errors)
        gap = float(frank_wolfe_vertex(errors, self._caps) @ errors) - value
        return gap <= gap_tol * abs(value)

    def spreads(self) -> bool:
        rows = np.flatnonzero(self.alpha)
        by_alpha, by_u = self._products[:, rows]
        return _spread(self._diagonal, self._u[rows], self.alpha[rows], by_alpha, by_u)[1] > 0

    def improve(self, errors: np.ndarray) -> bool:
        """Take one step; return False if no step raises the objective."""
        gains = np.where(self.alpha < self._caps, errors, -np.inf)
        losses = np.where(self.alpha > 0, errors, np.inf)
        i, j = int(np.argmax(gains)), int(np.argmin(losses))
        if not gains[i] > losses[j]:
            return False
        towards, away = self._kernel.column(i), self._kernel.column(j)
        most = min(self._caps[i] - self.alpha[i], self.alpha[j])
        size = self._line_search(i, j, towards, away, most)
        if size <= 0:
            return False
        self.alpha[j] = 0.0 if size == self.alpha[j] else self.alpha[j] - size
        self.alpha[i] = self._caps[i] if size == self._caps[i] - self.alpha[i] else self.alpha[i] + size
        u = self._u
        self._products[0] += size * (towards - away)
        self._products[1] += size * (u[i] * towards - u[j] * away)
        return True

    def _line_search(self, i: int, j: int, towards: np.ndarray, away: np.ndarray, most: float) -> float:
        """Return the best step from j to i; the dual is concave, so its slope decreases."""
        u, (by_alpha, by_u) = self._u, self._products
        ui, uj = float(u[i]), float(u[j])
        kii, kij, kjj = float(towards[i]), float(towards[j]), float(away[j])
        alpha_u = self.alpha * u
        # Three quadratic forms of alpha and alpha * u, and the mean, as polynomials of the step.
        a = (float(self.alpha @ by_alpha), 2 * float(by_alpha[i] - by_alpha[j]), kii - 2 * kij + kjj)
        b = (
            float(alpha_u @ by_u),
            2 * float(ui * by_u[i] - uj * by_u[j]),
            ui**2 * kii - 2 * ui * uj * kij + uj**2 * kjj,
        )
        c = (
            float(self.alpha @ by_u),
            float(by_u[i] - by_u[j] + ui * by_alpha[i] - uj * by_alpha[j]),
            ui * kii - (ui + uj) * kij + uj * kjj,
        )
        mean, drift = float(alpha_u.sum()), ui - uj
        linear = float(self._diagonal[i] - self._diagonal[j]) + ui**2 - uj**2

        def slope(step: float) -> float:
            A, B, C = (p[0] + step * (p[1] + step * p[2]) for p in (a, b, c))
            dA, dB, dC = (p[1] + 2 * step * p[2] for p in (a, b, c))
            m = mean + step * drift
            squared = B - 2 * m * C + m * m * A
            change = dB - 2 * drift * C - 2 * m * dC + 2 * m * drift * A + m * m * dA
            r = np.sqrt(max(squared, 1e-300))
            return 0.5 * (linear - dA - change / r) - m * drift

        if slope(0.0) <= 0:
            return 0.0
        if slope(most) >= 0:
            return most
        return float(brentq(slope, 0.0, most, xtol=1e-14 * most, rtol=1e-10))


def _spread(
    diagonal: np.ndarray, u: np.ndarray, alpha: np.ndarray, by_alpha: np.ndarray, by_u: np.ndarray
) -> tuple[float, float, float]:
    """Return the mean of u, r and ``alpha' K beta``, from the support only; r = 0 in doubt."""
    mean = float(alpha @ u)
    beta, along = alpha * (u - mean), by_u - mean * by_alpha
    squared = float(beta @ along)
    longest = float(np.abs(beta).sum()) ** 2 * float(diagonal.max(initial=0.0))
    r = np.sqrt(squared) if squared > _NO_SPREAD * longest else 0.0
    return mean, float(r), float(alpha @ along)


def _errors(
    diagonal: np.ndarray,
    u: np.ndarray,
    rows: np.ndarray,
    alpha: np.ndarray,
    by_alpha: np.ndarray,
    by_u: np.ndarray,
) -> np.ndarray:
    mean, r, cross = _spread(diagonal, u[rows], alpha, by_alpha[rows], by_u[rows])
    length = float(alpha @ by_alpha[rows])
    if r == 0:
        # There is no loading: distances from the mean image, and of u from its mean, remain.
        return 0.5 * (diagonal - 2 * by_alpha + length + (u - mean) ** 2)
    along = (by_u - mean * by_alpha) / r  # K beta / r
    feature = along - (cross / r - mean)  # alpha-hat' K beta / r = alpha' K beta / r - mean
    shift = by_alpha - mean * along  # K alpha-hat
    shift_length = length - 2 * mean * cross / r + mean**2
    return 0.5 * (diagonal - 2 * shift + shift_length + u * u - 2 * u * feature)
