"""Samples that are not in memory: fits that go to them, and results that stay with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass
from functools import wraps
from math import prod
from typing import Any, TypeVar

from ..data import (
    Batch,
    Source,
    SourceBatches,
    counted,
    open_source,
    reported,
    rows_from,
    single_threaded_blas,
)
from ..exceptions import InvalidDataError
from .out_of_core import OutOfCoreMixin
from .statistic import StatisticPlan, prepared

_SAMPLE_ROWS = 10_000  # by which a plan is settled
_MANY_VALUES = 2**14  # of samples
_Method = TypeVar("_Method", bound=Callable[..., Any])
_RESULTS = {
    "predict": "prediction",
    "predict_proba": "probability",
    "decision_function": "decision",
    "hotelling_t2": "t2",
    "q_residuals": "q",
}


def fit_source(estimator: Any, source: Source) -> Any:
    """Settle a plan by samples drawn from all, and pass over them wherever they are."""
    plan, batches = planned_by_sample(estimator, source)
    estimator._take_fit(plan, plan.row_pass(estimator).fit(batches))
    return estimator


def is_summed_up(estimator: Any) -> bool:
    """Return True for an estimator that can be fitted from a statistic, with its parameters."""
    return isinstance(estimator, OutOfCoreMixin) and not estimator._out_of_core_obstacle()


def planned_by_sample(
    estimator: Any, source: Source, folds: int | None = None
) -> tuple[StatisticPlan, Iterable[Batch]]:
    """Return the plan that samples drawn from all settle, and all samples as it checks them."""
    _refuse_what_needs_memory(estimator, source)
    some, numbers = source.sample(_sample_size(estimator), estimator._seed)
    given = some.X, some.y, some.weight
    with rows_from(numbers):
        plan = prepared(estimator, *given, None, folds)
        if plan.settled.encoder.classes is not None:  # of which the sample may lack some
            plan = prepared(estimator, *given, source.labels(), folds)
        sample = plan.batch(*given)
    if not estimator._candidates().are_points:
        plan = plan.renumbered(numbers)
    return plan, SourceBatches(source, plan.reader, sample)


def _refuse_what_needs_memory(estimator: Any, source: Source) -> None:
    obstacle = estimator._out_of_core_obstacle()
    if obstacle:
        raise InvalidDataError(
            f"{type(estimator).__name__} cannot be fitted on samples that are not in memory: "
            f"{obstacle} Or pass {source.in_memory}, if they fit."
        )


def _sample_size(estimator: Any) -> int:
    candidates = estimator._candidates()
    return max(_SAMPLE_ROWS, int(candidates.size) if candidates.is_number else 0)


def row_wise(method: _Method) -> _Method:
    """Let a method that treats samples one by one take samples that are not in memory.

    BLAS has one thread meanwhile, unless samples are so few that its products need no more anyway.
    """

    @wraps(method)
    def apply(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        source = open_source(X, inputs=vars(self).get("feature_names_in_"))
        with reported(type(self).__name__, self.verbose):
            if source is None:
                with single_threaded_blas() if _are_many(X) else nullcontext():
                    return method(self, X, *args, **kwargs)
            self._current_fit()  # which may not be there, or be found in a stream
            fitted = copy(self)  # a result that is computed later does not follow another fit
            with counted(None if source.is_lazy else source.n_rows, stage=method.__name__):
                return source.apply(RowWiseMethod(method, fitted, args, kwargs))

    return apply  # type: ignore[return-value]


def _are_many(X: Any) -> bool:
    """Tell if a product with samples takes much longer than to change the threads of BLAS."""
    return prod(getattr(X, "shape", (_MANY_VALUES,))) >= _MANY_VALUES


@dataclass(frozen=True)
class RowWiseMethod:
    """A method of a fitted estimator as a function of samples, and what its results are called."""

    method: Callable[..., Any]
    fitted: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __call__(self, X: Any) -> Any:
        return self.method(self.fitted, X, *self.args, **self.kwargs)

    def column_names(self, n_columns: int) -> list[str]:
        """Return names for the columns of the result in a table."""
        name = _RESULTS.get(self.method.__name__)
        if name is None:
            return list(map(str, self.fitted.get_feature_names_out()[:n_columns]))
        if n_columns == 1:
            return [name]
        classes = vars(self.fitted).get("classes_", range(n_columns))
        return [f"{name}_{label}" for label in classes]
