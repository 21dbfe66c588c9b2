"""An exponential that the compiler turns into vector instructions.

``exp(x) = 2**n * exp(r)`` with ``n`` the nearest integer to ``x / log(2)``, so that ``|r|`` is at most
``log(2) / 2`` and a short polynomial gives ``exp(r)``. Nothing branches, so a loop over an array runs
several numbers at a time: about four times as fast as ``numpy.exp`` in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numba.core import types
from numba.extending import intrinsic

# Numbers looked at together before they are replaced; a few kilobytes stay in the nearest cache.
_CHUNK = 1024

# A float and the integer with the same bits, for reading and writing the exponent field.
_SAME_BITS: dict[Any, Any] = {
    types.float64: types.int64,
    types.float32: types.int32,
    types.int64: types.float64,
    types.int32: types.float32,
}


@intrinsic
def _same_bits(_typing_context, number):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))

    return _SAME_BITS[number](number), generate


def _make_exp_inplace(dtype: type, bits: type, coefficients: tuple[float, ...]) -> Callable:
    """Compile the in-place exponential for one precision.

    ``coefficients`` are those of ``(exp(r) - 1 - r) / r**2``, lowest power first, interpolated at the
    Chebyshev nodes of ``|r| <= log(2) / 2``.
    """
    info = np.finfo(dtype)
    mantissa = bits(info.nmant)
    bias = bits(info.maxexp - 1)
    # Adding this number rounds to an integer and leaves that integer in the lowest bits.
    magic = dtype(1.5 * 2.0**info.nmant)
    per_log2 = dtype(1 / np.log(2))
    # log(2) in two parts; the first has few enough bits for n * log2_high to be exact.
    log2_high = dtype(0.693145751953125 if dtype is np.float64 else 0.693359375)
    log2_low = dtype(1.42860682030941723212e-6 if dtype is np.float64 else -2.12194440e-4)
    # Beyond these the result is 0 or inf whatever the rest of x.
    lowest = dtype(np.log(2) * (info.minexp - info.nmant - 2))
    highest = dtype(np.log(2) * (info.maxexp + 0.6))
    # Between these 2**n is a normal number, and one factor is enough.
    low_normal = dtype(np.log(2) * (info.minexp + 1))
    high_normal = dtype(np.log(2) * (info.maxexp - 1))
    half = dtype(0.5)
    one = dtype(1)
    terms = tuple(dtype(c) for c in reversed(coefficients))
    lead, rest = terms[0], terms[1:]

    @njit(nogil=True, inline="always")
    def exp_of_remainder(x, n):  # type: ignore[no-untyped-def]
        r = (x - n * log2_high) - n * log2_low
        q = lead
        for c in rest:
            q = q * r + c
        return one + (r + r * r * q)

    @njit(nogil=True, inline="always")
    def power_of_two(rounded):  # type: ignore[no-untyped-def]
        return _same_bits(bits((_same_bits(rounded) + bias) << mantissa))  # type: ignore[call-arg]

    @njit(nogil=True, error_model="numpy", fastmath={"contract"})
    def exp_normal(chunk, cap):  # type: ignore[no-untyped-def]
        for i in range(chunk.size):
            x = chunk[i]
            x = cap if x > cap else x
            rounded = x * per_log2 + magic
            chunk[i] = exp_of_remainder(x, rounded - magic) * power_of_two(rounded)

    @njit(nogil=True, error_model="numpy", fastmath={"contract"})
    def exp_any(chunk, cap):  # type: ignore[no-untyped-def]
        for i in range(chunk.size):
            x = chunk[i]
            x = cap if x > cap else x
            x = lowest if x < lowest else x  # written so that NaN passes through
            x = highest if x > highest else x
            n = (x * per_log2 + magic) - magic
            # 2**n in two factors: alone it would overflow or vanish before the product does.
            rounded = n * half + magic
            other = (n - (rounded - magic)) + magic
            p = exp_of_remainder(x, n)
            chunk[i] = (p * power_of_two(rounded)) * power_of_two(other)

    @njit(nogil=True)
    def all_normal(chunk):  # type: ignore[no-untyped-def]
        outside = 0
        for i in range(chunk.size):
            outside += not (low_normal < chunk[i] < high_normal)
        return outside == 0

    @njit(nogil=True)
    def exp_inplace(flat, cap):  # type: ignore[no-untyped-def]
        for start in range(0, flat.size, _CHUNK):
            chunk = flat[start : start + _CHUNK]
            if all_normal(chunk):
                exp_normal(chunk, cap)
            else:
                exp_any(chunk, cap)

    return exp_inplace


_exp_inplace_64 = _make_exp_inplace(
    np.float64,
    np.int64,
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

_exp_inplace_32 = _make_exp_inplace(
    np.float32,
    np.int32,
    (
        0.5,
        0.16666576989698775683,
        0.041666554617204574203,
        0.0083631790527225773704,
        0.0013926183587713494542,
    ),
)


def exp_inplace(values: np.ndarray, at_most: float = np.inf) -> np.ndarray:
    """Replace a contiguous float32 or float64 array by its exponential, and return it.

    Exponents above ``at_most`` are taken for it: 0 for a distance that rounding made negative.

    The error is below 4 units in the last place over the whole range, subnormal results included;
    ``-inf`` gives 0, ``inf`` and overflow give ``inf``, NaN stays NaN.

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
    flat = values.reshape(-1, order="A")  # a view: a transposed block is contiguous too
    compiled = _exp_inplace_32 if values.dtype == np.float32 else _exp_inplace_64
    compiled(flat, values.dtype.type(at_most))
    return values
