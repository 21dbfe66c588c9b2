"""The registry of kernels by name, for ``kernel="..."``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from ..exceptions import InvalidParameterError

if TYPE_CHECKING:
    from .base import Kernel

_Class = TypeVar("_Class", bound="type[Kernel]")

#: Names that the ``kernel`` parameter of every estimator accepts.
KERNELS: dict[str, type[Kernel]] = {}
#: Further names, for a kernel with some of its parameters.
PRESETS: dict[str, tuple[str, dict[str, Any]]] = {
    "matern12": ("matern", {"nu": 0.5}),
    "matern32": ("matern", {"nu": 1.5}),
    "matern52": ("matern", {"nu": 2.5}),
}


def register_kernel(kernel: _Class) -> _Class:
    """Register a kernel class under ``kernel.name`` for all estimators. Use it as a decorator.

    Parameters
    ----------
    kernel : type
        A subclass of :class:`Kernel`.

    Returns
    -------
    type
        The same class.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve import KernelPCA
    >>> from kernelsieve.kernels import KERNELS, Linear, register_kernel
    >>> @register_kernel
    ... class SquaredProduct(Linear):
    ...     name = "squared_product"
    ...     def against(self, Z, dtype=np.float64):
    ...         products = super().against(Z, dtype)
    ...         def fill(X, out):
    ...             products(X, out)
    ...             out *= out
    ...         return fill
    ...     def diag(self, X):
    ...         return super().diag(X) ** 2
    >>> X = np.arange(12.0).reshape(6, 2)
    >>> KernelPCA(2, kernel="squared_product").fit_transform(X).shape
    (6, 2)
    >>> del KERNELS["squared_product"]
    """
    known = KERNELS.get(kernel.name, kernel)
    # The same class again, as when a module is loaded anew, takes the place of the old one.
    if (known.__module__, known.__qualname__) != (kernel.__module__, kernel.__qualname__):
        raise InvalidParameterError(
            f"name={kernel.name!r} is that of the kernel {known.__name__} already; give "
            f"{kernel.__name__} another name."
        )
    KERNELS[kernel.name] = kernel
    return kernel
