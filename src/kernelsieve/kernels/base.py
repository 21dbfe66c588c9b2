"""The kernel interface: a block of values, the diagonal, and a filler bound to landmarks."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Hashable
from functools import cache
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from scipy import sparse

from ..exceptions import InvalidParameterError
from .registry import KERNELS

Rows = Any  # a dense (n, d) array or a CSR matrix; scipy and numpy share no useful base class


class Filler(Protocol):
    """Writes kernel values against fixed landmarks, one column of ``out`` for each row of ``X``."""

    def __call__(self, X: Rows, out: np.ndarray) -> Any: ...


# A matrix product of fewer dense inputs takes no longer than reading its result from memory.
_FEW_INPUTS = 400


class SharedPart(NamedTuple):
    """Distances or inner products that kernels of several widths share."""

    name: Hashable  # equal where the values are
    fill: Filler


class Kernel(ABC):
    """A kernel function with fixed parameters; the base class of all kernels, and of yours.

    A subclass implements :meth:`against` and :meth:`diag`, and says by the attributes below what inputs
    it takes. An object of it can be passed as ``kernel`` to every estimator. Under
    :func:`register_kernel` the class can be called by its name: the estimator's ``gamma``, ``degree``
    and ``coef0`` then go to parameters of these names in its constructor, and ``kernel_params`` to any.

    The filler that :meth:`against` returns writes *landmarks by samples*, so that the values of one
    landmark are contiguous: that is the order in which matrix products, the exponential and the
    one-pass statistic are fastest.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve import SparseMaximalAlignment
    >>> from kernelsieve.kernels import Kernel
    >>> class Minimum(Kernel):
    ...     accepts_sparse = False
    ...     def against(self, Z, dtype=np.float64):
    ...         def fill(X, out):
    ...             out[...] = np.minimum(Z[:, None], X[None]).sum(axis=2)
    ...         return fill
    ...     def diag(self, X):
    ...         return X.sum(axis=1)
    >>> X = np.random.default_rng(0).uniform(size=(20, 3))
    >>> SparseMaximalAlignment(4, kernel=Minimum()).fit_transform(X, X[:, 0]).shape
    (20, 4)
    """

    #: The name by which users know the kernel; by default that of the class in lower case.
    name: ClassVar[str]
    #: Other names, for which :attr:`name` is suggested.
    other_names: ClassVar[tuple[str, ...]] = ()
    #: Whether CSR input is used without making it dense.
    accepts_sparse: ClassVar[bool] = True
    #: Whether inputs below zero are refused.
    non_negative: ClassVar[bool] = False
    #: Whether :meth:`diag` costs less than evaluating the kernel for every sample.
    cheap_diag: ClassVar[bool] = True
    #: The power of the units of X in what ``gamma`` multiplies: 2 for squares and inner products.
    units: ClassVar[int] = 2
    #: The distance, "chi2" or one of those of ``scipy.spatial.distance.pdist``, whose median
    #: ``gamma="median"`` is the inverse of.
    distance: ClassVar[str] = "sqeuclidean"

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" not in vars(cls):
            cls.name = cls.__name__.lower()

    @classmethod
    def parameter_names(cls) -> tuple[str, ...]:
        """Return the names of the parameters that a user may set."""
        return _parameter_names(cls)

    @classmethod
    def for_samples(cls, X: Rows, **parameters: Any) -> Self:
        """Return the kernel with these parameters for samples like those of ``X``."""
        return cls(**parameters)

    @abstractmethod
    def against(self, Z: Rows, dtype: type = np.float64) -> Filler:
        """Prepare landmarks ``Z`` once, for many blocks of samples.

        Parameters
        ----------
        Z : array or CSR matrix of shape (n_landmarks, n_features)
            Landmarks; their numbers, where a landmark is a column.
        dtype : type, default=numpy.float64
            Type of the values, float64 or float32.

        Returns
        -------
        callable
            ``fill(X, out)`` writes the values of samples ``X`` into ``out``, a
            C-contiguous array of shape (n_landmarks, n_samples) and type ``dtype``.
        """

    @abstractmethod
    def diag(self, X: Rows) -> np.ndarray:
        """Return ``k(x, x)`` for each row of ``X``.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
        """

    def shared_part(self, Z: Rows, dtype: type = np.float64) -> SharedPart | None:
        """Prepare the part of the kernel values that does not depend on the parameters.

        Parameters
        ----------
        Z : array or CSR matrix of shape (n_landmarks, n_features)
            Landmarks.
        dtype : type, default=numpy.float64
            Type of the values, float64 or float32.

        Returns
        -------
        SharedPart or None
            Its ``fill``, as of :meth:`against`, and its ``name``, which is equal where the values are.
            None where there is no such part, or where keeping it would not pay.
        """
        return None

    def finish(self, values: np.ndarray) -> None:  # noqa: B027 (most kernels share nothing)
        """Convert values of the shared part to kernel values, in place.

        Nothing where they are that already, or where no part is shared.

        Parameters
        ----------
        values : ndarray
            Values written by ``shared_part(Z).fill``.
        """

    def landmark_gradient(
        self, X: Rows, Z: np.ndarray, values: np.ndarray, slopes: np.ndarray
    ) -> np.ndarray:
        """Return the gradient by the landmarks ``Z`` of a function of kernel values.

        Methods that learn where landmarks are need it; a kernel without it serves all others.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Samples.
        Z : ndarray of shape (n_landmarks, n_features)
            Landmarks.
        values : ndarray of shape (n_samples, n_landmarks)
            Kernel values ``k(x, z)``.
        slopes : ndarray of shape (n_samples, n_landmarks)
            The function's derivative with respect to them.

        Returns
        -------
        ndarray of shape (n_landmarks, n_features)

        Examples
        --------
        >>> import numpy as np
        >>> from kernelsieve.kernels import RBF
        >>> X, Z = np.array([[1.0], [3.0]]), np.array([[2.0]])
        >>> RBF(0.5).landmark_gradient(X, Z, RBF(0.5).block(X, Z), np.ones((2, 1)))
        array([[0.]])
        """
        raise self._without("landmark_gradient", "by which landmarks could be moved")

    def sample_gradient(self, X: np.ndarray, Z: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Return the gradients of ``kernel(x, Z) @ coefficients`` by the samples ``x``.

        Where there is none, as at a landmark of a kernel with a kink, that landmark counts for 0.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Samples.
        Z : ndarray of shape (n_landmarks, n_features)
            Landmarks.
        coefficients : ndarray of shape (n_landmarks, n_outputs)
            Coefficients of the kernel values.

        Returns
        -------
        ndarray of shape (n_outputs, n_samples, n_features)

        Examples
        --------
        >>> import numpy as np
        >>> from kernelsieve.kernels import Linear
        >>> Linear().sample_gradient(np.ones((1, 2)), np.array([[3.0, 4.0]]), np.array([[2.0]]))
        array([[[6., 8.]]])
        """
        raise self._without("sample_gradient", "with respect to samples")

    def _without(self, method: str, purpose: str) -> InvalidParameterError:
        """Return the error for a missing method, with the kernels that have it."""
        plain = getattr(Kernel, method)
        able = [
            repr(name) for name, kind in sorted(KERNELS.items()) if getattr(kind, method) is not plain
        ]
        return InvalidParameterError(
            f"kernel={self.name!r} has no derivative here {purpose}; pass "
            f"{', '.join(able)}, or a kernel with the method {method}."
        )

    def without_cache(self) -> Kernel:
        """Return the kernel as models and files hold it."""
        return self

    def rounded_as_with(self, Z: Rows) -> Kernel:
        """Return this kernel with values that round alike for all of ``Z`` and any part of it."""
        return self

    def points(self, X: Rows, rows: np.ndarray) -> Rows:
        """Return rows of ``X`` as landmarks."""
        return X[rows]

    def diag_at(self, X: Rows, rows: np.ndarray) -> np.ndarray:
        """Return ``k(x, x)`` for some rows of ``X``."""
        return self.diag(X[rows])

    def block(self, X: Rows, Z: Rows, out: np.ndarray | None = None) -> np.ndarray:
        """Return the kernel matrix of samples and landmarks.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_samples, n_features)
            Samples.
        Z : array or CSR matrix of shape (n_landmarks, n_features)
            Landmarks; their numbers, where a landmark is a column.
        out : ndarray of shape (n_samples, n_landmarks), default=None
            Output array: C-contiguous, float64 or float32. None for a new array.

        Returns
        -------
        ndarray of shape (n_samples, n_landmarks)

        Examples
        --------
        >>> import numpy as np
        >>> from kernelsieve.kernels import Linear
        >>> Linear().block(np.eye(2), np.array([[3.0, 4.0]]))
        array([[3.],
               [4.]])
        """
        out = prepare_out(out, X.shape[0], Z.shape[0])
        # Symmetric kernels: X takes the part of the landmarks, so the block comes out row by row.
        self.against(X, out.dtype.type)(Z, out)
        return out


