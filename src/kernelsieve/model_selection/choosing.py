"""Choose a model by its scores, and fit it to all samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .._sklearn import wrap_output
from ..data import Part
from ..exceptions import FewerFeaturesWarning, InvalidDataError, InvalidParameterError, warn
from .composed import ExtractorWithHead, PredictsByHead
from .fold_curves import SettledFolds
from .folds import Curve, Task, own_head, score_of, with_setting
from .heads import COLLINEAR
from .nested_extractors import fit_quietly, fit_with_weight, last_step, truncate
from .rules import Budget, Scores, choose, is_negative_error
from .table import in_words, tidy_table


class ChoosesByScores(PredictsByHead):
    """Mixin that chooses a model by cross-validated scores, and predicts with it."""

    extractor: Any
    head: Any
    n_components: Any
    scoring: Any
    rule: str
    max_kernel_evaluations: float | None
    max_latency_us: float | None
    refit: bool

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
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        return score_of(self.scorer_, self._chosen(), Part(X, y, weight))

    @property
    def _predictor(self) -> Any:
        unfitted = self.extractor if self.head is None else self.head
        return vars(self).get("best_estimator_", unfitted)

    def _chosen(self) -> ExtractorWithHead:
        check_is_fitted(self)
        if not self.refit:
            raise NotFittedError(
                f"This {type(self).__name__} has chosen k = {self.best_n_components_} and fitted no "
                "model with it; pass refit=True."
            )
        return self.best_estimator_

    def _choose_and_refit(
        self,
        curves: Sequence[Mapping[int, Curve]],
        task: Task,
        data: Part | None,
        known: Mapping[int, SettledFolds] | None = None,
        fitted: Mapping[int, Any] | None = None,
    ) -> None:
        """Set the table of scores, choose, and fit the chosen model to all samples.

        Curves are given for each fold, by the number of the setting. Extractors that are fitted
        already are given, or fold statistics that tell the fit.
        """
        in_order = [[of_fold[i] for i in range(len(task.settings))] for of_fold in curves]
        number = self._choose(in_order, task)
        if self.refit:
            self._refit(task, data, (known or {}).get(number), (fitted or {}).get(number))
        else:
            vars(self).pop("best_estimator_", None)  # of an earlier fit

    def _choose(self, curves: Sequence[Sequence[Curve]], task: Task) -> int:
        """Set the table of scores, choose, and return the number of the chosen setting."""
        sizes = self._sizes_to_keep(task.sizes, curves)
        self.path_ = tidy_table(curves, task.settings, task.sizes, sizes, timed=task.time_rows)
        self.scorer_ = task.scorer
        self.n_splits_ = len(curves)
        path = {name: column.reshape(len(curves), -1) for name, column in self.path_.items()}
        scores = Scores(
            path["test_score"],
            path["k"][0],
            path["kernel_evaluations"].max(axis=0),
            path["latency_us"].min(axis=0) if "latency_us" in path else None,
            in_words(task.settings, repeat=len(sizes)),
            is_negative_error(self.scoring),
        )
        budget = Budget(self.max_kernel_evaluations, self.max_latency_us)
        self.best_index_, self.reason_ = choose(scores, self.rule, budget)
        self.best_n_components_ = int(scores.sizes[self.best_index_])
        self.best_score_ = float(scores.mean[self.best_index_])
        number = self.best_index_ // len(sizes)
        self.best_params_ = dict(task.settings[number])
        return number

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

    def _refit(self, task: Task, data: Part | None, known: SettledFolds | None, fitted: Any) -> None:
        """Fit the chosen setting to all samples, and keep the chosen number of features and a head."""
        unfitted, head = with_setting(task.extractor, task.head, self.best_params_)
        if fitted is None and known is not None:
            fitted = known.fitted_to_all()
        if fitted is None:
            assert data is not None
            fitted = unfitted
            fit_quietly(fitted, data.X, data.y, data.weight)
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


def _fitted_head(head: Any, extractor: Any, k: int, data: Part | None) -> Any:
    if data is None:
        raise InvalidDataError(COLLINEAR)
    features = np.asarray(extractor.transform(data.X))[:, :k]
    return fit_with_weight(head, features, data.y, data.weight)
