"""What a statistic gives back: columns and targets in a few coordinates, or in those of classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class Coordinates:
    """The columns and targets in a few coordinates instead of n rows.

    An orthogonal transformation of the (weighted) rows keeps every inner product. ``columns`` and
    ``targets`` are what is left of them after one that turns all but the first ``1 + q + c`` rows to
    zero; a method that sees only inner products cannot tell the difference.
    """

    columns: np.ndarray  # (N, c)
    targets: np.ndarray  # (N, q)
    means: np.ndarray  # weighted means of the columns as they are, before any shift
    target_means: np.ndarray
    total_weight: float
    trace: float  # weighted sum of k(x, x)


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
