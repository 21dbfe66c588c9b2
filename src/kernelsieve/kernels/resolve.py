"""From the ``kernel``, ``gamma``, ... parameters of an estimator to a kernel."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import manhattan_distances

from ..exceptions import InvalidParameterError
from .base import Kernel, Rows, as_dtype, row_norms_squared
from .custom import CallableKernel, Precomputed
from .distances import RBF, Chi2, Laplacian
from .products import Cosine, Linear, Polynomial, Sigmoid
from .sharing import shared

KERNEL_NAMES = (
    "linear",
    "rbf",
    "laplacian",
    "poly",
    "sigmoid",
    "cosine",
    "chi2",
    "precomputed",
)
_MEDIAN_SAMPLE = 1000  # rows; their half a million distances give the median to about one percent


def resolve_kernel(
    kernel: str | Callable[..., Any] | Kernel,
    X: Rows,
    *,
    gamma: str | float = "scale",
    degree: float = 3,
    coef0: float = 1.0,
    kernel_params: Mapping[str, Any] | None = None,
    sample_weight: np.ndarray | None = None,
    random_state: np.random.RandomState | None = None,
) -> Kernel:
    """Return the kernel that the parameters describe, with ``gamma`` settled from ``X``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.kernels import resolve_kernel
    >>> resolve_kernel("rbf", np.array([[0.0], [2.0]]), gamma="scale")
    RBF(gamma=1.0)
    """
    if isinstance(kernel, Kernel):
        return shared(kernel)
    if callable(kernel):
        return CallableKernel(kernel, kernel_params)
    if kernel not in KERNEL_NAMES:
        raise InvalidParameterError(_unknown_kernel(kernel))
    if kernel == "precomputed":
        return Precomputed(X.shape[1])
    if kernel == "linear":
        return Linear()
    if kernel == "cosine":
        return Cosine()
    settled = resolve_gamma(gamma, X, kernel, sample_weight, random_state)
    return shared(_with_width(kernel, settled, degree, coef0))


def _with_width(kernel: str, gamma: float, degree: float, coef0: float) -> Kernel:
    if kernel == "rbf":
        return RBF(gamma)
    if kernel == "laplacian":
        return Laplacian(gamma)
    if kernel == "chi2":
        return Chi2(gamma)
    if kernel == "sigmoid":
        return Sigmoid(gamma, coef0)
    return Polynomial(gamma, degree, coef0)


def resolve_gamma(
    gamma: str | float,
    X: Rows,
    kernel: str = "rbf",
    sample_weight: np.ndarray | None = None,
    random_state: np.random.RandomState | None = None,
) -> float:
    """Settle ``gamma``.

    ``"scale"`` is one over (number of inputs times variance of ``X``, weighted where there are
    weights); ``"median"`` is one over the median squared distance of a sample (for the laplacian
    kernel, of the 1-norm distance).

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.kernels import resolve_gamma
    >>> resolve_gamma("median", np.array([[0.0], [2.0]]))
    0.25
    """
    if isinstance(gamma, Real) and not isinstance(gamma, bool):
        if not (gamma > 0 and np.isfinite(gamma)):
            raise InvalidParameterError(
                f"gamma={gamma!r} must be above 0 and finite; pass a positive number, "
                "'scale' or 'median'."
            )
        return float(gamma)
    if isinstance(gamma, str) and gamma == "scale":
        spread = X.shape[1] * _variance(X, sample_weight)
    elif isinstance(gamma, str) and gamma == "median":
        spread = _median_distance(X, kernel, random_state)
    else:
        raise InvalidParameterError(
            f"gamma={gamma!r} is not known; pass a positive number, 'scale' or 'median'."
        )
    return 1.0 / spread if spread > 0 else 1.0


def _variance(X: Rows, weight: np.ndarray | None) -> float:
    """Return the variance of all entries of ``X``, about their common mean."""
    weight = np.ones(X.shape[0]) if weight is None else weight
    size = weight.sum() * X.shape[1]
    if sparse.issparse(X):
        mean = (weight @ X).sum() / size
        squares = sparse.csr_matrix((X.data.astype(np.float64) ** 2, X.indices, X.indptr), X.shape)
        return float((weight @ squares).sum() / size - mean**2)
    mean = (weight @ X).sum() / size
    return float(sum(weight[i] @ ((X[i] - mean) ** 2).sum(axis=1) for i in _slices(X)) / size)


def _slices(X: Rows) -> list[slice]:
    # A few megabytes at a time: X may be a memory map, and X - mean is a copy.
    rows = max(1, 500_000 // max(1, X.shape[1]))
    return [slice(i, i + rows) for i in range(0, X.shape[0], rows)]


def _median_distance(X: Rows, kernel: str, random_state: np.random.RandomState | None) -> float:
    n_rows = X.shape[0]
    if n_rows > _MEDIAN_SAMPLE:
        random_state = random_state or np.random.RandomState(0)
        X = X[np.sort(random_state.choice(n_rows, _MEDIAN_SAMPLE, replace=False))]
        n_rows = _MEDIAN_SAMPLE
    if sparse.issparse(X):
        pairs = _sparse_distances(X, kernel)[np.triu_indices(n_rows, k=1)]
    else:
        metric = "cityblock" if kernel == "laplacian" else "sqeuclidean"
        pairs = pdist(np.asarray(X, dtype=np.float64), metric)
    return float(np.median(pairs)) if pairs.size else 0.0


def _sparse_distances(X: Rows, kernel: str) -> np.ndarray:
    if kernel == "laplacian":
        return np.asarray(manhattan_distances(X))
    X = as_dtype(X, np.float64)
    norms = row_norms_squared(X)
    return np.asarray(norms[:, None] + norms[None, :] - 2 * (X @ X.T).toarray())


_OTHER_NAMES = {"gaussian": "rbf", "gauss": "rbf", "exponential": "laplacian", "tanh": "sigmoid"}


def _unknown_kernel(kernel: object) -> str:
    known = ", ".join(repr(name) for name in KERNEL_NAMES)
    name = str(kernel).lower()
    other = [_OTHER_NAMES[name]] if name in _OTHER_NAMES else []
    near = other or difflib.get_close_matches(name, KERNEL_NAMES, n=1, cutoff=0.4)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"kernel={kernel!r} is not known.{hint} Pass one of {known}, or a callable."
