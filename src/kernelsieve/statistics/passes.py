"""One pass over samples: each block becomes lines of a matrix, and a statistic takes them in."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..data import Batch, Summation, advance, row_slices, rows_per_block, run_blocks, sum_up
from ..kernels import Filler
from .base import Statistic

#: The weighted sum of k(x, x) over a batch.
TraceOf = Callable[[Batch], float]


@dataclass(frozen=True)
class AugmentedBlock:
    """Fills ``[1 | Y | columns]'`` for a block of rows, less a shift of columns and targets.

    Labels of many classes have no lines, and no shift.

    With a shift near their means, the sums of squares keep the digits that centring afterwards would
    lose.
    """

    fill: Filler  # writes the columns as lines
    shift: np.ndarray  # of the columns
    target_shift: np.ndarray
    dtype: type = np.float64  # in which columns are filled in; the lines themselves are float64

    @property
    def n_lines(self) -> int:
        """Number of lines: one, the targets, the columns."""
        return 1 + len(self.target_shift) + len(self.shift)

    def lines(self, batch: Batch, out: np.ndarray) -> np.ndarray:
        """Write the lines of a batch into ``out``, of shape ``(n_lines, len(batch))``."""
        first = 1 + len(self.target_shift)
        out[0] = 1.0
        if first > 1:
            np.subtract(batch.Y.T, self.target_shift[:, None], out=out[1:first])
        columns = out[first:]
        if self.dtype == np.float64:
            self.fill(batch.X, columns)
        else:
            narrow: np.ndarray = np.empty(columns.shape, self.dtype)
            self.fill(batch.X, narrow)
            columns[...] = narrow
        columns -= self.shift[:, None]
        return out


def gather(
    batches: Iterable[Batch],
    frame: AugmentedBlock,
    make_statistic: Callable[[int], Statistic],
    **how: Any,
) -> Statistic:
    """Pass once over all rows, as :func:`absorb` does; no more than a block of columns is held."""
    empty = partial(make_statistic, frame.n_lines)
    return sum_up(batches, Summation(empty, partial(absorb, frame=frame, in_place=True, **how)))


def absorb(
    statistic: Statistic,
    batches: Batch | Sequence[Batch],
    frame: AugmentedBlock,
    *,
    trace_of: TraceOf | None = None,
    block_rows: int | None = None,
    n_jobs: int | None = None,
    again: bool = False,
    in_place: bool = False,
) -> None:
    """Add the rows of batches to a statistic; an error leaves it as it was, unless ``in_place``.

    Rows that are passed over ``again`` are not counted as progress.
    """
    done = None if again else advance()
    size = block_rows or rows_per_block(frame.n_lines)
    batches = [batches] if isinstance(batches, Batch) else batches
    blocks = [batch[rows] for batch in batches for rows in row_slices(len(batch), size)]
    parts: list[Statistic] = []  # one a worker

    def make_worker() -> Callable[[Batch], None]:
        own = statistic if in_place and not parts else statistic.empty()
        parts.append(own)

        def take_in(block: Batch) -> None:
            out = _buffer(frame.n_lines * len(block)).reshape(frame.n_lines, len(block))
            trace = 0.0 if trace_of is None else trace_of(block)
            own.update(frame.lines(block, out), trace, block.weight, block.codes)
            if done is not None:
                done(len(block))

        return take_in

    run_blocks(blocks, make_worker, n_jobs)
    for part in parts:
        part.check_finite()
    for part in parts:
        if part is not statistic:
            statistic.merge(part)


_kept = threading.local()


def _buffer(size: int) -> np.ndarray:
    """Return room for so many numbers, which a thread keeps: new memory takes a while to be there."""
    if getattr(_kept, "buffer", np.empty(0)).size < size:
        _kept.buffer = np.empty(size)
    return np.asarray(_kept.buffer[:size])
