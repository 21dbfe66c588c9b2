"""Formulas of whole registers, applied to a line of numbers."""

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


def line_of(formula: Callable[..., Any], plain: Callable[..., Any]) -> Callable[..., None]:
    """Return what replaces a contiguous line of numbers by a function of them, for compiled loops.

    Parameters
    ----------
    formula : callable
        ``formula(registers, x, parameter, number)`` writes the instructions for one register ``x`` of
        a numba type.
    plain : callable
        ``plain(x, parameter)``, the same by numpy, for lack of a compiler.
    """

    def plain_register(values, position, parameter):
        some = values[position : position + lanes(values.dtype)]
        some[...] = plain(some, parameter)

    @instructions_or(plain_register)
    def register(_typing_context, values, position, parameter):
        signature = types.void(values, position, parameter)

        def generate(context, builder, signature, arguments):
            number = signature.args[0].dtype
            registers = Registers(context, builder, number)
            address = registers.address(signature.args[0], *arguments[:2])
            parameter = registers.repeated(arguments[2])
            registers.store(formula(registers, registers.load(address), parameter, number), address)
            return context.get_dummy_value()

        return signature, generate

    @part
    def line(values, parameter):
        count = _LANES_32 if values.itemsize == 4 else _LANES_64
        whole = values.size - values.size % count
        for position in range(0, whole, count):
            register(values, position, parameter)
        if whole < values.size:
            last = np.zeros(count, values.dtype)
            for i in range(whole, values.size):
                last[i - whole] = values[i]
            register(last, 0, parameter)
            for i in range(whole, values.size):
                values[i] = last[i - whole]

    return line
