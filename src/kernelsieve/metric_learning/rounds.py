"""Rounds that fit a function and weight inputs by its gradients (average gradient outer products)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from sklearn.utils.sparsefuncs import mean_variance_axis

from ..kernels import Kernel, Rows
from .functions import LandmarkFunctions, Split, fit_functions

RIDGES = 10.0 ** np.arange(-10, 1)
WIDTHS = (1 / 64, 1 / 16, 1 / 4, 1, 4)  # times one over the variance of all inputs together
_STEP, _LEAST, _MOST = 4, 1 / 1024, 256  # from a width to the next, and where these end
_SPECTRUM = 1e-4  # added to the eigenvalues of a metric, whose mean is 1
_GAIN = 0.01  # relative fall of the error below which a round is no better
_SAME_UNITS = 0.01  # relative difference
_PATIENCE, _MOST_ROUNDS = 2, 6  # rounds without a gain, and all rounds of a structure


@dataclass(frozen=True)
class Fitted:
    """Functions of one width, one for each split, and their mean held-out error."""

    width: object  # as it was asked for
    kernel: Kernel
    ridge: float
    error: float
    functions: Sequence[LandmarkFunctions]


@dataclass(frozen=True, eq=False)
class Round:
    """A metric, L or its diagonal, with the widths that were tried in it."""

    structure: str
    L: np.ndarray
    tried: Sequence[Fitted]

    @property
    def best(self) -> Fitted:
        return min(self.tried, key=lambda fitted: fitted.error)

    @property
    def error(self) -> float:
        return self.best.error


@dataclass(frozen=True)
class MetricProblem:
    """Samples, targets, and how functions are fitted."""

    X: Rows
    Y: np.ndarray
    weight: np.ndarray
    splits: Sequence[Split]
    kernel_of: Callable[[Rows, object], Kernel]  # from samples and a width
    widths: Sequence[object] | None  # None for a search
    ridges: np.ndarray
    n_landmarks: int
    groups: np.ndarray | None = None  # numbers of inputs that share a weight
    aligned: bool = True  # whether landmarks are chosen by alignment, or drawn

    def evaluate(self, structure: str, L: np.ndarray, near: object | None = None) -> Round:
        """Try widths: those given, or a search that begins with some, or near one."""
        U = apply_metric(self.X, L)
        tried: dict[object, Fitted] = {}
        waiting = list(self.widths or (WIDTHS if near is None else (near,)))
        while waiting:
            for width in waiting:
                tried[width] = self._fit(U, width)
            waiting = [] if self.widths else _beside(tried)
        return Round(structure, L, list(tried.values()))

    def next_metric(self, before: Round, structure: str) -> np.ndarray:
        """Return the metric by the gradients of the best functions of a round."""
        U, best, diagonal = apply_metric(self.X, before.L), before.best, structure == "diagonal"
        total: np.ndarray = sum(  # type: ignore[assignment]
            function.outer_product(
                U[split.fitted], self.weight[split.fitted], best.ridge, diagonal=diagonal
            )
            for function, split in zip(best.functions, self.splits, strict=True)
        )
        metric = with_respect_to_inputs(total, before.L)
        if diagonal and self.groups is not None:
            metric = (np.bincount(self.groups, metric) / np.bincount(self.groups))[self.groups]
        return metric_root(metric)

    def _fit(self, U: Rows, width: object) -> Fitted:
        kernel, Y, weight = self.kernel_of(U, width), self.Y, self.weight
        functions = [
            fit_functions(kernel, U, Y, weight, split, self.n_landmarks, aligned=self.aligned)
            for split in self.splits
        ]
        errors = np.mean(
            [
                function.errors(U[held], Y[held], weight[held], self.ridges)
                for function, held in zip(functions, (s.held_out for s in self.splits), strict=True)
            ],
            axis=0,
        )
        best = int(np.argmin(errors))
        return Fitted(width, kernel, float(self.ridges[best]), float(errors[best]), functions)


def learn(
    problem: MetricProblem,
    structures: Sequence[str],
    n_rounds: int | None,
    units: np.ndarray,
    rank: int | None = None,
) -> Iterator[Round]:
    """Yield rounds, the first with the inputs as they are: those of the problem times their ``units``.

    Each structure begins with the best round so far; a full matrix by the gradients of a first, noisy
    function would be noise. With a rank the last round has what leads in the best one: earlier, what is
    left out would be lost for good, since a function has no gradient along it.
    """
    learnt = best = problem.evaluate("identity", units)
    yield best
    used = units > 0
    if np.ptp(units[used]) > _SAME_UNITS * units.max():
        best = problem.evaluate("scaled", used.astype(float))
        yield best
    for structure in structures:
        last, without_gain = best, 0
        for _ in range(n_rounds or _MOST_ROUNDS):
            if n_rounds is None and without_gain == _PATIENCE:
                break
            L = problem.next_metric(last, structure)
            if not np.isfinite(L).all() or not L.any():  # the function is constant
                break
            last = problem.evaluate(structure, L, last.best.width)
            yield last
            without_gain = 0 if falls(last, best) else without_gain + 1
            best = last if falls(last, best) else best
            learnt = last if learnt.structure not in structures or falls(last, learnt) else learnt
    if rank is not None:
        yield problem.evaluate(learnt.structure, leading(learnt.L, rank), learnt.best.width)


def falls(new: Round, old: Round) -> bool:
    """Tell if the held-out error falls by more than chance would let it."""
    return new.error < (1 - _GAIN) * old.error


def best_round(rounds: Sequence[Round]) -> Round:
    """Return the first round that no later one is better than."""
    best = rounds[0]
    for each in rounds[1:]:
        best = each if falls(each, best) else best
    return best


def apply_metric(X: Rows, L: np.ndarray) -> Rows:
    """Return ``X L``, with L given in full or as a diagonal."""
    if L.ndim == 2:
        return X @ L
    return sparse.csr_matrix(X.multiply(L[None])) if sparse.issparse(X) else X * L


def with_respect_to_inputs(C: np.ndarray, L: np.ndarray) -> np.ndarray:
    """Return outer products of gradients in the coordinates ``L'x`` as those in ``x``."""
    if C.ndim == 1:
        return C * L**2
    return C * np.outer(L, L) if L.ndim == 1 else L @ C @ L.T


