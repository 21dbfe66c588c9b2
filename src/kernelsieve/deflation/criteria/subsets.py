"""p-sparse criteria: the best pair or triple of candidates, problems (7) to (10)."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np

from ...exceptions import InvalidParameterError
from .base import Criterion, Direction, Step, View, first_of_the_best
from .sparse import Alignment, Covariance

_CHUNK = 200_000  # subsets scored at once, or a few more
_MOST_SUBSETS = 20_000_000
_DEGENERATE = 1e-10  # a member this dependent on the others, relatively, adds nothing
_NEAR = 0.999  # of the largest score: what may still be the first of the best


class BestSubset(Criterion):
    """Search all subsets of ``size`` candidates for the direction that a criterion likes best.

    Within a subset E the best weights solve ``M_E alpha = lambda * E'K'y`` with M the Gram matrix of
    the constraint: of the deflated columns for alignment, the kernel matrix for covariance. With
    several targets they are the leading generalised eigenvector.
    """

    needs_metric = True

    def __init__(self, single: Alignment | Covariance, size: int) -> None:
        self.single = single
        self.size = size

    @property
    def unit_variance(self) -> bool:  # type: ignore[override]
        return self.single.unit_variance

    def value(self, step: Step) -> float:
        return self.single.value(step)

    def propose(self, view: View) -> Direction | None:
        usable = np.flatnonzero(self._usable(view))
        size = min(self.size, len(usable))
        if size == 0 or not view.eligible.any():
            return None
        check_subsets(len(view.eligible), size)
        constraint = self._constraint(view)
        products = view.target_products
        best, score = _best_subset(constraint, products, usable, size)
        weights = _best_weights(constraint[np.ix_(best, best)], products[best])
        length = weights @ view.metric.among(best) @ weights
        weights = weights / np.sqrt(length) if length > 0 else weights
        used = weights != 0
        if not used.any():  # nothing is left of the target
            return None
        return Direction(best[used], weights[used], score)

    def _usable(self, view: View) -> np.ndarray:
        """An example whose own column is used up can still shorten a direction of covariance."""
        if isinstance(self.single, Alignment):
            return view.eligible
        return view.metric.diagonal > 0

    def _constraint(self, view: View) -> np.ndarray:
        everyone = np.arange(len(view.eligible))
        if not isinstance(self.single, Alignment):
            return view.metric.among(everyone)
        deflated = view.columns.take(everyone) - view.features @ view.column_products.T
        return deflated.T @ deflated


def check_subsets(n_candidates: int, size: int) -> None:
    """Refuse a search that would not end."""
    if comb(n_candidates, size) > _MOST_SUBSETS:
        raise InvalidParameterError(
            f"n_nonzero={size} searches all subsets of {n_candidates} candidates, which are "
            f"{comb(n_candidates, size):,}; lower candidates or n_nonzero."
        )


def _best_subset(
    constraint: np.ndarray, products: np.ndarray, usable: np.ndarray, size: int
) -> tuple[np.ndarray, float]:
    """Return the first of the best subsets and the largest score.

    There may be millions of subsets, so only those are remembered that may be it.
    """
    largest = 0.0
    subsets: list[np.ndarray] = []
    scores: list[np.ndarray] = []
    for places in _all_subsets(len(usable), size):
        some = usable[places]
        of_some = _subset_scores(constraint, products, some)
        largest = max(largest, float(of_some.max()))
        near = of_some >= _NEAR * largest
        subsets.append(some[near])
        scores.append(of_some[near])
    return np.concatenate(subsets)[first_of_the_best(np.concatenate(scores))], largest


def _all_subsets(n: int, size: int) -> Iterator[np.ndarray]:
    """Yield the subsets of ``range(n)`` in lexicographic order, one a row, some at a time."""
    if size == 1:
        yield np.arange(n)[:, None]
        return
    rests = np.concatenate(list(_all_subsets(n, size - 1)))  # far fewer than there are subsets
    starts = np.searchsorted(rests[:, 0], np.arange(n), side="right")  # of what may follow each
    counts = len(rests) - starts
    full = np.flatnonzero(np.diff(np.cumsum(counts) // _CHUNK)) + 1
    for firsts in np.split(np.arange(n), full):
        following = np.concatenate([rests[start:] for start in starts[firsts]])
        yield np.column_stack([np.repeat(firsts, counts[firsts]), following])


def _subset_scores(constraint: np.ndarray, products: np.ndarray, subsets: np.ndarray) -> np.ndarray:
    """Return the largest ``|H'alpha|^2`` under ``alpha' M alpha = 1``, for every subset at once."""
    M = constraint[subsets[:, :, None], subsets[:, None, :]]
    H = products[subsets]
    size = subsets.shape[1]
    # A Cholesky factorisation of all the small matrices, which whitens H on the way.
    for a in range(size):
        pivot = M[:, a, a]
        alive = pivot > _DEGENERATE * constraint[subsets[:, a], subsets[:, a]]
        root = np.where(alive, np.sqrt(np.maximum(pivot, 0)), np.inf)
        M[:, a, a:] /= root[:, None]
        H[:, a] /= root[:, None]
        for b in range(a + 1, size):
            factor = M[:, a, b].copy()
            M[:, b, b:] -= factor[:, None] * M[:, a, b:]
            H[:, b] -= factor[:, None] * H[:, a]
    if H.shape[2] == 1:
        return np.einsum("sa,sa->s", H[:, :, 0], H[:, :, 0])
    return np.asarray(np.linalg.eigvalsh(H @ H.transpose(0, 2, 1))[:, -1])


def _best_weights(M: np.ndarray, H: np.ndarray) -> np.ndarray:
    """Return alpha of ``M alpha = H v`` for the best combination v of the targets."""
    solution = np.linalg.pinv(M, rcond=_DEGENERATE, hermitian=True) @ H
    if H.shape[1] == 1:
        return solution[:, 0]
    vectors = np.linalg.eigh(H.T @ solution)[1]
    return np.asarray(solution @ vectors[:, -1])
