"""The compiled loops of :mod:`kernelsieve.kernels.compiled.small_gemm`.

They look at nothing: who calls them has checked types, shapes and layout.
"""

# What numba compiles has types of its own.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg"

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import register_jitable

from .fast_exp import exp_numbers
from .jit_cache import array, compiled, const, instructions_or, part
from .simd import HAS_AVX512, Registers, lanes

# A tile of GROUP lines, VECTORS registers each, fills most of the registers and leaves room for what
# is being multiplied: 24 of 32 with AVX-512, 12 of 16 elsewhere.
GROUP = 8 if HAS_AVX512 else 4
VECTORS = 3

_CACHE_LINE = 64
_PANEL_BYTES = 2**17  # of rows that are laid out together, and read soon afterwards
_LINE_BYTES = 2**18  # of lines that are made together, and then read


def panel_width(dtype: Any) -> int:
    """Return how many numbers of a line are in one tile."""
    return VECTORS * lanes(dtype)


def _tile_of(vectors):
    """Return what writes tiles of that many registers a line."""

    def plain_tile(group, at_group, panel, at_panel, n_terms, out, at_out, stride):
        width = vectors * lanes(out.dtype)
        left = group.reshape(-1)[at_group : at_group + n_terms * GROUP].reshape(n_terms, GROUP)
        right = panel.reshape(-1)[at_panel : at_panel + n_terms * width].reshape(n_terms, width)
        for i, line in enumerate(left.T @ right):
            out.reshape(-1)[at_out + i * stride :][:width] = line

    @instructions_or(plain_tile)
    def tile(_typing_context, group, at_group, panel, at_panel, n_terms, out, at_out, stride):
        """Write the tile ``out[i, :] = sum_p group[p, i] * panel[p, :]``.

        ``group`` has GROUP numbers for each term p, ``panel`` as many as the tile is wide; both and
        ``out`` are contiguous arrays, of which the tile's parts begin at the given positions.
        """
        signature = types.void(group, at_group, panel, at_panel, n_terms, out, at_out, stride)

        def generate(context, builder, signature, arguments):
            group, at_group, panel, at_panel, n_terms, out, at_out, stride = arguments
            group_type, panel_type, out_type = (signature.args[i] for i in (0, 2, 5))
            registers = Registers(context, builder, out_type.dtype)

            def step(address, count):
                return registers.after(address, ir.Constant(n_terms.type, count))

            def places(address):
                return [step(address, v * registers.count) for v in range(vectors)]

            def factors(array_type, array, start, per_term, term):
                offset = builder.mul(term, ir.Constant(term.type, per_term))
                return registers.address(array_type, array, builder.add(start, offset))

            zero = registers.of(0)
            sums = [[registers.variable(zero) for _ in range(vectors)] for _ in range(GROUP)]
            with cgutils.for_range(builder, n_terms) as loop:
                width = vectors * registers.count
                panel_values = [
                    registers.load(place)
                    for place in places(factors(panel_type, panel, at_panel, width, loop.index))
                ]
                of_group = factors(group_type, group, at_group, GROUP, loop.index)
                for i, line in enumerate(sums):
                    factor = registers.load_repeated(step(of_group, i))
                    for total, values in zip(line, panel_values, strict=True):
                        new_total = registers.plus_product(registers.value(total), factor, values)
                        builder.store(new_total, total)
            address = registers.address(out_type, out, at_out)
            for line in sums:
                for total, place in zip(line, places(address), strict=True):
                    registers.store(registers.value(total), place)
                address = registers.after(address, stride)
            return context.get_dummy_value()

        return signature, generate

    return tile


_tile, _narrow_tile = _tile_of(VECTORS), _tile_of(1)


def _plain_copy_group(values, at_values, group, at_group):
    group[at_group : at_group + GROUP] = values.reshape(-1)[at_values : at_values + GROUP]


@instructions_or(_plain_copy_group)
def _copy_group(_typing_context, values, at_values, group, at_group):
    """Copy GROUP numbers from one contiguous array to another."""
    signature = types.void(values, at_values, group, at_group)

    def generate(context, builder, signature, arguments):
        values, at_values, group, at_group = arguments
        registers = Registers(context, builder, signature.args[0].dtype, GROUP)
        read = registers.load(registers.address(signature.args[0], values, at_values))
        registers.store(read, registers.address(signature.args[2], group, at_group))
        return context.get_dummy_value()

    return signature, generate


