"""Criteria of kernel feature analysis, which deflates the images themselves: AKFA and SKFA."""

from __future__ import annotations

import numpy as np

from ..needs import Needs, SymmetricDeflation
from ..view import Step, View
from .base import ScoringCriterion


class _Analysis(ScoringCriterion):
    needs = Needs(targets=False)
    deflation = SymmetricDeflation()

    def value(self, step: Step) -> float:
        return step.score / step.total_weight


class DirectionVariance(_Analysis):
    """Variance along the deflated image of an example, scaled to unit length (AKFA).

    The score is formula (11) of Jiang et al. (2006) with the square that it lacks in print. Over n it
    is what the mean squared reconstruction error falls by. With a positive ``cutoff`` it is ACKFA.

    Parameters
    ----------
    cutoff : float, default=0.0
        Points whose residual k(z, z) is shorter leave for good.
    """

    def __init__(self, cutoff: float = 0.0) -> None:
        self.cutoff = cutoff

    @property
    def deflation(self) -> SymmetricDeflation:  # type: ignore[override]
        return SymmetricDeflation(self.cutoff)

    def score(self, view: View) -> np.ndarray:
        lengths = view.residual_lengths
        positive = lengths > 0
        return np.where(
            positive, view.residual_squared_norms / np.where(positive, lengths, 1.0), -np.inf
        )


class ExpansionVariance(_Analysis):
    """Variance along the deflated image of an example, scaled to an expansion of l1 norm 1 (SKFA).

    Parameters
    ----------
    centred : bool, default=True
        Take the variance about the mean, as Smola, Mangasarian and Schoelkopf (1999) define it,
        instead of about zero.
    unit_expansions : bool, default=False
        Let features be coordinates along these directions, instead of along unit ones.
    """

    def __init__(self, centred: bool = True, unit_expansions: bool = False) -> None:
        self.centred = centred
        self.unit_expansions = unit_expansions

    @property
    def centred_scores(self) -> bool:  # type: ignore[override]
        return self.centred

    def score(self, view: View) -> np.ndarray:
        return view.residual_squared_norms / view.expansion_norms**2
