"""The features so far, ``columns @ B = F R``; candidates of a step, and how features are removed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

import numpy as np

from ..exceptions import KernelError
from .columns import Columns
from .metric import DiagonalOnly, Metric
from .view import Direction

# A downdated squared norm that has fallen this far has lost ten of its sixteen digits.
STALE = 1e-6
_REFRESH_COLUMNS, _REFRESH_VALUES = 256, 2**23  # at once


@dataclass(frozen=True)
class Residual:
    """What the features so far leave of a direction's column.

    ``column = features @ coefficients + vector``, and ``vector / norm`` would be the next feature.
    """

    column: np.ndarray
    vector: np.ndarray
    coefficients: np.ndarray
    norm: float
    size: float  # what the norm was before anything cancelled: rounding errors are relative to it


class Basis:
    """Features F and the triangle R, with room for ``capacity`` of them."""

    def __init__(self, n_rows: int, capacity: int) -> None:
        self._storage = np.empty((n_rows, capacity), order="F")
        self._triangle = np.zeros((capacity, capacity))
        self.size = 0
        self.features = self._storage[:, :0]
        self.triangle = self._triangle[:0, :0]

    def orthogonalise(self, column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what orthonormal features leave of a column, and its coefficients.

        Done twice, which is enough.
        """
        Q = self.features
        first = Q.T @ column
        residual = column - Q @ first
        second = Q.T @ residual
        residual -= Q @ second
        return residual, first + second

    def append(self, residual: Residual) -> np.ndarray:
        """Add a feature and return it."""
        self._storage[:, self.size] = residual.vector / residual.norm
        self._triangle[: self.size, self.size] = residual.coefficients
        self._triangle[self.size, self.size] = residual.norm
        self.size += 1
        self.features = self._storage[:, : self.size]
        self.triangle = self._triangle[: self.size, : self.size]
        return self._storage[:, self.size - 1]

    def narrow(self, kept: np.ndarray) -> None:
        """Forget all rows but the kept ones."""
        self._storage = np.asfortranarray(self._storage[kept])
        self.features = self._storage[:, : self.size]


class DeflatedCandidates(ABC):
    """What the criterion sees of the candidates, kept up to date by a deflation rule.

    Attributes
    ----------
    basis : Basis
        The features so far.
    columns, metric
        The candidates' columns and lengths.
    names : ndarray of int
        What each candidate is called outside: its number in the pool or in the training set.
    residual_squared_norms, raw_squared_norms, target_products, column_products, residual_lengths,
    expansion_norms
        See :class:`~kernelsieve.deflation.View`.
    eligible : ndarray of bool
    """

    basis: Basis
    columns: Columns
    metric: Metric
    names: np.ndarray
    residual_squared_norms: np.ndarray
    raw_squared_norms: np.ndarray
    initial_squared_norms: np.ndarray
    target_products: np.ndarray
    column_products: np.ndarray
    residual_lengths: np.ndarray
    expansion_norms: np.ndarray
    eligible: np.ndarray
    #: How many times in a row candidates may turn out useless before there are no others.
    most_fruitless: ClassVar[int] = 1

    @abstractmethod
    def advance(self, residual_targets: np.ndarray) -> bool:
        """Bring everything up to date with the features so far; tell if there are candidates."""

    @abstractmethod
    def dependent(self, floor: float) -> np.ndarray:
        """Tell which candidates depend linearly on the chosen ones, up to a share of ``floor``."""

    @abstractmethod
    def residual(self, direction: Direction) -> Residual:
        """Return what the features so far leave of a direction."""

    @abstractmethod
    def deflate(self, direction: Direction, feature: np.ndarray, target_products: np.ndarray) -> None:
        """Remove the newest feature, which lies along a direction, from all columns."""

    def retire(self, chosen: np.ndarray) -> None:
        """Make candidates unavailable for good."""
        self.eligible[chosen] = False

    def _start(self, squared_norms: np.ndarray) -> None:
        self.raw_squared_norms = self.columns.raw_squared_norms
        if not np.isfinite(squared_norms + self.raw_squared_norms).all():
            raise KernelError(
                "Kernel values are too large for sums of their squares, or not numbers; scale X."
            )
        self.residual_squared_norms = squared_norms
        self.initial_squared_norms = squared_norms.copy()
        self.eligible = squared_norms > 0


