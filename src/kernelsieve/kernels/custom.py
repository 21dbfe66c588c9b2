"""Kernels from the user: a callable, or a precomputed matrix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from scipy import sparse

from ..exceptions import KernelError
from .base import Filler, Kernel, Rows, as_dtype, prepare_out, row_norms_squared
from .registry import register_kernel

_DIAGONAL_BLOCK = 16  # rows compared at once when a callable has no diagonal of its own
_COMPARED, _ASYMMETRY = 64, 1e-6  # samples whose values are compared, and what rounding may do


class CallableKernel(Kernel):
    """A kernel computed by a function of the user.

    It is either vectorised, ``f(X, Z)`` giving a ``(len(X), len(Z))`` array, or pairwise,
    ``f(x, z)`` giving a number, as :func:`sklearn.metrics.pairwise.pairwise_kernels` takes. Which of
    the two is found out at the first block. A ``diag`` method of the function, such as the kernels of
    ``sklearn.gaussian_process`` have, is used.

    Parameters
    ----------
    function : callable
        The function.
    params : dict, default=None
        Keyword arguments for it.
    """

    name = "callable"
    cheap_diag = False

    def __init__(self, function: Callable[..., Any], params: Mapping[str, Any] | None = None) -> None:
        self.function = function
        self.params = dict(params or {})
        self._pairwise: bool | None = None

    def against(self, Z: Rows, dtype: type = np.float64) -> Filler:
        def fill(X: Rows, out: np.ndarray) -> None:
            out[...] = self._evaluate(X, Z).T

        return fill

    def block(self, X: Rows, Z: Rows, out: np.ndarray | None = None) -> np.ndarray:
        out = prepare_out(out, X.shape[0], Z.shape[0])
        out[...] = self._evaluate(X, Z)
        return out

    def diag(self, X: Rows) -> np.ndarray:
        own_diag = getattr(self.function, "diag", None)
        if callable(own_diag):
            return np.asarray(own_diag(X), dtype=np.float64)
        if X.shape[0] == 0:
            return np.empty(0)
        starts = range(0, X.shape[0], _DIAGONAL_BLOCK)
        rows = (X[start : start + _DIAGONAL_BLOCK] for start in starts)
        return np.concatenate([np.diagonal(self._evaluate(part, part)) for part in rows])

    def _evaluate(self, X: Rows, Z: Rows) -> np.ndarray:
        try:
            if self._pairwise is None:
                values = self._first_block(X, Z)
            else:
                values = self._pair_by_pair(X, Z) if self._pairwise else self._in_one_call(X, Z)
            return self._checked(values, X, Z)
        except MemoryError:
            raise
        except Exception as error:
            if not (sparse.issparse(X) or sparse.issparse(Z)):
                raise
            raise KernelError(
                f"The kernel callable {_name_of(self.function)} failed for sparse rows ({error}); pass "
                "X.toarray(), or a function that takes CSR matrices."
            ) from error

    def _first_block(self, X: Rows, Z: Rows) -> np.ndarray:
        """Detect whether the function takes samples or pairs, without evaluating any value twice.

        The block is asked for in three parts, the first a single value: a pairwise function that
        happens to accept blocks, such as ``numpy.dot``, does not give the shapes of all three.
        """
        shape = (X.shape[0], Z.shape[0])
        values = np.empty(shape)
        first, rest, everything = slice(0, 1), slice(1, None), slice(None)
        try:
            for i, j in ((first, first), (first, rest), (rest, everything)):
                part = values[i, j]
                if part.size:
                    found = self._in_one_call(X[i], Z[j])
                    if found.shape != part.shape:
                        raise KernelError(f"an array of shape {found.shape} instead of {part.shape}")
                    part[...] = found
        except MemoryError:
            raise
        except Exception as error:  # a pairwise function may fail on blocks in any way it likes
            refusal = error
        else:
            # With one input and one landmark a product of numbers looks like a block.
            if X.shape[1] > 1 or min(shape) > 1:
                self._pairwise = False
            return values
        try:
            values = self._pair_by_pair(X, Z)
        except Exception as error:
            raise KernelError(
                f"The kernel callable {_name_of(self.function)} works neither as f(X, Z), giving an "
                f"array of shape {shape} ({refusal}), nor as f(x, z), giving a number ({error})."
            ) from error
        self._pairwise = True
        return values

    def _in_one_call(self, X: Rows, Z: Rows) -> np.ndarray:
        values = self.function(X, Z, **self.params)
        return _real(np.asarray(values.toarray() if sparse.issparse(values) else values))

    def _pair_by_pair(self, X: Rows, Z: Rows) -> np.ndarray:
        return np.array(
            [
                [float(_real(self.function(X[i], Z[j], **self.params))) for j in range(Z.shape[0])]
                for i in range(X.shape[0])
            ]
        )

    def _checked(self, values: np.ndarray, X: Rows, Z: Rows) -> np.ndarray:
        shape = (X.shape[0], Z.shape[0])
        if values.shape != shape:
            raise KernelError(
                f"The kernel callable {_name_of(self.function)} returned an array of shape "
                f"{values.shape}; it must return {shape} for {shape[0]} rows and {shape[1]} landmarks."
            )
        if not np.isfinite(values).all():
            row, landmark = np.argwhere(~np.isfinite(values))[0]
            raise KernelError(
                f"The kernel callable {_name_of(self.function)} returned {values[row, landmark]} for "
                f"row {row} of a block and landmark {landmark}; it must return finite numbers."
            )
        self._check_symmetry(values, X, Z)
        return values

    def _check_symmetry(self, values: np.ndarray, X: Rows, Z: Rows) -> None:
        """Raise an error for asymmetric values, among those that were evaluated anyway."""
        m = min(_COMPARED, X.shape[0], Z.shape[0])
        if sparse.issparse(X) or sparse.issparse(Z) or not np.array_equal(X[:m], Z[:m]):
            return
        square = values[:m, :m]
        off = np.abs(square - square.T)
        if off.max(initial=0.0) > _ASYMMETRY * np.abs(square).max(initial=0.0):
            i, j = np.unravel_index(off.argmax(), off.shape)
            raise KernelError(
                f"The kernel callable {_name_of(self.function)} is not symmetric: k(x, z) is "
                f"{square[i, j]:g} and k(z, x) is {square[j, i]:g} for two samples; a kernel must give "
                "the same for both."
            )


@register_kernel
class Precomputed(Kernel):
    """A precomputed kernel: the data are kernel values, and a landmark is a column number.

    Rows with fewer columns than the training matrix hold the values of the landmarks alone, in their
    order. Rows with as many are in the order of the training matrix, also if all columns are landmarks.

    Parameters
    ----------
    n_columns : int
        Number of columns of the training matrix.
    """

    accepts_sparse = False
    cheap_diag = False

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns

    @classmethod
    def parameter_names(cls) -> tuple[str, ...]:
        return ()

    @classmethod
    def for_samples(cls, X: Rows, **parameters: Any) -> Self:
        return cls(X.shape[1])

    def against(self, Z: np.ndarray, dtype: type = np.float64) -> Filler:
        columns = np.asarray(Z, dtype=np.intp).ravel()

        def fill(X: Rows, out: np.ndarray) -> None:
            values = X[:, columns] if X.shape[1] == self.n_columns else X[:, : len(columns)]
            out[...] = values.T

        return fill

    def block(self, X: Rows, Z: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        out = prepare_out(out, X.shape[0], len(Z))
        self.against(Z)(X, out.T)
        return out

    def points(self, X: Rows, rows: np.ndarray) -> np.ndarray:
        return rows

    def diag_at(self, X: Rows, rows: np.ndarray) -> np.ndarray:
        return np.asarray(X[rows, rows], dtype=np.float64)

    def diag(self, X: Rows) -> np.ndarray:
        return np.diagonal(X).astype(np.float64)


class Inputs(Kernel):
    """The features of X as columns, for primal methods; a landmark is a feature number."""

    def against(self, Z: np.ndarray, dtype: type = np.float64) -> Filler:
        columns = np.asarray(Z, dtype=np.intp)

        def fill(X: Rows, out: np.ndarray) -> None:
            everything = np.array_equal(columns, np.arange(X.shape[1]))
            values = X if everything else X[:, columns]
            out[...] = values.toarray().T if sparse.issparse(values) else values.T

        return fill

    def block(self, X: Rows, Z: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        out = prepare_out(out, X.shape[0], len(Z))
        self.against(Z)(X, out.T)
        return out

    def diag(self, X: Rows) -> np.ndarray:
        return row_norms_squared(as_dtype(X, np.float64))


def _real(values: Any) -> np.ndarray:
    if np.iscomplexobj(values):
        raise KernelError("complex numbers; kernel values must be real")
    return np.asarray(values, dtype=np.float64)


def _name_of(function: Callable[..., Any]) -> str:
    return repr(getattr(function, "__name__", None) or type(function).__name__)
