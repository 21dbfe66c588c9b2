"""Sparse kernel PLS until it fits as well as SVR: how time grows with the rows, and peak memory."""

from __future__ import annotations

from dataclasses import replace

from papers.momma2005.scaling import (
    MOST_FEATURES,
    MR,
    MR_FIXED,
    MR_MIN,
    SIZES,
    SVM,
    Training,
    data_name,
    exponent,
    first_rows,
    level,
    load_rows,
    scaling,
    train,
    warm_up,
)

from .common import Spread, heading, in_own_process, peak_megabytes, table, verdict

MOST_EXPONENT, REPEAT = 1.3, 3


def repeated() -> dict[str, dict[int, Training]]:
    """Return what training took, seconds as the median of runs in turns."""
    turns = [scaling(names=(MR, MR_MIN, MR_FIXED)) for _ in range(REPEAT)]
    return {
        name: {
            size: replace(run, seconds=Spread(turn[name][size].seconds for turn in turns))
            for size, run in runs.items()
        }
        for name, runs in turns[0].items()
    }


def megabytes(name: str, size: int, target: float) -> float:
    """Return how much memory above the data it takes to train."""
    rows = first_rows(load_rows(), size)
    warm_up()
    before = peak_megabytes()
    train(name, *rows, target)
    return peak_megabytes() - before


def line(name: str, runs: dict[int, Training], peak: float) -> list[object]:
    last = runs[SIZES[-1]]
    times = [run.seconds for run in runs.values()]
    return [name, *times, exponent(runs), last.n_features or "-", last.n_support, last.error, peak]


def main() -> None:
    heading(f"sparse_pls: seconds to train on {data_name()}, rbf, one thread")
    found = repeated()
    largest, target = SIZES[-1], level(found[SVM])
    peaks = {name: in_own_process(megabytes, name, largest, target) for name in found}
    print(f"MR stops at a training error of {target:.3f}, which SVR reaches with any number of rows;")
    print(f"features, support vectors, error and MB above the data are those with {largest} rows")
    table(
        ["", *map(str, SIZES), "exponent", "features", "vectors", "error", "MB"],
        [line(name, runs, peaks[name]) for name, runs in found.items()],
    )
    verdict(f"exponent of {MR_FIXED}", exponent(found[MR_FIXED]), MOST_EXPONENT, at_least=False)
    for name in (MR_MIN, MR):
        if any(run.error > target for run in found[name].values()):
            print(f"MISS {name} is not there with {MOST_FEATURES} features: these data need more")
            continue
        verdict(f"exponent of {name}", exponent(found[name]), MOST_EXPONENT, at_least=False)
        ratio = found[SVM][largest].seconds / found[name][largest].seconds
        verdict(f"SVR's time over that of {name}, {largest} rows", ratio, 1, at_least=True)
        verdict(f"SVR's memory over that of {name}", peaks[SVM] / peaks[name], 1, at_least=True)
    print(f"     {MR} evaluates a fifth of all kernel columns a step: its time must grow as n^2")
