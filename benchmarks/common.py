"""Timing and tables for all benchmarks."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from kernelsieve import SparseMaximalAlignment
from kernelsieve.datasets import make_interactions

from .record import part, table_part


def seconds(work: Callable[[], object], repeat: int = 5) -> float:
    """Return the shortest of some runs: on a shared machine the others measure the neighbours."""
    best = float("inf")
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


# The threads of BLAS go on spinning for a while after a product, on the cores that the next work needs.
REST = 0.1


def in_turns(*works: Callable[[], object], repeat: int = 5, rest: float = REST) -> list[float]:
    """Time several works in turns, so that a slow spell of the machine hits all of them.

    Before each there are ``rest`` seconds in which nothing runs.
    """
    best = [float("inf")] * len(works)
    for _ in range(repeat):
        for i, work in enumerate(works):
            time.sleep(rest)
            best[i] = min(best[i], seconds(work, 1))
    return best


def warm_up() -> None:
    """Let everything be compiled and loaded before anything is timed."""
    X, y = make_interactions(500, 5, random_state=0)
    for candidates in ("all", 50):
        SparseMaximalAlignment(5, candidates=candidates).fit(X, y).transform(X)


def peak_megabytes() -> float:
    """Return the high-water mark of this process's memory.

    ``getrusage`` would do, but a new process starts with the mark of the one that started it.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return float("nan")


def in_own_process(work: Callable[..., Any], *args: object) -> Any:
    """Run a function of a module in a new process: peak memory is a high-water mark of a process."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *args).result()


def heading(text: str) -> None:
    with part("heading", text):
        print(f"\n{text}\n{'-' * len(text)}")


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print columns, the first to the left and numbers to the right."""
    rows = [list(row) for row in rows]
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
