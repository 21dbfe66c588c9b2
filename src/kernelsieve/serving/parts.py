"""A fitted pipeline taken apart: what is before its kernel, the kernel model, and what is behind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..estimators import KernelEstimator
from ..exceptions import InvalidParameterError
from ..kernels import Inputs
from ..model import KernelModel
from ..model_selection import ExtractorWithHead
from .affine import AFFINE_STEPS, Affine, affine_of, plus
from .response import Response, read_head


class Parts(NamedTuple):
    """``after(model(before(x)))``, and what is predicted from that: numbers, labels, or features."""

    before: Affine | None
    model: KernelModel
    after: Affine
    response: Response


def prediction_parts(model: Any) -> Parts:
    """Take a model apart that predicts by a linear function of kernel values."""
    check_is_fitted(model)
    *steps, (name, last) = _steps(model)
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
    before, extractor, after = _composed(steps)
    return _parts(before, extractor, head if after is None else after.then(head), response)


def feature_parts(model: Any) -> Parts:
    """Take a model apart whose last step gives features; a head behind them is left out."""
    check_is_fitted(model)
    steps = list(_steps(model))
    if not hasattr(steps[-1][1], "transform"):
        steps.pop()
    before, extractor, after = _composed(steps)
    k = 0 if extractor is None else extractor.n_components
    after = Affine(np.ones(k)) if after is None and k else after
    return _parts(before, extractor, after, Response(one_dimensional=False))


def _parts(
    before: Affine | None, extractor: KernelModel | None, after: Affine | None, response: Response
) -> Parts:
    if extractor is not None and after is not None:
        return Parts(before, extractor, after.dense, response)
    whole = before if after is None else after if before is None else before.then(after)
    if whole is None:
        raise InvalidParameterError("The model has no step that computes anything; pass a fitted one.")
    fill = None if whole.fill is None else Affine(np.ones(len(whole.fill)), fill=whole.fill)
    return Parts(fill, *_of_inputs(replace(whole, fill=None)), response)


def _steps(model: Any, name: str = "model") -> Iterator[tuple[str, Any]]:
    """Return the steps that a model consists of, with those of what is inside them."""
    chosen = getattr(model, "best_estimator_", None)
    if chosen is not None:
        yield from _steps(chosen, name)
    elif isinstance(model, ExtractorWithHead):
        yield from _steps(model.extractor, "extractor")
        yield from _steps(model.head, "head")
    elif isinstance(model, Pipeline):
        for inner, step in model.steps:
            yield from _steps(step, inner)
    elif isinstance(model, ColumnTransformer) and _is_one_block(model):
        ((inner, step, _),) = model.transformers_
        yield from _steps(step, inner)
    elif model is not None and not (isinstance(model, str) and model == "passthrough"):
        yield name, model


def _is_one_block(columns: ColumnTransformer) -> bool:
    """Tell if all inputs, in their order, go through the same steps."""
    used = [name for name, step, _ in columns.transformers_ if not isinstance(step, str)]
    if len(columns.transformers_) != 1 or len(used) != 1:
        return False
    indices = columns._transformer_to_input_indices[used[0]]
    return list(indices) == list(range(columns.n_features_in_))


def _composed(
    steps: list[tuple[str, Any]],
) -> tuple[Affine | None, KernelModel | None, Affine | None]:
    """Return what is before the extractor, its model, and what is behind it."""
    before: Affine | None = None
    after: Affine | None = None
    extractor: KernelModel | None = None
    for name, step in steps:
        affine = affine_of(step)
        if affine is not None and affine.fill is not None and (before or extractor) is not None:
            raise InvalidParameterError(_cannot_fold(name, step))
        if affine is not None and extractor is None:
            before = affine if before is None else before.then(affine)
        elif affine is not None:
            after = affine if after is None else after.then(affine)
        elif isinstance(step, KernelEstimator) and extractor is None:
            extractor = step._current_fit().model
        else:
            raise InvalidParameterError(_cannot_fold(name, step))
    return before, extractor, after


def _cannot_fold(name: str, step: Any) -> str:
    if isinstance(step, KernelEstimator):
        return (
            f"Step {name!r} ({type(step).__name__}) has a kernel of features that are kernel features "
            "themselves; of these one can be folded. Call predict of the pipeline."
        )
    return (
        f"Step {name!r} ({type(step).__name__}) is no affine function that is known here, so it "
        f"cannot be folded; these can: {AFFINE_STEPS} (without clip; an imputer only as the first), "
        "and what selects inputs. Apply that step to samples yourself, and pass a Pipeline of the "
        "fitted steps after it."
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
