"""Objectives for subspaces, and kernels of labels to align with.

An objective is a function of features: coordinates in an orthonormal basis of a subspace, one row a
sample, scaled by the root of its weight. It returns its value, which does not change when the basis is
rotated, and the derivative by the features.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lstsq, solve

from ..exceptions import InvalidParameterError
from ..kernels import Rows

#: From features to the value and its derivative.
Objective = Callable[[np.ndarray], tuple[float, np.ndarray]]

CODINGS = ("indicators", "signs", "balanced")
MARGINS = ("large_margin", "radius_margin")
_ROUNDING_OF_KERNEL = 1e-10  # of the largest entry, or eigenvalue
_ROUNDING = 1e-12


def objective_and_value(given: Any) -> tuple[str, Any]:
    """Split ``objective`` into its name and its parameter: the slack penalty, or the target kernel."""
    name, value = (given, None) if isinstance(given, str) else (*given, None, None)[:2]
    if name == "alignment" and len(given) != 1:
        value = "indicators" if isinstance(given, str) else value
        if not isinstance(value, str) or value in CODINGS:
            return name, value
    if name in MARGINS:
        value = 1.0 if isinstance(given, str) else value
        if isinstance(value, Real) and 0 < float(value) < np.inf:
            return name, float(value)
    raise InvalidParameterError(
        f"objective={given!r} cannot be optimised; it must be 'alignment', 'large_margin' or "
        "'radius_margin', or a pair of it: ('alignment', target_kernel) with "
        f"{', '.join(map(repr, sorted(CODINGS)))} or a matrix, or ('large_margin', C) with C above 0. "
        "Pass one of these."
    )


class TargetAlignment:
    """Kernel-target alignment of the feature kernel, formula (17) of Wu and Farquhar.

    ``<K_w, K_y>`` and ``<K_w, K_w>`` are sums of squares of inner products between features and labels,
    (21), and between features, (22): no n x n matrix is formed.
    """

    def __init__(self, labels: Rows) -> None:
        self._labels = labels
        gram = labels.T @ labels
        self._size = float(sparse.linalg.norm(gram) if sparse.issparse(gram) else np.linalg.norm(gram))

    def __call__(self, features: np.ndarray) -> tuple[float, np.ndarray]:
        largest = np.abs(features).max(initial=0.0)
        if largest == 0:
            return 0.0, np.zeros_like(features)
        features = features / largest  # the value has no scale, and fourth powers vanish early
        with_labels = features.T @ self._labels
        gram = features.T @ features
        size = float(np.linalg.norm(gram))
        value = float(np.sum(with_labels**2)) / (size * self._size)
        slope = self._labels @ with_labels.T * (2 / (size * self._size))
        slope -= features @ gram * (2 * value / size**2)
        return value, slope / largest

    def prefixes(self, features: np.ndarray) -> np.ndarray:
        """Return the alignment of the first 1, 2, ..., k features."""
        return np.array([self(features[:, : j + 1])[0] for j in range(features.shape[1])])


def coded_labels(labels: Rows, coding: str) -> Rows:
    """Return F with ``K_y = F F'`` for class indicators, scaled by root weights.

    "indicators" is 1 for two samples of a class and 0 otherwise, "signs" 1 and ``-1 / (c - 1)``, which
    is -1 for two classes, and "balanced" one over the weight of the class and 0.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.subspace.objectives import coded_labels
    >>> F = coded_labels(np.eye(2)[[0, 0, 1]], "signs")
    >>> (F @ F.T).round(12)
    array([[ 1.,  1., -1.],
           [ 1.,  1., -1.],
           [-1., -1.,  1.]])
    """
    if coding == "indicators":
        return labels
    if coding == "balanced":
        lengths = np.sqrt(np.asarray((labels * labels).sum(axis=0)))
        return labels / lengths
    n_classes = labels.shape[1]
    simplex = np.eye(n_classes) - 1 / n_classes
    return labels @ simplex * np.sqrt(n_classes / (n_classes - 1))


def checked_target_kernel(matrix: Any, n_samples: int) -> np.ndarray:
    """Return a given K_y; raise an error unless it is symmetric, finite and nonzero."""
    K_y = np.asarray(matrix, dtype=np.float64)
    size = np.abs(K_y).max(initial=0.0)
    if K_y.shape != (n_samples, n_samples) or not np.isfinite(size) or not size > 0:
        raise InvalidParameterError(
            f"target_kernel has shape {K_y.shape}; it must be finite, not zero, and have a row and a "
            f"column for each of the {n_samples} samples. Pass such a matrix, or one of "
            f"{', '.join(map(repr, CODINGS))}."
        )
    if np.abs(K_y - K_y.T).max() > _ROUNDING_OF_KERNEL * size:
        raise InvalidParameterError(
            f"target_kernel is not symmetric: entries differ by {np.abs(K_y - K_y.T).max():g}; pass "
            "(M + M.T) / 2."
        )
    return K_y


def factor(K_y: np.ndarray) -> np.ndarray:
    """Return F with ``F F' = K_y``; raise an error for negative eigenvalues."""
    values, vectors = np.linalg.eigh(K_y)
    if values[0] < -_ROUNDING_OF_KERNEL * values[-1]:
        raise InvalidParameterError(
            f"target_kernel has the eigenvalue {values[0]:g}; it must be positive semidefinite. Add "
            "that much to its diagonal, or pass one of "
            f"{', '.join(map(repr, CODINGS))}."
        )
    kept = values > _ROUNDING_OF_KERNEL * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])


