"""Compile loops by numba once, and cache them on disk for all processes.

Compiling takes seconds, which every new process and every parallel worker would spend again. So numba
keeps what it has compiled in files. It looks for changes in the file of a loop only, and mixes up the
files of two processes that compile one loop for different types at the same time. Here every loop has
a name that tells its type of number, all sources and the processor, and so files of its own.

Files also hold the parts that loops call, under their names and a number that every process counts
anew. When files of two processes are loaded, parts of one name and number are taken for the same, so
parts must have names of their own: functions that a function makes would otherwise share one.

The logger "kernelsieve" says at level INFO when something is compiled, and a warning says once that
there is no folder to keep it in.
"""

# numba says little about its own types.
# mypy: disable-error-code="no-untyped-call, attr-defined"

from __future__ import annotations

import logging
import time
import types as python_types
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
from llvmlite import binding
from numba import config, njit, types
from numba.extending import intrinsic, register_jitable

from ..exceptions import UncachedCodeWarning, warn

#: Whether there is a compiler: NUMBA_DISABLE_JIT=1 switches it off.
COMPILES = not config.DISABLE_JIT

Signature = Callable[[Any], Iterable[Any]]  # from a type of number to the types of the arguments
_LOGGER = logging.getLogger("kernelsieve")
BOTH_FLOATS = (np.float64, np.float32)
_FLOATS = {np.dtype(np.float32): types.float32, np.dtype(np.float64): types.float64}


def array(number: Any, ndim: int) -> Any:
    """Return the numba type of a C-contiguous output array."""
    return types.Array(number, ndim, "C")


def const(number: Any, ndim: int) -> Any:
    """Return the numba type of a read-only C-contiguous array, such as a memory map."""
    return types.Array(number, ndim, "C", readonly=True)


def _digest(*parts: bytes) -> str:
    return sha256(b"\0".join(parts)).hexdigest()[:12]


def _sources() -> str:
    """Return a digest of all sources with compiled code, since loops call each other's parts."""
    sources = (entry for entry in files(__package__).iterdir() if entry.name.endswith(".py"))
    return _digest(*(entry.read_bytes() for entry in sorted(sources, key=lambda entry: entry.name)))


def _processor() -> str:
    """Return the processor, and the environment variables that tell numba about it."""
    host = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
    return _digest(repr((host, config.CPU_NAME, config.CPU_FEATURES, config.ENABLE_AVX)).encode())


_SOURCES, _PROCESSOR = (_sources(), _processor()) if COMPILES else ("", "")


class CompiledLoop:
    """A loop that is compiled for a float type at the first call with it.

    The last argument tells the type. The interpreter's lock is released while the loop runs.
    """

    def __init__(
        self, function: Callable[..., Any], signature: Signature, dtypes: Sequence[type]
    ) -> None:
        self._function = function
        self._dtypes = dtypes
        self._signature = signature
        self._loops: dict[np.dtype, Any] = {}
        self._lock = RLock()

    def __call__(self, *arguments: Any) -> Any:
        dtype = arguments[-1].dtype
        loop = self._loops.get(dtype)
        return (loop or self._compiled(dtype))(*arguments)

    def compile(self) -> None:
        """Compile the loop for all its float types, or load it from the cache."""
        for dtype in self._dtypes:
            self._compiled(np.dtype(dtype))

    @property
    def cache_hits(self) -> int:
        """Number of times that code was loaded from the cache."""
        return sum(sum(loop.stats.cache_hits.values()) for loop in self._loops.values())

    def _compiled(self, dtype: np.dtype) -> Any:
        with self._lock:
            if dtype not in self._loops:
                signature = tuple(self._signature(_FLOATS[dtype]))
                self._loops[dtype] = _compile(self._named(dtype), signature)
            return self._loops[dtype]

    def _named(self, dtype: np.dtype) -> Callable[..., Any]:
        """Return the function under a unique name, which names its cache files."""
        given = self._function
        named = python_types.FunctionType(given.__code__, given.__globals__, given.__name__)
        named.__qualname__ = f"{given.__name__}-{dtype.name}-{_PROCESSOR}-{_SOURCES}"
        named.__module__ = given.__module__
        return named


def _compile(function: Callable[..., Any], signature: tuple[Any, ...]) -> Any:
    loop = _dispatcher(function)
    name = function.__qualname__
    if not _files_of(loop, name):
        _LOGGER.info("compiling %s, once for this machine", function.__name__)
    start = time.perf_counter()
    try:
        loop.compile(signature)
    except Exception:  # a file is damaged, which can go wrong in any way, or the disk is full
        _remove(_files_of(loop, name))
        loop.compile(signature)  # what was compiled but could not be kept is at hand
    if loop.stats.cache_misses:
        _LOGGER.info("compiled %s in %.1f s", function.__name__, time.perf_counter() - start)
        _remove(_files_of(loop, name.removesuffix(_SOURCES)) - _files_of(loop, name))
    loop.disable_compile()
    return loop


def _dispatcher(function: Callable[..., Any]) -> Any:
    try:
        return njit(nogil=True, cache=True)(function)
    except (RuntimeError, OSError):  # there is no folder for files, or the source is in no file
        if Path(function.__code__.co_filename).is_file():
            _warn_once()
        return njit(nogil=True)(function)


@cache
def _warn_once() -> None:
    warn(
        "Compiled code cannot be kept, because neither the folder of the package nor that of the "
        "user's cache can be written, so that every process spends seconds to compile it again; set "
        "the environment variable NUMBA_CACHE_DIR to a folder that can be written.",
        UncachedCodeWarning,
    )


def _files_of(loop: Any, name: str) -> set[Path]:
    """Return the files of a loop whose names contain this one."""
    folder = loop.stats.cache_path
    return set(Path(folder).glob(f"*.{name}*.nb?")) if folder else set()


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):
            path.unlink()


_LOOPS: list[CompiledLoop] = []


def compile_all() -> None:
    """Compile all loops of this package, or load them from the cache."""
    for loop in _LOOPS:
        loop.compile()


def compiled(
    signature: Signature, dtypes: Sequence[type] = (np.float64,)
) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a loop to be compiled; without a compiler, return it unchanged.

    :func:`compile_all` compiles it for ``dtypes``, and a call for the type at hand.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve._compiled.jit_cache import array, compiled
    >>> @compiled(lambda number: (array(number, 1),))
    ... def double(values):
    ...     values *= 2
    >>> values = np.arange(3.0)
    >>> double(values)
    >>> values
    array([0., 2., 4.])
    """

    def decorate(function: Callable[..., Any]) -> Any:
        if not COMPILES:  # compiled arithmetic does not warn of what is not finite either
            return np.errstate(all="ignore")(function)
        loop = CompiledLoop(function, signature, dtypes)
        if function.__module__.startswith(str(__package__)):
            _LOOPS.append(loop)
        return loop

    return decorate


_PARTS: list[str] = []  # names, of which there may be no two


def part(function: Callable[..., Any], **options: Any) -> Any:
    """Decorate a function so that compiled loops can call it; from Python it runs unchanged."""
    name = f"{function.__module__}.{function.__qualname__}"
    if "<locals>" in name:
        raise ValueError(f"{name} is no name of its own; set __qualname__ to one.")
    _PARTS.append(name)
    if not COMPILES:
        return function
    return (register_jitable(**options) if options else register_jitable)(function)


def instructions_or(plain: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Let compiled loops use instructions, whose equal in numpy is taken for lack of a compiler."""
    return lambda generate: intrinsic(generate) if COMPILES else plain
