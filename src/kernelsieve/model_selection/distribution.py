"""Distribution of a criterion's scores over candidates, and how many candidates are enough."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone

from ..deflation import Direction, ScoringCriterion, Selector, View
from ..estimators import LoopEstimator
from ..exceptions import InvalidDataError, InvalidParameterError
from ..fitting import (
    candidates_needed,
    select_in_pool,
    select_without_pool,
    use_of_candidates,
)


@dataclass(frozen=True)
class CriterionDistribution:
    """Scores of candidates at one step; made by :func:`criterion_distribution`.

    Attributes
    ----------
    scores : ndarray of shape (n_candidates,)
        In ascending order, of those candidates that may still be chosen.
    """

    scores: np.ndarray

    def cdf(self, score: Any, n_candidates: int = 1) -> np.ndarray:
        """Return the probability that the best of some random candidates is at most a score.

        Parameters
        ----------
        score : float or array-like
            Scores to compare with.
        n_candidates : int, default=1
            How many are drawn, each independent of the others; the probability is ``F(x)^c``.

        Returns
        -------
        ndarray
            Of the shape of ``score``.
        """
        at_most = np.searchsorted(self.scores, np.asarray(score, dtype=np.float64), side="right")
        return np.asarray((at_most / len(self.scores)) ** n_candidates)

    def candidates_needed(self, share: float = 0.95, probability: float = 0.95) -> int:
        """Return how many random candidates contain one that reaches a share of the best score.

        Parameters
        ----------
        share : float, default=0.95
            Of the largest score, in (0, 1].
        probability : float, default=0.95
            With which a candidate that reaches it is among those that are drawn.

        Returns
        -------
        int
        """
        if not (isinstance(share, Real) and 0 < share <= 1):
            raise InvalidParameterError(
                f"share={share!r} is a part of the largest score and must be above 0 and at most 1; "
                "pass 0.95 for 95 % of it."
            )
        below = np.searchsorted(self.scores, share * self.scores[-1], side="left")
        return candidates_needed(1 - below / len(self.scores), probability)


def criterion_distribution(
    extractor: Any,
    X: Any,
    y: Any = None,
    *,
    component: int = 1,
    n_candidates: int | None = None,
    sample_weight: Any = None,
) -> CriterionDistribution:
    """Return the empirical distribution of an extractor's criterion over candidates.

    A random subset of candidates is nearly as good as all of them where many are nearly as good as the
    best (section 4.4 of Dhanjal, Gunn and Shawe-Taylor, 2009). This tells if they are.

    Parameters
    ----------
    extractor : kernel extractor
        One that scores single candidates, such as :class:`SparseMaximalAlignment`. It is not changed.
        Its ``n_components`` and ``candidates``, unless these are points, are not looked at.
    X : array-like or CSR matrix of shape (n_samples, n_features)
        Training samples.
    y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
        Targets, where the extractor has them.
    component : int, default=1
        Which choice the scores are for: after ``component - 1`` others.
    n_candidates : int, default=None
        Random samples that are scored, in a single pass; None for all samples.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the samples.

    Returns
    -------
    CriterionDistribution

    See Also
    --------
    kernelsieve.candidates_needed : How many random candidates contain one of the best.

    Examples
    --------
    >>> from kernelsieve import SparseMaximalAlignment
    >>> from kernelsieve.datasets import make_interactions
    >>> from kernelsieve.model_selection import criterion_distribution
    >>> X, y = make_interactions(1000, 5, random_state=0)
    >>> scores = criterion_distribution(SparseMaximalAlignment(gamma=0.1), X, y, component=3)
    >>> scores.candidates_needed(0.8) < scores.candidates_needed(0.95)
    True
    """
    estimator, criterion = _scoring(extractor)
    _check(component, n_candidates)
    problem = estimator._problem(X, y, sample_weight)
    drawn = replace(problem.candidates, size=n_candidates or "all", how="random", resample=False)
    settings = replace(problem.settings, n_components=int(component))
    problem = replace(problem, candidates=drawn, settings=settings)
    watched = _RecordingCriterion(criterion)
    # A copy declares everything that the criterion declares, and only its start is another.
    observed: Any = copy.copy(criterion)
    observed.start = lambda: watched
    size = problem.pool_size(len(problem.rows), use_of_candidates(observed), observed)
    samples = problem.scored_samples()
    if problem.has_pool(size):
        pool = problem.given or problem.draw(size)
        fit = select_in_pool(problem, samples, pool, observed)
    else:
        fit = select_without_pool(problem, samples, observed, size)
    if fit.model.n_components < component:
        raise InvalidDataError(
            f"component={component} cannot be chosen, because after {fit.model.n_components} "
            f"components {fit.outcome}."
        )
    return CriterionDistribution(np.sort(watched.scores))


class _RecordingCriterion(Selector):
    """Wraps a criterion, and records the scores of its last choice."""

    scores: np.ndarray

    def __init__(self, criterion: ScoringCriterion) -> None:
        self._criterion = criterion

    def propose(self, view: View) -> Direction | None:
        scores = np.asarray(self._criterion.score(view), dtype=np.float64)
        self.scores = scores[view.eligible & np.isfinite(scores)]
        return self._criterion.propose(view)


def _scoring(extractor: Any) -> tuple[LoopEstimator, ScoringCriterion]:
    """Return a copy of the extractor, with the criterion that scores its candidates."""
    criterion = extractor._scoring_criterion() if isinstance(extractor, LoopEstimator) else None
    if criterion is None:
        raise InvalidParameterError(
            f"extractor={extractor!r} does not score single candidates; pass an extractor that does, "
            "such as SparseMaximalAlignment() or AcceleratedKernelFeatureAnalysis()."
        )
    return clone(extractor), criterion


def _check(component: Any, n_candidates: Any) -> None:
    numbers = {"component": component, "n_candidates": 1 if n_candidates is None else n_candidates}
    for name, value in numbers.items():
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
            raise InvalidParameterError(f"{name}={value!r} must be a whole number of at least 1.")
