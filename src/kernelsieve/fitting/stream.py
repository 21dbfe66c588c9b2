"""Rows that come in pieces: what is remembered between the pieces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ..exceptions import InvalidDataError
from ..kernels import Kernel, Precomputed
from ..rows import Batch, Pool, TargetEncoder


@dataclass
class Stream:
    """Everything settled at the first piece, and the statistic of all pieces."""

    kernel: Kernel
    pool: Pool
    W: np.ndarray
    encoder: TargetEncoder
    target_shift: np.ndarray
    statistic: Any = None  # of the kind that the estimator's pass makes

    def renumbered(self, kept: np.ndarray, n_columns: int) -> Self:
        """Return the stream of the kept rows with the numbers that they have among all rows."""
        kernel, pool = self.kernel, Pool(self.pool.points, kept[self.pool.indices])
        if isinstance(kernel, Precomputed):
            kernel, pool = Precomputed(n_columns), Pool(kept[pool.points], pool.indices)
        return replace(self, kernel=kernel, pool=pool)


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


def check_first_batch(n_rows: int, n_candidates: int, n_components: int | None, name: str) -> None:
    """Refuse a first batch with fewer rows that count than candidates are to be drawn from it.

    Without a number, these are as many as the rows, up to some limit.
    """
    if n_rows == 0:
        raise InvalidDataError(
            "All sample weights of the first batch are zero, and candidates are drawn from it; begin "
            f"with a batch in which at least one is positive, or pass {name} as an array of points."
        )
    if n_rows < n_candidates:
        raise InvalidDataError(
            f"{name}={n_candidates} are drawn from the first batch, which has {n_rows} rows that "
            f"count; make the first batch larger, lower {name}, or pass an array of points."
        )
    if n_rows < (n_components or 0):
        raise InvalidDataError(
            f"n_components={n_components} needs as many candidates, and they are drawn from the first "
            f"batch, which has {n_rows} rows that count; make the first batch larger, lower "
            f"n_components, or pass {name} as an array of points."
        )
