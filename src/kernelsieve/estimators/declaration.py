"""How an estimator declares its parameters: one annotated line each, with the default."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeVar, dataclass_transform

from .documentation import fill_shared_texts

_Class = TypeVar("_Class", bound=type)


@dataclass_transform(eq_default=False, kw_only_default=True)
def parameters(cls: _Class) -> _Class:
    """Make the annotated names of a base or mixin parameters of every estimator made of it.

    They can be passed by keyword only.
    """
    return _declared(cls, kw_only=True)


@dataclass_transform(eq_default=False)
def estimator(cls: _Class) -> _Class:
    """Make the annotated names of an estimator its parameters, beside those of its bases.

    Those above ``_: KW_ONLY`` may be passed by position. Use it as a decorator.

    Parameters
    ----------
    cls : type
        A subclass of :class:`KernelEstimator`. In its docstring ``{parameters}`` and ``{attributes}``
        stand for the texts that all estimators share, without those of parameters that the docstring
        describes itself.

    Returns
    -------
    type
        The same class, with a constructor that stores the parameters.
    """
    return fill_shared_texts(_declared(cls, kw_only=False))


def _declared(cls: Any, *, kw_only: bool) -> Any:
    """Give a class the constructor that stores its parameters, and the constraints of its bases.

    Comparison and text are left to scikit-learn. A default is no attribute of the class, so that an
    estimator without a parameter of its base, ``field(init=False)``, has no value of it either.
    """
    dataclass(eq=False, repr=False, match_args=False, kw_only=kw_only)(cls)
    for name in {field.name for field in fields(cls)} & set(vars(cls)):
        delattr(cls, name)
    constraints: dict[str, list] = {}
    for base in reversed(cls.__mro__):
        constraints |= vars(base).get("_parameter_constraints", {})
    cls._parameter_constraints = constraints
    return cls
