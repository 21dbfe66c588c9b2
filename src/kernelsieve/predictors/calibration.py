"""Calibration on held-out scores: widths of intervals and probabilities of classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from ..exceptions import InvalidParameterError
from ..program import Calibration

_FLOORS = 10.0 ** np.arange(-4, 0, 0.5)
_LOG_POWERS = (-2.0, 3.0)


@dataclass(frozen=True)
class HeldOut:
    """Held-out scores of samples, with their targets and weights."""

    scores: np.ndarray  # (n, q)
    targets: np.ndarray  # (n, q)
    weight: np.ndarray

    @classmethod
    def concatenate(cls, parts: Sequence[HeldOut], most: int | None = None) -> HeldOut:
        """Concatenate parts; keep the last ``most`` samples."""
        columns = zip(*(part._columns for part in parts), strict=True)
        return cls(*(np.concatenate(values)[-(most or 0) :] for values in columns))

    @property
    def _columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.scores, self.targets, self.weight


def half_width(residuals: np.ndarray, weight: np.ndarray, coverage: float) -> np.ndarray:
    """Return the quantile of absolute residuals for an interval, one a target (split conformal).

    A new sample counts as one more, with an infinite residual.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.predictors.calibration import half_width
    >>> half_width(np.arange(1.0, 100)[:, None], np.ones(99), 0.9)
    array([90.])
    """
    if not 0 < coverage < 1:
        raise InvalidParameterError(f"coverage={coverage!r} must be above 0 and below 1, such as 0.9.")
    found = []
    for sizes in np.abs(residuals).T:
        order = np.argsort(sizes)
        reached = np.cumsum(weight[order]) / (weight.sum() + weight.mean())
        place = int(np.searchsorted(reached, coverage - 1e-12))
        found.append(sizes[order[place]] if place < len(order) else np.inf)
    return np.array(found)


def fit_calibration(held_out: HeldOut) -> Calibration:
    """Fit the probabilities to held-out labels by maximum likelihood.

    Targets are indicators of classes. As Platt does, labels count as if one more sample of every class
    had been seen.
    """
    weight = held_out.weight / held_out.weight.mean()
    n_samples, n_classes = held_out.targets.shape
    targets = (n_samples * held_out.targets + 1) / (n_samples + n_classes)

    def loss(log_power: float, floor: float) -> float:
        logits = Calibration(float(np.exp(log_power)), floor).logits(held_out.scores)
        likelihoods = (targets * log_softmax(logits, axis=1)).sum(axis=1)
        return float(log_power**2 - weight @ likelihoods)  # prefers scores as they are

    found = [(minimize_scalar(loss, args=(f,), bounds=_LOG_POWERS), f) for f in _FLOORS]
    best, floor = min(found, key=lambda pair: pair[0].fun)
    return Calibration(float(np.exp(best.x)), floor)
