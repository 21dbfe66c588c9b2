"""Print both tables beside the printed ones: ``python -m papers wu2007``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy.stats import ttest_ind_from_stats

from kernelsieve.datasets import DATA_VARIABLE, local_data_folder

from . import genes, printed, texts
from .methods import our_search, papers_search

Statistics = Mapping[str, tuple[float, float]]  # mean and standard deviation, by method
Row = Sequence[object]

ITERATIONS = (0, 5, 10, 20, 30, 50, 100, 200)
FEW = range(5)  # repetitions of what is beside the tables
SEARCHES = {"ours": our_search, "in coefficients": papers_search}
ITERATED = {"Prostate_Tumor": genes, "tr45": texts, "hitech": texts}


def best_of(errors: Mapping[str, np.ndarray], method: str) -> str:
    """Return the key of a method with the lowest mean, of several that differ in a parameter."""
    keys = [key for key in errors if key == method or key.startswith(f"{method}, ")]
    return min(keys, key=lambda key: float(errors[key].mean()))


def summary(
    errors: Mapping[str, np.ndarray], chosen: Mapping[str, str]
) -> dict[str, tuple[float, float]]:
    """Return mean and standard deviation of every method."""
    columns = {method: errors[chosen.get(method, method)] for method in printed.METHODS}
    return {key: (float(v.mean()), float(v.std(ddof=1))) for key, v in columns.items()}


def not_worse(statistics: Statistics, n: int) -> list[str]:
    """Return the best method, and those that a t-test does not tell from it."""
    best = min(statistics, key=lambda method: statistics[method][0])

    def differs(method: str) -> bool:
        (mean, spread), (least, other) = statistics[method], statistics[best]
        test = ttest_ind_from_stats(mean, max(spread, 1e-9), n, least, max(other, 1e-9), n)
        return bool(test.pvalue < printed.SIGNIFICANCE)

    return [method for method in printed.METHODS if method == best or not differs(method)]


def unlike(theirs: Statistics, ours: Statistics, n: int) -> dict[str, float]:
    """Return our mean less theirs for the methods where Welch's test tells them apart."""
    gaps = {}
    for method in theirs:
        test = ttest_ind_from_stats(*ours[method], n, *theirs[method], n, equal_var=False)
        if test.pvalue < printed.SIGNIFICANCE:
            gaps[method] = ours[method][0] - theirs[method][0]
    return gaps


def lines(
    name: str, published: Sequence[tuple[float, float]], ours: Statistics | None
) -> list[list[object]]:
    """Return the lines of a data set: printed, and ours."""
    theirs = dict(zip(printed.METHODS, published, strict=True))
    rows: list[list[object]] = []
    for who, numbers in (("printed", theirs), ("ours", ours)):
        if numbers is None:
            rows.append([f"{who}: {name}", *["-"] * len(printed.METHODS), "no data"])
            continue
        cells = [f"{numbers[m][0]:.2f} ± {numbers[m][1]:.2f}" for m in printed.METHODS]
        rows.append([f"{who}: {name}", *cells, ", ".join(not_worse(numbers, printed.REPETITIONS))])
    return rows


def show(header: Row, rows: Sequence[Row]) -> None:
    for row in (header, ["---"] * len(header), *rows):
        print(f"| {' | '.join(f'{c:.2f}' if isinstance(c, float) else str(c) for c in row)} |")
    print()


def preparations(table: Mapping[str, Sequence], module: object, what: str) -> None:
    """Print which preparation of the data gives the printed error of the nearest neighbour."""
    times = printed.REPETITIONS
    print(f"\nError of the nearest neighbour by how {what} are prepared, {times} repetitions:\n")
    find: Callable = module.neighbour_means  # type: ignore[attr-defined]
    names = [name for name in table if available(name)]
    found = {name: find(name, range(printed.REPETITIONS)) for name in names}
    keys = list(next(iter(found.values())))
    rows = [[key, *(found[name][key] for name in names)] for key in keys]
    theirs = [table[name][0][0] for name in names]
    gaps = [float(np.mean(np.abs(np.array(row[1:], dtype=float) - theirs))) for row in rows]
    show(
        ["", *names, "mean difference"],
        [["printed", *theirs, ""], *([*row, gap] for row, gap in zip(rows, gaps, strict=True))],
    )


def table(published: Mapping[str, Sequence], module: object, choices: Sequence[str]) -> None:
    """Print a table of the paper beside ours, and the choices that were made for ours."""
    find: Callable = module.errors  # type: ignore[attr-defined]
    rows: list[list[object]] = []
    other: list[list[object]] = []
    gaps: list[str] = []
    for name, numbers in published.items():
        if not available(name):
            rows += lines(name, numbers, None)
            continue
        errors = find(name, range(printed.REPETITIONS))
        chosen = {"KPLS": best_of(errors, "KPLS"), "AKDA/QR": choices[0]}
        ours = summary(errors, chosen)
        rows += lines(name, numbers, ours)
        found = unlike(dict(zip(printed.METHODS, numbers, strict=True)), ours, printed.REPETITIONS)
        gaps += [f"{name} {method} ({gap:+.2f})" for method, gap in found.items()]
        features = chosen["KPLS"].split(", ")[1]
        other.append([name, features, *(float(errors[choice].mean()) for choice in choices)])
    show(["error, %", *printed.METHODS, "best, by t-test"], rows)
    print(f"Unlike the printed mean by Welch's test at {printed.SIGNIFICANCE}: {', '.join(gaps)}\n")
    show(["", "features of KPLS", *choices], other)


def iterations() -> None:
    """Print how the error of SKFE depends on the length of the search, ours and the paper's."""
    print(f"Error of SKFE by the number of iterations, {len(FEW)} repetitions:\n")
    rows: list[Row] = []
    for name, module in ITERATED.items():
        theirs = {**printed.GENES, **printed.TEXTS}[name][-1][0]
        for search in SEARCHES:
            found = module.errors_by_iterations(name, SEARCHES[search], ITERATIONS, FEW)
            rows.append([f"{name}, {search}", *found, theirs])
    show(["", *(str(n) for n in ITERATIONS), "printed"], rows)


def available(name: str) -> bool:
    folder = local_data_folder()
    return folder is not None and (folder / name).is_dir()


def main(output: Path) -> None:
    """Print everything; there is nothing to draw."""
    if local_data_folder() is None:
        print(f"wu2007: skipped; set {DATA_VARIABLE} to the folder with the papers' data sets")
        return
    print("## Which data\n")
    preparations(printed.GENES, genes, "gene expressions")
    preparations(printed.TEXTS, texts, "counts of words")
    print("## Table 2: gene expressions, Gaussian kernel, best 5-fold cross-validation error\n")
    table(printed.GENES, genes, ("AKDA/QR, projected", "AKDA/QR, factor"))
    print("## Table 3: text, linear kernel, half of each class to train\n")
    table(printed.TEXTS, texts, ("AKDA/QR, balanced", "AKDA/QR, by size"))
    print("## How long to search\n")
    iterations()
