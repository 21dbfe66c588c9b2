"""The only door to scikit-learn's private helpers; a new release is checked here first."""

from __future__ import annotations

from functools import cache
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils._set_output import _wrap_data_with_container as wrap_output
from sklearn.utils.metaestimators import _safe_split as safe_split

__all__ = ["Interval", "StrOptions", "fit_context", "parameter_names", "safe_split", "wrap_output"]

#: A class's parameters; scikit-learn reads them off the signature at every question.
parameter_names: Any = classmethod(cache(vars(BaseEstimator)["_get_param_names"].__func__))  # type: ignore[arg-type]
