"""Out of core: batches, and what the first of them must have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ..data import Batch
from ..exceptions import InvalidDataError
from .candidates import Candidates


@dataclass(frozen=True)
class RepeatableBatches:
    """Batches of the user's that can be gone through again, checked each time."""

    raw: Iterable[Any]
    check: Callable[[Any], Batch]

    def __iter__(self) -> Iterator[Batch]:
        return map(self.check, self.raw)


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


def check_first_batch(
    n_samples: int, rule: Candidates, n_components: int | None, name: str = "candidates"
) -> None:
    """Refuse a first batch with fewer samples that count than candidates are to be drawn from it.

    Without a number, these are as many as the samples, up to some limit.
    """
    number = int(rule.size) if rule.is_number else 0
    if n_samples == 0:
        raise InvalidDataError(
            "All sample weights of the first batch are zero, and candidates are drawn from it; begin "
            f"with a batch in which at least one is positive, or pass {name} as an array of points."
        )
    if n_samples < number:
        raise InvalidDataError(
            f"{name}={number} are drawn from the first batch, which has {n_samples} rows that "
            f"count; make the first batch larger, lower {name}, or pass an array of points."
        )
    if n_samples < (n_components or 0):
        raise InvalidDataError(
            f"n_components={n_components} needs as many candidates, and they are drawn from the first "
            f"batch, which has {n_samples} rows that count; make the first batch larger, lower "
            f"n_components, or pass {name} as an array of points."
        )
