"""Length in feature space of combinations of candidates: beta' W beta."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.linalg import cho_solve, eigh, lapack, svd

from ..data import single_threaded_blas
from ..exceptions import CriterionError
from ..kernels import Kernel, Rows
from .columns import Columns, StoredColumns

_NO_VALUES = (
    "A criterion asks for kernel values between candidates, and has not declared it; write "
    "`needs = Needs(metric=True)` into its class."
)
_RANK_TOLERANCE = 1e-12  # eigenvalues of W below this part of the largest are noise


class Metric(ABC):
    """The Gram matrix W of the candidates themselves, as far as criteria need it."""

    #: k(z, z) of each candidate, never deflated.
    diagonal: np.ndarray

    @property
    def raw_diagonal(self) -> np.ndarray:
        """k(z, z) before any centring, which rounding errors are relative to."""
        return self.diagonal

    def take(self, chosen: np.ndarray) -> np.ndarray:
        """Return the chosen columns of W, (C, len(chosen))."""
        raise CriterionError(_NO_VALUES)

    @abstractmethod
    def among(self, chosen: np.ndarray) -> np.ndarray:
        """Return W restricted to the chosen candidates."""

    @abstractmethod
    def solve(self, products: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        """Return B such that candidates combined by B give the direction nearest to ``vectors``.

        ``products`` are the inner products of the (centred, weighted) columns with ``vectors``.
        """

    def combined_column(self, products: np.ndarray) -> np.ndarray | None:
        """Return the column of a direction that :meth:`solve` gave, if its products tell it."""
        return None

    @abstractmethod
    def principal(self, columns: Columns, n_components: int) -> np.ndarray:
        """Return combinations, of unit length, along which the columns vary most."""

    def lengths(self, chosen: np.ndarray, dual: np.ndarray) -> np.ndarray:
        """Return ``B'W B``, inner products of the directions that combine the chosen by B."""
        return dual.T @ self.among(chosen) @ dual

    @abstractmethod
    def mean_coefficients(self, means: np.ndarray) -> np.ndarray:
        """Return the mean image as a combination of the candidates, as far as it is one.

        ``means`` are the means of the columns; their product with the coefficients is the squared
        length of that combination.
        """