class LargeMargin:
    """Minus the logarithm of the objective of a support vector machine on the features.

    As a function of points that span the subspace this is the sparse large margin classifier of Wu,
    Schoelkopf and Bakir (2005): a machine with as many expansion vectors as points. Slack is squared,
    so that the objective has a derivative. Of more than two classes each has a machine against the
    rest, and their objectives are added.

    Parameters
    ----------
    labels : ndarray of shape (n, c)
        Indicators, scaled by root weights.
    scale : float
        Mean of k(x, x), by which the kernel is divided.
    C : float
        Price of squared slack.
    """

    def __init__(self, labels: np.ndarray, scale: float, C: float) -> None:
        self._root = np.abs(labels).sum(axis=1)
        self._factors = self._root * np.sqrt(scale)
        separated = labels[:, 1:] if labels.shape[1] == 2 else labels
        self._signs = np.where(separated.T != 0, 1.0, -1.0)
        self._C = C

    def __call__(self, features: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = self._log_objective(features / self._factors[:, None])
        return -value, -slope / self._factors[:, None]

    def _log_objective(self, points: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log objective to minimise, and its derivative by unweighted points."""
        weight, total, slope = self._root**2, 0.0, np.zeros_like(points)
        for signs in self._signs:
            length, of_length = squared_margin_vector(points, signs, weight, self._C)
            total += length
            slope += of_length
        return float(np.log(total)), slope / total


class RadiusMargin(LargeMargin):
    """Minus the logarithm of the radius-margin bound of a support vector machine on the features.

    Chapelle et al. (2002) bound the leave-one-out errors by the squared radius of the smallest ball
    around the images times the squared length of the weight vector. Slack is squared, which is a hard
    margin for images that have a component of squared length ``1 / C`` of their own each.

    The ball is that around the features, and ``1 / C`` is added to its squared radius. The smallest
    ball around images with those components, under the kernel ``K + I / C``, is never larger: the
    squared radius is the largest value over convex weights b of a function that has
    ``(1 - sum of b_i^2) / C`` where ours has ``1 / C``. So the bound holds, and is looser. The bounds
    of more than two classes, each against the rest, are added: they share the ball.
    """

    def _log_objective(self, points: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = super()._log_objective(points)
        radius, of_radius = squared_radius(points)
        radius += 1 / self._C
        return value + float(np.log(radius)), slope + of_radius / radius


def squared_radius(points: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the squared radius of the smallest enclosing ball, and its derivative.

    The centre walks towards the centre of the ball through the points that it is farthest from, until
    another one is as far, or no support is left (Fischer, Gaertner and Kutz, 2003).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.subspace.objectives import squared_radius
    >>> squared_radius(np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 1.0]]))[0]
    4.0
    """
    centre = points.mean(axis=0)
    support = [int(np.argmax(((points - centre) ** 2).sum(axis=1)))]
    size = float(((points - centre) ** 2).sum(axis=1).max())
    weights = np.ones(1)
    for _ in range(20 * (points.shape[1] + len(points))):
        goal, weights = _circumcentre(points[support])
        step, hit = _walk(points, centre, goal, support, size)
        centre = centre + step * (goal - centre)
        if hit is not None:
            support.append(hit)
        elif weights.min() >= -_ROUNDING:
            break
        else:
            del support[int(np.argmin(weights))]
    offsets = points[support] - centre
    slope = np.zeros_like(points)
    slope[support] = 2 * np.maximum(weights, 0.0)[:, None] * offsets
    return float((offsets**2).sum(axis=1).max()), slope


def _circumcentre(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the circumcentre of points in their affine hull, and its weights."""
    edges = points[1:] - points[0]
    if len(edges) == 0:
        return points[0], np.ones(1)
    weights = lstsq(edges @ edges.T, 0.5 * (edges**2).sum(axis=1))[0]
    return points[0] + weights @ edges, np.concatenate([[1 - weights.sum()], weights])


def _walk(
    points: np.ndarray, centre: np.ndarray, goal: np.ndarray, support: list[int], size: float
) -> tuple[float, int | None]:
    """Return the step to where another point is as far as the support, and that point."""
    way = goal - centre
    first = points[support[0]]
    # |p - c - t w|^2 = |s - c - t w|^2 is linear in t
    gap = ((first - centre) ** 2).sum() - ((points - centre) ** 2).sum(axis=1)
    closing = 2 * (first - points) @ way
    closing[support] = 0.0
    nearer = closing > _ROUNDING * size
    if not nearer.any():
        return 1.0, None
    times = np.where(nearer, np.maximum(gap, 0.0) / np.where(nearer, closing, 1.0), np.inf)
    hit = int(np.argmin(times))
    return (float(times[hit]), hit) if times[hit] < 1 else (1.0, None)


def squared_margin_vector(
    points: np.ndarray, signs: np.ndarray, weight: np.ndarray, C: float
) -> tuple[float, np.ndarray]:
    """Return ``|w|^2 + C sum of squared slack`` at its minimum over w and a bias, and its derivative.

    Newton's method on the primal: the problem has as many unknowns as there are features, and one
    more, and is quadratic between changes of the samples that need slack.
    """
    rows = np.column_stack([points, np.ones(len(points))])
    flat = np.diag(np.r_[np.ones(points.shape[1]), 0.0])

    def slack_of(u: np.ndarray) -> np.ndarray:
        return np.maximum(1 - signs * (rows @ u), 0.0)

    def value_of(u: np.ndarray) -> float:
        return float(u @ flat @ u + C * weight @ slack_of(u) ** 2)

    u = np.zeros(rows.shape[1])
    value = value_of(u)
    for _ in range(100):
        slack = slack_of(u)
        active = rows[slack > 0] * np.sqrt(C * weight[slack > 0])[:, None]
        gradient = flat @ u - rows.T @ (C * weight * signs * slack)
        hessian = flat + active.T @ active
        hessian.flat[:: len(u) + 1] += _ROUNDING * np.trace(hessian)
        step = solve(hessian, -gradient, assume_a="pos")
        length = 1.0
        while value_of(u + length * step) > value + 1e-4 * length * float(gradient @ step):
            length /= 2
            if length < 1e-10:
                break
        if length < 1e-10:
            break
        u = u + length * step
        before, value = value, value_of(u)
        if before - value <= 1e-15 * before:
            break
    slope = -2 * np.outer(C * weight * signs * slack_of(u), u[:-1])
    return value, slope
