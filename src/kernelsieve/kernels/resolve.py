"""Resolve the ``kernel``, ``gamma``, ... parameters of an estimator to a kernel; rules of ``gamma``."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist

from ..exceptions import InvalidDataError, InvalidParameterError
from .base import Kernel, Rows, SharedPart
from .custom import CallableKernel
from .distance_cache import CachedKernel, active_cache
from .distances import Chi2, Laplacian
from .radial import SquaredDistances
from .registry import KERNELS, PRESETS

#: What the parameter ``kernel`` of an estimator takes.
KernelLike: TypeAlias = str | Callable[..., Any] | Kernel

_DEFAULTS: dict[str, Any] = {"gamma": "scale", "degree": 3, "coef0": 1.0, "kernel_params": None}

_RULE = re.compile(r"(?P<rule>scale|median)(\s*(?P<sign>[*/])\s*(?P<number>\d*\.?\d+(e[+-]?\d+)?))?")
_MEDIAN_SAMPLE = 1000  # rows; their half a million distances give the median to about one percent
# The kernels know how not to lose the digits of CSR rows.
_OF_SPARSE: dict[str, Callable[[Rows], SharedPart]] = {
    "sqeuclidean": lambda X: SquaredDistances().against(X, np.float64),
    "cityblock": Laplacian().shared_part,
}
_OF_DENSE: dict[str, Callable[[Rows], SharedPart]] = {"chi2": Chi2().shared_part}


def resolve_kernel(
    kernel: KernelLike,
    X: Rows,
    *,
    gamma: str | float = "scale",
    degree: float = 3,
    coef0: float = 1.0,
    kernel_params: Mapping[str, Any] | None = None,
    sample_weight: np.ndarray | None = None,
    random_state: np.random.RandomState | None = None,
) -> Kernel:
    """Return the kernel that the parameters describe, with ``gamma`` computed from ``X``.

    Parameters that a named kernel does not have, such as ``gamma`` of the linear one, are passed over,
    so that a search may combine all kernels with all widths. With a kernel object they are refused.

    Parameters
    ----------
    kernel : str, callable or Kernel
        As for estimators.
    X : array or CSR matrix of shape (n_samples, n_features)
        Samples, for "scale" and "median".
    gamma : {"scale", "median"}, part or multiple of these, or float, default="scale"
        Width of a named kernel; see :func:`resolve_gamma`.
    degree : float, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=1.0
        Constant term of the "poly" and "sigmoid" kernels.
    kernel_params : dict, default=None
        Keyword arguments for a kernel that is a function, or other parameters of a named kernel.
    sample_weight : ndarray of shape (n_samples,), default=None
        Weights of the samples.
    random_state : RandomState, default=None
        For the sample whose median distance is taken.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.kernels import resolve_kernel
    >>> resolve_kernel("rbf", np.array([[0.0], [2.0]]), gamma="scale")
    RBF(gamma=1.0)
    """
    given = {"gamma": gamma, "degree": degree, "coef0": coef0, "kernel_params": kernel_params}
    kind = kernel_class(kernel)
    if isinstance(kernel, Kernel):
        _refuse_ignored(kernel, given)
        return shared(kernel)
    if kind is CallableKernel:
        return CallableKernel(kernel, kernel_params)  # type: ignore[arg-type]
    if kind is Kernel:
        raise InvalidParameterError(_unknown_kernel(kernel))
    names, own = kind.parameter_names(), dict(kernel_params or {})
    _, preset = PRESETS.get(str(kernel), (kernel, {}))
    if own:
        _check_params(str(kernel), kind, own, preset)
    if "degree" in names:
        own["degree"] = degree
    if "coef0" in names:
        own["coef0"] = coef0
    if "gamma" in names:
        own["gamma"] = resolve_gamma(gamma, X, kind, sample_weight, random_state)
    return shared(kind.for_samples(X, **own, **preset))


def kernel_class(kernel: object) -> type[Kernel]:
    """Return the class of the kernel that a parameter names or is; Kernel if it is unknown.

    Parameters
    ----------
    kernel : object
        The parameter ``kernel`` of an estimator.

    Returns
    -------
    type
    """
    if isinstance(kernel, Kernel):
        return type(kernel)
    if isinstance(kernel, str):
        return KERNELS.get(PRESETS.get(kernel, (kernel, {}))[0], Kernel)
    return CallableKernel if callable(kernel) else Kernel


def shared(kernel: Kernel) -> Kernel:
    """Return a caching kernel inside :func:`sharing`, if the kernel has a shared part."""
    cache = active_cache.get()
    if cache is None or type(kernel).shared_part is Kernel.shared_part:
        return kernel
    return CachedKernel(kernel, cache)


def _refuse_ignored(kernel: Kernel, given: dict[str, Any]) -> None:
    """Raise an error for parameters that have no effect, because the kernel has its own."""
    for name, value in given.items():
        if not _is_default(name, value):
            raise InvalidParameterError(
                f"{name}={value!r} would be ignored: a kernel object does not take it from the "
                f"estimator, where only {name}={_DEFAULTS[name]!r} is allowed; set it in the kernel, "
                f"{kernel!r}."
            )


def _is_default(name: str, value: Any) -> bool:
    default = _DEFAULTS[name]
    if name == "gamma" and isinstance(value, str) and value == "cv":
        return True  # nothing is chosen for a kernel that has its width
    return not value if default is None else isinstance(value, str | Real) and value == default


def _check_params(
    name: str, kind: type[Kernel], params: Mapping[str, Any], preset: Mapping[str, Any]
) -> None:
    """Raise an error for parameters that the kernel lacks, or that are set elsewhere."""
    allowed = [name for name in kind.parameter_names() if name not in {**_DEFAULTS, **preset}]
    for each in params:
        if each not in allowed:
            raise InvalidParameterError(
                f"kernel_params has {each!r}, which kernel={name!r} does not take from there; it "
                f"takes {', '.join(map(repr, allowed)) or 'nothing'}."
            )


def _unknown_kernel(kernel: object) -> str:
    known = ", ".join(map(repr, sorted([*KERNELS, *PRESETS])))
    meant = {other: name for name, kind in KERNELS.items() for other in (name, *kind.other_names)}
    meant |= {name: name for name in PRESETS}
    near = difflib.get_close_matches(str(kernel).lower(), meant, n=1, cutoff=0.4)
    hint = f" Did you mean {meant[near[0]]!r}?" if near else ""
    return f"kernel={kernel!r} is not known.{hint} Pass one of {known}, a callable, or a Kernel."


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
    # A few megabytes at a time: X may be a memory map, and X - mean is a copy.
    n_entries = X.nnz if sparse.issparse(X) else X.shape[0] * X.shape[1]
    rows = max(1, 500_000 * X.shape[0] // max(1, n_entries))
    # Only what is no float64 yet is copied for the product.
    at_once = X.shape[0] if X.dtype == np.float64 else rows
    total = squares = 0.0
    for start in range(0, X.shape[0], at_once):
        total += (weight[start : start + at_once] @ X[start : start + at_once]).sum()
    mean = total / size
    for start in range(0, X.shape[0], rows):
        squares += weight[start : start + rows] @ _squares_about(mean, X[start : start + rows])
    return float(squares / size)


def _squares_about(mean: float, X: Rows) -> np.ndarray:
    """Return the sum of the squares of ``x - mean`` of each row."""
    if not sparse.issparse(X):
        return np.asarray(((X - mean) ** 2).sum(axis=1))
    squares = (X.data.astype(np.float64) - mean) ** 2
    of_entries = sparse.csr_matrix((squares, X.indices, X.indptr), X.shape).sum(axis=1)
    n_zeros = X.shape[1] - np.diff(X.indptr)
    return np.asarray(of_entries).ravel() + n_zeros * mean**2


def _median_distance(
    X: Rows, metric: str, weight: np.ndarray | None, random_state: np.random.RandomState | None
) -> float:
    rows = np.arange(X.shape[0]) if weight is None else np.flatnonzero(weight)
    weight = None if weight is None else weight[rows]
    if len(rows) > _MEDIAN_SAMPLE:
        random_state = random_state or np.random.RandomState(0)
        share = None if weight is None or np.ptp(weight) == 0 else weight / weight.sum()
        drawn = random_state.choice(len(rows), _MEDIAN_SAMPLE, replace=share is not None, p=share)
        rows, weight = rows[np.sort(drawn)], None  # the draw has seen to the weights
    X = X[rows]
    pairs = _distances(X, metric)
    if not pairs.size:
        return 0.0
    return float(np.median(pairs)) if weight is None else _weighted_median(pairs, weight)


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
