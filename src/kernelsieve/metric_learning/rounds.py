"""Rounds of metric learning: fit a function, weight the inputs by its average gradient outer product.

The best of them is where a search for the metric of the largest evidence begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from sklearn.utils.sparsefuncs import mean_variance_axis

from ..kernels import Kernel, Rows
from .evidence import Evidence, apply_metric, metric_of
from .functions import LandmarkFunctions, Split, dense, fit_functions

RIDGES = 10.0 ** np.arange(-10, 1)
WIDTHS = (1 / 64, 1 / 16, 1 / 4, 1, 4)  # times one over the variance of all inputs together
_STEP, _LEAST, _MOST = 4, 1 / 1024, 256  # from a width to the next, and where these end
_SPECTRUM = 1e-4  # added to the eigenvalues of a metric, whose mean is 1
_ROUNDING = 1e-6  # relative difference of errors that the order of samples may make
_GAIN = 0.01  # relative fall of the error below which a round is no better
_CHANCE = 0.75  # of the relative error of a mean of squares
_SAME_UNITS = 0.01  # relative difference
_PATIENCE, _MOST_ROUNDS = 1, 4  # rounds without a gain, and all rounds of a structure
_EVIDENCE_SAMPLES, _EVIDENCE_LANDMARKS, _EVIDENCE_STEPS = 2000, 300, 40
_WEIGHTED_INPUTS, _MATRIX_INPUTS = 10_000, 300  # most, of a diagonal and of a matrix


@dataclass(frozen=True)
class Fitted:
    """The functions of one width, one for each split, with their mean held-out error."""

    width: object  # as it was asked for
    kernel: Kernel
    ridge: float
    error: float
    functions: Sequence[LandmarkFunctions]


@dataclass(frozen=True, eq=False)
class Round:
    """A metric, L or its diagonal, with the widths tried in it.

    Every split has a metric of its own, by the gradients of functions of its fitted samples alone: one
    that has seen held-out samples would make their error small. ``L`` is by all of them together.
    """

    structure: str
    L: np.ndarray
    of_splits: Sequence[np.ndarray]
    tried: Sequence[Fitted]
    by: str = "gradients"  # or "evidence"

    @property
    def best(self) -> Fitted:
        return self.tried[first_minimum([fitted.error for fitted in self.tried])]

    @property
    def error(self) -> float:
        return self.best.error

    def without_functions(self) -> Round:
        """Return the round without its fitted functions, which are as large as the samples."""
        tried = [replace(fitted, functions=()) for fitted in self.tried]
        return replace(self, of_splits=(), tried=tried)


@dataclass(frozen=True)
class MetricProblem:
    """Samples and targets, with the settings of the functions fitted to them."""

    X: Rows
    Y: np.ndarray
    weight: np.ndarray
    splits: Sequence[Split]
    kernel_of: Callable[[Rows, object], Kernel]  # from samples and a width
    widths: Sequence[object] | None  # None for a search
    ridges: np.ndarray
    n_landmarks: int

    @property
    def n_held_out(self) -> int:
        """Number of held-out samples over all splits."""
        return sum(len(split.held_out) for split in self.splits)

    def evaluate(
        self,
        structure: str,
        L: np.ndarray,
        of_splits: Sequence[np.ndarray] | None = None,
        near: object | None = None,
        by: str = "gradients",
    ) -> Round:
        """Fit functions of several widths in a metric, given or searched.

        Splits have the same metric where none is given for each.
        """
        of_splits = [L] * len(self.splits) if of_splits is None else of_splits
        mapped = self._mapped(L, of_splits)
        tried: dict[object, Fitted] = {}
        waiting = list(self.widths or (WIDTHS if near is None else (near,)))
        while waiting:
            for width in waiting:
                tried[width] = self._fit(*mapped, width)
            waiting = [] if self.widths else _untried_neighbours(tried)
        return Round(structure, L, of_splits, list(tried.values()), by)

    def next_metric(self, before: Round, structure: str) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return the next metrics, joint and by split, from gradients of a round's best functions."""
        best, diagonal, found = before.best, structure == "diagonal", []
        _, of_splits = self._mapped(before.L, before.of_splits)
        for L, U, function, split in zip(
            before.of_splits, of_splits, best.functions, self.splits, strict=True
        ):
            rows = split.fitted
            outer = function.outer_product(U[rows], self.weight[rows], best.ridge, diagonal=diagonal)
            metric = with_respect_to_inputs(outer, L)
            found.append(metric)
        roots = [metric_root(metric) for metric in found]
        return joint_root(found, roots), roots

    def likely_metric(
        self, before: Round, structure: str
    ) -> tuple[np.ndarray, list[np.ndarray], float] | None:
        """Return the metrics of largest evidence, joint and by split, and their kernel's width.

        The search begins with a round. None where the kernel has no derivative, where inputs are too
        many, or where targets are constant.
        """
        best, roots, widths = before.best, [], []
        if type(best.kernel).landmark_gradient is Kernel.landmark_gradient:
            return None
        if self.X.shape[1] > (_MATRIX_INPUTS if structure == "full" else _WEIGHTED_INPUTS):
            return None
        drawn = [split.fitted[:_EVIDENCE_SAMPLES] for split in self.splits]
        if not all(np.ptp(self.Y[rows], axis=0).any() for rows in drawn):
            return None
        for L, split, rows in zip(before.of_splits, self.splits, drawn, strict=True):
            X, weight = dense(self.X[rows]), self.weight[rows]
            kernel = self.kernel_of(apply_metric(X, L), best.width)
            n_landmarks = min(_EVIDENCE_LANDMARKS, max(1, len(rows) // 2))
            evidence = Evidence.on_first_samples(kernel, X, self.Y[rows], weight, n_landmarks)
            begin = np.diag(L) if structure == "full" and L.ndim == 1 else L
            noise = best.ridge * len(split.fitted)
            found = evidence.maximise(begin, noise, _EVIDENCE_STEPS)
            roots.append(metric_root(metric_of(found)))
            gamma = getattr(kernel, "gamma", 1.0)
            widths.append(gamma * total_variance(apply_metric(X, found)))
        joint = joint_root([metric_of(L) for L in roots], roots)
        # The evidence of a linear function grows with the width until all kernel values are equal.
        return joint, roots, float(np.clip(np.exp(np.mean(np.log(widths))), _LEAST, _MOST))

    def _mapped(self, L: np.ndarray, of_splits: Sequence[np.ndarray]) -> tuple[Rows, list[Rows]]:
        """Return the samples in the joint metric, and in that of each split."""
        U = apply_metric(self.X, L)
        return U, [U if each is L else apply_metric(self.X, each) for each in of_splits]

    def _fit(self, joint: Rows, of_splits: Sequence[Rows], width: object) -> Fitted:
        Y, weight, functions, errors = self.Y, self.weight, [], []
        for U, split in zip(of_splits, self.splits, strict=True):
            kernel, held = self.kernel_of(U, width), split.held_out
            functions.append(fit_functions(kernel, U, Y, weight, split, self.n_landmarks))
            errors.append(functions[-1].errors(U[held], Y[held], weight[held], self.ridges))
        mean = np.mean(errors, axis=0)
        best = len(mean) - 1 - first_minimum(mean[::-1])  # of equals, the largest ridge rounds least
        kernel = self.kernel_of(joint, width)
        return Fitted(width, kernel, float(self.ridges[best]), float(mean[best]), functions)


def learn(
    problem: MetricProblem,
    structures: Sequence[str],
    n_rounds: int | None,
    units: np.ndarray,
    rank: int | None = None,
    *,
    evidence: bool = True,
) -> Iterator[Round]:
    """Yield rounds; the first uses the inputs times their ``units``.

    Each structure begins with the best round so far; a full matrix by the gradients of a first, noisy
    function would be noise. It ends with the metric of the largest evidence. With a rank the last round
    has what leads in the best one: earlier, what is left out would be lost for good, since a function
    has no gradient along it.
    """
    learnt = best = problem.evaluate("identity", units)
    yield best
    used = units > 0
    if not used.any():
        return
    if np.ptp(units[used]) > _SAME_UNITS * units.max():
        best = problem.evaluate("scaled", used.astype(float))
        yield best
    for structure in structures:
        for found in _rounds_of(structure, problem, best, n_rounds, evidence):
            yield found
            best = found if improves(found, best) else best
            learnt = found if learnt.structure not in structures or improves(found, learnt) else learnt
    if rank is not None:
        of_splits = [leading_directions(L, rank) for L in learnt.of_splits]
        L = of_splits[0] if len(of_splits) == 1 else leading_directions(learnt.L, rank)
        yield problem.evaluate(learnt.structure, L, of_splits, learnt.best.width, learnt.by)


def _rounds_of(
    structure: str, problem: MetricProblem, best: Round, n_rounds: int | None, evidence: bool
) -> Iterator[Round]:
    """Yield rounds of gradients from the best earlier one, then one of largest evidence."""
    last, without_gain = best, 0
    for _ in range(n_rounds or _MOST_ROUNDS):
        if n_rounds is None and without_gain == _PATIENCE:
            break
        L, of_splits = problem.next_metric(last, structure)
        if not all(np.isfinite(M).all() and M.any() for M in (L, *of_splits)):
            break  # the function is constant
        last = problem.evaluate(structure, L, of_splits, last.best.width)
        yield last
        without_gain = 0 if improves(last, best) else without_gain + 1
        best = last if improves(last, best) else best
    likely = problem.likely_metric(best, structure) if evidence else None
    if likely is not None:
        L, of_splits, width = likely
        yield problem.evaluate(structure, L, of_splits, width, "evidence")


def improves(new: Round, old: Round) -> bool:
    """Return True if the held-out error falls by a relevant share, ``_GAIN``."""
    return new.error < (1 - _GAIN) * old.error


def best_round(rounds: Sequence[Round], n_held_out: int) -> Round:
    """Return the first round that no later one improves on.

    That is the first of all, the identity, where the fall is within the chance of so many samples: the
    best of many rounds is better by chance as well.
    """
    best = rounds[0]
    for each in rounds[1:]:
        best = each if improves(each, best) else best
    is_beyond_chance = best.error < (1 - _CHANCE / np.sqrt(n_held_out)) * rounds[0].error
    return best if is_beyond_chance else rounds[0]


def with_respect_to_inputs(C: np.ndarray, L: np.ndarray) -> np.ndarray:
    """Convert outer products of gradients from coordinates ``L'x`` to ``x``."""
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


def joint_root(metrics: Sequence[np.ndarray], roots: Sequence[np.ndarray]) -> np.ndarray:
    """Combine the metrics of all splits, and return the root."""
    return roots[0] if len(roots) == 1 else metric_root(np.sum(metrics, axis=0))


def leading_directions(L: np.ndarray, rank: int) -> np.ndarray:
    """Return the leading directions of a map as columns, or the leading weights of a diagonal."""
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
    """Return the total variance of the inputs, which is invariant to rotations."""
    return float((column_spreads(U) ** 2).sum()) or 1.0


def _untried_neighbours(tried: dict) -> list:
    """Return the widths next to the best one that were not tried."""
    best = list(tried)[first_minimum([fitted.error for fitted in tried.values()])]
    return [w for w in (best / _STEP, best * _STEP) if w not in tried and _LEAST <= w <= _MOST]


def first_minimum(errors: Sequence[float] | np.ndarray) -> int:
    """Return the index of the smallest error, or of the first that equals it up to rounding."""
    values = np.asarray(errors, dtype=np.float64)
    least = values[np.argmin(values)]
    return int(np.argmax((values <= least + _ROUNDING * abs(least)) | np.isnan(values)))


def trial_table(rounds: Sequence[Round]) -> dict[str, np.ndarray]:
    """Return a table of all trials, with one entry for each width and ridge of each round."""
    rows = [(i, each, tried) for i, each in enumerate(rounds) for tried in each.tried]
    return {
        "round": np.array([i for i, _, _ in rows]),
        "structure": np.array([each.structure for _, each, _ in rows]),
        "by": np.array([each.by for _, each, _ in rows]),
        "gamma": np.array([getattr(tried.kernel, "gamma", np.nan) for _, _, tried in rows]),
        "ridge": np.array([tried.ridge for _, _, tried in rows]),
        "error": np.array([tried.error for _, _, tried in rows]),
    }
