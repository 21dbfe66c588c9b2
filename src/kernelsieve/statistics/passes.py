"""One pass over rows into a statistic, and one pass of features out of rows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..data import Batch, row_slices, rows_per_block
from ..data.progress import advance
from ..data.threads import run_blocks
from ..data.work import sum_up
from .augmented_block import AugmentedBlock
from .base import Statistic

_Sums = TypeVar("_Sums")

#: The weighted sum of k(x, x) over a batch.
TraceOf = Callable[[Batch], float]


def gather(
    batches: Iterable[Batch],
    frame: AugmentedBlock,
    make_statistic: Callable[[int], Statistic],
    **how: Any,
) -> Statistic:
    """Pass once over all rows; nothing larger than a block of columns is ever held."""
    return sum_up(batches, LineSums(frame, make_statistic, how))


@dataclass(frozen=True)
class LineSums:
    """Sums up the lines of a frame; ``how`` are options of :func:`absorb`."""

    frame: AugmentedBlock
    make_statistic: Callable[[int], Statistic]
    how: dict[str, Any]

    def empty(self) -> Statistic:
        return self.make_statistic(self.frame.n_lines)

    def add(self, sums: Statistic, batch: Batch) -> None:
        absorb(sums, [batch], self.frame, in_place=True, **self.how)


def absorb(
    statistic: Statistic,
    batches: Sequence[Batch],
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
    done = (lambda n_done: None) if again else advance()
    size = block_rows or rows_per_block(frame.n_lines)
    blocks = [batch[rows] for batch in batches for rows in row_slices(len(batch), size)]
    own = iter([statistic] if in_place else [])  # of the first worker

    def make_worker() -> _Accumulator:
        return _Accumulator(frame, next(own, None) or statistic.empty(), trace_of, done)

    workers = run_blocks(blocks, make_worker, n_jobs)
    for worker in workers:
        worker.statistic.check_finite()
    for worker in workers:
        if worker.statistic is not statistic:
            statistic.merge(worker.statistic)


class _Accumulator:
    """A worker with a statistic and a buffer of its own."""

    def __init__(
        self,
        frame: AugmentedBlock,
        statistic: Statistic,
        trace_of: TraceOf | None,
        done: Callable[[int], None],
    ) -> None:
        self.statistic = statistic
        self._frame = frame
        self._trace_of = trace_of
        self._done = done

    def __call__(self, block: Batch) -> None:
        size = self._frame.n_lines * len(block)
        out = _buffer(size).reshape(self._frame.n_lines, len(block))
        trace = self._trace_of(block) if self._trace_of is not None else 0.0
        self.statistic.update(self._frame.lines(block, out), trace, block.weight, block.codes)
        self._done(len(block))


_kept = threading.local()


def _buffer(size: int) -> np.ndarray:
    """Return room for so many numbers, which a thread keeps: new memory takes a while to be there."""
    if getattr(_kept, "buffer", np.empty(0)).size < size:
        _kept.buffer = np.empty(size)
    return np.asarray(_kept.buffer[:size])
