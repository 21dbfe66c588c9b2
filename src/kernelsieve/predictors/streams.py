"""Fit a sieve to a stream or a source: settings from the first samples, sums of all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data import Source
from ..estimators import StatisticPart, StatisticPlan, prepared
from .assembly import CALIBRATION_SAMPLES, MANY_SAMPLES, Preparation, Sieve, sieve_from_search
from .calibration import HeldOut
from .recipe import MappedSamples, expected_warnings_ignored, with_little_memory

_MOST_HELD_OUT = 10_000  # samples of a stream that calibrate, the last ones
#: Samples of a source that settle everything but the function.
SETTLING_SAMPLES = MANY_SAMPLES


@dataclass(frozen=True)
class SieveStream:
    """The settings chosen on the first samples, with the one-pass sums of all samples so far."""

    preparation: Preparation
    extractor: Any
    plan: StatisticPlan
    part: StatisticPart | None = None
    n_samples: int = 0
    total_weight: float = 0.0
    numbers: np.ndarray | None = None  # of the samples that have settled the candidates

    @classmethod
    def start(
        cls, preparation: Preparation, first: MappedSamples, n_folds: int, numbers: np.ndarray
    ) -> SieveStream:
        """Choose the candidates by the first samples, which are not summed up yet."""
        extractor = preparation.recipe.extractor(len(first))
        with with_little_memory():
            plan = prepared(extractor, first.U, first.Y, first.weight, None, max(2, n_folds))
        return cls(preparation, extractor, plan, numbers=numbers)

    def with_samples(self, data: MappedSamples) -> SieveStream:
        """Return the stream with more samples added."""
        new = self.plan.statistic(data.U, data.Y, data.weight)
        return replace(
            self,
            part=new if self.part is None else self.part.merge(new),
            n_samples=self.n_samples + len(data),
            total_weight=self.total_weight + float(data.weight.sum()),
        )

    def sieve(self, held_out: HeldOut | MappedSamples) -> Sieve:
        """Fit the sieve from the sums, calibrated on samples that were not summed up."""
        recipe, folds = self.preparation.recipe, self.plan.folds
        assert folds is not None
        search = recipe.search(self.extractor.n_components, self.total_weight, folds.n_folds)
        with expected_warnings_ignored(), with_little_memory():
            search.finish(self.plan, self.part)
        way = f"{folds.n_folds} folds of {self.n_samples} samples out of core"
        sieve = sieve_from_search(
            self.preparation, search, self.total_weight, held_out, self.n_samples, way
        )
        return sieve if self.numbers is None else sieve.renumbered(self.numbers)


def last_held_out(before: HeldOut, new: HeldOut) -> HeldOut:
    """Append held-out samples, and keep the last ones."""
    return HeldOut.concatenate([before, new], _MOST_HELD_OUT)


@dataclass(frozen=True)
class SourceRows:
    """The samples of a source without those held out."""

    source: Source
    held_out: np.ndarray  # their numbers, which ascend

    @classmethod
    def drawn(cls, source: Source, numbers: np.ndarray, random_state: np.random.RandomState) -> Any:
        """Hold out some of the drawn samples; return also their positions in the draw."""
        places = np.sort(random_state.permutation(len(numbers))[:CALIBRATION_SAMPLES])
        return cls(source, numbers[places]), places

    def __iter__(self) -> Any:
        """Yield the samples to be summed up, in parts."""
        start = 0
        for part in self.source:
            inside = self.held_out[np.searchsorted(self.held_out, start) :]
            inside = inside[inside < start + len(part)] - start
            start += len(part)
            kept = part.take(np.setdiff1d(np.arange(len(part)), inside))
            if len(kept):
                yield kept
