"""Symmetric deflation: pivoted Cholesky factorisation of the kernel matrix, for SKFA and AKFA.

A direction is the deflated image of one candidate, scaled to unit length. With the coordinates of all
rows (t) and of all candidates (tau) along it, columns and lengths become ``A - t tau'`` and
``W - tau tau'``; neither is ever formed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import solve_triangular

from .candidates import STALE, Basis, DeflatedCandidates, FreshSubset, Residual
from .columns import Columns
from .metric import DiagonalOnly, GramMetric, Metric
from .view import Direction

_LEAST_FLOOR = 1e-12  # of k(z, z): a length that is found as a difference is not known any better
_WORTH_NARROWING = 0.5  # part of the points left at which it pays to copy what belongs to them
_ROWS_AT_ONCE = 64


class SymmetricCandidates(DeflatedCandidates):
    """Images lose their part along the directions.

    ``residual_squared_norms`` is sigma, ``residual_lengths`` is d and ``column_products`` is tau.
    """

    def dependent(self, floor: float) -> np.ndarray:
        return self.residual_lengths <= max(floor, _LEAST_FLOOR) * self.metric.raw_diagonal

    def residual(self, direction: Direction) -> Residual:
        (chosen,), (weight,) = direction.candidates, direction.weights
        tau = self.column_products[chosen]
        column = self.columns.take(direction.candidates)[:, 0] * weight
        length = max(0.0, float(self.metric.diagonal[chosen] - tau @ tau))
        return Residual(
            column=column,
            vector=column - self.basis.features @ (tau * weight),
            coefficients=tau * weight,
            norm=float(np.sqrt(length)) * weight,
            size=float(np.sqrt(self.metric.raw_diagonal[chosen])) * weight,
        )


class FollowedCandidates(SymmetricCandidates):
    """The same candidates at every step, followed with one product of the columns a step.

    For a new direction ``h = A't - tau_before (T't)``, ``sigma -= 2 tau h - tau^2 t't`` and
    ``d -= tau^2``. With ``cutoff`` (ACKFA) candidates whose d falls below it leave for good. Where the
    candidates are the rows, they leave as data as well, and the sums are over those that are left.
    """

    def __init__(
        self, columns: Columns, metric: Metric, n_components: int, *, cutoff: float = 0.0
    ) -> None:
        n_rows, n_candidates = columns.shape
        self.basis = Basis(n_rows, n_components)
        self.columns = columns
        self.metric = metric
        self.names = np.arange(n_candidates)
        squared_norms, self.target_products = columns.scan(np.empty((n_rows, 0)))
        self._start(squared_norms)
        self._trusted = squared_norms.copy()
        self.residual_lengths = metric.diagonal.copy()
        self._tau = np.empty((n_candidates, n_components))
        self.column_products = self._tau[:, :0]
        self._expansions = np.empty((n_candidates, n_components))  # a, of the deflated images
        self._cutoff = cutoff
        self._present = np.ones(n_candidates, dtype=bool)
        self._counts = np.ones(n_rows, dtype=bool)

    @property
    def expansion_norms(self) -> np.ndarray:  # type: ignore[override]
        return 1.0 + np.abs(self._expansions[:, : self.basis.size]).sum(axis=1)

    def advance(self, residual_targets: np.ndarray) -> bool:
        if self._cutoff > 0:
            self._let_leave(np.flatnonzero(self._present & (self.residual_lengths < self._cutoff)))
        small = self.residual_squared_norms < STALE * self._trusted
        stale = np.flatnonzero(self.eligible & small)
        if len(stale):
            self.residual_squared_norms[stale] = self.columns.residual_squared_norms(
                stale, self.basis.features, self.column_products[stale], self._counts
            )
            self._trusted[stale] = self.residual_squared_norms[stale]
        return True

    def deflate(self, direction: Direction, feature: np.ndarray, target_products: np.ndarray) -> None:
        done = self.basis.size - 1
        chosen = int(direction.candidates[0])
        before = self._tau[:, :done]
        length = np.sqrt(self.metric.diagonal[chosen] - before[chosen] @ before[chosen])
        tau = (self.metric.take(direction.candidates)[:, 0] - before @ before[chosen]) / length
        t = np.where(self._counts, feature, 0.0)
        h = self.columns.inner(t) - before @ (self.basis.features[:, :done].T @ t)
        self.residual_squared_norms -= 2 * tau * h - tau**2 * (t @ t)
        np.maximum(self.residual_squared_norms, 0.0, out=self.residual_squared_norms)
        self.residual_lengths -= tau**2
        np.maximum(self.residual_lengths, 0.0, out=self.residual_lengths)
        self._expansions[:, :done] -= np.outer(tau / length, self._expansions[chosen, :done])
        self._expansions[:, done] = -tau / length
        self._tau[:, done] = tau
        self.column_products = self._tau[:, : done + 1]

    def _let_leave(self, leaving: np.ndarray) -> None:
        """Let points go: as candidates and, if they are rows of the data too, as data."""
        self.retire(leaving)
        self._present[leaving] = False
        if not isinstance(self.metric, GramMetric) or not len(leaving):
            return
        tau = self.column_products
        for start in range(0, len(leaving), _ROWS_AT_ONCE):
            some = leaving[start : start + _ROWS_AT_ONCE]
            gone = self.metric.take(some).T
            gone -= tau[some] @ tau.T
            gone *= gone
            self.residual_squared_norms -= self.metric.weight[some] @ gone
        np.maximum(self.residual_squared_norms, 0.0, out=self.residual_squared_norms)
        self._counts[leaving] = False
        if self._present.any() and self._present.mean() < _WORTH_NARROWING:
            self._narrow(np.flatnonzero(self._present))

    def _narrow(self, kept: np.ndarray) -> None:
        """Go on with the points that are left alone, so that a step costs what they cost."""
        columns = self.columns.narrowed(kept)
        if columns is None or not isinstance(self.metric, GramMetric):
            return
        self.metric = self.metric.narrowed(columns, kept)
        self.columns = columns
        self.basis.narrow(kept)
        for name in (
            *("names", "eligible", "residual_squared_norms", "initial_squared_norms", "_trusted"),
            *("residual_lengths", "target_products", "_tau", "_expansions", "_present", "_counts"),
        ):
            setattr(self, name, getattr(self, name)[kept])
        self.column_products = self._tau[:, : self.basis.size]
        self.raw_squared_norms = columns.raw_squared_norms


class DrawnCandidates(SymmetricCandidates):
    """A new random subset at every step: the quantile trick of Smola et al.

    With 59 candidates the best of them is among the best 5 % of all, with 95 % probability.
    ``row_lengths`` are k(x, x) of the rows where rows and candidates are the same points, so that
    those below the cutoff leave as data too.
    """

    most_fruitless = 20

    def __init__(
        self,
        draw: Callable[[np.ndarray, list[int]], FreshSubset | None],
        n_rows: int,
        n_components: int,
        *,
        cutoff: float = 0.0,
        row_lengths: np.ndarray | None = None,
        root_weight: np.ndarray,
    ) -> None:
        self.basis = Basis(n_rows, n_components)
        self._draw = draw
        self._cutoff = cutoff
        self._row_lengths = row_lengths
        self._root = root_weight
        self._weights: list[float] = []
        self._chosen: list[int] = []
        self._retired: list[int] = []

    def advance(self, residual_targets: np.ndarray) -> bool:
        drawn = self._draw(np.array(self._retired, dtype=np.intp), self._chosen)
        if drawn is None:
            return False
        self.columns, self.names = drawn.columns, drawn.names
        self.metric = DiagonalOnly(drawn.diagonal)
        # The landmarks' columns, weighted, are F R: so are the candidates' values with them.
        values = drawn.landmark_values * np.array(self._weights)
        tau = solve_triangular(self.basis.triangle, values.T, trans="T").T
        self.column_products = tau
        counts = np.ones(len(self._root), dtype=bool)
        if self._row_lengths is not None:
            counts = self._row_lengths >= self._cutoff
        squared_norms = self.columns.residual_squared_norms(
            np.arange(len(self.names)), self.basis.features, tau, counts
        )
        self._start(squared_norms)
        self.target_products = np.empty((len(self.names), 0))
        self.residual_lengths = drawn.diagonal - np.einsum("cj,cj->c", tau, tau)
        expansions = -solve_triangular(self.basis.triangle, tau.T).T * np.array(self._weights)
        self.expansion_norms = 1.0 + np.abs(expansions).sum(axis=1)
        self.retire(np.flatnonzero(self.residual_lengths < self._cutoff))
        return True

    def deflate(self, direction: Direction, feature: np.ndarray, target_products: np.ndarray) -> None:
        self._weights.append(float(direction.weights[0]))
        self._chosen.append(int(self.names[direction.candidates[0]]))
        if self._row_lengths is not None:
            self._row_lengths = self._row_lengths - (feature / self._root) ** 2
            self._retired += np.flatnonzero(self._row_lengths < self._cutoff).tolist()

    def retire(self, chosen: np.ndarray) -> None:
        super().retire(chosen)
        self._retired += self.names[chosen].tolist()
