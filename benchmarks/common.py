"""Timing and tables for all benchmarks."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from statistics import mean, median
from typing import Any, ClassVar, Self

from kernelsieve import SparseMaximalAlignment
from kernelsieve.datasets import make_interactions

from .peers_external.memory import forget_peak as forget_peak
from .peers_external.memory import peak_megabytes as peak_megabytes
from .record import part, table_part


class Spread(float):
    """The median of some numbers, which tables show with the smallest and the largest of them."""

    values: tuple[float, ...]
    centre: ClassVar[Callable[[Sequence[float]], float]] = staticmethod(median)

    def __new__(cls, values: Iterable[float]) -> Self:
        values = tuple(values)
        self = super().__new__(cls, cls.centre(values))
        self.values = values
        return self

    def __getnewargs__(self) -> tuple[tuple[float, ...]]:
        """Return what a copy in another process is made of."""
        return (self.values,)

    def __mul__(self, factor: float) -> Spread:
        return Spread(value * factor for value in self.values)

    __rmul__ = __mul__

    def __truediv__(self, other: float) -> float:
        return float(self) / float(other) if isinstance(other, Spread) else self * (1 / other)

    def __str__(self) -> str:
        middle = f"{float(self):.3g}"
        low, high = min(self.values), max(self.values)
        return middle if len(self.values) == 1 else f"{middle} ({low:.3g} to {high:.3g})"


class Mean(Spread):
    """The mean of some numbers, likewise."""

    centre: ClassVar[Callable[[Sequence[float]], float]] = staticmethod(mean)


def seconds(work: Callable[[], object], repeat: int = 5) -> Spread:
    """Return what some runs take."""
    return Spread(_one_run(work) for _ in range(repeat))


def _one_run(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


# The threads of BLAS go on spinning for a while after a product, on the cores that the next work needs.
REST = 0.1


def in_turns(*works: Callable[[], object], repeat: int = 5, rest: float = REST) -> list[Spread]:
    """Time several works in turns, so that a slow spell of the machine hits all of them.

    Before each there are ``rest`` seconds in which nothing runs.
    """
    taken: list[list[float]] = [[] for _ in works]
    for _ in range(repeat):
        for runs, work in zip(taken, works, strict=True):
            time.sleep(rest)
            runs.append(_one_run(work))
    return list(map(Spread, taken))


def measured_in_turns(
    *works: Callable[[], Sequence[float]], repeat: int = 3
) -> list[tuple[Spread, ...]]:
    """Return what works that measure themselves found, each time after all the others."""
    runs = [[work() for work in works] for _ in range(repeat)]
    return [tuple(map(Spread, zip(*of_work, strict=True))) for of_work in zip(*runs, strict=True)]


def warm_up() -> None:
    """Let everything be compiled and loaded before anything is timed."""
    X, y = make_interactions(500, 5, random_state=0)
    for candidates in ("all", 50):
        SparseMaximalAlignment(5, candidates=candidates).fit(X, y).transform(X)


def in_own_process(work: Callable[..., Any], *args: object) -> Any:
    """Run a function of a module in a new process: peak memory is a high-water mark of a process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *args).result()


def heading(text: str) -> None:
    with part("heading", text):
        print(f"\n{text}\n{'-' * len(text)}")


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print columns, the first to the left and numbers to the right."""
    rows = [[str(cell) if isinstance(cell, Spread) else cell for cell in row] for row in rows]
    cells = [[text_of(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *cells, strict=True)]
    with part("table", table_part(header, rows)):
        for row in (header, *cells):
            first, *rest = (
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            print("  ".join([first, *rest]))


def verdict(statement: str, value: float, limit: float, *, at_least: bool) -> None:
    """Print a ratio beside what is asked of it."""
    good = bool(value >= limit if at_least else value <= limit)
    relation = "at least" if at_least else "at most"
    line = f"{statement}: {value:.2f} ({relation} {limit:g} asked)"
    with part("verdict", {"good": good, "text": line}):
        print(f"{mark(good)} {line}")


def mark(good: bool) -> str:
    return "ok  " if good else "MISS"


def text_of(cell: object) -> str:
    return f"{cell:.3g}" if isinstance(cell, float) else str(cell)
