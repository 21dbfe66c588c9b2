"""Our own threads over row blocks, with one BLAS thread inside each."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import joblib
import numpy as np
from threadpoolctl import ThreadpoolController

#: Numbers that are too large need no warning of numpy's: they are refused, with a remedy.
QUIET: dict[str, Any] = {"over": "ignore", "invalid": "ignore"}

_GLANCE = 0.05  # seconds after which a waiting thread looks whether it still has to

Block = TypeVar("Block")
Worker = TypeVar("Worker", bound=Callable[..., None])


class _Pass:
    """A pass that is running, until it says that it is done, or is gone."""

    done = False


class _SingleThreadedBLAS:
    """Holds BLAS to one thread while any pass is running.

    The limit belongs to the whole process, so passes of several user threads share one: the first sets
    it and the last lifts it. threadpoolctl lets only the thread that set a limit lift it, and these
    may be two; therefore a thread that does nothing else holds it. That thread knows of passes by weak
    references, so that one whose end was itself interrupted does not leave the limit behind.
    """

    def __init__(self) -> None:
        self._controller: ThreadpoolController | None = None
        self._before = 1  # threads, when the limit was set
        self.forget()

    def forget(self) -> None:
        """Begin anew in a process that was forked while others were at work, who are not in it."""
        self._changed = threading.Condition()
        self._passes: weakref.WeakSet[_Pass] = weakref.WeakSet()
        self._holder: threading.Thread | None = None
        self._limited = False

    def threads_outside(self) -> int:
        """Return how many threads BLAS has while no pass is running."""
        with self._changed:
            return self._before if self._limited else self._threads()

    def _threads(self) -> int:
        if self._controller is None:  # finding the libraries takes a while
            self._controller = ThreadpoolController()
        libraries = self._controller.lib_controllers
        counts = [library.num_threads for library in libraries if library.user_api == "blas"]
        return max(counts, default=joblib.effective_n_jobs(-1))  # some cannot be asked

    @contextmanager
    def __call__(self) -> Iterator[None]:
        mine = _Pass()
        try:
            self._begin(mine)
            yield
        finally:
            self._end(mine)

    def _begin(self, mine: _Pass) -> None:
        with self._changed:
            self._passes.add(mine)
            if self._holder is None or not self._holder.is_alive():
                self._before = self._threads()
                self._holder = threading.Thread(
                    target=self._hold, name="kernelsieve-blas-limit", daemon=True
                )
                self._holder.start()
            while not self._limited and self._holder is not None and self._holder.is_alive():
                self._changed.wait(_GLANCE)

    def _end(self, mine: _Pass) -> None:
        with self._changed:
            mine.done = True
            self._changed.notify_all()
            while self._limited and not self._running():
                self._changed.wait(_GLANCE)

    def _running(self) -> bool:
        return any(not each.done for each in self._passes)

    def _hold(self) -> None:
        """Hold the limit in a thread of its own while passes are running."""
        with self._changed:
            limit = self._controller.limit(limits=1, user_api="blas")  # type: ignore[union-attr]
            self._limited = True
            self._changed.notify_all()
            while self._running():
                self._changed.wait(_GLANCE)
            limit.restore_original_limits()
            self._limited, self._holder = False, None
            self._changed.notify_all()


single_threaded_blas = _SingleThreadedBLAS()
if hasattr(os, "register_at_fork"):  # where there are forks
    os.register_at_fork(after_in_child=single_threaded_blas.forget)


_alone = ContextVar("_alone", default=False)


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
