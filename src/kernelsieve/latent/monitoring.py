"""Distances of samples from the training samples: Hotelling's T2, Q residuals, and their limits.

T2 is the distance from the centre within the span of the components, Q the distance from that span.
Estimators of this room take these functions as their methods.
"""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from numbers import Real
from typing import Any

import numpy as np
from scipy import stats

from ..estimators import row_wise, squared_lengths
from ..exceptions import InvalidDataError, InvalidParameterError
from ..kernels import Rows
from ..model import Fit


@row_wise
def hotelling_t2(self: Any, X: Any, n_components: int | None = None) -> np.ndarray:
    """Return Hotelling's T2: squared distances from the centre of the training samples.

    Every component is measured in its standard deviation over the training samples.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        Samples, as for ``transform``.
    n_components : int, default=None
        Use the first components only; None for all.

    Returns
    -------
    ndarray of shape (n_samples,)
        Large for samples that are extreme within the model's components.

    See Also
    --------
    t2_limit : Limit of T2.
    """
    fit = self._prefix(n_components)
    variances = _feature_squares(fit) / (_total_weight(fit) - 1)
    features = self._features(X, fit).astype(np.float64, copy=False)
    return np.asarray((features**2 / variances).sum(axis=1))


def t2_limit(self: Any, confidence: float = 0.95, n_components: int | None = None) -> float:
    """Return the limit of T2: the quantile for new samples from the training distribution.

    It is ``k (n^2 - 1) / (n (n - k))`` times the quantile of the F distribution with k and n - k
    degrees of freedom, for k components, normally distributed, and n training samples (or the sum of
    their weights).

    Parameters
    ----------
    confidence : float, default=0.95
        That part of the samples.
    n_components : int, default=None
        For the first components only; None for all.

    Returns
    -------
    float
    """
    level = _check_confidence(confidence)
    fit = self._prefix(n_components)
    k, n = fit.model.n_components, _total_weight(fit)
    if n <= k:
        raise InvalidParameterError(
            f"T2 of {k} components has no limit by {n:g} training samples, which must be more; pass "
            "a smaller n_components."
        )
    quantile = stats.f.ppf(level, k, n - k)
    return float(k * (n**2 - 1) / (n * (n - k)) * quantile)


@row_wise
def q_residuals(
    self: Any, X: Any, n_components: int | None = None, *, diagonal: Any = None
) -> np.ndarray:
    """Return Q: squared distances in feature space between samples and their reconstructions.

    The image of a sample less the mean image is ``sum_j t_j(x) p_j``, its features times the loadings,
    and a rest, whose squared length this is (SPE, the squared prediction error of X). Loadings of
    principal components are their directions, so that it is the distance from their span. With a linear
    kernel it is ``||x - model.inverse_transform(model.transform(x))||^2`` of scikit-learn's
    ``PLSRegression(scale=False)`` or ``PCA``.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        Samples, as for ``transform``.
    n_components : int, default=None
        Use the first components only; None for all.
    diagonal : array-like of shape (n_samples,), default=None
        k(x, x) of each sample, which must be given where the kernel is precomputed.

    Returns
    -------
    ndarray of shape (n_samples,)
        Large for samples that are unlike the training samples in what the components do not
        describe. On a pool of candidates, mean and loadings are those in the span of the pool.

    See Also
    --------
    q_limit : Limit of Q.
    """
    fit = self._prefix(n_components)
    if fit.loadings is None:
        raise InvalidDataError(
            "q_residuals needs the loadings of the components, which a model does not have after prune "
            "or head; ask the model that was fitted."
        )
    rows = self._check_new_rows(X, len(fit.model.projection))
    return _squared_rests(fit, rows, squared_lengths(fit.model.kernel, rows, diagonal), self.n_jobs)


@row_wise
@wraps(q_residuals)
def q_residuals_of_coordinates(
    self: Any, X: Any, n_components: int | None = None, *, diagonal: Any = None
) -> np.ndarray:
    """Return Q for features that are coordinates along directions, which are the loadings."""
    errors = self.reconstruction_error(X, n_components, per_example=True, diagonal=diagonal)
    return np.asarray(errors)


def q_limit(
    self: Any,
    X: Any,
    confidence: float = 0.95,
    n_components: int | None = None,
    *,
    diagonal: Any = None,
) -> float:
    """Return the limit of Q: its quantile for new samples like the given ones.

    Q is taken for a multiple of a chi-squared variable, ``g chi2(h)``, with the mean and the variance
    that it has over the given samples.

    Parameters
    ----------
    X : array-like or CSR matrix of shape (n_samples, n_features)
        Samples that are as they should be: at least 2, and better many. The training samples will do
        for few components; many components leave less of them than of new samples, and samples that
        were held out give a limit that holds for these.
    confidence : float, default=0.95
        That part of the samples.
    n_components : int, default=None
        For the first components only; None for all.
    diagonal : array-like of shape (n_samples,), default=None
        k(x, x) of each sample, which must be given where the kernel is precomputed.

    Returns
    -------
    float
    """
    level = _check_confidence(confidence)
    residuals = self.q_residuals(X, n_components, diagonal=diagonal)
    if len(residuals) < 2:
        raise InvalidDataError(
            f"X has {len(residuals)} samples; pass at least 2, for a variance of residuals."
        )
    mean, variance = float(residuals.mean()), float(residuals.var(ddof=1))
    if not variance > 0:
        return mean
    return float(variance / (2 * mean) * stats.chi2.ppf(level, 2 * mean**2 / variance))


def _squared_rests(fit: Fit, rows: Rows, lengths: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Return ``|phi - sum_j t_j p_j|^2`` for the centred images phi, given k(x, x).

    One evaluation of the kernel gives features t, products with the loadings and with the mean.
    """
    model, loadings, k = fit.model, fit.loadings, fit.model.n_components
    assert loadings is not None
    parts = [model, loadings.image, *([] if fit.mean_image is None else [fit.mean_image])]
    together = replace(
        model,
        projection=np.hstack([part.projection for part in parts]),
        offset=np.concatenate([part.offset for part in parts]),
        first_use=np.zeros(len(model.projection), dtype=np.intp),
        dtype=np.float64,
        refinement=None,
    )
    found = together.features(rows, n_jobs)
    features, products = found[:, :k], found[:, k : 2 * k]
    squares = lengths - 2 * found[:, 2 * k :].sum(axis=1)  # about the mean, where there is one
    rest = features @ loadings.gram - 2 * products
    return np.maximum(squares + np.einsum("nk,nk->n", features, rest), 0.0)


def _feature_squares(fit: Fit) -> np.ndarray:
    if fit.feature_squares is None:
        raise InvalidDataError(
            "The variances of the components are not known to this model, which an earlier version "
            "has saved; fit it again."
        )
    return fit.feature_squares


def _total_weight(fit: Fit) -> float:
    if not fit.total_weight > 1:
        raise InvalidDataError(
            f"The weights of the training samples add up to {fit.total_weight:g}, which is not more "
            "than one sample, so variances have no degrees of freedom; pass weights that count samples."
        )
    return fit.total_weight


def _check_confidence(confidence: Any) -> float:
    if not isinstance(confidence, Real) or not 0 < float(confidence) < 1:
        raise InvalidParameterError(
            f"confidence={confidence!r} must be a number between 0 and 1, such as 0.95."
        )
    return float(confidence)
