"""What ``y`` means: continuous targets, several of them, or class labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d

from ..exceptions import AmbiguousTargetWarning, InvalidDataError, warn
from .blocks import MANY_CLASSES, Batch, Labels, row_number

_NUMBERS = (Real, np.number, np.bool_)
_FEW_VALUES = 20  # whole numbers with at most so many values may well be labels
_MANY_VALUES = 50  # with more they are quantities
_LARGEST = 1e100  # targets, so that products of their squares with those of features are numbers


@dataclass(frozen=True)
class TargetEncoder:
    """Turns ``y`` into a float matrix; class labels into one column a class, or two into signs."""

    classes: np.ndarray | None  # None for continuous targets
    n_targets: int
    one_dimensional: bool = False  # y was a plain list of numbers or labels, and so are predictions
    signed: bool = False  # two classes are one column of -1 and +1

    @classmethod
    def for_target(cls, y: Any, target: str, classes: Sequence[Any] | None = None) -> TargetEncoder:
        """Decide what ``y`` is: "classes", "continuous", or, for "auto", what it looks like.

        Strings and booleans are labels, floats are continuous. Integers are labels while they have at
        most 20 values, or 50 if these are at most a tenth of the samples.
        """
        values = target_array(y)
        if target == "continuous" and classes is not None:
            raise InvalidDataError(
                "classes are given where numbers are expected; leave them out, or use a classifier."
            )
        if classes is None and (target == "continuous" or not _are_labels(values, target)):
            refuse_labels(values)
            return cls(None, 1 if values.ndim == 1 else values.shape[1], values.ndim == 1)
        given = _labels(values) if classes is None else np.asarray(classes)
        found = _distinct(given)
        if target == "classes":
            # Named classes twice, or scikit-learn would wonder that each of them occurs only once.
            check_classification_targets(given if classes is None else np.tile(given, 2))
        if len(found) < 2:
            raise InvalidDataError(
                f"y has one class only, {found.tolist()[0]!r}; at least 2 are needed. Check the target "
                "column, and name all classes in the first call where later batches have others"
                f"{'' if target == 'classes' else '; continuous targets must be floats'}."
            )
        return cls(found, len(found), True)

    @property
    def n_labels(self) -> int:
        """The number of classes where they are many, so that targets are labels; otherwise 0."""
        return 0 if self.classes is None or self.n_targets <= MANY_CLASSES else self.n_targets

    def encode(self, y: Any, n_rows: int) -> np.ndarray:
        """Return the (n, q) float64 targets."""
        targets = self.targets(y, n_rows)
        return targets.indicators if isinstance(targets, Labels) else targets

    def targets(self, y: Any, n_rows: int) -> np.ndarray | Labels:
        """Return the same, but labels where classes are many."""
        values = target_array(y)
        if len(values) != n_rows:
            raise InvalidDataError(
                f"y has {len(values)} entries and X has {n_rows} rows: "
                "Found input variables with inconsistent numbers of samples; they must be equal."
            )
        if self.classes is None:
            return self._continuous(values)
        codes = self._codes(_labels(values))
        if self.signed:
            return 2.0 * codes[:, None] - 1.0
        labels = Labels(codes, len(self.classes))
        return labels if self.n_labels else labels.indicators

    def _codes(self, labels: np.ndarray) -> np.ndarray:
        assert self.classes is not None
        codes = np.searchsorted(self.classes, labels)
        codes = np.minimum(codes, len(self.classes) - 1)
        unknown = np.flatnonzero(self.classes[codes] != labels)
        if len(unknown):
            label, row = labels.tolist()[unknown[0]], row_number(unknown[0])
            named = ", ".join(map(repr, self.classes[:_FEW_VALUES].tolist()))
            more = ", ..." if len(self.classes) > _FEW_VALUES else ""
            raise InvalidDataError(
                f"y has the label {label!r} in row {row}, which is not one of the classes "
                f"[{named}{more}]; pass classes=... with all of them to the first call."
            )
        return codes

    def with_signs(self) -> TargetEncoder:
        """Return the encoder that codes two classes, if there are two, by one column of -1 and +1."""
        if self.classes is None or len(self.classes) != 2:
            return self
        return replace(self, n_targets=1, signed=True)

    def _continuous(self, values: np.ndarray) -> np.ndarray:
        values = check_array(
            values, ensure_2d=False, dtype=np.float64, ensure_all_finite=False, input_name="y"
        )
        columns = values.reshape(len(values), -1)
        if columns.shape[1] != self.n_targets:
            raise InvalidDataError(
                f"y has {columns.shape[1]} columns; the first call had {self.n_targets}."
            )
        check_squares(columns)
        bad = np.flatnonzero(~np.isfinite(columns).all(axis=1))
        if len(bad):
            kind = "NaN" if np.isnan(columns[bad[0]]).any() else "inf"
            raise InvalidDataError(
                f"Input y contains {kind} in row {row_number(bad[0])} (rows counted from 0); "
                "remove these rows or fill them in."
            )
        return columns


def _distinct(labels: np.ndarray) -> np.ndarray:
    try:
        return np.asarray(np.unique(labels))
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        raise InvalidDataError(
            f"y has labels of several types, {' and '.join(kinds)}, which cannot be sorted; pass "
            "labels of one type, for example y.astype(str)."
        ) from None


def one_target(y: Any) -> Any:
    """Return ``y`` as one column; several are refused."""
    return y if y is None else _one_column(y)


def _one_column(y: Any) -> np.ndarray:
    try:
        return np.asarray(column_or_1d(y, warn=True))
    except ValueError as error:
        raise InvalidDataError(f"{error} Fit one model for each of several targets.") from None


def target_array(y: Any) -> np.ndarray:
    """Return targets as an array, of numbers where all objects are numbers."""
    values = y if isinstance(y, np.ndarray) else np.asarray(y)
    if values.dtype == object and all(isinstance(v, _NUMBERS) for v in values.ravel()):
        numbers = np.array(values.tolist())  # as if they had never been among other objects
        values = numbers.astype(np.float64) if numbers.dtype == object else numbers
    if values.ndim not in (1, 2):
        raise InvalidDataError(f"y must have 1 or 2 dimensions; it has {values.ndim}.")
    return values


def warn_if_ambiguous(y: Any, encoder: TargetEncoder) -> None:
    """Ask about whole numbers whose few values may be labels or quantities.

    Two values are never asked about: as labels and as numbers they have the same features.
    """
    values = target_array(y)
    if values.size != len(values) or values.dtype.kind not in "iuf":
        return
    found = np.unique(values)
    few_whole_numbers = len(found) <= _FEW_VALUES and bool((found == np.rint(found)).all())
    if len(found) == 2 or (encoder.classes is None and not few_whole_numbers):
        return
    taken, other = ("numbers", "'classes'") if encoder.classes is None else ("labels", "'continuous'")
    warn(
        f"y has {len(found)} different whole numbers, which were taken for {taken}. If that is right, "
        f"say so by target={'continuous' if encoder.classes is None else 'classes'!r}; if not, pass "
        f"target={other}.",
        AmbiguousTargetWarning,
    )


def warn_if_numbers(y: np.ndarray, classes: np.ndarray) -> None:
    """Ask about numbers of very many values, where a classifier takes them for labels."""
    if y.dtype.kind in "iuf" and len(classes) > max(_FEW_VALUES, len(y) / 5):
        warn(
            f"y has {len(classes)} different numbers in {len(y)} samples, which are taken for labels; "
            "if they are quantities, use SieveRegressor.",
            AmbiguousTargetWarning,
        )


def _are_labels(values: np.ndarray, target: str) -> bool:
    if target == "classes":
        return True
    if values.size != len(values) or values.dtype.kind not in "OSUTbiu":
        return False
    if values.dtype.kind not in "iu":
        return True
    n_values = len(np.unique(values))
    return n_values <= _FEW_VALUES or n_values <= min(_MANY_VALUES, len(values) / 10)


def refuse_labels(values: np.ndarray, classifier: str = "KernelPLSClassifier") -> None:
    """Refuse strings and other objects where numbers are predicted; name what takes them."""
    if values.dtype.kind not in "OSUT":
        return
    try:
        values.astype(np.float64)
    except (TypeError, ValueError):
        label = next(v for v in values.ravel().tolist() if not isinstance(v, _NUMBERS))
        raise InvalidDataError(
            f"y has the label {label!r} where numbers are expected; for labels use a classifier, such "
            f"as {classifier}."
        ) from None


def _labels(values: np.ndarray) -> np.ndarray:
    labels = _one_column(values)
    missing = [
        i
        for i, label in enumerate(labels.tolist())
        if label is None or (isinstance(label, float) and not np.isfinite(label))
    ]
    if missing:
        raise InvalidDataError(
            f"Input y contains NaN, None or infinity in row {row_number(missing[0])} (counted from 0), "
            "which is no label; remove these rows or give them a label."
        )
    return labels


def check_squares(targets: np.ndarray) -> None:
    """Refuse targets of which sums of squares would overflow, or vanish."""
    sizes = np.abs(targets[np.isfinite(targets)])
    largest = float(sizes.max(initial=0))
    if largest > _LARGEST or 0 < largest < 1 / _LARGEST:
        raise InvalidDataError(
            f"y has values of up to {largest:.3g}, which cannot be squared and summed up; they may be "
            f"from {1 / _LARGEST:g} to {_LARGEST:g}, or 0. Divide y by its largest value."
        )


def check_not_constant(targets: np.ndarray, before: np.ndarray) -> None:
    """Refuse targets that no feature could be related to.

    ``targets`` are weighted and centred; ``before`` holds their size before.
    """
    if not float(np.sum(np.square(targets))) > 1e-26 * float(np.sum(np.square(before))):
        raise InvalidDataError(
            "y is constant, or of one class, so no feature can be related to it; check the target "
            "column and the sample weights, or use a method without targets, such as KernelPCA."
        )


def weighted_targets(batch: Batch, center: bool) -> np.ndarray:
    """Return the targets as the columns are: centred where asked, and scaled by root weights."""
    weight = batch.root_weight**2
    means = weight @ batch.Y / weight.sum() if center else 0.0
    return (batch.Y - means) * batch.root_weight[:, None]
