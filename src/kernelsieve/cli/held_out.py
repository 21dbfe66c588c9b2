"""Scores of predictions, and residuals of held-out rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold

from ..model_selection import ExtractorWithHead
from ..predictors.base import SievePredictor
from .inspect import score_name
from .methods import find_extractor
from .table_model import TableModel
from .training import LabelledRows

_FOLDS = 5


def held_out_residuals(model: Any, X: np.ndarray, rows: LabelledRows, seed: int) -> np.ndarray:
    """Return cross-validated residuals of all rows, with the chosen settings."""
    residuals = np.empty(len(rows.y))
    by_group = rows.groups is not None and len(np.unique(rows.groups)) >= _FOLDS
    folds: Any = GroupKFold(_FOLDS) if by_group else KFold(_FOLDS, shuffle=True, random_state=seed)
    for train, test in folds.split(X, rows.y, rows.groups):
        weight = None if rows.weight is None else rows.weight[train]
        fitted = _refit(model, X[train], rows.y[train], weight)
        residuals[test] = rows.y[test] - np.ravel(fitted.predict(X[test]))
    return residuals


def _refit(model: Any, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Any:
    """Refit the chosen extractor and its head to other rows."""
    chosen = find_extractor(model)
    n_components = min(chosen.n_components_, len(y) - 1)
    weights = {} if weight is None else {"sample_weight": weight}
    extractor = clone(chosen).set_params(n_components=n_components).fit(X, y, **weights)
    if getattr(model, "head", None) is None:
        return extractor
    head = clone(model.best_estimator_.head)
    return ExtractorWithHead(extractor, head.fit(extractor.transform(X), y, **weights))


def held_out_scores(model: TableModel) -> dict[str, float]:
    """Return cross-validated scores of a model; empty if it has none."""
    fitted = model.fitted
    if isinstance(fitted, SievePredictor):
        held_out = fitted._current_fit().held_out
        y, scores, weight = held_out.targets, held_out.scores, held_out.weight
        if model.task == "regression":
            return regression_scores(y[:, 0], fitted._loss.predictions(scores)[:, 0], weight)
        labels, predicted = (model.classes_[values.argmax(axis=1)] for values in (y, scores))
        proba = fitted._calibration(scores)
        return classification_scores(labels, predicted, proba, model.classes_, weight)
    found = {}
    if hasattr(fitted, "best_score_"):
        found[score_name(fitted)] = fitted.best_score_
    return found if model.residuals is None else found | _errors(model.residuals, model.weights)


def regression_scores(
    y: np.ndarray, predicted: np.ndarray, weight: np.ndarray | None = None
) -> dict[str, float]:
    """Return R2 and errors of predicted numbers."""
    spread = np.average((y - np.average(y, weights=weight)) ** 2, weights=weight)
    error = np.average((y - predicted) ** 2, weights=weight)
    return {"R2": float(1 - error / (spread or 1.0)), **_errors(y - predicted, weight)}


def _errors(residuals: np.ndarray, weight: np.ndarray | None) -> dict[str, float]:
    return {
        "RMSE": float(np.sqrt(np.average(residuals**2, weights=weight))),
        "MAE": float(np.average(np.abs(residuals), weights=weight)),
    }


def classification_scores(
    y: np.ndarray,
    predicted: np.ndarray,
    proba: np.ndarray | None,
    classes: np.ndarray,
    weight: np.ndarray | None = None,
) -> dict[str, float]:
    """Return accuracies of predicted labels and, with ``proba``, ROC AUC and log loss."""
    weight = np.ones(len(y)) if weight is None else weight
    right, present = y == predicted, np.unique(y)
    of_classes = [np.average(right[y == label], weights=weight[y == label]) for label in present]
    found = {
        "accuracy": float(np.average(right, weights=weight)),
        "balanced accuracy": float(np.mean(of_classes)),
    }
    if proba is None:
        return found
    known = np.isin(y, classes)  # a table may have labels that are new
    if len(np.unique(y[known])) == len(classes) > 1:
        p = proba[known, 1] if len(classes) == 2 else proba[known]
        auc = roc_auc_score(y[known], p, multi_class="ovr", labels=classes, sample_weight=weight[known])
        found["ROC AUC"] = float(auc)
    if known.any():
        loss = log_loss(y[known], proba[known], labels=classes, sample_weight=weight[known])
        found["log loss"] = float(loss)
    return found
