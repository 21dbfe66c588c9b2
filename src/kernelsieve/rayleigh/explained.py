"""What features of one class each explain: of the classes, and of the variance of the images."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from ..deflation import PoolMetric
from ..fitting import trace_of
from ..kernels import Kernel
from ..rows import Batch, weighted_targets
from .column_generation import PricedColumns


def explained_targets(outputs: np.ndarray, batch: Batch) -> np.ndarray:
    """Return the share of the classes' indicators that each output adds to those before it."""
    targets = weighted_targets(batch, True)
    features = weighted_targets(replace(batch, Y=outputs), True)
    Q, R = np.linalg.qr(features)
    adds = np.abs(np.diagonal(R)) > 1e-10 * np.linalg.norm(features, axis=0)
    products = np.where(adds[:, None], Q.T @ targets, 0.0)
    return np.einsum("kc,kc->k", products, products) / float(np.sum(targets**2))


def covariance(outputs: np.ndarray, batch: Batch) -> np.ndarray:
    """Return the weighted covariance of outputs."""
    features = weighted_targets(replace(batch, Y=outputs), True)
    return np.asarray(features.T @ features / float(batch.root_weight @ batch.root_weight))


class Images:
    """The kernel images of the rows: how much they vary, and lengths of combinations of candidates."""

    def __init__(
        self, batch: Batch, kernel: Kernel, columns: PricedColumns, W: np.ndarray | None
    ) -> None:
        weight = batch.root_weight**2
        self._kernel = kernel
        self._columns = columns
        self._W = W  # of a pool; without one the first candidates are the rows
        means = columns.prices(weight) / weight.sum()
        if W is None:
            of_mean = float(weight @ means[: len(weight)] / weight.sum())
            diagonal = kernel.diag_at(batch.X, np.arange(len(batch)))
            trace = float(weight @ diagonal)
        else:
            of_mean = float(PoolMetric(W).mean_coefficients(means) @ means)
            trace = trace_of(kernel, batch, np.diagonal(W))
        self._variance = trace / weight.sum() - of_mean

    def shares(self, chosen: np.ndarray, alpha: np.ndarray, spread: np.ndarray) -> np.ndarray:
        """Return the share of all variance that each direction adds to those before it.

        ``spread`` is the covariance of the features along the directions.
        """
        if self._W is not None:
            among = self._W[np.ix_(chosen, chosen)]
        elif chosen.max() < self._columns.shape[0]:
            among = self._columns.take(chosen)[chosen]
        else:  # candidates that are no rows
            points = self._columns.points[chosen]
            among = self._kernel.block(points, points)
        try:
            L = cholesky(alpha.T @ among @ alpha, lower=True)
        except LinAlgError:  # no directions, or dependent ones, or a kernel that is not definite
            return np.full(alpha.shape[1], np.nan)
        half = solve_triangular(L, spread, lower=True)
        along = np.diagonal(solve_triangular(L, half.T, lower=True))
        return along / self._variance if self._variance > 0 else np.full(len(along), np.nan)
