"""How much features tell of the images: projection variance and reconstruction error."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_array

from .exceptions import InvalidDataError


def projection_variance(features: Any, sample_weight: Any = None) -> float:
    """Return the mean squared length of the projections on all directions together.

    Parameters
    ----------
    features : array-like of shape (n, k)
        Coordinates along orthonormal directions.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows.

    Returns
    -------
    float

    Examples
    --------
    >>> from kernelsieve.metrics import projection_variance
    >>> projection_variance([[3.0, 0.0], [0.0, 1.0]])
    5.0
    """
    return float(cumulative_projection_variance(features, sample_weight)[-1])


def cumulative_projection_variance(features: Any, sample_weight: Any = None) -> np.ndarray:
    """Return the projection variance of the first 1, 2, ..., k directions.

    Parameters
    ----------
    features : array-like of shape (n, k)
        Coordinates along orthonormal directions.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows.

    Returns
    -------
    ndarray of shape (k,)

    Examples
    --------
    >>> from kernelsieve.metrics import cumulative_projection_variance
    >>> cumulative_projection_variance([[3.0, 0.0], [0.0, 1.0]])
    array([4.5, 5. ])
    """
    T = check_array(features, dtype=np.float64, input_name="features")
    return np.cumsum(np.average(T**2, axis=0, weights=_weights(sample_weight, len(T))))


def mean_reconstruction_error(squared_lengths: Any, features: Any, sample_weight: Any = None) -> float:
    """Return the mean squared distance of the images from the span of the directions.

    Parameters
    ----------
    squared_lengths : array-like of shape (n,)
        k(x, x) of every row; for centred features the squared distance from the mean image.
    features : array-like of shape (n, k)
        Coordinates along orthonormal directions.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows.

    Returns
    -------
    float

    Examples
    --------
    >>> from kernelsieve.metrics import mean_reconstruction_error
    >>> mean_reconstruction_error([10.0, 2.0], [[3.0, 0.0], [0.0, 1.0]])
    1.0
    """
    return float(cumulative_reconstruction_error(squared_lengths, features, sample_weight)[-1])


def cumulative_reconstruction_error(
    squared_lengths: Any, features: Any, sample_weight: Any = None
) -> np.ndarray:
    """Return the mean reconstruction error after 0, 1, ..., k directions.

    Parameters
    ----------
    squared_lengths : array-like of shape (n,)
        k(x, x) of every row; for centred features the squared distance from the mean image.
    features : array-like of shape (n, k)
        Coordinates along orthonormal directions.
    sample_weight : array-like of shape (n,), default=None
        Weights of the rows.

    Returns
    -------
    ndarray of shape (k + 1,)

    Examples
    --------
    >>> from kernelsieve.metrics import cumulative_reconstruction_error
    >>> cumulative_reconstruction_error([10.0, 2.0], [[3.0, 0.0], [0.0, 1.0]])
    array([6. , 1.5, 1. ])
    """
    variance = cumulative_projection_variance(features, sample_weight)
    lengths = check_array(
        squared_lengths, dtype=np.float64, ensure_2d=False, input_name="squared_lengths"
    )
    n = np.shape(features)[0]
    if lengths.shape != (n,):
        raise InvalidDataError(
            f"squared_lengths has shape {lengths.shape}; it must be one number a row, ({n},)."
        )
    total = np.average(lengths, weights=_weights(sample_weight, n))
    return total - np.concatenate([[0.0], variance])


def _weights(sample_weight: Any, n: int) -> np.ndarray | None:
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,) or not (weight >= 0).all() or not weight.any():
        raise InvalidDataError(
            f"sample_weight must be {n} numbers, one a row, none negative and not all zero."
        )
    return weight
