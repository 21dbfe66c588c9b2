"""Kernel partial least squares with orthogonal loadings: nothing is deflated."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Any

import numpy as np

from ..deflation import DoublyCentredColumns, Heads, Outcome
from ..estimators import KernelEstimator, PredictMixin, estimator
from ..fitting import (
    Problem,
    Settings,
    about_the_mean,
    diagonal_of,
    row_columns,
    total_weight,
    weighted_sum,
)
from ..kernels import Kernel
from ..model import Fit, KernelModel, explained_variance_ratio
from ..rows import Batch, Pool, TargetEncoder, check_not_constant, one_target


@estimator
class OrthogonalLoadingsKernelPLS(PredictMixin, KernelEstimator):
    """Kernel partial least squares whose directions are orthogonal, not its features (KOLPLS).

    Each direction is the combination of all samples by what least squares on the features so far leaves
    of the target. Such directions are orthogonal in feature space by themselves, so nothing has to be
    deflated, and predictions are those of :class:`KernelPLS` with the same number of features. One
    continuous target.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    Notes
    -----
    Features are coordinates along directions of unit length. ``criterion_path_`` is the squared
    covariance with what was left of the target.

    References
    ----------
    M. Momma. Efficient computations via scalable sparse kernel partial least squares and boosted
    latent features. KDD, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import OrthogonalLoadingsKernelPLS
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = OrthogonalLoadingsKernelPLS(n_components=5).fit(X, y)
    >>> bool(model.score(X, y) > 0.5)
    True
    """

    n_components: int | None = None
    _: KW_ONLY
    tol: float = 1e-12
    dtype: str = "float64"
    max_memory: float = 2**30

    def _target_kind(self) -> str:
        return "continuous"

    def _encoder(self, y: Any, classes: Any = None) -> TargetEncoder:
        return super()._encoder(one_target(y), classes)

    def _solve(self, problem: Problem) -> Fit:
        settings = problem.settings_for(len(problem.rows))
        return fit_orthogonal_loadings(problem.rows, problem.kernel, settings)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags


def fit_orthogonal_loadings(batch: Batch, kernel: Kernel, settings: Settings) -> Fit:
    """Run the algorithm on the doubly centred kernel matrix: one product a feature."""
    root = batch.root_weight
    mean = float(root**2 @ batch.Y[:, 0] / (root @ root))
    y = (batch.Y[:, 0] - mean) * root
    check_not_constant(y, batch.Y[:, 0] * root)
    everyone = np.arange(len(batch))
    pool = Pool(kernel.points(batch.X, everyone), everyone)
    stored = row_columns(batch, kernel, pool, settings, everyone=True, center=True)
    columns = DoublyCentredColumns(stored, root)
    lengths = diagonal_of(stored, batch) - 2 * columns.row_means + columns.mean_of_all
    duals, features, coefficients = _loadings(columns, root, y, settings)
    k = len(coefficients)
    covariances = features.T @ np.column_stack([y, *(y - features @ c for c in coefficients[:-1])])
    fitted = [features @ c for c in coefficients]
    explained = np.diff([0.0, *(f @ f for f in fitted)]) / (y @ y)
    fit = Fit(
        model=KernelModel(
            kernel,
            pool.points,
            duals,
            np.zeros(k),
            np.zeros(len(batch), dtype=np.intp),
            settings.dtype,
        ),
        landmark_indices=pool.indices,
        criterion_path=(np.diagonal(covariances) / total_weight(batch)) ** 2,
        explained_variance_ratio=explained_variance_ratio(features, weighted_sum(lengths, batch)),
        explained_target_ratio=explained,
        outcome=Outcome.COMPLETE if k == settings.n_components else Outcome.EXPLAINED,
        heads=Heads(np.full((k, 1), mean), coefficients[:, :, None]),
    )
    return about_the_mean(fit, pool.indices, pool, batch, columns.row_means)


def _loadings(
    columns: DoublyCentredColumns, root: np.ndarray, y: np.ndarray, settings: Settings
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the dual directions, the features, and the coefficients of every prefix."""
    duals: list[np.ndarray] = []
    features: list[np.ndarray] = []
    path: list[np.ndarray] = []
    u = y
    while len(duals) < settings.n_components:
        t = root * columns.inner(u)  # K u, weighted as the samples are
        squared_length = float(u @ t)  # of the direction, w'w
        if not squared_length > settings.tol * float(y @ y) * float(
            np.abs(columns.raw_squared_norms).max()
        ):
            break
        length = np.sqrt(squared_length)
        duals.append(root * u / length)
        features.append(t / length)
        T = np.column_stack(features)
        c = np.linalg.lstsq(T, y, rcond=None)[0]
        path.append(np.concatenate([c, np.zeros(settings.n_components - len(c))]))
        u = y - T @ c
        if not float(u @ u) > 1e-24 * float(y @ y):
            break
    k, n = len(duals), len(y)
    B, T = (np.array(vectors).reshape(k, n).T for vectors in (duals, features))
    return B, T, np.array(path).reshape(k, settings.n_components)[:, :k]
