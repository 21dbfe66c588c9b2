"""Figures 1 to 3 and Table 1: compute, print, draw."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from kernelsieve.exceptions import InvalidDataError

from . import classes, regression, scaling
from .pictures import NAMES, curve_name, draw_figure1, draw_figure2, draw_figure3

SHOWN = (1, 2, 5, 10, 15, 20, 25, 30, 40, 50)  # numbers of features


def print_line(name: str, values: Iterable[object], how: str = "") -> None:
    print(f"    {name:<28}" + "".join(f"{format(value, how):>9}" for value in values))


# ---------------------------------------------------------------------- statements


def state_figure1(curves: Mapping[tuple[str, float], regression.Curve]) -> None:
    """Print both panels, and where each curve is lowest."""
    print(f"Figure 1: Boston Housing, {regression.FOLDS}-fold cross-validation")
    print("  Q^2 against the number of features")
    print_line("features", SHOWN)
    for key, curve in curves.items():
        found = [k for k in SHOWN if k <= len(curve.error)]
        print_line(curve_name(key), [curve.error[k - 1] for k in found], ".3f")
    print("  share of the rows that are support vectors")
    print_line("features", SHOWN)
    for key, curve in curves.items():
        found = [k for k in SHOWN if k <= len(curve.error)]
        print_line(curve_name(key), [curve.support[k - 1] for k in found], ".3f")
    print("  where Q^2 is lowest; how many numbers of features are within 10 % of it")
    print_line("", ("features", "Q^2", "support", "within"))
    for key, curve in curves.items():
        lowest = curve.error.min()
        near = int((curve.error <= 1.1 * lowest).sum())
        values = (curve.best, f"{lowest:.3f}", f"{curve.support[curve.best - 1]:.3f}", near)
        print_line(curve_name(key), values)


def state_figure2(name: str, points: Mapping[str, Mapping[float, regression.Point]]) -> None:
    """Print errors and support vectors of the models that inner cross-validation chose."""
    print(f"Figure 2: {regression.TITLES[name]}, {regression.FOLDS} outer folds", end="")
    print(f", {regression.INNER_FOLDS} inner folds")
    print_line("nu", regression.NUS)
    for method, by_nu in points.items():
        print_line(f"{NAMES[method]}: Q^2", [p.error for p in by_nu.values()], ".3f")
        print_line(f"{NAMES[method]}: support", [p.support for p in by_nu.values()], ".3f")
        what = "C" if method == "svm" else "features"
        print_line(f"{NAMES[method]}: {what}", [p.parameter for p in by_nu.values()], "g")


def state_table1(results: Mapping[str, Mapping[str, classes.Result]]) -> None:
    """Print errors and numbers of support vectors."""
    print(
        f"Table 1: per cent of test rows misclassified, {classes.REPETITIONS} splits, nu = {classes.NU}"
    )
    print_line("", classes.METHODS, ">13")
    for name, by_method in results.items():
        cells = [f"{found.error:.1f} ± {found.spread:.1f}" for found in by_method.values()]
        print_line(name, cells, ">13")
    print("  number of support vectors")
    for name, by_method in results.items():
        print_line(name, [f"{found.n_support:.0f}" for found in by_method.values()], ">13")


def state_figure3(results: Mapping[str, Mapping[int, scaling.Training]]) -> None:
    """Print seconds, and how they grow."""
    print(
        f"Figure 3: {scaling.data_name()}, one thread; stopped at a mean squared training error of ",
        end="",
    )
    print(f"{scaling.level(results[scaling.SVM]):.3f}")
    sizes = [f"{size:,}" for size in scaling.SIZES]
    print("  seconds to train, and the fitted exponent of the number of rows")
    print_line("rows", [*sizes, "exponent"])
    for name, runs in results.items():
        cells = [f"{run.seconds:.3f}" for run in runs.values()]
        print_line(name, [*cells, f"{scaling.exponent(runs):.2f}"])
    print("  features")
    for name in list(results)[1:]:
        print_line(name, [run.n_features for run in results[name].values()])
    print("  support vectors")
    for name, runs in results.items():
        print_line(name, [run.n_support for run in runs.values()])


# ---------------------------------------------------------------------- all


def run_regression(output: Path) -> None:
    data = {name: regression.load(name) for name in regression.TITLES}
    curves = regression.figure1(data["boston"])
    state_figure1(curves)
    print(f"  {draw_figure1(curves, output / 'momma2005_fig1.png')}")
    results = {}
    for name, rows in data.items():
        results[name] = regression.figure2(rows)
        state_figure2(name, results[name])
    print(f"  {draw_figure2(results, output / 'momma2005_fig2.png')}")


def run_classes() -> None:
    state_table1(classes.table1())


def run_scaling(output: Path) -> None:
    results = scaling.scaling()
    state_figure3(results)
    print(f"  {draw_figure3(results, scaling.data_name(), output / 'momma2005_fig3.png')}")


def main(output: Path) -> None:
    """Compute everything, print what it says, and draw it into a folder."""
    start = time.perf_counter()
    print("Momma (2005)")
    run_scaling(output)
    try:
        run_regression(output)
        run_classes()
    except InvalidDataError as error:
        print(f"Figures 1 and 2, Table 1: skipped. {error}")
    print(f"  {time.perf_counter() - start:.0f} s")
