"""Leverages of samples in ridge regression on the candidates."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..execution import run_blocks
from ..kernels import Kernel, Rows
from ..rows import row_slices, rows_per_block
from ..statistics import Coordinates
from .ratios import Denominator


@dataclass(frozen=True)
class Leverages:
    """The share of a target of weight one in the output that ridge regression gives to its sample.

    The regression has the total scatter of the centred columns and the penalties below it. Where
    ``denominator`` is the scatter within classes, ``between`` is a factor of what is missing.
    """

    kernel: Kernel
    points: Rows
    alpha: np.ndarray  # of the features, (c, k)
    offset: np.ndarray
    coordinates: Coordinates
    denominator: Denominator
    between: np.ndarray  # (r, c), r may be 0

    def with_features(self, X: Rows, n_jobs: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the features of samples, and their leverages."""
        features, leverages = np.empty((X.shape[0], len(self.offset))), np.empty(X.shape[0])

        def write(rows: slice) -> None:
            columns = self.kernel.block(X[rows], self.points)
            features[rows] = columns @ self.alpha - self.offset
            leverages[rows] = self._of_columns(columns - self.coordinates.means)

        slices = list(row_slices(X.shape[0], rows_per_block(len(self.alpha))))
        run_blocks(slices, lambda: write, n_jobs, in_any_order=True)
        return features, leverages + 1 / self.coordinates.total_weight

    @property
    def mean(self) -> float:
        """Of all samples."""
        of_columns = float(self._of_columns(self.coordinates.columns).sum())
        return (1 + of_columns) / self.coordinates.total_weight

    def _of_columns(self, columns: np.ndarray) -> np.ndarray:
        whitened = self.denominator.whiten(columns)
        along = whitened @ self._missing.T
        return np.asarray((whitened**2).sum(axis=1) - (along**2).sum(axis=1))

    @cached_property
    def _missing(self) -> np.ndarray:
        """A factor of what ``between`` takes away from the inverse, where the denominator is I."""
        between = self.denominator.whiten(self.between)
        triangle = np.linalg.cholesky(np.eye(len(between)) + between @ between.T)
        return np.linalg.solve(triangle, between)


def mean_ridge_leverage(
    columns: np.ndarray, weight: np.ndarray, ridge: float, lengths: np.ndarray | None = None
) -> float:
    """Return the mean leverage in ridge regression with a constant.

    The ridge is on the squares of the coefficients, or on the squared length of the combination, by
    the inner products ``lengths`` of the columns in feature space.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.leverages import mean_ridge_leverage
    >>> columns = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    >>> mean_ridge_leverage(columns, np.ones(4), 4.0)  # of the constant 1/4, and of the column half
    0.375
    """
    centred = columns - weight @ columns / weight.sum()
    gram = centred.T @ (weight[:, None] * centred)
    penalty = ridge * (np.eye(len(gram)) if lengths is None else lengths)
    try:
        used = np.trace(np.linalg.solve(gram + penalty, gram))
    except np.linalg.LinAlgError:  # columns that depend on each other
        used = np.trace(np.linalg.pinv(gram + penalty, hermitian=True) @ gram)
    return (1 + float(used)) / float(weight.sum())