def metric_root(M: np.ndarray) -> np.ndarray:
    """Return the symmetric L with ``L L' = M``, rescaled to a mean eigenvalue of 1.

    Inputs without any gradient, such as constant ones, stay out.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelsieve.metric_learning.rounds import metric_root
    >>> metric_root(np.array([3.0, 0.0])).round(3)
    array([1.414, 0.   ])
    """
    size = M.sum() if M.ndim == 1 else np.trace(M)
    if not (np.isfinite(size) and size > 0):
        return np.zeros_like(M)
    M = M * (len(M) / size)
    used = (M if M.ndim == 1 else np.diagonal(M)) > 0
    if M.ndim == 1:
        return np.sqrt(M + _SPECTRUM) * used
    values, vectors = eigh(M)
    roots = np.sqrt(np.maximum(values, 0.0) + _SPECTRUM)
    return (vectors * roots) @ vectors.T * np.outer(used, used)


def leading(L: np.ndarray, rank: int) -> np.ndarray:
    """Return the leading directions of a map as columns, or of a diagonal the leading weights."""
    if L.ndim == 1:
        kept = np.argsort(-L, kind="stable")[:rank]
        return np.where(np.isin(np.arange(len(L)), kept), L, 0.0)
    values, vectors = eigh(L)
    largest = np.argsort(-values)[:rank]
    vectors = vectors[:, largest]
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(largest))])
    return vectors * (values[largest] * signs)


def column_spreads(X: Rows) -> np.ndarray:
    """Return the standard deviations of inputs; exactly 0 for constant ones."""
    if sparse.issparse(X):
        return np.sqrt(mean_variance_axis(X.astype(np.float64), axis=0)[1])
    return np.where(np.ptp(X, axis=0) > 0, X.std(axis=0), 0.0)


def total_variance(U: Rows) -> float:
    """Return the variance of all inputs together, which no rotation changes."""
    return float((column_spreads(U) ** 2).sum()) or 1.0


def _beside(tried: dict) -> list:
    """Return the widths next to the best one that were not tried."""
    best = min(tried, key=lambda width: tried[width].error)
    return [w for w in (best / _STEP, best * _STEP) if w not in tried and _LEAST <= w <= _MOST]
