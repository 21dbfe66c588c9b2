"""Synthetic data sets: those of the papers, and larger ones for benchmarks."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from ..exceptions import InvalidParameterError


def make_sparse_linear(
    n_samples: int = 100,
    n_features: int = 1000,
    *,
    n_informative: int = 50,
    noise: float = 0.1,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return data whose target is a linear combination of some of the features.

    As in sections 4.3 and 4.4 of Dhanjal, Gunn and Shawe-Taylor (2009): a small uniform noise is added
    to the target, and features and target are centred and scaled to unit norm.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of X.
    n_informative : int, default=50
        Number of features that make the target.
    noise : float, default=0.1
        Half width of the noise, in standard deviations of the target.
    random_state : int, RandomState or None, default=None
        For the draw.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from kernelsieve.datasets import make_sparse_linear
    >>> X, y = make_sparse_linear(100, 1000, random_state=0)
    >>> X.shape, y.shape
    ((100, 1000), (100,))
    """
    rng = check_random_state(random_state)
    X = rng.standard_normal((n_samples, n_features))
    informative = rng.choice(n_features, n_informative, replace=False)
    y = X[:, informative] @ rng.standard_normal(n_informative)
    y += noise * y.std() * rng.uniform(-1, 1, n_samples)
    return _unit_columns(X), _unit_columns(y[:, None])[:, 0]


def _unit_columns(values: np.ndarray) -> np.ndarray:
    values = values - values.mean(axis=0)
    return values / np.linalg.norm(values, axis=0)


def make_interactions(
    n_samples: int = 10_000,
    n_features: int = 20,
    *,
    noise: float = 0.1,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return normal features and a smooth target of five of them, with a product among them.

    ``y = sin(2 x0) + x1 x2 + x3^2 / 2 - |x4| + noise``. No linear method finds more than the first and
    last terms' slopes.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of X; at least five features.
    noise : float, default=0.1
        Standard deviation of the noise.
    random_state : int, RandomState or None, default=None
        For the draw.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)

    Examples
    --------
    >>> from kernelsieve.datasets import make_interactions
    >>> X, y = make_interactions(200, 6, random_state=0)
    >>> X.shape
    (200, 6)
    """
    if n_features < 5:
        raise InvalidParameterError(
            f"n_features={n_features} is too few: the target is made of 5 features; pass 5 or more."
        )
    rng = check_random_state(random_state)
    X = rng.standard_normal((n_samples, n_features))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] ** 2 / 2 - np.abs(X[:, 4])
    return X, y + noise * rng.standard_normal(n_samples)


def make_noisy_circle(
    n_samples: int,
    *,
    radius: float = 8.0,
    noise: float = 1.0,
    random_state: int | np.random.RandomState | None = None,
) -> np.ndarray:
    """Return points on a circle around the origin, with normal noise on both coordinates.

    As in section 5.1 of Jiang, Snapp, Motai and Zhu (2006). Angles are uniform.

    Parameters
    ----------
    n_samples : int
        Number of points.
    radius : float, default=8.0
        Of the circle.
    noise : float, default=1.0
        Standard deviation of the noise.
    random_state : int, RandomState or None, default=None
        For the draw.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)

    Examples
    --------
    >>> from kernelsieve.datasets import make_noisy_circle
    >>> make_noisy_circle(500, random_state=0).shape
    (500, 2)
    """
    rng = check_random_state(random_state)
    angle = rng.uniform(0, 2 * np.pi, n_samples)
    circle = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return circle + noise * rng.standard_normal((n_samples, 2))


def make_swiss_cross(
    n_samples: int = 1200,
    *,
    side: float = 8.0,
    noise: float = 1.0,
    random_state: int | np.random.RandomState | None = None,
) -> np.ndarray:
    """Return points in a cross of five squares around the origin, with normal noise.

    For section 5.4 of Jiang, Snapp, Motai and Zhu (2006), which gives the number of points and the
    noise but no measures of the cross. Here points are uniform in five equal squares, one in the middle
    and one on each of its sides. The default side of 8 is wide enough for noise of variance 1 to leave
    twelve clear corners.

    Parameters
    ----------
    n_samples : int, default=1200
        Number of points.
    side : float, default=8.0
        Of each square; the cross is three sides wide and high.
    noise : float, default=1.0
        Standard deviation of the noise on both coordinates.
    random_state : int, RandomState or None, default=None
        For the draw.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)

    Examples
    --------
    >>> from kernelsieve.datasets import make_swiss_cross
    >>> make_swiss_cross(random_state=0).shape
    (1200, 2)
    """
    rng = check_random_state(random_state)
    middles = side * np.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]])
    cross = middles[rng.randint(5, size=n_samples)] + rng.uniform(-side / 2, side / 2, (n_samples, 2))
    return cross + noise * rng.standard_normal((n_samples, 2))
