"""Choose kernel, width and metric by held-out errors on a few thousand samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..kernels import PRESETS, Kernel, Rows, resolve_kernel
from ..metric_learning.functions import Split, splits
from ..metric_learning.rounds import (
    RIDGES,
    MetricProblem,
    Round,
    column_spreads,
    improves,
    learn,
    total_variance,
)
from .clock import Clock

MOST_SAMPLES = 3000
_SEARCH_SECONDS = 20  # that must be left for a search by the evidence, which nothing interrupts
_LANDMARKS = 300  # most of the functions that are compared: drawn, which costs less than choosing


@dataclass(frozen=True)
class KernelKind:
    """A kernel name with parameters, and the metrics learned for it."""

    name: str
    params: dict[str, Any]
    structures: Sequence[str]  # a rotation of the inputs means nothing to absolute differences

    @property
    def label(self) -> str:
        """The kernel's name and parameters."""
        return " ".join([self.name, *(f"{name}={value:g}" for name, value in self.params.items())])

    def kernel(self, U: Rows, width: object) -> Kernel:
        """Return the kernel with a width relative to the spread of the inputs."""
        return resolve_kernel(
            self.name, U, gamma=_gamma(self.name, U, width), kernel_params=self.params
        )


def _gamma(name: str, U: Rows, width: Any) -> float:
    if name == "laplacian":
        return float(np.sqrt(width) / (column_spreads(U).sum() or 1.0))
    return float(width) / total_variance(U)


KINDS = {
    "rbf": KernelKind("rbf", {}, ("diagonal", "full")),
    "laplacian": KernelKind("laplacian", {}, ("diagonal",)),
    "matern": KernelKind("matern", {"nu": 1.5}, ("diagonal", "full")),
    **{name: KernelKind(*PRESETS[name], ("diagonal", "full")) for name in PRESETS},
    "rational_quadratic": KernelKind("rational_quadratic", {}, ("diagonal", "full")),
}
AUTOMATIC = ("laplacian", "matern32", "rbf", "matern12")
#: Of several kernels, those that learn metrics: for distances and for differences. Others try these.
_LEARNING = ("laplacian", "matern32")


@dataclass(frozen=True)
class Trial:
    """The best width of one kernel in one metric."""

    kind: KernelKind
    metric: str  # "identity", or of which kernel and structure
    found: Round

    @property
    def error(self) -> float:
        return self.found.error

    @property
    def kernel(self) -> Kernel:
        return self.found.best.kernel

    @property
    def ridge(self) -> float:
        return self.found.best.ridge

    def without_functions(self) -> Trial:
        """Return the trial without its fitted functions, which are as large as the samples."""
        return replace(self, found=self.found.without_functions())


@dataclass(frozen=True)
class Samples:
    """The samples that trials run on: scaled columns, standardised targets, weights, splits."""

    X: np.ndarray
    Y: np.ndarray
    weight: np.ndarray
    groups: np.ndarray  # columns of one category have the same number
    splits: Sequence[Split]

    @classmethod
    def drawn(
        cls,
        X: np.ndarray,
        Y: np.ndarray,
        weight: np.ndarray,
        groups: np.ndarray,
        random_state: np.random.RandomState,
    ) -> Samples:
        return cls(X, Y, weight, groups, splits(len(X), random_state))

    def problem(self, kind: KernelKind) -> MetricProblem:
        return MetricProblem(
            self.X,
            self.Y,
            self.weight,
            self.splits,
            kind.kernel,
            None,
            RIDGES,
            int(np.clip(len(self.X) // 2, 50, _LANDMARKS)),
            self.groups,
            aligned=False,
        )


def run_trials(samples: Samples, names: Sequence[str], metric: bool, clock: Clock) -> Iterator[Trial]:
    """Yield trials: kernels on unchanged inputs, then on their own and on each other's metrics."""
    problems = [(KINDS[name], samples.problem(KINDS[name])) for name in names]
    learning = [KINDS[name] for name in names if name in _LEARNING or len(names) == 1]
    plain = (np.ptp(samples.X, axis=0) > 0).astype(float)
    learnt: list[Trial] = []
    for place, (kind, problem) in enumerate(problems):
        if place and clock.is_over:
            return
        begin, structures = None, kind.structures if metric and kind in learning else ()
        evidence = clock.left > _SEARCH_SECONDS
        for found in learn(problem, structures, None, plain, evidence=evidence):
            if begin is None:
                begin = best = found
                yield Trial(kind, "identity", found)
            best = found if improves(found, best) else best
            if clock.is_over:
                break
        if best is not begin:
            learnt.append(Trial(kind, f"{best.structure} by {kind.label}", best))
            yield learnt[-1]
    for kind, problem in problems:
        for other in learnt:
            if other.kind is not kind and not clock.is_over:
                found = problem.evaluate(other.found.structure, other.found.L, other.found.of_splits)
                yield Trial(kind, other.metric, found)


def finalists(trials: Sequence[Trial], n_held_out: int) -> list[Trial]:
    """Return the best trial of every kernel, and the best without a metric, by held-out error."""
    labels = dict.fromkeys(trial.kind.label for trial in trials)
    found = [_best_trial([t for t in trials if t.kind.label == each], n_held_out) for each in labels]
    plain = min((trial for trial in trials if trial.metric == "identity"), key=lambda t: t.error)
    if not any(trial is plain for trial in found):
        found.append(plain)
    return sorted(found, key=lambda trial: trial.error)


def _best_trial(trials: Sequence[Trial], n_held_out: int) -> Trial:
    """Return the trial with the smallest held-out error.

    The best of many rounds of learning is better by chance as well, so a metric must gain more than
    the relative error of a mean of so many squares.
    """
    plain = [trial for trial in trials if trial.metric == "identity"]
    best = min(plain, key=lambda trial: trial.error)
    needed = (1 - 1 / np.sqrt(n_held_out)) * best.error
    learnt = [trial for trial in trials if trial.metric != "identity" and trial.error < needed]
    return min(learnt, key=lambda trial: trial.error, default=best)
