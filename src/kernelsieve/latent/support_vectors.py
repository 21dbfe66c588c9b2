"""Selection of support vectors: the rules MI and MR, an exact solver of the dual, and fallbacks.

MI and MR are stated by the paper that :mod:`.nu_kpls` names. The dual problem (4) of one step belongs
to the primal that looks for a shift s and a unit loading w that reconstruct the images from the
residuals u, and minds the worst of them only::

    min  epsilon + sum(xi) / (nu n)   such that   |phi_i - s - u_i w|^2 / 2 <= epsilon + xi_i,  xi >= 0

The dual maximises over ``sum(alpha) = 1, 0 <= alpha_i <= 1 / (nu n)`` the concave ::

    D(alpha) = (alpha' diag K - alpha' K alpha + alpha' (u * u) - mean^2) / 2 - r

with ``mean = alpha' u``, ``beta = alpha * (u - mean)`` and ``r^2 = beta' K beta``; then ``w`` is
``Phi' beta / r`` and ``s`` is ``Phi' alpha - mean w``. The constraints and the part of nu are stated in
the paper; the dual, its solver and the errors that MI ranks, its gradient, are our derivation, since
the paper's text of (4) and (11) is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.optimize import brentq
from sklearn.exceptions import ConvergenceWarning

from ..data import draw_sample
from ..exceptions import warn
from .deflated_kernel import DeflatedKernel, Multipliers

_SAME = 1e-8  # relative difference below which residuals are one value
_ROUNDING = 1e-9  # nu n may miss a whole number by this much
_STEPS_PER_ROW = 50
_LOOK_EVERY = 20  # steps between two looks at the duality gap
_NO_SPREAD = 1e-8  # of what it can be: an r that is zero within the accuracy of the gap


class SupportVectors:
    """Chooses support vectors for each step, by ``rule``.

    "mr" takes the largest absolute residuals, which needs no kernel values. "mi" takes the samples that
    the loading of a random subset reconstructs worst: one best response to that set, a Frank-Wolfe
    vertex of the dual. "mi-mr" is MI for the first feature and MR for the others, as in the paper's
    classification: at first the residuals of a class are all one value, and MR cannot rank samples.
    "exact" solves the dual, which MI and MR approximate.

    A sample has at most its weight over the weight of all support vectors, of which each step has the
    share ``nu``. The least weight is the unit that support vectors are counted in, so with whole
    weights, of which the least is 1, a sample counts as often as it would stand.
    """

    def __init__(
        self,
        rule: str,
        nu: float,
        weight: np.ndarray,
        *,
        tol: float = 1e-12,
        gap_tol: float = 1e-4,
        sample_size: int = 200,
        random_state: Any = None,
    ) -> None:
        self._rule, self._weight, self._tol, self._gap_tol = rule, weight, tol, gap_tol
        self._sample_size, self._random_state = sample_size, random_state
        self._unit = float(weight.min())
        self._count = max(1, int(np.ceil(nu * weight.sum() / self._unit - _ROUNDING)))  # in units
        self._caps = weight / max(nu * weight.sum(), self._unit)  # the largest alpha

    def proposals(
        self, kernel: DeflatedKernel, u: np.ndarray, sizes: np.ndarray
    ) -> Iterator[Multipliers]:
        """Yield multipliers, best first; later ones are fallbacks if the images do not vary.

        ``sizes`` are those of the residuals u. Residuals that are all one value give no direction, so
        each sign gets half of the support vectors. Images that depend linearly on earlier features give
        none either; the last to be tried are samples far from the best one.
        """
        scores = self.scores(kernel, u, sizes)
        if self._rule == "exact":
            best = solve_dual(kernel, u, self._caps, self._gap_tol)
        elif self._count == 1:
            yield from self._single(kernel, u, scores)
            return
        else:
            best = _multipliers(*self._largest(scores, self._count))
        if best is not None and np.ptp(u[best.rows]) > _SAME * np.abs(u[best.rows]).max():
            yield best
        total = max(self._count, 2)
        of_signs = [(u > 0, (total + 1) // 2), (u <= 0, total // 2)]
        if (u > 0).any() and (u <= 0).any():
            halves = [self._largest(scores, count, allowed) for allowed, count in of_signs]
            yield _multipliers(*map(np.concatenate, zip(*halves, strict=True)))
        first = int(np.argmax(scores))
        column = kernel.column(first)
        squared_distance = np.maximum(kernel.diagonal - 2 * column + column[first], 0.0)
        if squared_distance.max() > self._tol * kernel.columns.diagonal.max():
            rows, mass = self._largest(scores, (total + 1) // 2)
            unlike = np.abs(u - u[first]) * np.sqrt(squared_distance)
            others = ~np.isin(np.arange(len(u)), rows)
            far, rest = self._largest(unlike, total // 2, others)
            yield _multipliers(np.concatenate([rows, far]), np.concatenate([mass, rest]))

    def scores(self, kernel: DeflatedKernel, u: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Return the scores that rank the samples: reconstruction errors for MI, else ``sizes``."""
        if self._rule not in ("mi", "mi-mr") or (self._rule == "mi-mr" and kernel.loadings):
            return sizes
        size = min(self._sample_size, len(u))
        rows, weight = draw_sample(len(u), size, self._random_state, self._weight)
        drawn = _multipliers(rows, np.ones(len(rows)) if weight is None else weight)
        # Support vectors come again sooner than random samples, whose columns must not displace theirs.
        return reconstruction_errors(kernel, u, drawn, replace=False)

    def gap(self, kernel: DeflatedKernel, u: np.ndarray, used: Multipliers) -> float:
        """Return the duality gap of the multipliers that were used; NaN without "exact"."""
        if self._rule != "exact":
            return np.nan
        errors = reconstruction_errors(kernel, u, used)
        best = frank_wolfe_vertex(errors, self._caps)
        return float(best @ errors - used.alpha @ errors[used.rows])

    def _single(
        self, kernel: DeflatedKernel, u: np.ndarray, scores: np.ndarray
    ) -> Iterator[Multipliers]:
        """Yield one support vector, linearly independent of earlier ones (the paper's "nu = min").

        A sample that is fitted exactly has no residual, and gives no direction alone.
        """
        largest = kernel.columns.diagonal.max(initial=0.0)
        allowed = (u != 0) & (kernel.diagonal > self._tol * largest)
        if allowed.any():
            rows, _ = self._largest(scores, self._count, allowed)
            yield Multipliers(rows[:1], np.ones(1), shifted=False)

    def _largest(
        self, scores: np.ndarray, count: int, allowed: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the samples with the largest scores, each with its full weight; the first of ties."""
        rows = np.arange(len(scores)) if allowed is None else np.flatnonzero(allowed)
        if count + 1 < len(rows):  # sorting all of them would cost more than a kernel column
            least = np.partition(scores[rows], -count - 1)[-count - 1]
            rows = rows[scores[rows] >= least]
        rows = rows[np.argsort(-scores[rows], kind="stable")]
        before = np.cumsum(self._weight[rows]) - self._weight[rows]
        taken = np.minimum(self._weight[rows], count * self._unit - before)
        chosen = taken > _ROUNDING * self._unit
        return rows[chosen], taken[chosen]


def _multipliers(rows: np.ndarray, mass: np.ndarray) -> Multipliers:
    return Multipliers(rows, mass / mass.sum())


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
    """Maximise the dual by pairwise Frank-Wolfe steps with exact line search, for alpha up to ``caps``.

    A step moves weight from the support vector with the least error to the sample with the largest that
    may still take some, so only columns of samples that have been support vectors at some time are
    evaluated. It ends when the duality gap is at most ``gap_tol`` of the objective, or where r
    vanishes, with few values of u, small nu or small u: then there is no loading, the dual does not
    meet the primal, and None is returned.
    """
    diagonal = kernel.diagonal
    # Both ends of the residuals: a start without a spread would have no loading, and no gradient.
    alpha = (frank_wolfe_vertex(u, caps) + frank_wolfe_vertex(-u, caps)) / 2
    rows = np.flatnonzero(alpha)
    start = kernel.product(rows, np.column_stack([alpha[rows], alpha[rows] * u[rows]]))
    by_alpha, by_u = np.ascontiguousarray(start.T)  # K alpha and K (alpha * u)
    for step in range(_STEPS_PER_ROW * len(u)):
        rows = np.flatnonzero(alpha)
        errors = _errors(diagonal, u, rows, alpha[rows], by_alpha, by_u)
        if step % _LOOK_EVERY == 0:
            value = float(alpha @ errors)
            if float(frank_wolfe_vertex(errors, caps) @ errors) - value <= gap_tol * abs(value):
                break
        if not _spread(diagonal, u[rows], alpha[rows], by_alpha[rows], by_u[rows])[1] > 0:
            return None
        gains = np.where(alpha < caps, errors, -np.inf)
        losses = np.where(alpha > 0, errors, np.inf)
        i, j = int(np.argmax(gains)), int(np.argmin(losses))
        towards, away = kernel.column(i), kernel.column(j)
        most = min(caps[i] - alpha[i], alpha[j])
        size = 0.0
        if gains[i] > losses[j]:
            size = _line_search(diagonal, u, alpha, by_alpha, by_u, i, j, towards, away, most)
        if size <= 0:  # no step raises the objective
            break
        alpha[j] = 0.0 if size == alpha[j] else alpha[j] - size
        alpha[i] = caps[i] if size == caps[i] - alpha[i] else alpha[i] + size
        by_alpha += size * (towards - away)
        by_u += size * (u[i] * towards - u[j] * away)
    else:
        warn(
            f"The duality gap is above gap_tol={gap_tol:g} after {step + 1} steps; see duality_gaps_, "
            "or pass a larger gap_tol.",
            ConvergenceWarning,
        )
    rows = np.flatnonzero(alpha > 1e-12 * caps)
    return Multipliers(rows, alpha[rows] / alpha[rows].sum())


def _line_search(
    diagonal: np.ndarray,
    u: np.ndarray,
    alpha: np.ndarray,
    by_alpha: np.ndarray,
    by_u: np.ndarray,
    i: int,
    j: int,
    towards: np.ndarray,
    away: np.ndarray,
    most: float,
) -> float:
    """Return the best step of weight from j to i; the dual is concave, so its slope decreases."""
    ui, uj = float(u[i]), float(u[j])
    kii, kij, kjj = float(towards[i]), float(towards[j]), float(away[j])
    alpha_u = alpha * u
    # Three quadratic forms of alpha and alpha * u, and the mean, as polynomials of the step.
    a = (float(alpha @ by_alpha), 2 * float(by_alpha[i] - by_alpha[j]), kii - 2 * kij + kjj)
    b = (
        float(alpha_u @ by_u),
        2 * float(ui * by_u[i] - uj * by_u[j]),
        ui**2 * kii - 2 * ui * uj * kij + uj**2 * kjj,
    )
    c = (
        float(alpha @ by_u),
        float(by_u[i] - by_u[j] + ui * by_alpha[i] - uj * by_alpha[j]),
        ui * kii - (ui + uj) * kij + uj * kjj,
    )
    mean, drift = float(alpha_u.sum()), ui - uj
    linear = float(diagonal[i] - diagonal[j]) + ui**2 - uj**2

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
