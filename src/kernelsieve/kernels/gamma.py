"""Kernel widths from the data: the rules of ``gamma``."""

from __future__ import annotations

import re
from collections.abc import Callable
from numbers import Real

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist

from ..exceptions import InvalidDataError, InvalidParameterError
from .base import Kernel, Rows, SharedPart
from .distances import Chi2, Laplacian
from .registry import KERNELS, PRESETS
from .squared_distances import SquaredDistances

_RULE = re.compile(r"(?P<rule>scale|median)(\s*(?P<sign>[*/])\s*(?P<number>\d*\.?\d+(e[+-]?\d+)?))?")
_MEDIAN_SAMPLE = 1000  # rows; their half a million distances give the median to about one percent
# The kernels know how not to lose the digits of CSR rows.
_OF_SPARSE: dict[str, Callable[[Rows], SharedPart]] = {
    "sqeuclidean": lambda X: SquaredDistances().against(X, np.float64),
    "cityblock": Laplacian().shared_part,
}
_OF_DENSE: dict[str, Callable[[Rows], SharedPart]] = {"chi2": Chi2().shared_part}


def resolve_gamma(
    gamma: str | float,
    X: Rows,
    kernel: str | type[Kernel] = "rbf",
    sample_weight: np.ndarray | None = None,
    random_state: np.random.RandomState | None = None,
) -> float:
    """Return ``gamma`` as a number, computed from ``X`` if it is a rule.

    ``"scale"`` is one over (number of features times variance of ``X``), or times standard deviation
    for kernels of a distance that is not squared; ``"median"`` is one over the median distance of pairs
    of samples: the squared one, or what the kernel has for ``distance``. ``"scale/4"`` and
    ``"median*2"`` are parts and multiples.

    Parameters
    ----------
    gamma : {"scale", "median"}, part or multiple of these, or float
        The parameter of the estimator; a positive number is returned unchanged.
    X : array or CSR matrix of shape (n_samples, n_features)
        Samples.
    kernel : str or type, default="rbf"
        The kernel, by its name or its class.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights; each counts as that many equal samples.
    random_state : RandomState, default=None
        For the sample whose median distance is taken.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.kernels import resolve_gamma
    >>> resolve_gamma("median", np.array([[0.0], [2.0]]))
    0.25
    >>> resolve_gamma("median*2", np.array([[0.0], [2.0]]))
    0.5
    """
    if isinstance(gamma, Real) and not isinstance(gamma, bool):
        if not (gamma > 0 and np.isfinite(gamma)):
            raise InvalidParameterError(
                f"gamma={gamma!r} must be above 0 and finite; pass a positive number, "
                "'scale' or 'median'."
            )
        return float(gamma)
    rule, factor = _rule_and_factor(gamma)
    kind = KERNELS[PRESETS.get(kernel, (kernel,))[0]] if isinstance(kernel, str) else kernel
    if rule == "scale":
        spread = X.shape[1] * _variance(X, sample_weight) ** (kind.units / 2)
    else:
        spread = _median_distance(X, kind.distance, sample_weight, random_state)
    found = factor / spread if spread > 0 else factor
    if not (np.isfinite(spread) and 0 < found < np.inf):
        raise InvalidDataError(
            f"gamma={gamma!r} cannot be computed: squared deviations of X overflow or underflow. "
            "Scale X."
        )
    return found


def _rule_and_factor(gamma: object) -> tuple[str, float]:
    """Split ``"scale"``, ``"scale/4"`` or ``"median*2"`` into rule and factor."""
    found = _RULE.fullmatch(gamma) if isinstance(gamma, str) else None
    number = float(found["number"] or 1) if found else 0.0
    if found is None or not 0 < number < np.inf:
        raise InvalidParameterError(
            f"gamma={gamma!r} is not known; pass a positive number, 'scale' or 'median', or a part or "
            "multiple of these, such as 'scale/4' or 'median*2'; 'cv' is for estimators "
            "that predict, and for ComponentPathCV."
        )
    return found["rule"], 1 / number if found["sign"] == "/" else number


