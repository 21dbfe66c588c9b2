"""Matrix products in which one side is small, at the full rate of the machine.

BLAS reaches that rate with large matrices only: with 50 inputs and 100 landmarks it spends half the
time on getting ready. Here the small side is laid out once, and the result is made in tiles that stay
in the vector registers until they are finished.

Every number of the result is one sum, taken in the order of the terms. So it is the same to the last
bit however the rows are cut into blocks and whoever computes them.
"""

# What numba compiles has types of its own.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg"

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.extending import intrinsic

from .fast_exp import exp_numbers
from .registers import HAS_AVX512, Registers, lanes

# A tile of GROUP lines, _VECTORS registers each, fills most of the registers and leaves room for what
# is being multiplied: 24 of 32 with AVX-512, 12 of 16 elsewhere.
GROUP = 8 if HAS_AVX512 else 4
_VECTORS = 3

#: Of rows with more inputs than that, a tile's factors leave the nearest cache, and BLAS is faster.
MOST_INPUTS = 1024
_MOST_LINES = 8192  # the same for lines, of which more are worth being rounded alike

_CACHE_LINE = 64
_PANEL_BYTES = 2**17  # of rows that are laid out together, and read soon afterwards
_LINE_BYTES = 2**18  # of lines that are made together, and then read


def _panel_width(dtype: Any) -> int:
    """Return how many numbers of a line are in one tile."""
    return _VECTORS * lanes(dtype)


@intrinsic
def _tile(_typing_context, group, at_group, panel, at_panel, n_terms, out, at_out, stride):
    """Write the tile ``out[i, :] = sum_p group[p, i] * panel[p, :]``.

    ``group`` has GROUP numbers for each term p, ``panel`` as many as ``_panel_width`` says; both and
    ``out`` are contiguous arrays, of which the tile's parts begin at the given positions.
    """
    signature = types.void(group, at_group, panel, at_panel, n_terms, out, at_out, stride)

    def generate(context, builder, signature, arguments):
        group, at_group, panel, at_panel, n_terms, out, at_out, stride = arguments
        group_type, panel_type, out_type = (signature.args[i] for i in (0, 2, 5))
        registers = Registers(context, builder, out_type.dtype)

        def step(address, count):
            return builder.gep(address, [ir.Constant(n_terms.type, count)])

        def places(address):
            return [step(address, v * registers.count) for v in range(_VECTORS)]

        def factors(array_type, array, start, per_term, term):
            offset = builder.mul(term, ir.Constant(term.type, per_term))
            return registers.address(array_type, array, builder.add(start, offset))

        zero = registers.of(0)
        sums = [
            [cgutils.alloca_once_value(builder, zero) for _ in range(_VECTORS)] for _ in range(GROUP)
        ]
        with cgutils.for_range(builder, n_terms) as loop:
            width = _VECTORS * registers.count
            panel_values = [
                registers.load(place)
                for place in places(factors(panel_type, panel, at_panel, width, loop.index))
            ]
            of_group = factors(group_type, group, at_group, GROUP, loop.index)
            for i, line in enumerate(sums):
                factor = registers.repeated(builder.load(step(of_group, i)))
                for total, values in zip(line, panel_values, strict=True):
                    builder.store(registers.plus_product(builder.load(total), factor, values), total)
        address = registers.address(out_type, out, at_out)
        for line in sums:
            for total, place in zip(line, places(address), strict=True):
                registers.store(builder.load(total), place)
            address = builder.gep(address, [stride])
        return context.get_dummy_value()

    return signature, generate


@intrinsic
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