class IdentityMetric(Metric):
    """Candidates are the inputs themselves: orthonormal directions (the primal framework)."""

    def __init__(self, n_candidates: int) -> None:
        self.diagonal = np.ones(n_candidates)

    def among(self, chosen: np.ndarray) -> np.ndarray:
        return np.eye(len(chosen))

    def solve(self, products: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        return products

    def principal(self, columns: Columns, n_components: int) -> np.ndarray:
        n_rows, n_candidates = columns.shape
        if n_rows >= n_candidates:
            return leading_eigenpairs(_gram(columns), n_components)[1]
        values = columns.take(np.arange(n_candidates))  # fewer rows: never d x d
        return np.asarray(svd(values, full_matrices=False)[2][:n_components].T)

    def lengths(self, chosen: np.ndarray, dual: np.ndarray) -> np.ndarray:
        return dual.T @ dual

    def mean_coefficients(self, means: np.ndarray) -> np.ndarray:
        return means


class DiagonalOnly(Metric):
    """Only k(z, z) is known, which is all that one-sparse criteria ask for."""

    def __init__(self, diagonal: np.ndarray) -> None:
        self.diagonal = diagonal

    def among(self, chosen: np.ndarray) -> np.ndarray:
        if len(chosen) > 1:
            raise CriterionError(_NO_VALUES)
        return np.diag(self.diagonal[chosen])

    def solve(self, products: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        raise CriterionError(_NO_VALUES)

    def principal(self, columns: Columns, n_components: int) -> np.ndarray:
        raise CriterionError(_NO_VALUES)

    def mean_coefficients(self, means: np.ndarray) -> np.ndarray:
        return np.full(len(means), 1 / len(means))  # candidates drawn at random stand for all rows


class PoolMetric(Metric):
    """Candidates are a pool with the kernel matrix ``W = K(pool, pool)``."""

    def __init__(self, W: np.ndarray) -> None:
        self._W = W
        self.diagonal = np.diagonal(W).copy()
        self._whitener: np.ndarray | None = None

    def among(self, chosen: np.ndarray) -> np.ndarray:
        return self._W[np.ix_(chosen, chosen)]

    def take(self, chosen: np.ndarray) -> np.ndarray:
        return self._W[:, chosen]

    def solve(self, products: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        whitener = self._whiten()
        return whitener @ (whitener.T @ products)

    def principal(self, columns: Columns, n_components: int) -> np.ndarray:
        whitener = self._whiten()
        gram = whitener.T @ _gram(columns) @ whitener
        return whitener @ leading_eigenpairs(gram, n_components)[1]

    def mean_coefficients(self, means: np.ndarray) -> np.ndarray:
        # A pivoted factor: its leading candidates span what all of them span.
        factor, pivots, rank, _ = lapack.dpstrf(self._W, lower=0)
        leading = pivots[:rank] - 1
        coefficients = np.zeros(len(means))
        coefficients[leading] = cho_solve((factor[:rank, :rank], False), means[leading])
        return coefficients

    def _whiten(self) -> np.ndarray:
        """Return F with ``F' W F = I`` on the numerical range of W."""
        if self._whitener is None:
            values, vectors = eigh(self._W)
            kept = values > _RANK_TOLERANCE * values[-1]
            self._whitener = vectors[:, kept] / np.sqrt(values[kept])
        return self._whitener


class EvaluatedMetric(DiagonalOnly):
    """Candidates are many points; the columns of W are evaluated when they are asked for."""

    def __init__(self, kernel: Kernel, X: Rows, rows: np.ndarray) -> None:
        super().__init__(kernel.diag_at(X, rows))
        self._rows = X[rows]
        self._fill = kernel.against(kernel.points(X, rows))

    def take(self, chosen: np.ndarray) -> np.ndarray:
        values = np.empty((len(self.diagonal), len(chosen)))
        self._fill(self._rows[chosen], values)
        return values


class GramMetric(Metric):
    """Candidates are all rows, so W is the kernel matrix of the data, which the columns hold too."""

    def __init__(
        self,
        columns: Columns,
        diagonal: np.ndarray,
        root_weight: np.ndarray,
        raw_diagonal: np.ndarray | None = None,
    ) -> None:
        self.diagonal = diagonal
        self._columns = columns
        self._root = root_weight
        self.weight = root_weight**2  # of the rows
        self._raw_diagonal = raw_diagonal

    @property
    def raw_diagonal(self) -> np.ndarray:
        return self.diagonal if self._raw_diagonal is None else self._raw_diagonal

    def narrowed(self, columns: Columns, kept: np.ndarray) -> GramMetric:
        """Return the metric of the kept candidates, which are the kept rows."""
        return GramMetric(columns, self.diagonal[kept], self._root[kept], self.raw_diagonal[kept])

    def take(self, chosen: np.ndarray) -> np.ndarray:
        columns = self._columns.take(chosen)
        if (self._root != 1).any():
            columns /= self._root[:, None]
        if self._columns.centred:
            columns += self._columns.means[chosen]
        return columns

    def among(self, chosen: np.ndarray) -> np.ndarray:
        return self.take(chosen)[chosen]

    def solve(self, products: np.ndarray, vectors: np.ndarray) -> np.ndarray:
        # The direction is the combination of the rows themselves; no system has to be solved.
        return (vectors.T * self._root).T

    def combined_column(self, products: np.ndarray) -> np.ndarray:
        # K is symmetric: the products of its columns with a vector are the column of that vector.
        mean = products @ self.weight / self.weight.sum() if self._columns.centred else 0.0
        return np.asarray(self._root * (products - mean))

    def principal(self, columns: Columns, n_components: int) -> np.ndarray:
        # Columns are H diag(root) K; scaled and centred on the other side they are the symmetric
        # doubly centred Gram matrix.
        n_rows = columns.shape[0]
        symmetric = columns.take(np.arange(n_rows)) * self._root
        if columns.centred:
            constant = self._root / np.linalg.norm(self._root)
            symmetric -= np.outer(symmetric @ constant, constant)
        values, vectors = leading_eigenpairs((symmetric + symmetric.T) / 2, n_components)
        kept = values > _RANK_TOLERANCE * values[0]
        values, vectors = values[kept], vectors[:, kept]
        if columns.centred:  # the smallest eigenvalues are near that of the constant, which is long
            vectors -= np.outer(constant, constant @ vectors)
        return (vectors.T * self._root).T / np.sqrt(values)

    def mean_coefficients(self, means: np.ndarray) -> np.ndarray:
        return np.asarray(self.weight / self.weight.sum())


def _gram(columns: Columns) -> np.ndarray:
    if isinstance(columns, StoredColumns):
        return columns.inner(columns.values)
    return columns.inner(columns.take(np.arange(columns.shape[1])))


def leading_eigenpairs(symmetric: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k largest eigenvalues, largest first, and their eigenvectors as columns.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.deflation import leading_eigenpairs
    >>> leading_eigenpairs(np.diag([1.0, 3.0, 2.0]), 2)[0]
    array([3., 2.])
    """
    n = len(symmetric)
    k = min(k, n)
    with single_threaded_blas(unless_large=(n, n)):
        values, vectors = eigh(symmetric, subset_by_index=[n - k, n - 1])
        if len(values) < k:  # LAPACK leaves out pairs of a subset where very many eigenvalues are close
            values, vectors = eigh(symmetric)
    return values[: -k - 1 : -1], vectors[:, : -k - 1 : -1]
