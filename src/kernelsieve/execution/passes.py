"""One pass over rows into a statistic, and one pass of features out of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ..rows import AugmentedBlock, Batch, row_slices, rows_per_block
from ..statistics import Statistic
from .threads import run_blocks

#: The weighted sum of k(x, x) over a batch.
TraceOf = Callable[[Batch], float]


def gather(
    batches: Iterable[Batch],
    frame: AugmentedBlock,
    make_statistic: Callable[[int], Statistic],
    *,
    trace_of: TraceOf | None = None,
    block_rows: int | None = None,
    n_jobs: int | None = None,
) -> Statistic:
    """Pass once over all rows; nothing larger than a block of columns is ever held."""
    statistic = make_statistic(frame.n_lines)
    for batch in batches:
        absorb(statistic, [batch], frame, trace_of=trace_of, block_rows=block_rows, n_jobs=n_jobs)
    return statistic


def absorb(
    statistic: Statistic,
    batches: Sequence[Batch],
    frame: AugmentedBlock,
    *,
    trace_of: TraceOf | None = None,
    block_rows: int | None = None,
    n_jobs: int | None = None,
) -> None:
    """Add the rows of batches to a statistic; an error leaves the statistic as it was."""
    size = block_rows or rows_per_block(frame.n_lines)
    blocks = [batch[rows] for batch in batches for rows in row_slices(len(batch), size)]
    workers = run_blocks(blocks, lambda: _Accumulator(frame, statistic.empty(), trace_of), n_jobs)
    for worker in workers:
        worker.statistic.check_finite()
    for worker in workers:
        statistic.merge(worker.statistic)


class _Accumulator:
    """A worker with a statistic and a buffer of its own."""

    def __init__(self, frame: AugmentedBlock, statistic: Statistic, trace_of: TraceOf | None) -> None:
        self.statistic = statistic
        self._frame = frame
        self._trace_of = trace_of
        self._buffer = np.empty(0)

    def __call__(self, block: Batch) -> None:
        size = self._frame.n_lines * len(block)
        if self._buffer.size < size:
            self._buffer = np.empty(size)
        out = self._buffer[:size].reshape(self._frame.n_lines, len(block))
        trace = self._trace_of(block) if self._trace_of is not None else 0.0
        self.statistic.update(self._frame.lines(block, out), trace, block.weight, block.codes)
