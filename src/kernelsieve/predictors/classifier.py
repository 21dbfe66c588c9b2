"""The sieve classifier, which chooses all settings itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from .._sklearn import fit_context
from ..data import warn_if_numbers
from ..estimators import all_or_nothing, row_wise
from ..estimators.constraints import SHARED_CONSTRAINTS
from ..exceptions import InvalidDataError, InvalidParameterError
from ..program import Explanation, Link
from .assembly import Sieve
from .base import SievePredictor
from .calibration import fit_calibration
from .clock import Clock
from .recipe import MappedSamples


class SieveClassifier(ClassifierMixin, SievePredictor):
    """Classification by a kernel function on few landmarks, with nothing to assemble.

    As :class:`SieveRegressor`, with an indicator of each class as a target. Held-out samples calibrate
    the probabilities.

    Parameters
    ----------
    n_landmarks : int, default=300
        Most kernel evaluations that a prediction may cost.
    metric : bool, default=True
        Learn a linear map of the inputs, as :class:`GradientMetric` does, where it lowers the error.
    kernel : str, default="auto"
        "laplacian", "rbf", "matern12", "matern32" (or "matern"), "matern52" or "rational_quadratic";
        "auto" tries the first four.
    class_weight : dict, {"balanced"} or None, default=None
        Weights of the classes, by which those of samples are multiplied.
    cv : int, splitter or iterable, default=None
        Folds that choose the ridge and calibrate. None takes three or five parts of at most
        1,200 samples, and leave-one-out residuals of more, which cost no further fits. Of more than
        20,000 samples only the number of folds counts; None is 5.
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
        Above 0, print progress.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels.
    report_ : str
        Report on the trials and the fitted model, in sentences.
    cv_results_ : dict of arrays
        All trials, one entry for each kernel, metric and width, as in scikit-learn's searches:
        "param_kernel", "param_gamma", "param_metric", "param_ridge", "mean_test_score" (minus the error
        of left-out samples, in variances of the target), "rank_test_score", "mean_fit_time" and more.
        The better ones were tried again on more samples: "n_resources" says on how many, and
        "n_landmarks" with how many landmarks. The last of these decided.
    importances_ : ndarray of shape (n_features,)
        How much predictions change if a sample takes a feature from another one, as mean squares in
        parts of their sum.
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
    >>> sieve = SieveClassifier(50, metric=False, kernel="rbf", random_state=0).fit(X, y)
    >>> bool(sieve.score(X, y) > 0.97)
    True
    >>> sieve.predict_proba(X[:3]).shape
    (3, 2)
    """

    _parameter_constraints: ClassVar[dict] = {
        **SievePredictor._parameter_constraints,
        "class_weight": SHARED_CONSTRAINTS["class_weight"],
    }

    def __init__(
        self,
        n_landmarks: int = 300,
        *,
        metric: bool = True,
        kernel: str = "auto",
        class_weight: Any = None,
        cv: Any = None,
        time_budget: float | None = None,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.metric = metric
        self.kernel = kernel
        self.class_weight = class_weight
        self.cv = cv
        self.time_budget = time_budget
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _targets(self, y: Any, n_samples: int, *, reset: bool = True) -> np.ndarray:
        self._check_given(y)
        y = column_or_1d(y, warn=True)
        check_consistent_length(y, np.empty(n_samples))
        check_classification_targets(y)
        if reset:
            self.classes_ = np.unique(y)
            warn_if_numbers(y, self.classes_)
        codes = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        unknown = np.flatnonzero(self.classes_[codes] != y)
        if len(unknown):
            raise InvalidDataError(
                f"y has the label {y[unknown[0]]!r}, which is none of {self.classes_.tolist()}; pass "
                "all labels as classes to the first partial_fit."
            )
        return np.eye(len(self.classes_))[codes]

    def _set_classes(self, labels: Callable[[], np.ndarray]) -> None:
        self.classes_ = np.unique(labels())

    def _labels(self, Y: np.ndarray) -> np.ndarray:
        labels = Y.argmax(axis=1)
        if np.bincount(labels).max() < 2:
            raise InvalidDataError(
                f"Each of the {len(labels)} samples has a label of its own, so none tells anything "
                "about another; pass at least two samples of a class."
            )
        return labels

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

    def _keep(self, sieve: Sieve, data: MappedSamples, clock: Clock) -> None:
        super()._keep(sieve, data, clock)
        self._calibration = fit_calibration(sieve.held_out)

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add samples, and refit.

        The first call, and the first after ``fit``, begins anew: it chooses kernel, width, metric and
        candidates, so its samples should be many, and like those to come. Later ones are predicted
        before they are added, and calibrate the probabilities.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            More samples.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like, default=None
            All labels that will ever come, in the first call; None for those of its samples.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        self
        """
        if self.class_weight == "balanced":
            raise InvalidParameterError(
                "class_weight='balanced' counts all labels, which come in parts here; pass a dict."
            )
        if "_stream" not in vars(self):
            self.__dict__.pop("classes_", None)
            if classes is not None:
                self.classes_ = np.unique(classes)
        self._fit_more(X, y, sample_weight)
        return self

    def _link(self) -> Link:
        return Link(len(self.classes_), True, self.classes_, self._calibration)

    @row_wise
    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values: one for two classes, otherwise one for each class.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
        """
        scores = self._scores(X)
        return self._link().decide(scores)

    @row_wise
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
        return self._calibration(scores)

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict class labels.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self._scores(X)
        return self._link().run(scores)

    def explain(self, X: Any) -> Explanation:
        """Return the contributions of landmarks to :meth:`decision_function`.

        Contributions are the arithmetic of this fit: they cancel, and another ``random_state`` gives
        others. For training samples that are like a sample, ask :meth:`neighbors`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        Explanation
        """
        return self._explained(X)
