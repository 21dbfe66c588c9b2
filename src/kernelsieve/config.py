"""Settings of the machine: digits, memory and blocks, which change no model for the better."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from numbers import Integral, Real
from typing import Any

from .exceptions import InvalidParameterError

#: Stands for a setting that is left as it is; None is a value of ``block_size``.
_AS_IT_IS: Any = "as it is"

_PRECISIONS = ("auto", "fast", "safe")
_DTYPES = ("float64", "float32")

# Of the whole process; a context of one thread lays its own settings over these.
_of_process: dict[str, Any] = {
    "precision": "auto",
    "dtype": "float64",
    "max_memory": 2**30,
    "block_size": None,
}
_of_context: ContextVar[dict[str, Any] | None] = ContextVar("kernelsieve_config", default=None)


def get_config() -> dict[str, Any]:
    """Return the settings that a fit would begin with in this thread.

    Returns
    -------
    dict
        ``precision``, ``dtype``, ``max_memory`` and ``block_size``, as :func:`set_config` takes them.

    See Also
    --------
    config_context : Settings for a block of code.
    set_config : Settings of the process.

    Examples
    --------
    >>> import kernelsieve
    >>> kernelsieve.get_config()["precision"]
    'auto'
    """
    return {**_of_process, **(_of_context.get() or {})}


def set_config(
    *,
    precision: str = _AS_IT_IS,
    dtype: str = _AS_IT_IS,
    max_memory: float = _AS_IT_IS,
    block_size: int | None = _AS_IT_IS,
) -> None:
    """Change settings of the whole process: of all threads, except within a ``config_context``.

    A fit looks at them once, when it begins; its threads, and its workers on other machines, work
    with what it has found. So do all parts of a statistic, whose plan has settled them. What is left
    out stays as it is.

    Parameters
    ----------
    precision : {"auto", "fast", "safe"}
        How a pass over the samples accumulates inner products. "fast" does so in float64, which
        cannot resolve columns whose squared residual is below 1e-8 of their squared norm; "safe"
        updates a triangular factor instead, at about twice the cost. "auto", which holds without a
        setting, is safe where a selection on a few of the samples gets that far, and in a single pass
        (``partial_fit``, iterators).
    dtype : {"float64", "float32"}
        Precision of kernel values. "float32" is faster, and sees about half as many features of a wide
        kernel; sums are float64 in any case, and "float64" is what holds without a setting.
    max_memory : float
        Bytes that kernel columns may take, 2**30 without a setting. Beyond them exact selection
        evaluates columns again at every step, and screening looks at fewer samples and candidates.
    block_size : int or None
        Samples in a block of kernel columns; None, which holds without a setting, fits the cache.
        Results do not depend on it.

    See Also
    --------
    config_context : Settings for a block of code.
    get_config : The settings as they are.

    Examples
    --------
    >>> import kernelsieve
    >>> kernelsieve.set_config(max_memory=2**28)
    >>> kernelsieve.get_config()["max_memory"]
    268435456
    >>> kernelsieve.set_config(max_memory=2**30)
    """
    global _of_process
    changed = _checked(
        {"precision": precision, "dtype": dtype, "max_memory": max_memory, "block_size": block_size}
    )
    _of_process = {**_of_process, **changed}


@contextmanager
def config_context(
    *,
    precision: str = _AS_IT_IS,
    dtype: str = _AS_IT_IS,
    max_memory: float = _AS_IT_IS,
    block_size: int | None = _AS_IT_IS,
) -> Iterator[None]:
    """Change settings for a block of code, in this thread; what is left out stays as it is.

    Parameters
    ----------
    precision : {"auto", "fast", "safe"}
        How a pass over the samples accumulates inner products, as :func:`set_config` says.
    dtype : {"float64", "float32"}
        Precision of kernel values.
    max_memory : float
        Bytes that kernel columns may take.
    block_size : int or None
        Samples in a block of kernel columns; None fits the cache.

    Returns
    -------
    context manager
        The settings hold within it.

    See Also
    --------
    set_config : Settings of the process.
    get_config : The settings as they are.

    Examples
    --------
    >>> import kernelsieve
    >>> from kernelsieve import SparseMaximalAlignment
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> with kernelsieve.config_context(dtype="float32"):
    ...     sieve = SparseMaximalAlignment(5).fit(X, y)
    >>> sieve.transform(X).dtype, kernelsieve.get_config()["dtype"]
    (dtype('float32'), 'float64')
    """
    changed = _checked(
        {"precision": precision, "dtype": dtype, "max_memory": max_memory, "block_size": block_size}
    )
    token = _of_context.set({**(_of_context.get() or {}), **changed})
    try:
        yield
    finally:
        _of_context.reset(token)


def with_this_config(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that runs in any thread or process with the settings that hold here."""
    return partial(_run_with, get_config(), function)


def _run_with(config: dict[str, Any], function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    with config_context(**config):
        return function(*args, **kwargs)


def _checked(given: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that are to change."""
    given = {name: value for name, value in given.items() if value is not _AS_IT_IS}
    for name, value in given.items():
        if name in ("precision", "dtype"):
            words = _PRECISIONS if name == "precision" else _DTYPES
            fits, allowed = isinstance(value, str) and value in words, f"one of {words}"
        elif name == "max_memory":
            fits, allowed = (
                isinstance(value, Real) and not isinstance(value, bool) and float(value) >= 0,
                ("a number of bytes, at least 0"),
            )
        else:
            whole = isinstance(value, Integral) and not isinstance(value, bool)
            fits, allowed = value is None or (whole and value >= 1), "None, or a number of samples"
        if not fits:
            raise InvalidParameterError(
                f"{name}={value!r} is no setting; it must be {allowed}. Pass such a value, or leave "
                f"{name} out to keep {get_config()[name]!r}."
            )
    return given
