"""Sparse (nu-) kernel PLS and boosted latent features: the numerical core, without an estimator.

M. Momma, "Efficient computations via scalable sparse kernel partial least squares and boosted latent
features", KDD 2005. At every step a few samples, the support vectors, are chosen for their residuals u.
They alone make the loading of the next feature, and they alone say how the images are shifted, so the
features of a new sample need the kernel with the support vectors only.

What is the paper's and what is ours: the algorithm, the update (5) and (6) of the kernel matrix
without ever forming it, and the selections MI and MR are stated there. The formulas of the shift, of
the dual (4), of MI's errors and the coefficients of new samples are our derivation, because the text
of (4), (11) and Algorithm 1 is lost; the tests check them against each other and against code that
forms every matrix. Sample weights, and what happens where a selection gives no direction, are ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from ..deflation import AbsoluteLoss, Heads, Loss, Outcome, SquaredLoss, order_of_first_use
from ..deflation.candidates import Basis, Residual
from ..deflation.losses import damped_newton
from .deflated_kernel import DeflatedKernel, Loading, Multipliers
from .support_vectors import SupportVectors

_DEPENDENT = 1e-10  # of its size: what a feature must have of its own
_CONSTANT = 1e-14  # of the largest value of y: a variation that is rounding
_EXPLAINED_SQUARES = 1e-20  # of the variance of y: a residual that is rounding
_EXPLAINED_ABSOLUTES = 1e-9  # of the mean absolute value of y
_EXPLAINED_LOSS = 1e-6  # of the loss of predicting 0: separable classes never reach none at all


@dataclass(frozen=True)
class SparseLatent:
    """Features ``k(x, landmarks) @ projection - offset``, with a model on every prefix of them."""

    landmarks: np.ndarray  # (m,): row numbers of all support vectors, in the order of first use
    first_use: np.ndarray  # (m,): the feature that needs each of them first, ascending
    projection: np.ndarray  # A, (m, k)
    offset: np.ndarray  # (k,)
    features: np.ndarray  # T, (n, k)
    baseline: np.ndarray  # (q,): the prediction without features
    heads: Heads  # the models with 1, 2, ... features
    support: np.ndarray  # (k,): fraction of the samples that are support vectors so far
    gaps: np.ndarray  # (k,): duality gap of each step where it is known
    errors: np.ndarray  # (k,): training error with 1, 2, ... features
    outcome: str


def nu_kpls(
    K: DeflatedKernel,
    Y: np.ndarray,
    weight: np.ndarray,
    loss: Loss,
    rule: SupportVectors,
    n_components: int,
    *,
    target_error: float | None = None,
    tol: float = 1e-12,
) -> SparseLatent:
    """Add features until enough are found, none is left, or the target error is reached: Algorithm 1.

    A step takes support vectors with multipliers alpha for the residuals u, their loading w with its
    feature t, and the model on all features T so far, whose residuals are the next u; then it shifts
    and deflates K. Of several columns of Y the next feature follows the one with the largest error: of
    several classes the one that is still separated worst from the rest.
    """
    fits = [Refit(loss, y, weight, n_components) for y in Y.T]  # one a column, on the same features
    baseline, outcome = _coefficients(fits)[0], Outcome.COMPLETE
    models, errors, gaps = list[np.ndarray](), list[float](), list[float]()
    for _ in range(n_components):
        if target_error is not None and _error(fits) <= target_error:
            outcome = Outcome.REACHED
            break
        if all(fit.is_explained for fit in fits):
            outcome = Outcome.EXPLAINED
            break
        steps = (step for step in _steps(K, fits, rule, tol) if _added(fits, step[2].feature))
        found = next(steps, None)
        if found is None:
            outcome = Outcome.EXHAUSTED
            break
        u, alpha, w = found
        gaps.append(rule.gap(K, u, alpha))
        K.commit(w)
        models.append(_coefficients(fits))
        errors.append(_error(fits))
    k, q = len(K.loadings), Y.shape[1]
    landmarks, first_use = order_of_first_use([w.rows for w in K.loadings])
    projection, offset = _projection(K.loadings, landmarks)
    coefficients = np.zeros((k, k, q))
    for j, model in enumerate(models):
        coefficients[j, : j + 1] = model[1:]
    return SparseLatent(
        landmarks=landmarks,
        first_use=first_use,
        projection=projection,
        offset=offset,
        features=K.features.copy(),
        baseline=baseline,
        heads=Heads(np.array([model[0] for model in models]).reshape(k, q), coefficients),
        support=np.searchsorted(first_use, np.arange(1, k + 1)) / len(Y),
        gaps=np.array(gaps),
        errors=np.array(errors),
        outcome=outcome,
    )


def _steps(
    K: DeflatedKernel, fits: Sequence[Refit], rule: SupportVectors, tol: float
) -> Iterator[tuple[np.ndarray, Multipliers, Loading]]:
    """Yield residuals u, multipliers alpha and the loading of possible steps, best first."""
    for fit in sorted(fits, key=lambda fit: -fit.error):
        if fit.is_explained:
            continue
        u = fit.negative_gradient
        for alpha in rule.proposals(K, u, fit.sizes):
            w = K.loading(alpha, u, tol)
            if w is not None:
                yield u, alpha, w


def _projection(loadings: list[Loading], landmarks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Express the loadings by undeflated images: A, and the offsets from shifts.

    A loading is a combination of deflated images. What the deflation took of them is along earlier
    loadings, so column after column ``a = beta - A (T' beta)``, and shifts drop out because beta sums
    to zero. Every feature needs the support vectors of its own and of earlier steps only.
    """
    position = np.zeros(landmarks.max(initial=-1) + 1, dtype=np.intp)
    position[landmarks] = np.arange(len(landmarks))
    projection = np.zeros((len(landmarks), len(loadings)))
    offset = np.zeros(len(loadings))
    for j, w in enumerate(loadings):
        projection[position[w.rows], j] = w.beta
        projection[:, j] -= projection[:, :j] @ w.overlap
        offset[j] = w.level - offset[:j] @ w.overlap
    return projection, offset


