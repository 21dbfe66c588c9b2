"""Our own threads over row blocks, with one BLAS thread inside each; and how far they are."""

from __future__ import annotations

import itertools
import math
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from typing import Any, Protocol, Self

import joblib
import numpy as np
from threadpoolctl import LibController, ThreadpoolController

from .progress import make_display

#: Numbers that are too large need no warning of numpy's: they are refused, with a remedy.
QUIET: dict[str, Any] = {"over": "ignore", "invalid": "ignore"}

_GLANCE = 0.05  # seconds after which a waiting thread looks whether it still has to

_LARGE = 3e10  # multiplications of a factorisation, of a square matrix with 3,100 columns

# The threads of BLAS: as they were, one, or as they were for a while, for a large factorisation.
_FREE, _LIMITED, _LIFTED = "free", "limited", "lifted"

_alone = ContextVar("_alone", default=False)


@dataclass(eq=False)
class _Pass:
    """A running pass; it ends when it is ``done``, or by garbage collection."""

    lifts: bool  # wants all threads of BLAS back
    done: bool = False
    number: int = field(default_factory=itertools.count().__next__)
    thread: int = field(default_factory=threading.get_ident)


class _SingleThreadedBLAS:
    """Holds BLAS to one thread while any pass, fit, transform or command is running.

    The threads of BLAS wait for each other after every product: on small matrices that takes longer
    than the work, and many times longer where another process wants one of the cores. Use it as a
    context, or as a decorator, ``@single_threaded_blas()``; nested, it costs a few microseconds.

    The limit belongs to the whole process, so passes of several user threads share one: the first sets
    it and the last lifts it. threadpoolctl lets only the thread that set a limit lift it, and these
    may be two; therefore a thread that does nothing else holds it. That thread knows of passes by weak
    references, so that one whose end was itself interrupted does not leave the limit behind.
    """

    def __init__(self) -> None:
        self._libraries: list[LibController] | None = None
        self._before: list[int] = []  # threads of each library, when the limit was set
        self.forget()

    def forget(self) -> None:
        """Begin anew in a process that was forked while others were at work, who are not in it."""
        self._lock = threading.RLock()  # entered by itself: an interrupt cannot come as it is left
        self._changed = threading.Condition(self._lock)
        self._passes: weakref.WeakSet[_Pass] = weakref.WeakSet()
        self._holder: threading.Thread | None = None
        self._state = _FREE

    @contextmanager
    def __call__(self, *, unless_large: tuple[int, ...] = ()) -> Iterator[None]:
        """Hold BLAS to one thread, or give it all of its threads back for a large factorisation.

        ``unless_large`` is the shape of a matrix that is factorised. If it is small, the limit stays as
        it is: beside other processes threads cost more than they gain.
        """
        if unless_large and (_alone.get() or math.prod(unless_large) * min(unless_large) < _LARGE):
            yield
            return
        mine = _Pass(lifts=bool(unless_large))
        try:
            self._begin(mine)
            yield
        finally:
            self._end(mine)

    def threads_outside(self) -> list[int]:
        """Return how many threads each library has while no pass is running."""
        with self._lock:
            if self._state != _FREE:
                return self._before
            if self._libraries is None:  # finding them takes a while
                import_module("scipy.linalg")  # which may have a BLAS of its own
                self._libraries = ThreadpoolController().select(user_api="blas").lib_controllers
            return [library.num_threads for library in self._libraries]

    def _begin(self, mine: _Pass) -> None:
        with self._lock:
            self._passes.add(mine)
            if not mine.lifts and (self._holder is None or not self._holder.is_alive()):
                self._state = _FREE
                self._before = self.threads_outside()
                if max(self._before, default=1) == 1:
                    return  # there is nothing to hold
                self._holder = threading.Thread(
                    target=self._hold, name="kernelsieve-blas-limit", daemon=True
                )
                self._holder.start()
            if self._holder is not None:
                self._wait()

    def _end(self, mine: _Pass) -> None:
        with self._lock:
            mine.done = True
            if self._holder is not None:
                self._wait()

    def _wait(self) -> None:
        """Wait until the limit is what the running passes want.

        The holder itself may come here when it collects the garbage of an interrupted pass.
        """
        if threading.current_thread() is self._holder:
            return
        while self._holder is not None and self._holder.is_alive() and self._state != self._wanted():
            self._changed.notify_all()
            self._changed.wait(_GLANCE)

    def _wanted(self) -> str:
        """Return what the running passes want; all threads only if one thread alone is at work."""
        newest, threads = None, set()
        for each in self._passes:
            if not each.done:
                threads.add(each.thread)
                newest = each if newest is None or each.number > newest.number else newest
        if newest is None:
            return _FREE
        return _LIFTED if newest.lifts and len(threads) == 1 else _LIMITED

    def _hold(self) -> None:
        """Hold the limit in a thread of its own while passes are running."""
        with self._lock:
            while (wanted := self._wanted()) != _FREE:
                if wanted != self._state:
                    self._state = wanted
                    self._set(self._before if wanted == _LIFTED else [1] * len(self._before))
                    self._changed.notify_all()
                self._changed.wait(_GLANCE)
            self._set(self._before)
            self._state, self._holder = _FREE, None
            self._changed.notify_all()

    def _set(self, counts: list[int]) -> None:
        for library, count in zip(self._libraries or (), counts, strict=True):
            library.set_num_threads(count)


