"""Leave-one-out and generalised cross-validation of a head in closed form, without folds.

With the triangular factor of the features and the ridge, ``T'T + alpha I = R'R``, the columns of
``Q = T R^-1`` are nested as the features are: the first k of them give predictions, leverages and
degrees of freedom of the head on the first k features.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ..data import target_array
from ..exceptions import FewerFeaturesWarning, InvalidParameterError
from .fold_curves import SCORES, have_closed_form, known_score
from .folds import Curve, Data, Group, Task, clone_with, pad_with_nan
from .heads import COLLINEAR, RidgePath, ridge_of
from .nested_extractors import fit_with_weight, last_step

#: Values of ``cv``, and what they are called.
WITHOUT_FOLDS = {"loo": "leave-one-out", "gcv": "generalised cross-validation"}


@dataclass
class ClosedFormScores:
    """The curves of all settings, and the extractors fitted to all samples."""

    curves: dict[int, Curve] = field(default_factory=dict)
    fitted: dict[int, Any] = field(default_factory=dict)


def score_without_folds(
    task: Task, data: Data, groups: Sequence[Group], how: str, scoring: Any
) -> ClosedFormScores:
    """Fit each setting of the extractor once, and score every head on every number of its features.

    Landmarks were chosen with all targets in view, so that scores are a little too good.
    """
    score, found = known_score(scoring), ClosedFormScores()
    for of_extractor, head_settings in (setting for group in groups for setting in group):
        extractor = clone_with(task.extractor, of_extractor)
        heads = [clone_with(task.head, of_head) for _, of_head in head_settings]
        if score is None or not have_closed_form(last_step(extractor), heads) or task.time_rows:
            raise InvalidParameterError(
                f"cv={how!r} is for regression by least squares or ridge (LinearRegression, Ridge), "
                f"for the scores {', '.join(SCORES)}, and without max_latency_us; pass a number of "
                "folds for others."
            )
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewerFeaturesWarning)  # as in folds
            fit_with_weight(extractor, data.X, data.y, data.weight)
        features = np.asarray(extractor.transform(data.X))
        seconds = time.perf_counter() - start
        for (number, _), head in zip(head_settings, heads, strict=True):
            found.curves[number] = _curve(task, extractor, head, features, data, seconds, how, score)
            found.fitted[number] = extractor
    return found


def _curve(
    task: Task,
    extractor: Any,
    head: Any,
    features: np.ndarray,
    data: Data,
    seconds: float,
    how: str,
    score: str,
) -> Curve:
    model = last_step(extractor)
    sizes = task.sizes[task.sizes <= model.n_components_]
    linear = LinearSmoother.fit(head, features[:, : sizes[-1]], data)
    squares = linear.weight @ (linear.targets - linear.weight @ linear.targets / linear.total) ** 2
    train, test = (
        [SCORES[score](errors, squares, linear.total) for errors in linear.errors(sizes, way)]
        for way in ("training", how)
    )
    columns = (np.array(train), np.array(test), model.kernel_evaluations_[sizes - 1], np.empty(0))
    return Curve(seconds, *(pad_with_nan(values, len(task.sizes)) for values in columns))


@dataclass(frozen=True)
class LinearSmoother:
    """A linear head as a smoother, whose predictions are linear in the targets, for every size."""

    Q: np.ndarray  # (n, k), of the features about their means
    products: np.ndarray  # (k, q): Q'WY
    targets: np.ndarray  # (n, q)
    target_means: np.ndarray  # (q,); zeros without an intercept
    weight: np.ndarray  # (n,)
    has_intercept: bool

    @classmethod
    def fit(cls, head: Any, features: np.ndarray, data: Data) -> LinearSmoother:
        """Factorise once for all numbers of features."""
        alpha = 0.0 if head is None else ridge_of(head)
        center = True if head is None else bool(head.fit_intercept)
        targets = target_array(data.y)
        targets = targets.reshape(len(targets), -1).astype(np.float64)
        path = RidgePath.fit(features, targets, data.weight, alpha=alpha or 0.0, center=center)
        if path is None:
            raise InvalidParameterError(COLLINEAR)
        Q = solve_triangular(path.triangle, (features - path.feature_means).T, trans="T").T
        weight = np.ones(len(targets)) if data.weight is None else data.weight
        return cls(Q, path.products, targets, path.target_means, weight, center)

    @property
    def total(self) -> float:
        return float(self.weight.sum())

    def errors(self, sizes: np.ndarray, how: str) -> Iterator[np.ndarray]:
        """Yield the weighted sums of squared errors, one for each target, for the first k features."""
        residuals = self.targets - self.target_means
        leverages = np.full(len(residuals), 1 / self.total if self.has_intercept else 0.0)
        previous = 0
        for k in sizes:
            new = slice(previous, int(k))
            residuals = residuals - self.Q[:, new] @ self.products[new]
            leverages = leverages + np.einsum("ij,ij->i", self.Q[:, new], self.Q[:, new])
            previous = int(k)
            yield self._squares(residuals, self.weight * leverages, how)

    def _squares(self, residuals: np.ndarray, leverages: np.ndarray, how: str) -> np.ndarray:
        if how == "loo":
            residuals = residuals / np.maximum(1 - leverages, np.finfo(float).eps)[:, None]
        squares = self.weight @ residuals**2
        if how == "gcv":
            counted = np.count_nonzero(self.weight)
            left = counted - leverages.sum()
            squares = squares * (counted / left) ** 2 if left > 0 else np.full_like(squares, np.inf)
        return np.asarray(squares)
