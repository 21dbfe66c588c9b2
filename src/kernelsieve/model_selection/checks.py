"""What a search refuses before any work is done, and what it warns of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import is_regressor

from ..exceptions import InvalidParameterError, warn
from ..rows import TargetEncoder
from .nested_extractors import last_step


def check_head(head: Any) -> None:
    """Refuse a head that cannot predict."""
    if head is None or (hasattr(head, "predict") and hasattr(head, "get_params")):
        return
    raise InvalidParameterError(
        f"head={head!r} does not predict; pass a predictor of scikit-learn, such as Ridge() or "
        "LogisticRegression(), or None for an extractor that predicts by itself."
    )


def check_folds(cv: Any, folds: Sequence[Any]) -> None:
    """Refuse a splitter that gave nothing."""
    if not len(folds):
        raise InvalidParameterError(
            f"cv={cv!r} gave no folds; pass a number of folds, a splitter, or pairs of training and "
            "test samples."
        )


def warn_of_labels(extractor: Any, head: Any, y: Any) -> None:
    """Warn where the extractor takes for labels what the head takes for numbers.

    Of two labels the extractor's columns are the numbers, but for scale and sign.
    """
    if y is None or head is None or not is_regressor(head):
        return
    if getattr(last_step(extractor), "target", None) != "auto":
        return
    classes = TargetEncoder.for_target(y, "auto").classes
    if classes is not None and len(classes) > 2:
        warn(
            f"{type(last_step(extractor)).__name__} takes whole numbers for the labels of "
            f"{len(classes)} classes, and {type(head).__name__} takes them for numbers; for numbers "
            "pass y.astype(float) or an extractor with target='continuous'.",
            UserWarning,
        )
