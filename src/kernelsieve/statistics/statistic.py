"""The sufficient statistic, all that quadratic methods see of the rows: fast and safe sums.

Of ``A = [1 | Y | columns]`` both forms keep one upper triangle: the fast one of ``A'A``, the safe one
the factor R with ``R'R = A'A``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from .._compiled import add_rows, add_squares
from ..exceptions import InvalidDataError, KernelError, ModelFileError
from .coordinates import ClassScatter, Coordinates

#: The share of a squared norm that must be left after others were subtracted from it.
_LEAST_LEFT = 1e-8

_NO_CLASS = 1e-12  # of all weights


class Statistic(ABC):
    """Accumulates lines ``[1 | Y | columns]'`` of row blocks; associative under :meth:`merge`.

    Of many classes there are no lines Y: lines are summed up by class beside, ``Y'[1 | columns]`` for
    indicators Y that are not written down.
    """

    #: How files call the triangle.
    _in_files: ClassVar[str]
    #: Whether others were subtracted, through inner products.
    _has_subtracted = False

    def __init__(self, n_lines: int, n_classes: int = 0) -> None:
        self.n_lines = n_lines
        self.n_rows = 0
        self.trace = 0.0
        self.class_sums = np.zeros((n_classes, n_lines)) if n_classes else None
        self._triangle = np.zeros((n_lines, n_lines), order="F")  # the upper one

    def __getstate__(self) -> dict[str, Any]:
        """Send half of a square to other processes."""
        return vars(self) | {"_triangle": self._packed()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._unpack(state["_triangle"])

    def _packed(self) -> np.ndarray:
        """Return the columns of the triangle, one after the other."""
        return self._triangle.T[np.tril_indices(self.n_lines)]

    def _unpack(self, values: np.ndarray) -> None:
        _check_shape("sums", values, (self.n_lines * (self.n_lines + 1) // 2,))
        lower = np.zeros((self.n_lines, self.n_lines))
        lower[np.tril_indices(self.n_lines)] = values
        self._triangle = lower.T

    def to_state(self) -> dict[str, Any]:
        """Return what a file holds of the statistic."""
        state: dict[str, Any] = {"n_lines": self.n_lines, "n_rows": self.n_rows, "trace": self.trace}
        state |= {} if self.class_sums is None else {"class_sums": self.class_sums}
        return state | {self._in_files: self._packed(), "has_subtracted": self._has_subtracted}

    def take_state(self, state: dict[str, Any]) -> None:
        """Become the statistic that a file holds."""
        self.n_lines, self.n_rows = int(state["n_lines"]), int(state["n_rows"])
        self.trace = float(state["trace"])
        self.class_sums = None
        if "class_sums" in state:
            _check_shape("class_sums", state["class_sums"], (len(state["class_sums"]), self.n_lines))
            self.class_sums = state["class_sums"].copy()
        self._has_subtracted = bool(state.get("has_subtracted", False))
        self._unpack(state[self._in_files])

    def empty(self) -> Self:
        """Return a statistic of the same kind that has seen nothing."""
        return type(self)(self.n_lines, 0 if self.class_sums is None else len(self.class_sums))

    def update(
        self,
        lines: np.ndarray,
        trace: float = 0.0,
        weight: np.ndarray | None = None,
        codes: np.ndarray | None = None,
    ) -> None:
        """Take in a block: ``lines`` has one column for each row of data, which may have a weight.

        ``codes`` are the numbers of the rows' classes, where there are sums by class.
        """
        n_lines, n_rows = lines.shape
        if n_lines != self.n_lines:
            raise ValueError(f"a statistic of {self.n_lines} lines cannot take in {n_lines} lines")
        if weight is not None and weight.shape != (n_rows,):
            raise ValueError(f"{n_rows} rows cannot have weights of shape {weight.shape}")
        self._absorb(lines, weight)
        if self.class_sums is not None:
            if codes is None:
                raise ValueError("sums by class need the class of every row; pass codes")
            indicators = np.ones(n_rows) if weight is None else weight, (codes, np.arange(n_rows))
            shape = len(self.class_sums), n_rows
            self.class_sums += sparse.csr_array(indicators, shape=shape) @ lines.T
        self.n_rows += n_rows
        self.trace += trace

    def merge(self, other: Self) -> None:
        """Take in what another statistic of the same kind has seen."""
        self._check_kind(other)
        self._absorb_statistic(other)
        if self.class_sums is not None and other.class_sums is not None:
            self.class_sums += other.class_sums
        self.n_rows += other.n_rows
        self.trace += other.trace

    def subtract(self, other: Self) -> None:
        """Take out what another statistic has seen; refused where too few digits would be left."""
        self._check_kind(other)
        if other.n_rows > self.n_rows:
            raise InvalidDataError(
                f"{other.n_rows} samples cannot be subtracted from {self.n_rows}; subtract what was "
                "merged before."
            )
        before = self._squared_norms().copy()
        self._take_out(other)
        if self.class_sums is not None and other.class_sums is not None:
            self.class_sums -= other.class_sums
        left = self._squared_norms()
        if not (left >= _LEAST_LEFT * before).all():
            raise InvalidDataError(
                "What is left after subtracting is too small against what was there to be known: only "
                f"{max(0.0, float((left / np.where(before > 0, before, 1.0)).min())):.1g} of a sum of "
                f"squares, and {_LEAST_LEFT:g} is needed. Sum up the samples that stay instead."
            )
        self.n_rows -= other.n_rows
        self.trace -= other.trace

    def _check_kind(self, other: Self) -> None:
        mine, theirs = (None if s.class_sums is None else len(s.class_sums) for s in (self, other))
        if (self.n_lines, mine) != (other.n_lines, theirs):
            raise ValueError(
                f"a statistic of {self.n_lines} lines cannot take in {other.n_lines} lines, nor sums "
                "of other classes"
            )

    def scale(self, factor: float) -> None:
        """Multiply the weights of all rows that have been seen."""
        self._multiply(factor)
        if self.class_sums is not None:
            self.class_sums *= factor
        self.trace *= factor

    def check_finite(self) -> None:
        """Refuse what has been seen if it cannot be summed up."""
        if not np.isfinite(self._squared_norms()).all():
            _refuse()

    def coordinates(self, target_shift: np.ndarray, shift: np.ndarray, *, center: bool) -> Coordinates:
        """Return columns and targets in coordinates, centred where asked.

        The shifts are those of the frame that made the lines.
        """
        if self.n_rows == 0:
            raise ValueError("the statistic has seen no rows; update it with some first")
        if self.class_sums is not None:
            return self.class_scatter(shift, center=center).coordinates()
        ones, rest = self._factor()
        root = ones[0]  # the square root of the total weight
        of_ones = ones[1:].copy()  # inner products with the unit vector along the constant
        of_ones += root * np.concatenate([target_shift, shift])
        n_targets = len(target_shift)
        if not (np.isfinite(of_ones).all() and np.isfinite(rest).all()):
            _refuse()
        if not center:
            rest = np.vstack([of_ones, rest])
        return Coordinates(
            columns=rest[:, n_targets:],
            targets=rest[:, :n_targets],
            means=of_ones[n_targets:] / root,
            target_means=of_ones[:n_targets] / root,
            total_weight=float(root**2),
            trace=self.trace,
        )

    def class_scatter(self, shift: np.ndarray, *, center: bool) -> ClassScatter:
        """Return columns in coordinates in which classes are axes, centred where asked."""
        if self.class_sums is None:
            raise ValueError("the statistic has no sums by class; make it with n_classes")
        weights = self.class_sums[:, 0]  # what subtracting leaves of one but for rounding is zero
        weights = np.where(weights > _NO_CLASS * weights.sum(), weights, 0.0)
        sums = self.class_sums[weights > 0]
        means = sums[:, 1:].sum(axis=0) / (weights.sum() or 1.0)
        roots = np.sqrt(sums[:, :1])
        between = sums[:, 1:] / roots - roots * means
        within = self._factor_within(means, between)
        if not (np.isfinite(between).all() and np.isfinite(within).all()):
            _refuse()
        means = means + shift
        if not center:
            between += roots * means
        return ClassScatter(between, within, weights, means, self.trace, center)

    @property
    @abstractmethod
    def keeps_all_digits(self) -> bool:
        """Whether residuals are known to all digits, or to half of them."""

    @abstractmethod
    def products(self, combinations: np.ndarray) -> np.ndarray:
        """Return the inner products of combinations of the lines, one in each column."""

    @abstractmethod
    def _factor_within(self, means: np.ndarray, between: np.ndarray) -> np.ndarray:
        """Return a factor of the columns' scatter within classes, given means and class means."""

    @abstractmethod
    def _absorb(self, lines: np.ndarray, weight: np.ndarray | None) -> None: ...

    @abstractmethod
    def _absorb_statistic(self, other: Self) -> None: ...

    @abstractmethod
    def _take_out(self, other: Self) -> None: ...

    @abstractmethod
    def _multiply(self, factor: float) -> None: ...

    @abstractmethod
    def _squared_norms(self) -> np.ndarray:
        """Return the squared norms of the lines."""

    @abstractmethod
    def _factor(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the first line of a factor R of the rows, and the other lines without their first
        column: coordinates of everything orthogonal to the constant.
        """


class GramStatistic(Statistic):
    """``G = A'A`` for ``A = [1 | Y | columns]``.

    A factor of ``G`` is good to half the digits of float64: a column whose squared residual has
    fallen below about 1e-8 of its squared norm is no longer known well. :class:`TriangularStatistic`
    does not have that limit and takes about twice as long.
    """

    keeps_all_digits = False
    _in_files = "products"

    @property
    def gram(self) -> np.ndarray:
        """The inner products of all lines."""
        return self._triangle + np.triu(self._triangle, 1).T

    def products(self, combinations: np.ndarray) -> np.ndarray:
        return combinations.T @ self.gram @ combinations

    def _absorb(self, lines: np.ndarray, weight: np.ndarray | None) -> None:
        if weight is not None:
            lines = lines * np.sqrt(weight)
        add_squares(np.ascontiguousarray(lines, np.float64), self._triangle.T)

    def _absorb_statistic(self, other: Self) -> None:
        self._triangle += other._triangle

    def _take_out(self, other: Self) -> None:
        self._triangle -= other._triangle

    def _multiply(self, factor: float) -> None:
        self._triangle *= factor

    def _squared_norms(self) -> np.ndarray:
        return np.diagonal(self._triangle)

    def _factor(self) -> tuple[np.ndarray, np.ndarray]:
        return _factor_about_ones(self.gram)

    def _factor_within(self, means: np.ndarray, between: np.ndarray) -> np.ndarray:
        gram = self.gram
        return _factor_within(gram[1:, 1:] - gram[0, 0] * np.outer(means, means), between)


class TriangularStatistic(Statistic):
    """``R`` with ``R'R = A'A`` for ``A = [1 | Y | columns]``, upper triangular.

    Residuals of columns are known until they are down to 1e-14 of what the columns were, where
    :class:`GramStatistic`, which squares them, ends at 1e-8. A block of rows takes about twice as long.

    Rows that were summed up can be subtracted only through inner products, which keep half of the
    digits; so a statistic from which others were subtracted is known as well as the fast form is.
    """

    _in_files = "triangle"

    @property
    def keeps_all_digits(self) -> bool:
        return self.class_sums is None and not self._has_subtracted

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
            ones, rest = _factor_about_ones(gram)
            self._triangle[0] = ones
            self._triangle[0, 1:] += ones[0] * means
            rest = np.asarray(np.linalg.qr(rest, mode="r"))
            self._triangle[1 : 1 + len(rest), 1:] = rest

    def _multiply(self, factor: float) -> None:
        self._triangle *= np.sqrt(factor)

    def _squared_norms(self) -> np.ndarray:
        return np.einsum("ij,ij->j", self._triangle, self._triangle)

    def _factor(self) -> tuple[np.ndarray, np.ndarray]:
        sign = 1.0 if self._triangle[0, 0] >= 0 else -1.0
        return sign * self._triangle[0], self._triangle[1:, 1:]

    def _factor_within(self, means: np.ndarray, between: np.ndarray) -> np.ndarray:
        centred = self._triangle[1:, 1:]
        return _factor_within(centred.T @ centred, between)


def _factor_about_ones(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a factor of inner products: its first row, and the others less their first column."""
    ones = gram[0] / np.sqrt(gram[0, 0])
    centred = gram[1:, 1:] - np.outer(ones[1:], ones[1:])
    if not np.isfinite(centred).all():
        return ones, centred  # nothing to factorise; the caller says why
    return ones, _pivoted_factor(centred)


def _factor_within(centred: np.ndarray, between: np.ndarray) -> np.ndarray:
    """Return a factor of what the scatter of class means leaves of that of all samples."""
    if not np.isfinite(centred).all():
        return centred
    return _pivoted_factor(centred - between.T @ between, np.diagonal(centred))


def _pivoted_factor(gram: np.ndarray, squares: np.ndarray | None = None) -> np.ndarray:
    """Return R with ``R'R = gram`` and as many rows as ``gram`` has numerical rank.

    Rounding is relative to ``squares``, where these are not the diagonal.
    """
    # Unit diagonal first, so that a target in other units than the kernel is not taken for noise.
    norms = np.sqrt(np.maximum(np.diagonal(gram) if squares is None else squares, 0.0))
    safe = np.where(norms > 0, norms, 1.0)
    scaled = gram / np.outer(safe, safe)
    tol = len(gram) * np.finfo(np.float64).eps
    factor, pivots, rank, info = lapack.dpstrf(scaled, lower=0, tol=tol)
    if info < 0:
        raise ValueError(f"dpstrf refused argument {-info}")  # not reached by valid input
    unpivoted = np.zeros((rank, len(gram)))
    unpivoted[:, pivots - 1] = np.triu(factor)[:rank]
    return unpivoted * norms


def _refuse() -> None:
    raise KernelError(
        "Kernel values or targets are too large for sums of their squares, or not numbers; "
        "scale X and y."
    )


def _check_shape(name: str, array: np.ndarray, shape: tuple[int, ...]) -> None:
    """Refuse an array of a file that is not as it was written."""
    if array.shape != shape or array.dtype != np.float64:
        raise ModelFileError(
            f"{name} should have shape {shape} and float64 numbers; the file has {array.shape} and "
            f"{array.dtype}."
        )
