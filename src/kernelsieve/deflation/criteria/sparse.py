"""One-sparse criteria: alignment (SMA), covariance (SMC), variance."""

from __future__ import annotations

import numpy as np

from .base import ScoringCriterion, Step, View


class Alignment(ScoringCriterion):
    """Kernel target alignment of a single deflated column: problem (5) of Dhanjal et al. (2009).

    The score is ``sum_q (tau' y_q)^2 / (tau' tau)``; its cumulative value is the share of the
    targets that least squares on the features explains.
    """

    unit_variance = True
    can_screen = True

    def score(self, view: View) -> np.ndarray:
        return _explained(view) / _positive(view.residual_squared_norms)

    def value(self, step: Step) -> float:
        return float(step.target_products @ step.target_products) / step.target_squared_norm


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

    supervised = False
    can_screen = True

    def score(self, view: View) -> np.ndarray:
        return _per_length(view.residual_squared_norms, view)

    def value(self, step: Step) -> float:
        return step.residual_norm**2 / step.total_weight


def _explained(view: View) -> np.ndarray:
    products = view.target_products
    return np.einsum("cq,cq->c", products, products)


def _per_length(amount: np.ndarray, view: View) -> np.ndarray:
    length = view.metric.diagonal
    return np.where(length > 0, amount / _positive(length), -np.inf)


def _positive(values: np.ndarray) -> np.ndarray:
    return np.where(values > 0, values, np.inf)
