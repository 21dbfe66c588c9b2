"""Functions that numba compiles once for all processes.

Compiling takes seconds, which every new process and every parallel worker would spend again.
"""

# numba says little about the types of its own cache.
# mypy: disable-error-code="no-untyped-call, attr-defined"

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from numba import config, njit
from numba.core.caching import FunctionCache


class _KeptCode(FunctionCache):
    """numba's cache on disk, made safe.

    numba looks for changes in the file of a function only, not in those whose functions it calls. It
    lets a compilation fail if the disk is full or a file is damaged, and mixes up the files of two
    processes that compile a function for different types at the same time.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        own_source = Path(function.__code__.co_filename)
        sources = sorted({*Path(__file__).parent.glob("*.py"), own_source})
        stats = [(source.name, source.stat()) for source in sources]
        self._cache_file._source_stamp = tuple((n, s.st_mtime, s.st_size) for n, s in stats)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return compiled code, or None where there is none to be read."""
        with suppress(Exception):
            found = super().load_overload(sig, target_context)
            if found is not None and tuple(found.signature.args) == tuple(sig):
                return found
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep compiled code if that is possible."""
        with suppress(Exception):
            super().save_overload(sig, data)


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function, without the interpreter's lock, when it is first called on this machine.

    Examples
    --------
    >>> from kernelsieve.kernels.compiling import compiled
    >>> compiled(lambda x: x + 1)(2)
    3
    """
    if config.DISABLE_JIT:
        raise ImportError("kernelsieve needs numba's compiler; unset NUMBA_DISABLE_JIT.")
    dispatcher = njit(nogil=True)(function)
    # numba's error where no folder can be written to, and that of code which is not in a folder
    with suppress(RuntimeError, OSError):
        dispatcher._cache = _KeptCode(dispatcher.py_func)
    return dispatcher