def prepare_out(out: np.ndarray | None, n_rows: int, n_landmarks: int) -> np.ndarray:
    """Return ``out``, checked to fit the block, or a new array."""
    shape = (n_rows, n_landmarks)
    if out is None:
        return np.empty(shape)
    if out.shape != shape or not out.flags.c_contiguous or out.dtype not in (np.float32, np.float64):
        raise ValueError(
            f"out must be a C-contiguous float32 or float64 array of shape {shape}; "
            f"got shape {out.shape} and type {out.dtype}."
        )
    return out


def is_worth_caching(Z: Rows) -> bool:
    """Return True if inner products with these landmarks are worth caching."""
    return sparse.issparse(Z) or Z.shape[1] >= _FEW_INPUTS


def as_dtype(X: Rows, dtype: type) -> Rows:
    """Convert ``X`` to a float type, without a copy if it has that type."""
    return X if X.dtype == dtype else X.astype(dtype)


def row_norms_squared(X: Rows) -> np.ndarray:
    """Return the squared Euclidean norm of each row."""
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    X = np.ascontiguousarray(X)  # summed up in the same order whatever the layout was
    return np.einsum("ij,ij->i", X, X)


def inner_products(Z: Rows, X: Rows, out: np.ndarray) -> np.ndarray:
    """Write ``Z @ X.T`` into ``out``, for dense and CSR input in any combination."""
    if not sparse.issparse(Z) and not sparse.issparse(X):
        return np.dot(Z, X.T, out=out)
    product = Z @ X.T
    if sparse.issparse(product):
        product.toarray(out=out)
    else:
        out[...] = product
    return out


@cache  # a signature takes longer to read than a small kernel matrix to fill
def _parameter_names(kind: type[Kernel]) -> tuple[str, ...]:
    given = inspect.signature(kind).parameters.values()
    named = (p.name for p in given if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD))
    return tuple(name for name in named if not name.startswith("_"))


def has_width(kernel: Kernel) -> bool:
    """Return True if a kernel has a width gamma."""
    return getattr(kernel, "gamma", None) is not None
