"""Base of the sieve regressor and classifier: parameters, fitting, explanations."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    is_classifier,
)
from sklearn.model_selection import check_cv
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .._sklearn import Interval, StrOptions, fit_context, linked_to_documentation
from ..data import Part, Source, check_not_constant, drawn_order, open_source
from ..estimators import all_or_nothing, row_wise
from ..estimators.constraints import SHARED_CONSTRAINTS
from ..estimators.inputs import check_weights
from ..exceptions import InvalidDataError, InvalidParameterError, NothingLearntWarning, warn
from ..model import save
from ..model_selection import folds_of
from ..program import Explanation, Link, Output, Program, ProgramStep
from .assembly import (
    MANY_SAMPLES,
    PROBED,
    Preparation,
    Sieve,
    SieveSettings,
    affordable,
    fit_chosen,
    fit_folds,
    fit_many,
    prepare,
)
from .calibration import HeldOut
from .clock import Clock
from .importances import importances
from .inputs import as_table, categorical_mask, table_hashes
from .kinds import KINDS
from .losses import LOSSES, RegressionLoss
from .recipe import Fold, MappedSamples, restrict_folds
from .report import cv_results, in_words, sentences
from .streams import SETTLING_SAMPLES, SieveStream, SourceRows, last_held_out


@linked_to_documentation
class SievePredictor(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
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

    metric: bool
    kernel: str
    cv: Any
    time_budget: float | None
    categorical_features: Any
    random_state: Any
    n_jobs: int | None
    verbose: int | bool

    save = save

    # ------------------------------------------------------------------ fitting

    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Choose all settings, and fit the model.

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
        if (source := open_source(X, y, sample_weight)) is None:
            X = self._table(X, reset=True)
            Y = self._targets(y, len(X))
            self._fit_table(X, Y, self._weights(sample_weight, X, Y), clock)
        else:
            self._fit_source(source, clock)
        return self

    def _fit_table(self, X: Any, Y: np.ndarray, weight: np.ndarray, clock: Clock) -> np.ndarray:
        """Fit a table in memory; return its samples of positive weight in the order of drawing."""
        settings = self._settings(clock)
        order = self._drawn_order(X, Y, weight, settings.random_state)
        check_not_constant(Y[order] - Y[order].mean(axis=0), Y[order])
        self._labels(Y[order])  # of which some must be equal
        folds = self._folds(Y, order) if settings.by_folds else []
        preparation, held_out = self._prepare(X, Y, weight, order, settings)
        few = preparation.samples(X, Y, weight, order[:PROBED])
        n_fitted = min(self._most_samples(), affordable(preparation, few, len(folds) + 1, clock))
        kept = order if n_fitted >= len(order) else order[: int(n_fitted)]
        data = preparation.samples(X, Y, weight, kept)
        if len(kept) > MANY_SAMPLES and not data.are_equal:
            sieve = fit_many(preparation, data, self._n_folds)
        elif settings.by_folds:
            folds = restrict_folds(folds, np.arange(len(kept)), Y[order])
            sieve = fit_folds(preparation, data, folds, self._loss)
        else:
            sieve = fit_chosen(preparation, data, held_out)
        self._keep(sieve.renumbered(kept), data, clock)
        return order

    def _drawn_order(
        self, X: Any, Y: np.ndarray, weight: np.ndarray, random_state: np.random.RandomState
    ) -> np.ndarray:
        """Return the samples of positive weight in a random order that depends on their values only.

        So neither the order of rows nor those without weight change what is drawn. Equal inputs are
        told apart by their targets and weights.
        """
        rows = np.flatnonzero(weight)
        if not len(rows):
            raise InvalidDataError("All sample weights are zero; at least one must be positive.")
        hashes = table_hashes(X, categorical_mask(X, self.categorical_features, self._names))[rows]
        return rows[drawn_order(hashes, random_state, (weight[rows], *Y[rows].T))]

    def _prepare(
        self,
        X: Any,
        Y: np.ndarray,
        weight: np.ndarray,
        order: np.ndarray,
        settings: SieveSettings,
    ) -> tuple[Preparation, HeldOut]:
        categorical = categorical_mask(X, self.categorical_features, self._names)
        preparation, held_out = prepare(X, Y, weight, order, categorical, settings)
        if not preparation.encoder.scales.any():
            warn(
                "No feature of X varies, or all values are missing, so every prediction is the mean of "
                "y, or the shares of the classes; check how X was read.",
                NothingLearntWarning,
            )
        chosen = in_words(preparation.compared[0])
        self._say(f"chose {chosen} after {settings.clock.elapsed:.1f} s")
        return preparation, held_out

    def _fit_source(self, source: Source, clock: Clock) -> None:
        """Choose settings on a sample drawn from all rows, and fit all of them in one pass."""
        settings = self._settings(clock)
        some, numbers = source.sample(SETTLING_SAMPLES, settings.random_state)
        if len(numbers) == source.n_rows or self._most_samples() < source.n_rows:
            self.fit(some.X, some.y, some.weight)
            return
        self._targets(some.y, len(self._table(some.X, reset=True)))
        self._set_classes(source.labels)
        rest, places = SourceRows.drawn(source, numbers, settings.random_state)
        X, Y, weight = self._read(some)
        order = self._drawn_order(X, Y, weight, settings.random_state)
        preparation, _ = self._prepare(X, Y, weight, order, settings)
        drawn = preparation.samples(X, Y, weight, np.arange(len(Y)))
        stream = SieveStream.start(preparation, drawn[order], self._n_folds, numbers[order])
        for part in rest:
            X, Y, weight = self._read(part)
            stream = stream.with_samples(MappedSamples(preparation.mapped(X), Y, weight))
        self._keep(stream.sieve(drawn[places]), drawn[order], clock)

    def _read(self, part: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        """Return X, targets as columns, and weights of a part of a source."""
        X = self._table(part.X, reset=False)
        Y = self._targets(part.y, len(X), reset=False)
        return X, Y, self._weights(part.weight, X, Y)

    def _fit_more(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Add samples: the first call chooses settings, later samples are scored first."""
        clock, stream = Clock(self.time_budget), vars(self).get("_stream")
        if stream is None:
            table = self._table(X, reset=True)
            Y = self._targets(y, len(table), reset="classes_" not in vars(self))
            weight = self._weights(sample_weight, table, Y)
            order = self._fit_table(table, Y, weight, clock)
            data = self._sieve.preparation.samples(table, Y, weight, order)
            begun = SieveStream.start(self._sieve.preparation, data, self._n_folds, order)
            self._stream = begun.with_samples(data)
            return
        table, Y, weight = self._read(Part(X, y, sample_weight))
        if not weight.any():
            return
        order = self._drawn_order(table, Y, weight, check_random_state(0))
        data = stream.preparation.samples(table, Y, weight, order)
        scored = data.scored(self._sieve.model, self.n_jobs)
        self._stream = stream.with_samples(data)
        held_out = last_held_out(self._sieve.held_out, scored)
        self._keep(self._stream.sieve(held_out), data, clock)

    @abstractmethod
    def _targets(self, y: Any, n_samples: int, *, reset: bool = True) -> np.ndarray:
        """Return targets as columns of numbers; without ``reset``, check them against the first."""

    def _set_classes(self, labels: Callable[[], np.ndarray]) -> None:
        """Store the class labels of a source."""

    @property
    def _loss(self) -> RegressionLoss:
        """The loss of the linear head."""
        return LOSSES["squared_error"]

    def _check_given(self, y: Any) -> None:
        if y is None:
            raise InvalidDataError(
                f"This {type(self).__name__} estimator requires y to be passed, "
                "but the target y is None."
            )

    def _most_samples(self) -> float:
        """Return the largest number of samples that a fit may use."""
        return np.inf

    def _weights(self, sample_weight: Any, X: Any, Y: np.ndarray) -> np.ndarray:
        given = check_weights(sample_weight, X)
        return np.ones(len(Y)) if given is None else given

    def _labels(self, Y: np.ndarray) -> np.ndarray | None:
        """Return the labels by which folds are stratified."""
        return None

    def _folds(self, Y: np.ndarray, order: np.ndarray) -> list[Fold]:
        """Return the cross-validation folds, as row numbers in the given order of the samples.

        A splitter sees the samples that have a weight, as they stand; given folds number all samples.
        """
        counted = self.cv is None or isinstance(self.cv, Integral)
        seen = order if counted else np.sort(order) if hasattr(self.cv, "split") else np.arange(len(Y))
        labels = self._labels(Y[seen])
        cv = check_cv(5 if self.cv is None else self.cv, labels, classifier=labels is not None)
        if counted:
            cv.shuffle, cv.random_state = True, check_random_state(self.random_state)
            most = len(seen) if labels is None else int(np.bincount(labels).max())
            cv.n_splits = max(2, min(cv.n_splits, most))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of classes with fewer samples than folds
            folds = folds_of(cv, Y[seen], labels)
        return restrict_folds([(seen[train], seen[test]) for train, test in folds], order, Y)

    @property
    def _n_folds(self) -> int:
        """Number of folds of a single pass."""
        return max(2, int(self.cv)) if isinstance(self.cv, Integral) else 5

    def _settings(self, clock: Clock) -> SieveSettings:
        return SieveSettings(
            self.n_landmarks,
            self.metric,
            self.kernel,
            self.n_jobs,
            clock,
            check_random_state(self.random_state),
            self.cv is not None or self._loss is not LOSSES["squared_error"],
        )

    def _keep(self, sieve: Sieve, data: MappedSamples, clock: Clock) -> None:
        self._sieve = sieve
        self.landmark_indices_ = sieve.landmark_indices
        self.kernel_ = sieve.model.kernel
        self.importances_ = importances(sieve.preparation, sieve.model, data)
        names = self._names
        names = np.array([f"x{i}" for i in range(self.n_features_in_)]) if names is None else names
        found = (sieve, self.importances_, names, clock.elapsed, self._loss)
        self.report_ = " ".join(sentences(*found, classifies=is_classifier(self)))
        self._say(f"{len(self.landmark_indices_)} landmarks, {clock.elapsed:.1f} s")

    @property
    def cv_results_(self) -> dict[str, Any]:
        """All trials with their held-out scores, in the format of scikit-learn's searches."""
        return cv_results(self._current_fit().preparation.trials)

    # ------------------------------------------------------------------ using

    def _current_fit(self) -> Sieve:
        check_is_fitted(self)
        return self._sieve

    @abstractmethod
    def _link(self) -> Link:
        """Return the step that converts scores to predictions."""

    def __program_steps__(self, output: Output) -> list[ProgramStep]:
        """Return encoding, metric and kernel sum and, for predictions, the link."""
        encode, metric, kernel = self._current_fit().steps
        if output == "features":
            return [encode, metric, kernel.kernel_values_only()]
        return [encode, metric, kernel, self._link()]

    @property
    def _program(self) -> Program:
        return Program(self.__program_steps__("prediction"))

    def _scores(self, X: Any) -> np.ndarray:
        return self._program.scores(self._table(X, reset=False), self.n_jobs)

    @row_wise
    def transform(self, X: Any) -> np.ndarray:
        """Return landmark features: kernel values between samples and landmarks.

        Predictions, or their logarithms or scores, are linear in them.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_landmarks)
        """
        U, model = self._program.inputs(self._table(X, reset=False)), self._sieve.model
        return model.kernel.block(U, model.landmarks)

    def neighbors(self, X: Any, among: Any, n_neighbors: int = 5) -> tuple[np.ndarray, np.ndarray]:
        """Return the most similar samples of a table, such as the training table.

        The distance weights the encoded features by ``importances_``: what moves predictions counts.
        Such neighbours hardly depend on ``random_state``. Landmarks do, and the model keeps no other
        training samples: with these its file would be as large as the table, and give it away.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples.
        among : array-like or data frame of shape (n_candidates, n_features)
            Where to search.
        n_neighbors : int, default=5
            How many.

        Returns
        -------
        distances : ndarray of shape (n_samples, n_neighbors)
            From the nearest on; 0 for samples that differ in nothing that counts.
        indices : ndarray of shape (n_samples, n_neighbors)
            Rows of ``among``.
        """
        check_is_fitted(self)
        encoder = self._sieve.preparation.encoder
        weights = np.sqrt(self.importances_[encoder.source])
        points, samples = (weights * encoder(self._table(each, reset=False)) for each in (among, X))
        if not 1 <= n_neighbors <= len(points):
            raise InvalidParameterError(
                f"n_neighbors={n_neighbors!r} must be from 1 to {len(points)}, the number of samples "
                "to search among."
            )
        return NearestNeighbors(n_neighbors=n_neighbors).fit(points).kneighbors(samples)

    @property
    def _n_features_out(self) -> int:
        return len(self.landmark_indices_)

    def _explained(self, X: Any) -> Explanation:
        return self._program.explain(self._table(X, reset=False), self.landmark_indices_)

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
