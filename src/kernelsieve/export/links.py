"""How scores become probabilities, as formulas that other programs can compute."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..predictors.calibration import BEND, Calibration
from ..serving import jointly, one_by_one

_CLOSE = 1e-9


@dataclass(frozen=True)
class Link:
    """Probabilities by a logistic function of each score, or by a softmax of all."""

    name: str  # "logistic" or "softmax"
    slope: float

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        return (one_by_one if self.name == "logistic" else jointly)(self.slope * scores)


@dataclass(frozen=True)
class BentLink(Link):
    """A softmax of logarithms of scores, which bend to a floor where they are small."""

    floor: float
    bend: float

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        return Calibration(self.slope, self.floor).probabilities(scores)


def link_of(probabilities: Callable[[np.ndarray], np.ndarray] | None, n_scores: int) -> Link | None:
    """Return which function makes probabilities of scores; None where it is none that is known."""
    if probabilities is None:
        return None
    owner: Any = getattr(probabilities, "__self__", None)
    if isinstance(owner, Calibration):
        return BentLink("softmax", owner.power, owner.floor, BEND)
    scores = np.random.default_rng(0).uniform(-1, 1, (16, n_scores))
    expected = probabilities(scores)
    odds = np.log(expected[0, 1] / expected[0, 0])
    step = scores[0, 0] if n_scores == 1 else scores[0, 1] - scores[0, 0]
    name = "logistic" if n_scores == 1 else "softmax"
    tried = [Link(name, float(odds / step)), Link("logistic", 1.0), Link("logistic", 2.0)]
    return next((link for link in tried if _agree(link(scores), expected)), None)


def _agree(found: np.ndarray, expected: np.ndarray) -> bool:
    return found.shape == expected.shape and bool(np.allclose(found, expected, _CLOSE, _CLOSE))
