"""p-sparse criteria: the best pair or triple of candidates, problems (7) to (10)."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

import numpy as np

from ...exceptions import InvalidParameterError
from ..needs import Needs
from ..view import Direction, Step, View
from .base import Criterion, first_of_the_best
from .sparse import Alignment, Covariance

_CHUNK = 200_000  # subsets scored at once, or a few more
_MOST_SUBSETS = 20_000_000
_DEGENERATE = 1e-10  # a member this dependent on the others, relatively, adds nothing
_ROUNDING = 1e-12  # of the squared norm of a column: less than this is not known well after deflation
_LAST_DIGITS = 1e-15  # of an inner product
_NEAR = 0.999  # of the largest score: what may still be the first of the best


class BestSubset(Criterion):
    """Search all subsets of ``size`` candidates for the direction that a criterion likes best.

    Within a subset E the best weights solve ``M_E alpha = lambda * E'K'y`` with M the Gram matrix of
    the constraint: of the deflated columns for alignment, the kernel matrix for covariance. With
    several targets they are the leading generalised eigenvector.

    Parameters
    ----------
    single : Alignment or Covariance
        The criterion.
    size : int
        Most candidates in one direction.
    """

    needs = Needs(metric=True)

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
        smallest = np.maximum(_DEGENERATE * np.diagonal(constraint), self._rounding(view))
        best, score = _best_subset(constraint, products, usable, size, smallest)
        if score == 0:  # what is left of every column is not known well enough to be combined
            smallest = np.zeros_like(smallest)
            single = np.flatnonzero(view.eligible)
            best, score = _best_subset(constraint, products, single, 1, smallest)
        if score == 0:  # nothing is left of the target
            return None
        alive = best[_independent(constraint[np.ix_(best, best)], smallest[best])]
        weights = self._weights(view, constraint, alive)
        length = weights @ view.metric.among(alive) @ weights
        weights = weights / np.sqrt(length) if length > 0 else weights
        used = weights != 0
        return Direction(alive[used], weights[used], score)

    def _usable(self, view: View) -> np.ndarray:
        """A column that depends on the chosen ones can still shorten a direction of covariance."""
        if isinstance(self.single, Alignment):
            return view.eligible
        return view.metric.diagonal > 0

    def _constraint(self, view: View) -> np.ndarray:
        everyone = np.arange(len(view.eligible))
        if not isinstance(self.single, Alignment):
            W = view.metric.among(everyone)
            return (W + W.T) / 2  # rounding to float32 has left it unsymmetric
        deflated = _deflated(view, everyone)
        return deflated.T @ deflated

    def _rounding(self, view: View) -> np.ndarray | float:
        """Return squared norms that are not known well; kernel values themselves are not deflated."""
        is_deflated = isinstance(self.single, Alignment)
        return _ROUNDING * view.raw_squared_norms if is_deflated else 0.0

    def _weights(self, view: View, constraint: np.ndarray, subset: np.ndarray) -> np.ndarray:
        """Return alpha of ``M alpha = H v`` for the best combination v of the targets."""
        if isinstance(self.single, Alignment):  # from the columns: M would square their condition
            basis, root = np.linalg.qr(_deflated(view, subset))
            whitened = basis.T @ view.residual_targets
        else:
            root = np.linalg.cholesky(constraint[np.ix_(subset, subset)]).T
            whitened = np.linalg.solve(root.T, view.target_products[subset])
        left, _, _ = np.linalg.svd(whitened, full_matrices=False)
        return np.asarray(np.linalg.solve(root, left[:, 0]))


def _deflated(view: View, candidates: np.ndarray) -> np.ndarray:
    return view.columns.take(candidates) - view.features @ view.column_products[candidates].T


def check_subsets(n_candidates: int, size: int) -> None:
    """Refuse a search that would not end."""
    if comb(n_candidates, size) > _MOST_SUBSETS:
        raise InvalidParameterError(
            f"n_nonzero={size} searches all subsets of {n_candidates} candidates, which are "
            f"{comb(n_candidates, size):,}; lower candidates or n_nonzero."
        )


def _best_subset(
    constraint: np.ndarray, products: np.ndarray, usable: np.ndarray, size: int, smallest: np.ndarray
) -> tuple[np.ndarray, float]:
    """Return the first of the best subsets and the largest score.

    A member adds nothing if less than ``smallest`` of it is left by those before it. There may be
    millions of subsets, so only those are remembered that may be it.
    """
    largest = 0.0
    subsets: list[np.ndarray] = []
    scores: list[np.ndarray] = []
    roundings: list[np.ndarray] = []
    for places in _all_subsets(len(usable), size):
        some = usable[places]
        of_some, rounding = _subset_scores(constraint, products, some, smallest)
        largest = max(largest, float(of_some.max()))
        near = of_some >= _NEAR * largest
        subsets.append(some[near])
        scores.append(of_some[near])
        roundings.append(rounding[near])
    first = first_of_the_best(np.concatenate(scores), np.concatenate(roundings).__getitem__)
    return np.concatenate(subsets)[first], largest


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


def _subset_scores(
    constraint: np.ndarray, products: np.ndarray, subsets: np.ndarray, smallest: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest ``|H'alpha|^2`` under ``alpha' M alpha = 1``, for every subset at once.

    Also return which share of it may be rounding: the more, the less a member adds to the others.
    """
    M = constraint[subsets[:, :, None], subsets[:, None, :]]
    H = products[subsets]
    size = subsets.shape[1]
    share = np.full(len(subsets), _LAST_DIGITS)
    # A Cholesky factorisation of all the small matrices, which whitens H on the way.
    for a in range(size):
        pivot = M[:, a, a]
        alive = pivot > smallest[subsets[:, a]]
        whole = constraint[subsets[:, a], subsets[:, a]]
        times = np.divide(whole, pivot, out=np.zeros_like(whole), where=alive)
        share = np.maximum(share, _LAST_DIGITS * times)
        root = np.where(alive, np.sqrt(np.maximum(pivot, 0)), np.inf)
        M[:, a, a:] /= root[:, None]
        H[:, a] /= root[:, None]
        for b in range(a + 1, size):
            factor = M[:, a, b].copy()
            M[:, b, b:] -= factor[:, None] * M[:, a, b:]
            H[:, b] -= factor[:, None] * H[:, a]
    if H.shape[2] == 1:
        return np.einsum("sa,sa->s", H[:, :, 0], H[:, :, 0]), share
    return np.asarray(np.linalg.eigvalsh(H @ H.transpose(0, 2, 1))[:, -1]), share


def _independent(M: np.ndarray, smallest: np.ndarray) -> np.ndarray:
    """Return the members that are no combinations of those before them, as scores see it."""
    rest, alive = M.copy(), []
    for a in range(len(M)):
        if rest[a, a] > smallest[a]:
            alive.append(a)
            rest -= np.outer(rest[:, a], rest[a]) / rest[a, a]
    return np.array(alive, np.intp)
