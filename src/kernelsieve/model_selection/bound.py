"""A lower bound on the covariance with the target that features keep on new samples."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone

from .._sklearn import safe_split
from ..data import TargetEncoder, row_slices, rows_per_block
from ..estimators import KernelEstimator
from ..exceptions import InvalidParameterError, VacuousBoundWarning, warn
from ..kernels import Inputs, Kernel, Precomputed, Rows
from ..metrics import cumulative_pointwise_squared_covariance

_MOST_EXAMPLES = 2.0**62  # that a whole number can safely hold


@dataclass(frozen=True)
class TargetColumns:
    """Encodes targets as columns, centred by the training means if the extractor centres."""

    encoder: TargetEncoder
    means: np.ndarray

    def transform(self, y: Any) -> np.ndarray:
        """Return the columns of other targets."""
        return self.encoder.encode(y, len(y)) - self.means

    def squares(self, y: Any) -> np.ndarray:
        """Return y^2, the squared norm of each sample's targets."""
        columns = self.transform(y)
        return np.einsum("nq,nq->n", columns, columns)


@dataclass(frozen=True)
class StabilityBound:
    """The parts of the bound for 1, 2, ..., k features; made by :func:`stability_bound`.

    Attributes
    ----------
    empirical : ndarray of shape (k,)
        Mean over the training samples of ``y^2 (t_1^2 + ... + t_j^2)``.
    complexity, confidence : ndarray of shape (k,)
        Rademacher complexity and confidence term, which are subtracted from it.
    bound : ndarray of shape (k,)
        The lower bound: with probability 1 - delta the expectation on new samples is above it.
    best_n_components : int
        Number of features with the largest cost-adjusted bound.
    cost : float
        The price q of a feature.
    cost_adjusted : ndarray of shape (k,)
        ``bound - q j``, the bound on the paper's g, which is largest at some number of features.
    norms : ndarray of shape (k,)
        c, the norm of the function.
    radius_squared : float
        R^2, the largest ``y^2 k(x, x)``, about the point that the features are shifted by.
    n_examples : int
        Training samples that were left after trimming.
    kept : ndarray of shape (n_examples,)
        Their numbers.
    delta : float
        Probability that the bound does not hold.
    extractor : fitted estimator
        The features that the bound is about.
    targets : TargetColumns
        Targets as the extractor sees them.
    """

    empirical: np.ndarray
    complexity: np.ndarray
    confidence: np.ndarray
    cost: float
    norms: np.ndarray
    radius_squared: float
    n_examples: int
    kept: np.ndarray
    delta: float
    extractor: Any
    targets: TargetColumns

    @property
    def bound(self) -> np.ndarray:
        return self.empirical - self.complexity - self.confidence

    @property
    def cost_adjusted(self) -> np.ndarray:
        return self.adjust(self.bound)

    @property
    def n_components(self) -> np.ndarray:
        """The numbers of features, 1 to k."""
        return np.arange(1, len(self.empirical) + 1)

    @property
    def best_n_components(self) -> int:
        return int(np.argmax(self.cost_adjusted)) + 1

    def adjust(self, values: np.ndarray) -> np.ndarray:
        """Subtract the cost of the features from values for 1, 2, ..., k of them.

        Parameters
        ----------
        values : ndarray of shape (k,)
            Such as ``bound``, which becomes ``cost_adjusted``.

        Returns
        -------
        ndarray of shape (k,)
        """
        return values - self.cost * self.n_components

    def expectation(self, X: Any, y: Any) -> np.ndarray:
        """Return the bounded quantity, estimated on other samples, for every number of features.

        That is the mean of ``y^2 (t_1^2 + ... + t_j^2)`` for the first j features.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n, d)
            Samples, as ``extractor.transform`` takes them.
        y : array-like of shape (n,) or (n, q)
            Their targets.

        Returns
        -------
        ndarray of shape (k,)
        """
        features = np.asarray(self.extractor.transform(X))
        return cumulative_pointwise_squared_covariance(features, self.targets.transform(y))

    def n_examples_needed(self, gap: Any) -> np.ndarray:
        """Return the number of training samples for a bound within a gap of the empirical value.

        Both terms fall with the root of the number of samples; the other quantities are taken to stay
        as they are.

        Parameters
        ----------
        gap : float or array-like of shape (k,)
            Above 0. ``0.1 * bound.empirical`` asks for a tenth of the value at each k.

        Returns
        -------
        ndarray of shape (k,)
            Whole numbers; 2**62 stands for that many or more.
        """
        allowed = np.asarray(gap, dtype=np.float64)
        if not (np.isfinite(allowed) & (allowed > 0)).all():
            raise InvalidParameterError(f"gap={gap!r} must be above 0 and finite.")
        gap_now = self.complexity + self.confidence
        needed = np.ceil(self.n_examples * (gap_now / allowed) ** 2)
        return np.minimum(needed, _MOST_EXAMPLES).astype(np.int64)


