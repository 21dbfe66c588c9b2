"""What a criterion is: it says which direction is good, and nothing else.

To write your own, subclass :class:`ScoringCriterion` and give every candidate a score, or subclass
:class:`Criterion` and return a :class:`Direction` that combines several candidates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..columns import Columns
from ..heads import Heads
from ..metric import Metric

# Scores this close are a tie: sums in another order (other block sizes, threads, drivers) must not
# change the choice. Scores of columns of which little is left are
# known less well, down to the widest share that is still taken for rounding.
_TIE, _WIDEST_TIE = 1e-10, 1e-4
_ALIKE = 1.001  # times as much rounding
_ROUNDING = 1e-12  # of a sum of squares, in the pass over rows that keeps the fewest digits


@dataclass(frozen=True)
class Direction:
    """A combination beta of candidates, of unit length in the metric.

    ``means`` are the means of the candidates' columns; the loop fills them in. ``column`` is the
    combined column, where it is known without combining.
    """

    candidates: np.ndarray
    weights: np.ndarray
    score: float
    means: np.ndarray | None = None
    column: np.ndarray | None = None


@dataclass(frozen=True)
class Step:
    """One committed direction, in numbers: what a criterion's value is made of."""

    score: float
    residual_norm: float  # of the deflated column along the direction, sqrt(tau' tau)
    target_products: np.ndarray  # of the unit feature with every target
    target_squared_norm: float  # of all targets together, before any deflation
    total_weight: float  # number of rows, or the sum of their weights


@dataclass(frozen=True)
class View:
    """What a criterion sees at one step; arrays are read only by convention.

    Attributes
    ----------
    residual_squared_norms : ndarray of shape (C,)
        Squared norm of every candidate's column after deflation.
    target_products : ndarray of shape (C, q)
        Inner products of the deflated columns with the targets.
    eligible : ndarray of bool of shape (C,)
        Candidates that may still be chosen.
    metric : Metric
        Lengths in feature space; ``metric.diagonal`` is k(z, z), undeflated.
    columns : Columns
        The undeflated columns.
    column_products : ndarray of shape (C, j)
        Coefficients of the undeflated columns on the features so far.
    residual_lengths : ndarray of shape (C,)
        k(z, z) after symmetric deflation; undeflated otherwise.
    expansion_norms : ndarray of shape (C,)
        l1 norm of each deflated image as a combination of examples; ones without symmetric deflation.
    features : ndarray of shape (N, j)
        The features so far; orthonormal, unless deflation is symmetric.
    targets : ndarray of shape (N, q)
        Targets, centred and weighted as the columns are, before deflation.
    residual_targets : ndarray of shape (N, q)
        What the features leave of them.
    n_components : int
        How many features are wanted in all.
    raw_targets : ndarray of shape (n, q)
        Targets as they are, for criteria that need the rows; empty in coordinates.
    root_weight : ndarray of shape (n,)
        Square roots of the sample weights; empty in coordinates.
    """

    residual_squared_norms: np.ndarray
    target_products: np.ndarray
    eligible: np.ndarray
    metric: Metric
    columns: Columns
    column_products: np.ndarray
    residual_lengths: np.ndarray
    expansion_norms: np.ndarray
    features: np.ndarray
    targets: np.ndarray
    residual_targets: np.ndarray
    n_components: int
    raw_targets: np.ndarray
    root_weight: np.ndarray


