"""Sums of products in double-double precision, at four times the cost of plain ones.

A sum that begins with a large number, the anchor, does not leave the range where its last digit is
worth the same. So what a product loses when it is added can be told, and is summed up beside it. This
is the extraction of Rump, Ogita and Oishi (2008), with both roundings, that of the product and that of
the sum, in one remainder.
"""

# What numba compiles has types of its own.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg"

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from .jit_cache import array, compiled, const, instructions_or, part
from .simd import Registers, lanes
from .small_gemm import LineProduct, check_array
from .small_gemm_loops import GROUP

#: Numbers of a line in one tile.
WIDTH = lanes(np.float64)
#: Terms that are added to one anchor: few, so that it is not much larger than they are.
CHUNK = 16
_ROWS_AT_ONCE = 2048  # whose lines are held, for features of any number of rows
_ANCHOR = 3.0  # for sums up to 1, which are then between 2 and 4


def _halves(value):
    """Split a number into two of half the digits, with exact products (Veltkamp)."""
    scaled = (2.0**27 + 1) * value
    high = scaled - (scaled - value)
    return high, value - high


def _plain_rounding_of_product(left, right, product):
    (left_high, left_low), (right_high, right_low) = _halves(left), _halves(right)
    crossed = left_high * right_low + left_low * right_high
    return left_low * right_low - ((product - left_high * right_high) - crossed)


@instructions_or(_plain_rounding_of_product)
def rounding_of_product(_typing_context, left, right, product):
    """Return the rounding error of ``product``, the rounded value of ``left * right``."""

    def generate(_context, builder, _signature, arguments):
        left, right, product = arguments
        return builder.fma(left, right, builder.fneg(product))

    return types.float64(types.float64, types.float64, types.float64), generate


