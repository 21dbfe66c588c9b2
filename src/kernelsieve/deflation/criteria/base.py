"""What a criterion is: it says which direction is good, and nothing else.

To write your own, subclass :class:`ScoringCriterion` and give every candidate a score, or subclass
:class:`Criterion` and return a :class:`Direction` that combines several candidates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from ...exceptions import CriterionError
from ..heads import Heads
from ..needs import DeflationRule, LeftDeflation, Needs, Ridge
from ..view import Direction, Step, View

# Scores this close are a tie: sums in another order (other block sizes, threads, drivers) must not
# change the choice. Scores of columns of which little is left are
# known less well, down to the widest share that is still taken for rounding.
_TIE, _WIDEST_TIE = 1e-10, 1e-4
_ALIKE = 1.001  # times as much rounding
_MOVED = {
    "supervised": "targets",
    "needs_rows": "rows",
    "needs_metric": "metric",
    "needs_columns": "columns",
    "needs_all_digits": "digits",
}
_ROUNDING = 1e-12  # of a sum of squares, in the pass over rows that keeps the fewest digits


class Selector(ABC):
    """Chooses the directions of one fit, one after another, and may remember what it has found."""

    @abstractmethod
    def propose(self, view: View) -> Direction | None:
        """Return the best direction, or None when there is none left.

        Parameters
        ----------
        view : View
            What is known of the candidates, as far as it was declared.

        Returns
        -------
        Direction or None
            A direction of one candidate must be one of ``view.eligible``.
        """

    def is_settled(self, residual_targets: np.ndarray) -> bool:
        """Tell if it is time to stop, given what the features so far leave of the targets.

        Parameters
        ----------
        residual_targets : ndarray of shape (N, q)
            Targets, centred and weighted, less what the features explain.

        Returns
        -------
        bool
        """
        return False

    def heads(self, features: np.ndarray, raw_targets: np.ndarray, weight: np.ndarray) -> Heads | None:
        """Return linear heads on the features of the samples; None for least squares.

        It is asked for criteria that need ``rows``.

        Parameters
        ----------
        features : ndarray of shape (n, k)
            Features of the training samples, without their weights.
        raw_targets : ndarray of shape (n, q)
            Their targets as they are.
        weight : ndarray of shape (n,)
            Their weights.

        Returns
        -------
        Heads or None
        """
        return None


class Criterion(Selector, BaseEstimator):
    """Says what a good direction is.

    ``needs`` declares what a criterion must be given, and its view has nothing else. A criterion is not
    changed by a fit: one that remembers something from step to step returns in :meth:`start` a
    selector that does. As in scikit-learn, a constructor keeps its parameters under their names, so
    that ``criterion__cutoff`` can be searched for.
    """

    #: What it must be given.
    needs: ClassVar[Needs] = Needs()
    #: Whether features are scaled to unit mean square; otherwise they are coordinates along
    #: directions of unit length.
    unit_variance: ClassVar[bool] = False
    #: With symmetric deflation: whether directions are scaled to expansions of l1 norm 1 in samples,
    #: instead of to unit length.
    unit_expansions: bool = False
    #: Whether there are no more directions than independent targets.
    at_most_targets: ClassVar[bool] = False
    #: Whether labels are predicted by the nearest class mean of the features, not by least squares.
    nearest_centre: bool = False
    #: Whether labels are predicted by the class with whose samples the inner product of features is
    #: largest on average.
    by_alignment: bool = False
    #: Whether residual norms are taken about the mean, even where features are not centred.
    centred_scores: bool = False
    #: Whether the loadings of the images on the features are kept with the model; with left deflation
    #: and directions that combine all candidates.
    keeps_loadings: ClassVar[bool] = False
    #: How features are removed: from columns, or from images, as feature analysis does.
    deflation: DeflationRule = LeftDeflation()
    #: With left deflation: a penalty of the squared coefficients of the candidates.
    penalty: Ridge = Ridge()
    #: Whether candidates can be screened: the score needs no more of the view than the squared norms,
    #: ``target_products``, ``eligible`` and ``metric.diagonal``, and sees no more.
    can_screen: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in _MOVED.keys() & vars(cls).keys():
            raise TypeError(
                f"{cls.__name__} declares {name}, which is now a part of needs: write `needs = "
                f"Needs({_MOVED[name]}=...)`, of kernelsieve.deflation, into the class."
            )

    def start(self) -> Selector:
        """Return what chooses the directions of one fit; a criterion without memory does so itself.

        Returns
        -------
        Selector
        """
        return self

    @property
    def one_of_equals(self) -> bool:
        """Whether one of equal candidates is eligible: halves of a coefficient would cost less."""
        return self.penalty.ridge > 0

    def target_scale(self, target_sums: np.ndarray) -> np.ndarray:
        """Return by what each target is multiplied, given the weighted sums of the targets.

        Parameters
        ----------
        target_sums : ndarray of shape (q,)
            For labels, how many samples each class has.

        Returns
        -------
        ndarray of shape (q,)
            Ones, unless overridden.
        """
        return np.ones(len(target_sums))

    def value(self, step: Step) -> float:
        """Return the number that goes into ``criterion_path_``; the score unless overridden.

        Parameters
        ----------
        step : Step
            A direction that was chosen, in numbers.

        Returns
        -------
        float
        """
        return step.score


def first_of_the_best(scores: np.ndarray, rounding_of: Callable[[np.ndarray], np.ndarray]) -> int:
    """Return the first place with the largest score, up to rounding: a share of each score.

    Rounding is asked for where it may matter. Where all have the same score, because there is one
    direction left, that with the least rounding is taken: which it is does not depend on their order.
    """
    best = int(scores.argmax())
    near = (scores * (1 + _WIDEST_TIE) >= scores[best] * (1 - _WIDEST_TIE)).nonzero()[0]
    if len(near) == 1:
        return best
    rounding = rounding_of(near)
    share = np.minimum(np.maximum(rounding, _TIE), _WIDEST_TIE)
    is_tied = scores[near] * (1 + share) >= scores[best] * (1 - share[near == best])
    tied = near[is_tied]
    if len(tied) == np.count_nonzero(np.isfinite(scores)):
        tied = tied[rounding <= _ALIKE * rounding.min()]
    return int(tied[0])


class ScoringCriterion(Criterion):
    """Scores every candidate alone: the direction is one example, and features stay sparse."""

    @abstractmethod
    def score(self, view: View) -> np.ndarray:
        """Return one number for each candidate, larger is better, not negative.

        Parameters
        ----------
        view : View
            What is known of the candidates, as far as it was declared.

        Returns
        -------
        ndarray of shape (C,)
            Finite numbers, or -inf to refuse a candidate.
        """

    def scores_of_eligible(self, view: View) -> np.ndarray:
        """Return the scores, and -inf for candidates that may not be chosen."""
        scores = np.asarray(self.score(view), dtype=np.float64)
        if scores.shape != view.eligible.shape:
            raise CriterionError(
                f"{type(self).__name__}.score returned shape {scores.shape}; it must return one number "
                f"for each of the {len(view.eligible)} candidates."
            )
        scores = np.where(view.eligible, scores, -np.inf)
        if not (scores < np.inf).all():
            raise CriterionError(
                f"{type(self).__name__}.score returned {scores.max()} for candidate "
                f"{int(np.argmax(scores))}; scores must be finite, or -inf to refuse a candidate."
            )
        return scores

    def propose(self, view: View) -> Direction | None:
        scores = self.scores_of_eligible(view)
        if scores.max(initial=-np.inf) == -np.inf:
            return None
        chosen = first_of_the_best(scores, partial(_rounding, view))
        length = view.metric.diagonal[chosen]
        weight = 1.0 / np.sqrt(length) if length > 0 else 1.0
        return Direction(np.array([chosen]), np.array([weight]), float(scores[chosen]))


def _rounding(view: View, chosen: np.ndarray) -> np.ndarray:
    """Return which share of their scores is rounding, where columns have cancelled in deflation."""
    raw = view.raw_squared_norms[chosen]
    left = np.maximum(view.residual_squared_norms[chosen], _ROUNDING * raw)
    return _ROUNDING * np.divide(raw, left, out=np.ones_like(left), where=left > 0)
