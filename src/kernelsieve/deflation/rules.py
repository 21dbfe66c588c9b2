"""Deflation rules: how the loop removes a feature from what the candidates are."""

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
