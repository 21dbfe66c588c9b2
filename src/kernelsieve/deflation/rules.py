"""What a criterion says beside its score: how features are removed, and a ridge on coefficients."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .candidates import DeflatedCandidates, FixedCandidates
from .columns import Columns
from .metric import Metric
from .symmetric import FollowedCandidates


class DeflationRule(ABC):
    """Which candidates the loop follows, and what its features are."""

    #: Whether images lose their part along directions, so that features are coordinates along
    #: orthonormal directions; otherwise columns lose theirs along features, which are orthonormal.
    symmetric: ClassVar[bool]
    #: With symmetric deflation: points with a shorter residual k(z, z) leave for good.
    cutoff: float = 0.0

    @abstractmethod
    def candidates(
        self, columns: Columns, metric: Metric, targets: np.ndarray, n_components: int
    ) -> DeflatedCandidates:
        """Return candidates, the same at every step, that follow this rule.

        Parameters
        ----------
        columns : Columns
            Their columns.
        metric : Metric
            Their lengths in feature space.
        targets : ndarray of shape (N, q)
            Targets, centred and weighted as the columns are.
        n_components : int
            How many features are wanted.

        Returns
        -------
        DeflatedCandidates
        """

    @abstractmethod
    def lengths(self, triangle: np.ndarray) -> np.ndarray:
        """Return by what the loop's features are multiplied to be coordinates along unit directions.

        Parameters
        ----------
        triangle : ndarray of shape (k, k)
            R of the loop's factorisation.

        Returns
        -------
        ndarray of shape (k,)
        """


@dataclass(frozen=True)
class LeftDeflation(DeflationRule):
    """Columns lose their part along the features: an incremental QR factorisation."""

    symmetric = False

    def candidates(
        self, columns: Columns, metric: Metric, targets: np.ndarray, n_components: int
    ) -> DeflatedCandidates:
        return FixedCandidates(columns, metric, targets, n_components)

    def lengths(self, triangle: np.ndarray) -> np.ndarray:
        return np.diagonal(triangle)


@dataclass(frozen=True)
class SymmetricDeflation(DeflationRule):
    """Images lose their part along the directions: a Cholesky factorisation, as in feature analysis.

    A direction is the deflated image of one candidate.

    Parameters
    ----------
    cutoff : float, default=0.0
        Points whose residual k(z, z) is shorter leave for good.
    """

    cutoff: float = 0.0
    symmetric = True

    def candidates(
        self, columns: Columns, metric: Metric, targets: np.ndarray, n_components: int
    ) -> DeflatedCandidates:
        return FollowedCandidates(columns, metric, n_components, cutoff=self.cutoff)

    def lengths(self, triangle: np.ndarray) -> np.ndarray:
        return np.ones(len(triangle))


@dataclass(frozen=True)
class Ridge:
    """A penalty of squared coefficients that decorates columns; a ridge of 0 changes nothing."""

    ridge: float = 0.0

    def below(self, columns: Columns) -> Columns:
        """Return columns each of which has a further row of its own."""
        return RidgeColumns(columns, self.ridge) if self.ridge > 0 else columns

    def shared_below(self, columns: Columns, place: int, n_places: int) -> Columns:
        """Return columns with ``n_places`` further rows, one of which they share.

        For columns of which one at most is ever taken up.
        """
        if self.ridge == 0:
            return columns
        return RidgeColumns(columns, self.ridge, np.full(columns.shape[1], place), n_places)


class RidgeColumns(Columns):
    """Columns with the root of a ridge below them, ``[A; sqrt(ridge) I]``.

    Inner products become ``A'A + ridge I``, so that least squares on the columns is ridge regression.
    Each column has a further row of its own, or the one in ``places``: columns of which one at most
    is ever taken up may share a row.
    """

    def __init__(
        self, columns: Columns, ridge: float, places: np.ndarray | None = None, n_places: int = 0
    ) -> None:
        n_rows, n_columns = columns.shape
        self.base = columns
        self.ridge = ridge
        self._places = n_rows + (np.arange(n_columns) if places is None else places)
        self.shape = (n_rows + (n_columns if places is None else n_places), n_columns)
        self.centred = columns.centred

    @property
    def means(self) -> np.ndarray:  # type: ignore[override]
        return self.base.means

    @property
    def raw_squared_norms(self) -> np.ndarray:  # type: ignore[override]
        return self.base.raw_squared_norms + self.ridge

    def scan(self, vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        squared_norms, products = self.base.scan(vectors[: self.base.shape[0]])
        return squared_norms + self.ridge, products + self._of_ridge(vectors)

    def inner(self, vectors: np.ndarray) -> np.ndarray:
        return self.base.inner(vectors[: self.base.shape[0]]) + self._of_ridge(vectors)

    def take(self, chosen: np.ndarray) -> np.ndarray:
        values = np.zeros((self.shape[0], len(chosen)), order="F")
        values[: self.base.shape[0]] = self.base.take(chosen)
        values[self._places[chosen], np.arange(len(chosen))] = np.sqrt(self.ridge)
        return values

    def _of_ridge(self, vectors: np.ndarray) -> np.ndarray:
        return np.sqrt(self.ridge) * vectors[self._places]
