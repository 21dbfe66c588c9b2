"""Nested cross-validation: an unbiased error for a model with a chosen number of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import indexable

from ..config import with_this_config
from ..data import Part
from ..exceptions import InvalidParameterError
from .checks import check_folds, folds_of, settled_target, tells_classes_apart
from .folds import score_of, split_off
from .path import ComponentPathCV


@dataclass(frozen=True)
class NestedScores:
    """Score and choice of each outer fold; the choice never sees the held-out samples.

    Made by :func:`nested_cross_validate`.

    Attributes
    ----------
    test_score : ndarray of shape (n_folds,)
        Score of each outer fold.
    n_components : ndarray of shape (n_folds,)
        The k that was chosen without it.
    params : tuple of dict
        The setting of ``param_grid`` that was chosen without it.
    estimators : tuple of ComponentPathCV
        The searches.
    mean : float
        Mean score of the outer folds.
    standard_error : float
        Standard error of the mean; NaN for one fold.
    """

    test_score: np.ndarray
    n_components: np.ndarray
    params: tuple[dict[str, Any], ...]
    estimators: tuple[ComponentPathCV, ...]

    @property
    def mean(self) -> float:
        """Mean score of the outer folds."""
        return float(self.test_score.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of the mean; NaN for one fold."""
        n_folds = len(self.test_score)
        if n_folds < 2:
            return float("nan")
        return float(self.test_score.std(ddof=1) / np.sqrt(n_folds))


def nested_cross_validate(
    search: ComponentPathCV,
    X: Any,
    y: Any = None,
    *,
    cv: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
) -> NestedScores:
    """Cross-validate the whole search, choice of k included.

    ``search.best_score_`` is the score by which a model was chosen, so it is too good. Here every outer
    fold is scored by a search that has not seen it.

    Parameters
    ----------
    search : ComponentPathCV
        With ``refit=True``; it is not changed.
    X : array-like or CSR matrix of shape (n, d)
        Samples.
    y : array-like of shape (n,) or (n, q), default=None
        Targets.
    cv : int, splitter or iterable, default=None
        The outer folds; None is 5. The inner ones are ``search.cv``.
    groups : array-like of shape (n,), default=None
        Groups of samples, for outer and inner splitters.
    sample_weight : array-like of shape (n,), default=None
        Weights of the samples.
    n_jobs : int, default=None
        Processes for the outer folds.

    Returns
    -------
    NestedScores

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from kernelsieve import SparseMaximalAlignment
    >>> from kernelsieve.model_selection import ComponentPathCV, nested_cross_validate
    >>> X, y = load_diabetes(return_X_y=True)
    >>> search = ComponentPathCV(SparseMaximalAlignment(20), Ridge(), cv=3)
    >>> scores = nested_cross_validate(search, X, y, cv=4)
    >>> scores.n_components.shape
    (4,)
    """
    _check(search)
    X, y, groups, weight = indexable(X, y, groups, sample_weight)
    data = Part(X, y, None if weight is None else np.asarray(weight, dtype=np.float64))
    groups = None if groups is None else np.asarray(groups)
    settled = settled_target(search.extractor, search.head, y)
    outer = check_cv(cv, y, classifier=tells_classes_apart(search.extractor, search.head, settled))
    folds = folds_of(outer, X, y, groups)
    check_folds(cv, folds)
    fit_and_score = delayed(with_this_config(_fit_and_score))
    fitted = Parallel(n_jobs=n_jobs)(
        fit_and_score(clone(search), data, groups, train, test) for train, test in folds
    )
    estimators = tuple(estimator for estimator, _ in fitted)
    return NestedScores(
        np.array([score for _, score in fitted]),
        np.array([estimator.best_n_components_ for estimator in estimators]),
        tuple(estimator.best_params_ for estimator in estimators),
        estimators,
    )


def _check(search: Any) -> None:
    if not isinstance(search, ComponentPathCV):
        raise InvalidParameterError(
            f"search={search!r} is not a ComponentPathCV; for other estimators there is scikit-learn's "
            "cross_validate."
        )
    if not search.refit:
        raise InvalidParameterError(
            "search has refit=False, and the models that it chooses have to be fitted to be scored; "
            "pass refit=True."
        )


def _fit_and_score(
    search: ComponentPathCV, data: Part, groups: np.ndarray | None, train: np.ndarray, test: np.ndarray
) -> tuple[ComponentPathCV, float]:
    rows, held_out = split_off(search, data, train), split_off(search, data, test, train)
    inner_groups = None if groups is None else groups[train]
    search.fit(rows.X, rows.y, groups=inner_groups, sample_weight=rows.weight)
    return search, score_of(search.scorer_, search.best_estimator_, held_out)
