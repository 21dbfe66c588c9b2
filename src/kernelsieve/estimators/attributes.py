"""The state of an estimator: kept by a fit that fails, read off one that succeeds, told by a pickle."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from importlib.metadata import PackageNotFoundError, version
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np

from ..data import QUIET, reported, single_threaded_blas
from ..exceptions import InconsistentVersionWarning, warn
from ..kernels import has_width

_VERSION = "_kernelsieve_version"

_Method = TypeVar("_Method", bound=Callable[..., Any])


def all_or_nothing(fit: _Method) -> _Method:
    """Leave the estimator exactly as it was when a way to fit raises an error.

    BLAS has one thread meanwhile; passes over samples have threads of their own.
    """

    @wraps(fit)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            verbose = getattr(self, "verbose", 0)
            with single_threaded_blas(), np.errstate(**QUIET), reported(type(self).__name__, verbose):
                return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return guarded  # type: ignore[return-value]


def of_fit(path: str) -> property:
    """Return a fitted attribute; after ``partial_fit`` the features are found when it is first read."""
    read = attrgetter(path)
    return property(lambda self: read(self._current_fit()))


def gamma_of(self: Any) -> float:
    """Return the width of the kernel."""
    kernel = self.kernel_
    if not has_width(kernel):
        raise AttributeError(f"There is no gamma_: {kernel!r} has no width.")
    return float(kernel.gamma)


@cache
def own_version() -> str:
    """Return the version of this package as it was installed; every copy of an estimator asks."""
    try:
        return version("kernelsieve")
    except PackageNotFoundError:  # run from a folder of sources
        return "unknown"


def with_version(state: dict[str, Any]) -> dict[str, Any]:
    """Return the state of an estimator with the version that it is saved by."""
    return {**state, _VERSION: own_version()}


def without_version(state: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the state of an estimator; warn where another version has saved it."""
    saved = state.get(_VERSION, "before 0.1.0")
    if saved != own_version():
        warn(
            f"{name} was saved by kernelsieve {saved} and is read by {own_version()}; it may not work, "
            "or give other numbers. Fit it again, or install that version.",
            InconsistentVersionWarning,
        )
    return {key: value for key, value in state.items() if key != _VERSION}
