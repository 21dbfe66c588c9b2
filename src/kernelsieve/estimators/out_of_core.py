"""Fitting out of core: samples come in batches, and only their statistic is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if

from .._sklearn import fit_context
from ..data import QUIET, Batch, counted, single_threaded_blas
from ..exceptions import InvalidDataError
from ..fitting import AUTO_POOL, Candidates, Plan, Problem, RowPass
from ..kernels import Rows
from ..model import Fit
from .attributes import all_or_nothing
from .statistic import StatisticPart, StatisticPlan, Stream, prepared


def _is_offered(estimator: Any) -> bool:
    obstacle = estimator._out_of_core_obstacle()
    if obstacle:
        raise AttributeError(f"{type(estimator).__name__} cannot be fitted out of core: {obstacle}")
    return True


class OutOfCoreMixin:
    """``partial_fit`` and ``fit_batches`` for estimators that say how samples are passed over.

    They say so by ``_row_pass``, which a ``LoopEstimator`` has already. Write this class before the
    other bases.
    """

    #: Returns what passes over samples for a plan; of the estimator.
    _row_pass: ClassVar[Callable[..., RowPass]]

    def _out_of_core_obstacle(self: Any) -> str:
        """Return which parameter needs all samples at once, and the remedy; nothing if none does."""
        candidates, name = self._candidates(), self._candidates_parameter
        if candidates.resample:
            return "Candidates(resample=True) are drawn from all samples; leave resample out."
        if name and candidates.are_all:
            return f"it needs a pool; pass {name} as a number or an array of points instead of 'all'."
        return ""

    @available_if(_is_offered)
    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def partial_fit(
        self: Any, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Any:
        """Add samples; the features are found when they are next used.

        The first call, and the first after ``fit``, begins anew: it settles the kernel, the classes and
        the pool of candidates. A pool that is not given as points is drawn from the samples of that
        call, so these should be many, and like those to come; a number asks for at least as many.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            More training samples.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Their targets.
        classes : array-like, default=None
            All labels that will ever come, where the samples of the first call lack some.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        self
        """
        stream = vars(self).get("_stream")
        plan = prepared(self, X, y, sample_weight, classes) if stream is None else stream.plan
        part = plan.statistic(X, y, sample_weight)
        self._stream = Stream(plan, part if stream is None else stream.part.merge(part))
        plan.describe(self)
        vars(self).pop("_fit", None)
        return self

    @available_if(_is_offered)
    @fit_context(prefer_skip_nested_validation=True)
    @single_threaded_blas()
    def prepare(
        self: Any,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        classes: Any = None,
        folds: int | None = None,
    ) -> StatisticPlan:
        """Settle what must be the same wherever samples are summed up, from some of them.

        Kernel, candidates, classes and precision are settled; the estimator stays as it is. Candidates
        that are not given as points are drawn from these samples, which should be like all others.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_samples, n_features)
            Some samples.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.
        classes : array-like, default=None
            All labels, where these samples lack some.
        folds : int, default=None
            Sum samples up by that many folds, from which ``ComponentPathCV.finish`` chooses the number
            of features. The fold of a sample follows from its inputs, so it is the same on every
            machine. Samples of this call are never held out where candidates are screened by their
            targets.

        Returns
        -------
        StatisticPlan
            Its ``statistic`` sums up samples; see there for an example.
        """
        with np.errstate(**QUIET):
            return prepared(self, X, y, sample_weight, classes, folds)

    @available_if(_is_offered)
    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def finish(self: Any, plan: StatisticPlan, part: StatisticPart) -> Any:
        """Fit from a statistic alone.

        Parameters
        ----------
        plan : StatisticPlan
            Of ``prepare``, of this estimator or of one with other parameters. Kernel and candidates are
            those of the plan.
        part : StatisticPart
            The sums of all samples.

        Returns
        -------
        self
        """
        if not isinstance(plan, StatisticPlan) or not isinstance(part, StatisticPart):
            raise InvalidDataError(
                f"finish takes a plan and a part, and got {type(plan).__name__} and "
                f"{type(part).__name__}; pass what prepare and plan.statistic returned."
            )
        self._take_fit(plan, plan.row_pass(self).solve(part.total))
        return self

    def _take_fit(self: Any, plan: StatisticPlan, fit: Fit) -> None:
        """Keep what was found by a plan."""
        plan.describe(self)
        self._set_fit(fit, plan.settled.encoder, plan.settled.pool.points)

    @available_if(_is_offered)
    @fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit_batches(self: Any, batches: Iterable[Any], classes: Any = None) -> Any:
        """Fit on samples that come in batches, none of which has to be in memory with another.

        Parameters
        ----------
        batches : iterable
            Each item is ``(X, y)`` or ``(X, y, sample_weight)``. An iterable that can be gone through
            again (a list, an object whose ``__iter__`` starts anew) is passed over as ``fit`` would;
            an iterator is passed over once, into a triangular factor.
        classes : array-like, default=None
            All labels, where the first batch lacks some.

        Returns
        -------
        self
        """
        iterator = iter(batches)
        first = next(iterator, None)
        if first is None:
            raise InvalidDataError("fit_batches got no batch; pass at least one (X, y).")
        X, y, weight = split_item(first)
        plan = prepared(self, X, y, weight, classes)
        row_pass = plan.row_pass(self)
        if iterator is batches:
            statistic = row_pass.new_statistic(repeatable=False)
            with counted(None):
                for item in chain([first], iterator):
                    row_pass.absorb(statistic, plan.batch(*split_item(item)))
            fit = row_pass.solve(statistic)
        else:
            fit = row_pass.fit(RepeatableBatches(batches, lambda item: plan.batch(*split_item(item))))
        self._take_fit(plan, fit)
        return self

    def _plan(self: Any, X: Rows, y: Any, classes: Any, sample_weight: Any) -> Plan:
        """Settle by the samples of the first batch what must be known before a pass."""
        encoder = self._encoder(y, classes)
        batch = self._batch(X, y, sample_weight, encoder)
        if not self._candidates().are_points:
            n_samples = len(batch.without_zero_weights()[0])
            name = self._candidates_parameter
            check_first_batch(n_samples, self._candidates(), self.n_components, name)
        problem = self._problem_of(batch, encoder)
        candidates = problem.given or self._draw(problem, self._first_pool_size(problem))
        plan = problem.plan(candidates, batch)
        if problem.given is not None or problem.kept is None:
            return plan
        return plan.renumbered(problem.kept, X.shape[1])

    def _first_pool_size(self: Any, problem: Problem) -> int:
        size = self._pool_size(problem, len(problem.rows))
        return int(size) if problem.candidates.is_number else min(size, AUTO_POOL)

    def _current_fit(self) -> Fit:
        """Return the fit; after ``partial_fit`` this is where the features are found."""
        stream = vars(self).get("_stream")  # which stays, as more samples may come
        if "_fit" not in vars(self) and stream is not None:
            # A copy is fitted: several threads may ask at once, and each sees a stream or a whole fit.
            fitted = copy(self).finish(stream.plan, stream.part)
            self.__dict__ = vars(fitted) | {"_stream": stream}
        return super()._current_fit()  # type: ignore[misc]

    def __sklearn_is_fitted__(self) -> bool:
        return "_fit" in vars(self) or "_stream" in vars(self)


@dataclass(frozen=True)
class RepeatableBatches:
    """Batches of the user's that can be gone through again, checked each time."""

    raw: Iterable[Any]
    check: Callable[[Any], Batch]

    def __iter__(self) -> Iterator[Batch]:
        return map(self.check, self.raw)


