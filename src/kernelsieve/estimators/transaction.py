"""Fitting that either succeeds or changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from ..data import QUIET, reported, single_threaded_blas

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
