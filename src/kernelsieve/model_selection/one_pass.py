"""Cross-validate in one pass over samples in memory, by statistics of the folds."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..data import Batch, Part, count_rows, row_slices
from ..estimators import StatisticPlan, is_summed_up, prepared, screens
from ..fitting import OnePass
from ..kernels import BlockCache, sharing
from ..statistics import FoldSums
from .fold_curves import SettledFolds
from .folds import Curve, HeadSettings, Task, clone_with, score_extractor, split_off

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

    def add(
        self,
        task: Task,
        data: Part,
        folds: Folds,
        settled: SettledFolds,
        head_settings: HeadSettings,
    ) -> None:
        """Score a setting of the extractor in every fold, by sums where these tell the scores."""
        heads = [clone_with(task.head, of_head) for _, of_head in head_settings]
        numbers, told = [number for number, _ in head_settings], settled.tells(task, heads)
        for fold, (train, test) in enumerate(folds):
            curves = settled.curves(task, fold, heads) if told else None
            if curves is not None:
                self.curves[fold].update(zip(numbers, curves, strict=True))
                continue
            self.looked_again, fitted = True, settled.fitted(fold)
            parts = split_off(fitted, data, train), split_off(fitted, data, test)
            scored = score_extractor(task, fitted, head_settings, *parts, settled.seconds)
            self.curves[fold].update(scored)
        self.settled.update(dict.fromkeys(numbers, settled.condensed()))


def run_in_one_pass(task: Task, data: Part, folds: Folds) -> OnePassScores | None:
    """Return the scores of all settings in every fold; None if folds need passes of their own."""
    if task.time_rows or not _are_a_partition(folds, count_rows(data.X)):
        return None
    settings = [
        [(clone_with(task.extractor, of_extractor), heads) for of_extractor, heads in group]
        for group in task.groups
    ]
    if not all(_is_told_by_sums(extractor, data) for group in settings for extractor, _ in group):
        return None
    screened = _screening_samples(settings[0][0][0], data)
    folds = [_training_and_test(test, screened, count_rows(data.X)) for _, test in folds]
    found = OnePassScores([{} for _ in folds])
    for group in settings:
        cache = BlockCache()  # distances of a block are used for every width, where that saves time
        planned = _planned(data, screened, group, cache)
        if planned is None:
            return None
        for of_pass in _sum_up_folds(data, folds, screened, planned, cache):
            found.n_passes += 1
            for settled, head_settings in of_pass:
                found.add(task, data, folds, settled, head_settings)
    found.n_passes += found.looked_again
    return found


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


def _is_told_by_sums(extractor: Any, data: Part) -> bool:
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
    return count_rows(data.X) > fewest


def _screening_samples(extractor: Any, data: Part) -> np.ndarray:
    """Draw the samples that screen candidates; empty if candidates are not screened."""
    if not screens(extractor, data.X):
        return np.empty(0, np.intp)
    random_state = check_random_state(extractor._seed)
    return np.sort(random_state.choice(count_rows(data.X), _SCREENING_SAMPLES, replace=False))


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


#: A setting of the extractor, with those of the head, its plan and its pass.
_Planned = tuple[Any, HeadSettings, StatisticPlan, OnePass]


def _planned(
    data: Part, screened: np.ndarray, group: Sequence[tuple[Any, HeadSettings]], cache: BlockCache
) -> list[_Planned] | None:
    """Settle the plans of settings that differ only in kernel width; None if one has no single pass."""
    with sharing(cache) if len(group) > 1 else nullcontext():
        plans = [_plan(extractor, data, screened) for extractor, _ in group]
    found = []
    for (extractor, head_settings), plan in zip(group, plans, strict=True):
        row_pass = plan.row_pass(extractor)
        if not isinstance(row_pass, OnePass) or row_pass.changes:
            return None
        found.append((extractor, head_settings, plan, row_pass))
    return found


def _plan(extractor: Any, data: Part, screened: np.ndarray) -> StatisticPlan:
    if not len(screened):
        return prepared(extractor, data.X, data.y, data.weight, None)
    classes = None  # of which the screened samples may lack some
    if extractor._encoder(data.y).classes is not None:
        classes = np.unique(np.asarray(data.y))
    some = split_off(extractor, data, screened)
    return prepared(extractor, some.X, some.y, some.weight, classes).renumbered(screened)


def _sum_up_folds(
    data: Part, folds: Folds, screened: np.ndarray, planned: list[_Planned], cache: BlockCache
) -> Iterator[list[tuple[SettledFolds, HeadSettings]]]:
    """Sum up all folds; yield the statistics of each pass over the samples."""
    _, _, first, _ = planned[0]
    batch = first.batch(data.X, data.y, data.weight)
    groups = [test for _, test in folds]
    if len(screened):
        groups.append(screened)
    together = max(1, _SUMS_BYTES // (len(groups) * 16 * len(first.settled.pool) ** 2))
    for some in row_slices(len(planned), together):
        start = time.perf_counter()
        sums = _sums_of_groups([row_pass for *_, row_pass in planned[some]], batch, groups, cache)
        seconds = (time.perf_counter() - start) / len(folds) / len(sums)
        found = []
        for (extractor, heads, plan, row_pass), parts in zip(planned[some], sums, strict=True):
            rest = parts.pop() if len(screened) else row_pass.empty(type(parts[0].columns))
            kernel = plan.settled.kernel.without_cache()  # for models, which outlive the cache
            plan = replace(plan, settled=replace(plan.settled, kernel=kernel))
            settled = SettledFolds(extractor, plan, FoldSums(parts, rest), batch, seconds)
            found.append((settled, heads))
        yield found


def _sums_of_groups(
    passes: Sequence[OnePass], batch: Batch, groups: Sequence[np.ndarray], cache: BlockCache
) -> list[list[Any]]:
    """Pass once over the samples, in parts if widths share distances; return the sums of each group.

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
    return begun
