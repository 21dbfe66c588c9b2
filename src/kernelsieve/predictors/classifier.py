"""A classifier with nothing to assemble."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ..estimators import estimator
from ..estimators.parameters import SHARED_CONSTRAINTS
from ..exceptions import InvalidDataError
from .assembly import MANY_SAMPLES, Preparation, Sieve, fit_folds, fit_many
from .base import SievePredictor
from .calibration import Calibration
from .explanation import Explanation
from .losses import LOSSES
from .recipe import Data, Fold


@estimator
class SieveClassifier(ClassifierMixin, SievePredictor):
    """Classification by a kernel function on few landmarks, with nothing to assemble.

    As :class:`SieveRegressor`, with an indicator of each class as a target. Probabilities are a softmax
    of the scores, whose slope and shifts held-out samples calibrate.

    Parameters
    ----------
    n_landmarks : int, default=300
        Most kernel evaluations that a prediction may cost.
    metric : bool, default=True
        Learn a linear map of the inputs, as :class:`GradientMetric` does, where it lowers the error.
    kernel : {"auto", "laplacian", "rbf", "matern", "rational_quadratic"}, default="auto"
        "auto" tries the first three; "matern" has ``nu=0.5``.
    cv : int, splitter or iterable, default=None
        Folds that choose the ridge and calibrate; None is 5, in random order. Of more than 20,000
        samples only their number counts.
    time_budget : float, default=None
        Seconds that ``fit`` may take. Fewer combinations are tried, and fewer samples fitted, where it
        is short.
    categorical_features : {"from_dtype"}, array-like or None, default="from_dtype"
        Which features are categories: columns of a data frame that are categories or text, or names,
        numbers or a mask. Each of the 50 most frequent values has an indicator.
    random_state : int, RandomState instance or None, default=None
        Draws samples, folds and candidates.
    n_jobs : int, default=None
        Threads.
    verbose : int or bool, default=0
        Print what is done.
    class_weight : dict, {"balanced"} or None, default=None
        Weights of the classes, by which those of samples are multiplied.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    report_ : str
        What was tried and chosen, in sentences.
    importances_ : ndarray of shape (n_features,)
        Mean squared slopes of the function along the features at unit variance; they add up to 1.
    landmark_indices_ : ndarray of shape (n_landmarks,)
        Rows of the training samples that are landmarks.
    kernel_ : Kernel
        The chosen kernel, of mapped inputs.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has any.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from kernelsieve import SieveClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> sieve = SieveClassifier(50, kernel="rbf", random_state=0).fit(X, y)
    >>> bool(sieve.score(X, y) > 0.97)
    True
    >>> sieve.predict_proba(X[:3]).shape
    (3, 2)
    """

    _parameter_constraints: ClassVar[dict] = {"class_weight": SHARED_CONSTRAINTS["class_weight"]}

    n_landmarks: int = field(default=300, kw_only=False)
    class_weight: Any = field(default=None, kw_only=True)

    def _targets(self, y: Any, n_samples: int) -> np.ndarray:
        if y is None:
            raise InvalidDataError(
                "This SieveClassifier estimator requires y to be passed, but the target y is None."
            )
        y = column_or_1d(y, warn=True)
        check_consistent_length(y, np.empty(n_samples))
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        return np.eye(len(self.classes_))[codes]

    def _labels(self, Y: np.ndarray) -> np.ndarray | None:
        return Y.argmax(axis=1)

    def _weights(self, sample_weight: Any, X: Any, Y: np.ndarray) -> np.ndarray:
        weight = super()._weights(sample_weight, X, Y)
        if self.class_weight is None:
            return weight
        return weight * (Y @ self._class_weights(Y, weight))

    def _class_weights(self, Y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        if isinstance(self.class_weight, dict):
            labels = self.classes_[Y.argmax(axis=1)]
            return compute_class_weight(self.class_weight, classes=self.classes_, y=labels)
        totals = weight @ Y
        return np.divide(totals.mean(), totals, out=np.zeros_like(totals), where=totals > 0)

    def _fit_data(self, preparation: Preparation, data: Data, folds: Sequence[Fold]) -> Sieve:
        if len(data) <= MANY_SAMPLES:
            sieve = fit_folds(preparation, data, folds, LOSSES["squared_error"])
        else:
            sieve = fit_many(preparation, data, max(2, len(folds)))
        self._calibration = Calibration.fit(sieve.held_out)
        return sieve

    def _logits(self, X: Any) -> np.ndarray:
        scores = self._scores(X)
        return self._calibration.logits(scores)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return logits: of the second class for two, and of every class for more.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        logits = self._logits(X)
        return logits[:, 1] - logits[:, 0] if logits.shape[1] == 2 else logits

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        scores = self._scores(X)
        return self._calibration.probabilities(scores)

    def predict(self, X: Any) -> np.ndarray:
        """Return the likeliest label of samples.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self.classes_[self._logits(X).argmax(axis=1)]

    def explain(self, X: Any) -> Explanation:
        """Return what landmarks contribute to the values of :meth:`decision_function`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        Explanation
        """
        found, calibration = self._explained(X), self._calibration
        of_classes = replace(
            found,
            contributions=calibration.slope * found.contributions,
            baseline=calibration.logits(np.asarray(found.baseline)),
        )
        return of_classes.of_difference(1, 0) if len(self.classes_) == 2 else of_classes
