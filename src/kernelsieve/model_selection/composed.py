"""A fitted extractor and the head on its features, as one predictor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, get_tags
from sklearn.utils.metaestimators import available_if

from .._sklearn import has_method, linked_to_documentation
from .nested_extractors import last_step


def _predictor_has(method: str) -> Callable[[Any], bool]:
    """Return a check whether the predictor has a method; its own error is passed on."""

    def check(model: Any) -> bool:
        getattr(model._predictor, method)
        return True

    return check


class PredictsByHead(ABC):
    """Mixin with the methods of an extractor followed by a head."""

    @property
    @abstractmethod
    def _predictor(self) -> Any:
        """What predicts; before the fit of a search that which will."""

    @abstractmethod
    def _chosen(self) -> ExtractorWithHead:
        """Return the fitted extractor and head."""

    @available_if(_predictor_has("predict"))
    def predict(self, X: Any) -> np.ndarray:
        """Predict the target of samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
            Numbers from a regressor, labels from a classifier.
        """
        return self._chosen().head.predict(self._chosen()._features(X))

    @available_if(_predictor_has("decision_function"))
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the scores of the classes.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one number, positive for the second.
        """
        return self._chosen().head.decision_function(self._chosen()._features(X))

    @available_if(_predictor_has("predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._chosen().head.predict_proba(self._chosen()._features(X))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the extractor's features.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the features of X, as the extractor takes them.

        Returns
        -------
        ndarray of str
        """
        return self._chosen().extractor.get_feature_names_out(input_features)

    @property
    def classes_(self) -> np.ndarray:
        return self._chosen().head.classes_

    @property
    def n_features_in_(self) -> int:
        return self._chosen().extractor.n_features_in_

    @property
    def feature_names_in_(self) -> np.ndarray:
        return self._chosen().extractor.feature_names_in_


@linked_to_documentation
class ExtractorWithHead(PredictsByHead, BaseEstimator):
    """A fitted extractor followed by a fitted head; the model that :class:`ComponentPathCV` chooses.

    Parameters
    ----------
    extractor : fitted transformer
        Gives the features.
    head : fitted predictor or None
        Takes the features. For an extractor that predicts by itself, its own head.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, where the head predicts labels.
    n_features_in_, feature_names_in_
        Number and names of the features of X, as in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from kernelsieve import SparseMaximalAlignment
    >>> from kernelsieve.model_selection import ExtractorWithHead
    >>> X, y = load_diabetes(return_X_y=True)
    >>> sieve = SparseMaximalAlignment(5).fit(X, y)
    >>> model = ExtractorWithHead(sieve, Ridge().fit(sieve.transform(X), y))
    >>> model.predict(X[:2]).shape
    (2,)
    """

    #: Samples whose features are known already, each with all its features.
    _known: Sequence[tuple[Any, np.ndarray]] = ()

    def __init__(self, extractor: Any, head: Any) -> None:
        self.extractor = extractor
        self.head = head

    def with_known_features(self, *known: tuple[Any, np.ndarray]) -> ExtractorWithHead:
        """Return the model with precomputed features of some samples, possibly more than it has.

        A scorer is called with the samples, as always, and nothing is computed again.
        """
        self._known = known
        return self

    def transform(self, X: Any) -> Any:
        """Return the features of samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Or a data frame, where the extractor gives one.
        """
        for rows, features in self._known:
            if X is rows:
                return features[:, : last_step(self.extractor).n_components_]
        return self.extractor.transform(X)

    @available_if(_predictor_has("score"))
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the head's own score: accuracy for labels, R2 for numbers.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their true targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        float
        """
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        return self.head.score(self._features(X), y, **weight)

    @property
    def steps(self) -> list[tuple[str, Any]]:
        """Names and estimators of the two steps, as a ``Pipeline`` has them."""
        return [("extractor", self.extractor), ("head", self.head)]

    @property
    def _predictor(self) -> Any:
        return self.head

    def _chosen(self) -> ExtractorWithHead:
        return self

    def _features(self, X: Any) -> np.ndarray:
        return np.asarray(self.transform(X))

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = composed_tags(super().__sklearn_tags__(), self.extractor, self.head)
        # A fitted head knows its classes; scikit-learn 1.7 scores probabilities of classifiers only.
        if tags.estimator_type is None and has_method(self.head, "classes_"):
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags


def composed_tags(tags: Any, extractor: Any, head: Any) -> Any:
    """Return tags with the inputs of the extractor and the targets of the head."""
    of_extractor, of_head = get_tags(extractor), get_tags(extractor if head is None else head)
    tags.input_tags = of_extractor.input_tags
    tags.transformer_tags = get_tags(last_step(extractor)).transformer_tags
    tags.estimator_type = of_head.estimator_type
    tags.classifier_tags = of_head.classifier_tags
    tags.regressor_tags = of_head.regressor_tags
    tags.target_tags = of_head.target_tags
    tags.target_tags.required |= of_extractor.target_tags.required
    return tags
