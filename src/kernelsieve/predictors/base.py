"""What the regressor and the classifier share: parameters, the order of work, explanations."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .._sklearn import Interval, StrOptions, fit_context, linked_to_documentation
from ..estimators import all_or_nothing, parameters
from ..estimators.inputs import check_weights
from ..estimators.parameters import SHARED_CONSTRAINTS
from ..exceptions import InvalidDataError, NothingLearntWarning, warn
from ..execution import open_source
from ..model import landmark_contributions, save
from ..model_selection import folds_of
from ..rows import Part, Source, check_not_constant
from .assembly import (
    CALIBRATION_SAMPLES,
    MANY_SAMPLES,
    PROBED,
    Preparation,
    Sieve,
    SieveSettings,
    affordable,
    fit_folds,
    fit_many,
    prepare,
)
from .choice import KINDS
from .clock import Clock
from .explanation import Explanation
from .importances import importances
from .inputs import as_table, categorical_mask, rows_of
from .losses import LOSSES, RegressionLoss
from .recipe import Fold, MappedSamples
from .report import in_words, sentences
from .streams import SETTLING_SAMPLES, SieveStream, SourceRows, last_held_out


@linked_to_documentation
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

    save = save

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
        self.__dict__.pop("_stream", None)  # of samples that were added before
        source = open_source(X, y, sample_weight)
        if source is None:
            X = self._table(X, reset=True)
            Y = self._targets(y, len(X))
            self._fit_table(X, Y, self._weights(sample_weight, X, Y), clock)
        else:
            self._fit_source(source, clock)
        return self

    def _fit_table(self, X: Any, Y: np.ndarray, weight: np.ndarray, clock: Clock) -> None:
        rows = np.flatnonzero(weight)
        if not len(rows):
            raise InvalidDataError("All sample weights are zero; at least one must be positive.")
        check_not_constant(Y[rows] - Y[rows].mean(axis=0), Y[rows])
        folds = of_these(self._folds(Y), rows, Y)
        if len(rows) < len(Y):
            X, Y, weight = rows_of(X, rows), Y[rows], weight[rows]
        settings = self._settings(clock)
        preparation = self._prepare(X, Y, weight, settings)
        few = MappedSamples(preparation.mapped(X, slice(PROBED)), Y[:PROBED], weight[:PROBED])
        n_fitted = min(self._most_samples(), len(Y))
        n_fitted = min(n_fitted, affordable(preparation, few, len(folds) + 1, clock))
        kept = settings.random_state.permutation(len(Y))[: int(n_fitted)]
        if len(kept) <= MANY_SAMPLES:
            kept = np.sort(kept)
            folds = of_these(folds, kept, Y)
        else:  # the last ones calibrate
            kept = np.concatenate([np.sort(kept[CALIBRATION_SAMPLES:]), kept[:CALIBRATION_SAMPLES]])
        data = MappedSamples(preparation.mapped(X, kept), Y[kept], weight[kept])
        self._keep(self._fit_data(preparation, data, folds).renumbered(rows[kept]), data, clock)

    def _prepare(
        self, X: Any, Y: np.ndarray, weight: np.ndarray, settings: SieveSettings
    ) -> Preparation:
        categorical = categorical_mask(X, self.categorical_features, self._names)
        preparation = prepare(X, Y, weight, categorical, settings)
        if not preparation.encoder.scales.any():
            warn(
                "No feature of X varies, or all values are missing, so every prediction is the mean of "
                "y, or the shares of the classes; check how X was read.",
                NothingLearntWarning,
            )
        self._say(f"chose {in_words(preparation.best.trial)} after {settings.clock.elapsed:.1f} s")
        return preparation

    def _fit_source(self, source: Source, clock: Clock) -> None:
        """Choose by samples drawn from all, and sum all of them up in one pass."""
        settings = self._settings(clock)
        some, numbers = source.sample(SETTLING_SAMPLES, settings.random_state)
        if len(numbers) == source.n_rows or self._most_samples() < source.n_rows:
            self.fit(some.X, some.y, some.weight)
            return
        self._targets(some.y, len(self._table(some.X, reset=True)))
        self._set_classes(source.labels)
        rest, places = SourceRows.drawn(source, numbers, settings.random_state)
        X, Y, weight = self._read(some)
        preparation = self._prepare(X, Y, weight, settings)
        drawn = MappedSamples(preparation.mapped(X), Y, weight)
        stream = SieveStream.begun(preparation, drawn, self._n_folds)
        for part in rest:
            X, Y, weight = self._read(part)
            stream = stream.plus(MappedSamples(preparation.mapped(X), Y, weight))
        self._keep(stream.sieve(drawn[places]).renumbered(numbers), drawn, clock)

    def _read(self, part: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        """Return samples as a table, their targets in columns, and their weights."""
        X = self._table(part.X, reset=False)
        Y = self._targets(part.y, len(X), reset=False)
        return X, Y, self._weights(part.weight, X, Y)

    def _fit_more(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Add samples: the first ones choose, later ones are scored before they are added."""
        clock, stream = Clock(self.time_budget), vars(self).get("_stream")
        if stream is None:
            table = self._table(X, reset=True)
            Y = self._targets(y, len(table), reset="classes_" not in vars(self))
            weight = self._weights(sample_weight, table, Y)
            self._fit_table(table, Y, weight, clock)
            data = MappedSamples(self._sieve.preparation.mapped(table), Y, weight)
            self._stream = SieveStream.begun(self._sieve.preparation, data, self._n_folds).plus(data)
            return
        table, Y, weight = self._read(Part(X, y, sample_weight))
        data = MappedSamples(stream.preparation.mapped(table), Y, weight)
        scored = data.scored(self._sieve.function, self.n_jobs)
        self._stream = stream.plus(data)
        held_out = last_held_out(self._sieve.held_out, scored)
        self._keep(self._stream.sieve(held_out), data, clock)

    @abstractmethod
    def _targets(self, y: Any, n_samples: int, *, reset: bool = True) -> np.ndarray:
        """Return targets as columns of numbers; without ``reset`` they are like those before."""

    def _set_classes(self, labels: Callable[[], np.ndarray]) -> None:
        """Take all labels that a source has."""

    @property
    def _loss(self) -> RegressionLoss:
        """What the linear head minimises."""
        return LOSSES["squared_error"]

    def _fit_data(self, preparation: Preparation, data: MappedSamples, folds: Sequence[Fold]) -> Sieve:
        """Fit samples as the kernel sees them."""
        if len(data) <= MANY_SAMPLES or data.are_equal:
            return fit_folds(preparation, data, folds, self._loss)
        return fit_many(preparation, data, max(2, len(folds)))

    def _check_given(self, y: Any) -> None:
        if y is None:
            raise InvalidDataError(
                f"This {type(self).__name__} estimator requires y to be passed, "
                "but the target y is None."
            )

    def _most_samples(self) -> float:
        """Return how many samples a fit may have."""
        return np.inf

    def _weights(self, sample_weight: Any, X: Any, Y: np.ndarray) -> np.ndarray:
        given = check_weights(sample_weight, X)
        return np.ones(len(Y)) if given is None else given

    def _labels(self, Y: np.ndarray) -> np.ndarray | None:
        """Return what every fold should have the same shares of."""
        return None

    def _folds(self, Y: np.ndarray) -> list[Fold]:
        """Return folds of all samples, in random order where they are only counted."""
        labels = self._labels(Y)
        cv = check_cv(5 if self.cv is None else self.cv, labels, classifier=labels is not None)
        if self.cv is None or isinstance(self.cv, Integral):
            cv.shuffle, cv.random_state = True, check_random_state(self.random_state)
            most = len(Y) if labels is None else int(np.bincount(labels).max())
            cv.n_splits = max(2, min(cv.n_splits, most))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of classes with fewer samples than folds
            return folds_of(cv, Y, labels)

    @property
    def _n_folds(self) -> int:
        return int(self.cv) if isinstance(self.cv, Integral) else 5

    def _settings(self, clock: Clock) -> SieveSettings:
        return SieveSettings(
            self.n_landmarks,
            self.metric,
            self.kernel,
            self.n_jobs,
            clock,
            check_random_state(self.random_state),
        )

    def _keep(self, sieve: Sieve, data: MappedSamples, clock: Clock) -> None:
        self._sieve = sieve
        self.landmark_indices_ = sieve.function.indices
        self.kernel_ = sieve.function.kernel
        self.importances_ = importances(sieve.preparation, sieve.function, data)
        names = self._names
        names = np.array([f"x{i}" for i in range(self.n_features_in_)]) if names is None else names
        self.report_ = " ".join(sentences(sieve, self.importances_, names, clock.elapsed))
        self._say(f"{len(self.landmark_indices_)} landmarks, {clock.elapsed:.1f} s")

    # ------------------------------------------------------------------ using

    def _current_fit(self) -> Sieve:
        check_is_fitted(self)
        return self._sieve

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._sieve.scores(self._table(X, reset=False), self.n_jobs)

    def _explained(self, X: Any) -> Explanation:
        check_is_fitted(self)
        function = self._sieve.function
        U = self._sieve.preparation.mapped(self._table(X, reset=False))
        similarities = function.kernel.block(U, function.landmarks)
        contributions = landmark_contributions(
            function.kernel, function.landmarks, function.coefficients, similarities
        )
        baseline = function.scores(U) - contributions.sum(axis=1)
        return Explanation(contributions, baseline, function.indices, similarities)

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


def of_these(folds: Sequence[Fold], rows: np.ndarray, Y: np.ndarray) -> list[Fold]:
    """Return the folds of some samples, numbered anew, without those that nothing can be fitted to."""
    place = np.full(len(Y), -1)
    place[rows] = np.arange(len(rows))
    parts = ((place[train], place[test]) for train, test in folds)
    known = [(train[train >= 0], test[test >= 0]) for train, test in parts]
    usable = [(a, b) for a, b in known if len(b) and len(a) and np.ptp(Y[rows[a]], axis=0).any()]
    if not usable:
        raise InvalidDataError(
            "There is no fold whose training samples differ in y; pass more samples, or another cv."
        )
    return usable
