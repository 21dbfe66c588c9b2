"""How the sparse discriminant decides: from the solutions of its programmes to a fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..deflation import NEVER, Heads, Outcome
from ..exceptions import FewerFeaturesWarning, warn
from ..kernels import Kernel
from ..model import Fit, KernelModel
from ..rows import Batch, Pool
from .column_generation import PricedColumns, SparseSolution, merged_coefficients
from .decision_rule import DecisionRule
from .decisions import decided, heads_of_features, held_out
from .explained import ImageVariance, explained_targets
from .leverages import mean_ridge_leverage
from .outputs import Moments, Outputs, prior_heads
from .penalties import why_constant

_LARGEST_LEVERAGE = 0.9  # as many coefficients as samples would leave nothing to hold out


def fit_of_solutions(
    estimator: Any,
    solutions: list[SparseSolution],
    columns: PricedColumns,
    images: ImageVariance,
    batch: Batch,
    kernel: Kernel,
    pool: Pool,
) -> Fit:
    """Return the features that the programmes have found, and how they decide."""
    n_columns = columns.n_kept
    chosen, first_use, alpha = merged_coefficients(solutions, len(pool))
    if not alpha.any():
        first = np.abs(columns.take(np.zeros(1, np.intp))[:, 0])
        terms = min(estimator.tol, 1e-6) * float(first @ batch.root_weight**2)
        limit = min(solution.largest_price for solution in solutions)
        warn(why_constant(estimator.C, limit, terms, bool(estimator._tangents())), FewerFeaturesWarning)
    model = KernelModel(
        kernel,
        pool.points[chosen],
        alpha,
        -np.array([solution.intercept for solution in solutions]),
        first_use,
    )
    outputs = columns.take(chosen) @ alpha - model.offset
    moments = Moments.of(outputs, batch.Y, batch.weight)
    fit = Fit(
        model=model,
        landmark_indices=pool.first_of_equals(chosen).indices[chosen],
        criterion_path=np.array([solution.objective for solution in solutions]),
        explained_variance_ratio=images.explained(chosen, alpha, outputs),
        explained_target_ratio=explained_targets(outputs, batch),
        outcome=Outcome.COMPLETE,
        n_columns=n_columns,
        n_iter=max(1, *(solution.n_iter for solution in solutions)),
    )
    rows = Outputs(outputs, batch.Y, batch.root_weight**2)
    heads = _heads(estimator, rows, moments) if alpha.any() else prior_heads(moments)
    leverages = _leverages(estimator, model, columns.take(chosen), rows.weight)
    targets = 2.0 * np.eye(batch.Y.shape[1])[:, -outputs.shape[1] :] - 1
    left = held_out(estimator, rows, rows.indicators @ targets, np.tile(leverages, (len(batch), 1)))
    return decided(fit, heads, left, len(pool), joint=False)


def _heads(estimator: Any, rows: Outputs, moments: Moments) -> Heads:
    if DecisionRule.of(estimator.decision).threshold == "intercept":
        n_outputs = rows.values.shape[1]
        lower = np.where(np.tri(n_outputs, dtype=bool), 0.0, NEVER)
        return Heads(lower, np.eye(n_outputs))
    return heads_of_features(estimator, moments, np.empty(0), joint=False, all_outputs=lambda: rows)


def _leverages(
    estimator: Any, model: KernelModel, columns: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Return the mean leverage of samples in each output, as if the loss were that of squares."""
    if estimator.penalty == "l1":  # given the support, nearly least squares on its columns
        n_used = np.count_nonzero(model.projection, axis=0)
        found = (n_used + (n_used > 0)) / weight.sum()
    else:
        of_norm = estimator.penalty == "norm"
        lengths = model.kernel.block(model.landmarks, model.landmarks) if of_norm else None
        leverage = mean_ridge_leverage(columns, weight, float(np.mean(estimator.C)), lengths)
        found = np.full(model.n_components, leverage)
    return np.minimum(found, _LARGEST_LEVERAGE)
