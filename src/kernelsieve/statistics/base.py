"""The sufficient statistic: all that quadratic methods see of the rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np

from ..exceptions import InvalidDataError, KernelError
from .class_sums import ClassScatter, ClassSums
from .coordinates import Coordinates


class Statistic(ABC):
    """Accumulates lines ``[1 | Y | columns]'`` of row blocks; associative under :meth:`merge`.

    Of many classes there are no lines Y: lines are summed up by class beside.
    """

    #: The share of a squared norm that must be left after others were subtracted from it.
    _least_left: ClassVar[float]

    def __init__(self, n_lines: int, n_classes: int = 0) -> None:
        self.n_lines = n_lines
        self.by_class = ClassSums(n_lines, n_classes) if n_classes else None
        self.n_rows = 0
        self.trace = 0.0

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
        self._check_lines(len(lines))
        if weight is not None and weight.shape != lines.shape[1:]:
            raise ValueError(f"{lines.shape[1]} rows cannot have weights of shape {weight.shape}")
        self._absorb(lines, weight)
        if self.by_class is not None:
            if codes is None:
                raise ValueError("sums by class need the class of every row; pass codes")
            self.by_class.add(lines, weight, codes)
        self.n_rows += lines.shape[1]
        self.trace += trace

    def merge(self, other: Self) -> None:
        """Take in what another statistic of the same kind has seen."""
        self._check_lines(other.n_lines)
        self._absorb_statistic(other)
        if self.by_class is not None and other.by_class is not None:
            self.by_class.merge(other.by_class)
        self.n_rows += other.n_rows
        self.trace += other.trace

    def subtract(self, other: Self) -> None:
        """Take out what another statistic has seen; refused where too few digits would be left."""
        self._check_lines(other.n_lines)
        if other.n_rows > self.n_rows:
            raise InvalidDataError(
                f"{other.n_rows} samples cannot be subtracted from {self.n_rows}; subtract what was "
                "merged before."
            )
        before = self._squared_norms().copy()
        self._take_out(other)
        if self.by_class is not None and other.by_class is not None:
            self.by_class.subtract(other.by_class)
        left = self._squared_norms()
        if not (left >= self._least_left * before).all():
            raise InvalidDataError(
                "What is left after subtracting is too small against what was there to be known: only "
                f"{max(0.0, float((left / np.where(before > 0, before, 1.0)).min())):.1g} of a sum of "
                f"squares, and {self._least_left:g} is needed. Sum up the samples that stay instead."
            )
        self.n_rows -= other.n_rows
        self.trace -= other.trace

    def scale(self, factor: float) -> None:
        """Multiply the weights of all rows that have been seen."""
        self._multiply(factor)
        if self.by_class is not None:
            self.by_class.scale(factor)
        self.trace *= factor

    def to_state(self) -> dict[str, Any]:
        """Return what a file holds of the statistic."""
        own = {"n_lines": self.n_lines, "n_rows": self.n_rows, "trace": self.trace}
        by_class = {} if self.by_class is None else self.by_class.to_arrays()
        return own | by_class | self._to_arrays()

    def take_state(self, state: dict[str, Any]) -> None:
        """Become the statistic that a file holds."""
        self.n_lines, self.n_rows = int(state["n_lines"]), int(state["n_rows"])
        self.trace = float(state["trace"])
        self.by_class = ClassSums.from_arrays(state, self.n_lines)
        self._take_arrays(state)

    def empty(self) -> Self:
        """Return a statistic of the same kind that has seen nothing."""
        return type(self)(self.n_lines, n_classes=self.n_classes)

    @property
    def n_classes(self) -> int:
        """How many classes lines are summed up by; 0 where targets are lines."""
        return 0 if self.by_class is None else len(self.by_class.sums)

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
        if self.by_class is not None:
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
        if self.by_class is None:
            raise ValueError("the statistic has no sums by class; make it with n_classes")
        weights = self.by_class.weights
        sums = self.by_class.sums[weights > 0]
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

    def _check_lines(self, n_lines: int) -> None:
        if n_lines != self.n_lines:
            raise ValueError(f"a statistic of {self.n_lines} lines cannot take in {n_lines} lines")

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
    def _to_arrays(self) -> dict[str, np.ndarray]:
        """Return the sums as few arrays."""

    @abstractmethod
    def _take_arrays(self, arrays: dict[str, np.ndarray]) -> None: ...

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


def _refuse() -> None:
    raise KernelError(
        "Kernel values or targets are too large for sums of their squares, or not numbers; "
        "scale X and y."
    )
