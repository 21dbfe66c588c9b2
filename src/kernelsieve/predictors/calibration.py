"""What held-out scores tell: how wide intervals must be, and how sure a classifier may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from ..exceptions import InvalidParameterError

_SHRINKAGE = 1.0  # samples' worth of preference for the scores as they are


@dataclass(frozen=True)
class HeldOut:
    """Scores of samples by functions that have not seen them, with what they should be."""

    scores: np.ndarray  # (n, q)
    targets: np.ndarray  # (n, q)
    weight: np.ndarray

    @classmethod
    def of_all(cls, parts: Sequence[HeldOut], most: int | None = None) -> HeldOut:
        """Return parts one after the other; at most so many samples, the last ones."""
        columns = zip(*(part._columns for part in parts), strict=True)
        return cls(*(np.concatenate(values)[-(most or 0) :] for values in columns))

    @property
    def _columns(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.scores, self.targets, self.weight


def half_width(residuals: np.ndarray, weight: np.ndarray, coverage: float) -> np.ndarray:
    """Return what a new residual is below with a probability, for each target (split conformal).

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


@dataclass(frozen=True)
class Calibration:
    """Logits of classes, ``slope * scores + shifts``, by which held-out labels are likeliest."""

    slope: float
    shifts: np.ndarray  # (n_classes,)

    @classmethod
    def fit(cls, held_out: HeldOut) -> Self:
        """Maximise the likelihood of held-out labels; targets are indicators of classes."""
        scores, indicators = held_out.scores, held_out.targets
        weight = held_out.weight / held_out.weight.mean()

        def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
            logits = np.exp(parameters[0]) * scores + parameters[1:]
            off = (softmax(logits, axis=1) - indicators) * weight[:, None]
            value = -float(weight @ (indicators * log_softmax(logits, axis=1)).sum(axis=1))
            slope = float(np.sum(off * scores)) * np.exp(parameters[0])
            pull = _SHRINKAGE * (parameters - start)
            gradient = np.concatenate([[slope], off.sum(axis=0)]) + pull
            return value + 0.5 * float(pull @ (parameters - start)), gradient

        start = np.concatenate([[np.log(4.0)], np.zeros(scores.shape[1])])
        found = minimize(loss, start, jac=True, method="L-BFGS-B").x
        return cls(float(np.exp(found[0])), found[1:] - found[1:].mean())

    def logits(self, scores: np.ndarray) -> np.ndarray:
        return self.slope * scores + self.shifts

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        return np.asarray(softmax(self.logits(scores), axis=1))