@part
def aligned(size, example):
    """Return memory that begins with a cache line: a register is then never read from two."""
    memory = np.empty(size + _CACHE_LINE // example.itemsize, example.dtype)
    first = (-memory.ctypes.data % _CACHE_LINE) // example.itemsize
    return memory[first : first + size]


def _plain_transpose(X, at_row, stride, origin, at_input, panel, at_panel, norms, at_norm):
    square = lanes(panel.dtype)
    row, (line, column) = at_row // stride, divmod(at_panel, panel.shape[1])
    inputs = slice(at_input, at_input + square)
    moved = X[row : row + square, inputs] - origin[inputs]
    panel[line : line + square, column : column + square] = moved.T
    norms[at_norm : at_norm + square] += (moved**2).sum(axis=1)


@instructions_or(_plain_transpose)
def _transpose(_typing_context, X, at_row, stride, origin, at_input, panel, at_panel, norms, at_norm):
    """Write ``(x - origin)'`` for a square of rows and inputs, and add to the squared norms of rows."""
    signature = types.void(X, at_row, stride, origin, at_input, panel, at_panel, norms, at_norm)

    def generate(context, builder, signature, arguments):
        X, at_row, stride, origin, at_input, panel, at_panel, norms, at_norm = arguments
        X_type, origin_type, panel_type, norms_type = (signature.args[i] for i in (0, 3, 5, 7))
        registers = Registers(context, builder, panel_type.dtype)
        address = registers.address(X_type, X, builder.add(at_row, at_input))
        middle = registers.load(registers.address(origin_type, origin, at_input))
        rows = []
        for _ in range(registers.count):
            rows.append(builder.fsub(registers.load(address), middle))
            address = registers.after(address, stride)
        norm_address = registers.address(norms_type, norms, at_norm)
        norm = registers.load(norm_address)
        address = registers.address(panel_type, panel, at_panel)
        for line in registers.transposed(rows):
            norm = registers.plus_product(norm, line, line)
            registers.store(line, address)
            address = registers.after(address, ir.Constant(stride.type, VECTORS * registers.count))
        registers.store(norm, norm_address)
        return context.get_dummy_value()

    return signature, generate


@part
def _lay_out(X, origin, first_panel, panels):
    """Write ``x - origin`` for every row as a column of a panel.

    Panels with two lines more than a row has numbers get ``|x - origin|^2`` and 1 there. The last
    panel ends with the last row, and so repeats some of the rows before it. Return the sum of the
    squared norms, which is finite only if all rows are.
    """
    n_rows, n_inputs = X.shape
    n_panels, n_terms, width = panels.shape
    square = width // VECTORS
    norms = aligned(width, panels[0])
    total = norms.dtype.type(0)
    for s in range(n_panels):
        panel = panels[s]
        first = max(0, min((first_panel + s) * width, n_rows - width))
        for i in range(width):
            norms[i] = 0
        whole = n_inputs - n_inputs % square
        for j in range(0, whole, square):
            for i in range(0, width, square):
                at_row = (first + i) * n_inputs
                _transpose(X, at_row, n_inputs, origin, j, panel, j * width + i, norms, i)
        for j in range(whole, n_inputs):
            for i in range(width):
                moved = X[first + i, j] - origin[j]
                panel[j, i] = moved
                norms[i] += moved * moved
        for i in range(width):
            total += norms[i]
        if n_terms > n_inputs:
            for i in range(width):
                panel[n_inputs, i] = norms[i]
                panel[n_inputs + 1, i] = 1
    return total


@part
def _make_lines(X, origin, groups, group_starts, width, exponential, out):
    """Write the tiles of all groups of lines with all rows, some rows at a time.

    Return 0 if all rows are finite, and otherwise NaN; also if their squares are not.
    """
    n_terms = groups.shape[1]
    stride = out.shape[1]
    n_panels = (stride + width - 1) // width
    at_once = min(n_panels, max(1, _PANEL_BYTES // (n_terms * width * out.itemsize)))
    panels = aligned(at_once * n_terms * width, out).reshape(at_once, n_terms, width)
    norms = out.dtype.type(0)
    for first in range(0, n_panels, at_once):
        some = panels[: n_panels - first]
        norms += _lay_out(X, origin, first, some)
        start = min(first * width, stride - width)
        stop = min((first + len(some)) * width, stride)
        for g in range(len(groups)):
            for s in range(len(some)):
                at_out = group_starts[g] * stride + min((first + s) * width, stride - width)
                at_panel = s * n_terms * width
                _tile(groups, g * n_terms * GROUP, some, at_panel, n_terms, out, at_out, stride)
            if exponential:
                for line in range(group_starts[g], group_starts[g] + GROUP):
                    exp_numbers(out[line, start:stop], out.dtype.type(0))
    return norms * 0


@register_jitable(fastmath={"reassoc"})
def _sum(values):
    total = values.dtype.type(0)
    for i in range(values.size):
        total += values[i]
    return total


@part
def _make_rows(lines, panels, plan, out):
    """Write the tiles of all rows with all panels; return a sum that is finite only if all are.

    The plan says of every panel where it begins, its first column, its terms and if it is narrow.
    """
    n_rows, stride = out.shape
    total = out.dtype.type(0)
    everything = out.reshape(-1)
    group = aligned((len(lines) + 1) * GROUP, out)
    for i in range(GROUP):
        group[i] = 1
    for first in range(0, n_rows, GROUP):
        row = min(first, n_rows - GROUP)
        for p in range(len(lines)):
            _copy_group(lines, p * n_rows + row, group, (p + 1) * GROUP)
        for at_panel, column, n_terms, narrow in plan:
            at_out = row * stride + column
            if narrow:
                _narrow_tile(group, 0, panels, at_panel, n_terms, out, at_out, stride)
            else:
                _tile(group, 0, panels, at_panel, n_terms, out, at_out, stride)
        total += _sum(everything[row * stride : (row + GROUP) * stride])
    return total


def _lines_signature(number):
    rows = const(number, 2), const(number, 1)
    return *rows, const(number, 3), const(types.intp, 1), types.intp, types.boolean


def _rows_signature(number):
    return const(number, 1), const(types.intp, 2)


make_lines = compiled(lambda number: (*_lines_signature(number), array(number, 2)))(_make_lines)
make_rows = compiled(lambda number: (const(number, 2), *_rows_signature(number), array(number, 2)))(
    _make_rows
)


@compiled(lambda number: (*_lines_signature(number), *_rows_signature(number), array(number, 2)))
def make_features(X, origin, groups, group_starts, width, exponential, panels, plan, out):
    """Write lines and from them rows, some rows at a time, so that lines do not leave the cache.

    Return a sum that is finite only if everything read and written is.
    """
    n_rows = len(X)
    n_lines = group_starts[-1] + GROUP
    at_once = min(n_rows, max(width, _LINE_BYTES // (n_lines * out.itemsize) // width * width))
    lines = aligned(n_lines * at_once, out).reshape(n_lines, at_once)
    total = out.dtype.type(0)
    for first in range(0, n_rows, at_once):
        start = min(first, n_rows - at_once)
        stop = start + at_once
        rows = X[start:stop]
        total += _make_lines(rows, origin, groups, group_starts, width, exponential, lines)
        total += _make_rows(lines, panels, plan, out[start:stop])
    return total


def _outputs_signature(number):
    terms = const(number, 1), const(number, 2), const(number, 1), types.boolean
    return *terms, const(number, 2), array(number, 1)


@compiled(_outputs_signature)
def make_outputs(x, terms, origin, exponential, weights, out):
    """Write weighted sums of the lines of one row: all lines grow together, a term at a time."""
    n_terms, n_lines = terms.shape
    line = np.zeros(n_lines, out.dtype)
    norm = out.dtype.type(0)
    for p in range(n_terms):
        if p < len(x):
            factor = x[p] - origin[p]
            norm += factor * factor
        else:
            factor = norm if p == len(x) else out.dtype.type(1)
        for i in range(n_lines):
            line[i] += factor * terms[p, i]
    if exponential:
        exp_numbers(line, out.dtype.type(0))
    for j in range(len(weights)):
        out[j] = _sum(weights[j] * line)