@njit(nogil=True)
def _aligned(size, example):
    """Return memory that begins with a cache line: a register is then never read from two."""
    memory = np.empty(size + _CACHE_LINE // example.itemsize, example.dtype)
    first = (-memory.ctypes.data % _CACHE_LINE) // example.itemsize
    return memory[first : first + size]


@intrinsic
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
            address = builder.gep(address, [stride])
        norm_address = registers.address(norms_type, norms, at_norm)
        norm = registers.load(norm_address)
        address = registers.address(panel_type, panel, at_panel)
        for line in registers.transposed(rows):
            norm = registers.plus_product(norm, line, line)
            registers.store(line, address)
            address = builder.gep(address, [ir.Constant(stride.type, _VECTORS * registers.count)])
        registers.store(norm, norm_address)
        return context.get_dummy_value()

    return signature, generate


@njit(nogil=True)
def _lay_out(X, origin, first_panel, panels):
    """Write ``x - origin`` for every row as a column of a panel.

    Panels with two lines more than a row has numbers get ``|x - origin|^2`` and 1 there. The last
    panel ends with the last row, and so repeats some of the rows before it.
    """
    n_rows, n_inputs = X.shape
    n_panels, n_terms, width = panels.shape
    square = width // _VECTORS
    norms = _aligned(width, panels[0])
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
        if n_terms > n_inputs:
            for i in range(width):
                panel[n_inputs, i] = norms[i]
                panel[n_inputs + 1, i] = 1


@njit(nogil=True)
def _make_lines(X, origin, groups, group_starts, width, exponential, out):
    """Write the tiles of all groups of lines with all rows, some rows at a time."""
    n_terms = groups.shape[1]
    stride = out.shape[1]
    n_panels = (stride + width - 1) // width
    at_once = min(n_panels, max(1, _PANEL_BYTES // (n_terms * width * out.itemsize)))
    panels = _aligned(at_once * n_terms * width, out).reshape(at_once, n_terms, width)
    for first in range(0, n_panels, at_once):
        some = panels[: n_panels - first]
        _lay_out(X, origin, first, some)
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


@njit(nogil=True, fastmath={"reassoc"})
def _sum(values):
    total = values.dtype.type(0)
    for i in range(values.size):
        total += values[i]
    return total


@njit(nogil=True)
def _make_rows(lines, panels, panel_starts, n_terms, out):
    """Write the tiles of all rows with all panels; return a sum that is finite only if all are."""
    n_rows, stride = out.shape
    total = out.dtype.type(0)
    everything = out.reshape(-1)
    group = _aligned((len(lines) + 1) * GROUP, out)
    for i in range(GROUP):
        group[i] = 1
    for first in range(0, n_rows, GROUP):
        row = min(first, n_rows - GROUP)
        for p in range(len(lines)):
            _copy_group(lines, p * n_rows + row, group, (p + 1) * GROUP)
        for s in range(len(panels)):
            at_out = row * stride + panel_starts[s]
            _tile(group, 0, panels, s * panels[s].size, n_terms[s], out, at_out, stride)
        total += _sum(everything[row * stride : (row + GROUP) * stride])
    return total


@njit(nogil=True)
def _make_features(
    X, origin, groups, group_starts, width, exponential, panels, panel_starts, n_terms, out
):
    """Write lines and from them rows, some rows at a time, so that lines do not leave the cache."""
    n_rows = len(X)
    n_lines = group_starts[-1] + GROUP
    at_once = min(n_rows, max(width, _LINE_BYTES // (n_lines * out.itemsize) // width * width))
    lines = _aligned(n_lines * at_once, out).reshape(n_lines, at_once)
    total = out.dtype.type(0)
    for first in range(0, n_rows, at_once):
        start = min(first, n_rows - at_once)
        stop = start + at_once
        _make_lines(X[start:stop], origin, groups, group_starts, width, exponential, lines)
        total += _make_rows(lines, panels, panel_starts, n_terms, out[start:stop])
    return total


def _packed(lines: np.ndarray, starts: np.ndarray, width: int) -> np.ndarray:
    """Return ``lines[start : start + width].T`` for each start, with zeros for missing lines."""
    n_terms = lines.shape[1]
    example = np.empty((0, 0), lines.dtype)
    packed = _aligned(len(starts) * n_terms * width, example).reshape(-1, n_terms, width)
    packed[...] = 0
    for part, start in zip(packed, starts, strict=True):
        some = lines[start : start + width]
        part[:, : len(some)] = some.T
    return packed


def _check(name: str, array: np.ndarray, dtype: Any, shape: tuple[int, int]) -> None:
    """Refuse what compiled loops, which look at nothing, would read or write beside."""
    if array.dtype != dtype or array.shape != shape or not array.flags.c_contiguous:
        raise ValueError(
            f"{name} must be a C-contiguous {dtype} array of shape {shape}; "
            f"got {array.dtype} of shape {array.shape}."
        )


class LineProduct:
    """``left @ rows.T`` for a matrix that stays and rows that come in blocks.

    With an ``origin``, a row is ``[x - origin, |x - origin|^2, 1]`` rather than ``x``. The lines may be
    made exponentials, of numbers that are at most 0 but for rounding, while they are at hand.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.kernels.tiles import LineProduct
    >>> lines = np.empty((2, 1))
    >>> LineProduct(np.eye(2))(np.array([[3.0, 4.0]]), lines)
    >>> lines
    array([[3.],
           [4.]])
    """

    def __init__(
        self, left: np.ndarray, origin: np.ndarray | None = None, *, exponential: bool = False
    ) -> None:
        n_lines, n_terms = left.shape
        self._n_lines = n_lines
        # The last group ends with the last line, and so repeats some of the lines before it.
        starts = np.maximum(0, np.minimum(np.arange(0, n_lines, GROUP), n_lines - GROUP))
        self._groups = _packed(left, starts, GROUP)
        self._starts = starts
        self._origin = np.zeros(n_terms, left.dtype) if origin is None else origin
        self._exponential = exponential
        self._width = _panel_width(left.dtype)

    def __call__(self, X: np.ndarray, out: np.ndarray) -> None:
        """Write the lines of some rows into a contiguous array."""
        n_lines, n_rows = self._n_lines, len(X)
        _check("out", out, self._origin.dtype, (n_lines, n_rows))
        if self.makes_whole_tiles(n_rows):
            _make_lines(*self.arguments(X), out)
        elif out.size:
            whole_tiles = np.empty((max(n_lines, GROUP), max(n_rows, self._width)), out.dtype)
            whole_rows = np.zeros((max(n_rows, self._width), X.shape[1]), X.dtype)
            whole_rows[:n_rows] = X
            _make_lines(*self.arguments(whole_rows), whole_tiles)
            out[...] = whole_tiles[:n_lines, :n_rows]

    def makes_whole_tiles(self, n_rows: int) -> bool:
        """Tell if there are as many lines and rows as a tile has."""
        return self._n_lines >= GROUP and n_rows >= self._width

    def arguments(self, X: np.ndarray) -> tuple:
        """Return what compiled loops need to make lines of these rows."""
        origin = self._origin
        if X.shape[1] != len(origin):
            raise ValueError(f"X has {X.shape[1]} inputs and the landmarks have {len(origin)}.")
        if X.dtype != origin.dtype:  # moved before they are rounded
            X, origin = (X - origin).astype(origin.dtype), np.zeros_like(origin)
        X = np.ascontiguousarray(X)
        return X, origin, self._groups, self._starts, self._width, self._exponential


class RowProduct:
    """``lines.T @ right - offset`` for a matrix that stays and lines that come in blocks.

    ``n_terms[j]`` says how many rows of ``right`` column j needs, in ascending order: the rest of a
    triangle is not computed.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.kernels.tiles import RowProduct
    >>> rows = np.empty((1, 2))
    >>> shifted = RowProduct(np.eye(2), np.array([0.0, 1.0]), np.array([1, 2]))
    >>> bool(np.isfinite(shifted(np.array([[3.0], [4.0]]), rows)))
    True
    >>> rows
    array([[3., 3.]])
    """

    def __init__(self, right: np.ndarray, offset: np.ndarray, n_terms: np.ndarray) -> None:
        self._right, self._offset = right, offset
        n_columns = right.shape[1]
        self._width = _panel_width(right.dtype)
        # The last panel ends with the last column; the first repeats some columns of the second,
        # because there they have the fewest terms.
        starts = np.maximum(0, np.arange(n_columns, 0, -self._width)[::-1] - self._width)
        last = np.minimum(starts + self._width, n_columns) - 1
        panels = _packed(np.column_stack([-offset, right.T]), starts, self._width)
        self._arguments = panels, starts, n_terms[last] + 1  # the offset is a term

    def __call__(self, lines: np.ndarray, out: np.ndarray) -> float:
        """Write the rows into a contiguous array; return a sum that is finite only if they all are."""
        n_rows, n_columns = lines.shape[1], self._right.shape[1]
        _check("lines", lines, self._right.dtype, (len(self._right), n_rows))
        _check("out", out, self._right.dtype, (n_rows, n_columns))
        if len(lines) > _MOST_LINES:
            np.dot(lines.T, self._right, out=out)
            out -= self._offset
            return float(out.sum())
        if self._makes_whole_tiles(n_rows):
            return float(_make_rows(lines, *self._arguments, out))
        if n_rows < GROUP:
            wider = np.zeros((len(lines), GROUP), out.dtype)
            wider[:, :n_rows] = lines
            lines = wider
        whole_tiles = np.empty((max(n_rows, GROUP), max(n_columns, self._width)), out.dtype)
        total = float(_make_rows(lines, *self._arguments, whole_tiles))
        out[...] = whole_tiles[:n_rows, :n_columns]
        return total

    def of_rows(self, product: LineProduct, X: np.ndarray, out: np.ndarray) -> float:
        """Do the same with the lines that a product makes of rows ``X``."""
        n_rows, n_lines = len(X), len(self._right)
        _check("out", out, self._right.dtype, (n_rows, self._right.shape[1]))
        whole = product.makes_whole_tiles(n_rows) and self._makes_whole_tiles(n_rows)
        if whole and n_lines <= _MOST_LINES:
            return float(_make_features(*product.arguments(X), *self._arguments, out))
        lines = np.empty((n_lines, n_rows), out.dtype)
        product(X, lines)
        return self(lines, out)

    def _makes_whole_tiles(self, n_rows: int) -> bool:
        return n_rows >= GROUP and self._right.shape[1] >= self._width
