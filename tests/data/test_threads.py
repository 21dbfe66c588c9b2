"""Threads over blocks, and the limit that keeps BLAS out of their way."""

import os
import signal
import threading
import time
from contextlib import contextmanager

import joblib
import pytest
from blas_threads import blas_threads
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from kernelsieve.data import n_threads, run_blocks, single_threaded_blas
from kernelsieve.data.threads import one_thread

LARGE = (10_000, 10_000)  # a matrix whose factorisation gets all threads
PATIENCE = 20.0  # seconds that a test waits for a thread before it fails


class Seen:
    """Remembers its blocks, the threads that called it, and what was merged into it."""

    def __init__(self) -> None:
        self.blocks: list = []
        self.threads: set[int] = set()
        self.others: list[Seen] = []

    def empty(self) -> "Seen":
        return Seen()

    def add(self, block) -> None:
        self.blocks.append(block)
        self.threads.add(threading.get_ident())

    def merge(self, other) -> None:
        self.others.append(other)


def do_nothing(block):
    """Do the least work."""


def seen_by_threads(n_blocks, n_jobs, add=Seen.add):
    """Return what each thread has seen, the caller's first."""
    first = Seen()
    run_blocks(add, list(range(n_blocks)), n_jobs, sums=first)
    return [first, *first.others]


@contextmanager
def user_threads(*targets):
    """Run functions in threads of their own, and pass on what goes wrong in them."""
    errors = []

    def guarded(target):
        try:
            target()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(target,)) for target in targets]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for thread in threads:
            thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)
    if errors:
        raise errors[0]


# -- who takes which block


@settings(max_examples=40, deadline=None)
@given(n_blocks=st.integers(0, 40), n_jobs=st.integers(1, 6))
def test_every_block_goes_to_exactly_one_worker(n_blocks, n_jobs):
    workers = seen_by_threads(n_blocks, n_jobs)
    assert sorted(block for worker in workers for block in worker.blocks) == list(range(n_blocks))
    assert len(workers) == max(1, min(n_jobs, n_blocks))


def test_a_second_run_assigns_the_same_blocks():
    def slow_sometimes(seen, block):
        time.sleep(0.002 * (block % 3))
        seen.add(block)

    first, second = ([seen.blocks for seen in seen_by_threads(11, 3, slow_sometimes)] for _ in range(2))
    assert first == second
    assert all(blocks == sorted(blocks) for blocks in first)


def test_work_is_shared_evenly():
    sizes = [len(worker.blocks) for worker in seen_by_threads(11, 3)]
    assert max(sizes) - min(sizes) <= 1


def test_a_worker_stays_in_one_thread():
    # its buffer and its sums are its own, without any lock
    for worker in seen_by_threads(50, 4):
        assert len(worker.threads) == 1


def test_workers_run_at_the_same_time():
    together = threading.Barrier(2)

    run_blocks(lambda block: together.wait(PATIENCE), [0, 1], 2)
    assert not together.broken


def test_one_job_runs_in_the_thread_of_the_caller():
    (worker,) = seen_by_threads(5, 1)
    assert worker.threads == {threading.get_ident()}
    assert worker.blocks == list(range(5))


def test_no_blocks_still_give_a_worker():
    # its empty sums are the result
    (worker,) = seen_by_threads(0, 3)
    assert worker.blocks == []


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("n_blocks", [1, 12])
def test_the_error_of_a_worker_reaches_the_caller(n_jobs, n_blocks, two_blas_threads):
    def fail(block):
        if block == n_blocks - 1:
            raise RuntimeError(f"block {block} is bad")

    with pytest.raises(RuntimeError, match=f"block {n_blocks - 1} is bad"):
        run_blocks(fail, list(range(n_blocks)), n_jobs)
    assert blas_threads() == two_blas_threads


@pytest.mark.parametrize("with_sums", [False, True])
@pytest.mark.parametrize("guilty", [False, True])
def test_after_an_error_no_worker_goes_on(with_sums, guilty):
    together = threading.Barrier(2, timeout=PATIENCE)
    failed = threading.Event()
    done, caller = [], threading.get_ident()

    def work(*arguments):
        if not failed.is_set():
            together.wait()
        if (threading.get_ident() == caller) == guilty:
            failed.set()
            raise RuntimeError("bad")
        time.sleep(0.01)
        done.append(arguments)

    with pytest.raises(RuntimeError, match="bad"):
        run_blocks(work, list(range(100)), 2, sums=Seen() if with_sums else None)
    count = len(done)
    assert count < 10  # the one that was at work, and what came before it heard of the error
    time.sleep(0.05)
    assert len(done) == count