def stability_bound(
    extractor: Any,
    X: Any,
    y: Any,
    delta: float = 0.1,
    cost: float | None = None,
    trim: float = 0.0,
) -> StabilityBound:
    """Bound from below the squared covariance with the target that features have on new samples.

    This is Theorem 5.5 of Dhanjal, Gunn and Shawe-Taylor (2009) for every number of features from one
    fit. For ``f(x, y^2) = y^2 |t(x)|^2``, with t(x) the first k features, and l training samples

        E f >= mean f - 2 c sqrt(sum y^4 k(x, x)^2) / l - 3 c R^2 sqrt(ln(2 / delta) / (2 l)).

    Parameters
    ----------
    extractor : kernel extractor
        A copy is fitted to the samples. The bound is about the features as the extractor scales them;
        :class:`SparseMaximalCovariance` with ``center=False`` is the paper's.
    X : array-like or CSR matrix of shape (n, d)
        Training samples; the n x n matrix for a precomputed kernel.
    y : array-like of shape (n,) or (n, q)
        Targets; of several columns, or labels (one column a class), ``y^2`` is the squared length.
    delta : float, default=0.1
        Probability that the bound does not hold.
    cost : float, default=None
        Price q of a feature; None is half of what the first feature brings.
    trim : float, default=0.0
        Fraction of the samples that is left out before the fit: those with the largest ``y^2 k(x, x)``,
        a few of which can make R large. The bound is then about samples without such outliers.

    Returns
    -------
    StabilityBound

    Notes
    -----
    The theorem wants the norm c fixed before the data are seen; as in the paper it is taken from the
    data, which makes the bound a heuristic. So does trimming. With ``center=True`` images and targets
    are shifted by their training means, which depend on the data too. Some extractors, such as
    :class:`SparseKernelPLS`, shift features otherwise: ``k(x, x)`` is then the squared distance from
    the point that they shift by. Such distances take n x n kernel evaluations.

    References
    ----------
    C. Dhanjal, S. R. Gunn, J. Shawe-Taylor. Efficient sparse kernel feature extraction based on
    partial least squares. IEEE Transactions on Pattern Analysis and Machine Intelligence 31(8), 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import SparseMaximalCovariance
    >>> from kernelsieve.model_selection import stability_bound
    >>> X, y = load_diabetes(return_X_y=True)
    >>> bound = stability_bound(SparseMaximalCovariance(5, center=False), X, y.astype(float))
    >>> bool((bound.bound < bound.empirical).all())
    True
    >>> bound.n_examples_needed(0.5 * bound.empirical).shape
    (5,)
    """
    _check(extractor, delta, cost, trim)
    y, kept = np.asarray(y), np.arange(len(y))
    kind = extractor._target_kind()
    encoder = TargetEncoder.for_target(y, kind if kind in ("continuous", "classes") else "auto")
    if trim > 0:
        kept = _without_outliers(extractor, encoder, X, y, trim)
        X, y = safe_split(extractor, X, y, kept)
    model = clone(extractor).fit(X, y)
    columns = _targets(model, encoder, y)
    lengths, squares, n = _lengths(model, X), columns.squares(y), len(y)
    empirical = cumulative_pointwise_squared_covariance(model.transform(X), columns.transform(y))
    norms = _norms(_gram(model, X))
    radius_squared = float((squares * lengths).max())
    return StabilityBound(
        empirical=empirical,
        complexity=2 * norms / n * np.sqrt(np.sum(squares**2 * lengths**2)),
        confidence=3 * norms * radius_squared * np.sqrt(np.log(2 / delta) / (2 * n)),
        cost=float(empirical[0] / 2) if cost is None else float(cost),
        norms=norms,
        radius_squared=radius_squared,
        n_examples=n,
        kept=kept,
        delta=float(delta),
        extractor=model,
        targets=columns,
    )


def select_by_bound(
    extractor: Any,
    X: Any,
    y: Any,
    delta: float = 0.1,
    cost: float | None = None,
    trim: float = 0.0,
) -> int:
    """Return the number of features at which the cost-adjusted stability bound is largest.

    Parameters
    ----------
    extractor, X, y, delta, cost, trim
        As for :func:`stability_bound`.

    Returns
    -------
    int

    Warns
    -----
    VacuousBoundWarning
        Where the bound is below zero at the chosen number, and so says nothing.

    Examples
    --------
    >>> from kernelsieve import SparseMaximalCovariance
    >>> from kernelsieve.datasets import make_interactions
    >>> from kernelsieve.model_selection import select_by_bound
    >>> X, y = make_interactions(3000, 5, random_state=0)
    >>> sieve = SparseMaximalCovariance(10, gamma=0.02, candidates=300, center=False, random_state=0)
    >>> select_by_bound(sieve, X, y > 0)
    1
    """
    result = stability_bound(extractor, X, y, delta, cost, trim)
    k = result.best_n_components
    if result.bound[k - 1] <= 0:
        warn(
            f"The stability bound with {result.n_examples} samples is {result.bound[k - 1]:.3g} with "
            f"{k} features: below zero it is vacuous. More samples, trim=0.01, or targets without "
            "outliers make it tighter; ComponentPathCV does without.",
            VacuousBoundWarning,
        )
    return k


