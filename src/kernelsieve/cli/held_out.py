"""Scores of predictions, and residuals of held-out rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import accuracy_score, log_loss, r2_score, recall_score, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from ..model_selection import ComponentPathCV
from ..predictors.base import SievePredictor
from .inspect import score_name
from .methods import find_extractor
from .table_model import TableModel
from .training import LabelledRows

_FOLDS = 5


def held_out_residuals(model: Any, X: np.ndarray, rows: LabelledRows, seed: int) -> np.ndarray:
    """Return cross-validated residuals of all rows, with the chosen settings."""
    by_group = rows.groups is not None and len(np.unique(rows.groups)) >= _FOLDS
    folds: Any = GroupKFold(_FOLDS) if by_group else KFold(_FOLDS, shuffle=True, random_state=seed)
    splits = list(folds.split(X, rows.y, rows.groups))
    extractor, most = find_extractor(model), min(len(train) for train, _ in splits) - 1
    steps = [clone(extractor).set_params(n_components=min(extractor.n_components_, most))]
    steps += [] if model.head is None else [clone(model.best_estimator_.head)]
    pipeline = make_pipeline(*steps)
    weights = (
        {} if rows.weight is None else {f"{n}__sample_weight": rows.weight for n, _ in pipeline.steps}
    )
    return rows.y - np.ravel(cross_val_predict(pipeline, X, rows.y, cv=splits, params=weights))


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
    is_search = isinstance(fitted, ComponentPathCV)
    found = {score_name(fitted): fitted.best_score_} if is_search else {}
    return found if model.residuals is None else found | _errors(model.residuals, model.weights)


def regression_scores(
    y: np.ndarray, predicted: np.ndarray, weight: np.ndarray | None = None
) -> dict[str, float]:
    """Return R2 and errors of predicted numbers."""
    r2 = 1.0 if len(y) < 2 else float(r2_score(y, predicted, sample_weight=weight))
    return {"R2": r2, **_errors(y - predicted, weight)}


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
    recall = recall_score(y, predicted, labels=np.unique(y), average="macro", sample_weight=weight)
    found = {
        "accuracy": float(accuracy_score(y, predicted, sample_weight=weight)),
        "balanced accuracy": float(recall),
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
