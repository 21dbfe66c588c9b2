"""The sieve regressor, which chooses all settings itself."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from .._sklearn import StrOptions, fit_context
from ..data import check_squares, refuse_labels
from ..estimators import all_or_nothing, row_wise
from ..exceptions import InvalidDataError
from ..program import Explanation, Link
from .assembly import MANY_SAMPLES
from .base import SievePredictor
from .losses import LARGEST_LOG, LOSSES, RegressionLoss


def _is_out_of_core(sieve: SieveRegressor) -> bool:
    if sieve.loss != "squared_error":
        raise AttributeError(
            f"loss={sieve.loss!r} needs all samples at once; pass loss='squared_error', or call fit."
        )
    return True


class SieveRegressor(RegressorMixin, SievePredictor):
    """Regression by a kernel function on few landmarks, with nothing to assemble.

    Features are scaled, categories and missing values encoded; kernel, width and a learned metric of
    the inputs are chosen by leave-one-out errors of at most 3,000 samples; then landmarks are selected
    by sparse maximal alignment from all samples. A prediction costs at most ``n_landmarks`` kernel
    evaluations.

    Parameters
    ----------
    n_landmarks : int, default=300
        Most kernel evaluations that a prediction may cost.
    metric : bool, default=True
        Learn a linear map of the inputs, as :class:`GradientMetric` does, where it lowers the error.
    kernel : str, default="auto"
        "laplacian", "rbf", "matern12", "matern32" (or "matern"), "matern52" or "rational_quadratic";
        "auto" tries the first four.
    loss : {"squared_error", "poisson"}, default="squared_error"
        "poisson" is for counts: the logarithm of the mean is a kernel function, fitted to at most
        20,000 samples; ``cv=None`` is 5 folds.
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
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import SieveRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> sieve = SieveRegressor(50, kernel="rbf", random_state=0).fit(X, y)
    >>> sieve.predict_interval(X[:2], coverage=0.8).shape
    (2, 2)
    >>> print(sieve.report_.split(". ")[0])
    10 features, all numeric
    """

    _parameter_constraints: ClassVar[dict] = {
        **SievePredictor._parameter_constraints,
        "loss": [StrOptions(set(LOSSES))],
    }

    def __init__(
        self,
        n_landmarks: int = 300,
        *,
        metric: bool = True,
        kernel: str = "auto",
        loss: str = "squared_error",
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
        self.loss = loss
        self.cv = cv
        self.time_budget = time_budget
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def _loss(self) -> RegressionLoss:
        return LOSSES[self.loss]

    def _targets(self, y: Any, n_samples: int, *, reset: bool = True) -> np.ndarray:
        self._check_given(y)
        refuse_labels(np.asarray(y), "SieveClassifier")
        Y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        if self.loss == "poisson":
            Y = column_or_1d(Y, warn=True)
        check_consistent_length(Y, np.empty(n_samples))
        check_squares(Y)
        if reset:
            self._one_dimensional_y = Y.ndim == 1
        Y = Y.reshape(n_samples, -1)
        if self.loss == "poisson" and (Y.min() < 0 or not Y.any()):
            raise InvalidDataError(
                "loss='poisson' needs counts, 0 or above and not all 0; y is from "
                f"{Y.min():g} to {Y.max():g}. Pass loss='squared_error'."
            )
        return Y

    def _most_samples(self) -> float:
        return np.inf if self.loss == "squared_error" else MANY_SAMPLES

    @available_if(_is_out_of_core)
    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Add samples, and refit.

        The first call, and the first after ``fit``, begins anew: it chooses kernel, width, metric and
        candidates, so its samples should be many, and like those to come. Later ones are predicted
        before they are added, and calibrate the intervals.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            More samples.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        self
        """
        self._fit_more(X, y, sample_weight)
        return self

    def _link(self) -> Link:
        largest_log = LARGEST_LOG if self.loss == "poisson" else None
        return Link(self._sieve.model.n_components, self._one_dimensional_y, largest_log=largest_log)

    @row_wise
    def predict(self, X: Any) -> np.ndarray:
        """Predict the targets of samples.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        scores = self._scores(X)
        return self._link().run(scores)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Predict intervals that hold the target with a probability, on average over samples.

        They are as wide as the residuals of held-out samples ask for (conformal prediction).

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples.
        coverage : float, default=0.9
            The probability.

        Returns
        -------
        ndarray of shape (n_samples, 2) or (n_samples, n_targets, 2)
            Lower and upper ends.
        """
        scores = self._scores(X)
        ends = self._loss.intervals(scores, self._sieve.held_out, coverage)
        return ends[:, 0] if self._one_dimensional_y else ends

    def explain(self, X: Any) -> Explanation:
        """Return the contributions of landmarks to predictions; for counts, to their logarithm.

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self.loss == "squared_error"
        tags.target_tags.positive_only = self.loss == "poisson"
        return tags
