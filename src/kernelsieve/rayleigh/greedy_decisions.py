"""Decisions of the greedy discriminant, from the moments that its loop knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data import Batch
from ..deflation import Heads
from ..fitting import RowPass
from ..model import Fit
from .outputs import Moments


@dataclass(frozen=True)
class DecidingPass:
    """A pass over the samples that adds decision heads to its fit."""

    one_pass: RowPass
    decide: Callable[[Fit, Batch | None], Fit]

    def new_statistic(self, *, repeatable: bool) -> Any:
        return self.one_pass.new_statistic(repeatable=repeatable)

    def absorb(self, statistic: Any, batch: Batch) -> None:
        self.one_pass.absorb(statistic, batch)

    def fit(self, batches: Iterable[Batch]) -> Fit:
        whole = batches[0] if isinstance(batches, list) else None
        return self.decide(self.one_pass.fit(batches), whole)

    def solve(self, statistic: Any) -> Fit:
        return self.decide(self.one_pass.solve(statistic), None)


def moments_of_features(fit: Fit) -> Moments:
    """Return the moments of the features, as the loop knows them."""
    m, k = fit.total_weight, fit.model.n_components
    heads = fit.heads
    assert heads is not None
    weights = m * heads.intercepts[0]  # means of the indicators of classes
    means = m * heads.coefficients.T / np.where(weights > 0, weights, np.inf)[:, None]
    total = m * np.eye(k) - (0.0 if fit.penalty is None else fit.penalty)
    within = total - means.T @ (weights[:, None] * means)
    return Moments(weights, means, within / m)


def nested_heads(lines: list[tuple[np.ndarray, np.ndarray]], directions: np.ndarray) -> Heads:
    """Convert decisions on the first j features to heads of the features, for every j."""
    k, n_outputs = directions.shape
    coefficients = np.zeros((k, k, n_outputs))
    for j, (slopes, _) in enumerate(lines, start=1):
        coefficients[j - 1, :j] = directions[:j] * slopes
    return Heads(np.array([constants for _, constants in lines]), coefficients)
