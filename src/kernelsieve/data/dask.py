"""Samples in Dask collections: summed up where the chunks are, by whatever scheduler is active."""

from __future__ import annotations

import pickle
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import accumulate, pairwise
from typing import Any

import cloudpickle
import dask
import dask.array
import numpy as np
from dask.callbacks import Callback
from dask.delayed import Delayed, delayed

from ..exceptions import InvalidDataError, warn
from .blocks import Batch, row_slices
from .sources import FrameColumns, Part, Source, is_frame
from .tasks import RowWise, Summing, distinct_labels, merged
from .threads import counted, is_reported

with suppress(ImportError):  # its own settings are lost when one is changed before it is imported
    import_module("distributed")

_FAN_IN = 8  # sums that one task merges
_TASK_BYTES = 2**25  # of chunks that one task sums up, unless one of them is larger
_MANY_TASKS = 16


def open_collection(
    X: Any, y: Any = None, weight: Any = None, inputs: Sequence[str] | None = None
) -> DaskSource:
    """Return the source of a ``dask.array`` or a ``dask.dataframe``."""
    if not isinstance(X, Delayed) and getattr(X, "ndim", 0) == 2:
        is_array = isinstance(X, dask.array.Array)
        return ArraySource(X, y, weight) if is_array else FrameSource(X, y, weight, inputs)
    raise InvalidDataError(f"X is {X!r}; of Dask, pass an array of two dimensions or a data frame.")


