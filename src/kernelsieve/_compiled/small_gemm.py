"""Matrix products with one small side, at the full rate of the machine.

BLAS reaches that rate with large matrices only: with 50 inputs and 100 landmarks it spends half the
time on getting ready. Here the small side is laid out once, and the result is made in tiles that stay
in the vector registers until they are finished.

Every number of the result is one sum, taken in the order of the terms. So it is the same to the last
bit however the rows are cut into blocks and whoever computes them.
"""

# What numba has compiled takes other arguments than its type says.
# mypy: disable-error-code="call-arg"

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .profiles import AS_IT_IS, EXPONENTIAL, Profile, profile_inplace
from .small_gemm_loops import (
    GROUP,
    PANEL_WIDTH,
    VECTORS,
    aligned,
    make_lines,
    make_outputs,
    make_rows,
    panel_memory,
    recompute_near,
)

#: Of rows with more inputs than that, a tile's factors leave the nearest cache, and BLAS is faster.
MOST_INPUTS = 1024
_LINE_BYTES = 2**19  # of lines that are made together, and then read
_MOST_LINES = 8192  # the same for lines, of which more are worth being rounded alike


def _packed(lines: np.ndarray, starts: np.ndarray, width: int) -> np.ndarray:
    """Return ``lines[start : start + width].T`` for each start, padded with zeros."""
    n_terms = lines.shape[1]
    packed = aligned(len(starts) * n_terms * width, lines).reshape(-1, n_terms, width)
    packed[...] = 0
    for part, start in zip(packed, starts, strict=True):
        some = lines[start : start + width]
        part[:, : len(some)] = some.T
    return packed


def _panels_of(n_columns: int, width: int) -> list[tuple[int, bool]]:
    """Return the first column of every panel, and whether the panel is narrow.

    The last panel ends with the last column. What is left over is at the beginning, where columns have
    the fewest terms; there panels may overlap.
    """
    over, square = n_columns % width, width // VECTORS
    if n_columns <= square:
        return [(0, True)]
    panels = []
    if over > 2 * square or n_columns < width:
        panels.append((0, False))
    else:
        for stop in reversed(range(square, over + square, square)):
            panels.append((max(0, over - stop), True))
    for start in range(over, n_columns - width + 1, width):
        panels.append((start, False))
    return panels


def check_array(name: str, array: np.ndarray, dtype: Any, shape: tuple[int, int]) -> None:
    """Raise an error for an array that does not fit; compiled loops do not check bounds."""
    if array.dtype != dtype or array.shape != shape or not array.flags.c_contiguous:
        raise ValueError(
            f"{name} must be a C-contiguous {dtype} array of shape {shape}; "
            f"got {array.dtype} of shape {array.shape}."
        )


class LineProduct:
    """``left @ rows.T`` for a fixed matrix and blocks of rows.

    With an ``origin``, a row is ``[x - origin, |x - origin|^2, 1]`` rather than ``x``. Lines that are
    at most 0 but for rounding may be turned into the values of a profile while they are at hand. Where
    they are scaled squared distances, those below ``near`` can be had from differences of inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve._compiled import LineProduct
    >>> lines = np.empty((2, 1))
    >>> LineProduct(np.eye(2))(np.array([[3.0, 4.0]]), lines)
    0.0
    >>> lines
    array([[3.],
           [4.]])
    """

    def __init__(
        self,
        left: np.ndarray,
        origin: np.ndarray | None = None,
        *,
        profile: Profile = AS_IT_IS,
        near: float = 0.0,
        of_sparse: Callable[[Any, np.ndarray], None] | None = None,
    ) -> None:
        n_lines, n_terms = left.shape
        self._n_lines = n_lines
        # The last group ends with the last line, and so repeats some of the lines before it.
        starts = np.maximum(0, np.minimum(np.arange(0, n_lines, GROUP), n_lines - GROUP))
        self._groups = _packed(left, starts, GROUP)
        self._starts = starts
        self._origin = np.zeros(n_terms, left.dtype) if origin is None else origin
        # Loops for exponentials alone take a fraction of the time to compile, and rbf needs no others.
        self.is_simple = profile in (AS_IT_IS, EXPONENTIAL) and near == 0
        self.exponential = self.is_simple and profile == EXPONENTIAL
        self._profile, self._near = profile, near
        self._left = None if self.is_simple else np.ascontiguousarray(left)
        self._width = PANEL_WIDTH[left.dtype]
        self._of_sparse = of_sparse

    def __call__(self, X: Any, out: np.ndarray) -> float:
        """Write the product with a block to a contiguous array; return NaN if a row is not finite.

        Rows of which the squares are not finite count as such too; sparse ones are not looked at.
        """
        if self._of_sparse is not None and sparse.issparse(X):
            self._of_sparse(X, out)
            return 0.0
        n_lines, n_rows, origin = self._n_lines, len(X), self._origin
        check_array("out", out, origin.dtype, (n_lines, n_rows))
        if X.shape[1] != len(origin):
            raise ValueError(f"X has {X.shape[1]} inputs and the landmarks have {len(origin)}.")
        if X.dtype != origin.dtype:  # moved before they are rounded
            X, origin = (X - origin).astype(origin.dtype), np.zeros_like(origin)
        tiles = out
        if n_lines < GROUP or n_rows < self._width:  # with zeros, until they fill a tile
            rows = np.zeros((max(n_rows, self._width), X.shape[1]), X.dtype)
            rows[:n_rows] = X
            X, tiles = rows, np.empty((max(n_lines, GROUP), len(rows)), out.dtype)
        memory = panel_memory(self._groups.shape[1], len(X), origin)
        X = np.ascontiguousarray(X)
        arguments = X, origin, self._groups, self._starts, self.exponential
        noticed = float(make_lines(*arguments, *memory, tiles))
        if not self.is_simple:
            self.finish(X, origin, tiles)
        if tiles is not out:
            out[...] = tiles[:n_lines, :n_rows]
        return noticed

    def of_one(self, weights: np.ndarray) -> OneRowProduct:
        """Return a function that computes ``weights @ lines`` for one row at a time, without tiles."""
        terms = np.empty((self._groups.shape[1], self._n_lines), self._groups.dtype)
        for start, group in zip(self._starts, self._groups, strict=True):
            terms[:, start : start + GROUP] = group[:, : self._n_lines]
        weights = np.ascontiguousarray(weights, terms.dtype)
        return OneRowProduct(self, terms, self._origin, weights)

    def finish(self, X: np.ndarray, origin: np.ndarray, lines: np.ndarray) -> None:
        """Apply a profile to complete lines, where it is more than an exponential."""
        if self._near > 0:
            recompute_near(X, origin, self._left, lines.dtype.type(self._near), lines)
        profile_inplace(self._profile, lines)


