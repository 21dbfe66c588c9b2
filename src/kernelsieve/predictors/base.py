"""What the regressor and the classifier share: parameters, the order of work, explanations."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .._sklearn import Interval, StrOptions, fit_context
from ..estimators import all_or_nothing, parameters
from ..estimators.inputs import check_weights
from ..estimators.parameters import SHARED_CONSTRAINTS
from ..exceptions import InvalidDataError
from ..rows import check_not_constant
from .assembly import Preparation, Settings, Sieve, affordable, prepare
from .choice import KINDS
from .clock import Clock
from .explanation import Explanation
from .importances import importances
from .inputs import as_table, categorical_mask, rows_of
from .recipe import Data, Fold
from .report import in_words, sentences


@parameters
class SievePredictor(BaseEstimator):
    """Encodes a table, chooses kernel, width and metric on few samples, and fits all of them."""

    _parameter_constraints: ClassVar[dict] = {
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "metric": ["boolean"],
        "kernel": [StrOptions({"auto", *KINDS})],
        "cv": ["cv_object"],
        "time_budget": [Interval(Real, 0, None, closed="neither"), None],
        "categorical_features": ["array-like", str, None],
        **{name: SHARED_CONSTRAINTS[name] for name in ("random_state", "n_jobs", "verbose")},
    }

    metric: bool = True
    kernel: str = "auto"
    cv: Any = None
    time_budget: float | None = None
    categorical_features: Any = "from_dtype"
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int | bool = 0

    # ------------------------------------------------------------------ fitting

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose and fit everything.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples. Values may be missing, and columns of a data frame may be categories.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        self
        """
        clock = Clock(self.time_budget)
        X = self._table(X, reset=True)
        Y = self._targets(y, len(X))
        weight = self._weights(sample_weight, X, Y)
        rows = np.flatnonzero(weight)
        if not len(rows):
            raise InvalidDataError("All sample weights are zero; at least one must be positive.")
        check_not_constant(Y[rows] - Y[rows].mean(axis=0), Y[rows])
        folds = self._folds(Y, rows)
        categorical = categorical_mask(X, self.categorical_features, self._names)
        settings = self._settings(clock)
        some = X if len(rows) == len(Y) else rows_of(X, rows)
        preparation = prepare(some, Y[rows], weight[rows], categorical, settings)
        self._say(f"chose {in_words(preparation.best)} after {clock.elapsed:.1f} s")
        data = Data(preparation.mapped(some), Y[rows], weight[rows])
        n_fitted = min(self._most_samples(), affordable(preparation, data, len(folds) + 1, clock))
        if n_fitted < len(data):
            kept = settings.random_state.permutation(len(data))[: int(n_fitted)]
            rows, data, folds = _restricted(rows, data, folds, np.sort(kept))
        sieve = self._fit_data(preparation, data, folds)
        self._keep(sieve.renumbered(rows), data, clock)
        return self

    @abstractmethod
    def _targets(self, y: Any, n_samples: int) -> np.ndarray:
        """Return targets as columns of numbers."""

    @abstractmethod
    def _fit_data(self, preparation: Preparation, data: Data, folds: Sequence[Fold]) -> Sieve:
        """Fit samples as the kernel sees them."""

    def _most_samples(self) -> float:
        """Return how many samples a fit may have."""
        return np.inf

    def _weights(self, sample_weight: Any, X: Any, Y: np.ndarray) -> np.ndarray:
        given = check_weights(sample_weight, X)
        return np.ones(len(Y)) if given is None else given

    def _labels(self, Y: np.ndarray) -> np.ndarray | None:
        """Return what every fold should have the same shares of."""
        return None

    def _folds(self, Y: np.ndarray, rows: np.ndarray) -> list[Fold]:
        """Return folds of the samples that have weight, in random order where they are only counted."""
        labels = self._labels(Y)
        cv = check_cv(5 if self.cv is None else self.cv, labels, classifier=labels is not None)
        if self.cv is None or isinstance(self.cv, Integral):
            cv.shuffle, cv.random_state = True, check_random_state(self.random_state)
            cv.n_splits = min(cv.n_splits, len(rows))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of classes with fewer samples than folds
            folds = list(cv.split(rows, None if labels is None else labels[rows]))
        usable = [fold for fold in folds if np.ptp(Y[rows[fold[0]]], axis=0).any() and len(fold[1])]
        if not usable:
            raise InvalidDataError(
                f"cv={self.cv!r} has no fold whose training samples differ in y; pass more samples, or "
                "another cv."
            )
        return usable

    def _settings(self, clock: Clock) -> Settings:
        return Settings(
            self.n_landmarks,
            self.metric,
            self.kernel,
            self.n_jobs,
            clock,
            check_random_state(self.random_state),
        )

    def _keep(self, sieve: Sieve, data: Data, clock: Clock) -> None:
        self._sieve = sieve
        self.landmark_indices_ = sieve.function.indices
        self.kernel_ = sieve.function.kernel
        self.importances_ = importances(sieve.preparation, sieve.function, data)
        names = self._names
        names = np.array([f"x{i}" for i in range(self.n_features_in_)]) if names is None else names
        self.report_ = " ".join(sentences(sieve, self.importances_, names, clock.elapsed))
        self._say(f"{len(self.landmark_indices_)} landmarks, {clock.elapsed:.1f} s")

    # ------------------------------------------------------------------ using

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "_sieve")
        return self._sieve.scores(self._table(X, reset=False), self.n_jobs)

    def _explained(self, X: Any) -> Explanation:
        check_is_fitted(self, "_sieve")
        function = self._sieve.function
        U = self._sieve.preparation.mapped(self._table(X, reset=False))
        similarities = function.kernel.block(U, function.landmarks)
        contributions = similarities[:, :, None] * function.coefficients
        return Explanation(contributions, function.intercept, function.indices, similarities)

    # ------------------------------------------------------------------ inputs

    def _table(self, X: Any, *, reset: bool) -> Any:
        table = as_table(X, min_samples=2 if reset else 1)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return table

    @property
    def _names(self) -> np.ndarray | None:
        return getattr(self, "feature_names_in_", None)

    def _say(self, text: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {text}")

    def __sklearn_is_fitted__(self) -> bool:
        return "_sieve" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags


def _restricted(
    rows: np.ndarray, data: Data, folds: Sequence[Fold], kept: np.ndarray
) -> tuple[np.ndarray, Data, list[Fold]]:
    """Return the samples that are kept, and the folds of these."""
    place = np.full(len(data), -1)
    place[kept] = np.arange(len(kept))
    parts = [(place[train], place[test]) for train, test in folds]
    return rows[kept], data[kept], [(a[a >= 0], b[b >= 0]) for a, b in parts]