class Refit:
    """Minimises a loss over an intercept and the coefficients of the features so far.

    The method depends on the scale of its residuals, so y is standardised for the squared loss, to mean
    0 and variance 1, and for the absolute loss, to median 0 and mean absolute value 1. Features are
    neither orthogonal nor centred: the fit works on an orthonormal basis of them, whose triangle gives
    the coefficients back.
    """

    def __init__(self, loss: Loss, y: np.ndarray, weight: np.ndarray, capacity: int) -> None:
        share = weight / weight.sum()
        self._loss, self._weight, self._root = loss, weight, np.sqrt(share)
        if isinstance(loss, SquaredLoss):
            self._shift = float(share @ y)
            self._scale = float(np.sqrt(share @ (y - self._shift) ** 2))
            self._units, self._negligible = self._scale**2, _EXPLAINED_SQUARES
        elif isinstance(loss, AbsoluteLoss):
            self._shift = loss.minimise(y, np.empty((len(y), 0)), weight)[0]
            self._scale = float(np.average(np.abs(y - self._shift), weights=weight))
            self._units, self._negligible = self._scale, _EXPLAINED_ABSOLUTES
        else:
            self._shift, self._scale, self._units = 0.0, 1.0, 1.0
            self._negligible = _EXPLAINED_LOSS * float(self._root**2 @ loss.value(y, np.zeros(len(y))))
        if not self._scale > _CONSTANT * np.abs(y).max(initial=0.0):
            self._scale = self._units = 0.0  # y is constant but for rounding
        self._y = (y - self._shift) / (self._scale or np.inf)
        self._residual, self._solution = self._y, np.zeros(0)
        self._capacity = min(capacity + 1, len(y))
        self._basis = Basis(len(y), self._capacity)
        self.add(np.ones(len(y)))

    @property
    def negative_gradient(self) -> np.ndarray:
        """The negative gradient u of the loss, which the next feature follows, (n,)."""
        if isinstance(self._loss, SquaredLoss):
            return self._residual
        return self._loss.negative_gradient(self._y, self._prediction)

    @property
    def sizes(self) -> np.ndarray:
        """The sizes of the residuals, which rank the samples, (n,)."""
        if isinstance(self._loss, AbsoluteLoss):  # whose gradient is a sign
            return np.abs(self._residual)
        return np.abs(self.negative_gradient)

    @property
    def error(self) -> float:
        """The training error in the units of y: the mean square, or the mean loss of other losses."""
        return self._units * self._mean

    @property
    def is_explained(self) -> bool:
        """Whether the residuals are zero up to rounding."""
        return self._mean <= self._negligible

    @property
    def _mean(self) -> float:
        if isinstance(self._loss, SquaredLoss):
            return float(np.sum((self._root * self._residual) ** 2))
        return float(self._root**2 @ self._loss.value(self._y, self._prediction))

    def add(self, feature: np.ndarray) -> bool:
        """Add a feature and refit; return False, without a change, if it is linearly dependent."""
        column = feature * self._root
        vector, coefficients = self._basis.orthogonalise(column)
        norm, size = float(np.linalg.norm(vector)), float(np.linalg.norm(column))
        if self._basis.size == self._capacity or not norm > _DEPENDENT * size:
            return False
        newest = self._basis.append(Residual(column, vector, coefficients, norm, size))
        basis = self._basis.features / self._root[:, None]
        if isinstance(self._loss, SquaredLoss):  # the other features have taken their part already
            part = float(newest @ (self._residual * self._root))
            self._solution = np.append(self._solution, part)
            self._residual = self._residual - part * newest / self._root
            return True
        if not isinstance(self._loss, AbsoluteLoss):
            start = np.append(self._solution, 0.0)
            self._solution, self._prediction = damped_newton(
                self._loss, self._y, basis, self._root**2, start=start
            )
            return True
        self._solution = np.zeros(1)  # the median is 0
        if len(basis.T) > 1:
            constant, others = self._loss.minimise(self._y, basis[:, 1:], self._weight)
            self._solution = np.append(constant, others)
        self._residual = self._y - basis @ self._solution
        self._prediction = self._y - self._residual
        return True

    def coefficients(self) -> np.ndarray:
        """Return the intercept, and one coefficient for each feature, in the units of y."""
        coordinates = self._scale * self._solution
        coordinates[0] += self._shift  # the first basis vector is the constant 1, times the roots
        return np.asarray(solve_triangular(self._basis.triangle, coordinates))


def _added(fits: Sequence[Refit], feature: np.ndarray) -> bool:
    """Add a feature to all models; return False if it is linearly dependent, which it is for all."""
    added = [fit.add(feature) for fit in fits]
    return all(added)


def _coefficients(fits: Sequence[Refit]) -> np.ndarray:
    """Return the intercepts, and one row of coefficients for each feature, (1 + j, q)."""
    return np.column_stack([fit.coefficients() for fit in fits])


def _error(fits: Sequence[Refit]) -> float:
    """Return the training error, averaged over the columns."""
    return float(np.mean([fit.error for fit in fits]))
