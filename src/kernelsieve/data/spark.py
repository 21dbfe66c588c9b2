"""Samples in a Spark data frame: summed up where the partitions are."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any
from uuid import uuid4

import numpy as np
import pandas
from pyspark import TaskContext
from pyspark.errors import PySparkNotImplementedError, PythonException
from pyspark.sql import functions, types
from sklearn.utils import check_random_state

from ..exceptions import InvalidDataError, InvalidParameterError, KernelError
from .blocks import Batch
from .sources import FrameColumns, Part, Source
from .tasks import RowWise, Summing, example_table, merged, result_table

_FAN_IN = 8  # sums that one task merges
_MANY = 64  # partitions, where Spark Connect does not tell how many there are
_KEY, _COUNT, _RESULT = "kernelsieve_key", "kernelsieve_count", "kernelsieve_result"
_TYPES = {"f": "double", "i": "bigint", "u": "bigint", "b": "boolean"}  # of NumPy's kinds
_OUR_ERRORS = (InvalidDataError, InvalidParameterError, KernelError)


class SparkSource(Source):
    """The rows of a Spark data frame; targets and weights are columns, called by their names.

    Rows of Spark have neither numbers nor an order. So samples are drawn by a hash of their content,
    equal ones as one with its weight, and are the same however the frame is partitioned; landmarks that
    are drawn have the number -1. Errors count rows in a partition, and name it. What ``apply`` returns
    is the frame with the results as further columns.
    """

    in_memory = "X.toPandas()"
    is_lazy = True

    def __init__(
        self, frame: Any, target: Any = None, weight: Any = None, inputs: Sequence[str] | None = None
    ) -> None:
        self._columns = FrameColumns.among(frame.columns, target, weight, inputs)
        for name in self._columns.inputs:
            _check_type(frame.schema[name])
        self._whole = frame
        # Not every function of Spark takes names with dots in them.
        wanted = enumerate(map(_column, self._columns.names))
        self._frame = frame.select(*(column.alias(f"column{i}") for i, column in wanted))

    @cached_property
    def n_rows(self) -> int:
        return int(self._frame.count())

    def labels(self) -> np.ndarray:
        found = self._whole.select(_column(str(self._columns.target))).distinct().collect()
        return np.unique([label for (label,) in found if label is not None and label == label])

    def __iter__(self) -> Iterator[Part]:
        def as_they_are(frames: Iterator[pandas.DataFrame]) -> Iterator[pandas.DataFrame]:
            return (_pickled(frame) for frame in frames)

        for row in self._frame.mapInPandas(as_they_are, "value binary").toLocalIterator():
            yield _part(pickle.loads(row.value), self._columns)

    def sample(self, size: int, random_state: Any) -> tuple[Part, np.ndarray]:
        seed = int(check_random_state(random_state).randint(2**31 - 1))
        key = functions.xxhash64(functions.lit(seed), *self._frame.columns)
        found = _reduced(self._frame.withColumn(_KEY, key), partial(_Drawn, size), _Drawn.add).rows
        if not len(found):
            raise InvalidDataError(
                "Found 0 sample(s) without missing values while a minimum of 1 is required; look at X."
            )
        part, counts = _part(found, self._columns), found[_COUNT]
        if (counts > 1).any():
            part = Part(part.X, part.y, counts if part.weight is None else counts * part.weight)
        return part, np.full(len(found), -1)

    @property
    def rows_known(self) -> None:
        return None

    def sum_up(self, check: Callable[[Part], Batch], empty: Any, add: Any) -> Any:
        """Sum up every partition in a task of its own, and merge the sums by a tree."""
        columns, summing = self._columns, Summing(check, empty, add)

        def add_frame(sums: Any, frame: pandas.DataFrame, start: int) -> None:
            summing.add(sums, _part(frame, columns), start)

        return _reduced(self._frame, empty, add_frame)

    def apply(self, function: Any) -> Any:
        inputs = [self._whole.schema[name] for name in self._columns.inputs]
        example = example_table(function, _row_of_ones(inputs), self._whole.columns)
        schema = types.StructType()
        for name in example:
            schema.add(name, _TYPES.get(example[name].dtype.kind, "string"))
        row_wise = RowWise(partial(result_table, function), example[:0])

        @functions.pandas_udf(schema)
        def results(rows: pandas.DataFrame) -> pandas.DataFrame:
            return row_wise(rows)

        rows = functions.struct(*(_column(field.name) for field in inputs))
        together = self._whole.withColumn(_RESULT, results(rows))
        features = (functions.col(_RESULT)[name].alias(name) for name in example)
        return together.select(*map(_column, self._whole.columns), *features)


# ---------------------------------------------------------------------- what tasks do


class _Drawn:
    """The different rows of the smallest keys, and how often they came."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.rows = pandas.DataFrame()

    def add(self, frame: pandas.DataFrame, start: int) -> None:
        # What is missing is refused in a pass, which knows where it is.
        complete = frame.replace([np.inf, -np.inf], np.nan).dropna()
        self._take_in(complete.assign(**{_COUNT: 1}))

    def merge(self, other: _Drawn) -> None:
        if len(other.rows):
            self._take_in(other.rows)

    def _take_in(self, rows: pandas.DataFrame) -> None:
        if len(self.rows) == self._size:
            rows = rows[rows[_KEY] <= self.rows[_KEY].iloc[-1]]
        together = pandas.concat([self.rows, rows], ignore_index=True) if len(self.rows) else rows
        counts = together.groupby(_KEY)[_COUNT].transform("sum")
        together = together.assign(**{_COUNT: counts}).drop_duplicates(_KEY)
        self.rows = together.sort_values(_KEY, ignore_index=True)[: self._size]


