"""Our own threads over row blocks, with one BLAS thread inside each."""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from importlib import import_module
from typing import Any, TypeVar

import joblib
import numpy as np
from threadpoolctl import LibController, ThreadpoolController

#: Numbers that are too large need no warning of numpy's: they are refused, with a remedy.
QUIET: dict[str, Any] = {"over": "ignore", "invalid": "ignore"}

_GLANCE = 0.05  # seconds after which a waiting thread looks whether it still has to

_LARGE = 3e10  # multiplications of a factorisation, of a square matrix with 3,100 columns

# The threads of BLAS: as they were, one, or as they were for a while, for a large factorisation.
_FREE, _LIMITED, _LIFTED = "free", "limited", "lifted"

_alone = ContextVar("_alone", default=False)

Block = TypeVar("Block")
Worker = TypeVar("Worker", bound=Callable[..., None])


_numbers = itertools.count()


class _Pass:
    """A running pass; finished by ``done``, or by garbage collection."""

    def __init__(self, *, lifts: bool = False) -> None:
        self.done = False
        self.number = next(_numbers)
        self.thread = threading.get_ident()
        self.lifts = lifts  # wants all threads of BLAS back


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

    def threads_outside(self) -> int:
        """Return how many threads BLAS has while no pass is running."""
        with self._lock:
            counts = self._threads() if self._state == _FREE else self._before
        return max(counts) if counts else joblib.effective_n_jobs(-1)  # some cannot be asked

    def _threads(self) -> list[int]:
        if self._libraries is None:  # finding them takes a while
            import_module("scipy.linalg")  # which may have a BLAS of its own
            self._libraries = ThreadpoolController().select(user_api="blas").lib_controllers
        return [library.num_threads for library in self._libraries]

    @contextmanager
    def __call__(self, *, lifts: bool = False) -> Iterator[None]:
        mine = _Pass(lifts=lifts)
        try:
            self._begin(mine)
            yield
        finally:
            self._end(mine)

    def lifted_for(self, *shape: int) -> AbstractContextManager[None]:
        """Give BLAS its threads back while a large matrix is factorised, unless others are at work.

        Parameters
        ----------
        *shape : int
            Rows and columns of the matrix. A small one leaves the limit as it is: beside other
            processes threads cost it more than they gain.

        Returns
        -------
        context manager
        """
        is_small = np.prod(shape, dtype=float) * min(shape) < _LARGE
        return nullcontext() if is_small or _alone.get() else self(lifts=True)

    def _begin(self, mine: _Pass) -> None:
        with self._lock:
            self._passes.add(mine)
            if not mine.lifts and (self._holder is None or not self._holder.is_alive()):
                self._state = _FREE
                self._before = self._threads()
                if max(self._before, default=1) == 1:
                    return  # there is nothing to hold
                self._holder = threading.Thread(
                    target=self._hold, name="kernelsieve-blas-limit", daemon=True
                )
                self._holder.start()
            self._settle()

    def _end(self, mine: _Pass) -> None:
        with self._lock:
            mine.done = True
            self._settle()

    def _settle(self) -> None:
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
if hasattr(os, "register_at_fork"):  # where there are forks
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
    return single_threaded_blas.threads_outside()


def run_blocks(
    blocks: Sequence[Block],
    make_worker: Callable[[], Worker],
    n_jobs: int | None = None,
    *,
    in_any_order: bool = False,
) -> list[Worker]:
    """Let workers, one a thread, take the blocks in turns; return the workers in order.

    Which worker takes which block depends on nothing but their numbers, so a second run gives the
    same sums to the last bit. Where workers do not sum up, they may take blocks ``in_any_order``:
    whoever is free takes the next, and none waits for one whose core is busy with something else.
    """
    if len(blocks) <= 1:
        worker = make_worker()
        with np.errstate(**QUIET):
            for block in blocks:
                worker(block)
        return [worker]
    count = min(n_threads(n_jobs), len(blocks))
    workers = [make_worker() for _ in range(count)]

    remaining = iter(blocks)  # of which every block is taken once, whichever thread asks
    stop = threading.Event()

    def take_turns(number: int) -> None:
        try:
            with np.errstate(**QUIET):
                for block in remaining if in_any_order else blocks[number::count]:
                    if stop.is_set():
                        return
                    workers[number](block)
        except BaseException:
            stop.set()
            raise

    with single_threaded_blas():
        if count == 1:
            take_turns(0)
        else:
            with ThreadPoolExecutor(count - 1) as executor:
                others = [executor.submit(take_turns, i) for i in range(1, count)]
                try:
                    take_turns(0)  # the caller's own thread has nothing else to do
                    for done in others:
                        done.result()
                finally:
                    stop.set()  # after an interrupt, too
    return workers


def for_each_block(
    blocks: Sequence[Block], function: Callable[[Block], None], n_jobs: int | None = None
) -> None:
    """Call a function that keeps no sums for every block, in any order, by threads."""
    run_blocks(blocks, lambda: function, n_jobs, in_any_order=True)
