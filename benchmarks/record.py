"""What a benchmark printed, kept as data: headings, tables, verdicts, remarks, and the machine."""

from __future__ import annotations

import contextlib
import json
import math
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from datetime import date
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TextIO

import numpy
import scipy
import sklearn

import kernelsieve

RESULTS = Path(__file__).parent / "results"
DIGITS = 6  # significant ones that are kept; pages show three
PROGRESS = "  "  # lines that begin so tell how far a run is, and are no result


@dataclass(frozen=True)
class Record:
    """A benchmark that ran to its end."""

    benchmark: str
    date: str
    seconds: float
    machine: dict[str, Any]
    versions: dict[str, str]
    parts: list[dict[str, Any]] = field(default_factory=list)

    def below(self, heading: str) -> list[dict[str, Any]]:
        """Return the parts below the headings that begin with a text."""
        found, below = [], False
        for part in self.parts:
            if "heading" in part:
                below = part["heading"].startswith(heading)
            elif below:
                found.append(part)
        return found

    def tables(self, heading: str) -> list[dict[str, Any]]:
        """Return the tables below the headings that begin with a text."""
        return [part["table"] for part in self.below(heading) if "table" in part]


def machine() -> dict[str, Any]:
    """Return what decides over times."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cores": os.cpu_count(),
        "threads of BLAS": os.environ.get("OMP_NUM_THREADS", "as many as cores"),
        "cpu": cpu_model(),
        "memory, GB": round(memory / 2**30, 1),
        "system": system(),
    }


def cpu_model() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def system() -> str:
    with contextlib.suppress(OSError):
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    return f"{platform.system()} {platform.release()}"


def versions() -> dict[str, str]:
    packages = (numpy, scipy, sklearn, kernelsieve)
    return {"python": platform.python_version()} | {p.__name__: p.__version__ for p in packages}


# ---------------------------------------------------------------------- while a benchmark runs


class Recorder:
    """Collects parts in the order in which they are printed."""

    def __init__(self) -> None:
        self.parts: list[dict[str, Any]] = []
        self.muted = False
        self._line = ""

    def add(self, kind: str, value: Any) -> None:
        self.parts.append({kind: value})

    def hear(self, text: str) -> None:
        """Keep whole lines that no heading, table or verdict has printed."""
        if self.muted:
            return
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            if line.strip() and not line.startswith(PROGRESS):
                self.add("remark", line.strip())


_current: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


class _Tee:
    """Standard output that a recorder hears."""

    def __init__(self, stream: TextIO, recorder: Recorder) -> None:
        self._stream, self._recorder = stream, recorder

    def write(self, text: str) -> int:
        self._recorder.hear(text)
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def part(kind: str, value: Any) -> Iterator[None]:
    """Keep a part as data; what is printed meanwhile is the same as text, and not kept again."""
    recorder = _current.get()
    if recorder is None:
        yield
        return
    recorder.add(kind, value)
    recorder.muted = True
    try:
        yield
    finally:
        recorder.muted = False


def plain(cell: object) -> str | int | float:
    """Return a cell as JSON has it; what is no finite number is text."""
    if isinstance(cell, bool) or not isinstance(cell, Real):
        return str(cell)
    if isinstance(cell, Integral):
        return int(cell)
    number = float(cell)
    return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else str(number)


def table_part(header: Sequence[str], rows: Iterable[Sequence[object]]) -> dict[str, Any]:
    return {"header": list(header), "rows": [[plain(cell) for cell in row] for row in rows]}


# ---------------------------------------------------------------------- kept files


def run(name: str, work: Callable[[], object], folder: Path = RESULTS) -> Record:
    """Run a benchmark, and keep what it printed once it has come to its end."""
    recorder, start = Recorder(), time.perf_counter()
    token = _current.set(recorder)
    try:
        with contextlib.redirect_stdout(_Tee(sys.stdout, recorder)):
            work()
    finally:
        _current.reset(token)
    seconds = round(time.perf_counter() - start, 1)
    today = date.today().isoformat()
    found = Record(name, today, seconds, machine(), versions(), recorder.parts)
    if found.parts:
        write(found, folder)
    return found


def write(record: Record, folder: Path = RESULTS) -> None:
    """Write a record in one piece: a killed run leaves the one before it."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{record.benchmark}.json"
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(asdict(record), indent=1, allow_nan=False) + "\n")
    os.replace(temporary, path)


def read(name: str, folder: Path = RESULTS) -> Record | None:
    """Return the kept record of a benchmark, None if there is none."""
    path = folder / f"{name}.json"
    return Record(**json.loads(path.read_text())) if path.exists() else None
