"""Extractors with nested components, alone or as the last step of a pipeline."""

from __future__ import annotations

import copy
import time
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from .._sklearn import has_method
from ..estimators import KernelEstimator
from ..exceptions import FewerFeaturesWarning, InvalidParameterError

_CALLS, _REPEATS = 20, 5  # of a projector that is timed


def last_step(extractor: Any) -> Any:
    """Return the extractor: the estimator itself, or the last step of a pipeline."""
    return extractor.steps[-1][1] if isinstance(extractor, Pipeline) else extractor


def name_in_pipeline(extractor: Any, parameter: str) -> str:
    """Return the ``set_params`` name of an extractor's parameter, inside a pipeline or not."""
    return f"{extractor.steps[-1][0]}__{parameter}" if isinstance(extractor, Pipeline) else parameter


def predicts(model: Any) -> bool:
    """Return True if a model predicts without a head."""
    return has_method(model, "predict")


def check_nested(extractor: Any) -> None:
    """Raise an error for an extractor without nested components, or with a fixed number of them."""
    model = last_step(extractor)
    if extractor is not model and not isinstance(model, KernelEstimator) and predicts(model):
        raise InvalidParameterError(
            f"The pipeline ends in {model!r}, which predicts; pass it as head, and what is before as "
            f"extractor: ComponentPathCV(pipeline[:-1], {model!r})."
        )
    if not isinstance(model, KernelEstimator):
        raise InvalidParameterError(
            f"extractor={extractor!r} does not give nested features; pass an extractor of kernelsieve, "
            "such as SparseMaximalAlignment(), or a Pipeline that ends in one."
        )
    if not model._counts_components:
        raise InvalidParameterError(
            f"{type(model).__name__} has no n_components to choose; pass an extractor that has."
        )
    if not model._nested:
        raise InvalidParameterError(
            f"The first features of {type(model).__name__} are not those of a fit with fewer, so that "
            "one fit does not answer for all numbers of them; choose n_components with scikit-learn's "
            "GridSearchCV."
        )


def truncate(extractor: Any, n_components: int) -> Any:
    """Return a fitted extractor with its first features only, as if no more had been requested."""
    short = last_step(extractor).truncate(n_components)
    short.n_components = n_components
    if not isinstance(extractor, Pipeline):
        return short
    pipeline = copy.copy(extractor)
    pipeline.steps = [*extractor.steps[:-1], (extractor.steps[-1][0], short)]
    return pipeline


def fit_with_weight(estimator: Any, X: Any, y: Any, sample_weight: np.ndarray | None) -> Any:
    """Fit an estimator, with sample weights if it accepts them."""
    if sample_weight is None:
        return estimator.fit(X, y)
    taker = last_step(estimator)
    if not has_fit_parameter(taker, "sample_weight"):
        raise InvalidParameterError(
            f"{type(taker).__name__} takes no sample_weight; pass another one, or no weights."
        )
    return estimator.fit(X, y, **{name_in_pipeline(estimator, "sample_weight"): sample_weight})


def fit_quietly(estimator: Any, X: Any, y: Any, sample_weight: np.ndarray | None) -> None:
    """Fit an extractor, without the warning about fewer features, which comes once for all folds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        fit_with_weight(estimator, X, y, sample_weight)


def microseconds_a_row(extractor: Any, X: Any, sizes: np.ndarray) -> np.ndarray:
    """Return the time of a projector for one sample, in microseconds, for every number of features.

    The shortest of some runs counts: whatever else the machine does only adds to it.
    """
    rows = extractor[:-1].transform(X[:1]) if isinstance(extractor, Pipeline) else X[:1]
    rows = rows if sparse.issparse(rows) else np.asarray(rows)
    return np.array([_shortest(last_step(extractor).projector(int(k)), rows) for k in sizes])


def _shortest(projector: Any, rows: Any) -> float:
    spent = []
    for _ in range(_REPEATS):
        start = time.perf_counter()
        for _ in range(_CALLS):
            projector(rows)
        spent.append(time.perf_counter() - start)
    return 1e6 * min(spent) / _CALLS
