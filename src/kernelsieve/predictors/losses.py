"""Losses of the sieve regressor, with heads, predictions and intervals."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
from scipy.linalg import LinAlgWarning
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import mean_poisson_deviance

from .calibration import HeldOut, half_width
from .ridge import LinearHead, RidgePath

#: Of a predicted mean count.
LARGEST_LOG = 50.0


class RegressionLoss(ABC):
    """A regression loss: fits heads for all ridges, scores them, and predicts with intervals."""

    @abstractmethod
    def heads(
        self, features: np.ndarray, Y: np.ndarray, weight: np.ndarray, ridges: np.ndarray
    ) -> Iterator[LinearHead]:
        """Yield one head for each ridge; ridges are relative to a mean over the samples."""

    @abstractmethod
    def error(self, held_out: HeldOut) -> float:
        """Return the mean loss on held-out samples."""

    @abstractmethod
    def predictions(self, scores: np.ndarray) -> np.ndarray:
        """Convert scores to predictions."""

    @abstractmethod
    def spread(self, predictions: np.ndarray) -> np.ndarray:
        """Return the scale of the residuals at the given predictions."""

    def intervals(self, scores: np.ndarray, held_out: HeldOut, coverage: float) -> np.ndarray:
        """Return interval ends, (n_samples, n_targets, 2), by the quantiles of held-out residuals."""
        predicted, expected = self.predictions(scores), self.predictions(held_out.scores)
        residuals = (held_out.targets - expected) / self.spread(expected)
        reach = half_width(residuals, held_out.weight, coverage) * self.spread(predicted)
        return np.stack([self.lower_end(predicted - reach), predicted + reach], axis=-1)

    def lower_end(self, values: np.ndarray) -> np.ndarray:
        """Clip lower interval ends to the range of the target."""
        return values


class SquaredError(RegressionLoss):
    """The squared loss, which predicts means."""

    def heads(
        self, features: np.ndarray, Y: np.ndarray, weight: np.ndarray, ridges: np.ndarray
    ) -> Iterator[LinearHead]:
        path = RidgePath(features, Y, weight)
        return map(path.head, ridges)

    def error(self, held_out: HeldOut) -> float:
        squares = ((held_out.scores - held_out.targets) ** 2).sum(axis=1)
        return float(np.average(squares, weights=held_out.weight))

    def predictions(self, scores: np.ndarray) -> np.ndarray:
        return scores

    def spread(self, predictions: np.ndarray) -> np.ndarray:
        return np.ones_like(predictions)


class PoissonDeviance(RegressionLoss):
    """The Poisson deviance, for counts whose log mean is a kernel function."""

    def heads(
        self, features: np.ndarray, Y: np.ndarray, weight: np.ndarray, ridges: np.ndarray
    ) -> Iterator[LinearHead]:
        if not features.any():  # an intercept alone has a formula, which the solver ends beside
            mean = np.average(Y[:, 0], weights=weight)
            intercept = np.array([np.log(max(mean, np.exp(-LARGEST_LOG)))])
            yield from (LinearHead(np.zeros((features.shape[1], 1)), intercept) for _ in ridges)
            return
        for ridge in ridges:
            found = PoissonRegressor(alpha=ridge, solver="newton-cholesky")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LinAlgWarning)  # it goes on with another solver
                found.fit(features, Y[:, 0], sample_weight=weight)
            yield LinearHead(found.coef_[:, None], np.array([found.intercept_]))

    def error(self, held_out: HeldOut) -> float:
        means = self.predictions(held_out.scores)
        return float(mean_poisson_deviance(held_out.targets, means, sample_weight=held_out.weight))

    def predictions(self, scores: np.ndarray) -> np.ndarray:
        return np.exp(np.clip(scores, -LARGEST_LOG, LARGEST_LOG))

    def spread(self, predictions: np.ndarray) -> np.ndarray:
        return np.sqrt(predictions)

    def lower_end(self, values: np.ndarray) -> np.ndarray:
        return np.maximum(values, 0.0)


LOSSES: dict[str, RegressionLoss] = {"squared_error": SquaredError(), "poisson": PoissonDeviance()}
