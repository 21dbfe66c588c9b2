"""Delegate methods of a search to the chosen model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._sklearn import wrap_output
from .composed import ExtractorWithHead
from .folds import Data, score_of


def _chosen_has(method: str) -> Callable[[Any], bool]:
    """Return a check whether the chosen model, or before the fit its parts, has a method."""

    def check(search: Any) -> bool:
        fitted = vars(search).get("best_estimator_")
        parts = search.extractor if search.head is None else search.head
        getattr(parts if fitted is None else fitted, method)
        return True

    return check


class DelegatingToChosen:
    """Mixin that predicts, transforms and scores with ``best_estimator_``."""

    refit: bool
    best_n_components_: int
    best_estimator_: ExtractorWithHead
    scorer_: Callable[..., float]

    @available_if(_chosen_has("predict"))
    def predict(self, X: Any) -> np.ndarray:
        """Predict the target of samples with the chosen model.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
            Numbers from a regressor, labels from a classifier.
        """
        return self._chosen().predict(X)

    @available_if(_chosen_has("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of the classes by the chosen model.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one number, positive for the second.
        """
        return self._chosen().decision_function(X)

    @available_if(_chosen_has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes by the chosen model.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._chosen().predict_proba(X)

    def transform(self, X: Any) -> Any:
        """Return the features of the chosen model.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Or a data frame, where ``set_output`` asks for one.
        """
        return wrap_output("transform", self._chosen().transform(X), X, self)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the score of the chosen model, by ``scoring`` or the head's own score.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples, best those that the search has not seen.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their targets or labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights, for a score that takes them.

        Returns
        -------
        float
        """
        model = self._chosen()
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return score_of(self.scorer_, model, Data(X, y, weight))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the chosen model's features.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the features of X, as the extractor takes them.

        Returns
        -------
        ndarray of str
        """
        return self._chosen().get_feature_names_out(input_features)

    @property
    def classes_(self) -> np.ndarray:
        return self._chosen().classes_

    @property
    def n_features_in_(self) -> int:
        return self._chosen().n_features_in_

    @property
    def feature_names_in_(self) -> np.ndarray:
        return self._chosen().feature_names_in_

    def _chosen(self) -> ExtractorWithHead:
        check_is_fitted(self)
        if not self.refit:
            raise NotFittedError(
                f"This {type(self).__name__} has chosen k = {self.best_n_components_} and fitted no "
                "model with it; pass refit=True."
            )
        return self.best_estimator_
