"""Chosen against random landmarks: held-out errors at equal numbers of kernel evaluations.

Every way chooses among all training samples, at most 2,000, and is followed by the same head, ridge
regression in the norm of the kernel on the landmarks (Nystroem features), with width and penalty chosen
by the squared error on the same held-out quarter of the training samples. The other three quarters
teach the metric, whose rounds, with landmarks of SMA, find a width as well: of the inputs as they are,
and in the metric. All ways try it with four times, a quarter and a sixteenth of it. Then landmarks and
head are fitted to all training samples. "SMA, metric if preferred" has the metric where the held-out
error is lower with it. Predicted numbers are kept within the range of the training targets. Two inputs
of uci_bike add up to its target, which a learned metric finds.

Splits are numbered from 26 on: methods and protocol were settled with others, and these were not
computed before. Results are kept in ``results/landmarks.jsonl``, a line for each set and split, and are
not computed again::

    python -m benchmarks landmarks                           # computes ten splits, and reports
    python -m benchmarks.landmarks --splits 20 --minutes 25  # begins nothing new after 25 minutes
    python -m benchmarks.landmarks --again SMC               # this way anew, with new code
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.stats import rankdata, studentized_range

from kernelsieve.datasets import local_data_folder

from .common import heading, table, verdict
from .landmark_runs import (
    METRIC,
    N_SPLITS,
    RESULTS,
    SIZES,
    WAYS,
    compute,
    forget,
    kept_lines,
    kept_results,
    missing,
)

IF_PREFERRED = "SMA, metric if preferred"
COMPARED = (*WAYS, IF_PREFERRED)
PEERS = ("random", "pivoted Cholesky")
IN_SHORT = "in short"
IN_WORDS = {SIZES[:3]: "a k <= 100", SIZES[3:]: "k = 300"}


def with_preferred(result: dict) -> dict:
    """Return a result with a further way: SMA with the metric where held-out samples prefer it."""
    errors, held_out = result["errors"], result["held_out_errors"]
    preferred = {
        k: errors[METRIC if held_out[METRIC][k] < held_out["SMA"][k] else "SMA"][k]
        for k in errors["SMA"]
    }
    return result | {"errors": errors | {IF_PREFERRED: preferred}}


def cells(results: list[dict]) -> dict[tuple[str, int], np.ndarray]:
    """Return the mean errors of all ways for every set and number of landmarks, over its splits."""
    found: dict[tuple[str, int], list[list[float]]] = {}
    for result in results:
        errors = result["errors"]
        for k in errors["random"]:
            found.setdefault((result["set"], int(k)), []).append([errors[way][k] for way in COMPARED])
    return {cell: np.mean(errors, axis=0) for cell, errors in found.items()}


def share_below(of_cells: dict[tuple[str, int], np.ndarray], one: str, other: str, k: tuple) -> float:
    """Return the share of cells in which one way has a lower error; equal ones count for a half."""
    at, against = COMPARED.index(one), COMPARED.index(other)
    wins = [
        (np.sign(errors[against] - errors[at]) + 1) / 2
        for (_, size), errors in of_cells.items()
        if size in k
    ]
    return float(np.mean(wins)) if wins else float("nan")


def decided(results: list[dict], one: str, other: str, sizes: tuple) -> tuple[int, int, int]:
    """Return in how many cells one way wins, loses, or neither, by two standard errors of splits."""
    differences: dict[tuple[str, str], list[float]] = {}
    for result in results:
        for k in result["errors"][one].keys() & set(map(str, sizes)):
            difference = result["errors"][one][k] - result["errors"][other][k]
            differences.setdefault((result["set"], k), []).append(difference)
    signs = [clear_sign(np.array(found)) for found in differences.values()]
    return signs.count(-1), signs.count(1), signs.count(0)


def clear_sign(differences: np.ndarray) -> int:
    error = differences.std(ddof=1) / np.sqrt(len(differences)) if len(differences) > 1 else np.inf
    return int(np.sign(differences.mean())) if abs(differences.mean()) > 2 * error else 0


def conclude(results: list[dict]) -> None:
    """Print what it comes to, in sentences."""
    of_cells = cells(results)
    n_sets, n_splits = (len({result[key] for result in results}) for key in ("set", "split"))
    heading(IN_SHORT)
    print(
        f"{n_sets} sets, {n_splits} splits of each, which had no part in any choice of ours; all ways "
        "have the same head, and choose width and penalty alike. A metric is preferred where held-out "
        "samples have a lower error with it. Won and lost are those by over two standard errors."
    )
    for way in ("SMA", METRIC, IF_PREFERRED):
        found = []
        for sizes in (SIZES[:3], SIZES[3:]):
            n_cells = sum(k in sizes for _, k in of_cells)
            lower = [f"{peer} in {comparison(results, of_cells, way, peer, sizes)}" for peer in PEERS]
            found.append(f"{' and '.join(lower)} of {n_cells} pairs of a set and {IN_WORDS[sizes]}")
        print(f"{way} has a lower mean error than {'; than '.join(found)}.")


def comparison(results: list[dict], of_cells: dict, way: str, peer: str, sizes: tuple) -> str:
    """Return the number of cells below a peer, of those clearly so, and of those clearly above."""
    lower = sum(k in sizes for _, k in of_cells) * share_below(of_cells, way, peer, sizes)
    won, lost, _ = decided(results, way, peer, sizes)
    return f"{lower:g} ({won} won, {lost} lost)"


def compare_ranks(ranks: np.ndarray) -> None:
    """Print which mean ranks differ from those of random landmarks."""
    mean, difference = ranks.mean(axis=0), critical_difference(ranks.shape[1], len(ranks))
    far = [way for way, rank in zip(COMPARED, mean, strict=True) if mean[0] - rank > difference]
    near = [way for way, rank in zip(COMPARED, mean, strict=True) if abs(mean[0] - rank) <= difference]
    print(
        f"Mean ranks that are better than those of random landmarks by the critical difference: "
        f"{'; '.join(far) or 'none'}. Ranks that do not differ from them by it: {'; '.join(near[1:])}."
    )


def mean_ranks(of_cells: dict[tuple[str, int], np.ndarray]) -> np.ndarray:
    """Return the ranks of the ways, (sets, ways): of each set the mean over numbers up to 100."""
    sets = sorted({name for name, _ in of_cells})
    return np.array(
        [
            np.mean([rankdata(of_cells[name, k]) for k in SIZES[:3] if (name, k) in of_cells], axis=0)
            for name in sets
        ]
    )


def critical_difference(n_ways: int, n_sets: int) -> float:
    """Return by how much mean ranks must differ at 5 % (Nemenyi; Demsar, 2006)."""
    quantile = studentized_range.ppf(0.95, n_ways, 1e6) / np.sqrt(2)
    return float(quantile * np.sqrt(n_ways * (n_ways + 1) / (6 * n_sets)))


def draw_ranks(ranks: np.ndarray, path: Path) -> None:
    """Draw mean ranks with a bar for the critical difference, and one over ways that do not differ."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    mean, difference = ranks.mean(axis=0), critical_difference(ranks.shape[1], len(ranks))
    order = np.argsort(mean)
    figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
    for place, way in enumerate(order):
        left = place < (len(order) + 1) // 2
        height = -1 - (place if left else len(order) - 1 - place)
        edge = 0.6 if left else len(order) + 0.4
        ax.plot([mean[way], mean[way], edge], [0, height, height], color="black", linewidth=0.8)
        text = f"{COMPARED[way]} ({mean[way]:.2f})"
        ax.text(edge, height, text, ha="right" if left else "left", va="center")
    ordered, level, covered = mean[order], 0.25, -1
    for first, rank in enumerate(ordered):
        last = int(np.searchsorted(ordered, rank + difference, side="right")) - 1
        if last > max(first, covered):
            ax.plot([rank - 0.03, ordered[last] + 0.03], [-level, -level], color="black", linewidth=3)
            level, covered = level + 0.15, last
    ax.plot([1, 1 + difference], [0.7, 0.7], color="black", linewidth=1.5)
    ax.text(1 + difference / 2, 0.8, f"critical difference {difference:.2f}", ha="center", va="bottom")
    ax.plot([1, len(order)], [0, 0], color="black", linewidth=1)
    for rank in range(1, len(order) + 1):
        ax.plot([rank, rank], [0, 0.12], color="black", linewidth=1)
        ax.text(rank, 0.16, str(rank), ha="center", va="bottom", fontsize="small")
    ax.set(xlim=(-2.6, len(order) + 3.6), ylim=(-1.5 - len(order) / 2, 1.5))
    ax.set_axis_off()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def report(results: list[dict]) -> None:
    """Print tables and a conclusion, and draw the ranks."""
    of_cells = cells(results)
    n_sets, ways = len({name for name, _ in of_cells}), list(COMPARED)
    splits = [sum(result["set"] == name for result in results) for name in {r["set"] for r in results}]
    heading(f"landmarks: errors on {n_sets} sets, means of {min(splits)} splits")
    table(
        ["set", "k", *ways],
        [[name, str(k), *map(float, errors)] for (name, k), errors in sorted(of_cells.items())],
    )
    few = SIZES[:3]
    heading("share of cells in which a way is below random landmarks, and below pivoted Cholesky")
    table(
        ["", *(f"{peer}, k={k}" for peer in PEERS for k in SIZES)],
        [
            [way, *(share_below(of_cells, way, peer, (k,)) for peer in PEERS for k in SIZES)]
            for way in ways
        ],
    )
    ranks = mean_ranks(of_cells)
    difference = critical_difference(len(ways), len(ranks))
    heading(f"mean ranks up to k=100; critical difference {difference:.2f} (Nemenyi, 5 %)")
    table(["", "mean rank"], sorted(zip(ways, ranks.mean(axis=0), strict=True), key=lambda r: r[1]))
    compare_ranks(ranks)
    draw_ranks(ranks, RESULTS / "landmarks.png")
    heading("what is asked")
    judge(of_cells)
    peers = [ways.index(peer) for peer in PEERS]
    for way in ("SMA", METRIC, IF_PREFERRED):
        lost = [
            f"{name} (k={k})"
            for (name, k), errors in sorted(of_cells.items())
            if k in few and errors[ways.index(way)] > errors[peers].min()
        ]
        print(f"{way} is above one of the two in: {', '.join(lost) or 'none'}")
    hours = sum(result["cpu_seconds"] for result in kept_lines()) / 3600
    print(f"All results took {hours:.1f} hours of one processor.")


def judge(of_cells: dict[tuple[str, int], np.ndarray]) -> None:
    for way, asked in (("SMA", 0.8), (METRIC, 0.9), (IF_PREFERRED, 0.9)):
        for peer in PEERS:
            share = share_below(of_cells, way, peer, SIZES[:3])
            verdict(f"{way} below {peer}, share of cells with k <= 100", share, asked, at_least=True)


def main(n_splits: int = N_SPLITS, minutes: float = np.inf) -> None:
    if local_data_folder() is None and list(missing(n_splits)):
        print("landmarks: no data folder, so only the kept results: set KERNELSIEVE_DATA for more")
    else:
        compute(n_splits, minutes)
    complete = [result for result in kept_results() if all(way in result["errors"] for way in WAYS)]
    results = list(map(with_preferred, complete))
    if results:
        conclude(results)
        report(results)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.landmarks")
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    parser.add_argument("--minutes", type=float, default=np.inf)
    parser.add_argument("--again", choices=WAYS, metavar="WAY", help="compute this way anew")
    given = parser.parse_args()
    if given.again:
        forget(given.again)
    main(given.splits, given.minutes)
