"""Samples that are not in memory: read in parts, in order, as often as need be."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from ..exceptions import InvalidDataError
from .blocks import Batch, row_slices, rows_from, sum_up

_PART_BYTES = 2**25  # of X that are read together
_FEWEST_ROWS = 256

_Sums = TypeVar("_Sums")


@dataclass(frozen=True)
class Part:
    """Samples as they were read, unchecked: arrays, or a data frame and its columns."""

    X: Any
    y: Any = None
    weight: Any = None

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def take(self, rows: np.ndarray) -> Part:
        """Return the samples of these numbers in this part."""
        return Part(*(None if v is None else getattr(v, "iloc", v)[rows] for v in self._columns))

    @property
    def _columns(self) -> tuple[Any, Any, Any]:
        return self.X, self.y, self.weight

    @classmethod
    def joined(cls, parts: Sequence[Part]) -> Part:
        """Return parts one after the other."""
        columns = zip(*(part._columns for part in parts), strict=True)
        return cls(*(None if values[0] is None else _concatenated(values) for values in columns))


@dataclass(frozen=True)
class FrameColumns:
    """The columns of a table that are inputs, target and weight."""

    inputs: list[str]
    target: str | None
    weight: str | None

    @classmethod
    def among(
        cls, names: Sequence[str], target: Any, weight: Any, inputs: Sequence[str] | None
    ) -> FrameColumns:
        """Return the columns of a table of these names; by default all others are inputs."""
        for name, role in ((target, "y"), (weight, "sample_weight")):
            if not isinstance(name, str | None):
                raise InvalidDataError(
                    f"{role} must be the name of a column where X is a table of named columns; it is "
                    f"of type {type(name).__name__}."
                )
            if name is not None and name not in names:
                raise InvalidDataError(f"{role}={name!r} is no column of X, which has {list(names)}.")
        if inputs is None:
            inputs = [name for name in names if name not in (target, weight)]
        missing = [name for name in inputs if name not in names]
        if missing:
            raise InvalidDataError(
                f"X has no column {missing[0]!r}, which was there in fit; it has {list(names)}."
            )
        if not len(inputs):
            raise InvalidDataError(
                "X has no column beside targets and weights; at least one is needed."
            )
        return cls(list(inputs), target, weight)

    @property
    def names(self) -> list[str]:
        return [*self.inputs, *(name for name in (self.target, self.weight) if name is not None)]

    def part(self, frame: Any, y: Any = None, weight: Any = None) -> Part:
        """Return samples, with the given target and weight where they are no columns."""
        return Part(
            frame[self.inputs],
            y if self.target is None else frame[self.target],
            weight if self.weight is None else frame[self.weight],
        )


def is_frame(values: Any) -> bool:
    """Return True for a data frame or a column of one, whose rows are taken by ``iloc``."""
    return getattr(values, "iloc", None) is not None


def count_rows(X: Any) -> int:
    """Return the number of rows of an array, a sparse matrix, a data frame or a list."""
    shape = getattr(X, "shape", None)
    return len(X) if shape is None else int(shape[0])


def _concatenated(values: Sequence[Any]) -> Any:
    if not is_frame(values[0]):
        return np.concatenate(values)
    import pandas

    return pandas.concat(values, ignore_index=True)


class Source(ABC):
    """Samples that are read in parts, from a file or on a cluster."""

    #: How a user would bring all samples into memory.
    in_memory: ClassVar[str] = "numpy.asarray(X)"
    #: Whether results of :meth:`apply` are computed when they are asked for.
    is_lazy: ClassVar[bool] = False

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of samples."""

    @abstractmethod
    def __iter__(self) -> Iterator[Part]:
        """Read all samples in order, a part at a time."""

    @abstractmethod
    def labels(self) -> np.ndarray:
        """Return the different values of the target."""

    def sample(self, size: int, random_state: Any) -> tuple[Part, np.ndarray]:
        """Draw samples, all of them alike, and tell their numbers, which ascend."""
        n_rows = self.n_rows
        if n_rows == 0:
            raise InvalidDataError(
                "Found array with 0 sample(s) while a minimum of 1 is required; look at the source."
            )
        numbers = np.arange(n_rows)
        if size < n_rows:
            numbers = np.sort(check_random_state(random_state).choice(n_rows, size, replace=False))
        return self.take(numbers), numbers

    def take(self, rows: np.ndarray) -> Part:
        """Return the samples of these numbers, which ascend."""
        start, found = 0, []
        for part in self:
            stop = start + len(part)
            inside = rows[np.searchsorted(rows, start) : np.searchsorted(rows, stop)]
            if len(inside):
                found.append(part.take(inside - start))
            start = stop
        return Part.joined(found)

    @property
    def rows_known(self) -> int | None:
        """Number of samples, if to find it takes no pass over them."""
        return self.n_rows

    def sum_up(
        self,
        check: Callable[[Part], Batch],
        empty: Callable[[], _Sums],
        add: Callable[[_Sums, Batch], None],
    ) -> _Sums:
        """Check and sum up all samples: here, unless an engine does it where they are."""
        return sum_up(self.checked(check), empty, add, self.rows_known)

    def checked(self, check: Callable[[Part], Batch]) -> Iterator[Batch]:
        """Yield one checked part after the other."""
        start = 0
        for part in self:
            with rows_from(start):
                batch = check(part)
            yield batch
            start += len(part)

    def apply(self, function: Callable[[Any], np.ndarray]) -> Any:
        """Return what a function makes of X, a part at a time."""
        return np.concatenate(list(self.applied(function)))

    def applied(self, function: Callable[[Any], np.ndarray]) -> Iterator[np.ndarray]:
        """Yield what a function makes of X, for one part after the other."""
        start = 0
        for part in self:
            with rows_from(start):
                yield function(part.X)
            start += len(part)


