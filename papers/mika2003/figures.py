"""Figure 1, Table 1 and the digits of section 5.1: compute, print, draw."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kernelsieve.displays import FeatureMapDisplay
from kernelsieve.exceptions import InvalidDataError

from . import ida, plane, usps
from .printed import DIGITS, TABLE1


def state_figure1(found: Mapping[str, Mapping[str, float]]) -> None:
    """Print how far the first features change under small transformations."""
    print("Figure 1: mean change of the first feature, in its own standard deviations")
    print(f"    {'':<36}{'rotation':>12}{'translation':>13}")
    for name, by_move in found.items():
        print(f"    {name:<36}{by_move['rotation']:>12.4f}{by_move['translation']:>13.4f}")


def draw_figure1(X: np.ndarray, path: Path) -> Path:
    """Draw contours of the three first features."""
    from matplotlib.figure import Figure

    models = plane.analyses(X)
    # "compressed" leaves room for the labels of axes that keep their aspect
    figure = Figure(figsize=(13, 4), layout="compressed")
    figure.get_layout_engine().set(wspace=0.06)
    for axes, (name, model) in zip(figure.subplots(1, 3), models.items(), strict=True):
        FeatureMapDisplay.from_estimator(model, X, ax=axes)
        axes.set(title=name, aspect="equal")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    return path


def state_table1(name: str, by_method: Mapping[str, tuple[ida.Choice, ida.Result]]) -> None:
    """Print one line of the table: ours, and what was printed."""
    lines: dict[str, list[str]] = {name: [], "  printed": [], "  least squares": [], "  c, C": []}
    for method, (choice, result) in by_method.items():
        error, spread, zeros = TABLE1[name][method]
        cells = (
            f"{result.error:.1f} ± {result.standard_error:.2f} ({result.zeros:.0f})",
            f"{error:.1f} ± {spread:.2f} ({zeros:.0f})",
            "" if method == "SVM" else f"{result.other_error:.1f}",
            f"{choice.width:g}, {choice.cost:g}",
        )
        for line, cell in zip(lines.values(), cells, strict=True):
            line.append(cell)
    for label, line in lines.items():
        print(f"    {label:<16}" + "".join(f"{cell:>20}" for cell in line), flush=True)


def far_from_printed(
    table: Mapping[str, Mapping[str, tuple[ida.Choice, ida.Result]]],
) -> dict[str, list[str]]:
    """Return the cells more than two standard errors, of both means together, above and below."""
    far: dict[str, list[str]] = {"above": [], "below": []}
    for name, by_method in table.items():
        for method, (_, result) in by_method.items():
            error, spread, _ = TABLE1[name][method]
            gap = (result.error - error) / np.hypot(result.standard_error, spread)
            if abs(gap) > 2:
                far["above" if gap > 0 else "below"].append(f"{name} {method}")
    return far


def state_digits(what: str, results: Mapping[str, usps.Result]) -> None:
    """Print the errors on the test digits."""
    print(f"Section 5.1: per cent of 2,007 test digits misclassified, {what}")
    for name, result in results.items():
        printed = f"printed {DIGITS[name]}" if name in DIGITS else ""
        print(f"    {name:<36}{result.error:>7.2f}   {result.seconds:>6.1f} s   {printed}", flush=True)


def main(output: Path) -> None:
    """Compute everything, print what it says, and draw it into a folder."""
    start = time.perf_counter()
    print("Mika et al. (2003)")
    X = plane.square()
    state_figure1(plane.changes(X))
    print(f"  {draw_figure1(X, output / 'mika2003_fig1.png')}")
    try:
        for smoothing in (0.0, usps.SMOOTHING):
            train, test = usps.load(smoothing)
            what = f"smoothed with width {smoothing}" if smoothing else "pixels as they are"
            state_digits(what, usps.digits(train, test))
        print(
            f"Table 1: per cent of test errors ± standard error of {ida.REALISATIONS} realisations "
            "(per cent of zero\n  coefficients); printed; with a threshold by least squares; parameters"
        )
        print(f"    {'':<16}" + "".join(f"{method:>20}" for method in ida.METHODS))
        table = {}
        for name in TABLE1:
            table |= ida.table1([name])
            state_table1(name, table[name])
        for where, cells in far_from_printed(table).items():
            print(f"  more than two standard errors {where} the printed error: {', '.join(cells)}")
    except InvalidDataError as error:
        print(f"Table 1 and the digits: skipped. {error}")
    print(f"  {time.perf_counter() - start:.0f} s")