def _variance(X: Rows, weight: np.ndarray | None) -> float:
    """Return the variance of all entries of ``X``, about their common mean."""
    weight = np.ones(X.shape[0]) if weight is None else weight
    size = weight.sum() * X.shape[1]
    if size == 0:
        return 0.0
    # Only what is no float64 yet is copied for the product.
    slices = [slice(None)] if X.dtype == np.float64 else _slices(X)
    mean = sum((weight[i] @ X[i]).sum() for i in slices) / size
    return float(sum(weight[i] @ _squares_about(mean, X[i]) for i in _slices(X)) / size)


def _squares_about(mean: float, X: Rows) -> np.ndarray:
    """Return the sum of the squares of ``x - mean`` of each row."""
    if not sparse.issparse(X):
        return np.asarray(((X - mean) ** 2).sum(axis=1))
    squares = (X.data.astype(np.float64) - mean) ** 2
    of_entries = sparse.csr_matrix((squares, X.indices, X.indptr), X.shape).sum(axis=1)
    n_zeros = X.shape[1] - np.diff(X.indptr)
    return np.asarray(of_entries).ravel() + n_zeros * mean**2


def _slices(X: Rows) -> list[slice]:
    # A few megabytes at a time: X may be a memory map, and X - mean is a copy.
    n_entries = X.nnz if sparse.issparse(X) else X.shape[0] * X.shape[1]
    rows = max(1, 500_000 * X.shape[0] // max(1, n_entries))
    return [slice(i, i + rows) for i in range(0, X.shape[0], rows)]


def _median_distance(
    X: Rows, metric: str, weight: np.ndarray | None, random_state: np.random.RandomState | None
) -> float:
    rows = np.arange(X.shape[0]) if weight is None else np.flatnonzero(weight)
    weight = None if weight is None else weight[rows]
    if len(rows) > _MEDIAN_SAMPLE:
        rows = rows[_sample(len(rows), weight, random_state or np.random.RandomState(0))]
        weight = None  # the draw has seen to it
    X = X[rows]
    pairs = _distances(X, metric)
    if not pairs.size:
        return 0.0
    return float(np.median(pairs)) if weight is None else _weighted_median(pairs, weight)


def _sample(n_rows: int, weight: np.ndarray | None, random_state: np.random.RandomState) -> np.ndarray:
    """Draw rows for the median distance, by their weights."""
    if weight is None or np.ptp(weight) == 0:
        return np.sort(random_state.choice(n_rows, _MEDIAN_SAMPLE, replace=False))
    return np.sort(random_state.choice(n_rows, _MEDIAN_SAMPLE, p=weight / weight.sum()))


def _distances(X: Rows, metric: str) -> np.ndarray:
    """Return the distances of all pairs of rows."""
    if sparse.issparse(X) and metric not in _OF_SPARSE:
        X = X.toarray()
    of_kernel = (_OF_SPARSE if sparse.issparse(X) else _OF_DENSE).get(metric)
    if of_kernel is None:
        return np.asarray(pdist(np.asarray(X, dtype=np.float64), metric))
    distances = np.empty((X.shape[0], X.shape[0]))
    of_kernel(X).fill(X, distances)
    return np.abs(distances[np.triu_indices(len(distances), k=1)])


def _weighted_median(pairs: np.ndarray, weight: np.ndarray) -> float:
    """Return the median of distances where row i counts as ``weight[i]`` equal rows.

    A pair then counts as the product of two weights, and equal rows are at distance zero.
    """
    unit = 2.0 ** np.floor(np.log2(weight.max()))  # products of weights neither overflow nor vanish
    share = weight / unit
    among_equals = share @ np.maximum(share - 1 / unit, 0.0) / 2
    first, second = np.triu_indices(len(weight), k=1)
    order = np.argsort(pairs)
    distances = np.concatenate([[0.0], pairs[order]])
    counts = np.concatenate([[among_equals], (share[first] * share[second])[order]])
    reached = np.cumsum(counts)
    # The two in the middle, which are one where the number of pairs is odd.
    middle = [np.searchsorted(reached, reached[-1] / 2, side) for side in ("left", "right")]
    return float(distances[middle].mean())
