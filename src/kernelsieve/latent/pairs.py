"""Boosting over pairs of samples: reweight the pairs that a learned kernel does not separate yet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, solve_triangular
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh
from scipy.special import expit

from ..data import row_slices, rows_per_block
from ..deflation import leading_eigenpairs

#: The weight of a pair in the next step as a function of its margin: minus the slope of the loss.
PAIR_WEIGHTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exponential": lambda margin: np.exp(-margin),
    "log": lambda margin: expit(-margin),
}
_SMOOTHING = 1e-12  # of the sum of all weights: keeps the step finite where no pair is wrong
_SHORTEST_STEP = 1e-6
_DENSE_UP_TO = 300  # coordinates; beyond, products with the pairs are cheaper than their matrix


@dataclass(frozen=True)
class Span:
    """Samples in orthonormal coordinates of the span of the candidates."""

    coordinates: np.ndarray  # (n, r): kernel values of the samples against the chosen, times ``dual``
    chosen: np.ndarray  # (r,): candidates none of which is a combination of the others
    dual: np.ndarray  # (r, r)


def span_of(columns: np.ndarray, W: np.ndarray, scale: float, tol: float) -> Span:
    """Return the span of candidates, given their kernel matrix W and kernel ``columns`` of the samples.

    Any orthonormal basis will do, and that of a pivoted Cholesky factor costs a small part of what
    eigenvectors do and needs no candidate that is a combination of others. ``scale`` divides the
    kernel; candidates with a squared residual below ``tol`` of the largest k(z, z) are left out.
    """
    factor, pivots, rank, _ = lapack.dpstrf(W, tol=tol * W.diagonal().max())
    chosen = pivots[:rank].astype(np.intp) - 1
    dual = solve_triangular(factor[:rank, :rank], np.eye(rank)) / np.sqrt(scale)
    return Span(columns[:, chosen] @ dual, chosen, dual)


class Pairs:
    """All ordered pairs of samples, with their weights and the kernel learned so far.

    A pair is to have a positive value of the learned kernel where its labels are equal, and a
    negative one where they are not; its margin is the value with that sign.
    """

    def __init__(self, codes: np.ndarray, weight: np.ndarray, loss: str) -> None:
        self._codes = codes
        self._weight = weight
        self._weight_of = PAIR_WEIGHTS[loss]
        n = len(codes)
        self._blocks = list(row_slices(n, rows_per_block(n)))
        self._learned = np.zeros((n, n))
        self._signed = np.empty((n, n))  # B: weights, with the sign that the pair should have
        self._total = 0.0
        self._reweigh()

    def _reweigh(self) -> None:
        self._total = 0.0
        for rows in self._blocks:
            signs = np.where(self._codes[rows, None] == self._codes, 1.0, -1.0)
            weights = self._weight_of(signs * self._learned[rows])
            weights *= self._weight[rows, None] * self._weight
            self._total += float(weights.sum())
            np.multiply(signs, weights, out=self._signed[rows])

    def multiply(self, vectors: np.ndarray) -> np.ndarray:
        """Return ``B vectors``, B the signed weights of the pairs."""
        return self._signed @ vectors

    def step(self, feature: np.ndarray) -> float:
        """Return the step length along ``feature feature'``; 0 if no step lowers the loss."""
        right, wrong = self.split(feature)
        smoothing = _SMOOTHING * self._total
        if not right > wrong or not right + smoothing > 0:
            return 0.0
        return 0.5 * float(np.log((right + smoothing) / (wrong + smoothing)))

    def split(self, feature: np.ndarray) -> tuple[float, float]:
        """Return the weights of the pairs that ``feature feature'`` classifies right and wrong."""
        right = wrong = 0.0
        for rows in self._blocks:
            agreement = self._signed[rows] * feature
            agreement *= feature[rows, None]
            right += float(np.maximum(agreement, 0.0).sum())
            wrong -= float(np.minimum(agreement, 0.0).sum())
        return right, wrong

    def add(self, step: float, feature: np.ndarray) -> None:
        """Add ``step * feature feature'`` to the learned kernel."""
        for rows in self._blocks:
            self._learned[rows] += np.outer(step * feature[rows], feature)
        self._reweigh()


def boost(
    span: Span, pairs: Pairs, n_components: int, random_state: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Return unit directions Z as columns, in coordinates C of the span, and the step a of each.

    With the signed weights B of the pairs a direction z maximises ``z'C'B C z``: its feature
    ``p = C z`` agrees best with them. ``a p p'`` joins the learned kernel, which gives the next B.
    There may be more directions than coordinates.
    """
    C, size = span.coordinates, span.coordinates.shape[1]
    start = np.asarray(random_state.standard_normal(size))
    Z, steps = list[np.ndarray](), list[float]()
    while size and len(steps) < n_components:
        z = _best_direction(C, pairs, start)
        p = C @ z
        a = pairs.step(p)
        if a < _SHORTEST_STEP:
            break
        pairs.add(a, p)
        Z.append(z)
        steps.append(a)
    return np.array(Z).reshape(len(steps), size).T, np.array(steps)


def _best_direction(coordinates: np.ndarray, pairs: Pairs, start: np.ndarray) -> np.ndarray:
    size = coordinates.shape[1]
    if size > _DENSE_UP_TO:
        operator = LinearOperator(
            (size, size),
            matvec=lambda z: coordinates.T @ pairs.multiply(coordinates @ z),
            dtype=np.float64,
        )
        try:
            return eigsh(operator, k=1, which="LA", v0=start)[1][:, 0]
        except ArpackNoConvergence:
            pass  # the largest eigenvalues are too close to each other; take the whole matrix
    symmetric = coordinates.T @ pairs.multiply(coordinates)
    return leading_eigenpairs((symmetric + symmetric.T) / 2, 1)[1][:, 0]