class DaskSource(Source):
    """Samples in chunks, each of which a task reads, checks and sums up.

    Targets and weights are cut as X is. The sizes of chunks must be known, so that errors name rows and
    samples are drawn from all; where they are not, as in a data frame, one more pass counts them. What
    ``apply`` returns is lazy, and has the chunks of X.
    """

    in_memory = "X.compute()"
    is_lazy = True

    n_columns: int  # of X

    @cached_property
    @abstractmethod
    def lengths(self) -> tuple[int, ...]:
        """Numbers of samples of the chunks."""

    @cached_property
    @abstractmethod
    def parts(self) -> list[Any]:
        """The samples of every chunk, not computed yet."""

    @property
    def starts(self) -> list[int]:
        """Numbers of the first samples of the chunks."""
        return [start for start, _ in self._bounds]

    @cached_property
    def _bounds(self) -> list[tuple[int, int]]:
        return list(pairwise([0, *accumulate(self.lengths)]))

    @property
    def n_rows(self) -> int:
        return sum(self.lengths)

    def __iter__(self) -> Iterator[Part]:
        for part in self.parts:
            (found,) = _compute([part])
            if len(found):
                yield found

    def labels(self) -> np.ndarray:
        return np.unique(list(set().union(*_compute(_each(distinct_labels, self.parts)))))

    def take(self, rows: np.ndarray) -> Part:
        wanted = (rows[slice(*ends)] for ends in np.searchsorted(rows, self._bounds))
        found = [
            delayed(Part.take, pure=False)(part, inside - start)
            for part, start, inside in zip(self.parts, self.starts, wanted, strict=True)
            if len(inside)
        ]
        return Part.joined(_compute(found))

    def sum_up(self, check: Callable[[Part], Batch], empty: Any, add: Any) -> Any:
        """Sum up chunks in tasks of their own, and merge the sums by a tree.

        Sums may be larger than small chunks, so a task takes several of these one after the other,
        unless few tasks would be left.
        """
        small = _TASK_BYTES // (8 * self.n_columns * max(1, *self.lengths))
        size = int(np.clip(min(small, len(self.lengths) // _MANY_TASKS), 1, None))
        groups, summing = list(row_slices(len(self.lengths), size)), _once(Summing(check, empty, add))
        parts, starts, lengths = (
            [values[group] for group in groups] for values in (self.parts, self.starts, self.lengths)
        )
        sums = _each(_sums, [summing] * len(groups), parts, starts)
        with _followed(sums, list(map(sum, lengths))) as sums:
            while len(sums) > 1:
                sums = _each(merged, [sums[i : i + _FAN_IN] for i in range(0, len(sums), _FAN_IN)])
            return _compute(sums)[0]

    def aligned(self, values: Any, role: str) -> list[Any]:
        """Return targets or weights cut as X is."""
        if values is None:
            return [None] * len(self.lengths)
        if not dask.is_dask_collection(values):
            self._check_length(len(values := np.asarray(values)), role)
            return [values[start:stop] for start, stop in self._bounds]
        chunks, lengths = _chunks(values), _lengths(values)
        self._check_length(sum(lengths), role)
        if lengths == self.lengths:
            return chunks
        starts, aligned = np.cumsum([0, *lengths]), []
        for start, stop in self._bounds:
            inside = np.flatnonzero((starts[:-1] < stop) & (starts[1:] > start))
            first, last = inside[[0, -1]] if len(inside) else (0, 0)
            cut = start - starts[first], stop - start
            aligned.append(delayed(_cut, pure=False)(*cut, *chunks[first : last + 1]))
        return aligned

    def _check_length(self, length: int, role: str) -> None:
        if length != self.n_rows:
            raise InvalidDataError(
                f"{role} has {length} entries and X has {self.n_rows} rows; they must be equal."
            )


class ArraySource(DaskSource):
    """The rows of a ``dask.array``; targets and weights are arrays of Dask or NumPy."""

    def __init__(self, X: Any, y: Any, weight: Any) -> None:
        if X.numblocks[1] > 1:
            warn(
                f"X has {X.numblocks[1]} chunks along its columns, and a kernel needs whole samples: "
                "they are joined, which moves data. Pass X.rechunk({1: -1}) to do so once.",
                dask.array.PerformanceWarning,
            )
            X = X.rechunk({1: -1})
        self._X, self._y, self._weight = X, y, weight
        self.n_columns = X.shape[1]

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        return _lengths(self._X)

    @cached_property
    def parts(self) -> list[Any]:
        y, weight = self.aligned(self._y, "y"), self.aligned(self._weight, "sample_weight")
        return _each(Part, _chunks(self._X), y, weight)

    def apply(self, function: Callable[[Any], Any]) -> Any:
        X = self._X
        example = function(np.ones((1, X.shape[1]), X.dtype))
        row_wise = _once(RowWise(function, example[:0]))
        if is_frame(example):
            from dask.dataframe import from_delayed

            frames = _each(_apply, _chunks(X), [row_wise] * X.numblocks[0])
            return from_delayed(frames, meta=example[:0], verify_meta=False)
        return X.map_blocks(
            _apply_to_block,
            row_wise,
            chunks=(X.chunks[0], *((size,) for size in example.shape[1:])),
            drop_axis=[] if example.ndim == 2 else 1,
            dtype=example.dtype,
            meta=example[:0],
        )


class FrameSource(DaskSource):
    """The rows of a ``dask.dataframe``; targets and weights are names of columns, or series."""

    def __init__(self, frame: Any, y: Any, weight: Any, inputs: Sequence[str] | None) -> None:
        target, of_weights = (value if isinstance(value, str) else None for value in (y, weight))
        self._columns = FrameColumns.among(list(frame.columns), target, of_weights, inputs)
        self._frame = frame[self._columns.names]
        self.n_columns = len(self._columns.inputs)
        self._given = {
            role: None if isinstance(value, str) else value
            for role, value in (("y", y), ("sample_weight", weight))
        }

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        return _lengths(self._frame[self._columns.names[:1]])  # no file need be read for more

    @cached_property
    def parts(self) -> list[Any]:
        others = (self.aligned(values, role) for role, values in self._given.items())
        return _each(self._columns.part, _chunks(self._frame), *others)

    def apply(self, function: Callable[[Any], Any]) -> Any:
        from dask.dataframe.utils import make_meta

        frame = self._frame[self._columns.inputs]
        of_none = make_meta(frame)
        example = function(of_none.reindex([0], fill_value=1).astype(of_none.dtypes))
        row_wise = _once(RowWise(function, example[:0]))
        return frame.map_partitions(_apply, row_wise, meta=example[:0])


@contextmanager
def _followed(tasks: list[Any], lengths: Sequence[int]) -> Iterator[list[Any]]:
    """Count rows as tasks end, where progress is to be shown; a cluster begins with them at once."""
    if not is_reported():
        yield tasks
        return
    rows = {task.key: length for task, length in zip(tasks, lengths, strict=True)}
    client = getattr(dask.base.get_scheduler(), "__self__", None)  # None on this machine
    with counted(sum(lengths)) as done:
        if client is None:
            with Callback(posttask=lambda key, *_: done(rows.get(key, 0))):
                yield tasks
        else:
            futures = client.compute(tasks)
            for future in import_module("distributed").as_completed(futures):
                done(rows[future.key])
            yield futures


@dataclass
class _Sent:
    """A value that is pickled once, before any task uses it.

    A worker passes on to others what its own tasks are using. What changes meanwhile, as objects with
    cached properties do, cannot be pickled, and whoever waits for it waits for ever.
    """

    value: Any

    @cached_property
    def pickled(self) -> bytes:
        return cloudpickle.dumps(self.value)

    def __reduce__(self) -> tuple[Callable[[bytes], _Sent], tuple[bytes]]:
        return _received, (self.pickled,)


def _received(pickled: bytes) -> _Sent:
    sent = _Sent(pickle.loads(pickled))
    sent.pickled = pickled
    return sent


def _sums(sent: _Sent, parts: Sequence[Part], starts: Sequence[int]) -> Any:
    summing: Summing = sent.value
    sums = summing.empty()
    for part, start in zip(parts, starts, strict=True):
        summing.add(sums, part, start)
    return sums


def _apply(X: Any, row_wise: _Sent) -> Any:
    return row_wise.value(X)


def _apply_to_block(X: Any, row_wise: _Sent, block_info: Any = None) -> Any:
    start = block_info[0]["array-location"][0][0]
    return row_wise.value(X, 0 if np.isnan(start) else int(start))


def _cut(start: int, size: int, *chunks: Any) -> Any:
    """Return some rows of successive chunks."""
    return Part.joined(list(map(Part, chunks))).take(np.arange(start, start + size)).X


def _each(function: Callable[..., Any], *values: Iterable[Any]) -> list[Any]:
    """Return one task for each of some values."""
    return [delayed(function, pure=False)(*of_task) for of_task in zip(*values, strict=True)]


def _once(value: Any) -> Any:
    """Return a value as one key of a graph, which goes to each worker once."""
    return delayed(_Sent(value), pure=False, traverse=False)


def _compute(values: Iterable[Any]) -> tuple[Any, ...]:
    """Compute by the caller's scheduler; candidates are in the graph, once, so it may be large."""
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GiB"}):
        return dask.compute(*values)


def _chunks(values: Any) -> list[Any]:
    """Return the chunks of rows of an array or a data frame, not computed yet."""
    if len(getattr(values, "numblocks", ())) == 2:
        values = values.rechunk({1: -1})
    chunks = values.to_delayed()
    return list(getattr(chunks, "flat", chunks))


def _lengths(values: Any) -> tuple[int, ...]:
    """Return the numbers of rows of chunks, which are counted where they are not known."""
    known = getattr(values, "chunks", ((np.nan,),))[0]
    if np.isnan(known).any():
        return tuple(shape[0] for shape in _compute(_each(np.shape, _chunks(values))))
    return tuple(map(int, known))