def split_item(item: Any) -> tuple[Any, Any, Any]:
    """Take one item of ``fit_batches`` apart: X, (X, y) or (X, y, sample_weight)."""
    if not isinstance(item, tuple):
        return item, None, None
    if not 1 <= len(item) <= 3:
        raise InvalidDataError(
            f"A batch has {len(item)} parts; it must be X, (X, y) or (X, y, sample_weight)."
        )
    X, y, weight = (*item, None, None)[:3]
    return X, y, weight


def check_first_batch(
    n_samples: int, rule: Candidates, n_components: int | None, name: str = "candidates"
) -> None:
    """Refuse a first batch with fewer samples that count than candidates are to be drawn from it.

    Without a number, these are as many as the samples, up to some limit.
    """
    number = int(rule.size) if rule.is_number else 0
    if n_samples == 0:
        raise InvalidDataError(
            "All sample weights of the first batch are zero, and candidates are drawn from it; begin "
            f"with a batch in which at least one is positive, or pass {name} as an array of points."
        )
    if n_samples < number:
        raise InvalidDataError(
            f"{name}={number} are drawn from the first batch, which has {n_samples} rows that "
            f"count; make the first batch larger, lower {name}, or pass an array of points."
        )
    if n_samples < (n_components or 0):
        raise InvalidDataError(
            f"n_components={n_components} needs as many candidates, and they are drawn from the first "
            f"batch, which has {n_samples} rows that count; make the first batch larger, lower "
            f"n_components, or pass {name} as an array of points."
        )
