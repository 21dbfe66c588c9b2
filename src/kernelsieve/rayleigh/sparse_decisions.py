"""Build the fit of the sparse discriminant from the solutions of its programs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..data import Batch, weighted_targets
from ..deflation import NEVER, Heads, Outcome
from ..exceptions import FewerFeaturesWarning, warn
from ..kernels import Kernel
from ..model import Fit, KernelModel
from .column_generation import SparseSolution, merged_coefficients
from .decision_rule import DecisionRule
from .decisions import add_decision, held_out, mean_ridge_leverage
from .outputs import Moments, Outputs, explained_targets
from .penalties import explain_zero_solution
from .solvers import ClassPrograms
from .thresholds import decision_heads, prior_heads

_LARGEST_LEVERAGE = 0.9  # as many coefficients as samples would leave nothing to hold out


def fit_of_solutions(
    estimator: Any,
    solutions: list[SparseSolution],
    programs: ClassPrograms,
    batch: Batch,
    kernel: Kernel,
    n_columns: int,
) -> Fit:
    """Return the fit: the features of the solutions, with decision heads."""
    columns, pool = programs.columns, programs.pool
    chosen, first_use, alpha = merged_coefficients(solutions, len(pool))
    if not alpha.any():
        first = np.abs(columns.select(np.zeros(1, np.intp))[:, 0])
        terms = min(estimator.tol, 1e-6) * float(first @ batch.root_weight**2)
        limit = min(solution.largest_price for solution in solutions)
        warn(
            explain_zero_solution(estimator.C, limit, terms, bool(estimator._tangents())),
            FewerFeaturesWarning,
        )
    b = np.array([solution.intercept for solution in solutions])
    outputs = columns.select(chosen) @ alpha + b
    moments = Moments.from_outputs(outputs, batch.Y, batch.weight)
    features = weighted_targets(replace(batch, targets=outputs), True)
    fit = Fit(
        model=KernelModel(kernel, pool.points[chosen], alpha, -b, first_use),
        landmark_indices=pool.first_of_equals(chosen).indices[chosen],
        criterion_path=np.array([solution.objective for solution in solutions]),
        explained_variance_ratio=programs.explained_variance(chosen, alpha, features),
        explained_target_ratio=explained_targets(features, weighted_targets(batch, True)),
        outcome=Outcome.COMPLETE,
        n_columns=n_columns,
        n_iter=max(1, *(solution.n_iter for solution in solutions)),
    )
    rows = Outputs(outputs, batch.Y, batch.root_weight**2)
    heads = _heads(estimator, rows, moments) if alpha.any() else prior_heads(moments)
    leverages = _leverages(estimator, programs, chosen, alpha, rows.weight)
    targets = 2.0 * np.eye(batch.Y.shape[1])[:, -outputs.shape[1] :] - 1
    left = held_out(estimator, rows, rows.indicators @ targets, np.tile(leverages, (len(batch), 1)))
    return add_decision(fit, heads, left, len(pool), joint=False)


def _heads(estimator: Any, rows: Outputs, moments: Moments) -> Heads:
    rule = DecisionRule.of(estimator.decision)
    if rule.threshold == "intercept":
        n_outputs = rows.values.shape[1]
        lower = np.where(np.tri(n_outputs, dtype=bool), 0.0, NEVER)
        return Heads(lower, np.eye(n_outputs))
    return decision_heads(rule.threshold, moments, rows, rule.nu)


def _leverages(
    estimator: Any, programs: ClassPrograms, chosen: np.ndarray, alpha: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Return the mean leverage of each output, approximated by that of least squares."""
    if estimator.penalty == "l1":  # given the support, nearly least squares on its columns
        n_used = np.count_nonzero(alpha, axis=0)
        found = (n_used + (n_used > 0)) / weight.sum()
    else:
        columns, C = programs.columns.select(chosen), float(np.mean(estimator.C))
        lengths = programs.among(chosen) if estimator.penalty == "norm" else None
        found = np.full(alpha.shape[1], mean_ridge_leverage(columns, weight, C, lengths))
    return np.minimum(found, _LARGEST_LEVERAGE)
