"""What ``y`` means: continuous targets, several of them, or class labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from ..exceptions import InvalidDataError
from .blocks import Batch

_NUMBERS = (Real, np.number, np.bool_)


@dataclass(frozen=True)
class TargetEncoder:
    """Turns ``y`` into a float matrix; class labels into one column a class."""

    classes: np.ndarray | None  # None for continuous targets
    n_targets: int
    one_dimensional: bool = False  # y was a plain list of numbers or labels, and so are predictions

    @classmethod
    def for_target(cls, y: Any, target: str, classes: Sequence[Any] | None = None) -> TargetEncoder:
        """Decide what ``y`` is. Strings, booleans and integers are labels, floats are continuous."""
        values = target_array(y)
        if classes is None and (target == "continuous" or not _are_labels(values, target)):
            return cls(None, 1 if values.ndim == 1 else values.shape[1], values.ndim == 1)
        given = _labels(values) if classes is None else np.asarray(classes)
        if target == "classes":
            check_classification_targets(given)
        found = np.unique(given)
        if len(found) < 2:
            raise InvalidDataError(
                f"y has one class only, {found.tolist()[0]!r}; at least 2 are needed. Check the target "
                "column, and name all classes in the first call where later batches have others"
                f"{'' if target == 'classes' else '; continuous targets must be floats'}."
            )
        return cls(found, len(found), True)

    def encode(self, y: Any, n_rows: int) -> np.ndarray:
        """Return the (n, q) float64 targets."""
        values = target_array(y)
        if len(values) != n_rows:
            raise InvalidDataError(
                f"y has {len(values)} entries and X has {n_rows} rows: "
                "Found input variables with inconsistent numbers of samples; they must be equal."
            )
        if self.classes is None:
            return self._continuous(values)
        labels = _labels(values)
        codes = np.searchsorted(self.classes, labels)
        codes = np.minimum(codes, len(self.classes) - 1)
        unknown = np.flatnonzero(self.classes[codes] != labels)
        if len(unknown):
            raise InvalidDataError(
                f"y has the label {labels.tolist()[unknown[0]]!r} in row {unknown[0]}, which is not "
                f"one of the classes {self.classes.tolist()}; pass classes=... with all of them to the "
                "first call."
            )
        return np.eye(len(self.classes))[codes]

    def _continuous(self, values: np.ndarray) -> np.ndarray:
        values = check_array(
            values, ensure_2d=False, dtype=np.float64, ensure_all_finite=False, input_name="y"
        )
        columns = values.reshape(len(values), -1)
        if columns.shape[1] != self.n_targets:
            raise InvalidDataError(
                f"y has {columns.shape[1]} columns; the first call had {self.n_targets}."
            )
        bad = np.flatnonzero(~np.isfinite(columns).all(axis=1))
        if len(bad):
            kind = "NaN" if np.isnan(columns[bad[0]]).any() else "inf"
            raise InvalidDataError(
                f"Input y contains {kind} in row {bad[0]} (rows counted from 0); "
                "remove these rows or fill them in."
            )
        return columns


def one_target(y: Any) -> Any:
    """Return ``y`` as one column; several are refused."""
    return y if y is None else column_or_1d(y, warn=True)


def one_column_of_numbers(y: Any, classifier: str) -> Any:
    """Return ``y`` as one column of numbers; labels are refused, with the classifier to use."""
    values = one_target(y)
    if y is None or target_array(values).dtype.kind not in "OSUTb":
        return values
    raise InvalidDataError(
        f"y has labels, such as {values.tolist()[0]!r}, and this method predicts numbers; use "
        f"{classifier} for classes, or pass numbers."
    )


def target_array(y: Any) -> np.ndarray:
    """Return targets as an array, of numbers where all objects are numbers."""
    values = y if isinstance(y, np.ndarray) else np.asarray(y)
    if values.dtype == object and all(isinstance(v, _NUMBERS) for v in values.ravel()):
        numbers = np.array(values.tolist())  # as if they had never been among other objects
        values = numbers.astype(np.float64) if numbers.dtype == object else numbers
    if values.ndim not in (1, 2):
        raise InvalidDataError(f"y must have 1 or 2 dimensions; it has {values.ndim}.")
    return values


def _are_labels(values: np.ndarray, target: str) -> bool:
    if target == "classes":
        return True
    one_column = values.ndim == 1 or values.shape[1] == 1
    return one_column and values.dtype.kind in "OSUTbiu"


def _labels(values: np.ndarray) -> np.ndarray:
    labels = column_or_1d(values, warn=True)
    missing = [i for i, label in enumerate(labels.tolist()) if not _is_label(label)]
    if missing:
        raise InvalidDataError(
            f"Input y contains NaN, None or infinity in row {missing[0]} (counted from 0), which is no "
            "label; remove these rows or give them a label."
        )
    return labels


def _is_label(label: Any) -> bool:
    return label is not None and not (isinstance(label, float) and not np.isfinite(label))


def check_not_constant(targets: np.ndarray, before: np.ndarray) -> None:
    """Refuse targets that no feature could be related to.

    ``targets`` are weighted and centred; ``before`` holds their size before.
    """
    left, size = (float(np.sum(np.square(values))) for values in (targets, before))
    if not left > 1e-26 * size:
        raise InvalidDataError(
            "y is constant, or of one class, so no feature can be related to it; check the target "
            "column and the sample weights, or use a method without targets, such as KernelPCA."
        )


def weighted_targets(batch: Batch, center: bool) -> np.ndarray:
    """Return the targets as the columns are: centred where asked, and scaled by root weights."""
    weight = batch.root_weight**2
    means = weight @ batch.Y / weight.sum() if center else 0.0
    return (batch.Y - means) * batch.root_weight[:, None]
