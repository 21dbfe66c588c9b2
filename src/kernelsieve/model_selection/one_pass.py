"""Cross-validate in one pass over samples in memory, by statistics of the folds."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..data import Batch, row_slices
from ..estimators import StatisticPlan, is_summed_up, prepared, screens
from ..fitting import OnePass
from ..kernels import BlockCache, sharing
from ..kernels.distance_cache import unshared
from ..statistics import FoldSums
from .fold_curves import SettledFolds, have_closed_form, known_score
from .folds import Curve, Data, Group, HeadSettings, Task, clone_with, score_extractor

_FEW_SAMPLES = 3000  # up to which every fold draws a pool of its own
_SCREENING_SAMPLES = 10_000  # which are never held out; at least as many others must be there
_SUMS_BYTES = 2**30  # of the statistics that one pass fills

Folds = Sequence[tuple[np.ndarray, np.ndarray]]


@dataclass
class OnePassScores:
    """The curves of all settings in every fold, and the statistics behind them."""

    curves: list[dict[int, Curve]]
    settled: dict[int, SettledFolds] = field(default_factory=dict)  # by the number of the setting
    n_passes: int = 0
    looked_again: bool = False  # at the chosen landmarks, for what statistics do not tell


def run_in_one_pass(
    task: Task, data: Data, folds: Folds, groups: Sequence[Group], scoring: Any
) -> OnePassScores | None:
    """Return the scores of all settings in every fold; None if folds need passes of their own."""
    if task.time_rows or not _are_a_partition(folds, len(data)):
        return None
    settings = [
        [clone_with(task.extractor, of_extractor) for of_extractor, _ in group] for group in groups
    ]
    if not all(_is_told_by_sums(extractor, data) for of_group in settings for extractor in of_group):
        return None
    screened = _screening_samples(settings[0][0], data)
    folds = [_training_and_test(test, screened, len(data)) for _, test in folds]
    found, score = OnePassScores([{} for _ in folds]), known_score(scoring)
    for group, extractors in zip(groups, settings, strict=True):
        gathering = _Gathering(data, folds, screened)
        for settled, (_, head_settings) in zip(gathering(extractors), group, strict=True):
            if settled is None:
                return None
            for fold, (train, test) in enumerate(folds):
                curves = _curves_from_sums(task, settled, fold, head_settings, score)
                if curves is None:
                    found.looked_again = True
                    fitted = settled.fitted(fold)
                    parts = data.part(fitted, train), data.part(fitted, test)
                    curves = dict(score_extractor(task, fitted, head_settings, *parts, settled.seconds))
                found.curves[fold].update(curves)
            condensed = settled.condensed()
            found.settled.update({number: condensed for number, _ in head_settings})
        found.n_passes += gathering.n_passes
    found.n_passes += found.looked_again
    return found


def _curves_from_sums(
    task: Task, settled: SettledFolds, fold: int, head_settings: HeadSettings, score: str | None
) -> dict[int, Curve] | None:
    """Return the curves of the heads from the statistics; None if a head needs the samples."""
    heads = [clone_with(task.head, of_head) for _, of_head in head_settings]
    if score is None or not have_closed_form(settled.extractor, heads) or settled.has_classes:
        return None
    curves = settled.curves(task, fold, heads, score)
    numbers = (number for number, _ in head_settings)
    return None if curves is None else dict(zip(numbers, curves, strict=True))


# ---------------------------------------------------------------------- what may share one pass


def _are_a_partition(folds: Folds, n_samples: int) -> bool:
    """Return True if every sample is held out once, and each fold is fitted to all others."""
    held_out = np.concatenate([test for _, test in folds])
    if len(folds) < 2 or len(held_out) != n_samples or not _mask(held_out, n_samples).all():
        return False
    return all(
        len(train) + len(test) == n_samples
        and np.array_equal(_mask(train, n_samples), ~_mask(test, n_samples))
        for train, test in folds
    )


def _is_told_by_sums(extractor: Any, data: Data) -> bool:
    """Return True if folds can share a pool, and the extractor needs inner products only.

    A pool that was given is shared in any case, and one that is drawn from many samples. Samples by
    whose targets it is screened must not be held out, so that more are needed.
    """
    if not is_summed_up(extractor):  # a pipeline, or what needs all samples at once
        return False
    settings = extractor._settings()
    plain = (
        extractor._shares_folds
        and not extractor._is_precomputed
        and settings.dtype == np.float64
        and settings.center
    )
    if not plain or extractor._candidates().are_points:
        return plain
    fewest = 2 * _SCREENING_SAMPLES if screens(extractor, data.X) else _FEW_SAMPLES
    return len(data) > fewest


def _screening_samples(extractor: Any, data: Data) -> np.ndarray:
    """Draw the samples that screen candidates; empty if candidates are not screened."""
    if not screens(extractor, data.X):
        return np.empty(0, np.intp)
    random_state = check_random_state(extractor._seed)
    return np.sort(random_state.choice(len(data), _SCREENING_SAMPLES, replace=False))


def _training_and_test(
    test: np.ndarray, screened: np.ndarray, n_samples: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return a fold's training and test samples; samples that screen candidates are never held out."""
    held_out = _mask(test, n_samples) & ~_mask(screened, n_samples)
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def _mask(rows: np.ndarray, n_samples: int) -> np.ndarray:
    """Return a boolean mask of rows; for millions of rows cheaper than a set."""
    marks = np.zeros(n_samples, dtype=bool)
    marks[rows] = True
    return marks


