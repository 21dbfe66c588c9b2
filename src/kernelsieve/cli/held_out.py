"""How far predictions are off for rows that were not fitted, for intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold

from ..model_selection import ExtractorWithHead
from .methods import extractor_of
from .training import LabelledRows

_FOLDS = 5


def held_out_residuals(model: Any, X: np.ndarray, rows: LabelledRows, seed: int) -> np.ndarray:
    """Return residuals of all rows, each by the chosen settings without its fold."""
    residuals = np.empty(len(rows.y))
    by_group = rows.groups is not None and len(np.unique(rows.groups)) >= _FOLDS
    folds: Any = GroupKFold(_FOLDS) if by_group else KFold(_FOLDS, shuffle=True, random_state=seed)
    for train, test in folds.split(X, rows.y, rows.groups):
        weight = None if rows.weight is None else rows.weight[train]
        fitted = _fitted_anew(model, X[train], rows.y[train], weight)
        residuals[test] = rows.y[test] - np.ravel(fitted.predict(X[test]))
    return residuals


def _fitted_anew(model: Any, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Any:
    """Fit the extractor that was chosen, and its head, to other rows."""
    chosen = extractor_of(model)
    n_components = min(chosen.n_components_, len(y) - 1)
    weights = {} if weight is None else {"sample_weight": weight}
    extractor = clone(chosen).set_params(n_components=n_components).fit(X, y, **weights)
    if getattr(model, "head", None) is None:
        return extractor
    head = clone(model.best_estimator_.head)
    return ExtractorWithHead(extractor, head.fit(extractor.transform(X), y, **weights))
