"""One-sparse criteria: alignment (SMA), covariance (SMC), variance."""

from __future__ import annotations

import numpy as np

from ..needs import Needs, Ridge
from ..view import Direction, Step, View
from .base import ScoringCriterion, Selector


class Alignment(ScoringCriterion):
    """Kernel target alignment of a single deflated column: problem (5) of Dhanjal et al. (2009).

    The score is ``sum_q (tau' y_q)^2 / (tau' tau)``; its cumulative value is the share of the
    targets that least squares on the features explains.
    """

    unit_variance = True
    can_screen = True

    def score(self, view: View) -> np.ndarray:
        norms = view.residual_squared_norms
        return _explained(view) / np.where(norms > 0, norms, np.inf)

    def value(self, step: Step) -> float:
        return float(step.target_products @ step.target_products) / step.target_squared_norm


class RidgeAlignment(Alignment):
    """Forward selection for Fisher's discriminant with a ridge on the coefficients.

    The score is that of :class:`Alignment` for columns with the root of the ridge below them. It is
    settled when the objective ``(1 - s) / s``, with s the share of the targets that is explained, has
    fallen over the last few steps by less than ``stop_tol`` a step on average.

    Parameters
    ----------
    ridge : float
        Added to the squared norms of the columns, which are sums over the samples.
    stop_tol : float, default=0.0
        How much the objective must fall, as a part of it; 0 never stops.
    """

    def __init__(self, ridge: float, stop_tol: float = 0.0) -> None:
        self.ridge = ridge
        self.stop_tol = stop_tol

    @property
    def penalty(self) -> Ridge:  # type: ignore[override]
        return Ridge(self.ridge)

    def start(self) -> Selector:
        return _UntilSlow(self)

    def target_scale(self, target_sums: np.ndarray) -> np.ndarray:
        # Classes count alike, as they do in the scatter between them.
        return 1 / np.sqrt(np.where(target_sums > 0, target_sums, 1.0))


class _UntilSlow(Selector):
    """Stops when the objective falls too slowly."""

    patience = 5

    def __init__(self, criterion: RidgeAlignment) -> None:
        self._criterion = criterion
        self._left: list[float] = []  # of the targets, before every step

    def propose(self, view: View) -> Direction | None:
        return self._criterion.propose(view)

    def is_settled(self, residual_targets: np.ndarray) -> bool:
        left = float(np.einsum("nq,nq->", residual_targets, residual_targets))
        if not self._left or left < self._left[-1]:  # not where a candidate was only retired
            self._left.append(left)
        if self._criterion.stop_tol == 0 or len(self._left) < self.patience + 2:
            return False
        total, *recent = self._left[0], *self._left[-self.patience - 1 :]
        objectives = np.array([amount / (total - amount) for amount in recent])
        falls = 1 - objectives[1:] / np.where(objectives[:-1] > 0, objectives[:-1], 1.0)
        return bool(falls.mean() < self._criterion.stop_tol)


class Covariance(ScoringCriterion):
    """Squared covariance along a unit direction: problem (6), with the undeflated k(z, z) below."""

    can_screen = True

    def score(self, view: View) -> np.ndarray:
        return _per_length(_explained(view), view)

    def value(self, step: Step) -> float:
        along = step.target_products * step.residual_norm / step.total_weight
        return float(along @ along)


class Variance(ScoringCriterion):
    """Variance of the deflated column along a unit direction; looks at no targets."""

    needs = Needs(targets=False)
    can_screen = True

    def score(self, view: View) -> np.ndarray:
        return _per_length(view.residual_squared_norms, view)

    def value(self, step: Step) -> float:
        return step.residual_norm**2 / step.total_weight


def _explained(view: View) -> np.ndarray:
    products = view.target_products
    if products.shape[1] == 1:  # einsum takes a multiple of the time of a step of few candidates
        return np.square(products[:, 0])
    return np.einsum("cq,cq->c", products, products)


def _per_length(amount: np.ndarray, view: View) -> np.ndarray:
    length = view.metric.diagonal
    return np.where(length > 0, amount / np.where(length > 0, length, np.inf), -np.inf)
