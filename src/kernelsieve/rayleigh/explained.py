"""What features of one class each explain: of the classes, and of the variance of the images."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..deflation import PoolMetric
from ..fitting import trace_of
from ..kernels import Kernel
from ..model import explained_variance_ratio, is_indefinite
from ..rows import Batch, weighted_targets
from .column_generation import PricedColumns


def explained_targets(outputs: np.ndarray, batch: Batch) -> np.ndarray:
    """Return the share of the classes' indicators that each output adds to those before it."""
    targets = weighted_targets(batch, True)
    features = weighted_targets(replace(batch, targets=outputs), True)
    Q, R = np.linalg.qr(features)
    independent = min(features.shape)  # no more outputs can add anything than there are samples
    lengths = np.linalg.norm(features[:, :independent], axis=0)
    adds = np.abs(np.diagonal(R)) > 1e-10 * lengths
    products = np.zeros((features.shape[1], targets.shape[1]))
    products[:independent][adds] = (Q.T @ targets)[adds]
    return np.einsum("kc,kc->k", products, products) / float(np.sum(targets**2))


class ImageVariance:
    """Images of the samples: how much they vary, and lengths of combinations of candidates."""

    def __init__(
        self, batch: Batch, kernel: Kernel, columns: PricedColumns, W: np.ndarray | None
    ) -> None:
        weight = batch.root_weight**2
        self._batch = batch
        self._kernel = kernel
        self._columns = columns
        self._W = W  # of a pool; without one the first candidates are the samples
        means = columns.prices(weight) / weight.sum()
        if W is None:
            of_mean = float(weight @ means[: len(weight)] / weight.sum())
            diagonal = kernel.diag_at(batch.X, np.arange(len(batch)))
            trace = float(weight @ diagonal)
        else:
            of_mean = float(PoolMetric(W).mean_coefficients(means) @ means)
            trace = trace_of(kernel, batch, np.diagonal(W))
        self._total = trace - weight.sum() * of_mean

    def explained(self, chosen: np.ndarray, alpha: np.ndarray, outputs: np.ndarray) -> np.ndarray:
        """Return the share of all variance that each direction adds to those before it."""
        if self._W is not None:
            among = self._W[np.ix_(chosen, chosen)]
        elif chosen.max() < self._columns.shape[0]:
            among = self._columns.take(chosen)[chosen]
        else:  # candidates that are no samples
            points = self._columns.points[chosen]
            among = self._kernel.block(points, points)
        features = weighted_targets(replace(self._batch, targets=outputs), True)
        lengths = alpha.T @ among @ alpha
        total = np.nan if is_indefinite(lengths) else self._total
        return explained_variance_ratio(features, total, lengths)
