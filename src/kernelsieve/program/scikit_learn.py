"""Fitted estimators of scikit-learn as steps: encoders of tables, affine transformers, linear heads."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import block_diag
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)

from .._sklearn import has_method
from .joining import joined
from .steps.affine import AffineMap
from .steps.encode import Column, EncodeColumns, Indicator, Number, missing_indicator
from .steps.link import Link, Logistic, Probabilities, Softmax, outputs_agree
from .steps.step import ProgramStep
from .tables import is_missing

_PROBES, _CLOSE = 16, 1e-8  # random features by which a head is told to be linear, and how nearly


def transformer_steps(part: Any) -> Sequence[ProgramStep]:
    """Return the steps of a fitted transformer; empty if it is not known."""
    if isinstance(part, SelectorMixin):
        return [AffineMap(np.eye(part.n_features_in_)[:, part.get_support()])]
    if type(part) in _AFFINE:
        affine = _AFFINE[type(part)](part)
        return [] if affine is None else [affine]
    encoder = next((kind for kind in _ENCODERS if isinstance(part, kind)), None)
    return [] if encoder is None else _ENCODERS[encoder](part)


# ---------------------------------------------------------------------- encoders of tables


def _imputer(step: SimpleImputer) -> list[ProgramStep]:
    marks_nan = isinstance(step.missing_values, float) and np.isnan(step.missing_values)
    fill = np.asarray(step.statistics_).tolist()
    if not marks_nan or any(map(is_missing, fill)):
        return []
    marked = step.indicator_.features_ if step.add_indicator else []
    columns: list[Column] = list(map(Number, range(len(fill)), fill))
    columns += map(missing_indicator, marked)
    return [EncodeColumns(tuple(columns), step.n_features_in_)]


def _one_hot(step: OneHotEncoder) -> list[ProgramStep]:
    if any(v is not None for v in getattr(step, "infrequent_categories_", [])):
        return []
    dropped = [None] * step.n_features_in_ if step.drop_idx_ is None else step.drop_idx_
    columns = [
        _indicator(i, value)
        for i, values in enumerate(step.categories_)
        for place, value in enumerate(values.tolist())
        if place != dropped[i]
    ]
    return [EncodeColumns(tuple(columns), step.n_features_in_)]


def _indicator(number: int, value: Any) -> Indicator:
    """Return the indicator of a category, which may be None or NaN."""
    if is_missing(value):
        return Indicator(number, None, of_nan=value is not None, of_none=value is None)
    return Indicator(number, value)


def _column_transformer(step: ColumnTransformer) -> list[ProgramStep]:
    """Return the blocks of columns side by side."""
    columns: list[Column] = []
    affines: list[AffineMap] = []
    for name, transformer, _ in step.transformers_:
        inputs = step._transformer_to_input_indices[name]
        if len(inputs) == 0 or (isinstance(transformer, str) and transformer == "drop"):
            continue
        block = _block(transformer, len(inputs))
        if block is None:
            return []
        columns += block[0].on_inputs(inputs, step.n_features_in_).columns
        affines.append(block[1])
    encoding = EncodeColumns(tuple(columns), step.n_features_in_)
    return [encoding] if all(map(_is_identity, affines)) else [encoding, _side_by_side(affines)]


def _block(transformer: Any, n_inputs: int) -> tuple[EncodeColumns, AffineMap] | None:
    """Return the encoding and the affine map of one block of columns; None if a step is unknown."""
    steps: list[ProgramStep] = [EncodeColumns.passthrough(n_inputs)]
    parts = [p for _, p in transformer.steps] if isinstance(transformer, Pipeline) else [transformer]
    for part in parts:
        if part is None or (isinstance(part, str) and part == "passthrough"):
            continue
        own = transformer_steps(part)
        if not own:
            return None
        for step in own:
            longer = joined(steps, step)
            if longer is None:
                return None
            steps = longer
    encoding, *rest = steps
    assert isinstance(encoding, EncodeColumns)
    affine = rest[0] if rest else AffineMap(np.ones(encoding.n_outputs))
    return encoding, affine  # type: ignore[return-value]


def _is_identity(affine: AffineMap) -> bool:
    stays = affine.centre is None and affine.shift is None
    return stays and affine.is_diagonal and bool((affine.matrix == 1).all())


def _side_by_side(affines: Sequence[AffineMap]) -> AffineMap:
    """Combine affine maps of blocks of columns into one map of all columns."""
    if not all(affine.is_diagonal for affine in affines):
        affines = [affine.dense for affine in affines]
    matrices = [affine.matrix for affine in affines]
    matrix = np.concatenate(matrices) if matrices[0].ndim == 1 else np.asarray(block_diag(*matrices))
    centre = [np.zeros(a.n_inputs) if a.centre is None else a.centre for a in affines]
    shift = [np.zeros(a.n_outputs) if a.shift is None else a.shift for a in affines]
    is_shifted = any(a.shift is not None for a in affines)
    return AffineMap(matrix, np.concatenate(centre), np.concatenate(shift) if is_shifted else None)


_ENCODERS: dict[type, Callable[[Any], list[ProgramStep]]] = {
    SimpleImputer: _imputer,
    OneHotEncoder: _one_hot,
    ColumnTransformer: _column_transformer,
}

# ---------------------------------------------------------------------- affine transformers


def _standard(step: StandardScaler) -> AffineMap:
    return _centred_and_divided(step, step.mean_ if step.with_mean else None, step.scale_)


def _robust(step: RobustScaler) -> AffineMap:
    centre = step.center_ if step.with_centering else None
    return _centred_and_divided(step, centre, step.scale_ if step.with_scaling else None)


def _centred_and_divided(step: Any, centre: np.ndarray | None, scale: np.ndarray | None) -> AffineMap:
    return AffineMap(np.ones(step.n_features_in_) if scale is None else 1 / scale, centre)


def _min_max(step: MinMaxScaler) -> AffineMap | None:
    return None if step.clip else AffineMap(step.scale_, -step.min_ / step.scale_)


def _max_abs(step: MaxAbsScaler) -> AffineMap | None:
    return None if getattr(step, "clip", False) else AffineMap(1 / step.scale_)


def _principal(step: PCA) -> AffineMap:
    scale = np.sqrt(step.explained_variance_) if step.whiten else 1.0
    return AffineMap((step.components_ / np.reshape(scale, (-1, 1))).T, step.mean_)


_AFFINE: dict[type, Callable[[Any], AffineMap | None]] = {
    StandardScaler: _standard,
    MinMaxScaler: _min_max,
    MaxAbsScaler: _max_abs,
    RobustScaler: _robust,
    PCA: _principal,
    TruncatedSVD: lambda step: AffineMap(step.components_.T),
}

#: Names of these steps, for messages.
AFFINE_STEPS, ENCODERS = (", ".join(kind.__name__ for kind in known) for known in (_AFFINE, _ENCODERS))

# ---------------------------------------------------------------------- linear heads


def head_steps(head: Any, n_inputs: int) -> list[ProgramStep]:
    """Return the steps of a fitted linear predictor; empty if its outputs are not linear."""
    classes = getattr(head, "classes_", None)
    needed = ("coef_", "intercept_", "predict" if classes is None else "decision_function")
    if not all(has_method(head, name) for name in needed):
        return []
    coefficients = head.coef_.toarray() if sparse.issparse(head.coef_) else head.coef_
    coefficients = np.asarray(coefficients, dtype=np.float64).reshape(-1, n_inputs).T
    intercepts = np.broadcast_to(np.ravel(head.intercept_).astype(np.float64), coefficients.shape[1])
    linear = AffineMap(coefficients, shift=intercepts)
    probe = np.random.default_rng(0).standard_normal((_PROBES, n_inputs))
    scores = linear.run(probe)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an array has no names of features
        predicted = head.predict(probe)
        flat = np.ndim(predicted) == 1
        link = Link(scores.shape[1], flat, classes, _probabilities_of(head, probe, scores))
        expected = predicted if classes is None else head.decision_function(probe)
    found = link.run(scores) if classes is None else link.decide(scores)
    return [linear, link] if outputs_agree(found, expected, _CLOSE) else []


def _probabilities_of(head: Any, probe: np.ndarray, scores: np.ndarray) -> Probabilities | None:
    """Return the known probability function that a head uses; None for any other."""
    if not has_method(head, "predict_proba"):
        return None
    expected = head.predict_proba(probe)
    known = (Logistic(), Softmax())
    return next((link for link in known if outputs_agree(link(scores), expected, _CLOSE)), None)
