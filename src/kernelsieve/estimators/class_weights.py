"""Weights of classes, which multiply those of samples."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from ..data import Batch, Labels
from ..exceptions import InvalidParameterError


def with_class_weight(batch: Batch, class_weight: Any, classes: np.ndarray | None) -> Batch:
    """Return samples whose weights are multiplied by those of their classes."""
    if class_weight is None or classes is None:
        return batch
    of_class = _class_weights(batch, class_weight, classes)
    targets = batch.targets
    of_rows = of_class[targets.codes] if isinstance(targets, Labels) else targets @ of_class
    return replace(batch, weight=batch.root_weight**2 * of_rows)


def _class_weights(batch: Batch, class_weight: Any, classes: np.ndarray) -> np.ndarray:
    if isinstance(class_weight, str):  # "balanced"
        totals = batch.target_sums
        present = totals > 0
        mean = totals.sum() / np.count_nonzero(present)
        return np.where(present, mean / np.where(present, totals, 1.0), 0.0)
    given, known = dict(class_weight), set(classes.tolist())
    unknown = [label for label in given if label not in known]
    bad = [value for value in given.values() if not _is_positive(value)]
    if unknown or bad:
        raise InvalidParameterError(
            f"class_weight={class_weight!r} must give labels, which are {classes.tolist()}, "
            "positive weights; labels that are left out have weight 1."
        )
    return np.array([float(given.get(label, 1.0)) for label in classes.tolist()])


def _is_positive(value: Any) -> bool:
    return isinstance(value, Real) and bool(0 < float(value) < np.inf)
