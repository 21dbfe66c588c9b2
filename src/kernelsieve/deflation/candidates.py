"""The candidates of a step: one fixed set, followed through deflation, or a fresh one each time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from ..exceptions import KernelError
from .columns import Columns, RecomputedColumns
from .metric import DiagonalOnly, Metric

# A downdated squared norm that has fallen this far has lost ten of its sixteen digits.
_STALE = 1e-6
_REFRESH_COLUMNS = 256


class Candidates(ABC):
    """Residual norms and target products of the candidates of the present step.

    Attributes
    ----------
    columns, metric
        The candidates' columns and lengths.
    names : ndarray of int
        What each candidate is called outside: its number in the pool or in the training set.
    residual_squared_norms, target_products, column_products
        See :class:`~kernelsieve.deflation.criteria.View`.
    eligible : ndarray of bool
    """

    columns: Columns
    metric: Metric
    names: np.ndarray
    residual_squared_norms: np.ndarray
    initial_squared_norms: np.ndarray
    target_products: np.ndarray
    column_products: np.ndarray
    eligible: np.ndarray
    #: How many times in a row candidates may turn out useless before there are no others.
    most_fruitless: ClassVar[int] = 1

    @abstractmethod
    def advance(self, features: np.ndarray, residual_targets: np.ndarray) -> bool:
        """Bring everything up to date with the features so far; tell if there are candidates."""

    @abstractmethod
    def deflate(self, feature: np.ndarray, target_products: np.ndarray) -> None:
        """Remove a new orthonormal feature from the columns."""

    def retire(self, chosen: np.ndarray) -> None:
        """Make candidates unavailable for good."""
        self.eligible[chosen] = False

    def _start(self, squared_norms: np.ndarray) -> None:
        if not np.isfinite(self.columns.raw_squared_norms).all():
            raise KernelError(
                "Kernel values are too large for sums of their squares, or not numbers; scale the "
                "inputs, or lower gamma or degree."
            )
        self.residual_squared_norms = squared_norms
        self.initial_squared_norms = squared_norms.copy()
        self.eligible = squared_norms > 0


class FixedCandidates(Candidates):
    """The same candidates at every step; their numbers are updated, never the columns.

    For a new feature q, ``rho -= (A'q)^2`` and ``eta -= (A'q) z'``: one product a step. A difference
    loses digits, so a norm that has become small is computed anew from its column, as LAPACK's pivoted
    QR does.
    """

    def __init__(
        self, columns: Columns, metric: Metric, targets: np.ndarray, n_components: int
    ) -> None:
        self.columns = columns
        self.metric = metric
        self.names = np.arange(columns.shape[1])
        squared_norms, self.target_products = columns.scan(targets)
        self._start(squared_norms)
        self._trusted = squared_norms.copy()
        self._products = np.empty((columns.shape[1], n_components))
        self._done = 0

    @property
    def column_products(self) -> np.ndarray:  # type: ignore[override]
        return self._products[:, : self._done]

    def advance(self, features: np.ndarray, residual_targets: np.ndarray) -> bool:
        small = self.residual_squared_norms < _STALE * self._trusted
        stale = np.flatnonzero(self.eligible & small)
        for start in range(0, len(stale), _REFRESH_COLUMNS):
            some = stale[start : start + _REFRESH_COLUMNS]
            residual = self.columns.take(some)
            residual -= features @ (features.T @ residual)
            self.residual_squared_norms[some] = np.einsum("ij,ij->j", residual, residual)
            self.target_products[some] = residual.T @ residual_targets
        self._trusted[stale] = self.residual_squared_norms[stale]
        return True

    def deflate(self, feature: np.ndarray, target_products: np.ndarray) -> None:
        product = self.columns.inner(feature)
        self._products[:, self._done] = product
        self._done += 1
        self.residual_squared_norms -= product**2
        np.maximum(self.residual_squared_norms, 0.0, out=self.residual_squared_norms)
        self.target_products -= np.outer(product, target_products)


#: Draws fresh candidates, none of them retired: their columns and names, or None when none is left.
Draw = Callable[[np.ndarray], tuple[RecomputedColumns, np.ndarray] | None]


class FreshCandidates(Candidates):
    """A new random subset at every step: section 4.4 of Dhanjal et al."""

    most_fruitless = 20  # subsets without a useful candidate: others hardly exist

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._retired: list[int] = []

    def advance(self, features: np.ndarray, residual_targets: np.ndarray) -> bool:
        drawn = self._draw(np.array(self._retired, dtype=np.intp))
        if drawn is None:
            return False
        self.columns, self.names = columns, _ = drawn
        n_features = features.shape[1]
        squared_norms, products = columns.scan(np.column_stack([features, residual_targets]))
        self._start(squared_norms)
        self.metric = DiagonalOnly(columns.diagonal)
        self.column_products = products[:, :n_features]
        self.target_products = products[:, n_features:]
        explained = np.einsum("cj,cj->c", self.column_products, self.column_products)
        self.residual_squared_norms = np.maximum(squared_norms - explained, 0.0)
        return True

    def deflate(self, feature: np.ndarray, target_products: np.ndarray) -> None:
        """Nothing to do: the next candidates are deflated when they are drawn."""

    def retire(self, chosen: np.ndarray) -> None:
        super().retire(chosen)
        self._retired += self.names[chosen].tolist()
