"""Exponentials of whole vector registers.

``exp(x) = 2**n * exp(r)`` with ``n`` the nearest integer to ``x / log(2)``, so that ``|r|`` is at most
``log(2) / 2`` and a short polynomial gives ``exp(r)``. Nothing branches, so a register of numbers takes
as long as one number does.
"""

# What numba compiles has types of its own.
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import types

from .jit_cache import BOTH_FLOATS, array, compiled
from .registers_line import as_line, line_of, scratch_for
from .simd import HAS_AVX512, JOIN, Registers


@dataclass(frozen=True)
class Precision:
    """Constants of the exponential for one float type."""

    dtype: type
    # log(2) in two parts; the first has few enough bits for n * log2_high to be exact.
    log2_high: float
    log2_low: float
    # Of ``(exp(r) - 1 - r) / r**2``, lowest power first, interpolated at the Chebyshev nodes of
    # ``|r| <= log(2) / 2``.
    coefficients: tuple[float, ...]

    @property
    def info(self) -> Any:
        return np.finfo(self.dtype)

    @property
    def lowest(self) -> float:
        """Below this value the exponential is 0."""
        return float(np.log(2) * (self.info.minexp - self.info.nmant - 2))

    @property
    def highest(self) -> float:
        """Above this value the exponential is infinite."""
        return float(np.log(2) * (self.info.maxexp + 0.6))


_DOUBLE = Precision(
    np.float64,
    0.693145751953125,
    1.42860682030941723212e-6,
    (
        0.50000000000000010221,
        0.16666666666666667453,
        0.041666666666624127873,
        0.0083333333333300618325,
        0.0013888888917213716901,
        0.00019841269863053616878,
        0.000024801521295954375131,
        2.7557268459997064772e-6,
        2.7620088445409748161e-7,
        2.5100385495510319078e-8,
    ),
)
_SINGLE = Precision(
    np.float32,
    0.693359375,
    -2.12194440e-4,
    (
        0.5,
        0.16666576989698775683,
        0.041666554617204574203,
        0.0083631790527225773704,
        0.0013926183587713494542,
    ),
)
PRECISIONS = {types.float64: _DOUBLE, types.float32: _SINGLE}


def exp_register(registers: Registers, x: Any, cap: Any, number: Any) -> Any:
    """Write the instructions for the exponentials of a register, those above ``cap`` being its."""
    precision = PRECISIONS[number]
    builder, constant, constant_bits = registers.builder, registers.constant, registers.constant_bits
    mantissa = precision.info.nmant
    bias = precision.info.maxexp - 1
    # Adding this number rounds to an integer and leaves that integer in the lowest bits.
    magic = precision.dtype(1.5 * 2.0**mantissa)
    magic_bits = int(magic.view(f"i{magic.itemsize}"))

    lowest = constant(precision.lowest)
    x = builder.select(builder.fcmp_ordered(">", x, cap), cap, x)  # so that NaN passes through
    x = builder.select(builder.fcmp_ordered("<", x, lowest), lowest, x)
    rounded = registers.plus_product(constant(magic), x, constant(1 / np.log(2)))
    n = builder.fsub(rounded, constant(magic))
    r = registers.minus_product(x, n, constant(precision.log2_high))
    r = registers.minus_product(r, n, constant(precision.log2_low))
    q = constant(precision.coefficients[-1])
    for coefficient in reversed(precision.coefficients[:-1]):
        q = registers.plus_product(constant(coefficient), q, r)
    square = builder.fmul(r, r, flags=JOIN)
    exp_r = builder.fadd(constant(1), registers.plus_product(r, square, q))

    if HAS_AVX512:
        return registers.times_power_of_two(exp_r, n)

    def power_of_two(exponent):
        biased = builder.add(exponent, constant_bits(bias))
        return builder.bitcast(builder.shl(biased, constant_bits(mantissa)), registers.type)

    # 2**n in two factors: alone it would overflow or vanish before the product does.
    whole = builder.sub(builder.bitcast(rounded, registers.bits), constant_bits(magic_bits))
    half = builder.ashr(whole, constant_bits(1))
    rest = builder.sub(whole, half)
    return builder.fmul(builder.fmul(exp_r, power_of_two(half)), power_of_two(rest))


#: Replaces numbers of a line by their exponentials, those above the parameter by its.
exp_numbers = line_of("exp", exp_register, lambda x, cap: np.exp(np.minimum(x, cap)))


@compiled(lambda number: (array(number, 2), array(number, 1), number), BOTH_FLOATS)
def exp_line(values, scratch, cap):
    """Replace a one-dimensional array by its exponentials."""
    exp_numbers(values, 0, 0, values.shape[1], scratch, cap)


def exp_inplace(values: np.ndarray, at_most: float = np.inf) -> np.ndarray:
    """Replace a contiguous float32 or float64 array by its exponential, and return it.

    The error is below 4 units in the last place over the whole range, subnormal results included;
    ``-inf`` gives 0, ``inf`` and overflow give ``inf``, NaN stays NaN.

    Parameters
    ----------
    values : ndarray
        Exponents, which are replaced.
    at_most : float, default=numpy.inf
        Exponents above it are taken for it: 0 for a distance that rounding made negative.

    Returns
    -------
    ndarray
        The same array.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.kernels import exp_inplace
    >>> exp_inplace(np.array([0.0, -np.inf, 1.0]))
    array([1.        , 0.        , 2.71828183])
    """
    if values.dtype not in (np.float32, np.float64):
        raise TypeError(f"exp_inplace needs float32 or float64; got {values.dtype}.")
    if not values.flags.forc:
        raise ValueError("exp_inplace needs a contiguous array; pass a copy, or its base.")
    precision = _SINGLE if values.dtype == np.float32 else _DOUBLE
    cap = values.dtype.type(min(at_most, precision.highest))
    exp_line(as_line(values), scratch_for(values), cap)
    return values
