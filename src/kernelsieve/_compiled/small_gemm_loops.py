"""The compiled loops of :mod:`kernelsieve._compiled.small_gemm`.

They look at nothing: who calls them has checked types, shapes and layout.
"""

# What numba compiles has types of its own.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg"

from __future__ import annotations

from functools import partial

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from .fast_exp import exp_numbers
from .jit_cache import BOTH_FLOATS, array, compiled, const, instructions_or, part
from .simd import HAS_AVX512, Registers, lanes

# A tile of GROUP lines, VECTORS registers each, fills most of the registers and leaves room for what
# is being multiplied: 24 of 32 with AVX-512, 12 of 16 elsewhere.
GROUP = 8 if HAS_AVX512 else 4
VECTORS = 3

_CACHE_LINE = 64
_PANEL_BYTES = 2**17  # of rows that are laid out together, and read soon afterwards


#: The number of columns of a tile.
PANEL_WIDTH = {np.dtype(kind): VECTORS * lanes(kind) for kind in BOTH_FLOATS}


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

            zero = registers.constant(0)
            sums = [[registers.variable(zero) for _ in range(vectors)] for _ in range(GROUP)]
            with cgutils.for_range(builder, n_terms) as loop:
                width = vectors * registers.count
                panel_values = [
                    registers.load(place)
                    for place in places(factors(panel_type, panel, at_panel, width, loop.index))
                ]
                of_group = factors(group_type, group, at_group, GROUP, loop.index)
                for i, line in enumerate(sums):
                    factor = registers.load_broadcast(step(of_group, i))
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
    """Return memory aligned to cache lines, so that no register spans two of them."""
    memory = np.empty(size + _CACHE_LINE // example.itemsize, example.dtype)
    first = (-memory.ctypes.data % _CACHE_LINE) // example.itemsize
    return memory[first : first + size]


def _plain_transpose(X, at_row, stride, origin, at_input, panel, at_panel, norms, at_norm):
    square, lines = lanes(panel.dtype), panel.reshape(-1, panel.shape[-1])
    row, (line, column) = at_row // stride, divmod(at_panel, panel.shape[-1])
    inputs = slice(at_input, at_input + square)
    moved = X[row : row + square, inputs] - origin[inputs]
    lines[line : line + square, column : column + square] = moved.T
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
def _lay_out(X, origin, first, panels, s, norms):
    """Write ``x - origin`` for the rows from the first on as columns of panel ``s``.

    Panels with two lines more than a row has numbers get ``|x - origin|^2`` and 1 there. Return the sum
    of the squared norms, which is finite only if all rows are.
    """
    n_inputs, n_terms, width = X.shape[1], panels.shape[1], panels.shape[2]
    square, at_panel = width // VECTORS, s * n_terms * width
    for i in range(width):
        norms[i] = 0
    whole = n_inputs - n_inputs % square
    for j in range(0, whole, square):
        for i in range(0, width, square):
            at_row, at = (first + i) * n_inputs, at_panel + j * width + i
            _transpose(X, at_row, n_inputs, origin, j, panels, at, norms, i)
    for j in range(whole, n_inputs):
        for i in range(width):
            moved = X[first + i, j] - origin[j]
            panels[s, j, i] = moved
            norms[i] += moved * moved
    total = norms[0]
    for i in range(1, width):
        total += norms[i]
    if n_terms > n_inputs:
        for i in range(width):
            panels[s, n_inputs, i] = norms[i]
            panels[s, n_inputs + 1, i] = 1
    return total


def _lines_signature(number):
    rows = const(number, 2), const(number, 1), const(number, 3), const(types.intp, 1)
    return *rows, types.boolean, array(number, 3), array(number, 1), array(number, 2)


@partial(part, fastmath={"reassoc"})
def _sum(values, start, stop):
    total = values[start, 0] * 0
    for i in range(start, stop):
        for j in range(values.shape[1]):
            total += values[i, j]
    return total


# What numba knows of numpy takes it seconds to compile. So these loops make no arrays and no slices:
# who calls them brings the memory.
@compiled(_lines_signature, BOTH_FLOATS)
def make_lines(X, origin, groups, group_starts, exponential, panels, norms, out):
    """Write the tiles of all groups of lines with all rows, as many at a time as there are panels.

    The last panel ends with the last row, and so repeats some of the rows before it. Return 0 if all
    rows are finite, and otherwise NaN; also if their squares are not.
    """
    n_terms, at_once, width = groups.shape[1], panels.shape[0], panels.shape[2]
    stride, last = out.shape[1], out.shape[1] - width
    n_panels = (stride + width - 1) // width
    total = origin[0] * 0
    for first in range(0, n_panels, at_once):
        count = n_panels - first if n_panels - first < at_once else at_once
        for s in range(count):
            row = (first + s) * width if (first + s) * width < last else last
            total += _lay_out(X, origin, row, panels, s, norms)
        start = first * width if first * width < last else last
        stop = (first + count) * width if (first + count) * width < stride else stride
        for g in range(groups.shape[0]):
            for s in range(count):
                row = (first + s) * width if (first + s) * width < last else last
                at_out, at_panel = group_starts[g] * stride + row, s * n_terms * width
                _tile(groups, g * n_terms * GROUP, panels, at_panel, n_terms, out, at_out, stride)
            if exponential:
                for line in range(group_starts[g], group_starts[g] + GROUP):
                    exp_numbers(out, line, start, stop, norms, out.dtype.type(0))
    return total * 0


def _near_signature(number):
    rows = const(number, 2), const(number, 1), const(number, 2)
    return *rows, number, array(number, 2)


@compiled(_near_signature, BOTH_FLOATS)
def recompute_near(X, origin, left, near, out):
    """Recompute values above ``-near`` by differences of inputs.

    The terms ``[2 c z, -c, -c |z|^2]`` of a line gave ``-c |x - z|^2``, of which norms leave few digits
    there.
    """
    n_rows, n_inputs = X.shape
    for line in range(left.shape[0]):
        factor, n_near = -left[line, n_inputs], 0
        for i in range(n_rows):  # without a branch, since hardly any are
            n_near += out[line, i] > -near
        if n_near == 0:
            continue
        for i in range(n_rows):
            if out[line, i] > -near:
                total = 0.0
                for j in range(n_inputs):
                    difference = X[i, j] - origin[j] - left[line, j] / (2 * factor)
                    total += difference * difference
                out[line, i] = -factor * total


def panel_memory(n_terms: int, n_rows: int, example: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return memory for the panels that are packed together, and for norms."""
    width = PANEL_WIDTH[example.dtype]
    most = max(1, _PANEL_BYTES // (n_terms * width * example.itemsize))
    at_once = min(-(-n_rows // width), most)
    panels = aligned(at_once * n_terms * width, example).reshape(at_once, n_terms, width)
    return panels, aligned(width, example)


def _rows_signature(number):
    lines = const(number, 2), const(number, 1), const(types.intp, 2), array(number, 1)
    return *lines, array(number, 2)


@compiled(_rows_signature, BOTH_FLOATS)
def make_rows(lines, panels, plan, group, out):
    """Write the tiles of all rows with all panels; return a sum that is finite only if all are.

    The plan says of every panel where it begins, its first column, its terms and if it is narrow.
    ``group`` has room for GROUP rows and a line of ones.
    """
    n_rows, stride = out.shape
    total = panels[0] * 0
    for i in range(GROUP):
        group[i] = 1
    for first in range(0, n_rows, GROUP):
        row = first if first < n_rows - GROUP else n_rows - GROUP
        for p in range(lines.shape[0]):
            _copy_group(lines, p * n_rows + row, group, (p + 1) * GROUP)
        for k in range(plan.shape[0]):
            at_panel, column, n_terms, at_out = plan[k, 0], plan[k, 1], plan[k, 2], row * stride
            if plan[k, 3]:
                _narrow_tile(group, 0, panels, at_panel, n_terms, out, at_out + column, stride)
            else:
                _tile(group, 0, panels, at_panel, n_terms, out, at_out + column, stride)
        total += _sum(out, row, row + GROUP)
    return total


def _outputs_signature(number):
    terms = const(number, 1), const(number, 2), const(number, 1), types.boolean
    return *terms, const(number, 2), array(number, 2), array(number, 1), array(number, 1)


@compiled(_outputs_signature, BOTH_FLOATS)
def make_outputs(x, terms, origin, exponential, weights, line, scratch, out):
    """Write weighted sums of the lines of one row; all lines are computed together, term by term."""
    n_terms, n_lines = terms.shape
    zero = origin[0] * 0
    norm = zero
    for i in range(n_lines):
        line[0, i] = 0
    for p in range(n_terms):
        if p < x.shape[0]:
            factor = x[p] - origin[p]
            norm += factor * factor
        else:
            factor = norm if p == x.shape[0] else zero + 1
        for i in range(n_lines):
            line[0, i] += factor * terms[p, i]
    if exponential:
        exp_numbers(line, 0, 0, n_lines, scratch, out.dtype.type(0))
    for j in range(weights.shape[0]):
        total = zero
        for i in range(n_lines):
            total += weights[j, i] * line[0, i]
        out[j] = total