def _targets(model: Any, encoder: TargetEncoder, y: np.ndarray) -> TargetColumns:
    """Return targets as the model sees them."""
    Y = encoder.encode(y, len(y))
    return TargetColumns(encoder, Y.mean(axis=0) if _is_shifted(model) else np.zeros(Y.shape[1]))


def _lengths(model: Any, X: Rows) -> np.ndarray:
    """Return squared distances of the images from the centre of the features.

    That point is the origin, or the point p nearest to the mean image m with ``t = W'(phi - p)``:
    ``p = m + W b`` with ``W'W b = -mean(t)``. Most extractors shift by m, and b is 0.
    """
    kernel = model._current_fit().model.kernel
    rows = model._check_new_rows(X, len(model.projection_))
    diagonal = kernel.diag(rows)
    if not _is_shifted(model):
        return diagonal
    means = _mean_similarities(kernel, rows)
    features = np.asarray(model.transform(X), dtype=np.float64)
    level = features.mean(axis=0)
    b = -np.linalg.lstsq(_gram(model, X), level, rcond=None)[0]
    from_mean = np.maximum(diagonal - 2 * means + means.mean(), 0)
    return np.maximum(from_mean - 2 * (features - level) @ b - level @ b, 0)


def _without_outliers(
    extractor: Any, encoder: TargetEncoder, X: Rows, y: np.ndarray, trim: float
) -> np.ndarray:
    """Drop the samples with the largest y^2 k(x, x), by the kernel of a first fit."""
    model = clone(extractor).fit(X, y)
    size = _targets(model, encoder, y).squares(y) * _lengths(model, X)
    n_kept = len(size) - int(trim * len(size))
    if n_kept < max(2, model.n_components_):
        raise InvalidParameterError(
            f"trim={trim!r} leaves {n_kept} of {len(size)} samples for {model.n_components_} "
            "features; pass a smaller trim, such as 0.01."
        )
    return np.sort(np.argsort(size, kind="stable")[:n_kept])


def _is_shifted(model: Any) -> bool:
    """Whether features and targets are centred at a point other than the origin."""
    return bool(model._settings().center or model.offset_.any())


def _mean_similarities(kernel: Kernel, rows: Rows) -> np.ndarray:
    """Return the mean kernel value of each sample with all samples, computed in blocks."""
    everyone = kernel.points(rows, np.arange(rows.shape[0]))
    fill = kernel.against(everyone)
    means = np.empty(rows.shape[0])
    for part in row_slices(rows.shape[0], rows_per_block(rows.shape[0])):
        values = np.empty((rows.shape[0], part.stop - part.start))
        fill(rows[part], values)
        means[part] = values.mean(axis=0)
    return means


def _gram(model: Any, X: Rows) -> np.ndarray:
    """Return ``W'W = A'KA`` for W, the landmarks' images times the projection A."""
    kernel, landmarks, A = model._current_fit().model.kernel, model.landmarks_, model.projection_
    rows = np.asarray(X)[model.landmark_indices_] if isinstance(kernel, Precomputed) else landmarks
    return A.T @ kernel.block(rows, landmarks) @ A


def _norms(gram: np.ndarray) -> np.ndarray:
    """Return c for 1, 2, ..., k features: the Frobenius norm of ``W W'``, which is that of ``W'W``.

    That of the first k features is its leading block.
    """
    squares = gram**2
    # The leading block of size j adds a row and a column to that of size j - 1.
    added = np.tril(squares).sum(axis=1) + np.triu(squares, 1).sum(axis=0)
    return np.sqrt(np.cumsum(added))


def _check(extractor: Any, delta: float, cost: float | None, trim: float) -> None:
    if not isinstance(extractor, KernelEstimator) or extractor._kernel_class is Inputs:
        raise InvalidParameterError(
            f"extractor={extractor!r} has no kernel of kernelsieve; pass an extractor such as "
            "SparseMaximalCovariance(center=False)."
        )
    if not isinstance(delta, Real) or not 0 < delta < 1:
        raise InvalidParameterError(f"delta={delta!r} must be a probability between 0 and 1.")
    if not isinstance(trim, Real) or not 0 <= trim < 1:
        raise InvalidParameterError(
            f"trim={trim!r} must be a fraction of the samples, at least 0 and below 1."
        )
    if cost is not None and not (isinstance(cost, Real) and np.isfinite(cost)):
        raise InvalidParameterError(f"cost={cost!r} must be a number, or None.")
