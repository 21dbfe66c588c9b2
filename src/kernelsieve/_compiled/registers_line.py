"""Apply formulas of whole vector registers to one-dimensional arrays."""

# What numba compiles has types of its own.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types

from .jit_cache import instructions_or, part
from .simd import Registers, lanes

_LANES_32, _LANES_64 = lanes(np.float32), lanes(np.float64)


def line_of(name: str, formula: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., None]:
    """Return a compiled function that applies a formula to a line of numbers in place.

    It takes a C-contiguous array, which line of it, where to start and to stop there, scratch memory,
    through which goes what does not fill a register, and the parameter of the function.

    Parameters
    ----------
    name : str
        By which it is known among all parts of compiled loops.
    formula : callable
        ``formula(registers, x, parameter, number)`` writes the instructions for one register ``x`` of
        a numba type.
    plain : callable
        ``plain(x, parameter)``, the same by numpy, for lack of a compiler.
    """

    def plain_register(values, position, parameter):
        some = values.reshape(-1)[position : position + lanes(values.dtype)]
        some[...] = plain(some, parameter)

    @instructions_or(plain_register)
    def register(_typing_context, values, position, parameter):
        signature = types.void(values, position, parameter)

        def generate(context, builder, signature, arguments):
            number = signature.args[0].dtype
            registers = Registers(context, builder, number)
            address = registers.address(signature.args[0], *arguments[:2])
            parameter = registers.broadcast(arguments[2])
            registers.store(formula(registers, registers.load(address), parameter, number), address)
            return context.get_dummy_value()

        return signature, generate

    def apply(values, line, start, stop, scratch, parameter):
        count = _LANES_32 if values.itemsize == 4 else _LANES_64
        whole = stop - (stop - start) % count
        for i in range(start, whole, count):
            register(values, line * values.shape[1] + i, parameter)
        if whole < stop:
            for i in range(count):
                scratch[i] = values[line, whole + i] if whole + i < stop else 0
            register(scratch, 0, parameter)
            for i in range(whole, stop):
                values[line, i] = scratch[i - whole]

    apply.__qualname__ = f"line_of_{name}"
    return part(apply)


def as_line(values: np.ndarray) -> np.ndarray:
    """Return a one-dimensional view of a contiguous array."""
    return values.reshape(-1, order="A")[None]  # a transposed block is contiguous too


def scratch_for(values: np.ndarray) -> np.ndarray:
    """Return an array of one register's size."""
    return np.empty(lanes(values.dtype), values.dtype)