@dataclass(frozen=True)
class SourceBatches:
    """All samples of a source, in checked batches."""

    source: Source
    check: Callable[[Part], Batch]
    sample: Batch  # drawn from all samples

    @property
    def n_rows(self) -> int | None:
        return self.source.rows_known

    def __iter__(self) -> Iterator[Batch]:
        return self.source.checked(self.check)

    def sum_up(self, empty: Callable[[], _Sums], add: Callable[[_Sums, Batch], None]) -> _Sums:
        """Sum up all samples, wherever they are."""
        return self.source.sum_up(self.check, empty, add)


class SlicedSource(Source):
    """Anything with a shape, a type and slices of rows, such as arrays of HDF5 and Zarr."""

    in_memory = "X[:]"

    def __init__(self, X: Any, y: Any = None, weight: Any = None) -> None:
        self._X = X
        self._y, self._weight = (None if v is None else np.asarray(v) for v in (y, weight))
        for name, values in (("y", self._y), ("sample_weight", self._weight)):
            if values is not None and values.shape[:1] != X.shape[:1]:
                raise InvalidDataError(
                    f"{name} has shape {values.shape} and X has {X.shape[0]} rows; they must be equal."
                )

    @staticmethod
    def fits(X: Any) -> bool:
        """Tell if something is read by slices: two-dimensional, and not in memory as an array is."""
        has_slices = getattr(X, "dtype", None) is not None and callable(getattr(X, "__getitem__", None))
        is_in_memory = getattr(X, "__dlpack__", None) is not None
        return has_slices and len(getattr(X, "shape", ())) == 2 and not is_in_memory

    @property
    def n_rows(self) -> int:
        return int(self._X.shape[0])

    def __iter__(self) -> Iterator[Part]:
        return map(self._part, self._slices())

    def labels(self) -> np.ndarray:
        return np.unique(self._y)  # type: ignore[arg-type]

    def take(self, rows: np.ndarray) -> Part:
        found = []
        for of_part in self._slices():
            first, last = np.searchsorted(rows, (of_part.start, of_part.stop))
            if last > first:  # others are not read
                found.append(self._part(of_part).take(rows[first:last] - of_part.start))
        return Part.joined(found)

    def _part(self, rows: slice) -> Part:
        y, weight = (None if v is None else v[rows] for v in (self._y, self._weight))
        return Part(np.asarray(self._X[rows]), y, weight)

    def _slices(self) -> Iterable[slice]:
        """Return slices of whole chunks, as many as are worth a block."""
        width = np.dtype(self._X.dtype).itemsize * max(1, self._X.shape[1])
        size = max(_FEWEST_ROWS, _PART_BYTES // width)
        chunk = (getattr(self._X, "chunks", None) or (1,))[0]
        return row_slices(self.n_rows, max(1, size // chunk) * chunk)
