"""Checks of a search's parameters and folds, before any work is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor

from ..data import TargetEncoder, count_rows, warn_if_ambiguous
from ..estimators import WIDTHS
from ..exceptions import InvalidParameterError
from ..kernels import kernel_class
from .nested_extractors import last_step, name_in_pipeline, predicts


def check_head(head: Any) -> None:
    """Raise an error for a head that cannot predict."""
    if head is None or (isinstance(head, BaseEstimator) and predicts(head)):
        return
    raise InvalidParameterError(
        f"head={head!r} does not predict; pass a predictor of scikit-learn, such as Ridge() or "
        "LogisticRegression(), or None for an extractor that predicts by itself."
    )


def check_folds(cv: Any, folds: Sequence[Any]) -> None:
    """Raise an error if a splitter yields no folds."""
    if not len(folds):
        raise InvalidParameterError(
            f"cv={cv!r} gave no folds; pass a number of folds, a splitter, or pairs of training and "
            "test samples."
        )


def folds_of(cv: Any, X: Any, y: Any = None, groups: Any = None) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the folds of a scikit-learn splitter; raise a clear error if there are too few samples."""
    try:
        return list(cv.split(X, y, groups))
    except ValueError as error:
        if "n_splits" not in str(error) and "number of splits" not in str(error).lower():
            raise
        n_samples = count_rows(X)
        raise InvalidParameterError(
            f"{type(cv).__name__} cannot make {cv.get_n_splits(X, y, groups)} folds of {n_samples} "
            "samples: these, their groups, or those of every class are too few. Pass a smaller "
            "number of folds as cv, or more samples."
        ) from error


def check_fold_sizes(folds: Sequence[tuple[Any, Any]], largest: int | None, *, by_r2: bool) -> None:
    """Raise an error for folds with too few samples to fit, or to score by R2."""
    for number, (train, test) in enumerate(folds):
        if largest is not None and len(train) < largest:
            raise InvalidParameterError(
                f"Fold {number} has {len(train)} training samples, fewer than the {largest} components "
                "to look at; lower n_components, or pass a cv with larger folds."
            )
        if by_r2 and len(test) < 2:
            raise InvalidParameterError(
                f"Fold {number} has {len(test)} test sample, for which R2 is not defined; pass "
                "scoring='neg_mean_squared_error', or a cv with larger test folds."
            )


def settled_target(extractor: Any, head: Any, y: Any) -> dict[str, str]:
    """Return the ``target`` parameter for all folds, inferred from all of ``y`` if it is "auto".

    A head tells whether there are labels or numbers. Without one that is asked about once, and not
    answered by every fold for itself.
    """
    if y is None or getattr(last_step(extractor), "target", None) != "auto" or np.ndim(y) != 1:
        return {}
    if head is not None and (is_classifier(head) or is_regressor(head)):
        target = "classes" if is_classifier(head) else "continuous"
    else:
        encoder = TargetEncoder.for_target(y, "auto")
        warn_if_ambiguous(y, encoder)
        target = "continuous" if encoder.classes is None else "classes"
    return {name_in_pipeline(extractor, "target"): target}


def tells_classes_apart(extractor: Any, head: Any, settled: Mapping[str, Any]) -> bool:
    """Return True if a search predicts labels, so that folds are stratified."""
    model = last_step(extractor)
    if head is not None:
        return is_classifier(head)
    return is_classifier(model) or (predicts(model) and "classes" in settled.values())


def with_widths(extractor: Any, settings: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the settings, each with all the widths that ``gamma="cv"`` stands for."""
    name, model = name_in_pipeline(extractor, "gamma"), last_step(extractor)
    if not model._has_open_width:
        return settings
    widths = WIDTHS if "gamma" in kernel_class(model.kernel).parameter_names() else ("scale",)
    return [
        {name: width, **setting}
        for setting in settings
        for width in (widths[:1] if name in setting else widths)
    ]
