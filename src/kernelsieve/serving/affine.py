"""Steps of a pipeline that are affine functions of their inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import SelectorMixin
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from ..estimators import KernelEstimator
from ..kernels import Inputs, Rows
from ..metric_learning import GradientMetric
from ..model import KernelModel
from ..subspace import AlignmentWeights


@dataclass(frozen=True)
class Affine:
    """``(x - centre) @ matrix + shift``; a diagonal matrix is given by its diagonal.

    The centre is taken off first, as scikit-learn does: far from zero that keeps digits.
    """

    matrix: np.ndarray  # (d,) or (d, k)
    centre: np.ndarray | None = None  # (d,)
    shift: np.ndarray | None = None  # (k,)

    def __call__(self, X: Rows) -> Rows:
        if sparse.issparse(X) and self.centre is None and self.shift is None:
            return X.multiply(self.matrix).tocsr() if self.matrix.ndim == 1 else X @ self.matrix
        return plus(times(X if self.centre is None else X - self.centre, self.matrix), self.shift)

    def then(self, other: Affine) -> Affine:
        """Return the function that applies this one and then another."""
        between = plus(self.shift, None if other.centre is None else -other.centre)
        shift = plus(None if between is None else times(between, other.matrix), other.shift)
        matrix = times(_matrix_for(self.matrix, other.matrix), other.matrix)
        return Affine(matrix, self.centre, shift)

    @property
    def is_diagonal(self) -> bool:
        return self.matrix.ndim == 1

    @property
    def dense(self) -> Affine:
        """The same with a whole matrix."""
        matrix = np.diag(self.matrix) if self.matrix.ndim == 1 else self.matrix
        return Affine(matrix, self.centre, self.shift)


def times(left: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return a product with a matrix, which may be given by its diagonal."""
    return left * matrix if matrix.ndim == 1 else left @ matrix


def plus(left: Any, right: Any) -> Any:
    """Return a sum in which None stands for zeros."""
    if left is None or right is None:
        return right if left is None else left
    return left + right


def _matrix_for(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return np.diag(left) if left.ndim == 1 and right.ndim == 2 else left


def _standard(step: StandardScaler) -> Affine:
    return _centred_and_divided(step, step.mean_ if step.with_mean else None, step.scale_)


def _robust(step: RobustScaler) -> Affine:
    centre = step.center_ if step.with_centering else None
    return _centred_and_divided(step, centre, step.scale_ if step.with_scaling else None)


def _centred_and_divided(step: Any, centre: np.ndarray | None, scale: np.ndarray | None) -> Affine:
    return Affine(np.ones(step.n_features_in_) if scale is None else 1 / scale, centre)


def _min_max(step: MinMaxScaler) -> Affine | None:
    return None if step.clip else Affine(step.scale_, -step.min_ / step.scale_)


def _max_abs(step: MaxAbsScaler) -> Affine | None:
    return None if getattr(step, "clip", False) else Affine(1 / step.scale_)


def _principal(step: PCA) -> Affine:
    scale = np.sqrt(step.explained_variance_) if step.whiten else 1.0
    return Affine((step.components_ / np.reshape(scale, (-1, 1))).T, step.mean_)


def _metric(step: GradientMetric) -> Affine:
    components = step.components_
    is_diagonal = step.structure == "diagonal" and step.rank is None
    return Affine(np.diagonal(components).copy() if is_diagonal else components)


def _selected(step: SelectorMixin) -> Affine:
    return Affine(np.eye(step.n_features_in_)[:, step.get_support()])


_AFFINE: dict[type, Callable[[Any], Affine | None]] = {
    StandardScaler: _standard,
    MinMaxScaler: _min_max,
    MaxAbsScaler: _max_abs,
    RobustScaler: _robust,
    PCA: _principal,
    TruncatedSVD: lambda step: Affine(step.components_.T),
    AlignmentWeights: lambda step: Affine(step.weights_),
    GradientMetric: _metric,
}

#: Names of these steps, for messages.
AFFINE_STEPS = ", ".join(kind.__name__ for kind in _AFFINE)


def affine_of(step: Any) -> Affine | None:
    """Return a fitted transformer as an affine function; None where it is not one that is known."""
    if isinstance(step, KernelEstimator):
        return affine_of_model(step._current_fit().model, step.n_features_in_)
    if isinstance(step, SelectorMixin):
        return _selected(step)
    known = _AFFINE.get(type(step))
    return None if known is None else known(step)


def affine_of_model(model: KernelModel, n_inputs: int) -> Affine | None:
    """Return a model of the inputs themselves as an affine function; None for any other kernel."""
    if not isinstance(model.kernel, Inputs):
        return None
    matrix = np.zeros((n_inputs, model.n_components))
    matrix[model.landmarks] = model.projection
    return Affine(matrix, shift=-model.offset)
