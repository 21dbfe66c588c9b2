"""Displays of how far a pass over samples is: rows done, rate and time left."""

from __future__ import annotations

import sys
import threading
import time
from importlib import import_module
from typing import Any

_SECONDS_BETWEEN_LINES = 5.0
_SECONDS_OF_A_STAGE = 1.0  # a shorter one gets no line


def make_display(name: str, total: int | None, unit: str) -> Any:
    """Return a bar in a terminal, where there is a package for it, and otherwise lines."""
    if sys.stderr is not None and sys.stderr.isatty():
        for display, package in ((_RichBar, "rich.progress"), (_TqdmBar, "tqdm")):
            try:
                return display(import_module(package), name, total, unit)
            except ImportError:
                continue
    return _Lines(name, total, unit)


class _RichBar:
    def __init__(self, rich: Any, name: str, total: int | None, unit: str) -> None:
        columns = (
            rich.TextColumn(name),
            rich.BarColumn(),
            rich.TextColumn(f"{{task.completed:,.0f}} {unit}"),
            rich.TextColumn(f"{{task.fields[rate]:,.0f}} {unit}/s"),
            rich.TimeRemainingColumn(),
        )
        console = import_module("rich.console").Console(stderr=True)
        self._bar = rich.Progress(*columns, console=console)
        self._task = self._bar.add_task(name, total=total, rate=0.0)
        self._start, self._done = time.monotonic(), 0
        self._lock = threading.Lock()
        self._bar.start()

    def advance(self, n_done: int) -> None:
        with self._lock:
            self._done += n_done
            rate = self._done / max(1e-9, time.monotonic() - self._start)
            self._bar.update(self._task, completed=self._done, rate=rate)

    def close(self) -> None:
        self._bar.stop()


class _TqdmBar:
    def __init__(self, tqdm: Any, name: str, total: int | None, unit: str) -> None:
        self._bar = tqdm.tqdm(desc=name, total=total, unit=f" {unit}", unit_scale=True)
        self._lock = threading.Lock()

    def advance(self, n_done: int) -> None:
        with self._lock:
            self._bar.update(n_done)

    def close(self) -> None:
        self._bar.close()


class _Lines:
    """A line every few seconds, and one at the end of a stage that took some time."""

    def __init__(self, name: str, total: int | None, unit: str) -> None:
        self._name, self._total, self._unit = name, total, unit
        self._done, self._start = 0, time.monotonic()
        self._next = self._start + _SECONDS_BETWEEN_LINES
        self._lock = threading.Lock()

    def advance(self, n_done: int) -> None:
        with self._lock:
            self._done += n_done
            if time.monotonic() >= self._next:
                self._next = time.monotonic() + _SECONDS_BETWEEN_LINES
                self._print()

    def close(self) -> None:
        if time.monotonic() - self._start >= _SECONDS_OF_A_STAGE:
            self._print()

    def _print(self) -> None:
        seconds = max(1e-9, time.monotonic() - self._start)
        rate = self._done / seconds
        text = f"[{self._name}] {self._done:,} {self._unit}"
        if self._total:
            text += f" of {self._total:,}"
        text += f" in {seconds:.1f} s, {rate:,.0f} {self._unit}/s"
        if self._total and rate and self._done < self._total:
            text += f", {(self._total - self._done) / rate:.0f} s left"
        print(text, file=sys.stderr, flush=True)
