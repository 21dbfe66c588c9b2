"""Outputs, the values of discriminating features, and their moments, as functions of plain arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ..model import orthonormal_combinations

_SMALLEST_REST = 1e-9  # of a leverage to one: what a fit without the sample says is then unknown
_DRAWN = 400  # outputs of each class that stand for its Gaussian
_MOST_INDICATORS = 2**22  # of their classes


@dataclass(frozen=True)
class Moments:
    """Weights, means and pooled covariance of the classes, which determine Gaussian models.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.rayleigh.outputs import Moments
    >>> moments = Moments.from_outputs(np.array([[0.0], [2.0], [5.0]]), np.eye(2)[[0, 0, 1]])
    >>> moments.weights, moments.means.ravel(), moments.covariance.round(3)
    (array([2., 1.]), array([1., 5.]), array([[0.667]]))
    """

    weights: np.ndarray  # of each class in all, (c,)
    means: np.ndarray  # (c, q)
    covariance: np.ndarray  # about the means of the classes, (q, q)

    @classmethod
    def from_outputs(
        cls, outputs: np.ndarray, indicators: np.ndarray, weight: np.ndarray | None = None
    ) -> Self:
        """Compute the moments of outputs (n, q), given class indicators (n, c)."""
        shares = indicators if weight is None else indicators * weight[:, None]
        weights = shares.sum(axis=0)
        means = shares.T @ outputs / np.where(weights > 0, weights, 1.0)[:, None]
        rest = outputs - indicators @ means
        scatter = rest.T @ (rest * shares.sum(axis=1)[:, None])
        return cls(weights, means, scatter / weights.sum())

    def sides(self, directions: np.ndarray | None = None) -> list[Moments]:
        """Return the moments of each class against the rest along directions; None for the outputs.

        It is the class of the same number; the second of two, for a single direction.
        """
        directions = np.eye(self.means.shape[1]) if directions is None else directions
        total, mean = self.weights.sum(), self.weights @ self.means / self.weights.sum()
        centred = self.means - mean
        scatter = centred.T @ (self.weights[:, None] * centred)
        classes = slice(1, None) if directions.shape[1] == 1 else slice(None)
        own, overall = np.einsum("ok,ko->o", self.means[classes], directions), mean @ directions
        of_own, of_rest = self.weights[classes], total - self.weights[classes]
        rest = (total * overall - of_own * own) / of_rest
        spread = np.einsum("ko,ko->o", directions, scatter @ directions)
        spread += total * (overall - rest) ** 2 - of_own * (own - rest) ** 2
        variance = np.einsum("ko,ko->o", directions, self.covariance @ directions)
        variance += np.maximum(spread, 0.0) / total
        both = np.column_stack([of_rest, of_own]), np.stack([rest, own])[None].T
        return [Moments(*moments) for moments in zip(*both, variance[:, None, None], strict=True)]

    @property
    def distance(self) -> float:
        """Distance of the means of two classes, along one output."""
        return float(self.means[1, 0] - self.means[0, 0])

    def first(self, n_outputs: int) -> Moments:
        """Return the moments of the first outputs."""
        j = n_outputs
        return Moments(self.weights, self.means[:, :j], self.covariance[:j, :j])

    def combined(self, directions: np.ndarray) -> Moments:
        """Return the moments of linear combinations of the outputs, one for each column."""
        covariance = directions.T @ self.covariance @ directions
        return replace(self, means=self.means @ directions, covariance=covariance)


@dataclass(frozen=True)
class Outputs:
    """Outputs of samples, with class indicators and weights."""

    values: np.ndarray  # (n, q)
    indicators: np.ndarray  # of the classes, (n, c)
    weight: np.ndarray  # (n,)

    def combined(self, directions: np.ndarray) -> Self:
        """Return linear combinations of the outputs, one for each column."""
        return replace(self, values=self.values @ directions)

    def left_out(self, wanted: np.ndarray, leverages: np.ndarray) -> Self:
        """Return leave-one-out outputs of a least-squares fit, in closed form.

        ``wanted`` (n, q) is what each sample is regressed to, ``leverages`` the share of
        its own target in the output of each sample, of shape (n, 1) or (n, q).

        Examples
        --------
        >>> import numpy as np
        >>> from kernelsieve.rayleigh.outputs import Outputs
        >>> mean = Outputs(np.full((4, 1), 0.5), np.eye(2)[[0, 0, 0, 1]], np.ones(4))
        >>> wanted = np.array([[0.0], [0.0], [0.0], [2.0]])
        >>> mean.left_out(wanted, np.full((4, 1), 1 / 4)).values.ravel()
        array([0.66666667, 0.66666667, 0.66666667, 0.        ])
        """
        rest = np.maximum(1 - leverages, _SMALLEST_REST)
        return replace(self, values=wanted - (wanted - self.values) / rest)

    @classmethod
    def drawn(cls, moments: Moments) -> Self:
        """Draw outputs of Gaussian classes with the given moments."""
        n_classes, n_outputs = moments.means.shape
        half = np.random.default_rng(0).normal(size=(_DRAWN // 2, n_outputs))
        values, vectors = np.linalg.eigh(moments.covariance)
        noise = np.vstack([half, -half]) * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
        # Of many classes some outputs, from all over them.
        places = spread_places(n_classes * _DRAWN, max(1, _MOST_INDICATORS // n_classes))
        classes, draws = np.divmod(places, _DRAWN)
        indicators = np.zeros((len(classes), n_classes))
        indicators[np.arange(len(classes)), classes] = 1.0
        return cls(moments.means[classes] + noise[draws], indicators, moments.weights[classes] / _DRAWN)


def spread_places(n: int, most: int) -> np.ndarray:
    """Return evenly spaced indices of a sequence.

    Examples
    --------
    >>> from kernelsieve.rayleigh.outputs import spread_places
    >>> spread_places(9, 3), spread_places(3, 9)
    (array([0, 4, 8]), array([0, 1, 2]))
    """
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).astype(np.intp)


def explained_targets(features: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the share of the squared targets that each feature adds to the earlier ones."""
    products = orthonormal_combinations(features.T @ features).T @ (features.T @ targets)
    return np.asarray((products**2).sum(axis=1) / (float((targets**2).sum()) or np.inf))
