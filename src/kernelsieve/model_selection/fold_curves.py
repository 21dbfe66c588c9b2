"""Score every k and every ridge from the statistics of the folds.

Those of all folds but one together are the statistic of its training samples. Features are
combinations of its lines, so are predictions from them, and the squared error of a fold's samples is a
quadratic form in the fold's own statistic: no sample is looked at again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor

from ..data import Batch
from ..deflation import Outcome
from ..estimators import StatisticPlan
from ..exceptions import InvalidDataError
from ..fitting import OnePass
from ..model import Fit
from ..statistics import FoldSums
from .folds import Curve, Task
from .heads import NestedRidge, ridge_of, with_coefficients

#: From the squared errors of targets, their sums of squares about the mean, and the total weight.
SCORES: dict[str, Callable[[np.ndarray, np.ndarray, float], float]] = {
    "r2": lambda errors, squares, weight: float(np.mean(1 - errors / squares)),
    "neg_mean_squared_error": lambda errors, squares, weight: -float(np.mean(errors)) / weight,
    "neg_root_mean_squared_error": lambda errors, squares, weight: (
        -float(np.mean(np.sqrt(np.maximum(errors, 0.0) / weight)))
    ),
}


def known_score(scoring: Any) -> str | None:
    """Return the score function of squared errors; None for other scorers."""
    score = "r2" if scoring is None else scoring
    return score if isinstance(score, str) and score in SCORES else None


def have_closed_form(extractor: Any, heads: Iterable[Any]) -> bool:
    """Return True if all heads, or the extractor without one, are least squares or ridge."""
    return all(
        is_regressor(extractor if head is None else head) and ridge_of(head) is not None
        for head in heads
    )


@dataclass(frozen=True)
class SettledFolds:
    """The fold statistics for one setting of the extractor, and the fits made from them."""

    extractor: Any  # not fitted
    plan: StatisticPlan
    sums: FoldSums
    batch: Batch | None = None  # all samples, where they are in memory
    seconds: float = 0.0  # of a fold's share in the pass

    @property
    def has_classes(self) -> bool:
        """Whether targets are labels."""
        return self.plan.settled.encoder.classes is not None

    @cached_property
    def row_pass(self) -> OnePass:
        return self.plan.row_pass(self.extractor)  # type: ignore[return-value]

    def tells(self, task: Task, heads: Iterable[Any]) -> bool:
        """Return True if the sums tell the scores of all heads."""
        told = known_score(task.scoring) is not None and have_closed_form(self.extractor, heads)
        return told and not self.has_classes and not task.time_rows

    def fitted(self, left_out: int) -> Any:
        """Return the extractor fitted to all samples outside a fold."""
        return self._with_fit(self.row_pass.solve(self.sums.all_but(left_out)))

    def fitted_to_all(self) -> Any | None:
        """Return the extractor fitted to all samples; None if they must be summed up again.

        Where they are in memory, a second pass over the landmarks measures the features.
        """
        total, batches = self.sums.all_but(None), None if self.batch is None else [self.batch]
        fit = self.row_pass.solve(total, batches)
        if batches is not None and fit.outcome == Outcome.IMPRECISE and not total.keeps_all_digits:
            return None
        return self._with_fit(fit)

    def _with_fit(self, fit: Fit) -> Any:
        extractor = clone(self.extractor)
        extractor._take_fit(self.plan, fit)
        return extractor

    def curves(self, task: Task, fold: int, heads: Sequence[Any]) -> list[Curve] | None:
        """Return the curve of every head in a fold; None for collinear features."""
        start = time.perf_counter()
        training, held_out = self.sums.all_but(fold), self.sums.folds[fold]
        if not held_out.n_rows:
            raise InvalidDataError(
                f"Fold {fold} has no samples to hold out; sum up more samples, or have fewer folds."
            )
        fit = self.row_pass.solve(training)
        products = [self.row_pass.feature_products(part, fit) for part in (training, held_out)]
        seconds = self.seconds + time.perf_counter() - start
        sizes = task.sizes[task.sizes <= fit.model.n_components]
        found = []
        for head in heads:
            path = self._path(head, products[0])
            if path is None:
                return None
            scores = (list(_scores(path, part, sizes, task.scoring)) for part in products)
            found.append(task.curve(seconds, *scores, fit.model.evaluations[sizes - 1], []))
        return found

    def fitted_head(self, head: Any, extractor: Any, k: int) -> Any | None:
        """Return the head on the first k features of all samples; None without a closed form."""
        if self.has_classes or not have_closed_form(self.extractor, [head]):
            return None
        products = self.row_pass.feature_products(self.sums.all_but(None), extractor._fit)
        path = self._path(head, products)
        if path is None:
            return None
        encoder = self.plan.settled.encoder
        shape = (2,) if encoder.one_dimensional else (2, encoder.n_targets)
        template = clone(head).fit(np.eye(2, 1), np.arange(np.prod(shape)).reshape(shape))
        return with_coefficients(template, *path.solution(k))

    def condensed(self) -> SettledFolds:
        """Return a copy with the sum over all folds only, once the folds are scored."""
        return replace(self, sums=FoldSums([], self.sums.all_but(None)))

    def _path(self, head: Any, products: np.ndarray) -> NestedRidge | None:
        """Return a head's regression on every prefix of the features."""
        ridge = ridge_of(head)
        n_targets = self.plan.settled.encoder.n_targets
        return None if ridge is None else NestedRidge.from_products(products, n_targets, *ridge)


def _scores(
    path: NestedRidge, products: np.ndarray, sizes: np.ndarray, scoring: Any
) -> Iterator[float]:
    """Yield the score of every number of features from held-out inner products."""
    n_targets = path.products.shape[1]
    weight, of_targets = products[0, 0], slice(1, 1 + n_targets)
    squares = np.diagonal(products)[of_targets] - products[0, of_targets] ** 2 / weight
    for k in sizes:
        coefficients, intercepts = path.solution(int(k))
        used = np.r_[0 : 1 + n_targets + int(k)]
        residual = np.zeros((len(used), n_targets))  # as a combination of one, targets and features
        residual[0], residual[of_targets] = intercepts, -np.eye(n_targets)
        residual[1 + n_targets :] = coefficients.T
        errors = np.einsum("iq,ij,jq->q", residual, products[np.ix_(used, used)], residual)
        yield SCORES[scoring or "r2"](errors, squares, float(weight))
