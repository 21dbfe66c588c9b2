"""What transformations of the rows change in columns: one closure, and the sums of its squares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..data import Batch, sum_up
from ..kernels import Filler, Rows
from .passes import AugmentedBlock, WeightedBlock, absorb_weighted
from .statistic import GramStatistic


@dataclass(frozen=True)
class Change:
    """A transformation of rows, and how much the squared changes under it weigh."""

    move: Callable[[Rows], Rows]
    weight: float


def change_block(fill: Filler, move: Callable[[Rows], Rows], n_columns: int) -> AugmentedBlock:
    """Return what fills lines with values less those of the moved rows."""

    def fill_changes(X: Rows, out: np.ndarray) -> None:
        fill(X, out)
        moved = np.empty_like(out)
        fill(move(X), moved)
        out -= moved

    return AugmentedBlock(fill_changes, np.zeros(n_columns), np.zeros(0))


def change_blocks(changes: Sequence[Change], fill: Filler, n_columns: int) -> list[WeightedBlock]:
    """Return what sums up several changes of columns together."""
    return [(change.weight, change_block(fill, change.move, n_columns)) for change in changes]


def change_products(
    changes: Sequence[Change],
    batches: Iterable[Batch],
    fill: Filler,
    n_columns: int,
    *,
    block_rows: int | None = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Return inner products of the changes of columns, summed over all rows."""
    blocks = change_blocks(changes, fill, n_columns)
    add = partial(absorb_weighted, blocks=blocks, block_rows=block_rows, n_jobs=n_jobs)
    return sum_up(batches, partial(GramStatistic, 1 + n_columns), add).gram[1:, 1:]
