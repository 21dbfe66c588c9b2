"""The only door to scikit-learn's private helpers; a new release is checked here first."""

from __future__ import annotations

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils._set_output import _wrap_data_with_container as wrap_output
from sklearn.utils.metaestimators import _safe_split as safe_split

__all__ = ["Interval", "StrOptions", "fit_context", "safe_split", "wrap_output"]
