"""Learn metrics of the inputs on few samples: by gradients, then by the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..kernels import Kernel
from ..metric_learning.evidence import Evidence, apply_metric, metric_of
from ..metric_learning.rounds import joint_root, metric_root, total_variance, with_respect_to_inputs
from .kinds import KernelKind
from .landmark_fit import RIDGES, LandmarkFit, best_ridge

#: Of several kernels, those that learn metrics: for distances and for differences. Others try these.
LEARNING = ("laplacian", "matern32", "rbf")
_SAMPLES, _LANDMARKS = 700, 150
_STEPS = 25  # of a search by the evidence
#: Of few, two parts of three are held out in turn, and the third one for the winner only.
FEW_SAMPLES, _PARTS, _MOST_PARTS = 1200, 3, 2
_FOLDS = 5  # of few, if no metric was learned
_ROUNDS, _GAIN = 3, 0.01  # rounds of gradients, and the relative fall of the error that asks for more
_MATRIX_INPUTS, _WEIGHTED_INPUTS = 300, 10_000  # most, for a search by the evidence
_LEAST, _MOST = 1 / 1024, 256  # widths


@dataclass(frozen=True)
class Samples:
    """Samples in random order: scaled columns, standardised targets, weights.

    ``part`` says from which metric a sample is held out; -1 for none.
    """

    X: np.ndarray
    Y: np.ndarray
    weight: np.ndarray
    groups: np.ndarray  # columns of one category have the same number
    part: np.ndarray

    @classmethod
    def divided(
        cls, X: np.ndarray, Y: np.ndarray, weight: np.ndarray, groups: np.ndarray, learns: bool
    ) -> Samples:
        """Where metrics are learned, hold out all but the first samples or, of few, parts in turn."""
        numbers = np.arange(len(X))
        part = numbers % _PARTS if len(X) <= FEW_SAMPLES else np.where(numbers < _SAMPLES, -1, 0)
        return cls(X, Y, weight, groups, part if learns else np.zeros_like(part))

    @property
    def n_parts(self) -> int:
        return min(_MOST_PARTS, int(self.part.max()) + 1)

    def __len__(self) -> int:
        return len(self.X)

    def __getitem__(self, rows: np.ndarray | slice) -> Samples:
        return Samples(self.X[rows], self.Y[rows], self.weight[rows], self.groups, self.part[rows])

    def learning(self, part: int) -> Samples:
        """Return the samples that the metric of a part learns from."""
        return self[np.flatnonzero(self.part != part)[:_SAMPLES]]


Found = tuple[np.ndarray, float, float]  # a map, a width and a ridge


@dataclass(frozen=True)
class LearnedMetric:
    """A linear map of the inputs, and those that have not seen the samples of a part."""

    name: str
    L: np.ndarray  # the map, or its diagonal
    of_parts: Sequence[np.ndarray]
    width: float  # that it was learned with
    learner: KernelKind | None = None  # the kernel that it was learned with

    @classmethod
    def identity(cls, samples: Samples) -> LearnedMetric:
        L = (np.ptp(samples.X, axis=0) > 0).astype(float)
        return cls("identity", L, [L] * samples.n_parts, 1.0)

    @classmethod
    def joint(cls, kind: KernelKind, of_parts: Sequence[Found]) -> LearnedMetric:
        """Combine the maps and widths of parts."""
        roots = [L for L, _, _ in of_parts]
        width = float(np.exp(np.mean([np.log(width) for _, width, _ in of_parts])))
        L = joint_root([metric_of(L) for L in roots], roots)
        structure = "full" if L.ndim == 2 else "diagonal"
        return cls(f"{structure} by {kind.label}", L, roots, width, kind)

    def of_every_part(self, samples: Samples) -> LearnedMetric:
        """Learn also without the parts of few samples that trials did not hold out."""
        if self.learner is None:
            return replace(self, of_parts=[self.L] * _FOLDS)
        maps, structures = list(self.of_parts), self.learner.structures[: self.L.ndim]
        for part in range(len(maps), _PARTS):
            found = list(_of_structures(samples, [part], self.learner, self.width, structures))
            maps += [L for L, *_ in found[-1]] if found else [self.L]
        return replace(self, L=joint_root([metric_of(L) for L in maps], maps), of_parts=maps)


def learnt_metrics(
    samples: Samples, kind: KernelKind, width: float, *, first_only: bool
) -> Iterator[LearnedMetric]:
    """Yield weights of the inputs and, where the kernel follows rotations, a matrix."""
    structures = kind.structures[: 1 if first_only else None]
    for found in _of_structures(samples, range(samples.n_parts), kind, width, structures):
        yield LearnedMetric.joint(kind, found)


def _of_structures(
    samples: Samples,
    held_out: Sequence[int],
    kind: KernelKind,
    width: float,
    structures: Sequence[str],
) -> Iterator[list[Found]]:
    """Yield what is found without parts of the samples, for one structure after another."""
    parts = [samples.learning(part) for part in held_out]
    if not all(np.ptp(part.Y, axis=0).any() for part in parts):
        return
    L = LearnedMetric.identity(samples).L
    found = [_by_gradients(kind, part, L, width, full=False) for part in parts]
    if not _has_evidence(kind):
        yield found
        return
    for structure in structures:
        full = structure == "full"
        if len(L) > (_MATRIX_INPUTS if full else _WEIGHTED_INPUTS):
            return
        if full:
            of_parts = zip(parts, found, strict=True)
            found = [_by_gradients(kind, part, L, w, full=True) for part, (L, w, _) in of_parts]
        found = [
            _by_evidence(kind, part, *before, full=full)
            for part, before in zip(parts, found, strict=True)
        ]
        yield found


def _has_evidence(kind: KernelKind) -> bool:
    """Return True if the kernel has the derivative that a search by the evidence follows."""
    kernel = type(kind.kernel(np.ones((2, 1)), 1.0))
    return kernel.landmark_gradient is not Kernel.landmark_gradient


def _by_gradients(
    kind: KernelKind, samples: Samples, L: np.ndarray, width: float, *, full: bool
) -> Found:
    """Weight inputs by the gradients of functions as long as these get better.

    Return the weights or a matrix, a width and a ridge.
    """
    begun = _best_fit(kind, samples, L, (width,))
    best, last = begun, begun
    for _ in range(_ROUNDS):
        _, L, width, ridge, fit = last
        U = apply_metric(samples.X, L)
        outer = fit.gradient_products(U, samples.weight, ridge, diagonal=not full)
        metric = with_respect_to_inputs(outer, L)
        if not full:
            metric = (np.bincount(samples.groups, metric) / np.bincount(samples.groups))[samples.groups]
        if not (np.isfinite(metric).all() and metric.any()):
            break  # the function is constant
        last = _best_fit(kind, samples, metric_root(metric), (width / 4, width, width * 4))
        if last[0] > (1 - _GAIN) * best[0]:
            break
        best = last
    _, L, width, ridge, _ = best
    return L, width, ridge


def _best_fit(
    kind: KernelKind, samples: Samples, L: np.ndarray, widths: Sequence[float]
) -> tuple[float, np.ndarray, float, float, LandmarkFit]:
    """Return the smallest leave-one-out error, with the map, width, ridge and fit."""
    U, found = apply_metric(samples.X, L), []
    for width in widths:
        fit = LandmarkFit.to(kind.kernel(U, width), U, samples.Y, samples.weight, _landmarks(samples))
        errors = fit.squares @ samples.weight
        best = best_ridge(errors)
        found.append((float(errors[best]), L, width, float(RIDGES[best]), fit))
    return min(found, key=lambda each: each[0])


def _by_evidence(
    kind: KernelKind, samples: Samples, L: np.ndarray, width: float, ridge: float, *, full: bool
) -> Found:
    """Search for the map of largest evidence."""
    kernel = kind.kernel(apply_metric(samples.X, L), width)
    evidence = Evidence.on_first_samples(
        kernel, samples.X, samples.Y, samples.weight, _landmarks(samples)
    )
    begin = np.diag(L) if full and L.ndim == 1 else L
    found = evidence.maximise(begin, ridge * len(samples), _STEPS, samples.groups)
    width = kernel.gamma * total_variance(apply_metric(samples.X, found))  # type: ignore[attr-defined]
    # The evidence of a linear function grows with the width until all kernel values are equal.
    return metric_root(metric_of(found)), float(np.clip(width, _LEAST, _MOST)), ridge


def _landmarks(samples: Samples) -> int:
    return int(np.clip(len(samples) // 2, 1, _LANDMARKS))
