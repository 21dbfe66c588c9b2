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
from .decisions import Moments, Outputs, add_decision, decision_heads, explained_targets, log_shares
from .programs import ClassPrograms

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
    left = estimator._held_out(rows, rows.indicators @ targets, leverages)
    return add_decision(fit, heads, left, len(pool), joint=False)


def _heads(estimator: Any, rows: Outputs, moments: Moments) -> Heads:
    rule = estimator._rule
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


def prior_heads(moments: Moments) -> Heads:
    """Return heads that ignore the outputs: log odds of the class weights.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.decisions import Moments
    >>> from kernelsieve.rayleigh.sparse_decisions import prior_heads
    >>> constant = Moments(np.array([30.0, 10.0]), np.zeros((2, 1)), np.zeros((1, 1)))
    >>> prior_heads(constant).predict(np.zeros((1, 1))).round(4)  # log(10 / 30)
    array([[-1.0986]])
    """
    priors = log_shares(moments.weights)
    n_outputs = moments.means.shape[1]
    odds = priors[1:] - priors[0] if n_outputs == 1 else priors
    lines = np.where(np.tri(n_outputs, dtype=bool), odds - moments.means[0], NEVER)
    return Heads(lines, np.eye(n_outputs))


def mean_ridge_leverage(
    columns: np.ndarray, weight: np.ndarray, ridge: float, lengths: np.ndarray | None = None
) -> float:
    """Return the mean leverage of ridge regression with an intercept.

    The ridge is on the squares of the coefficients, or on the squared length of the combination, by
    the inner products ``lengths`` of the columns in feature space.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.sparse_decisions import mean_ridge_leverage
    >>> columns = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    >>> mean_ridge_leverage(columns, np.ones(4), 4.0)  # of the constant 1/4, and of the column half
    0.375
    """
    centred = columns - weight @ columns / weight.sum()
    gram = centred.T @ (weight[:, None] * centred)
    penalty = ridge * (np.eye(len(gram)) if lengths is None else lengths)
    try:
        used = np.trace(np.linalg.solve(gram + penalty, gram))
    except np.linalg.LinAlgError:  # columns that depend on each other
        used = np.trace(np.linalg.pinv(gram + penalty, hermitian=True) @ gram)
    return (1 + float(used)) / float(weight.sum())


def explain_zero_solution(C: Any, limit: float, rounding: float, invariant: bool) -> str:
    """Explain why all coefficients are zero, and what to do.

    ``limit`` is the largest slope of the losses along a column, as a part of C, and ``rounding`` what
    is no slope at all.
    """
    several = np.ndim(C) > 0
    if limit * (1.0 if several else float(C)) <= rounding:  # slopes sum to zero: equal values cancel
        return (
            "All samples have the same kernel values, so nothing separates classes, whatever C is; "
            "look for constant columns of X, or change gamma."
        )
    remedy = f"multiply C by less than {limit:.6g}." if several else f"choose C below {limit * C:.6g}."
    if invariant:  # the penalty of the changes alone may keep coefficients at zero
        remedy = "lower C, or the weights in invariances."
    name = "C" if several else f"C={C:g}"
    return f"{name} is so large that all coefficients are zero and the features constant; {remedy}"
