"""The only door to scikit-learn's private helpers; a new release is checked here first."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Any, TypeVar

from sklearn.base import BaseEstimator
from sklearn.base import _fit_context as fit_context
from sklearn.externals import _arff as arff
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils._set_output import _wrap_data_with_container as wrap_output
from sklearn.utils.metaestimators import _safe_split as safe_split

__all__ = [
    "Interval",
    "StrOptions",
    "arff",
    "fit_context",
    "has_method",
    "linked_to_documentation",
    "parameter_names",
    "safe_split",
    "wrap_output",
]

_Class = TypeVar("_Class", bound=type)

#: A class's parameters; scikit-learn reads them off the signature at every question.
parameter_names: Any = classmethod(cache(vars(BaseEstimator)["_get_param_names"].__func__))  # type: ignore[arg-type]

#: Where the documentation is; the variable names another place, such as what ``make docs`` made.
DOCUMENTATION = os.environ.get("KERNELSIEVE_DOCS", "https://kernelsieve.readthedocs.io/en/stable")


def has_method(estimator: Any, name: str) -> bool:
    """Return True if an estimator has a method, which may depend on its parameters or its parts."""
    return hasattr(estimator, name)


def linked_to_documentation(cls: _Class) -> _Class:
    """Let the HTML representation of an estimator link to the page of its class."""
    linked: Any = cls
    linked._doc_link_module = __package__
    linked._doc_link_template = f"{DOCUMENTATION}/generated/{{page}}.html"
    linked._doc_link_url_param_generator = _page
    return cls


def _page(estimator: Any, *_: Any) -> dict[str, str]:
    """Return the name under which the reference has a class; some releases pass the estimator twice."""
    name = type(estimator).__name__
    package, room = type(estimator).__module__.split(".")[:2]
    in_package = name in sys.modules[package].__all__
    return {"page": f"{package}.{name}" if in_package else f"{package}.{room}.{name}"}
