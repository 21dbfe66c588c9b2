"""Criteria whose direction combines all candidates: principal components, PLS, loss gradients."""

from __future__ import annotations

import numpy as np

from ..losses import Loss, refit, resolve_loss
from .base import Criterion, Direction, Step, View


class PrincipalDirections(Criterion):
    """(Kernel) PCA: directions of largest variance, sections 3.1.1 and 3.2.1 of Dhanjal et al.

    Removing a principal direction leaves the others as they are, so all are found at once.
    """

    supervised = False
    needs_metric = True

    def __init__(self) -> None:
        self._directions = np.empty((0, 0))

    def propose(self, view: View) -> Direction | None:
        done = view.features.shape[1]
        if done == 0:
            self._directions = view.metric.principal(view.columns, view.n_components)
        if done == self._directions.shape[1]:
            return None
        weights = self._directions[:, done]
        return Direction(np.arange(len(weights)), weights, 0.0)

    def value(self, step: Step) -> float:
        return step.residual_norm**2 / step.total_weight


class PartialLeastSquares(Criterion):
    """(Kernel) PLS: the direction of largest covariance, sections 3.1.2 and 3.2.2."""

    needs_metric = True

    def propose(self, view: View) -> Direction | None:
        return steepest_direction(view, view.target_products, view.residual_targets)

    def value(self, step: Step) -> float:
        along = step.target_products * step.residual_norm / step.total_weight
        return float(along @ along)


class LossGradient(Criterion):
    """(Kernel) boosted latent features: the direction of the negative gradient of a loss.

    After every feature the loss is minimised over the coefficients of all features so far; the
    gradient at that point is the next vector that features should follow (sections 3.1.3, 3.2.3).
    """

    needs_metric = True
    needs_rows = True

    def __init__(self, loss: str | Loss = "squared") -> None:
        self.loss = loss

    def propose(self, view: View) -> Direction | None:
        loss = resolve_loss(self.loss)
        root = view.root_weight
        y = loss.prepare(view.raw_targets)
        prediction = refit(loss, y, view.features / root[:, None], root**2)
        gradient = (loss.negative_gradient(y, prediction) * root)[:, None]
        residual = gradient - view.features @ (view.features.T @ gradient)
        return steepest_direction(view, view.columns.inner(residual), residual)


def steepest_direction(view: View, products: np.ndarray, vectors: np.ndarray) -> Direction | None:
    """Return the unit direction whose feature has the largest inner products with ``vectors``."""
    dual = view.metric.solve(products, vectors)
    strength = products.T @ dual  # B'W B, symmetric
    values, mixes = np.linalg.eigh((strength + strength.T) / 2)
    if not values[-1] > 0:
        return None
    weights = dual @ mixes[:, -1] / np.sqrt(values[-1])
    return Direction(np.arange(len(weights)), weights, float(values[-1]))
