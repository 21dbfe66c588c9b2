"""Folds from one pass: every k, every ridge and their squared errors from the statistics of the folds.

One statistic a fold; those of the others together are the statistic of its training samples. Features
are combinations of its lines, so are predictions from them, and the squared error of a fold's samples
is a quadratic form in the fold's own statistic: no sample is looked at again.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone, is_regressor

from ..estimators import prepared
from ..fitting import CandidateRule, ColumnSums, OnePass
from .folds import Curve, Data, Group, Task, clone_values, padded
from .heads import RidgePath, ridge_of

_FEW_SAMPLES = 3000  # up to which every fold draws a pool of its own

#: From the squared errors of targets, their sums of squares about the mean, and the total weight.
_SCORES: dict[str, Callable[[np.ndarray, np.ndarray, float], float]] = {
    "r2": lambda errors, squares, weight: float(np.mean(1 - errors / squares)),
    "neg_mean_squared_error": lambda errors, squares, weight: -float(np.mean(errors)) / weight,
    "neg_root_mean_squared_error": lambda errors, squares, weight: (
        -float(np.mean(np.sqrt(np.maximum(errors, 0.0) / weight)))
    ),
}


def run_in_one_pass(
    task: Task,
    data: Data,
    folds: Sequence[tuple[np.ndarray, np.ndarray]],
    groups: Sequence[Group],
    scoring: Any,
) -> list[dict[int, Curve]] | None:
    """Return the curves of all settings in every fold; None where folds need passes of their own."""
    score = "r2" if scoring is None else scoring
    known = isinstance(score, str) and score in _SCORES
    if not known or task.time_rows or not _are_a_partition(folds, len(data)):
        return None
    found: list[dict[int, Curve]] = [{} for _ in folds]
    for of_extractor, head_settings in (setting for group in groups for setting in group):
        extractor = clone(task.extractor).set_params(**clone_values(of_extractor))
        heads = [_head(task, of_head) for _, of_head in head_settings]
        if not _is_told_by_sums(extractor, heads, len(data)):
            return None
        sums = FoldSums.gather(extractor, data, folds)
        if sums is None:
            return None
        for fold, curves in enumerate(found):
            of_heads = _curves(task, sums, fold, heads, score)
            if of_heads is None:
                return None
            curves.update(zip((number for number, _ in head_settings), of_heads, strict=True))
    return found


def _head(task: Task, setting: Mapping[str, Any]) -> Any:
    return None if task.head is None else clone(task.head).set_params(**clone_values(setting))


def _is_told_by_sums(extractor: Any, heads: Sequence[Any], n_samples: int) -> bool:
    """Tell if the folds may share one pool, and heads are found from inner products.

    A pool that was given is shared in any case, and one that is drawn without a look at targets by many
    samples.
    """
    if not hasattr(extractor, "prepare"):  # a pipeline, or what needs all samples at once
        return False
    parameters = extractor.get_params(deep=False)
    rule = CandidateRule.of_parameters(parameters)
    given = not isinstance(parameters.get(rule.parameter, "all"), (str, Integral))
    drawn = rule.is_number and rule.pool != "screen" and n_samples > _FEW_SAMPLES
    plain = (
        not extractor._is_precomputed
        and parameters.get("dtype", "float64") == "float64"
        and parameters.get("center") is True
    )
    linear = all(ridge_of(head) is not None for head in heads if head is not None)
    regress = all(is_regressor(extractor if head is None else head) for head in heads)
    return (given or drawn) and plain and linear and regress


def _are_a_partition(folds: Sequence[tuple[np.ndarray, np.ndarray]], n_samples: int) -> bool:
    """Tell if every sample is held out once, and every fold is fitted to all others."""
    held_out = np.concatenate([test for _, test in folds])
    if not np.array_equal(np.sort(held_out), np.arange(n_samples)) or len(folds) < 2:
        return False
    return all(
        len(train) + len(test) == n_samples and not np.intersect1d(train, test).size
        for train, test in folds
    )


@dataclass(frozen=True)
class FoldSums:
    """The statistics of all folds for one setting of the extractor."""

    row_pass: OnePass
    folds: list[ColumnSums]
    n_targets: int
    seconds: float  # of a fold's share in the pass

    @classmethod
    def gather(
        cls, extractor: Any, data: Data, folds: Sequence[tuple[Any, np.ndarray]]
    ) -> FoldSums | None:
        """Pass once over all samples; None for estimators that see them through something else."""
        start = time.perf_counter()
        plan = prepared(extractor, data.X, data.y, data.weight, None)
        row_pass, encoder = plan.row_pass(extractor), plan.settled.encoder
        if not isinstance(row_pass, OnePass) or row_pass.changes or encoder.classes is not None:
            return None
        batch = plan.batch(data.X, data.y, data.weight)
        sums = row_pass.sum_up_apart([batch[test] for _, test in folds])
        return cls(row_pass, sums, encoder.n_targets, (time.perf_counter() - start) / len(folds))

    def all_but(self, left_out: int | None) -> ColumnSums:
        """Return the statistic of all samples but those of a fold; added up, never subtracted."""
        others = [sums for number, sums in enumerate(self.folds) if number != left_out]
        total = copy.deepcopy(others[0])
        for sums in others[1:]:
            total.merge(sums)
        return total


def _curves(
    task: Task, sums: FoldSums, fold: int, heads: Sequence[Any], score: str
) -> list[Curve] | None:
    """Return the curve of every head in a fold."""
    start = time.perf_counter()
    training = sums.all_but(fold)
    fit = sums.row_pass.solve(training)
    products = [sums.row_pass.feature_products(part, fit) for part in (training, sums.folds[fold])]
    seconds = sums.seconds + time.perf_counter() - start
    sizes = task.sizes[task.sizes <= fit.model.n_components]
    found = []
    for head in heads:
        path = _path(head, products[0], sums.n_targets)
        if path is None:
            return None
        train, test = (np.array(list(_scores(path, part, sizes, score))) for part in products)
        columns = (train, test, fit.model.evaluations[sizes - 1], np.empty(0))
        found.append(Curve(seconds, *(padded(values, len(task.sizes)) for values in columns)))
    return found


def _path(head: Any, products: np.ndarray, n_targets: int) -> RidgePath | None:
    """Return the least squares, or ridge regression, of a head on every prefix of the features."""
    alpha = 0.0 if head is None else ridge_of(head)
    center = True if head is None else head.fit_intercept
    if alpha is None:
        return None
    return RidgePath.from_products(products, n_targets, alpha=alpha, center=center)


def _scores(path: RidgePath, products: np.ndarray, sizes: np.ndarray, score: str) -> Iterator[float]:
    """Yield the score of every number of features on the samples of some products."""
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
        yield _SCORES[score](errors, squares, float(weight))
