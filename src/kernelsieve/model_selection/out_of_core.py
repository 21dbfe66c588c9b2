"""Search over samples that are not in memory: batches, files, clusters, or merged sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from ..data import QUIET, Source, sum_up
from ..estimators import (
    StatisticPart,
    StatisticPlan,
    all_or_nothing,
    is_summed_up,
    planned_by_sample,
    prepared,
    split_item,
)
from ..exceptions import InvalidDataError, InvalidParameterError
from ..fitting import OnePass
from ..statistics import FoldWork, WorkTogether
from .choosing import ChoosesByScores
from .fold_curves import SCORES, SettledFolds, have_closed_form, known_score
from .folds import Curve, HeadSettings, Task, clone_with, with_setting
from .heads import COLLINEAR


def _is_offered(search: Any) -> bool:
    if not is_summed_up(search.extractor):
        raise AttributeError("the extractor cannot be fitted out of core; see its own partial_fit.")
    if not _is_number(search.cv):
        raise AttributeError(_NO_NUMBER.format(cv=search.cv))
    if known_score(search.scoring) is None or not have_closed_form(search.extractor, [search.head]):
        raise AttributeError(_NOT_TOLD)
    return True


_NOT_TOLD = (
    "Statistics tell the scores of regression by least squares or ridge (LinearRegression, Ridge) "
    f"alone, which are {', '.join(SCORES)}; fit samples in memory for others, or choose by one of "
    "these and fit another head to the features."
)
_NO_NUMBER = (
    "cv={cv!r}: samples that are not in memory together tell their folds by their inputs; pass a "
    "number of folds."
)


def _is_number(cv: Any) -> bool:
    return cv is None or (isinstance(cv, Integral) and not isinstance(cv, bool))


class SearchesOutOfCore(ChoosesByScores):
    """Mixin that chooses from fold statistics; hashes of the inputs assign samples to folds."""

    head: Any
    cv: Any
    scoring: Any
    refit: bool
    _task: Callable[[Mapping[str, Any]], Task]

    @all_or_nothing
    def finish(self, plan: Any, part: Any) -> Self:
        """Choose and fit from statistics alone.

        Parameters
        ----------
        plan : StatisticPlan or list of them
            Of ``prepare(..., folds=...)`` of the extractor. One for each setting of the extractor in
            ``param_grid``, in its order; values of the head's parameters need no plans.
        part : StatisticPart or list of them
            The sums of all samples by the plans.

        Returns
        -------
        self

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from sklearn.linear_model import Ridge
        >>> from kernelsieve import ComponentPathCV, SparseMaximalAlignment
        >>> X, y = load_diabetes(return_X_y=True)
        >>> sma = SparseMaximalAlignment(20, candidates=100, random_state=0)
        >>> plan = sma.prepare(X[:200], y[:200], folds=5)
        >>> here, there = plan.statistic(X[:200], y[:200]), plan.statistic(X[200:], y[200:])
        >>> search = ComponentPathCV(sma, Ridge()).finish(plan, here.merge(there))
        >>> search.n_splits_, search.predict(X).shape
        (5, (442,))
        """
        plans, parts = (list(v) if isinstance(v, (list, tuple)) else [v] for v in (plan, part))
        for given, wanted in ((plans, StatisticPlan), (parts, StatisticPart)):
            for value in given:
                if not isinstance(value, wanted):
                    raise InvalidDataError(
                        f"finish takes plans and parts, and got {type(value).__name__}; pass what "
                        "prepare(..., folds=5) and plan.statistic returned."
                    )
        settings = self._extractor_settings()
        if not len(plans) == len(parts) == len(settings):
            raise InvalidDataError(
                f"param_grid has {len(settings)} settings of the extractor, and there are {len(plans)} "
                f"plans and {len(parts)} parts; pass one of each for every setting."
            )
        self._choose_from(plans, parts)
        return self

    @available_if(_is_offered)
    @all_or_nothing
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Add samples, and choose again.

        The first call, and the first after ``fit``, begins anew: it settles kernels and candidates, so
        its samples should be many, and like those to come.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            More samples.
        y : array-like of shape (n,) or (n, q), default=None
            Their targets.
        classes : array-like, default=None
            All labels that will ever come, for extractors that take labels.
        sample_weight : array-like of shape (n,), default=None
            Their weights.

        Returns
        -------
        self
        """
        plans, parts = vars(self).get("_stream", (None, None))
        self._add([(X, y, sample_weight)], classes, plans, parts)
        return self

    @available_if(_is_offered)
    @all_or_nothing
    def fit_batches(self, batches: Iterable[Any], classes: Any = None) -> Self:
        """Fit to samples that come in batches, of which one at a time is in memory.

        Parameters
        ----------
        batches : iterable
            Each item is ``(X, y)`` or ``(X, y, sample_weight)``. The first settles kernels and
            candidates.
        classes : array-like, default=None
            All labels, where the first batch lacks some.

        Returns
        -------
        self
        """
        self._add(batches, classes)
        vars(self).pop("_stream")
        return self

    def _add(
        self,
        batches: Iterable[Any],
        classes: Any,
        plans: list[StatisticPlan] | None = None,
        parts: list[StatisticPart] | None = None,
    ) -> None:
        """Sum up batches by the plans of all settings, and choose."""
        settings, folds = self._extractor_settings(), self._n_folds()
        for item in batches:
            given = split_item(item)
            with np.errstate(**QUIET):
                if plans is None:
                    plans = [prepared(e, *given, classes, folds) for e, _ in settings]
                new = [plan.statistic(*given) for plan in plans]
            parts = new if parts is None else [a.merge(b) for a, b in zip(parts, new, strict=True)]
        if plans is None or parts is None:
            raise InvalidDataError("fit_batches got no batch; pass at least one (X, y).")
        self._choose_from(plans, parts)
        self._stream = (plans, parts)

    def _fit_source(self, source: Source) -> None:
        """Draw samples to make a plan for every setting, then pass once over the source."""
        settings, folds = self._extractor_settings(), self._n_folds()
        plans, works, batches = [], [], None
        for extractor, _ in settings:
            plan, batches = planned_by_sample(extractor, source, folds)
            assert plan.folds is not None
            row_pass = plan.row_pass(extractor)
            if isinstance(row_pass, OnePass):
                works.append(row_pass.fold_work(plan.folds, batches.sample))  # type: ignore[attr-defined]
            else:
                empty = partial(row_pass.new_statistic, repeatable=False)
                works.append(FoldWork(empty, row_pass.absorb, plan.folds))
            plans.append(plan)
        assert batches is not None
        work = WorkTogether(works)
        sums = sum_up(batches, work.empty, work.add)
        self._choose_from(plans, list(map(StatisticPart, sums.sums)))

    def _choose_from(self, plans: Sequence[StatisticPlan], parts: Sequence[StatisticPart]) -> None:
        """Score all settings by fold statistics, choose, and fit from their sum."""
        task = self._task({})
        n_folds = {0 if plan.folds is None else plan.folds.n_folds for plan in plans}
        if len(n_folds) > 1 or 0 in n_folds:
            raise InvalidDataError(
                "A plan has no folds, or others than the next; make all plans by "
                "prepare(..., folds=5) with one number."
            )
        curves: list[dict[int, Curve]] = [{} for _ in range(n_folds.pop())]
        known: dict[int, SettledFolds] = {}
        for (extractor, head_settings), plan, part in zip(
            self._extractor_settings(), plans, parts, strict=True
        ):
            settled = SettledFolds(extractor, plan, part.sums)  # type: ignore[arg-type]
            heads = [with_setting(extractor, self.head, task.settings[i])[1] for i, _ in head_settings]
            if not settled.tells(task, heads):
                raise InvalidParameterError(_NOT_TOLD)
            for fold, of_fold in enumerate(curves):
                found = settled.curves(task, fold, heads)
                if found is None:
                    raise InvalidDataError(COLLINEAR)
                of_fold.update(zip((i for i, _ in head_settings), found, strict=True))
            known.update({number: settled.condensed() for number, _ in head_settings})
        self.n_passes_, self.way_ = 1, "one pass"
        self._choose_and_refit(curves, task, None, known)

    def _extractor_settings(self) -> list[tuple[Any, HeadSettings]]:
        """Return the extractors of all settings, and the settings of the head."""
        task = self._task({})
        return [
            (clone_with(task.extractor, of_extractor), head_settings)
            for group in task.groups
            for of_extractor, head_settings in group
        ]

    def _n_folds(self) -> int:
        if not _is_number(self.cv):
            raise InvalidParameterError(_NO_NUMBER.format(cv=self.cv))
        return 5 if self.cv is None else int(self.cv)
