"""Compute cells in parallel processes, and keep each as soon as it is finished."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_limits

from .catalogue import Entry, how_to_get, is_missing, matching
from .form import Cell, Estimate, Found, Mode
from .results import append, compact, kept, record


@dataclass(frozen=True)
class Job:
    """A cell to compute."""

    entry: Entry
    cell: Cell
    settings: dict[str, Any]
    name: str


@dataclass(frozen=True)
class Outcome:
    """What became of a job: numbers, or the text of an error."""

    job: Job
    found: Found | None
    seconds: float
    error: str = ""


def compute(entry: Entry, settings: dict[str, Any]) -> Found:
    """Compute one cell from its settings alone."""
    values = entry.table.compute(**settings)
    return {
        measure: value if isinstance(value, Estimate) else Estimate.of(value)
        for measure, value in values.items()
    }


def work(job: Job) -> Outcome:
    """Compute one cell on one thread; an error is an outcome too, and other cells go on.

    Seconds are those of the processor, which do not depend on what else the machine does.
    """
    start = time.process_time()
    try:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = compute(job.entry, job.settings)
        return Outcome(job, found, time.process_time() - start)
    except Exception:
        return Outcome(job, None, time.process_time() - start, traceback.format_exc())


def outstanding(entry: Entry, mode: Mode, again: bool) -> list[Job]:
    """Return the cells of a table that are not finished; a full result answers for a quick one."""
    table, finished = entry.table, () if again else kept(entry)
    return [
        Job(entry, cell, table.settings_of(cell, mode), f"{entry.identifier} {cell.name}")
        for cell in table.in_reach
        if not {(cell.name, mode), (cell.name, "full")} & set(finished)
    ]


def outcomes(jobs: list[Job], n_jobs: int) -> Iterator[Outcome]:
    """Yield outcomes as they come in."""
    if n_jobs == 1:
        yield from map(work, jobs)
        return
    with parallel_config(backend="loky", inner_max_num_threads=1):
        parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch=n_jobs)
        yield from parallel(delayed(work)(job) for job in jobs)


def run(names: list[str], mode: Mode, *, again: bool = False, n_jobs: int = 1) -> int:
    """Run what is not finished; return 0, 1 if a cell failed, or 3 if data sets are missing."""
    chosen = matching(names)
    jobs = [job for entry in chosen for job in outstanding(entry, mode, again)]
    missing = {name for job in jobs for name in job.cell.data if is_missing(name)}
    blocked = [job for job in jobs if missing & set(job.cell.data)]
    jobs = [job for job in jobs if not missing & set(job.cell.data)]
    cells = sum(len(entry.table.in_reach) for entry in chosen)
    print(f"{cells - len(jobs) - len(blocked)} of {cells} cells are finished, {len(jobs)} run now")
    failed, start = 0, time.perf_counter()
    for done, outcome in enumerate(outcomes(jobs, n_jobs), start=1):
        failed += not settle(outcome, mode)
        left = (time.perf_counter() - start) / done * (len(jobs) - done)
        print(f"[{done}/{len(jobs)}] {line(outcome)}; about {left / 60:.0f} min left", flush=True)
    for entry in chosen:
        compact(entry)
    if blocked:
        print(f"{len(blocked)} cells cannot run: {how_to_get(sorted(missing))}")
    return 1 if failed else 3 if blocked else 0


def settle(outcome: Outcome, mode: Mode) -> bool:
    """Keep a finished cell; return whether it is one."""
    if outcome.found is None:
        return False
    job = outcome.job
    finished = record(job.cell, mode, job.settings, outcome.found, outcome.seconds)
    append(job.entry.results_path, finished)
    return True


def line(outcome: Outcome) -> str:
    """Return what to print of an outcome: ours, and what the paper has."""
    if outcome.found is None:
        return f"{outcome.job.name} FAILED\n{outcome.error}"
    table, texts = outcome.job.entry.table, []
    for measure, ours in outcome.found.items():
        if ours.is_curve:
            continue
        printed = outcome.job.cell.printed.get(measure)
        beside = f", printed {printed.text(table.digits)}" if printed else ""
        texts.append(f"{measure} {ours.text(table.digits)}{beside}")
    return f"{outcome.job.name}: {'; '.join(texts) or 'curves'}; {outcome.seconds:.0f} s"
