"""Losses that boosted latent features follow, and their minimisation over linear coefficients."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.special import expit

from ..exceptions import InvalidDataError, InvalidParameterError

_MOST_NEWTON_STEPS = 50
_RIDGE = 1e-10  # relative; keeps Newton's system solvable where the loss has become flat


class Loss(ABC):
    """A loss of one prediction for each example, convex in the prediction f."""

    @abstractmethod
    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Return the loss of every example."""

    @abstractmethod
    def negative_gradient(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Return minus the derivative with respect to f."""

    @abstractmethod
    def curvature(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """Return the second derivative with respect to f."""

    def prepare(self, targets: np.ndarray) -> np.ndarray:
        """Turn encoded targets into the single column that the loss compares with."""
        if targets.shape[1] == 2 and (targets.sum(axis=1) == 1).all():
            return targets[:, 1]  # two classes, one column each
        if targets.shape[1] != 1:
            raise InvalidDataError(
                f"{type(self).__name__} compares with one target; y has {targets.shape[1]} columns. "
                "Fit one model for each column."
            )
        return targets[:, 0]


class SquaredLoss(Loss):
    """``(y - f)^2 / 2``: boosted latent features are then PLS."""

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return 0.5 * (y - f) ** 2

    def negative_gradient(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return y - f

    def curvature(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.ones_like(f)


class MarginLoss(Loss):
    """A loss of the margin y f, for labels that become -1 and +1."""

    def prepare(self, targets: np.ndarray) -> np.ndarray:
        levels = np.unique(targets[:, -1])
        if targets.shape[1] > 2 or len(levels) != 2:
            raise InvalidDataError(
                f"{type(self).__name__} separates two classes; y has other values. "
                "Fit one model for each class against the rest."
            )
        return np.where(targets[:, -1] == levels[1], 1.0, -1.0)


class LogisticLoss(MarginLoss):
    """``log(1 + exp(-y f))``."""

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.logaddexp(0.0, -y * f)

    def negative_gradient(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.asarray(y * expit(-y * f))

    def curvature(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        p = expit(f)
        return np.asarray(p * (1.0 - p))


class ExponentialLoss(MarginLoss):
    """``exp(-y f)``."""

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.exp(-y * f)

    def negative_gradient(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return y * np.exp(-y * f)

    def curvature(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.exp(-y * f)


LOSSES: dict[str, type[Loss]] = {
    "squared": SquaredLoss,
    "logistic": LogisticLoss,
    "exponential": ExponentialLoss,
}


def resolve_loss(loss: str | Loss) -> Loss:
    """Return a loss for a name, or the user's own."""
    if isinstance(loss, Loss):
        return loss
    if loss not in LOSSES:
        raise InvalidParameterError(
            f"loss={loss!r} is not known; pass one of {', '.join(map(repr, LOSSES))}, or an object of "
            "a class derived from kernelsieve.deflation.Loss."
        )
    return LOSSES[loss]()


def refit(loss: Loss, y: np.ndarray, features: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the predictions ``mu + features @ c`` with the least weighted loss.

    Damped Newton. On separable data the loss has no minimum; the steps then stop when it is
    negligible, so coefficients stay finite.
    """
    design = np.column_stack([features, np.ones(len(y))])
    coefficients = np.zeros(design.shape[1])
    prediction = design @ coefficients
    total = float(weight @ loss.value(y, prediction))
    for _ in range(_MOST_NEWTON_STEPS):
        slope = design.T @ (weight * loss.negative_gradient(y, prediction))
        hessian = (design.T * (weight * loss.curvature(y, prediction))) @ design
        hessian += _RIDGE * np.trace(hessian) / len(hessian) * np.eye(len(hessian))
        step = np.linalg.solve(hessian, slope)
        size = 1.0
        while size > 1e-6:
            trial = prediction + size * (design @ step)
            trial_total = float(weight @ loss.value(y, trial))
            if trial_total <= total:
                break
            size /= 2
        else:
            break
        fall, prediction, total = total - trial_total, trial, trial_total
        if fall <= 1e-12 * total or total < 1e-6 * weight.sum():
            break
    return prediction