# -- how many threads


@pytest.mark.parametrize("n_jobs", [1, 2, 5, -1])
def test_a_number_of_jobs_means_what_it_means_to_joblib(n_jobs):
    assert n_threads(n_jobs) == joblib.effective_n_jobs(n_jobs)


@pytest.mark.parametrize("limit", [1, 2])
def test_no_number_means_as_many_as_blas_may_use(limit):
    with threadpool_limits(limits=limit, user_api="blas"):
        assert n_threads(None) == limit


def test_others_at_work_do_not_change_the_number(two_blas_threads):
    with single_threaded_blas():
        assert n_threads(None) == 2
    assert n_threads(None) == 2


def test_a_blas_that_cannot_be_asked(monkeypatch):
    monkeypatch.setattr(single_threaded_blas, "_libraries", [])
    assert n_threads(None) == joblib.effective_n_jobs(-1)


def test_zero_jobs_are_refused():
    with pytest.raises(ValueError, match="n_jobs"):
        run_blocks(do_nothing, [1, 2, 3], 0)


# -- the limit on BLAS


@pytest.mark.parametrize("n_jobs", [1, 2, None])
def test_blas_has_one_thread_inside_and_its_own_number_after(n_jobs, two_blas_threads):
    seen = []
    run_blocks(lambda block: seen.append(blas_threads()), [0, 1, 2], n_jobs)
    assert len(seen) == 3
    assert all(set(counts) == {1} for counts in seen)
    assert blas_threads() == two_blas_threads


def test_a_single_block_leaves_the_threads_to_blas(two_blas_threads):
    seen = []
    run_blocks(lambda block: seen.append(blas_threads()), [0], 2)
    assert seen == [two_blas_threads]


def test_a_limit_that_was_there_before_is_there_after():
    with threadpool_limits(limits=1, user_api="blas"):
        run_blocks(do_nothing, [0, 1, 2], 2)
        assert set(blas_threads()) == {1}


def test_passes_inside_passes_restore_the_limit_at_the_outermost(two_blas_threads):
    after_inner = []

    def work(block):
        run_blocks(do_nothing, [0, 1], 2)
        after_inner.append(blas_threads())

    run_blocks(work, [0, 1], 2)
    assert all(set(counts) == {1} for counts in after_inner)
    assert blas_threads() == two_blas_threads


def test_the_context_nests(two_blas_threads):
    with single_threaded_blas():
        with single_threaded_blas():
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert blas_threads() == two_blas_threads


def test_nothing_is_held_where_blas_has_one_thread_already(two_blas_threads):
    with threadpool_limits(limits=1, user_api="blas"), single_threaded_blas():
        assert not [thread for thread in threading.enumerate() if "blas-limit" in thread.name]
    assert blas_threads() == two_blas_threads


def test_a_nested_context_asks_no_library(two_blas_threads, monkeypatch):
    with single_threaded_blas(), monkeypatch.context() as patch:
        patch.setattr(type(single_threaded_blas), "threads_outside", None)
        patch.setattr(type(single_threaded_blas), "_set", None)
        with single_threaded_blas():
            assert set(blas_threads()) == {1}
    assert blas_threads() == two_blas_threads


def test_a_large_factorisation_gets_all_threads(two_blas_threads):
    with single_threaded_blas():
        with single_threaded_blas(unless_large=LARGE):
            assert blas_threads() == two_blas_threads
            with single_threaded_blas():  # such as a pass inside
                assert set(blas_threads()) == {1}
            assert blas_threads() == two_blas_threads
        assert set(blas_threads()) == {1}
    assert blas_threads() == two_blas_threads


def test_a_small_factorisation_gets_one_thread(two_blas_threads):
    with single_threaded_blas(), single_threaded_blas(unless_large=(680, 201)):
        assert set(blas_threads()) == {1}


def test_a_large_factorisation_in_a_task_of_an_engine_gets_one_thread(two_blas_threads):
    with one_thread(), single_threaded_blas(unless_large=LARGE):
        assert set(blas_threads()) == {1}


def test_a_large_factorisation_beside_another_fit_gets_one_thread(two_blas_threads):
    lifted, other_is_in, seen_beside = (threading.Event() for _ in range(3))
    seen = []

    def factorise():
        with single_threaded_blas(), single_threaded_blas(unless_large=LARGE):
            seen.append(blas_threads())
            lifted.set()
            assert other_is_in.wait(PATIENCE)
            seen.append(blas_threads())
            seen_beside.set()

    def fit():
        assert lifted.wait(PATIENCE)
        with single_threaded_blas():
            other_is_in.set()
            assert seen_beside.wait(PATIENCE)

    with user_threads(factorise, fit):
        pass
    assert seen == [two_blas_threads, [1] * len(two_blas_threads)]
    assert blas_threads() == two_blas_threads


def test_the_last_of_two_overlapping_passes_lifts_the_limit(two_blas_threads):
    # the first to start ends first: a limit of its own would be lifted too early, or never
    first_is_in, second_is_in, first_is_out, second_is_out = (threading.Event() for _ in range(4))
    seen = {}

    def first():
        def work(block):
            first_is_in.set()
            assert second_is_in.wait(PATIENCE)

        run_blocks(work, [0, 1], 1)
        seen["after the first"] = blas_threads()
        first_is_out.set()
        assert second_is_out.wait(PATIENCE)  # stay alive, as the threads of a server do

    def second():
        assert first_is_in.wait(PATIENCE)

        def work(block):
            second_is_in.set()
            assert first_is_out.wait(PATIENCE)
            seen["in the second"] = blas_threads()

        run_blocks(work, [0, 1], 1)
        second_is_out.set()

    with user_threads(first, second):
        pass
    assert set(seen["after the first"]) == {1}
    assert set(seen["in the second"]) == {1}
    assert blas_threads() == two_blas_threads


def test_many_user_threads_with_errors_leave_no_limit_behind(two_blas_threads):
    all_done = threading.Barrier(8)

    def user(number):
        def work(block):
            if block == number:
                raise RuntimeError("bad")

        def run():
            for _ in range(15):
                try:
                    run_blocks(work, list(range(4)), 2)
                except RuntimeError:
                    continue
            all_done.wait(PATIENCE)

        return run

    with user_threads(*(user(number) for number in range(8))):
        pass
    assert blas_threads() == two_blas_threads


def test_passes_of_threads_one_after_the_other_leave_no_limit_behind(two_blas_threads):
    seen = []

    def run():
        run_blocks(lambda block: seen.append(blas_threads()), [0, 1, 2], 2)

    for _ in range(3):
        with user_threads(run):
            pass
        assert blas_threads() == two_blas_threads
    assert all(set(counts) == {1} for counts in seen)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_process_forked_during_a_pass_does_not_wait_for_it():
    inside, leave = threading.Event(), threading.Event()

    def stay(_):
        inside.set()
        leave.wait(PATIENCE)

    def keep_the_lock():
        with single_threaded_blas._lock:
            run_blocks_in_child()

    def run_blocks_in_child():
        child = os.fork()
        if child == 0:
            signal.alarm(int(PATIENCE))  # ends a child that waits
            run_blocks(do_nothing, [1, 2, 3], 2)
            os._exit(0)
        statuses.append(os.waitpid(child, 0)[1])

    statuses: list[int] = []
    with user_threads(lambda: run_blocks(stay, [1, 2], 1)):
        assert inside.wait(PATIENCE)
        keep_the_lock()
        leave.set()
    assert statuses == [0]


def test_the_holder_does_not_wait_for_itself(two_blas_threads, monkeypatch):
    # it may collect the garbage of an interrupted pass, whose end then runs in the holder's thread
    abandoned = []
    original = type(single_threaded_blas)._set

    def collecting(self, counts):
        original(self, counts)
        if abandoned:
            abandoned.pop().__exit__(None, None, None)

    with monkeypatch.context() as patch:
        patch.setattr(type(single_threaded_blas), "_set", collecting)
        interrupted = single_threaded_blas()
        interrupted.__enter__()
        with single_threaded_blas():
            abandoned.append(interrupted)
            with single_threaded_blas(unless_large=LARGE):
                assert not abandoned
    assert blas_threads() == two_blas_threads


@pytest.mark.parametrize("where", ["_begin", "_end"])
def test_an_interrupt_while_the_limit_changes_leaves_no_limit(where, two_blas_threads, monkeypatch):
    original = getattr(type(single_threaded_blas), where)

    def interrupted(self, mine):
        if where == "_begin":
            original(self, mine)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(single_threaded_blas), where, interrupted)
        with pytest.raises(KeyboardInterrupt), single_threaded_blas():
            pass
    deadline = time.monotonic() + PATIENCE
    while blas_threads() != two_blas_threads and time.monotonic() < deadline:
        time.sleep(0.01)
    assert blas_threads() == two_blas_threads
    with single_threaded_blas():
        assert set(blas_threads()) == {1}
    assert blas_threads() == two_blas_threads
