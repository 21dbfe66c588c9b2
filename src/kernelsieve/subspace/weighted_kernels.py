"""Objectives of a kernel of weighted features, formula (15), with derivatives by the weights."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..exceptions import InvalidDataError
from ..kernels import Kernel

_NEGATIVE = 1e-12  # of the largest: a coefficient, or a multiplier, that rounding leaves below zero
_PATIENCE = 3  # exchanges that may leave as many signs wrong before they are made one by one


class WeightedObjective(ABC):
    """A function of the kernel matrix of ``k(theta * x, theta * z)``, and its derivative by theta."""

    def __init__(self, X: np.ndarray, kernel: Kernel) -> None:
        self.n_features = X.shape[1]
        self._X, self._kernel = X, kernel

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        weighted = self._X * theta
        K = self._kernel.block(weighted, weighted)
        value, slopes = self.value_and_slopes(K)
        # Samples are both arguments of the kernel, and slopes are symmetric.
        of_samples = 2 * self._kernel.landmark_gradient(weighted, weighted, K, slopes)
        return value, np.einsum("nd,nd->d", self._X, of_samples)

    @abstractmethod
    def value_and_slopes(self, K: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the value, which is to be large, and its derivative by the kernel matrix."""


class WeightedAlignment(WeightedObjective):
    """The alignment of the kernel matrix with K_y."""

    def __init__(self, X: np.ndarray, K_y: np.ndarray, kernel: Kernel, *, center: bool) -> None:
        super().__init__(X, kernel)
        self._center = center
        before = np.linalg.norm(K_y)
        self._K_y = _centred(K_y) if center else K_y
        self._size = float(np.linalg.norm(self._K_y))
        if not self._size > 1e-12 * before:
            raise InvalidDataError(
                "y is constant, or of one class, so no kernel can be aligned with it; check the target "
                "column."
            )

    def value_and_slopes(self, K: np.ndarray) -> tuple[float, np.ndarray]:
        K = _centred(K) if self._center else K
        size = float(np.linalg.norm(K))
        if not size > 0:
            return 0.0, np.zeros_like(K)
        value = float(np.sum(K * self._K_y)) / (size * self._size)
        return value, self._K_y / (size * self._size) - K * (value / size**2)


class WeightedMargin(WeightedObjective):
    """Minus the logarithm of the objective of a support vector machine, or of its radius-margin bound.

    Slack is squared: that is a hard margin under the kernel ``K + I / C``, for K divided by its mean
    diagonal. The bound is the squared radius of the smallest ball around the images under that kernel,
    times the squared length of the weight vector (Chapelle et al., 2002). Both are optima of quadratic
    programs, whose derivatives by K are products of their solutions. Of more than two classes each is
    separated from the rest, and their objectives are added.
    """

    def __init__(
        self, X: np.ndarray, labels: np.ndarray, kernel: Kernel, C: float, *, radius: bool
    ) -> None:
        super().__init__(X, kernel)
        if labels.shape[1] < 2:
            raise InvalidDataError(
                "y has one class only in the samples that are drawn, so there is no margin; check the "
                "target column, or raise max_samples."
            )
        separated = labels[:, 1:] if labels.shape[1] == 2 else labels
        self._signs = np.where(separated.T > 0, 1.0, -1.0)
        self._C, self._radius = C, radius

    def value_and_slopes(self, K: np.ndarray) -> tuple[float, np.ndarray]:
        n, size = len(K), float(np.trace(K)) / len(K)
        if not size > 0:
            size = 1.0
        K_C = K / size + np.eye(n) / self._C
        ones, total, slopes = np.ones(n), 0.0, np.zeros((n, n))
        for y in self._signs:  # max 2 * sum(a) - a' (yy' * K_C) a, with y'a = 0 and a >= 0
            a = nonnegative_program(np.outer(y, y) * K_C, ones, y, 0.0)
            beta = a * y
            total += float(2 * a.sum() - beta @ K_C @ beta)
            slopes -= np.outer(beta, beta)
        value, slopes = float(np.log(total)), slopes / total
        if self._radius:  # max diag(K_C)'a - a' K_C a, with the sum of a one and a >= 0
            a = nonnegative_program(K_C, np.diagonal(K_C) / 2, ones, 1.0)
            squared_radius = float(a @ np.diagonal(K_C) - a @ K_C @ a)
            value += float(np.log(squared_radius))
            slopes += (np.diag(a) - np.outer(a, a)) / squared_radius
        # K was divided by its mean diagonal, which depends on K as well.
        of_size = float(np.sum(slopes * K)) / size**2
        return -value, of_size / n * np.eye(n) - slopes / size


def nonnegative_program(Q: np.ndarray, c: np.ndarray, e: np.ndarray, total: float) -> np.ndarray:
    """Minimise ``a'Qa - 2 c'a`` over a of at least zero with ``e'a = total``, for Q positive definite.

    All coefficients of wrong sign leave the support, and all whose multiplier has the wrong sign join
    it, until none is left; where this does not make them fewer, one after the other (block principal
    pivoting, Portugal, Judice and Vicente, 1994).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.subspace.weighted_kernels import nonnegative_program
    >>> nonnegative_program(np.diag([1.0, 1.0, 1.0]), np.array([3.0, 2.0, 0.0]), np.ones(3), 1.0)
    array([1., 0., 0.])
    """
    free = np.ones(len(Q), dtype=bool)
    fewest, patience = len(Q) + 1, _PATIENCE
    for _ in range(10 * len(Q)):
        factor = cho_factor(Q[np.ix_(free, free)], check_finite=False)
        of_c, of_e = cho_solve(factor, np.column_stack([c[free], e[free]]), check_finite=False).T
        price = (total - e[free] @ of_c) / (e[free] @ of_e)
        a = np.zeros(len(Q))
        a[free] = of_c + price * of_e
        multipliers = Q @ a - c - price * e
        low = _NEGATIVE * np.abs(a).max(), _NEGATIVE * max(np.abs(multipliers).max(), np.abs(c).max())
        wrong = np.flatnonzero(np.where(free, a < -low[0], multipliers < -low[1]))
        if len(wrong) == 0:
            break
        if len(wrong) < fewest:
            fewest, patience = len(wrong), _PATIENCE
        else:
            patience -= 1
        exchanged = wrong if patience > 0 else wrong[-1:]
        free[exchanged] = ~free[exchanged]
        free[exchanged[:1]] |= not free.any()
    return np.maximum(a, 0.0)


def _centred(K: np.ndarray) -> np.ndarray:
    means = K.mean(axis=0)
    return K - means - means[:, None] + means.mean()