@part
def whole_chunks(n_terms):
    """Return the number of terms in as many chunks as are needed."""
    return -(-n_terms // CHUNK) * CHUNK


@part
def two_sum(left, right):
    """Return ``left + right`` and its rounding error."""
    total = left + right
    back = total - left
    return total, (left - (total - back)) + (right - back)


@part
def plus(high, low, more_high, more_low):
    """Return the sum of two double-double numbers."""
    total, rest = two_sum(high, more_high)
    rest += low + more_low
    rounded = total + rest
    return rounded, rest - (rounded - total)


@part
def write_units(packed, width, units):
    """Write powers of two above the norms of the chunks, ``width`` of them side by side."""
    for c in range(len(packed) // (width * CHUNK)):
        for w in range(width):
            squared = 0.0
            for p in range(c * CHUNK, (c + 1) * CHUNK):
                squared += packed[p * width + w] ** 2
            length = math.sqrt(squared)
            finite = math.isfinite(length)
            units[c * width + w] = math.ldexp(1.0, math.frexp(length)[1]) if finite else 1.0


write_all_units = compiled(lambda number: (const(number, 1), types.intp, array(number, 1)))(write_units)


def _plain_tile(group, group_units, at_group, panel, panel_units, at_panel, n_chunks, sums, rests):
    n_terms = n_chunks * CHUNK
    left = group[at_group * CHUNK * GROUP :][: n_terms * GROUP].reshape(n_terms, GROUP, 1)
    right = panel[at_panel * CHUNK * WIDTH :][: n_terms * WIDTH].reshape(n_terms, 1, WIDTH)
    totals = left * right
    rest = _plain_rounding_of_product(left, right, totals).sum(axis=0)
    while len(totals) > 1:  # half of them to the other half
        if len(totals) % 2:
            totals = np.concatenate([totals, np.zeros_like(totals[:1])])
        totals, lost = two_sum(*np.split(totals, 2))
        rest += lost.sum(axis=0)
    sums[:], rests[:] = totals.ravel(), rest.ravel()


@instructions_or(_plain_tile)
def tile(
    _typing_context, group, group_units, at_group, panel, panel_units, at_panel, n_chunks, sums, rests
):
    """Write the tile ``sum_p group[p, i] * panel[p, :]`` as sums and their rounding errors.

    ``group`` has GROUP numbers for each term p and ``panel`` has WIDTH, as ``sums`` and ``rests`` have
    for each of the GROUP lines. Units are those of :func:`write_units`; the positions count chunks.
    """
    signature = types.void(
        group, group_units, at_group, panel, panel_units, at_panel, n_chunks, sums, rests
    )

    def generate(context, builder, signature, arguments):
        group, group_units, at_group, panel, panel_units, at_panel, n_chunks, sums, rests = zip(
            signature.args, arguments, strict=True
        )
        registers = Registers(context, builder, signature.args[0].dtype)
        zero = registers.constant(0)

        def number(value):
            return ir.Constant(n_chunks[1].type, value)

        def place(array, index, width):
            return registers.address(*array, builder.mul(index, number(width)))

        def of_line(i, array, index):
            return registers.load_broadcast(registers.after(place(array, index, GROUP), number(i)))

        def begin_chunk(in_group, in_panel):
            units = registers.load(place(panel_units, in_panel, WIDTH))
            for i in range(GROUP):
                unit = builder.fmul(of_line(i, group_units, in_group), units)
                builder.store(builder.fmul(unit, registers.constant(_ANCHOR)), anchors[i])
                builder.store(registers.value(anchors[i]), totals[i])
                builder.store(zero, missing[i])

        def add_term(in_group, in_panel):
            values = registers.load(place(panel, in_panel, WIDTH))
            for i in range(GROUP):
                factor, before = of_line(i, group, in_group), registers.value(totals[i])
                after = registers.fused_multiply_add(factor, values, before)
                added = builder.fsub(after, before)  # exact
                rest = registers.fused_multiply_add(factor, values, builder.fneg(added))
                builder.store(after, totals[i])
                builder.store(builder.fadd(registers.value(missing[i]), rest), missing[i])

        def end_chunk():
            for i, (at_sum, at_rest) in enumerate(results):
                total = builder.fsub(registers.value(totals[i]), registers.value(anchors[i]))
                new_sum, lost = registers.two_sum(registers.load(at_sum), total)
                rest = builder.fadd(registers.value(missing[i]), lost)
                registers.store(new_sum, at_sum)
                registers.store(builder.fadd(registers.load(at_rest), rest), at_rest)

        results = [[place(array, number(i), WIDTH) for array in (sums, rests)] for i in range(GROUP)]
        for address in (address for pair in results for address in pair):
            registers.store(zero, address)
        anchors, totals, missing = ([registers.variable(zero) for _ in range(GROUP)] for _ in range(3))
        with cgutils.for_range(builder, n_chunks[1]) as chunks:
            in_group = builder.add(at_group[1], chunks.index)
            in_panel = builder.add(at_panel[1], chunks.index)
            begin_chunk(in_group, in_panel)
            with cgutils.for_range(builder, number(CHUNK)) as terms:
                starts = (builder.mul(chunk, number(CHUNK)) for chunk in (in_group, in_panel))
                add_term(*(builder.add(start, terms.index) for start in starts))
            end_chunk()
        return context.get_dummy_value()

    return signature, generate


def _rows_signature(number):
    panels = const(number, 1), const(number, 1)
    return const(number, 2), *panels, const(types.intp, 2), array(number, 2)


@compiled(_rows_signature)
def _make_rows(lines, panels, panel_units, plan, out):
    """Write the tiles of all rows with all panels; return a sum that is finite only if all are.

    The plan says of every panel where it begins, its first column and its size, in chunks.
    """
    n_lines, n_rows = lines.shape
    n_columns = out.shape[1]
    group = np.zeros(whole_chunks(n_lines + 1) * GROUP)
    group_units = np.empty(len(group) // CHUNK)
    sums, rests = np.empty(GROUP * WIDTH), np.empty(GROUP * WIDTH)
    group[:GROUP] = 1
    finite = 0.0
    for first in range(0, n_rows, GROUP):
        n_some = min(GROUP, n_rows - first)
        for p in range(n_lines):
            for i in range(n_some):
                group[(p + 1) * GROUP + i] = lines[p, first + i]
        write_units(group, GROUP, group_units)
        for at_panel, column, n_chunks in plan:
            tile(group, group_units, 0, panels, panel_units, at_panel, n_chunks, sums, rests)
            for i in range(n_some):
                for w in range(min(WIDTH, n_columns - column)):
                    value = sums[i * WIDTH + w] + rests[i * WIDTH + w]
                    out[first + i, column + w] = value
                    finite += value
    return finite


class DoubleDoubleRowProduct:
    """``lines.T @ right - offset`` in double-double precision; see :class:`.RowProduct`.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve._compiled import DoubleDoubleRowProduct
    >>> right, lines, rows = np.array([[1e16], [1.0]]), np.ones((2, 1)), np.empty((1, 1))
    >>> product = DoubleDoubleRowProduct(right, np.array([1e16]), np.array([2]))
    >>> bool(np.isfinite(product(lines, rows)))
    True
    >>> rows
    array([[1.]])
    """

    def __init__(self, right: np.ndarray, offset: np.ndarray, n_terms: np.ndarray) -> None:
        self._shape = right.shape
        terms = np.vstack([-offset, right])  # the offset is a term, of the factor 1
        missing = whole_chunks(len(terms)) - len(terms), -right.shape[1] % WIDTH
        terms = np.pad(terms, [(0, missing[0]), (0, missing[1])])
        plan, panels, at_panel = [], [], 0
        for column in range(0, terms.shape[1], WIDTH):
            needed = whole_chunks(int(n_terms[min(column + WIDTH, right.shape[1]) - 1]) + 1)
            panels.append(terms[:needed, column : column + WIDTH].ravel())
            plan.append((at_panel, column, needed // CHUNK))
            at_panel += needed // CHUNK
        together = np.concatenate(panels)
        units = np.empty(len(together) // CHUNK)
        write_all_units(together, WIDTH, units)
        self._arguments = together, units, np.array(plan, np.intp)

    def __call__(self, lines: np.ndarray, out: np.ndarray) -> float:
        """Write the rows into a contiguous array; return a sum that is finite only if they all are."""
        n_terms, n_columns = self._shape
        check_array("lines", lines, np.float64, (n_terms, lines.shape[1]))
        check_array("out", out, np.float64, (lines.shape[1], n_columns))
        return float(_make_rows(lines, *self._arguments, out))

    def of_rows(self, product: LineProduct, X: np.ndarray, out: np.ndarray) -> float:
        """Do the same with the lines that a product makes of rows ``X``, which are seen to as well."""
        finite = 0.0
        for first in range(0, len(X), _ROWS_AT_ONCE):
            some = X[first : first + _ROWS_AT_ONCE]
            lines = np.empty((self._shape[0], len(some)))
            finite += product(some, lines) + self(lines, out[first : first + _ROWS_AT_ONCE])
        return finite