@dataclass(frozen=True)
class OneRowProduct:
    """Weighted sums of the lines of a :class:`LineProduct` for a single row, ``(d,)``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve._compiled import LineProduct
    >>> LineProduct(np.eye(2)).of_one(np.array([[1.0, 10.0]]))(np.array([3.0, 4.0]))
    array([43.])
    """

    product: LineProduct
    terms: np.ndarray
    origin: np.ndarray
    weights: np.ndarray

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return a new array of the sums."""
        product, terms, origin, weights = self.product, self.terms, self.origin, self.weights
        dtype = origin.dtype
        if x.shape != origin.shape:
            raise ValueError(f"x has shape {x.shape} and the landmarks have {len(origin)} inputs.")
        x = np.ascontiguousarray(x, dtype)
        line, scratch = np.empty((1, terms.shape[1]), dtype), np.empty(PANEL_WIDTH[dtype], dtype)
        outputs = np.empty(len(weights), dtype)
        if product.is_simple:
            make_outputs(x, terms, origin, product.exponential, weights, line, scratch, outputs)
            return outputs
        make_outputs(x, terms, origin, False, weights[:0], line, scratch, outputs[:0])  # only the line
        product.finish(x[None], origin, line.T)
        return np.dot(weights, line[0], out=outputs)


class RowProduct:
    """``lines.T @ right - offset`` for a fixed matrix and blocks of lines.

    ``n_terms[j]`` says how many rows of ``right`` column j needs, in ascending order: the rest of a
    triangle is not computed.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve._compiled import RowProduct
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
        self._width = PANEL_WIDTH[right.dtype]
        square = self._width // VECTORS
        self._fewest_columns = square if n_columns <= square else self._width
        terms = np.column_stack([-offset, right.T])  # the offset is a term, of the factor 1
        plan, panels, at_panel = [], [], 0
        for column, narrow in _panels_of(n_columns, self._width):
            width = self._width // VECTORS if narrow else self._width
            last = min(column + width, n_columns) - 1
            needed = int(n_terms[last]) + 1
            panels.append(_packed(terms[:, :needed], np.array([column]), width).ravel())
            plan.append((at_panel, column, needed, narrow))
            at_panel += panels[-1].size
        together = aligned(at_panel, right)
        np.concatenate(panels, out=together)
        self._arguments = together, np.array(plan, np.intp)

    def __call__(self, lines: np.ndarray, out: np.ndarray) -> float:
        """Write the rows to a contiguous array; return a sum that is finite only if all rows are."""
        n_rows, n_columns = lines.shape[1], self._right.shape[1]
        check_array("lines", lines, self._right.dtype, (len(self._right), n_rows))
        check_array("out", out, self._right.dtype, (n_rows, n_columns))
        if len(lines) > _MOST_LINES:
            np.dot(lines.T, self._right, out=out)
            out -= self._offset
            return float(out.sum())
        if n_rows < GROUP:
            wider = np.zeros((len(lines), GROUP), out.dtype)
            wider[:, :n_rows] = lines
            lines = wider
        whole_tiles = out
        if n_rows < GROUP or n_columns < self._fewest_columns:
            shape = max(n_rows, GROUP), max(n_columns, self._fewest_columns)
            whole_tiles = np.empty(shape, out.dtype)
        group = aligned((len(lines) + 1) * GROUP, out)
        total = float(make_rows(lines, *self._arguments, group, whole_tiles))
        if whole_tiles is not out:
            out[...] = whole_tiles[:n_rows, :n_columns]
        return total

    def of_rows(self, product: LineProduct, X: np.ndarray, out: np.ndarray) -> float:
        """Do the same with the lines that ``product`` makes of rows ``X``; check these rows, too."""
        n_lines, total = len(self._right), 0.0
        # As many as have lines that stay in the cache until they are read.
        width = self._width
        size = max(width, _LINE_BYTES // (n_lines * out.itemsize) // width * width)
        for first in range(0, len(X), size):
            rows = slice(first, first + size)
            lines = np.empty((n_lines, len(X[rows])), out.dtype)
            total += product(X[rows], lines) + self(lines, out[rows])
        return total
