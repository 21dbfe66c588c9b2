"""Continuum regression: from least squares over PLS to principal components by one parameter."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy.optimize import brentq

from ...exceptions import InvalidParameterError
from ..needs import Needs
from ..view import Direction, Step, View
from .base import Criterion, Selector

_RANK_TOLERANCE = 1e-10  # of the largest singular value of the columns: what is below is rounding
_NO_PRODUCT = 1e-14  # of all inner products with the targets: a direction with less has none
_GRID = 200  # places between which maxima are looked for
_SMALLEST_SHIFT = 1e-40  # of the largest; it is reached where the first direction has no product


class ContinuumRegression(Criterion):
    """Continuum regression: the criterion of section 2.2 of Dhanjal et al., after Stone and Brooks.

    The direction u maximises ``(u'X'y)^2 (u'X'Xu)^(alpha / (1 - alpha) - 1)`` over unit vectors, with X
    the deflated columns: the covariance with the targets, weighed against the variance.

    Parameters
    ----------
    alpha : float, default=0.5
        At least 0 and below 1: 0 is ordinary least squares, 0.5 is PLS, and near 1 are principal
        components.

    Notes
    -----
    The value of a step is ``(covariance^2)^(1 - alpha) variance^(2 alpha - 1)``, a power of the
    criterion that is finite for every alpha. With several targets the squared covariances are summed.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from kernelsieve import FeatureExtraction
    >>> from kernelsieve.deflation import ContinuumRegression
    >>> X, y = load_diabetes(return_X_y=True)
    >>> between = FeatureExtraction(ContinuumRegression(alpha=0.75), n_components=3).fit(X, y)
    >>> between.transform(X).shape
    (442, 3)
    """

    needs = Needs(metric=True, digits=True)

    def __init__(self, alpha: float = 0.5) -> None:
        self.alpha = alpha

    def start(self) -> Selector:
        if not (isinstance(self.alpha, Real) and 0 <= self.alpha < 1):
            raise InvalidParameterError(
                f"alpha={self.alpha!r} must be at least 0 and below 1: 0 is least squares, 0.5 PLS, "
                "and close to 1 are principal components."
            )
        return _ContinuumSteps(float(self.alpha))

    def propose(self, view: View) -> Direction | None:
        return self.start().propose(view)

    def value(self, step: Step) -> float:
        variance = step.residual_norm**2 / step.total_weight
        squared = float(step.target_products @ step.target_products) * variance / step.total_weight
        return float(np.exp(_log_criterion(squared, variance, self.alpha)))


class _ContinuumSteps(Selector):
    """Keeps the principal directions, in which the criterion is simple, from step to step."""

    def __init__(self, alpha: float) -> None:
        self._alpha = alpha
        self._directions: np.ndarray | None = None  # (C, r), of unit length and orthogonal

    def propose(self, view: View) -> Direction | None:
        if self._directions is None:
            everyone = np.arange(view.columns.shape[1])
            self._directions = view.metric.principal(view.columns, len(everyone))
            self._columns = view.columns.take(everyone) @ self._directions
            self._floor = _RANK_TOLERANCE * np.linalg.norm(self._columns, 2)
        features = view.features
        deflated = self._columns - features @ (features.T @ self._columns)
        left, singular, right = np.linalg.svd(deflated, full_matrices=False)
        kept = singular > self._floor
        products = singular[kept, None] * (left[:, kept].T @ view.residual_targets)
        found = continuum_direction(singular[kept] ** 2, products, self._alpha)
        if found is None:
            return None
        combined = right[kept].T @ found
        weights = self._directions @ combined
        column = self._columns @ combined
        return Direction(np.arange(len(weights)), weights, 0.0, column=column)


def continuum_direction(
    eigenvalues: np.ndarray, products: np.ndarray, alpha: float
) -> np.ndarray | None:
    """Return the best unit direction in the basis of the eigenvectors of X'X.

    For some shift s it is the best ratio of ``|products' u|^2`` to ``u'(L + s)u`` where alpha is below
    a half, and to ``u'(1 - L + s)u`` above, with L the eigenvalues as parts of the largest. So there is
    one number to find, whatever the number of targets.

    Parameters
    ----------
    eigenvalues : ndarray of shape (r,)
        Of X'X, positive.
    products : ndarray of shape (r, q)
        Of the eigenvectors with X'Y.
    alpha : float
        In [0, 1).

    Returns
    -------
    ndarray of shape (r,), or None where nothing is related to the targets.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.deflation.criteria.continuum import continuum_direction
    >>> eigenvalues, products = np.array([4.0, 1.0]), np.array([[1.0], [1.0]])
    >>> [continuum_direction(eigenvalues, products, alpha).round(2).tolist() for alpha in (0, 0.5, 0.9)]
    [[0.24, 0.97], [0.71, 0.71], [0.99, 0.13]]
    """
    sizes = np.linalg.norm(products, axis=1)
    related = sizes > _NO_PRODUCT * np.linalg.norm(sizes)
    if not related.any():
        return None
    relative = eigenvalues[related] / eigenvalues[related].max()
    curve = _Curve(relative, products[related], alpha)
    found = np.zeros(len(eigenvalues))
    found[related] = max(map(curve.direction, curve.stationary_shifts()), key=curve.log_criterion)
    return found


class _Curve:
    """The directions among which the best one is, one for each shift."""

    def __init__(self, relative: np.ndarray, products: np.ndarray, alpha: float) -> None:
        self._relative = relative
        self._products = products
        self._alpha = alpha
        self._costs = relative if alpha < 0.5 else 1 - relative

    def direction(self, shift: float) -> np.ndarray:
        """Return the unit direction with the largest ratio; an infinite shift leaves costs out."""
        costs = self._costs + shift if np.isfinite(shift) else np.ones(len(self._costs))
        scaled = self._products / np.sqrt(costs)[:, None]
        mix = np.linalg.eigh(scaled.T @ scaled)[1][:, -1]
        found = self._products @ mix / costs
        found /= np.linalg.norm(found)
        return np.asarray(found if found @ self._products @ mix > 0 else -found)

    def stationary_shifts(self) -> list[float]:
        """Return all shifts whose direction is a maximum of the criterion along the curve."""
        alpha = self._alpha
        if alpha in (0.0, 0.5):
            return [0.0 if alpha == 0 else np.inf]
        if alpha < 0.5:
            largest = alpha / (1 - 2 * alpha)
            smallest = largest * self._relative.min()
        else:
            largest = (1 - alpha) / (2 * alpha - 1)
            smallest = largest * _SMALLEST_SHIFT
        grid = np.geomspace(smallest, largest, _GRID)
        slopes = np.array([self._slope(shift) for shift in grid])
        rising = np.flatnonzero((slopes[:-1] < 0) & (slopes[1:] > 0))
        roots = [brentq(self._slope, grid[k], grid[k + 1], xtol=1e-300, rtol=1e-14) for k in rising]
        return roots or [float(grid[np.abs(slopes).argmin()])]

    def _slope(self, shift: float) -> float:
        """Return a number that is negative before a maximum of the criterion, and positive behind."""
        alpha, cost = self._alpha, float(self.direction(shift) ** 2 @ self._costs)
        if alpha < 0.5:
            return (1 - 2 * alpha) * shift - alpha * cost
        return (2 * alpha - 1) * shift - (1 - alpha) + alpha * cost

    def log_criterion(self, direction: np.ndarray) -> float:
        along = direction @ self._products
        return _log_criterion(along @ along, direction**2 @ self._relative, self._alpha)


def _log_criterion(squared_covariance: float, variance: float, alpha: float) -> float:
    return float((1 - alpha) * np.log(squared_covariance) + (2 * alpha - 1) * np.log(variance))