class LeftCandidates(DeflatedCandidates):
    """Columns lose their part along the features, ``(I - QQ') A``: features are orthonormal."""

    def dependent(self, floor: float) -> np.ndarray:
        return self.residual_squared_norms <= floor * self.raw_squared_norms

    def residual(self, direction: Direction) -> Residual:
        column = direction.column
        if column is None:
            column = self.columns.combined(direction.candidates, direction.weights)
        vector, coefficients = self.basis.orthogonalise(column)
        raw_norms = np.sqrt(self.raw_squared_norms[direction.candidates])
        size = float(np.abs(direction.weights) @ raw_norms)
        return Residual(column, vector, coefficients, float(np.sqrt(vector @ vector)), size)


class FixedCandidates(LeftCandidates):
    """The same candidates at every step; their numbers are updated, never the columns.

    For a new feature q, ``rho -= (A'q)^2`` and ``eta -= (A'q) z'``: one product a step. A difference
    loses digits, so a norm that has become small is computed anew from its column, as LAPACK's pivoted
    QR does.
    """

    def __init__(
        self, columns: Columns, metric: Metric, targets: np.ndarray, n_components: int
    ) -> None:
        self.basis = Basis(columns.shape[0], n_components)
        self.columns = columns
        self.metric = metric
        self.names = np.arange(columns.shape[1])
        squared_norms, self.target_products = columns.scan(targets)
        self._start(squared_norms)
        self._trusted = squared_norms.copy()
        self._products = np.empty((columns.shape[1], n_components))
        self.column_products = self._products[:, :0]

    def advance(self, residual_targets: np.ndarray) -> bool:
        small = self.residual_squared_norms < STALE * self._trusted
        stale = (self.eligible & small).nonzero()[0]
        if not len(stale):
            return True
        Q = self.basis.features
        most = max(1, min(_REFRESH_COLUMNS, _REFRESH_VALUES // max(1, len(Q))))
        for start in range(0, len(stale), most):
            some = stale[start : start + most]
            residual = self.columns.take(some)
            residual -= Q @ (Q.T @ residual)
            self.residual_squared_norms[some] = np.einsum("ij,ij->j", residual, residual)
            self.target_products[some] = residual.T @ residual_targets
        self._trusted[stale] = self.residual_squared_norms[stale]
        return True

    def deflate(self, direction: Direction, feature: np.ndarray, target_products: np.ndarray) -> None:
        product = self.columns.inner(feature)
        self._products[:, self.basis.size - 1] = product
        self.column_products = self._products[:, : self.basis.size]
        self.residual_squared_norms -= product**2
        np.maximum(self.residual_squared_norms, 0.0, out=self.residual_squared_norms)
        self.target_products -= np.multiply.outer(product, target_products)


@dataclass(frozen=True)
class FreshSubset:
    """Candidates of one step."""

    columns: Columns
    names: np.ndarray
    diagonal: np.ndarray  # k(z, z); may be filled in when the columns are first scanned
    #: Their kernel values with the landmarks so far, (c, j), for symmetric deflation.
    landmark_values: np.ndarray = field(default_factory=partial(np.empty, (0, 0)))


#: From the retired candidates and the number of features so far to a subset, or None when none is left.
DrawSubset = Callable[[np.ndarray, int], FreshSubset | None]


class FreshCandidates(LeftCandidates):
    """A new random subset at every step: section 4.4 of Dhanjal et al.

    ``first`` is the first of them, which ``draw`` has drawn already.
    """

    most_fruitless = 20  # subsets without a useful candidate: others hardly exist

    def __init__(self, draw: DrawSubset, first: FreshSubset, n_components: int) -> None:
        self.basis = Basis(first.columns.shape[0], n_components)
        self.columns, self.names = first.columns, first.names
        self._draw = draw
        self._next: FreshSubset | None = first
        self._retired: list[int] = []

    def advance(self, residual_targets: np.ndarray) -> bool:
        retired = np.array(self._retired, dtype=np.intp)
        drawn = self._next or self._draw(retired, self.basis.size)
        if drawn is None:
            return False
        self._next = None
        self.columns, self.names = columns, _ = drawn.columns, drawn.names
        features = self.basis.features
        squared_norms, products = columns.scan(np.column_stack([features, residual_targets]))
        self._start(squared_norms)
        self.metric = DiagonalOnly(drawn.diagonal)
        self.column_products = products[:, : self.basis.size]
        self.target_products = products[:, self.basis.size :]
        explained = np.einsum("cj,cj->c", self.column_products, self.column_products)
        self.residual_squared_norms = np.maximum(squared_norms - explained, 0.0)
        return True

    def deflate(self, direction: Direction, feature: np.ndarray, target_products: np.ndarray) -> None:
        """Nothing to do: the next candidates are deflated when they are drawn."""

    def retire(self, chosen: np.ndarray) -> None:
        super().retire(chosen)
        self._retired += self.names[chosen].tolist()
