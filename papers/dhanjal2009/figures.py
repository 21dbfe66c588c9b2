"""Figures 2 and 3: what sparse directions cost, and how few columns a step needs to look at.

The functions above the pictures are pure: numbers in, curves out. Tests use them too.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernelsieve import SparseMaximalAlignment, SparseMaximalCovariance
from kernelsieve.datasets import DATA_VARIABLE, local_data_folder, make_sparse_linear

from . import stability
from .pictures import new_figure, save, style

CRITERIA = {"covariance": SparseMaximalCovariance, "alignment": SparseMaximalAlignment}
NAMES = {"covariance": "cumulative square covariance", "alignment": "cumulative alignment"}
SYMBOLS = {"covariance": "B(S)", "alignment": "D(S)"}
METHODS = {"covariance": "SMC", "alignment": "SMA"}
DRAWS = range(10)  # of the data; the paper shows one, and one draw decides little

SPARSITIES = (1, 2, 3)  # examples in a direction, p
MOST_EVALUATIONS = 90  # so 90, 45 and 30 directions: triples of 100 examples are many

SUBSETS = (25, 50, 100, 200, 500, 2000)
ALL = SUBSETS[-1]
N_FEATURES = 100


# ---------------------------------------------------------------------- figure 2


@dataclass(frozen=True)
class Curve:
    """What p-sparse directions gather, after every direction."""

    total: np.ndarray  # B(S) or D(S)
    evaluations: np.ndarray  # kernel evaluations for a new example, r

    @property
    def per_evaluation(self) -> np.ndarray:
        return self.total / self.evaluations

    def total_at(self, evaluations: np.ndarray) -> np.ndarray:
        """Return the total at given numbers of evaluations, on straight lines between directions.

        Beyond the last direction nothing is known.
        """
        return np.interp(evaluations, [0, *self.evaluations], [0, *self.total], right=np.nan)


def sparse_curve(criterion: str, p: int, seed: int, most_evaluations: int) -> Curve:
    """Return the curve of p-sparse directions on one draw of 100 x 1,000 data."""
    X, y = make_sparse_linear(100, 1000, n_informative=50, random_state=seed)
    estimator = CRITERIA[criterion](
        most_evaluations // p, kernel="linear", candidates="all", n_nonzero=p, tol=1e-20
    ).fit(X, y)
    # A direction may use an example again, which costs nothing: distinct landmarks are counted.
    lengths = range(1, estimator.n_components_ + 1)
    evaluations = np.array([len(estimator.truncate(j).landmark_indices_) for j in lengths])
    return Curve(np.cumsum(estimator.criterion_path_), evaluations)


def figure2(
    criterion: str, draws: Iterable[int] = DRAWS, most_evaluations: int = MOST_EVALUATIONS
) -> dict[int, list[Curve]]:
    """Return for every p one curve for each draw of the data."""
    seeds = list(draws)
    return {
        p: [sparse_curve(criterion, p, seed, most_evaluations) for seed in seeds] for p in SPARSITIES
    }


def mean_per_evaluation(curves: list[Curve]) -> np.ndarray:
    """Return B(S)/r or D(S)/r against the number of features, as the paper draws it."""
    return np.mean([curve.per_evaluation for curve in curves], axis=0)


def relative_with(curves: Mapping[int, list[Curve]], p: int) -> np.ndarray:
    """Return p-sparse directions' mean per evaluation relative to as many 1-sparse ones."""
    mine, one = mean_per_evaluation(curves[p]), mean_per_evaluation(curves[1])
    return mine / one[: len(mine)]


def relative_at(curves: Mapping[int, list[Curve]], p: int, evaluations: np.ndarray) -> np.ndarray:
    """Return what p-sparse directions gather relative to 1-sparse ones for the same evaluations.

    A line for each draw.
    """
    pairs = zip(curves[p], curves[1], strict=True)
    return np.array([mine.total_at(evaluations) / one.total_at(evaluations) for mine, one in pairs])


# ---------------------------------------------------------------------- figure 3


def subset_curve(criterion: str, K: np.ndarray, y: np.ndarray, subset: int, seed: int) -> np.ndarray:
    """Return the cumulative criterion when every step looks at fresh random columns of K."""
    everyone = subset >= len(K)
    estimator = CRITERIA[criterion](
        N_FEATURES,
        kernel="precomputed",
        candidates="all" if everyone else subset,
        tol=1e-20,
        resample=not everyone,
        block_size=len(K),  # columns of K lie in one piece in memory: do not cut them
        random_state=seed,
    )
    return np.cumsum(estimator.fit(K, y).criterion_path_)


def figure3(
    draws: Iterable[int] = DRAWS, subsets: Iterable[int] = SUBSETS
) -> dict[str, dict[int, np.ndarray]]:
    """Return for every criterion and subset the cumulative curves, a line for each draw."""
    sizes = list(subsets)
    curves: dict[str, dict[int, list[np.ndarray]]] = {
        criterion: {size: [] for size in sizes} for criterion in CRITERIA
    }
    for seed in draws:
        X, y = make_sparse_linear(ALL, 1000, n_informative=50, random_state=seed)
        K = (X @ X.T).T  # the linear kernel once for all curves, in the order that columns are read
        for criterion, by_size in curves.items():
            for size in sizes:
                by_size[size].append(subset_curve(criterion, K, y, size, seed))
    return {
        criterion: {size: np.array(lines) for size, lines in by_size.items()}
        for criterion, by_size in curves.items()
    }


def share_of_all(curves: Mapping[int, np.ndarray], subset: int) -> np.ndarray:
    """Return the curves of a subset relative to those of all columns, a line for each draw."""
    return curves[subset] / curves[ALL]


