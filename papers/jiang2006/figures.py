"""All tables and figures: compute, print beside what the paper prints, draw."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from kernelsieve.exceptions import InvalidDataError

from . import faces, plane, printed
from .methods import METHODS
from .pictures import (
    draw_figure1,
    draw_figure2,
    draw_figure4,
    draw_figure5,
    draw_table2_and_figure3,
)


def print_line(name: str, values: Iterable[object], how: str = "") -> None:
    print(f"    {name:<34}" + "".join(f"{format(value, how):>8}" for value in values))


# ---------------------------------------------------------------------- statements


def state_table1(results: Mapping[int, Sequence[plane.Draw]]) -> None:
    """Print times relative to the dense solver, and how they grow."""
    print("Table 1: time relative to kernel PCA with a dense solver, and the fitted exponent of n")
    print_line("points", [*(f"{size:,}" for size in printed.SIZES), "power", "stated"])
    for method in METHODS:
        ratios = np.divide(printed.SECONDS[method], printed.SECONDS["KPCA"])
        power = plane.exponent(printed.SIZES, printed.SECONDS[method])
        powers = (f"{power:.2f}", f"{printed.EXPONENTS[method]:.2f}")
        print_line(f"printed: {method}", [*map("{:.4f}".format, ratios), *powers])
    for name in plane.CONTENDERS:
        values = plane.seconds(results, name)
        ratios = values / plane.seconds(results, plane.DENSE)
        power = plane.exponent(list(results), values)
        print_line(f"ours: {name}", [*map("{:.4f}".format, ratios), f"{power:.2f}"])


def state_table2(results: Mapping[int, Sequence[plane.Draw]]) -> None:
    """Print errors over the draws, and whether the printed ones lie among them."""
    print(f"Table 2: reconstruction error, 10 features; {len(plane.DRAWS)} draws")
    print_line("points, method", ("printed", "mean", "sd", "min", "max", "within", "sds off"))
    inside = 0
    for size, draws in results.items():
        for method in METHODS:
            shown = printed.ERRORS[method][printed.SIZES.index(size)]
            found = plane.errors(draws, method)
            within = bool(found.min() <= shown <= found.max())
            inside += within
            spread = found.std(ddof=1)
            values = (shown, found.mean(), spread, found.min(), found.max())
            last = ("yes" if within else "no", f"{(shown - found.mean()) / spread:+.1f}")
            print_line(f"{size:,} {method}", [*map("{:.4f}".format, values), *last])
    print(f"    {inside} of {len(results) * len(METHODS)} printed values lie within the spread")
    print("    not centred, 500 points:")
    for method in METHODS:
        found = plane.errors_about_the_origin(method, 500)
        print_line(f"500 {method}", (printed.ERRORS[method][0], found.mean()), ".4f")


def state_figure2(results: Mapping[float, plane.TradeOff]) -> None:
    """Print what a cutoff costs and saves."""
    print(f"Figure 2: ACKFA, {plane.TRADE_OFF_SIZE:,} points, {plane.TRADE_OFF_FEATURES} features")
    print_line("cutoff", ("error", "time", "fewest"))
    for cutoff, found in results.items():
        ratio = np.median(found.seconds / results[0.0].seconds)
        values = (f"{found.error.mean():.4f}", f"{ratio:.2f}", found.n_features.min())
        print_line(f"{cutoff:.2f}", values)
    print(f"    printed without a cutoff: {printed.ERROR_WITHOUT_CUTOFF}")


def state_figure3(results: Mapping[int, Sequence[plane.Draw]]) -> None:
    """Print the sums of projection variances."""
    print("Figure 3: sum of the projection variances of 10 features, mean of the draws")
    print_line("points", [f"{size:,}" for size in results])
    for method in METHODS:
        sums = [plane.projections(draws, method).mean() for draws in results.values()]
        print_line(method, sums, ".4f")


def state_figure4(distances: Mapping[float, Mapping[str, np.ndarray]]) -> None:
    """Print how near the chosen points are to the vertices, for crosses of several sizes."""
    print("Figure 4: mean distance from the nearest of the cross's 12 vertices; 10 draws")
    print_line("side of the squares", ("mean", "min", "max"))
    for side, by_name in distances.items():
        for name, values in by_name.items():
            print_line(f"{side:g}: {name}", (values.mean(), values.min(), values.max()), ".2f")


def state_faces(found: faces.Recognition) -> None:
    """Print Table 3, Figure 5 and Table 4 beside what the paper has."""
    print("Table 3: per cent of 165 faces recognised, 80 features, 10 neighbours; relative time")
    print_line("width", [*printed.WIDTHS, "time"])
    for method in METHODS:
        ratio = printed.FACE_SECONDS[method] / printed.FACE_SECONDS["KPCA"]
        shown = [f"{value:.2f}" for value in printed.ACCURACIES[method]]
        print_line(f"printed: {method}", [*shown, f"{ratio:.2f}"])
        reached = [f"{found.accuracy(method, width):.2f}" for width in printed.WIDTHS]
        print_line(f"ours: {method}", [*reached, f"{found.relative_time(method):.2f}"])
    ours = {m: np.array([found.accuracy(m, width) for width in printed.WIDTHS]) for m in METHODS}
    print(f"    mean difference from the printed accuracies: {faces.gap(ours):.2f}")
    print(f"Figure 5: per cent recognised with width {faces.SIGMA}, by neighbours")
    counts = (1, 2, 3, 5, 7, 10, 12, 15, 20)
    print_line("neighbours", counts)
    for method in METHODS:
        print_line(method, [found.accuracy(method, faces.SIGMA, k) for k in counts], ".2f")
    state_confusion(found)


def state_confusion(found: faces.Recognition) -> None:
    table = found.confusion("AKFA", faces.SIGMA)
    print(f"Table 4: AKFA, width {faces.SIGMA}, 10 neighbours; faces of each person recognised")
    print_line("printed", printed.CORRECT, "d")
    print_line("ours", table.diagonal(), "d")
    print(f"    taken for the first person: printed {printed.TAKEN_FOR_THE_FIRST}", end="")
    print(f", ours {table[1:, 0].sum()}; errors in all: printed {165 - sum(printed.CORRECT)}", end="")
    print(f", ours {table.sum() - table.trace()}")
    print(f"    ours: {found.side_lit_errors('AKFA', faces.SIGMA)} of them lit from one side")


def state_readings(data: faces.Faces) -> None:
    """Print how the ways to prepare images compare; features are found once, from all faces."""
    print("Ways to prepare images: mean difference from Table 3, accuracy at width 24, linear PCA")
    print_line("", ("differ", *METHODS, "linear"))
    place = printed.WIDTHS.index(faces.SIGMA)
    for (images, normalisation), found in faces.compare_readings(data).items():
        rows = data.prepared(images, normalisation)
        linear = faces.linear_accuracy(rows, data.people, 50, 5)
        print(f"    {images}, {normalisation}")
        print_line("", (faces.gap(found), *(found[m][place] for m in METHODS), linear), ".2f")
    print(f"    printed for linear PCA, 50 features, 5 neighbours: {printed.LINEAR_ACCURACY}")


# ---------------------------------------------------------------------- all


def run_plane(output: Path) -> None:
    results = plane.circle(printed.SIZES)
    state_table1(results)
    print(f"  {draw_figure1(results, output / 'jiang2006_fig1.png')}")
    state_table2(results)
    trade_off = plane.figure2()
    state_figure2(trade_off)
    print(f"  {draw_figure2(trade_off, output / 'jiang2006_fig2.png')}")
    state_figure3(results)
    print(f"  {draw_table2_and_figure3(results, output / 'jiang2006_fig3.png')}")
    state_figure4({side: plane.corner_distances(side) for side in plane.CROSS_SIDES})
    print(f"  {draw_figure4(plane.figure4(), output / 'jiang2006_fig4.png')}")


def run_faces(output: Path) -> None:
    try:
        data = faces.load_faces()
    except InvalidDataError as error:
        print(f"Tables 3 and 4, Figure 5: skipped. {error}")
        return
    found = faces.recognise(data)
    state_faces(found)
    print(f"  {draw_figure5(found, output / 'jiang2006_fig5.png')}")
    state_readings(data)


def main(output: Path) -> None:
    """Compute everything, print what it says, and draw it into a folder."""
    start = time.perf_counter()
    print("Jiang, Snapp, Motai and Zhu (2006)")
    run_plane(output)
    run_faces(output)
    print(f"  {time.perf_counter() - start:.0f} s")
