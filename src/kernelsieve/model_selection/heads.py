"""Fit a predictor on the first k features for every k, in closed form where possible."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.class_weight import compute_sample_weight

from .nested_extractors import fit_with_weight

_EXACT_SOLVERS = ("auto", "cholesky", "svd")  # the others stop at a tolerance
# Smaller diagonals of the triangular factor, relative to the largest, are collinear features, of which
# scikit-learn takes the shortest solution.
_COLLINEAR = 1e-9
_COLLINEAR_SQUARED = 1e-6  # of a factor that comes from inner products, which know half the digits

#: What is said where that shortest solution cannot be had.
COLLINEAR = (
    "The features are collinear, so that least squares has many solutions; pass Ridge(alpha=...) as "
    "head, or fewer n_components."
)


def prefix_heads(
    head: Any, features: np.ndarray, y: Any, sample_weight: np.ndarray | None, sizes: np.ndarray
) -> Iterator[Any]:
    """Fit a head to the first k features for every k of ``sizes``."""
    path = _closed_form(head, features, y, sample_weight)
    if path is None:
        for k in sizes:
            yield fit_with_weight(clone(head), features[:, :k], y, sample_weight)
        return
    template = fit_with_weight(clone(head), features[:, :1], y, sample_weight)
    for k in sizes:
        yield with_coefficients(template, *path.solution(int(k)))


@dataclass(frozen=True)
class NestedRidge:
    """Least squares, or ridge regression, on every prefix of the columns from one factorisation.

    With the columns ``[T | Y] = Q [R | Z]``, centred and weighted, the first k columns of T have the
    leading block of R as their triangular factor, so that their coefficients are ``R_k^-1 Z_k``. A
    ridge adds the rows ``sqrt(alpha) I``, whose first k columns belong to the first k features. For
    orthogonal features R is diagonal, but nothing here depends on that.
    """

    triangle: np.ndarray  # R, (k, k)
    products: np.ndarray  # Z, (k, q)
    feature_means: np.ndarray
    target_means: np.ndarray

    @classmethod
    def fit(
        cls,
        features: np.ndarray,
        targets: np.ndarray,
        sample_weight: np.ndarray | None,
        alpha: float,
        center: bool,
    ) -> NestedRidge | None:
        """Factorise the features; return None for collinear columns, which have many solutions."""
        k, n_targets = features.shape[1], targets.shape[1]
        columns = np.hstack([features, targets])
        means = np.zeros(k + n_targets)
        if center:
            means = np.average(columns, axis=0, weights=sample_weight)
            columns -= means
        if sample_weight is not None:
            columns *= np.sqrt(sample_weight)[:, None]
        if alpha > 0:
            columns = np.vstack([columns, np.sqrt(alpha) * np.eye(k, k + n_targets)])
        R = np.asarray(np.linalg.qr(columns, mode="r"))[:k]
        diagonal = np.abs(np.diagonal(R))
        if len(R) < k or diagonal.min() <= _COLLINEAR * diagonal.max():
            return None
        return cls(R[:, :k], R[:, k:], means[:k], means[k:])

    @classmethod
    def from_products(
        cls, products: np.ndarray, n_targets: int, alpha: float, center: bool
    ) -> NestedRidge | None:
        """Factorise the inner products of ``[1 | Y | features]``; return None if that fails."""
        first = 1 + n_targets
        means = np.zeros(len(products) - 1)
        rest = products[1:, 1:]
        if center:
            means = products[0, 1:] / products[0, 0]
            rest = rest - products[0, 0] * np.outer(means, means)
        features = rest[n_targets:, n_targets:] + alpha * np.eye(len(products) - first)
        try:
            triangle = cholesky(features)
        except LinAlgError:
            return None
        diagonal = np.diagonal(triangle)
        if diagonal.min() <= _COLLINEAR_SQUARED * diagonal.max():
            return None
        Z = solve_triangular(triangle, rest[n_targets:, :n_targets], trans="T")
        return cls(triangle, Z, means[n_targets:], means[:n_targets])

    def solution(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients (q, k) and intercepts (q,) for the first k features."""
        coefficients = solve_triangular(self.triangle[:k, :k], self.products[:k])
        return coefficients.T, self.target_means - self.feature_means[:k] @ coefficients


def _closed_form(
    head: Any, features: np.ndarray, y: Any, sample_weight: np.ndarray | None
) -> NestedRidge | None:
    """Return the ridge path of a head; None if it has none, and for float32."""
    ridge = ridge_of(head)
    if ridge is None or features.dtype != np.float64:
        return None
    if isinstance(head, RidgeClassifier):
        targets = LabelBinarizer(pos_label=1, neg_label=-1).fit_transform(y)
        if head.class_weight is not None:
            balance = compute_sample_weight(head.class_weight, y)
            sample_weight = balance if sample_weight is None else balance * sample_weight
    else:
        targets = np.asarray(y)
    targets = targets.reshape(len(targets), -1).astype(np.float64)
    return NestedRidge.fit(features, targets, sample_weight, *ridge)


def ridge_of(head: Any) -> tuple[float, bool] | None:
    """Return penalty and ``fit_intercept`` of a linear head with an exact solution; None for others.

    No head stands for that of an extractor that predicts itself: least squares.
    """
    if head is None:
        return 0.0, True
    if type(head) is LinearRegression:
        return None if head.positive else (0.0, bool(head.fit_intercept))
    if type(head) not in (Ridge, RidgeClassifier):
        return None
    exact = head.solver in _EXACT_SOLVERS and not head.positive and isinstance(head.alpha, Real)
    return (float(head.alpha), bool(head.fit_intercept)) if exact else None


def with_coefficients(template: Any, coefficients: np.ndarray, intercepts: np.ndarray) -> Any:
    """Return a fitted head with new coefficients, in scikit-learn's shapes."""
    head = copy.copy(template)
    k = coefficients.shape[1]
    head.coef_ = coefficients.reshape((*template.coef_.shape[:-1], k))
    if head.fit_intercept:
        shape = np.shape(template.intercept_)
        head.intercept_ = intercepts.reshape(shape) if shape else float(intercepts[0])
    head.n_features_in_ = k
    for name in ("rank_", "singular_"):  # of the one feature that the template was fitted to
        vars(head).pop(name, None)
    return head
