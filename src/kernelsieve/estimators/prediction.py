"""Predictions from features, for every number of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if

from ..model import features_as_they_are
from ..rows import target_array
from .nested import NestedTransformer


def _has_classes(estimator: Any) -> bool:
    if estimator._labels() is None:
        raise AttributeError("y was continuous, so there are no classes to decide between.")
    return True


def _has_probabilities(estimator: Any) -> bool:
    _has_classes(estimator)
    if estimator._probabilities(np.zeros(1)) is None:
        raise AttributeError(
            "The loss gives no probabilities; pass loss='logistic' or loss='exponential'."
        )
    return True


class Predicting(NestedTransformer):
    """Estimators that predict the target from their features by a linear head."""

    target: str

    def predict(self, X: Any, n_components: int | None = None) -> np.ndarray:
        """Predict the target of new rows.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Rows, as for ``transform``.
        n_components : int, default=None
            Use the first features only; None for all. Nothing is fitted again.

        Returns
        -------
        ndarray of shape (n,) or (n, q)
            Numbers, or labels where ``y`` had labels.
        """
        predictions = self._scores(X, n_components)
        classes = self._labels()
        if classes is None:
            return predictions[:, 0] if self._one_dimensional else predictions
        if predictions.shape[1] == 1:  # a margin between two classes
            return classes[(predictions[:, 0] > 0).astype(int)]
        return classes[predictions.argmax(axis=1)]

    @available_if(_has_classes)
    def decision_function(self, X: Any, n_components: int | None = None) -> np.ndarray:
        """Return a score for each class, the largest for the predicted one.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Rows, as for ``transform``.
        n_components : int, default=None
            Use the first features only; None for all.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            For two classes one number, positive for the second.
        """
        predictions = self._scores(X, n_components)
        if predictions.shape[1] == 1:
            return predictions[:, 0]
        if predictions.shape[1] == 2:
            return predictions[:, 1] - predictions[:, 0]
        return predictions

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any, n_components: int | None = None) -> np.ndarray:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Rows, as for ``transform``.
        n_components : int, default=None
            Use the first features only; None for all.

        Returns
        -------
        ndarray of shape (n, n_classes)
            Of more than two classes each is told from the rest, and the sum made 1.
        """
        p = np.asarray(self._probabilities(self._scores(X, n_components)))
        if p.shape[1] == 1:
            return np.hstack([1 - p, p])
        return p / p.sum(axis=1, keepdims=True)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy for labels, and R2 for numbers.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Rows.
        y : array-like of shape (n,) or (n, q)
            Their true targets.
        sample_weight : array-like of shape (n,), default=None
            Their weights.

        Returns
        -------
        float
        """
        measure = r2_score if self._labels() is None else accuracy_score
        return float(measure(target_array(y), self.predict(X), sample_weight=sample_weight))

    def head(self, n_components: int | None = None) -> Self:
        """Return the predictor alone: a copy whose rows are features instead of inputs.

        Parameters
        ----------
        n_components : int, default=None
            For the first features only; None for all.

        Returns
        -------
        estimator
            ``head(j).predict(transform(X, j))`` is ``predict(X, j)``.
        """
        k = self.n_components_ if n_components is None else n_components
        alone = self.truncate(k)
        alone._fit = replace(alone._current_fit(), model=features_as_they_are(k))
        alone.n_features_in_ = k
        alone.__dict__.pop("feature_names_in_", None)
        return alone

    def _scores(self, X: Any, n_components: int | None) -> np.ndarray:
        fitted = self if n_components is None else self.truncate(n_components)
        fit = fitted._current_fit()
        rows = self._check_new_rows(X, len(fit.model.projection), finite=False)
        return fit.heads.predict(fit.model.features(rows, self.n_jobs))  # type: ignore[union-attr]

    def _labels(self) -> np.ndarray | None:
        self._current_fit()
        return vars(self).get("classes_")

    def _probabilities(self, predictions: np.ndarray) -> np.ndarray | None:
        """Return probabilities of the positive label; None where the loss has none."""
        return None

    @property
    def _one_dimensional(self) -> bool:
        return bool(vars(self).get("_one_dimensional_y", True))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.target == "classes":
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
            tags.target_tags.multi_output = False
        elif self.target == "continuous":  # otherwise it depends on y
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags
