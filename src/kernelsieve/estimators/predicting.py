"""Predictions from features, for every number of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if

from ..data import Batch, TargetEncoder, target_array
from ..fitting import Problem
from ..model import features_as_they_are
from ..program import AffineMap, Link, Output, ProgramStep
from .sources import row_wise
from .widths import best_width


def _has_classes(estimator: Any) -> bool:
    if not estimator._predicts_labels():
        raise AttributeError(f"{type(estimator).__name__} predicts numbers, so it decides nothing.")
    return True


class PredictMixin:
    """Predictions of the target by a linear head on the features, for every number of them.

    They need the ``heads`` of a ``model.Fit``. Write this class before the other bases.
    """

    #: Whether ``gamma="cv"`` chooses the number of components, too, where it is None.
    _open_number: ClassVar[bool] = False

    def _problem_of(self: Any, batch: Batch, encoder: TargetEncoder) -> Problem:
        """Read data and parameters; the width by cross-validation where that is asked for."""
        # A kernel that is an object has its width, and a function has none.
        if not (self._has_open_width and isinstance(self.kernel, str)):
            return super()._problem_of(batch, encoder)  # type: ignore[misc]
        gamma, n_components = best_width(self._for_folds(), batch, encoder)
        settled = clone(self).set_params(gamma=gamma)
        if n_components is not None:
            settled.set_params(n_components=n_components)
        return settled._problem_of(batch, encoder)

    def _probability_link(self) -> Any:
        """Return how scores become probabilities; None for a class without ``predict_proba``."""
        return None

    def _for_folds(self: Any) -> Any:
        """Return a copy to be fitted to samples whose weights have those of their classes in them."""
        return clone(self)

    def __program_steps__(self: Any, output: Output) -> list[ProgramStep]:
        """Return the steps of the features, and for predictions those of the head as well."""
        steps = super().__program_steps__(output)  # type: ignore[misc]
        if output == "features":
            return steps
        heads = self._current_fit().heads
        classes = self.classes_ if self._predicts_labels() else None
        linear = AffineMap(heads.last_coefficients, shift=heads.intercepts[-1])
        link = Link(linear.n_outputs, self._one_dimensional_y, classes, self._probability_link())
        return [*steps, linear, link]

    @row_wise
    def predict(self: Any, X: Any, n_components: int | None = None) -> np.ndarray:
        """Predict the target of new samples.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples, as for ``transform``.
        n_components : int, default=None
            Use the first components only; None for all. Nothing is fitted again.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
            Numbers from a regressor, labels from a classifier.
        """
        fit = self._prefix(n_components)
        features, heads = self._features(X, fit), fit.heads
        if not self._predicts_labels():
            predictions = heads.predict(features)
            return predictions[:, 0] if self._one_dimensional_y else predictions
        return self.classes_[heads.classes(features)]

    @available_if(_has_classes)
    @row_wise
    def decision_function(self: Any, X: Any, n_components: int | None = None) -> np.ndarray:
        """Return a score for each class, the largest for the predicted one.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Samples, as for ``transform``.
        n_components : int, default=None
            Use the first components only; None for all.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes one number, positive for the second.
        """
        predictions = self._scores(X, n_components)
        if predictions.shape[1] == 1:
            return predictions[:, 0]
        if predictions.shape[1] == 2:
            return predictions[:, 1] - predictions[:, 0]
        return predictions

    def score(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy for labels, and R2 for numbers.

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
        measure = accuracy_score if self._predicts_labels() else r2_score
        return float(measure(target_array(y), self.predict(X), sample_weight=sample_weight))

    def head(self: Any, n_components: int | None = None) -> Any:
        """Return the predictor alone: a copy that takes the output of ``transform`` as X.

        Parameters
        ----------
        n_components : int, default=None
            For the first components only; None for all.

        Returns
        -------
        estimator
            ``head(j).predict(transform(X, j))`` is ``predict(X, j)``.
        """
        k = self.n_components_ if n_components is None else n_components
        fit = self._prefix(k)
        alone = self._with_fit(replace(fit, model=features_as_they_are(k), loadings=None))
        alone.n_features_in_ = k
        alone.__dict__.pop("feature_names_in_", None)
        return alone

    def _scores(self: Any, X: Any, n_components: int | None) -> np.ndarray:
        fit = self._prefix(n_components)
        return np.asarray(fit.heads.predict(self._features(X, fit)))

    def _predicts_labels(self: Any) -> bool:
        """Return what the class promises, or what ``y`` was where it is open to both."""
        kind = self._target_kind()
        return kind == "classes" or (kind == "auto" and "classes_" in vars(self))

    def __sklearn_tags__(self: Any) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        kind = self._target_kind()
        if kind == "classes":
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
            tags.target_tags.multi_output = False
        elif kind == "continuous":
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags
