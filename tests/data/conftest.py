import signal
import threading

import pytest

_SECONDS = 300  # far more than any test of an engine takes


@pytest.fixture(autouse=True)
def _engines_answer():
    """Let a test fail whose cluster does not answer, instead of waiting for ever."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def give_up(*_):
        raise TimeoutError(f"no answer in {_SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
