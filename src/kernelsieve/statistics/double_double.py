"""The safe form: inner products of the lines in double-double precision."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._compiled import (
    TILE,
    add_combinations,
    add_products,
    means_and_rests,
    pivoted_factor,
    plus_arrays,
    products_of,
    shifted,
)
from .base import Statistic, packed, unpacked
from .class_sums import ClassSums
from .gram import GramStatistic
from .two_parts import check_shape, scaled

_NOISE = 1e-28  # of a squared length; sums are good to 1e-29 or so
_FEWEST_AT_ONCE = 256  # rows; with fewer, adding to the sums takes longer than making them
_NO_WEIGHT = np.empty(0)


class DoubleDoubleStatistic(Statistic):
    """``G = A'A`` for ``A = [1 | Y | columns]``, every entry in two parts.

    Residuals of columns are known until they are down to 1e-14 of what the columns were, and the inner
    products of combinations of lines can be told (:meth:`products`) although nearly all of it cancels.
    That takes about four times as long as :class:`GramStatistic`, and less than orthogonal
    transformations of the rows, which know half as many digits.

    The lines are taken in as they are. A ``shift`` near values that vary little saves digits: it is
    subtracted, and what that rounds off is kept.

    Rows wait until they are worth a product. As long as there are fewer rows than lines they are kept.
    """

    keeps_all_digits = True
    _least_left = 1e-12

    def __init__(self, n_lines: int, shift: np.ndarray | None = None, *, n_classes: int = 0) -> None:
        super().__init__(n_lines, n_classes)
        self._shift = np.zeros(n_lines) if shift is None else shift
        self._sums: tuple[np.ndarray, np.ndarray] | None = None  # below and on the diagonal
        self._waiting: list[tuple[np.ndarray, np.ndarray]] = []  # lines and their weights

    def empty(self) -> Self:
        return type(self)(self.n_lines, self._shift, n_classes=self.n_classes)

    def __getstate__(self) -> dict[str, Any]:
        """Send half of each symmetric matrix to other processes."""
        sums = None if self._sums is None else [packed(part[: self.n_lines]) for part in self._sums]
        return vars(self) | {"_sums": sums}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        if self._sums is not None:
            high, low = (unpacked(part, self.n_lines, self._padded_size) for part in self._sums)
            self._sums = high, low

    def forget_rows(self) -> None:
        if self._waiting:
            self._fold()

    def squared(self, shift: np.ndarray) -> GramStatistic:
        """Return the fast form of the same rows, with that shift of the lines."""
        gram = GramStatistic(self.n_lines, self.n_classes)
        if self._sums is None and self._waiting:  # the rows themselves are at hand
            lines, weight = self._rows_waiting()
            gram._absorb(lines - shift[:, None], weight if len(weight) else None)
        else:
            gram.add_products(sum(shifted(*self._inner_products(), shift - self._shift)))
        gram.n_rows, gram.trace = self.n_rows, self.trace
        if self.by_class is not None:
            gram.by_class = self.by_class.shifted(shift)
        return gram

    def products(self, combinations: np.ndarray) -> np.ndarray:
        """Return the inner products of combinations of the lines, one in each column."""
        high, low = self._inner_products()
        combinations, combinations_low = combinations.copy(), np.zeros_like(combinations)
        add_combinations(combinations[0], combinations_low[0], self._shift[1:], combinations[1:])
        used = np.flatnonzero(combinations.any(axis=1))
        square = np.ix_(used, used)
        return np.asarray(
            products_of(high[square], low[square], combinations[used], combinations_low[used])
        )

    def _absorb(self, lines: np.ndarray, weight: np.ndarray | None) -> None:
        lines = np.ascontiguousarray(lines, np.float64)
        weight = _NO_WEIGHT if weight is None else np.ascontiguousarray(weight, np.float64)
        enough = max(self.n_lines, _FEWEST_AT_ONCE)
        if lines.shape[1] >= enough:
            self._add(lines, weight)
            return
        self._waiting.append((lines.copy(), weight.copy()))
        if sum(some.shape[1] for some, _ in self._waiting) >= enough:
            self._fold()

    def _absorb_statistic(self, other: Self) -> None:
        if not np.array_equal(self._shift, other._shift):
            raise ValueError("statistics with different shifts cannot be merged")
        if other._sums is not None:
            plus_arrays(*self._make_sums(), *other._sums)
        for lines, weight in list(other._waiting):
            self._absorb(lines, weight)

    def _take_out(self, other: Self) -> None:
        high, low = other._all_sums()
        self._sums, self._waiting = self._all_sums(), []
        plus_arrays(*self._sums, -high, -low)

    def _multiply(self, factor: float) -> None:
        if self._sums is not None:
            high, low = self._sums
            self._sums = scaled(high, low, factor)
        self._waiting = [
            (lines, factor * (weight if len(weight) else np.ones(lines.shape[1])))
            for lines, weight in self._waiting
        ]

    def _to_arrays(self) -> dict[str, np.ndarray]:
        if self._sums is None and self._waiting:  # few rows, which are smaller than sums
            lines, weight = self._rows_waiting()
            return {"shift": self._shift, "lines": lines, "weight": weight}
        high, low = (part[: self.n_lines, : self.n_lines] for part in self._all_sums())
        return {"shift": self._shift, "high": packed(high), "low": packed(low)}

    def _take_arrays(self, arrays: dict[str, np.ndarray]) -> None:
        self._shift, self._sums, self._waiting = arrays["shift"], None, []
        if "lines" in arrays:
            lines, weight = arrays["lines"], arrays["weight"]
            check_shape("lines", lines, (self.n_lines, lines.shape[-1]))
            check_shape("weight", weight, (len(weight) and lines.shape[1],))
            self._waiting = [(lines, weight)]
        else:
            size = self._padded_size
            high, low = (unpacked(arrays[name], self.n_lines, size) for name in ("high", "low"))
            self._sums = high, low
        check_shape("shift", self._shift, (self.n_lines,))

    def _make_sums(self) -> tuple[np.ndarray, np.ndarray]:
        if self._sums is None:
            self._sums = self._no_sums()
        return self._sums

    def _no_sums(self) -> tuple[np.ndarray, np.ndarray]:
        size = self._padded_size
        return np.zeros((size, size)), np.zeros((size, size))

    @property
    def _padded_size(self) -> int:
        return -(-self.n_lines // TILE) * TILE

    def _add(self, lines: np.ndarray, weight: np.ndarray) -> None:
        add_products(lines, weight, self._shift, *self._make_sums())

    def _fold(self) -> None:
        self._add(*self._rows_waiting())
        self._waiting = []

    def _rows_waiting(self) -> tuple[np.ndarray, np.ndarray]:
        """Return lines and weights of the rows that wait."""
        lines = np.hstack([lines for lines, _ in self._waiting])
        if not any(len(weight) for _, weight in self._waiting):
            return lines, _NO_WEIGHT
        weights = [weight if len(weight) else np.ones(some.shape[1]) for some, weight in self._waiting]
        return lines, np.concatenate(weights)

    def _inner_products(self) -> tuple[np.ndarray, np.ndarray]:
        """Return both parts of the inner products of all lines, less their shifts.

        Nothing is changed: several threads may look at a model that has not been used before.
        """
        sums = self._all_sums()
        high, low = (part[: self.n_lines, : self.n_lines] for part in sums)
        return _mirrored(high), _mirrored(low)

    def _all_sums(self) -> tuple[np.ndarray, np.ndarray]:
        """Return sums of all rows, those that wait among them, below and on the diagonal."""
        sums = self._no_sums() if self._sums is None else (self._sums[0].copy(), self._sums[1].copy())
        if self._waiting:
            add_products(*self._rows_waiting(), self._shift, *sums)
        return sums

    def _squared_norms(self) -> np.ndarray:
        norms = np.zeros(self.n_lines)
        if self._sums is not None:
            norms += np.diagonal(self._sums[0])[: self.n_lines]
        for lines, weight in self._waiting:
            values = lines - self._shift[:, None]
            norms += np.einsum("ln,ln->l", values, values * weight if len(weight) else values)
        return norms

    def _factor(self) -> tuple[np.ndarray, np.ndarray]:
        if self._sums is None:
            ones, rest = self._factor_of_rows()
        else:
            high, low = self._inner_products()
            ones = high[0] / (np.sqrt(high[0, 0]) or 1.0)  # which is 0 where all weights are
            means = np.concatenate([[0.0], ones[1:] / (ones[0] or 1.0)])
            if not np.isfinite(np.diagonal(high)).all():
                return ones, high[1:, 1:]  # nothing to factorise; the caller says why
            floors = np.maximum(_NOISE * np.diagonal(high)[1:], np.finfo(np.float64).tiny)
            high, low = (np.ascontiguousarray(part[1:, 1:]) for part in shifted(high, low, means))
            rest = pivoted_factor(high, low, floors)
        return ones + ones[0] * self._shift, rest

    def _factor_within(self, means: np.ndarray, about_means: ClassSums) -> np.ndarray:
        high, low = self._inner_products()
        if not np.isfinite(np.diagonal(high)).all():
            return high
        floors = np.maximum(_NOISE * np.diagonal(high)[1:], np.finfo(np.float64).tiny)
        high, low = shifted(high, low, means - self._shift)
        of_classes, rests = means_and_rests(about_means.high, about_means.low)
        lines, rests = np.ascontiguousarray(of_classes[:, 1:].T), rests[:, 1:]
        lost = lines @ rests
        n, missing = len(lines), -len(lines) % TILE
        high = np.pad(high[1:, 1:], (0, missing))
        low = np.pad(low[1:, 1:] - lost - lost.T, (0, missing))
        add_products(lines, -about_means.high[:, 0], np.zeros(n), high, low)
        return pivoted_factor(_mirrored(high[:n, :n]), _mirrored(low[:n, :n]), floors)

    def _factor_of_rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the factor of few rows by orthogonal transformations."""
        lines, weight = self._rows_waiting()
        rows = (lines - self._shift[:, None]).T
        if len(weight):
            rows *= np.sqrt(weight)[:, None]
        triangle = np.asarray(np.linalg.qr(rows, mode="r"))
        triangle *= 1.0 if triangle[0, 0] >= 0 else -1.0
        return triangle[0], triangle[1:, 1:]


def _mirrored(half: np.ndarray) -> np.ndarray:
    """Return a symmetric matrix, given what is below and on its diagonal."""
    return np.tril(half) + np.tril(half, -1).T
