"""Compiled loops on inner products in double-double precision.

A number is the sum of two, ``high + low``, of which the second is at most a last digit of the first.
"""

# What numba compiles has types of its own.
# mypy: disable-error-code="no-untyped-def, no-untyped-call, call-arg, var-annotated"

from __future__ import annotations

import numpy as np
from numba import types

from .double_double import (
    CHUNK,
    WIDTH,
    plus,
    rounding_of_product,
    tile,
    two_sum,
    whole_chunks,
    write_units,
)
from .jit_cache import array, compiled, const, part, part_or
from .small_gemm_loops import GROUP, aligned

# Candidates for pivots whose residuals are computed together, and what must be left of one for it to
# become a pivot although there may be larger ones by now.
_CANDIDATES, _ENOUGH = 16, 0.1
_ROWS_AT_ONCE = 256  # of all lines: they stay in the second cache


@part
def _parts_of(lines, weight, shift):
    """Return how many products a row needs: more than one if its numbers are in two parts."""
    for j in range(len(lines)):
        rounding = 0.0
        for p in range(lines.shape[1]):
            rounding += abs(two_sum(lines[j, p], -shift[j])[1])
        if rounding > 0:
            return 3
    return 2 if len(weight) else 1


@part
def _pack(lines, weight, shift, groups, panels):
    """Lay out shifted lines for tiles, as they are in the panels and weighted in the groups.

    The product of ``v + v'`` and ``g + g'`` has the terms ``v g``, ``v g'`` and ``v' g``, of which the
    first or the first two are enough where the others are zero.
    """
    n_parts, stride = groups.shape[1:3]
    for j in range(len(lines)):
        group, i = groups[j // GROUP], j % GROUP
        panel, w = panels[j // WIDTH], j % WIDTH
        for p in range(stride):
            value = value_rest = 0.0
            factor = 1.0
            if p < lines.shape[1]:
                value, value_rest = two_sum(lines[j, p], -shift[j])
                factor = weight[p] if len(weight) else 1.0
            weighted = value * factor
            panel[0, p, w], group[0, p, i] = value, weighted
            if n_parts > 1:
                rest = rounding_of_product(value, factor, weighted) + value_rest * factor
                panel[1, p, w], group[1, p, i] = value, rest
            if n_parts > 2:
                panel[2, p, w], group[2, p, i] = value_rest, weighted


@compiled(lambda number: (const(number, 2), *[const(number, 1)] * 2, *[array(number, 2)] * 2))
def add_products(lines, weight, shift, high, low):
    """Add inner products of shifted lines to ``high + low``, below and on the diagonal.

    ``weight`` is empty where all are one. ``high`` and ``low`` have a multiple of GROUP and WIDTH lines
    and columns; what is in those that are too many has no meaning.
    """
    size, n_rows = len(high), lines.shape[1]
    sums, rests = np.empty(GROUP * WIDTH), np.empty(GROUP * WIDTH)
    n_parts = _parts_of(lines, weight, shift)
    most = size * n_parts * whole_chunks(min(n_rows, _ROWS_AT_ONCE))
    groups, panels = aligned(most, high), aligned(most, high)
    groups[:], panels[:] = 0, 0
    group_units, panel_units = np.empty(most // CHUNK), np.empty(most // CHUNK)
    for first in range(0, n_rows, _ROWS_AT_ONCE):
        some = lines[:, first : first + _ROWS_AT_ONCE]
        stride = whole_chunks(some.shape[1])
        n_chunks = n_parts * stride // CHUNK
        _pack(
            some,
            weight[first : first + _ROWS_AT_ONCE],
            shift,
            groups[: size * n_parts * stride].reshape(size // GROUP, n_parts, stride, GROUP),
            panels[: size * n_parts * stride].reshape(size // WIDTH, n_parts, stride, WIDTH),
        )
        write_units(groups[: size * n_parts * stride], GROUP, group_units)
        write_units(panels[: size * n_parts * stride], WIDTH, panel_units)
        for g in range(size // GROUP):
            at_group = g * n_chunks
            for b in range(((g + 1) * GROUP - 1) // WIDTH + 1):
                at_panel = b * n_chunks
                tile(
                    groups, group_units, at_group, panels, panel_units, at_panel, n_chunks, sums, rests
                )
                for i in range(GROUP):
                    for w in range(WIDTH):
                        at, of_tile = (g * GROUP + i, b * WIDTH + w), i * WIDTH + w
                        high[at], low[at] = plus(high[at], low[at], sums[of_tile], rests[of_tile])


@compiled(lambda number: (*[array(number, 2)] * 2, *[const(number, 2)] * 2))
def plus_arrays(high, low, more_high, more_low):
    """Add other numbers to those of an array."""
    for i in range(len(high)):
        for j in range(high.shape[1]):
            high[i, j], low[i, j] = plus(high[i, j], low[i, j], more_high[i, j], more_low[i, j])


@part
def plus_product(high, low, left_high, left_low, right_high, right_low):
    """Return ``(high + low) + left * right`` in two parts."""
    product = left_high * right_high
    rounding = rounding_of_product(left_high, right_high, product)
    return plus(high, low, product, rounding + (left_high * right_low + left_low * right_high))


def _plain_add_multiple(line, line_low, factor, factor_low, other, other_low):
    other, other_low = other[: len(line)], other_low[: len(line)]
    line[:], line_low[:] = plus_product(line, line_low, factor, factor_low, other, other_low)


@part_or(_plain_add_multiple)
def _add_multiple(line, line_low, factor, factor_low, other, other_low):
    """Add a multiple of another line to a line."""
    for j in range(len(line)):
        line[j], line_low[j] = plus_product(
            line[j], line_low[j], factor, factor_low, other[j], other_low[j]
        )


@compiled(lambda number: (array(number, 1), array(number, 1), const(number, 1), const(number, 2)))
def add_combinations(line, line_low, factors, others):
    """Add a combination of other lines to a line."""
    for i in range(len(others)):
        _add_multiple(line, line_low, factors[i], 0.0, others[i], np.zeros_like(line))


def _by_class_signature(number):
    given = const(number, 2), const(number, 1), const(types.intp, 1)
    return *given, array(number, 2), array(number, 2)


@compiled(_by_class_signature)
def add_by_class(rows, weight, codes, high, low):
    """Add rows to the sums of their classes; ``weight`` is empty where all are one."""
    nothing = np.zeros(rows.shape[1])
    for i in range(len(rows)):
        factor, code = weight[i] if len(weight) else 1.0, codes[i]
        _add_multiple(high[code], low[code], factor, 0.0, rows[i], nothing)


@compiled(lambda number: (*[array(number, 2)] * 2, const(number, 1)))
def shift_sums(high, low, shift):
    """Make sums of rows less a shift of sums of rows, which begin with a one."""
    nothing = np.zeros(len(shift))
    for k in range(len(high)):
        _add_multiple(high[k], low[k], -high[k, 0], -low[k, 0], shift, nothing)


@compiled(lambda number: [const(number, 2)] * 2)
def means_and_rests(high, low):
    """Return sums over their weights, rounded, and what rounding leaves of the sums.

    With m the means, w the first parts of the weights and r the rests, squares of the sums over the
    weights are ``w m m' + m r' + r m'``, up to squares of roundings.
    """
    means, rests = np.empty_like(high), np.empty_like(high)
    for k in range(len(high)):
        weight, weight_low = high[k, 0], low[k, 0]
        for j in range(high.shape[1]):
            mean = high[k, j] / weight
            rest, rest_low = plus_product(high[k, j], low[k, j], -mean, 0.0, weight, weight_low)
            means[k, j], rests[k, j] = mean, rest + (rest_low + mean * weight_low / 2)
    return means, rests


@compiled(lambda number: (const(number, 2), const(number, 2), const(number, 1)))
def shifted(high, low, shift):
    """Return the inner products of lines less multiples of the first."""
    high, low = high.copy(), low.copy()
    # Of <l_i, l_j> first to <l_i - s_i 1, l_j>, and then the same for j.
    ones, ones_low = high[0].copy(), low[0].copy()
    for i in range(len(high)):
        _add_multiple(high[i], low[i], -shift[i], 0.0, ones, ones_low)
    for i in range(len(high)):
        of_ones, of_ones_low = high[i, 0], low[i, 0]
        for j in range(len(high)):
            high[i, j], low[i, j] = plus_product(
                high[i, j], low[i, j], -shift[j], 0.0, of_ones, of_ones_low
            )
    return high, low


@part
def _divide_by_root(row, row_low, pivot, left, left_low):
    """Make a residual a line of the factor, and take its squares from what is left of each column."""
    root = np.sqrt(row[pivot])
    rest, rest_low = plus_product(row[pivot], row_low[pivot], -root, 0.0, root, 0.0)
    root_low = (rest + rest_low) / (2 * root)
    for j in range(len(row)):
        value = row[j] / root
        rest, rest_low = plus_product(row[j], row_low[j], -value, 0.0, root, root_low)
        row[j], row_low[j] = value, (rest + rest_low) / root
        left[j], left_low[j] = plus_product(
            left[j], left_low[j], -row[j], -row_low[j], row[j], row_low[j]
        )


def _pivots_signature(number):
    rows = array(number, 2), array(number, 2), const(types.intp, 1), array(number, 1), array(number, 1)
    return *rows, const(number, 1), types.intp, array(number, 2), array(number, 2)


@compiled(_pivots_signature)
def _add_pivots(rows, rows_low, candidates, left, left_low, floors, rank, factor, factor_low):
    """Extend a factor by the best candidate and by others that still have enough left.

    ``rows`` are the candidates' lines, of which what the factor knows is taken off first. Return the
    new rank.
    """
    first = rank
    for r in range(first):  # which is read once for all candidates
        for i in range(len(candidates)):
            of_candidate, of_candidate_low = -factor[r, candidates[i]], -factor_low[r, candidates[i]]
            _add_multiple(
                rows[i], rows_low[i], of_candidate, of_candidate_low, factor[r], factor_low[r]
            )
    begin = np.empty(len(candidates))
    for i in range(len(candidates)):
        begin[i] = left[candidates[i]]
    for i in range(len(candidates)):
        pivot = candidates[i]
        if not (left[pivot] > floors[pivot] and left[pivot] > _ENOUGH * begin[i]):
            continue
        row, row_low = rows[i], rows_low[i]
        for r in range(first, rank):
            of_pivot, of_pivot_low = -factor[r, pivot], -factor_low[r, pivot]
            _add_multiple(row, row_low, of_pivot, of_pivot_low, factor[r], factor_low[r])
        for earlier in range(i):
            if left[candidates[earlier]] < 0:
                row[candidates[earlier]] = row_low[candidates[earlier]] = 0.0
        if row[pivot] > floors[pivot]:
            _divide_by_root(row, row_low, pivot, left, left_low)
            for j in range(len(row)):
                factor[rank, j], factor_low[rank, j] = row[j], row_low[j]
            rank += 1
        left[pivot] = -1.0  # which marks it as done with
    return rank


@compiled(lambda number: (const(types.intp, 1), types.intp, array(number, 2)))
def _move_columns(kept, n_lines, lines):
    """Move columns, which are named in ascending order, to the first places."""
    for r in range(n_lines):
        for j in range(len(kept)):
            lines[r, j] = lines[r, kept[j]]


def pivoted_factor(high: np.ndarray, low: np.ndarray, floors: np.ndarray) -> np.ndarray:
    """Return R with ``R'R = high + low``, a line for each pivot whose square is above its floor."""
    n_lines = len(high)
    result = np.zeros((n_lines, n_lines))
    factor, factor_low = np.empty((n_lines, n_lines)), np.empty((n_lines, n_lines))
    names = np.arange(n_lines)  # of the columns that are no pivots yet, which alone are followed
    left, left_low = np.diag(high).copy(), np.diag(low).copy()
    rank = 0
    while len(names):
        shares = left / floors
        candidates = np.argsort(-shares, kind="stable")[:_CANDIDATES]
        if not shares[candidates[0]] > 1:
            break
        before, places = rank, np.ix_(names[candidates], names)
        rank = _add_pivots(
            high[places], low[places], candidates, left, left_low, floors, rank, factor, factor_low
        )
        result[before:rank, names] = factor[before:rank, : len(names)]
        kept = np.flatnonzero(left >= 0)
        for lines in (factor, factor_low):
            _move_columns(kept, rank, lines)
        names, left, left_low, floors = names[kept], left[kept], left_low[kept], floors[kept]
    return result[:rank]


@compiled(lambda number: [const(number, 2)] * 4)
def products_of(high, low, combinations, combinations_low):
    """Return ``A' (high + low) A`` for A in two parts, rounded to float64 at the end."""
    n_lines, n_columns = combinations.shape
    right, right_low = np.zeros((n_lines, n_columns)), np.zeros((n_lines, n_columns))
    for i in range(n_lines):
        for j in range(n_lines):
            _add_multiple(
                right[i], right_low[i], high[i, j], low[i, j], combinations[j], combinations_low[j]
            )
    out, out_low = np.zeros((n_columns, n_columns)), np.zeros((n_columns, n_columns))
    for i in range(n_lines):
        for j in range(n_columns):
            factor, factor_low = combinations[i, j], combinations_low[i, j]
            _add_multiple(out[j], out_low[j], factor, factor_low, right[i], right_low[i])
    return out + out_low