# ---------------------------------------------------------------------- pictures


def draw_figure2(results: Mapping[str, Mapping[int, list[Curve]]], path: Path) -> Path:
    """Above, the paper's figure; below, the same curves for equal numbers of evaluations."""
    figure, panels = new_figure(2, 7.6)
    for (upper, lower), (criterion, curves) in zip(panels.T, results.items(), strict=True):
        for place, p in enumerate(SPARSITIES):
            values = mean_per_evaluation(curves[p])
            features = np.arange(1, len(values) + 1)
            upper.plot(features, values, label=f"{p}-sparse", **style(place, 5))
        upper.set(
            title=f"p-{METHODS[criterion]}",
            xlabel="number of features",
            ylabel=f"{NAMES[criterion]}\nper kernel evaluation, {SYMBOLS[criterion]}/r",
            ylim=(0, None),
        )
        upper.ticklabel_format(axis="y", scilimits=(-3, 3))
        draw_relative(lower, curves)
    return save(figure, panels, "examples in a direction", path)


def draw_relative(panel: Any, curves: Mapping[int, list[Curve]]) -> None:
    """Draw how much more or less than 1-sparse directions the others give for as many evaluations."""
    at = np.arange(3, common_evaluations(curves) + 1)
    for place, p in enumerate(SPARSITIES):
        percent = 100 * (relative_at(curves, p, at) - 1)
        look = style(place, 6)
        panel.plot(at, percent.mean(axis=0), **look)
        if p > 1:
            low, high = percent.min(axis=0), percent.max(axis=0)
            panel.fill_between(at, low, high, color=look["color"], alpha=0.15, linewidth=0)
    panel.set(
        xlabel="number of kernel evaluations, r",
        ylabel="relative to 1-sparse, %\n(mean and range of the draws)",
    )


def common_evaluations(curves: Mapping[int, list[Curve]]) -> int:
    """Return the most evaluations that every curve reaches."""
    return int(min(curve.evaluations[-1] for of_p in curves.values() for curve in of_p))


def draw_figure3(results: Mapping[str, Mapping[int, np.ndarray]], path: Path) -> Path:
    """Draw the cumulative criteria against the number of features, the mean of all draws."""
    figure, panels = new_figure(1, 4.6)
    for panel, (criterion, curves) in zip(panels[0], results.items(), strict=True):
        for place, size in enumerate(reversed(SUBSETS)):
            values = curves[size].mean(axis=0)
            name = f"all {size:,}" if size == ALL else f"{size}"
            panel.plot(np.arange(1, len(values) + 1), values, label=name, **style(place, 10))
        panel.set(
            title=METHODS[criterion],
            xlabel="number of features",
            ylabel=f"{NAMES[criterion]}, {SYMBOLS[criterion]}",
            ylim=(0, None),
        )
    return save(figure, panels, "kernel columns that every step looks at", path)


# ---------------------------------------------------------------------- statements


def state_figure2(results: Mapping[str, Mapping[int, list[Curve]]]) -> None:
    """Print whether 1-sparse directions give most for a kernel evaluation."""
    print("Figure 2: p-sparse directions relative to 1-sparse ones, per kernel evaluation")
    features, evaluations = np.array([1, 2, 5, 10, 20, 30]), np.array([6, 12, 24, 36, 48, 60, 72])
    for criterion, curves in results.items():
        print(f"  {METHODS[criterion]}, {criterion}; mean of {len(curves[1])} draws")
        print_line("with as many features:", features, "d")
        for p in SPARSITIES[1:]:
            print_line(f"  {p}-sparse", relative_with(curves, p)[features - 1], ".3f")
        print_line("for as many evaluations:", evaluations, "d")
        for p in SPARSITIES[1:]:
            print_line(f"  {p}-sparse", relative_at(curves, p, evaluations).mean(axis=0), ".3f")


def state_figure3(results: Mapping[str, Mapping[int, np.ndarray]]) -> None:
    """Print how near random subsets come to all columns."""
    print(f"Figure 3: share of what all {ALL:,} columns give")
    features = np.array([10, 20, 50, 100])
    for criterion, curves in results.items():
        print(f"  {METHODS[criterion]}, {criterion}; mean of {len(curves[ALL])} draws")
        print_line("features:", features, "d")
        for size in SUBSETS[:-1]:
            share = share_of_all(curves, size)[:, features - 1]
            print_line(f"  {size} columns", share.mean(axis=0), ".3f")
        lowest = share_of_all(curves, 500)[:, -1].min()
        print(f"    500 columns, {N_FEATURES} features, worst draw: {lowest:.3f}")


def print_line(name: str, values: np.ndarray, how: str) -> None:
    print(f"    {name:<26}" + "".join(f"{format(value, how):>8}" for value in values))


def main(output: Path) -> None:
    """Compute the figures, print what they say, and draw them into a folder."""
    start = time.perf_counter()
    print("Dhanjal, Gunn and Shawe-Taylor (2009)")
    second = {criterion: figure2(criterion) for criterion in CRITERIA}
    state_figure2(second)
    print(f"  {draw_figure2(second, output / 'dhanjal2009_fig2.png')}")
    third = figure3()
    state_figure3(third)
    print(f"  {draw_figure3(third, output / 'dhanjal2009_fig3.png')}")
    if local_data_folder() is None:
        print(f"Figure 4 is skipped: set {DATA_VARIABLE} to the folder with the papers' data sets")
    else:
        stability.main(output)
    print(f"  {time.perf_counter() - start:.0f} s")
