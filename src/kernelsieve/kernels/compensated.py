"""Sums of products to twice the digits of float64, at four times the price of plain ones.

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
from numba.core import cgutils, types
from numba.extending import intrinsic

from .compiling import compiled
from .registers import Registers, lanes
from .tile_loops import GROUP
from .tiles import LineProduct, check_array

#: Numbers of a line in one tile.
WIDTH = lanes(np.float64)
#: Terms that are added to one anchor: few, so that it is not much larger than they are.
CHUNK = 16
_ROWS_AT_ONCE = 2048  # whose lines are held, for features of any number of rows
_ANCHOR = 3.0  # for sums up to 1, which are then between 2 and 4


@intrinsic
def fma(_typing_context, left, right, addend):
    """Return ``left * right + addend``, rounded once."""

    def generate(_context, builder, _signature, arguments):
        return builder.fma(*arguments)

    return types.float64(types.float64, types.float64, types.float64), generate


@compiled
def whole_chunks(n_terms):
    """Return the number of terms in as many chunks as are needed."""
    return -(-n_terms // CHUNK) * CHUNK


@compiled
def two_sum(left, right):
    """Return ``left + right`` and what it is rounded by."""
    total = left + right
    back = total - left
    return total, (left - (total - back)) + (right - back)


@compiled
def plus(high, low, more_high, more_low):
    """Return the sum of two numbers of two parts each, in two parts."""
    total, rest = two_sum(high, more_high)
    rest += low + more_low
    rounded = total + rest
    return rounded, rest - (rounded - total)


@compiled
def write_units(packed, width, units):
    """Write powers of two that are above the lengths of chunks; ``width`` of them are side by side."""
    for c in range(len(packed) // (width * CHUNK)):
        for w in range(width):
            squared = 0.0
            for p in range(c * CHUNK, (c + 1) * CHUNK):
                squared += packed[p * width + w] ** 2
            length = math.sqrt(squared)
            finite = math.isfinite(length)
            units[c * width + w] = math.ldexp(1.0, math.frexp(length)[1]) if finite else 1.0


@intrinsic
def tile(
    _typing_context, group, group_units, at_group, panel, panel_units, at_panel, n_chunks, sums, rests
):
    """Write the tile ``sum_p group[p, i] * panel[p, :]`` as sums and what is missing from them.

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
        zero = registers.of(0)

        def number(value):
            return ir.Constant(n_chunks[1].type, value)

        def place(array, index, width):
            return registers.address(*array, builder.mul(index, number(width)))

        def of_line(i, array, index):
            address = builder.gep(place(array, index, GROUP), [number(i)])
            return registers.repeated(builder.load(address))

        def begin_chunk(in_group, in_panel):
            units = registers.load(place(panel_units, in_panel, WIDTH))
            for i in range(GROUP):
                unit = builder.fmul(of_line(i, group_units, in_group), units)
                builder.store(builder.fmul(unit, registers.of(_ANCHOR)), anchors[i])
                builder.store(builder.load(anchors[i]), totals[i])
                builder.store(zero, missing[i])

        def add_term(in_group, in_panel):
            values = registers.load(place(panel, in_panel, WIDTH))
            for i in range(GROUP):
                factor, before = of_line(i, group, in_group), builder.load(totals[i])
                after = registers.joined(factor, values, before)
                added = builder.fsub(after, before)  # exact
                rest = registers.joined(factor, values, builder.fneg(added))
                builder.store(after, totals[i])
                builder.store(builder.fadd(builder.load(missing[i]), rest), missing[i])

        def end_chunk():
            for i, (at_sum, at_rest) in enumerate(results):
                total = builder.fsub(builder.load(totals[i]), builder.load(anchors[i]))
                new_sum, lost = registers.two_sum(registers.load(at_sum), total)
                rest = builder.fadd(builder.load(missing[i]), lost)
                registers.store(new_sum, at_sum)
                registers.store(builder.fadd(registers.load(at_rest), rest), at_rest)

        results = [[place(array, number(i), WIDTH) for array in (sums, rests)] for i in range(GROUP)]
        for address in (address for pair in results for address in pair):
            registers.store(zero, address)
        anchors, totals, missing = (
            [cgutils.alloca_once_value(builder, zero) for _ in range(GROUP)] for _ in range(3)
        )
        with cgutils.for_range(builder, n_chunks[1]) as chunks:
            in_group = builder.add(at_group[1], chunks.index)
            in_panel = builder.add(at_panel[1], chunks.index)
            begin_chunk(in_group, in_panel)
            with cgutils.for_range(builder, number(CHUNK)) as terms:
                add_term(
                    *(
                        builder.add(builder.mul(chunk, number(CHUNK)), terms.index)
                        for chunk in (in_group, in_panel)
                    )
                )
            end_chunk()
        return context.get_dummy_value()

    return signature, generate


@compiled
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


class CompensatedRowProduct:
    """``lines.T @ right - offset``, as :class:`RowProduct`, to the last digit where terms cancel.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.kernels.compensated import CompensatedRowProduct
    >>> right, lines, rows = np.array([[1e16], [1.0]]), np.ones((2, 1)), np.empty((1, 1))
    >>> product = CompensatedRowProduct(right, np.array([1e16]), np.array([2]))
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
        write_units(together, WIDTH, units)
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
