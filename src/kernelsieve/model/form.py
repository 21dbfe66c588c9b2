"""The one form of every model: ``kernel(x, landmarks) @ projection - offset``."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..columns import row_slices, rows_per_block
from ..exceptions import KernelError
from ..execution import run_blocks
from ..kernels import Inputs, Kernel, Rows

_NEAR_CACHE_BYTES = 2**20  # kernel values are written, read by one product, and done with


@dataclass(frozen=True)
class KernelModel:
    """Landmarks, projection and offset, with the kernel between them.

    ``first_use[i]`` is the feature that needs landmark i first, in ascending order, so the model with
    the first j features is a prefix of landmarks and of columns.
    """

    kernel: Kernel
    landmarks: Rows
    projection: np.ndarray  # (m, k)
    offset: np.ndarray  # (k,)
    first_use: np.ndarray  # (m,)
    dtype: type = np.float64

    @property
    def n_components(self) -> int:
        return int(self.projection.shape[1])

    @property
    def evaluations(self) -> np.ndarray:
        """Landmarks that the first 1, 2, ..., k features need."""
        return np.searchsorted(self.first_use, np.arange(1, self.n_components + 1))

    def truncate(self, n_components: int) -> KernelModel:
        """Return the model with the first features only, and only the landmarks that they need."""
        n_landmarks = int(self.evaluations[n_components - 1])
        return replace(
            self,
            landmarks=self.landmarks[:n_landmarks],
            projection=np.ascontiguousarray(self.projection[:n_landmarks, :n_components]),
            offset=self.offset[:n_components],
            first_use=self.first_use[:n_landmarks],
        )

    def features(self, X: Rows, n_jobs: int | None = None) -> np.ndarray:
        """Return the features of validated rows, computed in blocks by threads."""
        out = np.empty((X.shape[0], self.n_components), self.dtype)
        slices = list(row_slices(X.shape[0], rows_per_block(len(self.projection), _NEAR_CACHE_BYTES)))
        run_blocks(slices, lambda: _Transformer(self, X, out), n_jobs)
        return out

    def fill_lines(self, X: Rows, out: np.ndarray) -> None:
        """Write the features as lines, ``(k, len(X))``, for a statistic."""
        values = np.empty((len(self.projection), X.shape[0]))
        self.kernel.against(self.landmarks)(X, values)
        np.dot(self.projection.T, values, out=out)
        out -= self.offset[:, None]


def features_as_they_are(n_components: int) -> KernelModel:
    """Return the model whose rows are features already."""
    numbers = np.arange(n_components)
    return KernelModel(Inputs(), numbers, np.eye(n_components), np.zeros(n_components), numbers)


class _Transformer:
    """A worker with its own buffers for kernel values and features.

    Features are made as lines, one for each feature: with the few columns that they have, BLAS is a
    third faster that way, the copy into rows included. The offset takes part in the product as a
    landmark whose kernel value is always 1. Where the first half of the features needs only some of
    the landmarks, it is a product of its own.
    """

    def __init__(self, model: KernelModel, X: Rows, out: np.ndarray) -> None:
        self._fill = model.kernel.against(model.landmarks, model.dtype)
        lines: np.ndarray = np.column_stack([-model.offset, model.projection.T]).astype(model.dtype)
        half = len(lines) // 2
        n_landmarks = np.searchsorted(model.first_use, [half, len(lines)])
        parts = zip((slice(0, half), slice(half, None)), n_landmarks, strict=True)
        self._parts = [(part, np.ascontiguousarray(lines[part, : m + 1])) for part, m in parts]
        self._shape = len(lines), lines.shape[1]
        self._X = X
        self._out = out
        self._buffer: np.ndarray = np.empty(0, model.dtype)

    def __call__(self, rows: slice) -> None:
        n_rows = rows.stop - rows.start
        n_features, n_values = self._shape
        if self._buffer.size < (n_features + n_values) * n_rows:
            self._buffer = np.empty((n_features + n_values) * n_rows, self._buffer.dtype)
        both = self._buffer[: (n_features + n_values) * n_rows].reshape(-1, n_rows)
        features, values = both[:n_features], both[n_features:]
        values[0] = 1
        self._fill(self._X[rows], values[1:])
        for part, weights in self._parts:
            np.dot(weights, values[: weights.shape[1]], out=features[part])
        if not np.isfinite(features.sum()):
            self._refuse(features.T, rows.start)
        self._out[rows] = features.T

    def _refuse(self, features: np.ndarray, start: int) -> None:
        bad = np.flatnonzero(~np.isfinite(features).all(axis=1))
        if len(bad):
            raise KernelError(
                f"The kernel of row {start + bad[0]} with the landmarks is too large, or not a number; "
                "check that row, and scale new rows as the training rows were."
            )


class Projector:
    """A plain callable from rows to features, without any checks, for serving.

    It takes one row, ``(d,)``, or several, ``(n, d)``, and returns ``(k,)`` or ``(n, k)``. Everything
    that does not depend on the rows is prepared once.
    """

    def __init__(self, model: KernelModel) -> None:
        self._fill = model.kernel.against(model.landmarks, model.dtype)
        self._projection: np.ndarray = model.projection.astype(model.dtype)
        self._offset: np.ndarray = model.offset.astype(model.dtype)
        self._n_landmarks = len(model.projection)
        self._dtype = model.dtype

    def __call__(self, X: Rows) -> np.ndarray:
        rows = X[None, :] if X.ndim == 1 else X
        values = np.empty((self._n_landmarks, rows.shape[0]), self._dtype)
        self._fill(rows, values)
        features = values.T @ self._projection
        features -= self._offset
        return features[0] if X.ndim == 1 else features