class Criterion(ABC):
    """Chooses the next direction.

    Class attributes say what a criterion needs, and are checked before any work is done.
    """

    #: Whether it looks at targets.
    supervised: ClassVar[bool] = True
    #: Whether it needs the rows themselves. A criterion that sees the columns through inner products
    #: only (a quadratic one) leaves this False and can be used in one pass over the data.
    needs_rows: ClassVar[bool] = False
    #: Whether it needs kernel values between candidates, beyond their diagonal.
    needs_metric: ClassVar[bool] = False
    #: Whether features are scaled to unit mean square; otherwise they are coordinates along
    #: directions of unit length.
    unit_variance: ClassVar[bool] = False
    #: Whether images are deflated, as feature analysis does, instead of columns. A direction is then
    #: the deflated image of one candidate, and features are coordinates along orthonormal directions.
    symmetric: ClassVar[bool] = False
    #: Whether there are no more directions than independent targets.
    at_most_targets: ClassVar[bool] = False
    #: Whether it solves systems in the columns. Inner products square their condition, so a pass over
    #: the rows accumulates the safe statistic unless the fast one was asked for.
    needs_all_digits: ClassVar[bool] = False
    #: Whether residual norms are taken about the mean, even where features are not centred.
    centred_scores: bool = False
    #: With symmetric deflation: points with a shorter residual k(z, z) leave for good.
    cutoff: float = 0.0
    #: With left deflation: penalty of the squared coefficients of the candidates.
    ridge: float = 0.0

    @property
    def one_of_equals(self) -> bool:
        """Whether one of equal candidates is eligible: halves of a coefficient would cost less."""
        return self.ridge > 0

    @abstractmethod
    def propose(self, view: View) -> Direction | None:
        """Return the best direction, or None when there is none left.

        A direction of one candidate must be one of ``view.eligible``.
        """

    def is_settled(self, residual_targets: np.ndarray) -> bool:
        """Tell if it is time to stop, given what the features so far leave of the targets."""
        return False

    def target_scale(self, target_sums: np.ndarray) -> np.ndarray:
        """Return by what each target is multiplied, given the weighted sums of the targets."""
        return np.ones(len(target_sums))

    def heads(self, features: np.ndarray, raw_targets: np.ndarray, weight: np.ndarray) -> Heads | None:
        """Return linear heads on the features of the rows; None for least squares."""
        return None

    def value(self, step: Step) -> float:
        """Return the number that goes into ``criterion_path_``; the score unless overridden."""
        return step.score


def first_of_the_best(scores: np.ndarray, rounding: np.ndarray) -> int:
    """Return the first place with the largest score, up to rounding: a share of each score.

    Where all have the same score, because there is one direction left, that with the least rounding is
    taken: which it is does not depend on their order.
    """
    share = np.clip(rounding, _TIE, _WIDEST_TIE)
    best = int(scores.argmax())
    tied = np.flatnonzero(scores * (1 + share) >= scores[best] * (1 - share[best]))
    if len(tied) == np.isfinite(scores).sum():
        tied = tied[rounding[tied] <= _ALIKE * rounding[tied].min()]
    return int(tied[0])


class ScoringCriterion(Criterion):
    """Scores every candidate alone: the direction is one example, and features stay sparse."""

    #: Whether the score needs no more of the view than ``residual_squared_norms``,
    #: ``target_products``, ``eligible`` and ``metric.diagonal``. Then candidates can be screened.
    can_screen: ClassVar[bool] = False

    @abstractmethod
    def score(self, view: View) -> np.ndarray:
        """Return one number for each candidate, larger is better, not negative."""

    def propose(self, view: View) -> Direction | None:
        scores = np.asarray(self.score(view), dtype=np.float64)
        if scores.shape != view.eligible.shape:
            raise ValueError(
                f"{type(self).__name__}.score returned shape {scores.shape}; it must return one number "
                f"for each of the {len(view.eligible)} candidates."
            )
        scores = np.where(view.eligible, scores, -np.inf)
        if np.isnan(scores).any() or np.isposinf(scores).any():
            raise ValueError(
                f"{type(self).__name__}.score returned {scores.max()} for candidate "
                f"{int(np.argmax(scores))}; scores must be finite, or -inf to refuse a candidate."
            )
        if not np.isfinite(scores).any():
            return None
        # What cancelled when a column was deflated has left its rounding errors behind.
        raw = view.columns.raw_squared_norms
        left = np.maximum(view.residual_squared_norms, _ROUNDING * raw)
        rounding = _ROUNDING * np.divide(raw, left, out=np.ones_like(left), where=left > 0)
        chosen = first_of_the_best(scores, rounding)
        length = view.metric.diagonal[chosen]
        weight = 1.0 / np.sqrt(length) if length > 0 else 1.0
        return Direction(np.array([chosen]), np.array([weight]), float(scores[chosen]))
