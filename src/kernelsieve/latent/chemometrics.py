"""Chemometric diagnostics: scores, loadings, VIP, coefficients, and distances with their limits.

Hotelling's T2 is the distance of a sample from the centre within the span of the components, the Q
residual the distance from that span. Estimators of this room take these functions as their methods.
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
from ..kernels import Linear, Rows
from ..model import Fit


def training_scores(self: Any) -> np.ndarray:
    """Return the features of the training samples, if these are the landmarks."""
    fit = self._current_fit()
    scores = None if fit.loadings is None else fit.loadings.scores(fit.feature_squares)
    if scores is None:
        raise AttributeError(
            "x_scores_ are kept only by a fit with all samples as candidates, whose model is as large "
            "as they are; call transform(X) for the scores of X."
        )
    return np.asarray(scores)


def target_loadings(self: Any) -> np.ndarray:
    """Return the least-squares coefficients of the targets on each feature."""
    fit, criterion = self._current_fit(), self._criterion()
    if fit.heads is None or criterion.nearest_centre or criterion.by_alignment:
        raise AttributeError(
            "There are no y_loadings_, because labels are predicted by the means of classes; pass "
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


def dual_coefficients(self: Any) -> np.ndarray:
    """Return one coefficient for each landmark, and for each of several targets.

    ``alpha = B (T'KB)^-1 T'Y`` of Dhanjal et al. (2009), for features that are centred.
    """
    alpha, _ = _linear_function(self)
    return alpha[:, 0] if _is_one_number(self) else alpha


def primal_coefficients(self: Any) -> np.ndarray:
    """Return one coefficient for each feature of X, with one row for each of several targets.

    ``W = U (P'U)^-1 C'`` of Dhanjal et al. (2009), transposed as scikit-learn does.
    """
    alpha, _ = _linear_function(self)
    coefficients = np.zeros((alpha.shape[1], self.n_features_in_))
    coefficients[:, self.landmarks_] = alpha.T
    return coefficients[0] if _is_one_number(self) else coefficients


def intercept(self: Any) -> np.ndarray:
    """Return the intercept that belongs to the coefficients."""
    _, constant = _linear_function(self)
    return constant[0] if _is_one_number(self) else constant


def _linear_function(self: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the coefficients of the kernel values, and the intercepts."""
    fit = self._current_fit()
    if fit.heads is None:
        raise AttributeError("There are no coefficients, because the features were found without y.")
    k = fit.model.n_components
    of_features, constants = fit.heads.coefficients, fit.heads.intercepts[k - 1]
    if of_features.ndim == 3:  # those of k features depend on k
        of_features = of_features[k - 1]
    return fit.model.projection @ of_features, constants - fit.model.offset @ of_features


def _is_one_number(self: Any) -> bool:
    return not self._predicts_labels() and self._one_dimensional_y


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
