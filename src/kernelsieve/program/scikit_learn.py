"""Fitted transformers of scikit-learn as steps: column encoding, then an affine map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
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

from .steps.affine import AffineMap
from .steps.encode import Column, EncodeColumns, Indicator, Number, missing_indicator
from .steps.step import ProgramStep
from .tables import is_missing

#: Steps that encode tables, for messages.
ENCODERS = "SimpleImputer, OneHotEncoder, ColumnTransformer"


@dataclass(frozen=True)
class Preprocessing:
    """Preprocessing that runs before the kernel: column encoding, then an affine map."""

    encoding: EncodeColumns | None = None
    affine: AffineMap | None = None

    @property
    def is_empty(self) -> bool:
        return self.encoding is None and self.affine is None

    def then(self, step: Any) -> Preprocessing | None:
        """Append a fitted transformer; return None if it is unknown, or cannot stand here."""
        if isinstance(step, ColumnTransformer):
            return _column_transformer(step) if self.is_empty else None
        if isinstance(step, SimpleImputer):
            return self._with_imputer(step)
        if isinstance(step, OneHotEncoder):
            return self._with_one_hot(step)
        affine = affine_of(step)
        return None if affine is None else self.then_affine(affine)

    def then_step(self, step: ProgramStep) -> Preprocessing | None:
        """Append a program step; return None if it cannot stand here."""
        if isinstance(step, AffineMap):
            return self.then_affine(step)
        if not isinstance(step, EncodeColumns):
            return None
        return Preprocessing(step) if self.is_empty else self._then_encoding(step)

    def then_affine(self, affine: AffineMap) -> Preprocessing:
        """Append an affine map."""
        return replace(self, affine=affine if self.affine is None else self.affine.then(affine))

    @property
    def steps(self) -> list[ProgramStep]:
        """The steps, without those that change nothing."""
        useless = self.encoding is None or not self.encoding.changes
        found = (None if useless else self.encoding, self.affine)
        return [step for step in found if step is not None]

    def _then_encoding(self, step: EncodeColumns) -> Preprocessing | None:
        """Append an encoding that imputes missing values and adds indicators of them."""
        n = step.n_features
        numbers, marks = step.columns[:n], step.columns[n:]
        is_in_order = all(isinstance(c, Number) and c.input == i for i, c in enumerate(numbers))
        if len(numbers) < n or not is_in_order or any(m != missing_indicator(m.input) for m in marks):
            return None
        fills = [c.fill for c in numbers if isinstance(c, Number)]
        return self._filled(n, fills, [mark.input for mark in marks])

    def _columns(self, n_inputs: int) -> tuple[Column, ...]:
        return (EncodeColumns.passthrough(n_inputs) if self.encoding is None else self.encoding).columns

    def _encoded(
        self, columns: Sequence[Column], n_inputs: int, affine: AffineMap | None = None
    ) -> Preprocessing:
        """Return preprocessing with these columns, made from the same inputs."""
        n = n_inputs if self.encoding is None else self.encoding.n_inputs
        return Preprocessing(EncodeColumns(tuple(columns), n), affine)

    # ------------------------------------------------------------------ steps

    def _with_imputer(self, step: SimpleImputer) -> Preprocessing | None:
        marks_nan = isinstance(step.missing_values, float) and np.isnan(step.missing_values)
        values = np.asarray(step.statistics_)
        kept = [not is_missing(v) for v in values.tolist()]
        if not marks_nan or not all(kept):
            return None
        n_inputs = step.n_features_in_
        marked = step.indicator_.features_ if step.add_indicator else []
        return self._filled(n_inputs, values.tolist(), marked)

    def _filled(
        self, n_inputs: int, fill: Sequence[Any], marked: Sequence[int]
    ) -> Preprocessing | None:
        """Impute missing values, and add indicators of missing values for some columns."""
        columns, affine = list(self._columns(n_inputs)), self.affine
        if affine is not None and not affine.is_diagonal:  # which refuses missing values itself
            return None if len(marked) else self
        if any(isinstance(columns[i], Indicator) for i in marked):
            return None
        marks = [missing_indicator(columns[i].input) for i in marked]
        raw = (
            fill
            if affine is None
            else _inverse_of_diagonal(affine, np.asarray(fill, np.float64)).tolist()
        )
        columns = [_with_fill(column, value) for column, value in zip(columns, raw, strict=True)]
        wider = None if affine is None else _with_identity_columns(affine, len(marks))
        return self._encoded([*columns, *marks], n_inputs, wider)

    def _with_one_hot(self, step: OneHotEncoder) -> Preprocessing | None:
        columns = self._columns(step.n_features_in_)
        is_raw = self.affine is None and all(isinstance(column, Number) for column in columns)
        if not is_raw or any(v is not None for v in getattr(step, "infrequent_categories_", [])):
            return None
        dropped = [None] * len(columns) if step.drop_idx_ is None else list(step.drop_idx_)
        found: list[Column] = []
        for column, values, left_out in zip(columns, step.categories_, dropped, strict=True):
            for place, value in enumerate(values.tolist()):
                if place != left_out:
                    found.append(_indicator(column, value))
        return self._encoded(found, step.n_features_in_)


def _indicator(column: Any, value: Any) -> Indicator:
    """Return the indicator of a category; imputed values count if the category is the fill value."""
    if value is None:
        return Indicator(column.input, None, of_none=True)
    if is_missing(value):
        return Indicator(column.input, None, of_nan=not column.is_filled)
    return Indicator(column.input, value, of_nan=column.is_filled and column.fill == value)


def _with_fill(column: Column, value: Any) -> Column:
    if isinstance(column, Indicator) or column.is_filled:
        return column
    return replace(column, fill=value)


def _inverse_of_diagonal(affine: AffineMap, values: np.ndarray) -> np.ndarray:
    """Apply the inverse of a diagonal affine map; columns of weight 0 map to its centre."""
    shifted = values if affine.shift is None else values - affine.shift
    weighted = affine.matrix != 0
    inside = np.divide(shifted, affine.matrix, out=np.zeros(len(values)), where=weighted)
    return inside if affine.centre is None else inside + affine.centre


def _with_identity_columns(affine: AffineMap, number: int) -> AffineMap:
    """Extend a diagonal affine map by columns that it leaves unchanged."""
    ones, zeros = np.ones(number), np.zeros(number)
    centre, shift = (
        None if v is None else np.concatenate([v, zeros]) for v in (affine.centre, affine.shift)
    )
    return AffineMap(np.concatenate([affine.matrix, ones]), centre, shift)


def _column_transformer(step: ColumnTransformer) -> Preprocessing | None:
    """Return the preprocessing of a ColumnTransformer: its blocks side by side."""
    columns: list[Column] = []
    affines: list[tuple[int, AffineMap | None]] = []
    n_inputs = step.n_features_in_
    for name, transformer, _ in step.transformers_:
        inputs = step._transformer_to_input_indices[name]
        if len(inputs) == 0 or (isinstance(transformer, str) and transformer == "drop"):
            continue
        front = _block_preprocessing(transformer)
        if front is None:
            return None
        encoding = front.encoding or EncodeColumns.passthrough(len(inputs))
        columns += encoding.on_inputs(inputs, n_inputs).columns
        affines.append((len(encoding.columns), front.affine))
    whole = Preprocessing(EncodeColumns(tuple(columns), n_inputs))
    return whole if all(a is None for _, a in affines) else whole.then_affine(_side_by_side(affines))


def _block_preprocessing(step: Any) -> Preprocessing | None:
    """Return the preprocessing of one block of columns; None if a step is unknown."""
    front: Preprocessing | None = Preprocessing()
    steps = [inner for _, inner in step.steps] if isinstance(step, Pipeline) else [step]
    for inner in steps:
        if front is None:
            return None
        if inner is not None and not (isinstance(inner, str) and inner == "passthrough"):
            front = front.then(inner)
    return front


def _side_by_side(affines: Sequence[tuple[int, AffineMap | None]]) -> AffineMap:
    """Combine affine maps of blocks of columns into one map of all columns."""
    known = [AffineMap(np.ones(n)) if affine is None else affine for n, affine in affines]
    if not all(affine.is_diagonal for affine in known):
        known = [affine.dense for affine in known]
    sizes = [(len(a.matrix), a.matrix.shape[-1]) for a in known]
    centre = [
        np.zeros(d) if a.centre is None else a.centre for a, (d, _) in zip(known, sizes, strict=True)
    ]
    shift = [
        np.zeros(k) if a.shift is None else a.shift for a, (_, k) in zip(known, sizes, strict=True)
    ]
    matrices = [a.matrix for a in known]
    matrix = np.concatenate(matrices) if matrices[0].ndim == 1 else np.asarray(block_diag(*matrices))
    moved = any(a.shift is not None for a in known)
    return AffineMap(matrix, np.concatenate(centre), np.concatenate(shift) if moved else None)


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


def _selected(step: SelectorMixin) -> AffineMap:
    return AffineMap(np.eye(step.n_features_in_)[:, step.get_support()])


_AFFINE: dict[type, Callable[[Any], AffineMap | None]] = {
    StandardScaler: _standard,
    MinMaxScaler: _min_max,
    MaxAbsScaler: _max_abs,
    RobustScaler: _robust,
    PCA: _principal,
    TruncatedSVD: lambda step: AffineMap(step.components_.T),
}

#: Names of these steps, for messages.
AFFINE_STEPS = ", ".join(kind.__name__ for kind in _AFFINE)


def affine_of(step: Any) -> AffineMap | None:
    """Return a fitted scikit-learn transformer as an affine map; None if it is not affine."""
    if isinstance(step, SelectorMixin):
        return _selected(step)
    known = _AFFINE.get(type(step))
    return None if known is None else known(step)
