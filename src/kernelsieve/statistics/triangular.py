"""The safe form, a triangular factor of the lines by orthogonal transformations; when it is taken."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._compiled import add_rows
from .arrays import packed, unpacked
from .base import Statistic
from .gram import GramStatistic, factor_about_ones, factor_within

#: Squared residuals of this part of the squared norm are the last that a Gram matrix knows well enough
#: to choose by: scores are good to about 1e-6 here, and become worse as the residuals become smaller.
RESIDUAL_TRUST = 1e-8

#: The part of the largest eigenvalue of a quadratic form that a ridge must have, for the form to be
#: known well enough from a Gram matrix. It is added before anything cancels, and so may be smaller
#: than a residual: rounding then changes the solutions of systems by 1e-8 or so.
RIDGE_TRUST = 1e-9


class TriangularStatistic(Statistic):
    """``R`` with ``R'R = A'A`` for ``A = [1 | Y | columns]``, upper triangular.

    Residuals of columns are known until they are down to 1e-14 of what the columns were, where
    :class:`GramStatistic`, which squares them, ends at 1e-8. A block of rows takes about twice as long.

    Rows that were summed up can be subtracted only through inner products, which keep half of the
    digits; so a statistic from which others were subtracted is known as well as the fast form is.
    """

    _least_left = 1e-8

    def __init__(self, n_lines: int, n_classes: int = 0) -> None:
        super().__init__(n_lines, n_classes)
        self._triangle = np.zeros((n_lines, n_lines), order="F")
        self._has_subtracted = False

    @property
    def keeps_all_digits(self) -> bool:
        return self.by_class is None and not self._has_subtracted

    def __getstate__(self) -> dict[str, Any]:
        """Send half of a square to other processes."""
        return vars(self) | {"_triangle": packed(self._triangle.T)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._triangle = unpacked(state["_triangle"], self.n_lines).T

    def products(self, combinations: np.ndarray) -> np.ndarray:
        combined = self._triangle @ combinations
        return combined.T @ combined

    def _absorb(self, lines: np.ndarray, weight: np.ndarray | None) -> None:
        rows = np.array(lines.T, np.float64, order="F")  # a copy, which LAPACK overwrites
        if weight is not None:
            rows *= np.sqrt(weight)[:, None]
        add_rows(self._triangle, rows)

    def _absorb_statistic(self, other: TriangularStatistic) -> None:
        self._has_subtracted |= other._has_subtracted
        add_rows(self._triangle, other._triangle.copy(order="F"), triangular=True)

    def _take_out(self, other: TriangularStatistic) -> None:
        mine, theirs = self._triangle.copy(), other._triangle.copy()
        means = mine[0, 1:] / (mine[0, 0] or 1.0)
        for triangle in (mine, theirs):  # about the means, where less cancels
            triangle[0, 1:] -= triangle[0, 0] * means
        gram = mine.T @ mine - theirs.T @ theirs
        self._triangle = np.zeros_like(self._triangle)
        self._has_subtracted = True
        if gram[0, 0] > 0:
            ones, rest = factor_about_ones(gram)
            self._triangle[0] = ones
            self._triangle[0, 1:] += ones[0] * means
            rest = np.asarray(np.linalg.qr(rest, mode="r"))
            self._triangle[1 : 1 + len(rest), 1:] = rest

    def _multiply(self, factor: float) -> None:
        self._triangle *= np.sqrt(factor)

    def _to_arrays(self) -> dict[str, Any]:
        return {"triangle": packed(self._triangle.T), "has_subtracted": self._has_subtracted}

    def _take_arrays(self, arrays: dict[str, Any]) -> None:
        self._triangle = unpacked(arrays["triangle"], self.n_lines).T
        self._has_subtracted = bool(arrays["has_subtracted"])

    def _squared_norms(self) -> np.ndarray:
        return np.einsum("ij,ij->j", self._triangle, self._triangle)

    def _factor(self) -> tuple[np.ndarray, np.ndarray]:
        sign = 1.0 if self._triangle[0, 0] >= 0 else -1.0
        return sign * self._triangle[0], self._triangle[1:, 1:]

    def _factor_within(self, means: np.ndarray, between: np.ndarray) -> np.ndarray:
        centred = self._triangle[1:, 1:]
        return factor_within(centred.T @ centred, between)


def form_of(precision: str, *, safe: bool = False) -> type[Statistic]:
    """Return the form that ``precision`` asks for; with "auto" the safe one where that is needed."""
    is_safe = precision == "safe" or (precision == "auto" and safe)
    return TriangularStatistic if is_safe else GramStatistic


def may_become_safe(precision: str, form: type[Statistic]) -> bool:
    """Tell if samples that were summed up in one form may be summed up again in the safe one."""
    return precision == "auto" and form is GramStatistic
