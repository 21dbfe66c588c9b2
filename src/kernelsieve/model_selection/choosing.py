"""Choose a model by its scores, and fit it to all samples."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..exceptions import FewerFeaturesWarning, InvalidDataError, InvalidParameterError, warn
from .composed import ExtractorWithHead
from .delegation import DelegatingToChosen
from .fold_curves import SettledFolds
from .folds import Curve, Data, Task, own_head, with_setting
from .heads import COLLINEAR
from .nested_extractors import fit_with_weight, last_step, truncate
from .rules import Budget, Choice, Scores, choose, is_negative_error
from .table import in_words, tidy_table


class ChoosesByScores(DelegatingToChosen):
    """Mixin that chooses a setting and a number of features by cross-validated scores."""

    extractor: Any
    n_components: Any
    scoring: Any
    rule: str
    max_kernel_evaluations: float | None
    max_latency_us: float | None

    @property
    def _budget(self) -> Budget:
        return Budget(self.max_kernel_evaluations, self.max_latency_us)

    def _choose_by(
        self, curves: Sequence[Sequence[Curve]], task: Task, settings: Sequence[Mapping[str, Any]]
    ) -> int:
        """Set the table of scores, choose, and return the index of the chosen setting."""
        sizes = self._sizes_to_keep(task.sizes, curves)
        self.path_ = tidy_table(curves, settings, task.sizes, sizes, timed=task.time_rows)
        self.scorer_ = task.scorer
        self.n_splits_ = len(curves)
        return self._choose(settings, n_folds=len(curves))

    def _sizes_to_keep(self, sizes: np.ndarray, curves: Sequence[Sequence[Curve]]) -> np.ndarray:
        """Drop numbers of features that some fold did not reach, unless the user asked for them."""
        reached = np.array([[np.isfinite(c.evaluations) for c in of_fold] for of_fold in curves])
        everywhere = reached.all(axis=0).any(axis=0)
        if everywhere.all():
            return sizes
        if self.n_components is None and last_step(self.extractor).n_components is None:
            return sizes[everywhere]
        warn(
            f"Not every fold gave more than {max(sizes[everywhere], default=0)} of the {sizes[-1]} "
            "features asked for; the scores beyond are NaN.",
            FewerFeaturesWarning,
        )
        return sizes

    def _choose(self, settings: Sequence[Mapping[str, Any]], n_folds: int) -> int:
        path = {name: column.reshape(n_folds, -1) for name, column in self.path_.items()}
        scores = Scores(
            path["test_score"],
            path["k"][0],
            path["kernel_evaluations"].max(axis=0),
            path["latency_us"].min(axis=0) if "latency_us" in path else None,
            in_words(settings, repeat=path["k"].shape[1] // len(settings)),
            is_negative_error(self.scoring),
        )
        choice = choose(scores, self.rule, self._budget)
        self._set_choice(scores, choice)
        n_sizes = len(scores.sizes) // len(settings)
        number = choice.index // n_sizes
        self.best_params_ = dict(settings[number])
        return number

    def _set_choice(self, scores: Scores, choice: Choice) -> None:
        self.best_index_ = choice.index
        self.best_n_components_ = int(scores.sizes[choice.index])
        self.best_score_ = float(scores.mean[choice.index])
        self.reason_ = choice.reason

    def _refit(self, task: Task, data: Data | None, known: SettledFolds | None) -> None:
        """Fit the chosen model to all samples, from their statistic if it is known."""
        fitted = None if known is None else known.fitted_to_all()
        if fitted is None:
            assert data is not None
            fitted, _ = with_setting(task.extractor, task.head, self.best_params_)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FewerFeaturesWarning)  # of more features than are kept
                fit_with_weight(fitted, data.X, data.y, data.weight)
        self._take_model(task, data, fitted, known)

    def _take_model(
        self, task: Task, data: Data | None, fitted: Any, known: SettledFolds | None = None
    ) -> None:
        """Truncate a fitted extractor to the chosen number of features, and fit the head on them."""
        _, head = with_setting(task.extractor, task.head, self.best_params_)
        k = self._affordable(last_step(fitted))
        if head is None:
            head = own_head(fitted, k)
        else:
            told = None if known is None else known.fitted_head(head, fitted, k)
            head = _fitted_head(head, fitted, k, data) if told is None else told
        self.best_estimator_ = ExtractorWithHead(truncate(fitted, k), head)

    def _affordable(self, model: Any) -> int:
        """Return the chosen k, or fewer if the final model has fewer or costs more."""
        chosen, limit = self.best_n_components_, self.max_kernel_evaluations
        k = min(chosen, model.n_components_)
        if limit is not None:
            k = min(k, int(np.searchsorted(model.kernel_evaluations_, limit, side="right")))
        if k == 0:
            raise InvalidParameterError(
                f"max_kernel_evaluations={limit:g}: fitted to all samples, one feature needs "
                f"{model.kernel_evaluations_[0]} kernel evaluations; raise the budget, or choose a "
                "sparser extractor."
            )
        if k < chosen:
            why = "keep to the budget" if k < model.n_components_ else "are all that there are"
            k = self._move_choice(k)
            self.reason_ += f" Fitted to all samples, {k} features {why}."
        return k

    def _move_choice(self, most: int) -> int:
        """Lower the choice to the largest scored k that is not above a limit."""
        k, scores = (self.path_[name].reshape(self.n_splits_, -1) for name in ("k", "test_score"))
        start = int(np.flatnonzero(k[0, : self.best_index_ + 1] == k[0, 0])[-1])
        below = start + np.flatnonzero(k[0, start : self.best_index_] <= most)
        if len(below):
            self.best_index_ = int(below[-1])
            self.best_n_components_ = int(k[0, self.best_index_])
            self.best_score_ = float(scores[:, self.best_index_].mean())
        else:
            self.best_n_components_, self.best_score_ = most, float("nan")
        return self.best_n_components_


def _fitted_head(head: Any, extractor: Any, k: int, data: Data | None) -> Any:
    if data is None:
        raise InvalidDataError(COLLINEAR)
    features = np.asarray(extractor.transform(data.X))[:, :k]
    return fit_with_weight(head, features, data.y, data.weight)
