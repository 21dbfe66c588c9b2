"""Rows that come in pieces: what is remembered between the pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..columns import Batch, Pool
from ..exceptions import InvalidDataError
from ..kernels import Kernel
from .targets import TargetEncoder


@dataclass
class Stream:
    """Everything settled at the first piece, and the statistic of all pieces."""

    kernel: Kernel
    pool: Pool
    W: np.ndarray
    encoder: TargetEncoder
    target_shift: np.ndarray
    statistic: Any = None  # of the kind that the estimator's pass makes


class RepeatableBatches:
    """Batches of the user's that can be gone through again, checked each time."""

    def __init__(self, raw: Iterable[Any], check: Callable[[Any], Batch]) -> None:
        self._raw = raw
        self._check = check

    def __iter__(self) -> Iterator[Batch]:
        return map(self._check, self._raw)


def split_item(item: Any) -> tuple[Any, Any, Any]:
    """Take one item of ``fit_batches`` apart: X, (X, y) or (X, y, sample_weight)."""
    if not isinstance(item, tuple):
        return item, None, None
    if not 1 <= len(item) <= 3:
        raise InvalidDataError(
            f"A batch has {len(item)} parts; it must be X, (X, y) or (X, y, sample_weight)."
        )
    X, y, weight = (*item, None, None)[:3]
    return X, y, weight