single_threaded_blas = _SingleThreadedBLAS()
if sys.platform != "win32":  # where there are forks
    os.register_at_fork(after_in_child=single_threaded_blas.forget)


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep the work of this thread to one core; an engine gives the others to other tasks."""
    token = _alone.set(True)
    try:
        with single_threaded_blas():
            yield
    finally:
        _alone.reset(token)


def n_threads(n_jobs: int | None) -> int:
    """Return how many threads ``n_jobs`` means; None is as many as BLAS would use.

    So a process that was told to keep to one core, such as a joblib worker, is obeyed.
    """
    if _alone.get():
        return 1
    if n_jobs is not None:
        return int(joblib.effective_n_jobs(n_jobs))
    counts = single_threaded_blas.threads_outside()
    return max(counts) if counts else joblib.effective_n_jobs(-1)  # some cannot be asked


class Sums(Protocol):
    """What threads and tasks fill, each its own, before all are merged."""

    def empty(self) -> Self:
        """Return sums of the same kind that have seen nothing."""

    def merge(self, other: Self, /) -> None:
        """Add what another one has seen."""


def run_blocks(
    function: Callable[..., Any],
    blocks: Sequence[Any],
    n_jobs: int | None = None,
    *,
    sums: Sums | None = None,
) -> None:
    """Call ``function(block)`` for all blocks by threads, or ``function(sums, block)`` with sums.

    Every thread after the first has empty sums, which are merged into ``sums`` at the end. Which thread
    takes which block then depends on nothing but their numbers, so a second run gives the same sums to
    the last bit. Without sums, whoever is free takes the next block, and none waits for one whose core
    is busy with something else.
    """
    count = 1 if len(blocks) <= 1 else min(n_threads(n_jobs), len(blocks))
    parts: list[Any] = [sums] * count
    remaining = iter(blocks)  # of which every block is taken once, whichever thread asks
    stop = threading.Event()

    def take_turns(number: int) -> None:
        try:
            with np.errstate(**QUIET):
                if sums is None:
                    mine, work = remaining, function
                else:
                    parts[number] = own = sums if number == 0 else sums.empty()
                    mine, work = iter(blocks[number::count]), partial(function, own)
                for block in mine:
                    if stop.is_set():
                        return
                    work(block)
        except BaseException:
            stop.set()
            raise

    if len(blocks) <= 1:  # the threads are left to BLAS
        take_turns(0)
        return
    with single_threaded_blas():
        if count == 1:
            take_turns(0)
            return
        with ThreadPoolExecutor(count - 1) as executor:
            others = [executor.submit(take_turns, i) for i in range(1, count)]
            try:
                take_turns(0)  # the caller's own thread has nothing else to do
                for done in others:
                    done.result()
            finally:
                stop.set()  # after an interrupt, too
        if sums is not None:
            for part in parts[1:]:
                sums.merge(part)


# Whose passes are reported, where ``verbose`` asks for it, and what counts the rows of one.
_reported: ContextVar[str | None] = ContextVar("_reported", default=None)
_advance: ContextVar[Callable[[int], None] | None] = ContextVar("_advance", default=None)


def _silent(n_done: int) -> None:
    """Count nothing."""


@contextmanager
def reported(name: str, verbose: Any) -> Iterator[None]:
    """Let passes over samples report under a name, where they should."""
    named, counting = _reported.set(name if verbose else None), _advance.set(None)
    try:
        yield
    finally:
        _advance.reset(counting)
        _reported.reset(named)


@contextmanager
def counted(
    total: int | None, unit: str = "rows", *, stage: str = "summing up"
) -> Iterator[Callable[[int], None]]:
    """Count what a stage of the work has done; the function that it gets may be called from any thread.

    A pass inside another one counts for that one.
    """
    name, outer = _reported.get(), _advance.get()
    if name is None or outer is not None:
        yield outer or _silent
        return
    display = make_display(f"{name}: {stage}", total, unit)
    token = _advance.set(display.advance)
    try:
        yield display.advance
    finally:
        _advance.reset(token)
        display.close()


def is_reported() -> bool:
    """Tell if somebody wants to know how far passes are."""
    return _reported.get() is not None


def advance() -> Callable[[int], None] | None:
    """Return what counts rows for the pass that is going on, if any is counted."""
    return _advance.get()
