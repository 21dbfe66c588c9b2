"""Kernel profiles: functions of a scaled squared distance, on whole vector registers.

What comes in is ``-t`` with ``t`` at least 0 but for rounding. What comes out is ``exp(-t)`` and its
like: a kernel of the distance has a profile, and the scale of ``t``.
"""

# What numba compiles has types of its own.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from .fast_exp import PRECISIONS, exp_inplace, exp_register
from .jit_cache import BOTH_FLOATS, array, compiled
from .registers_line import as_line, line_of, scratch_for
from .simd import JOIN, Registers

# log((1 + s) / (1 - s)) = 2 s (1 + s^2/3 + s^4/5 + ...) with |s| below 0.172: terms for all digits
_LOG_TERMS = {types.float64: 11, types.float32: 5}


class Profile(NamedTuple):
    """A function of the distance, with its parameter if it has one."""

    form: int
    parameter: float = 0.0


#: ``-t`` itself.
AS_IT_IS = Profile(0)
#: ``exp(-t)``.
EXPONENTIAL = Profile(1)
#: ``p(a) exp(-a)`` with ``a = sqrt(t)`` and ``p`` 1, ``1 + a``, and ``1 + a + a^2 / 3``.
MATERN = {0.5: Profile(2), 1.5: Profile(3), 2.5: Profile(4)}


def power_profile(exponent: float) -> Profile:
    """Return the profile ``(1 + t) ** -exponent``."""
    return Profile(5, exponent)


def _distance(registers: Registers, x: Any, number: Any) -> Any:
    """Return ``sqrt(t)``, capped where the exponential vanishes; NaN stays NaN."""
    builder, most = registers.builder, registers.constant(-PRECISIONS[number].lowest)
    root = registers.sqrt(_non_negative(registers, x))
    return builder.select(builder.fcmp_ordered(">", root, most), most, root)


def _non_negative(registers: Registers, x: Any) -> Any:
    """Return ``t`` clipped at 0, since rounding may make it negative."""
    builder, zero = registers.builder, registers.constant(0)
    return builder.fsub(zero, builder.select(builder.fcmp_ordered(">", x, zero), zero, x))


def _matern(name: str, coefficients: tuple[float, ...]) -> Any:
    """Return a formula of ``p(a) exp(-a)`` for a polynomial p with constant term 1."""

    def formula(registers: Registers, x: Any, _: Any, number: Any) -> Any:
        zero, a = registers.constant(0), _distance(registers, x, number)
        value = exp_register(registers, registers.builder.fsub(zero, a), zero, number)
        if not coefficients:
            return value
        polynomial = registers.constant(coefficients[-1])
        for coefficient in (*reversed(coefficients[:-1]), 1.0):
            polynomial = registers.plus_product(registers.constant(coefficient), polynomial, a)
        return registers.builder.fmul(polynomial, value)

    def plain(x: np.ndarray, _: float) -> np.ndarray:
        a = np.minimum(np.sqrt(np.maximum(-x, 0)), 1e4)
        return np.polyval((*reversed(coefficients), 1.0), a) * np.exp(-a)

    return line_of(name, formula, plain)


def _log(registers: Registers, x: Any, number: Any) -> Any:
    """Return the logarithm of numbers of at least 1, as ``2**n * m`` with m near 1; NaN stays NaN."""
    builder, constant, precision = registers.builder, registers.constant, PRECISIONS[number]
    mantissa = registers.constant_bits(precision.info.nmant)
    smallest = precision.dtype(np.sqrt(0.5))
    from_smallest = registers.constant_bits(int(smallest.view(f"i{smallest.itemsize}")))
    bits = builder.bitcast(x, registers.bits)
    exponent = builder.ashr(builder.sub(bits, from_smallest), mantissa)
    m = builder.bitcast(builder.sub(bits, builder.shl(exponent, mantissa)), registers.type)
    n = builder.sitofp(exponent, registers.type)
    s = builder.fdiv(builder.fsub(m, constant(1)), builder.fadd(m, constant(1)))
    square = builder.fmul(s, s, flags=JOIN)
    terms = _LOG_TERMS[number]
    series = constant(2 / (2 * terms + 1))
    for k in range(terms - 1, -1, -1):
        series = registers.plus_product(constant(2 / (2 * k + 1)), series, square)
    low = registers.plus_product(builder.fmul(s, series), n, constant(precision.log2_low))
    log = registers.plus_product(low, n, constant(precision.log2_high))
    return builder.select(builder.fcmp_unordered("uno", x, x), x, log)


def _power_register(registers: Registers, x: Any, exponent: Any, number: Any) -> Any:
    base = registers.builder.fadd(registers.constant(1), _non_negative(registers, x))
    log = registers.builder.fmul(exponent, _log(registers, base, number))
    zero = registers.constant(0)
    return exp_register(registers, registers.builder.fsub(zero, log), zero, number)


def _plain_power(x: np.ndarray, exponent: float) -> np.ndarray:
    return (1 + np.maximum(-x, 0)) ** -exponent


_matern_12 = _matern("matern_12", ())
_matern_32 = _matern("matern_32", (1.0,))
_matern_52 = _matern("matern_52", (1.0, 1 / 3))
_power = line_of("power", _power_register, _plain_power)


# The exponential is not among them: rbf alone is common enough to be compiled alone.
@compiled(lambda number: (types.intp, array(number, 2), array(number, 1), number), BOTH_FLOATS)
def _profile_line(form, values, scratch, parameter):
    """Replace the ``-t`` of an array of one line by the values of a profile."""
    stop = values.shape[1]
    if form == 2:
        _matern_12(values, 0, 0, stop, scratch, parameter)
    elif form == 3:
        _matern_32(values, 0, 0, stop, scratch, parameter)
    elif form == 4:
        _matern_52(values, 0, 0, stop, scratch, parameter)
    elif form == 5:
        _power(values, 0, 0, stop, scratch, parameter)


def profile_inplace(profile: Profile, values: np.ndarray) -> None:
    """Replace a contiguous float32 or float64 array of ``-t`` by the values of a profile.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve._compiled import power_profile, profile_inplace
    >>> values = np.array([0.0, -1.0, -3.0])
    >>> profile_inplace(power_profile(2.0), values)
    >>> values
    array([1.    , 0.25  , 0.0625])
    """
    if profile == EXPONENTIAL:
        exp_inplace(values, 0.0)
    elif profile != AS_IT_IS:
        parameter = values.dtype.type(profile.parameter)
        _profile_line(profile.form, as_line(values), scratch_for(values), parameter)