def _as_slice(rows: np.ndarray) -> np.ndarray | slice:
    """Return consecutive rows as a slice, which avoids a copy."""
    consecutive = len(rows) > 0 and rows[-1] - rows[0] == len(rows) - 1 and (np.diff(rows) == 1).all()
    return slice(int(rows[0]), int(rows[-1]) + 1) if consecutive else rows


# ---------------------------------------------------------------------- the pass


@dataclass
class _Gathering:
    """Sums up all folds for extractors that differ only in kernel width.

    Distances of a block are computed once and used for every width, where that saves time.
    """

    data: Data
    folds: Folds
    screened: np.ndarray
    n_passes: int = 0

    def __call__(self, extractors: Sequence[Any]) -> Iterator[SettledFolds | None]:
        cache = BlockCache()
        with sharing(cache) if len(extractors) > 1 else nullcontext():
            plans = [self._plan(extractor) for extractor in extractors]
        found = [plan.row_pass(e) for plan, e in zip(plans, extractors, strict=True)]
        passes = [p for p in found if isinstance(p, OnePass) and not p.changes]
        if len(passes) < len(found):
            yield from [None] * len(extractors)
            return
        batch = plans[0].batch(self.data.X, self.data.y, self.data.weight)
        groups = [test for _, test in self.folds]
        if len(self.screened):
            groups.append(self.screened)
        together = max(1, _SUMS_BYTES // (len(groups) * 16 * len(plans[0].settled.pool) ** 2))
        for some in row_slices(len(extractors), together):
            start = time.perf_counter()
            self.n_passes += 1
            sums = self._sums(passes[some], batch, groups, cache)
            seconds = (time.perf_counter() - start) / len(self.folds) / len(sums)
            for extractor, plan, folds in zip(extractors[some], plans[some], sums, strict=True):
                settled = replace(plan.settled, kernel=unshared(plan.settled.kernel))
                plan = replace(plan, settled=settled)  # for models, which outlive the cache
                yield SettledFolds(extractor, plan, folds, batch, seconds)

    def _plan(self, extractor: Any) -> StatisticPlan:
        data, rows = self.data, self.screened
        if not len(rows):
            return prepared(extractor, data.X, data.y, data.weight, None)
        classes = None  # of which the screened samples may lack some
        if extractor._encoder(data.y).classes is not None:
            classes = np.unique(np.asarray(data.y))
        some = data.part(extractor, rows)
        return prepared(extractor, some.X, some.y, some.weight, classes).renumbered(rows)

    def _sums(
        self,
        passes: Sequence[OnePass],
        batch: Batch,
        groups: Sequence[np.ndarray],
        cache: BlockCache,
    ) -> list[FoldSums]:
        """Pass once over the samples, in parts if widths share distances.

        Samples of a group are copied when it is their turn, if they are not consecutive.
        """
        begun = [[p.empty(form) for _ in groups] for p in passes for form in [p.form_for([batch])]]
        size = max(1, cache.max_bytes // (8 * len(passes[0].plan.pool)))
        for group, numbers in enumerate(groups):
            for rows in row_slices(len(numbers), len(numbers) if len(passes) == 1 else int(size)):
                part = batch[_as_slice(numbers[rows])]
                for row_pass, of_pass in zip(passes, begun, strict=True):
                    row_pass.absorb(of_pass[group], part)
                cache.clear()
        found = []
        for row_pass, of_pass in zip(passes, begun, strict=True):
            screened = of_pass.pop() if len(self.screened) else row_pass.empty(type(of_pass[0].columns))
            found.append(FoldSums(of_pass, screened))
        return found
