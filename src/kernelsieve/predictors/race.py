"""Choose kernel, width and metric in a race: many on few samples, the better ones on more."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..metric_learning.evidence import apply_metric
from .clock import Clock
from .kinds import KINDS, KernelKind
from .landmark_fit import LAST_RIDGES, RIDGES, LandmarkFit, best_ridge
from .metrics import LEARNING, LearnedMetric, Samples, learnt_metrics

WIDTHS = tuple(4.0 ** np.arange(-3, 2))  # times one over the variance of all inputs together
_STEP, _LEAST, _MOST = 4, 1 / 1024, 256  # from a width to the next, and where these end
_NEARLY = 1.01  # times the least error, by which a narrower kernel is as good: it rounds less
#: Samples and drawn landmarks of the rungs, and how many combinations of each kernel reach them.
RUNGS = ((400, 64, 100), (1000, 120, 2), (3000, 300, 1))
_WORTH = 3  # so many drawn landmarks are about as good as a selected one
_SHARES = 5  # of the samples: their errors show how much is chance
_LEARNING_SECONDS = 2  # that must be left for learning a metric, which nothing interrupts


@dataclass(frozen=True)
class TrialResult:
    """The leave-one-out error of a kernel, metric and width on the samples of a rung."""

    kind: KernelKind
    metric: str  # "identity", or of which structure and kernel
    width: float
    gamma: float
    ridge: float
    errors: Sequence[float]  # of equal shares of the samples, in variances of the target
    seconds: float
    n_samples: int
    n_landmarks: int

    @property
    def error(self) -> float:
        return float(np.mean(self.errors))


@dataclass(frozen=True)
class Entry:
    """A kernel in a metric, with the best width on a rung."""

    result: TrialResult
    metric: LearnedMetric
    residuals: np.ndarray  # leave-one-out, of the last samples
    scored: np.ndarray  # which of these the metric has not seen


class Race:
    """The samples of a race, and what was tried on them.

    On each rung combinations are tried in the order of their errors on the rung before, so that those
    for which there is no time are the worse ones.
    """

    def __init__(self, samples: Samples, n_landmarks: int, clock: Clock) -> None:
        self.samples = samples
        self.clock = clock
        self.trials: list[TrialResult] = []
        self.rungs: list[tuple[int, int, int]] = []
        for n_samples, drawn, n_kept in RUNGS:
            n = min(n_samples, len(samples))
            m = int(np.clip(n // 2, 1, min(drawn, _WORTH * n_landmarks)))
            if not self.rungs or (n, m) != self.rungs[-1][:2]:
                self.rungs.append((n, m, n_kept))

    def run(self, names: Sequence[str], learns: bool) -> list[Entry]:
        """Return the combinations that reached the last comparison, the winner first."""
        identity = LearnedMetric.identity(self.samples)
        plain: list[Entry] = []
        for name in names:
            if not plain or not self.clock.is_over:
                plain.append(self._best_width(KINDS[name], identity, WIDTHS, 0))
        entries = [*plain, *(self._in_learnt_metrics(plain) if learns and identity.L.any() else ())]
        for rung in range(1, len(self.rungs)):
            *_, n_kept = self.rungs[rung]
            best, entries = best_of_kernels(entries, n_kept), []
            for entry in best:
                if not entries or not self.clock.is_over:
                    kind, width = entry.result.kind, entry.result.width
                    entries.append(self._best_width(kind, entry.metric, (width,), rung))
        return leading(entries)

    def left_out(self, winner: Entry) -> Entry:
        """Return the winner on all samples."""
        rung = (len(self.samples), *self.rungs[-1][1:])
        if rung == self.rungs[-1]:
            return winner
        self.rungs.append(rung)
        return self._try(winner.result.kind, winner.metric, winner.result.width, len(self.rungs) - 1)

    def _in_learnt_metrics(self, plain: Sequence[Entry]) -> list[Entry]:
        """Learn metrics with some kernels, and try all kernels in each."""
        entries = []
        for first in plain:
            kind = first.result.kind
            if self.clock.left < _LEARNING_SECONDS:
                break
            if len(plain) > 1 and kind not in [KINDS[name] for name in LEARNING]:
                continue
            weights_only = len(plain) > 1 and kind.name == "rbf"
            width = first.result.width
            for metric in learnt_metrics(self.samples, kind, width, first_only=weights_only):
                for other in plain:
                    same = other.result.kind is kind
                    width = metric.width if same else other.result.width
                    entries.append(self._best_width(other.result.kind, metric, (width,), 0))
                if self.clock.is_over:
                    return entries
        return entries

    def _best_width(
        self, kind: KernelKind, metric: LearnedMetric, widths: Sequence[float], rung: int
    ) -> Entry:
        """Try widths and, where these are many or the rung is in the middle, neighbours of the best."""
        searches = len(widths) > 1 or 0 < rung < len(self.rungs) - 1 or len(self.rungs) == 1
        tried: dict[float, Entry] = {}
        waiting = list(widths)
        while waiting:
            tried |= {width: self._try(kind, metric, width, rung) for width in waiting}
            enough = _NEARLY * min(entry.result.error for entry in tried.values())
            best = max(width for width, entry in tried.items() if entry.result.error <= enough)
            near = [w for w in (best / _STEP, best * _STEP) if _LEAST <= w <= _MOST]
            waiting = [w for w in near if searches and w not in tried]
        return tried[best]

    def _try(self, kind: KernelKind, metric: LearnedMetric, width: float, rung: int) -> Entry:
        """Fit drawn landmarks to the last samples; score those that the metric has not seen."""
        start = time.perf_counter()
        n_samples, n_landmarks, _ = self.rungs[rung]
        ridges = LAST_RIDGES if 0 < rung == len(self.rungs) - 1 else RIDGES
        some = self.samples[len(self.samples) - n_samples :]
        fits = {}
        for L in metric.of_parts:
            if id(L) not in fits:
                U = apply_metric(some.X, L)
                kernel = kind.kernel(U, width)
                fits[id(L)] = LandmarkFit.to(kernel, U, some.Y, some.weight, n_landmarks, ridges)
        of_parts = [fits[id(L)] for L in metric.of_parts]
        scored = (some.part >= 0) & (some.part < len(of_parts))
        part = np.where(scored, some.part, 0)
        squares = np.choose(part, [fit.squares for fit in of_parts])
        best = best_ridge(squares @ (some.weight * scored))
        residuals = np.choose(part[:, None], [fit.residuals[best] for fit in of_parts])
        result = TrialResult(
            kind,
            metric.name,
            width,
            kind.gamma(apply_metric(self.samples.X, metric.L), width),
            float(ridges[best]),
            _errors_of_shares(squares[best], some.weight * scored),
            time.perf_counter() - start,
            n_samples,
            n_landmarks,
        )
        self.trials.append(result)
        return Entry(result, metric, residuals, scored | (metric.name == "identity"))


def _errors_of_shares(squares: np.ndarray, weight: np.ndarray) -> list[float]:
    """Return the error of each share of the samples; that of all where a share has no weight."""
    shares = [slice(i, None, _SHARES) for i in range(_SHARES)]
    overall = np.average(squares, weights=weight)
    return [
        float(np.average(squares[s], weights=weight[s]) if weight[s].any() else overall) for s in shares
    ]


def leading(entries: Sequence[Entry]) -> list[Entry]:
    """Return combinations in the order of their errors; one without a metric first, if it may be best.

    The best of many metrics is better by chance as well, so that its error must fall by more than the
    relative error of a mean of so many squares.
    """
    ordered = sorted(entries, key=lambda entry: entry.result.error)
    plain = next((entry for entry in ordered if entry.metric.name == "identity"), None)
    if plain is None:
        return ordered
    needed = (1 - 1 / np.sqrt(plain.result.n_samples)) * plain.result.error
    if ordered[0].result.error < needed:
        return ordered
    return [plain, *(entry for entry in ordered if entry is not plain)]


def best_of_kernels(entries: Sequence[Entry], n_kept: int) -> list[Entry]:
    """Return the best combinations of each kernel, and the best one without a metric, in order.

    Kernels of rough functions need more landmarks than low rungs have, so that none drops out there.
    """
    kept = next(([entry] for entry in leading(entries) if entry.metric.name == "identity"), [])
    for label in {entry.result.kind.label for entry in entries}:
        kept += leading([e for e in entries if e.result.kind.label == label])[:n_kept]
    return [entry for entry in leading(entries) if any(entry is each for each in kept)]