def _reduced(frame: Any, empty: Callable[[], Any], add: Callable[[Any, Any, int], None]) -> Any:
    """Reduce every partition in a task of its own, and merge what comes of them by a tree.

    An error of ours is a result too, so that Spark neither tries again nor tells it by a Java trace.
    """

    def reduce(frames: Iterator[pandas.DataFrame]) -> Iterator[pandas.DataFrame]:
        sums, start = empty(), 0
        try:
            for frame in frames:
                add(sums, frame, start)
                start += len(frame)
        except _OUR_ERRORS as error:
            context = TaskContext.get()
            place = "" if context is None else f"Partition {context.partitionId()}: "
            sums = type(error)(f"{place}{error}")
        yield _pickled(sums)

    def merge(frames: Iterator[pandas.DataFrame]) -> Iterator[pandas.DataFrame]:
        values = [value for frame in frames for value in frame["value"]]
        if values:
            yield _pickled(_merged(values))

    reduced, n_left = frame.mapInPandas(reduce, "value binary"), _n_partitions(frame)
    while n_left > _FAN_IN:
        n_left = -(-n_left // _FAN_IN)
        reduced = reduced.repartition(n_left).mapInPandas(merge, "value binary")
    values = [row.value for row in _collected(reduced)]
    whole = _merged(values) if values else empty()
    if isinstance(whole, Exception):
        raise whole
    return whole


def _collected(frame: Any) -> Any:
    """Return the rows of a frame; after an interrupt nobody waits for the job, so it is cancelled."""
    tag, (add, cancel, remove) = f"kernelsieve-{uuid4()}", _tagging(frame.sparkSession)
    add(tag)
    try:
        return frame.collect()
    except Exception as error:
        _, said, reason = str(error).partition("Job aborted due to stage failure: ")
        if isinstance(error, PythonException) or not said:
            raise
        raise RuntimeError(
            f"Spark gave up: {reason.splitlines()[0]} Mostly executors had too little memory: cut X "
            "into more partitions by X.repartition, give them more by spark.executor.memoryOverhead, "
            "or take fewer candidates. A kernel of your own may have ended its process, too."
        ) from error
    except BaseException:
        cancel(tag)
        raise
    finally:
        remove(tag)


def _tagging(session: Any) -> tuple[Callable[[str], Any], ...]:
    """Return what adds a tag to jobs, cancels those that have it, and removes it."""
    try:
        context = session.sparkContext  # a session forgets its tags when an interrupt cuts it off
    except (AttributeError, PySparkNotImplementedError):  # Spark Connect has none
        return session.addTag, session.interruptTag, session.removeTag
    return context.addJobTag, context.cancelJobsWithTag, context.removeJobTag


def _merged(pickled: Iterable[bytes]) -> Any:
    values = list(map(pickle.loads, pickled))
    errors = [value for value in values if isinstance(value, Exception)]
    return errors[0] if errors else merged(values)


def _pickled(value: Any) -> pandas.DataFrame:
    return pandas.DataFrame({"value": [pickle.dumps(value, protocol=5)]})


# ---------------------------------------------------------------------- columns


def _column(name: str) -> Any:
    """Return a column whose name may have dots in it."""
    return functions.col("`" + name.replace("`", "``") + "`")


def _part(frame: pandas.DataFrame, columns: FrameColumns) -> Part:
    """Return samples whose columns are in their order, and perhaps others after them."""
    names = columns.names
    return columns.part(frame.iloc[:, : len(names)].set_axis(names, axis=1))


def _check_type(field: Any) -> None:
    if not isinstance(field.dataType, types.NumericType | types.BooleanType):
        raise InvalidDataError(
            f"Column {field.name!r} has the type {field.dataType.simpleString()}, and inputs are "
            "numbers; leave it out by X.drop or X.select, or encode it first."
        )


def _row_of_ones(fields: Sequence[Any]) -> pandas.DataFrame:
    kinds = {types.FloatType: np.float32, types.BooleanType: bool}
    columns = {field.name: np.ones(1, kinds.get(type(field.dataType), np.float64)) for field in fields}
    return pandas.DataFrame(columns)


def _n_partitions(frame: Any) -> int:
    try:
        return int(frame.rdd.getNumPartitions())
    except PySparkNotImplementedError:
        return _MANY
