"""Chemometric diagnostics of partial least squares: scores, loadings of y, VIP."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import InvalidParameterError
from ..kernels import Linear


def training_scores(estimator: Any) -> np.ndarray:
    """Return the features of the training samples, if these are the landmarks."""
    fit = estimator._current_fit()
    scores = None if fit.loadings is None else fit.loadings.scores(fit.feature_squares)
    if scores is None:
        raise AttributeError(
            "x_scores_ are kept only by a fit with all samples as candidates, whose model is as large "
            "as they are; call transform(X) for the scores of X."
        )
    return np.asarray(scores)


def target_loadings(estimator: Any) -> np.ndarray:
    """Return the least-squares coefficients of the targets on each feature."""
    fit = estimator._current_fit()
    if fit.heads is None or estimator._criterion().nearest_centre:
        raise AttributeError(
            "There are no y_loadings_, because labels are predicted by the nearest mean; pass "
            "decision='argmax'."
        )
    return np.asarray(fit.heads.last_coefficients.T)


def vip_scores(self: Any, n_components: int | None = None) -> np.ndarray:
    """Return the importance of each feature of X for the projection (VIP), for a linear kernel.

    ``VIP_i^2`` is the mean, weighted by what each component explains of the targets, of the squared
    weight of feature i in the component, times the number of features. So squares have the mean 1, and
    features with VIP above 1 matter more than most.

    Parameters
    ----------
    n_components : int, default=None
        For the first components only; None for all.

    Returns
    -------
    ndarray of shape (n_features,)

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import KernelPLS
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = KernelPLS(n_components=3, kernel="linear").fit(X, y)
    >>> int(model.vip_scores().argmax())  # the body mass index
    2
    """
    fit = self._prefix(n_components)
    model, explained = fit.model, fit.explained_target_ratio
    if not isinstance(model.kernel, Linear):
        raise InvalidParameterError(
            f"VIP scores are for kernel='linear', whose components are sums of features of X, and not "
            f"for kernel={model.kernel.name!r}; pass kernel='linear', or ask "
            "sklearn.inspection.permutation_importance."
        )
    rotations = np.asarray(model.landmarks.T @ model.projection)
    weights = np.linalg.qr(rotations)[0]  # the rotations are these times a triangle
    return np.sqrt(len(weights) * (weights**2 @ explained) / explained.sum())
