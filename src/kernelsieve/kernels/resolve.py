"""Resolve the ``kernel``, ``gamma``, ... parameters of an estimator to a kernel."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from ..exceptions import InvalidParameterError
from .base import Kernel, Rows
from .custom import CallableKernel
from .distance_cache import shared
from .gamma import resolve_gamma
from .registry import KERNELS, PRESETS

#: What the parameter ``kernel`` of an estimator takes.
KernelLike: TypeAlias = str | Callable[..., Any] | Kernel

_DEFAULTS: dict[str, Any] = {"gamma": "scale", "degree": 3, "coef0": 1.0, "kernel_params": None}


def resolve_kernel(
    kernel: KernelLike,
    X: Rows,
    *,
    gamma: str | float = "scale",
    degree: float = 3,
    coef0: float = 1.0,
    kernel_params: Mapping[str, Any] | None = None,
    sample_weight: np.ndarray | None = None,
    random_state: np.random.RandomState | None = None,
) -> Kernel:
    """Return the kernel that the parameters describe, with ``gamma`` computed from ``X``.

    Parameters that a named kernel does not have, such as ``gamma`` of the linear one, are passed over,
    so that a search may combine all kernels with all widths. With a kernel object they are refused.

    Parameters
    ----------
    kernel : str, callable or Kernel
        As for estimators.
    X : array or CSR matrix of shape (n_samples, n_features)
        Samples, for "scale" and "median".
    gamma : {"scale", "median"}, part or multiple of these, or float, default="scale"
        Width of a named kernel; see :func:`resolve_gamma`.
    degree : float, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=1.0
        Constant term of the "poly" and "sigmoid" kernels.
    kernel_params : dict, default=None
        Keyword arguments for a kernel that is a function, or other parameters of a named kernel.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the samples.
    random_state : RandomState, default=None
        For the sample whose median distance is taken.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.kernels import resolve_kernel
    >>> resolve_kernel("rbf", np.array([[0.0], [2.0]]), gamma="scale")
    RBF(gamma=1.0)
    """
    given = {"gamma": gamma, "degree": degree, "coef0": coef0, "kernel_params": kernel_params}
    kind = kernel_class(kernel)
    if isinstance(kernel, Kernel):
        _refuse_ignored(kernel, given)
        return shared(kernel)
    if kind is CallableKernel:
        return CallableKernel(kernel, kernel_params)  # type: ignore[arg-type]
    if kind is Kernel:
        raise InvalidParameterError(_unknown_kernel(kernel))
    own = {name: given[name] for name in kind.parameter_names() if name in ("degree", "coef0")}
    if "gamma" in kind.parameter_names():
        own["gamma"] = resolve_gamma(gamma, X, kind, sample_weight, random_state)
    name = str(kernel)
    _, preset = PRESETS.get(name, (name, {}))
    _check_params(name, kind, kernel_params or {}, preset)
    return shared(kind.for_samples(X, **own, **preset, **(kernel_params or {})))


def kernel_class(kernel: object) -> type[Kernel]:
    """Return the class of the kernel that a parameter names or is; Kernel if it is unknown.

    Parameters
    ----------
    kernel : object
        The parameter ``kernel`` of an estimator.

    Returns
    -------
    type
    """
    if isinstance(kernel, Kernel):
        return type(kernel)
    if isinstance(kernel, str):
        return KERNELS.get(PRESETS.get(kernel, (kernel, {}))[0], Kernel)
    return CallableKernel if callable(kernel) else Kernel


def _refuse_ignored(kernel: Kernel, given: dict[str, Any]) -> None:
    """Raise an error for parameters that have no effect, because the kernel has its own."""
    for name, value in given.items():
        if not _is_default(name, value):
            raise InvalidParameterError(
                f"{name}={value!r} would be ignored: a kernel object does not take it from the "
                f"estimator, where only {name}={_DEFAULTS[name]!r} is allowed; set it in the kernel, "
                f"{kernel!r}."
            )


def _is_default(name: str, value: Any) -> bool:
    default = _DEFAULTS[name]
    if name == "gamma" and isinstance(value, str) and value == "cv":
        return True  # nothing is chosen for a kernel that has its width
    return not value if default is None else isinstance(value, str | Real) and value == default


def _check_params(
    name: str, kind: type[Kernel], params: Mapping[str, Any], preset: Mapping[str, Any]
) -> None:
    """Raise an error for parameters that the kernel lacks, or that are set elsewhere."""
    allowed = [name for name in kind.parameter_names() if name not in {**_DEFAULTS, **preset}]
    for each in params:
        if each not in allowed:
            raise InvalidParameterError(
                f"kernel_params has {each!r}, which kernel={name!r} does not take from there; it "
                f"takes {', '.join(map(repr, allowed)) or 'nothing'}."
            )


def _unknown_kernel(kernel: object) -> str:
    known = ", ".join(map(repr, sorted([*KERNELS, *PRESETS])))
    meant = {other: name for name, kind in KERNELS.items() for other in (name, *kind.other_names)}
    meant |= {name: name for name in PRESETS}
    near = difflib.get_close_matches(str(kernel).lower(), meant, n=1, cutoff=0.4)
    hint = f" Did you mean {meant[near[0]]!r}?" if near else ""
    return f"kernel={kernel!r} is not known.{hint} Pass one of {known}, a callable, or a Kernel."
