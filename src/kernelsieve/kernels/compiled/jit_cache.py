"""Loops that numba compiles once for all processes.

Compiling takes seconds, which every new process and every parallel worker would spend again. So numba
keeps what it has compiled in files. It looks for changes in the file of a loop only, and mixes up the
files of two processes that compile one loop for different types at the same time. Here every loop has
a name that tells its type of number, all sources and the processor, and so files of its own.
"""

# numba says little about its own types.
# mypy: disable-error-code="no-untyped-call, attr-defined"

from __future__ import annotations

import types as python_types
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
from llvmlite import binding
from numba import config, njit, types
from numba.extending import intrinsic, register_jitable

#: Whether there is a compiler: NUMBA_DISABLE_JIT=1 switches it off.
COMPILES = not config.DISABLE_JIT

Signature = Callable[[Any], Iterable[Any]]  # from a type of number to the types of the arguments
_FLOATS = {np.dtype(np.float32): types.float32, np.dtype(np.float64): types.float64}


def array(number: Any, ndim: int) -> Any:
    """Return the type of a C-contiguous array that a loop writes to."""
    return types.Array(number, ndim, "C")


def const(number: Any, ndim: int) -> Any:
    """Return the type of a C-contiguous array that a loop only reads: a memory map may be read-only."""
    return types.Array(number, ndim, "C", readonly=True)


def _digest(*parts: bytes) -> str:
    return sha256(b"\0".join(parts)).hexdigest()[:12]


def _sources() -> str:
    """Return what stands for all files of compiled code, of which loops call each other's parts."""
    sources = (entry for entry in files(__package__).iterdir() if entry.name.endswith(".py"))
    return _digest(*(entry.read_bytes() for entry in sorted(sources, key=lambda entry: entry.name)))


def _processor() -> str:
    """Return what stands for the processor, and for what numba is told about it."""
    host = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
    return _digest(repr((host, config.CPU_NAME, config.CPU_FEATURES, config.ENABLE_AVX)).encode())


_SOURCES, _PROCESSOR = (_sources(), _processor()) if COMPILES else ("", "")


class CompiledLoop:
    """A loop, compiled for a type of number when it is first called with it.

    The last argument tells the type. The interpreter's lock is released while the loop runs.
    """

    def __init__(self, function: Callable[..., Any], signature: Signature) -> None:
        self._function = function
        self._signature = signature
        self._loops: dict[np.dtype, Any] = {}
        self._lock = RLock()

    def __call__(self, *arguments: Any) -> Any:
        dtype = arguments[-1].dtype
        loop = self._loops.get(dtype)
        return (loop or self._compiled(dtype))(*arguments)

    @property
    def cache_hits(self) -> int:
        """How many times code was read from a file instead of being compiled."""
        return sum(sum(loop.stats.cache_hits.values()) for loop in self._loops.values())

    def _compiled(self, dtype: np.dtype) -> Any:
        with self._lock:
            if dtype not in self._loops:
                signature = tuple(self._signature(_FLOATS[dtype]))
                self._loops[dtype] = _compile(self._named(dtype), signature)
            return self._loops[dtype]

    def _named(self, dtype: np.dtype) -> Callable[..., Any]:
        """Return the function under a name of its own, by which numba names files."""
        given = self._function
        named = python_types.FunctionType(given.__code__, given.__globals__, given.__name__)
        named.__qualname__ = f"{given.__name__}-{dtype.name}-{_PROCESSOR}-{_SOURCES}"
        named.__module__ = given.__module__
        return named


def _compile(function: Callable[..., Any], signature: tuple[Any, ...]) -> Any:
    try:
        loop = njit(nogil=True, cache=True)(function)
    except (RuntimeError, OSError):  # there is no folder for files, or the source is in none
        loop = njit(nogil=True)(function)
    try:
        loop.compile(signature)
    except Exception:  # a file is damaged, which can go wrong in any way, or the disk is full
        _remove(_files_of(loop, function.__qualname__))
        loop.compile(signature)  # what was compiled but could not be kept is at hand
    if loop.stats.cache_misses:
        named = function.__qualname__.removesuffix(_SOURCES)
        _remove(_files_of(loop, named) - _files_of(loop, function.__qualname__))
    loop.disable_compile()
    return loop


def _files_of(loop: Any, name: str) -> set[Path]:
    """Return the files of a loop whose names contain this one."""
    folder = loop.stats.cache_path
    return set(Path(folder).glob(f"*.{name}*.nb?")) if folder else set()


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError):
            path.unlink()


def compiled(signature: Signature) -> Callable[[Callable[..., Any]], Any]:
    """Compile a loop that Python calls; without a compiler, return it as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.kernels.compiled.jit_cache import array, compiled
    >>> @compiled(lambda number: (array(number, 1),))
    ... def double(values):
    ...     values *= 2
    >>> values = np.arange(3.0)
    >>> double(values)
    >>> values
    array([0., 2., 4.])
    """

    def decorate(function: Callable[..., Any]) -> Any:
        # Compiled arithmetic does not warn of what is not finite either.
        return CompiledLoop(function, signature) if COMPILES else np.errstate(all="ignore")(function)

    return decorate


def part(function: Callable[..., Any]) -> Any:
    """Let compiled loops call a function, which Python can call as it is."""
    return register_jitable(function) if COMPILES else function


def part_or(plain: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Do the same with a function that has an equal of whole arrays, for lack of a compiler."""
    return lambda function: register_jitable(function) if COMPILES else plain


def instructions_or(plain: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Let compiled loops use instructions, whose equal in numpy is taken for lack of a compiler."""
    return lambda generate: intrinsic(generate) if COMPILES else plain
