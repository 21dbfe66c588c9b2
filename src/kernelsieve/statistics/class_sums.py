"""Labels of many classes in the statistic: sums of lines by class, in place of indicator lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from .arrays import check_shape
from .coordinates import Coordinates

_NO_CLASS = 1e-12  # of all weights


class ClassSums:
    """``Y'[1 | columns]`` for indicators Y of classes, which are not written down."""

    def __init__(self, n_lines: int, n_classes: int) -> None:
        self.sums = np.zeros((n_classes, n_lines))

    def add(self, lines: np.ndarray, weight: np.ndarray | None, codes: np.ndarray) -> None:
        """Add lines, which have one column for each row of data, to the sums of the rows' classes."""
        n_rows = len(codes)
        weight = np.ones(n_rows) if weight is None else weight
        shape = len(self.sums), n_rows
        self.sums += sparse.csr_array((weight, (codes, np.arange(n_rows))), shape=shape) @ lines.T

    def merge(self, other: Self) -> None:
        """Add the sums of other rows."""
        self.sums += other.sums

    def subtract(self, other: Self) -> None:
        """Take out the sums of rows that were added before."""
        self.sums -= other.sums

    def scale(self, factor: float) -> None:
        """Multiply the weights of all rows."""
        self.sums *= factor

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Return what a file holds of the sums."""
        return {"class_sums": self.sums}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any], n_lines: int) -> Self | None:
        """Return the sums that a file holds, if it does."""
        if "class_sums" not in arrays:
            return None
        found = cls(n_lines, len(arrays["class_sums"]))
        check_shape("class_sums", arrays["class_sums"], found.sums.shape)
        found.sums[:] = arrays["class_sums"]
        return found

    @property
    def weights(self) -> np.ndarray:
        """Weights of the classes; what subtracting leaves of one but for rounding is zero."""
        weights = self.sums[:, 0]
        return np.where(weights > _NO_CLASS * weights.sum(), weights, 0.0)


@dataclass(frozen=True)
class ClassScatter:
    """The columns in coordinates in which classes are axes: class means, and what is within.

    An orthogonal transformation within each class turns its rows into one, the mean times the root of
    the weight, and others of mean zero. The one alone has an inner product with the indicator.
    """

    between: np.ndarray  # a line for each class that occurs, centred where asked
    within: np.ndarray  # a factor of the scatter within classes
    class_weights: np.ndarray  # of all classes, (q,)
    means: np.ndarray  # of the columns
    trace: float  # weighted sum of k(x, x)
    centred: bool

    @property
    def total_weight(self) -> float:
        return float(self.class_weights.sum())

    @property
    def columns(self) -> np.ndarray:
        """Everything that is known of the columns."""
        return np.vstack([self.between, self.within])

    @property
    def labels(self) -> sparse.csr_array:
        """Indicators of the classes that occur in the same coordinates, not centred."""
        roots = np.sqrt(self.class_weights[self.class_weights > 0])
        places = np.arange(len(roots))
        shape = len(self.between) + len(self.within), len(roots)
        return sparse.csr_array((roots, (places, places)), shape=shape)

    def coordinates(self) -> Coordinates:
        """Return columns and indicators in as few coordinates as the columns need, and one more.

        In the last one is what the columns do not see of each indicator, at its length. The inner
        products of these parts with each other, which no method looks at, are lost.
        """
        weights, total = self.class_weights, self.total_weight or 1.0
        present = weights > 0
        roots = np.sqrt(weights[present])
        basis, triangle = np.linalg.qr(self.columns)
        basis = basis[: len(roots)]
        targets = np.zeros((len(triangle) + 1, len(weights)))
        targets[:-1, present] = basis.T * roots
        squares = weights
        if self.centred:  # the basis need not be, where columns are linearly dependent
            targets[:-1] -= np.outer(roots @ basis, weights / total)
            squares = weights * (1 - weights / total)
        seen = np.einsum("nq,nq->q", targets, targets)
        targets[-1] = np.sqrt(np.maximum(squares - seen, 0.0))
        return Coordinates(
            columns=np.vstack([triangle, np.zeros((1, triangle.shape[1]))]),
            targets=targets,
            means=self.means,
            target_means=weights / total,
            total_weight=self.total_weight,
            trace=self.trace,
        )
