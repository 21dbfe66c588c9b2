"""How much of the images and of the target features explain: variance, error, covariance, alignment."""

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
        Weights of the samples.

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
        Weights of the samples.

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
        k(x, x) of every sample; for centred features the squared distance from the mean image.
    features : array-like of shape (n, k)
        Coordinates along orthonormal directions.
    sample_weight : array-like of shape (n,), default=None
        Weights of the samples.

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
        k(x, x) of every sample; for centred features the squared distance from the mean image.
    features : array-like of shape (n, k)
        Coordinates along orthonormal directions.
    sample_weight : array-like of shape (n,), default=None
        Weights of the samples.

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
            f"squared_lengths has shape {lengths.shape}; it must be one number a sample, ({n},)."
        )
    total = np.average(lengths, weights=_weights(sample_weight, n))
    return total - np.concatenate([[0.0], variance])


def kernel_target_alignment(K: Any, y: Any, *, center: bool = False) -> float:
    """Return the cosine between a kernel matrix and that of the target, ``<K, yy'> / (|K| |yy'|)``.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Kernel matrix of the samples.
    y : array-like of shape (n,) or (n, q)
        Numbers; labels as -1 and 1, or as one column a class.
    center : bool, default=False
        Centre both matrices first, so that a constant kernel has no alignment.

    Returns
    -------
    float

    References
    ----------
    N. Cristianini, J. Shawe-Taylor, A. Elisseeff, J. S. Kandola. On kernel-target alignment. Advances
    in Neural Information Processing Systems 14, 2002.

    Examples
    --------
    >>> from kernelsieve.metrics import kernel_target_alignment
    >>> kernel_target_alignment([[1.0, -1.0], [-1.0, 1.0]], [1.0, -1.0])
    1.0
    """
    kernel = check_array(K, dtype=np.float64, input_name="K")
    n = len(kernel)
    if kernel.shape != (n, n):
        raise InvalidDataError(f"K has shape {kernel.shape}; it must be square, one row a sample.")
    Y = _targets(y, n)
    if center:
        kernel = kernel - kernel.mean(axis=0)
        kernel = kernel - kernel.mean(axis=1, keepdims=True)
        Y = Y - Y.mean(axis=0)
    lengths = np.linalg.norm(kernel) * np.linalg.norm(Y.T @ Y)
    if not lengths > 0:
        raise InvalidDataError(
            "K or y is zero, or constant where both are centred, so there is no angle."
        )
    return float(np.einsum("nq,nm,mq->", Y, kernel, Y, optimize=True) / lengths)


def cumulative_squared_covariance(features: Any, y: Any, kernel_evaluations: Any = None) -> np.ndarray:
    """Return B(S) of the first 1, 2, ..., k features: squares of the mean of ``y t_j``, summed.

    That is formula (11) of Dhanjal, Gunn and Shawe-Taylor (2009). The paper calls the mean of the
    squares by the same name: :func:`cumulative_pointwise_squared_covariance`.

    Parameters
    ----------
    features : array-like of shape (n, k)
        Features of the samples.
    y : array-like of shape (n,) or (n, q)
        Numbers, of zero mean for a covariance in the strict sense. Columns are summed.
    kernel_evaluations : array-like of shape (k,), default=None
        What the first 1, 2, ..., k features cost (``kernel_evaluations_`` of an extractor). Where it is
        given, the result is per kernel evaluation.

    Returns
    -------
    ndarray of shape (k,)

    Examples
    --------
    >>> from kernelsieve.metrics import cumulative_squared_covariance
    >>> cumulative_squared_covariance([[3.0, 1.0], [1.0, 1.0]], [1.0, -1.0])
    array([1., 1.])
    """
    T, Y = _features_and_targets(features, y)
    along = T.T @ Y / len(T)
    return _per_evaluation(np.cumsum(np.sum(along**2, axis=1)), kernel_evaluations)


