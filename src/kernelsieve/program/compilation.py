"""Compile a fitted pipeline to a program, with neighbouring steps folded into one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from ..exceptions import InvalidParameterError
from .joining import joined, simplified
from .program import Program
from .scikit_learn import AFFINE_STEPS, ENCODERS, head_steps, transformer_steps
from .steps.kernel_sum import KernelSum
from .steps.link import Link
from .steps.step import ProgramStep

Output = Literal["prediction", "features"]


@runtime_checkable
class Compilable(Protocol):
    """An estimator that describes itself as program steps; all estimators of this package do."""

    def __program_steps__(self, output: Output) -> Sequence[ProgramStep]:
        """Return the steps to the features; or to predictions, ending in a ``Link``."""


def compiled(model: Any, output: Output = "prediction") -> Program:
    """Compile a fitted model to a program, a short list of pure steps.

    Parameters
    ----------
    model : fitted estimator
        As :func:`kernelsieve.predictor` takes it; or one that gives features, for these.
    output : {"prediction", "features"}, default="prediction"
        For features, a predictor behind them is left out.

    Returns
    -------
    Program

    Raises
    ------
    InvalidParameterError
        If a step is none that is known.
    """
    if not isinstance(model, BaseEstimator):
        raise InvalidParameterError(
            f"A {type(model).__name__} is not an estimator; pass a fitted one, a pipeline, a search, "
            "or the attribute pipeline of a model of the command line."
        )
    parts = list(_parts(model))
    for _, part in parts:
        check_is_fitted(part)
    if output == "prediction":
        steps = _predicting(parts)
    else:
        if not isinstance(parts[-1][1], TransformerMixin):
            parts.pop()
        steps = _compose([_with_steps(part) for part in parts])
        if not steps:
            raise InvalidParameterError(
                "The model has no step that computes anything; pass a fitted one."
            )
        steps.append(Link(steps[-1].n_outputs, called="features"))
    names = getattr(getattr(model, "pipeline", model), "feature_names_in_", None)
    return Program(tuple(steps), None if names is None else tuple(map(str, names)))


def predictor(model: Any) -> Program:
    """Return a fitted model as one plain function of samples, for serving.

    Features and a linear head are one product with kernel values: ``kernel(x, landmarks) @
    coefficients + intercept``. So what was a pipeline costs little more than its kernel values, and
    one sample takes microseconds.

    Parameters
    ----------
    model : fitted estimator
        An estimator of kernelsieve that predicts; or a ``Pipeline`` of steps that encode tables
        (``SimpleImputer``, ``OneHotEncoder``, ``ColumnTransformer``), steps that are affine (scalers,
        PCA, a choice of inputs), at most one extractor of kernelsieve with a kernel, and a linear
        predictor of scikit-learn or one of kernelsieve; or a search, such as ``ComponentPathCV`` or
        ``GridSearchCV``, that has chosen one.

    Returns
    -------
    Program
        ``p(x)`` predicts for a float array of shape (n_features,) or (n_samples, n_features), and
        ``p.decision_function``, ``p.predict_proba`` are there where the model has them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernelsieve import SparseMaximalAlignment, predictor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> pipeline = make_pipeline(StandardScaler(), SparseMaximalAlignment(20), Ridge()).fit(X, y)
    >>> p = predictor(pipeline)
    >>> bool(np.allclose(p(X), pipeline.predict(X))), p.kernel_evaluations
    (True, 20)
    >>> bool(np.isclose(p(X[0]), p(X)[0]))
    True
    """
    return compiled(model)


def _parts(model: Any, name: str = "model") -> Iterator[tuple[str, Any]]:
    """Yield the estimators inside a model, with their names."""
    chosen = getattr(model, "best_estimator_", getattr(model, "pipeline", None))
    if chosen is not None:
        yield from _parts(chosen, name)
    elif isinstance(model, FrozenEstimator):
        yield from _parts(model.estimator, name)
    elif (inner := getattr(model, "steps", None)) is not None:
        for inner_name, part in inner:
            yield from _parts(part, inner_name)
    elif model is not None and not (isinstance(model, str) and model == "passthrough"):
        yield name, model


def _predicting(parts: list[tuple[str, Any]]) -> list[ProgramStep]:
    """Return the steps of a model that predicts."""
    name, last = parts[-1]
    is_ours = isinstance(last, Compilable)
    head = last.__program_steps__("prediction") if is_ours else head_steps(last, last.n_features_in_)
    if not head or not isinstance(head[-1], Link):
        raise InvalidParameterError(
            f"Step {name!r} ({type(last).__name__}) does not predict by a linear function of its "
            "inputs, so it cannot be folded; use a linear predictor, such as Ridge or "
            "LogisticRegression, or call projector() of the extractor and the last step yourself."
        )
    return [*_compose([*map(_with_steps, parts[:-1]), (name, last, head[:-1])]), head[-1]]


def _with_steps(part: tuple[str, Any]) -> tuple[str, Any, Sequence[ProgramStep]]:
    """Return the name of an estimator, itself, and its feature steps."""
    name, estimator = part
    is_ours = isinstance(estimator, Compilable)
    steps = estimator.__program_steps__("features") if is_ours else transformer_steps(estimator)
    if not steps:
        raise InvalidParameterError(_cannot_fold(name, estimator))
    return name, estimator, steps


def _compose(parts: Sequence[tuple[str, Any, Sequence[ProgramStep]]]) -> list[ProgramStep]:
    """Return the steps of all parts, joined where no digits are lost."""
    found: list[ProgramStep] = []
    for name, part, steps in parts:
        for step in steps:
            longer = joined(found, step)
            if longer is None:
                raise InvalidParameterError(_cannot_fold(name, part, step))
            found = longer
    return simplified(found)


def _cannot_fold(name: str, part: Any, step: ProgramStep | None = None) -> str:
    if isinstance(step, KernelSum):
        return (
            f"Step {name!r} ({type(part).__name__}) has a kernel of features that are kernel features "
            "themselves; of these one can be folded. Call predict of the pipeline."
        )
    return (
        f"Step {name!r} ({type(part).__name__}) cannot be compiled; steps that can: {AFFINE_STEPS} "
        f"(without clip), feature selectors, and at the beginning {ENCODERS} (without infrequent "
        "categories). Apply that step to samples yourself, and pass a Pipeline of the fitted steps "
        "after it."
    )
