"""A fitted pipeline taken apart: what is before its kernel, the kernel model, and what is behind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..estimators import KernelEstimator
from ..exceptions import InvalidParameterError
from ..kernels import Inputs
from ..model import KernelModel
from ..model_selection import ExtractorWithHead
from ..predictors.base import SievePredictor
from .affine import AFFINE_STEPS, Affine, affine_of, plus
from .encoding import Encoding
from .front import ENCODERS, Front
from .response import Response, read_head, response_of_sieve


class Parts(NamedTuple):
    """``after(model(before(encoding(x))))``, and what is predicted from that.

    Numbers, labels or features are predicted; None stands for what does nothing.
    """

    encoding: Encoding | None
    before: Affine | None
    model: KernelModel
    after: Affine
    response: Response


def prediction_parts(model: Any) -> Parts:
    """Take a model apart that predicts by a linear function of kernel values."""
    if not hasattr(model, "fit"):
        raise InvalidParameterError(
            f"A {type(model).__name__} is no estimator; pass a fitted one, a pipeline, a search, or "
            "the attribute pipeline of a model of the command line."
        )
    check_is_fitted(model)
    *steps, (name, last) = _steps(model)
    if isinstance(last, SievePredictor):
        return _parts_of_sieve(steps, name, last)
    if isinstance(last, KernelEstimator):
        steps.append((name, last))
    n_inputs = last.n_components_ if isinstance(last, KernelEstimator) else last.n_features_in_
    read = read_head(last, n_inputs)
    if read is None:
        raise InvalidParameterError(
            f"Step {name!r} ({type(last).__name__}) does not predict by a linear function of its "
            "inputs, so it cannot be folded; use a linear predictor, such as Ridge or "
            "LogisticRegression, or call projector() of the extractor and the last step yourself."
        )
    head, response = read
    front, extractor, after = _composed(steps)
    return _parts(front, extractor, head if after is None else after.then(head), response)


def _parts_of_sieve(steps: list[tuple[str, Any]], name: str, sieve: SievePredictor) -> Parts:
    """Take a sieve apart, and what is before it: its head is folded into its model already."""
    front, extractor, _ = _composed(steps)
    fitted = sieve._current_fit()
    recipe = fitted.preparation.recipe
    encoded = None if extractor is not None else front.then(fitted.preparation.encoder)
    if encoded is None:
        raise InvalidParameterError(_cannot_fold(name, sieve))
    scores = fitted.function.model
    front = encoded.then_affine(Affine(recipe.L))
    return _parts(front, scores, Affine(np.ones(scores.n_components)), response_of_sieve(sieve))


def feature_parts(model: Any) -> Parts:
    """Take a model apart whose last step gives features; a head behind them is left out."""
    check_is_fitted(model)
    steps = list(_steps(model))
    last = steps[-1][1]
    if isinstance(last, SievePredictor):
        parts = _parts_of_sieve(steps[:-1], steps[-1][0], last)
        m = len(parts.model.projection)
        features = replace(
            parts.model, projection=np.eye(m), offset=np.zeros(m), first_use=np.arange(m)
        )
        plain = Response(one_dimensional=False)
        return parts._replace(model=features, after=Affine(np.ones(m)).dense, response=plain)
    if not hasattr(last, "transform"):
        steps.pop()
    front, extractor, after = _composed(steps)
    k = 0 if extractor is None else extractor.n_components
    after = Affine(np.ones(k)) if after is None and k else after
    return _parts(front, extractor, after, Response(one_dimensional=False))


def _parts(
    front: Front, extractor: KernelModel | None, after: Affine | None, response: Response
) -> Parts:
    encoding, before = front.settled()
    if extractor is not None and after is not None:
        return Parts(encoding, before, extractor, after.dense, response)
    whole = before if after is None else after if before is None else before.then(after)
    if whole is None:
        if encoding is None:
            raise InvalidParameterError(
                "The model has no step that computes anything; pass a fitted one."
            )
        whole = Affine(np.ones(len(encoding.columns)))
    return Parts(encoding, None, *_of_inputs(whole), response)


def _steps(model: Any, name: str = "model") -> Iterator[tuple[str, Any]]:
    """Return the steps that a model consists of, with those of what is inside them."""
    chosen = getattr(model, "best_estimator_", getattr(model, "pipeline", None))
    if chosen is not None:
        yield from _steps(chosen, name)
    elif isinstance(model, FrozenEstimator):
        yield from _steps(model.estimator, name)
    elif isinstance(model, ExtractorWithHead):
        yield from _steps(model.extractor, "extractor")
        yield from _steps(model.head, "head")
    elif isinstance(model, Pipeline):
        for inner, step in model.steps:
            yield from _steps(step, inner)
    elif model is not None and not (isinstance(model, str) and model == "passthrough"):
        yield name, model


def _composed(steps: list[tuple[str, Any]]) -> tuple[Front, KernelModel | None, Affine | None]:
    """Return what is before the extractor, its model, and what is behind it."""
    front = Front()
    after: Affine | None = None
    extractor: KernelModel | None = None
    for name, step in steps:
        longer = front.then(step) if extractor is None else None
        affine = affine_of(step) if extractor is not None else None
        if longer is not None:
            front = longer
        elif affine is not None:
            after = affine if after is None else after.then(affine)
        elif isinstance(step, KernelEstimator) and extractor is None:
            extractor = step._current_fit().model
        else:
            raise InvalidParameterError(_cannot_fold(name, step))
    return front, extractor, after


def _cannot_fold(name: str, step: Any) -> str:
    if isinstance(step, KernelEstimator):
        return (
            f"Step {name!r} ({type(step).__name__}) has a kernel of features that are kernel features "
            "themselves; of these one can be folded. Call predict of the pipeline."
        )
    return (
        f"Step {name!r} ({type(step).__name__}) is no function of its inputs that is known here, so it "
        f"cannot be folded; these can: {AFFINE_STEPS} (without clip), what selects inputs, and in the "
        f"beginning {ENCODERS} (of values that are frequent). Apply that step to samples yourself, "
        "and pass a Pipeline of the fitted steps after it."
    )


def _of_inputs(affine: Affine) -> tuple[KernelModel, Affine]:
    """Return an affine function as a model of the inputs themselves."""
    dense = affine.dense
    d = len(dense.matrix)
    inputs = np.arange(d)
    model = KernelModel(Inputs(), inputs, np.eye(d), np.zeros(d), inputs)
    return model, dense


def folded(model: KernelModel, after: Affine) -> KernelModel:
    """Return the model whose features are an affine function of those of another."""
    offset = plus(model.offset, after.centre) @ after.matrix
    return replace(
        model,
        projection=model.projection @ after.matrix,
        offset=offset if after.shift is None else offset - after.shift,
        first_use=np.zeros(len(model.projection), dtype=np.intp),  # every output needs all landmarks
        refinement=None,
    )