def cumulative_pointwise_squared_covariance(
    features: Any, y: Any, kernel_evaluations: Any = None
) -> np.ndarray:
    """Return the mean of ``y^2 |t|^2`` for the first 1, 2, ..., k features t.

    This is what the stability bound of Dhanjal, Gunn and Shawe-Taylor (2009, Theorem 5.5) is about. The
    paper calls it cumulative square covariance too; it is the mean of squares where
    :func:`cumulative_squared_covariance` is the square of means, and never smaller.

    Parameters
    ----------
    features : array-like of shape (n, k)
        Features of the samples.
    y : array-like of shape (n,) or (n, q)
        Numbers; of several columns ``y^2`` is the squared length.
    kernel_evaluations : array-like of shape (k,), default=None
        Where it is given, the result is per kernel evaluation.

    Returns
    -------
    ndarray of shape (k,)

    Examples
    --------
    >>> from kernelsieve.metrics import cumulative_pointwise_squared_covariance
    >>> cumulative_pointwise_squared_covariance([[3.0, 1.0], [1.0, 1.0]], [1.0, -1.0])
    array([5., 6.])
    """
    T, Y = _features_and_targets(features, y)
    squares = np.sum(Y**2, axis=1)
    return _per_evaluation(np.cumsum(squares @ T**2 / len(T)), kernel_evaluations)


def cumulative_alignment(features: Any, y: Any, kernel_evaluations: Any = None) -> np.ndarray:
    """Return D(S) of the first 1, 2, ..., k features: the sum of their alignments with the target.

    That is formula (12) of Dhanjal, Gunn and Shawe-Taylor (2009), for the kernels ``t_j t_j'``. For
    orthogonal features, and targets without a mean, it is the ratio of the target that least squares
    explains.

    Parameters
    ----------
    features : array-like of shape (n, k)
        Features of the samples, none of them zero throughout.
    y : array-like of shape (n,) or (n, q)
        Numbers. Of several columns the explained parts are summed, relative to the sum of all squares.
    kernel_evaluations : array-like of shape (k,), default=None
        Where it is given, the result is per kernel evaluation.

    Returns
    -------
    ndarray of shape (k,)

    Examples
    --------
    >>> from kernelsieve.metrics import cumulative_alignment
    >>> cumulative_alignment([[1.0, 1.0], [1.0, -1.0]], [3.0, 1.0])
    array([0.8, 1. ])
    """
    T, Y = _features_and_targets(features, y)
    lengths, total = np.sum(T**2, axis=0), np.sum(Y**2)
    if not (lengths > 0).all() or not total > 0:
        raise InvalidDataError(
            "A feature, or y, is zero in all samples and has no alignment; remove it."
        )
    explained = np.sum((T.T @ Y) ** 2, axis=1) / lengths
    return _per_evaluation(np.cumsum(explained) / total, kernel_evaluations)


def _features_and_targets(features: Any, y: Any) -> tuple[np.ndarray, np.ndarray]:
    T = check_array(features, dtype=np.float64, input_name="features")
    return T, _targets(y, len(T))


def _targets(y: Any, n: int) -> np.ndarray:
    Y = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
    if len(Y) != n:
        raise InvalidDataError(f"y has {len(Y)} entries and there are {n} samples; they must be equal.")
    return Y.reshape(n, -1)


def _per_evaluation(values: np.ndarray, kernel_evaluations: Any) -> np.ndarray:
    if kernel_evaluations is None:
        return values
    evaluations = np.asarray(kernel_evaluations, dtype=np.float64)
    if evaluations.shape != values.shape or not (evaluations > 0).all():
        raise InvalidDataError(
            f"kernel_evaluations must be {len(values)} numbers above 0, one for each number of "
            "features; pass kernel_evaluations_ of the extractor."
        )
    return values / evaluations


def _weights(sample_weight: Any, n: int) -> np.ndarray | None:
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,) or not (weight >= 0).all() or not weight.any():
        raise InvalidDataError(
            f"sample_weight must be {n} numbers, one a sample, none negative and not all zero."
        )
    return weight
