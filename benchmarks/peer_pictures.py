"""Pictures of the benchmark of peers, drawn from its kept record."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .peer_methods import OURS
from .record import Record

EQUAL = "error at equal kernel evaluations"
AGAINST_TIME = "error against fit time, "
DRAWN = ("SMA", "AKFA", "Nystroem", "RBFSampler", "pivoted Cholesky", "skmatter FPS", "GPyTorch SGPR")
TIMED = (
    *("SMA", "AKFA", "our KernelPLS", "Sieve", "Nystroem", "accelerated Cholesky", "GPyTorch SGPR"),
    *("KernelPCA", "KernelRidge", "SVR or SVC", "HistGradientBoosting", "xRFM"),
)
GROWING = (  # a method with all solvers, or a rival of its kind, is in the table alone
    *("SMA", "our KernelPLS", "Sieve", "Nystroem", "accelerated Cholesky"),
    *("KernelPCA, randomized", "KernelRidge", "HistGradientBoosting"),
)
MARKS = "osD^v<>PX*hp8dH"
# Those of Okabe and Ito, which colour-blind readers can tell apart; marks and dashes do for grey print.
COLOURS = ("#e69f00", "#56b4e9", "#009e73", "#d55e00", "#cc79a7", "#0072b2")
DIGITS = ((4, range(1, 10)), (100, (1, 2, 5)))  # first digits of ticks, up to a ratio of the ends


def subplots(n: int, height: float = 3.2) -> tuple[Any, list[Any]]:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    columns = min(n, 3)
    lines = -(-n // columns)
    size = (11, height * lines)
    figure, axes = plt.subplots(lines, columns, figsize=size, layout="constrained", squeeze=False)
    for ax in axes.flat[n:]:
        ax.set_visible(False)
    return figure, list(axes.flat[:n])


def logarithmic(ax: Any) -> None:
    """Make both axes logarithmic, with as many plain numbers on them as there is room for."""
    from matplotlib.ticker import LogLocator, NullLocator

    ax.set(xscale="log", yscale="log")
    ax.autoscale_view()
    for axis in (ax.xaxis, ax.yaxis):
        low, high = axis.get_view_interval()
        digits = next((some for most, some in DIGITS if high < most * low), (1,))
        axis.set_major_locator(LogLocator(subs=digits))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter("{x:g}")
        axis.set_tick_params(labelsize="small")
    ax.grid(color="0.92")


def style(name: str, place: int) -> dict[str, Any]:
    """Return a style that grey print can tell apart, too: ours are black and thick."""
    ours = name in OURS
    return {
        "color": "black" if ours else COLOURS[place % len(COLOURS)],
        "linewidth": 2.0 if ours else 1.0,
        "linestyle": ("-", "--", ":", "-.")[place % 4],
        "marker": MARKS[place % len(MARKS)],
        "markersize": 5,
        "label": name,
    }


def numbers(pairs: Iterable[tuple[object, object]]) -> list[tuple[float, float]]:
    return [(a, b) for a, b in pairs if isinstance(a, int | float) and isinstance(b, int | float)]


def draw_errors(record: Record) -> Any:
    """Draw errors against kernel evaluations, a picture for each set."""
    (found,) = record.tables(EQUAL)
    header, rows = found["header"], found["rows"]
    sets = list(dict.fromkeys(row[0] for row in rows))
    figure, axes = subplots(len(sets))
    for ax, name in zip(axes, sets, strict=True):
        for place, method in enumerate(m for m in DRAWN if m in header):
            column = header.index(method)
            points = numbers((row[1], row[column]) for row in rows if row[0] == name)
            if points:
                ax.plot(*zip(*points, strict=True), **style(method, place))
        ax.set(title=name, xlabel="kernel evaluations, k", ylabel="error")
        logarithmic(ax)
        ax.set_xticks([row[1] for row in rows if row[0] == name])
    add_legend(figure, axes)
    return figure


def first_number(text: object) -> float:
    """Return the median of a cell that shows the range behind it."""
    return float(str(text).split(" ")[0].replace(",", ""))


def draw_times(record: Record) -> Any:
    """Draw errors against seconds to choose and fit, a picture for each set."""
    titles = [p["heading"] for p in record.parts if p.get("heading", "").startswith(AGAINST_TIME)]
    figure, axes = subplots(len(titles), 3.6)
    for ax, title in zip(axes, titles, strict=True):
        (found,) = record.tables(title)
        for place, method in enumerate(TIMED):
            rows = [row for row in found["rows"] if row[0] == method]
            if not rows:
                continue
            points = [(first_number(row[5]), first_number(row[3])) for row in rows]
            ax.plot(*zip(*points, strict=True), **style(method, place))
        name = title.removeprefix(AGAINST_TIME).partition(":")[0]
        ax.set(title=name, xlabel="seconds to choose and fit", ylabel="error")
        logarithmic(ax)
    add_legend(figure, axes)
    return figure


def add_legend(figure: Any, axes: list[Any]) -> None:
    """Name each method once, below all axes."""
    known = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        known |= dict(zip(labels, handles, strict=True))
    figure.legend(known.values(), known.keys(), loc="outside lower center", ncols=7, fontsize="small")


def draw_growth(record: Record) -> Any:
    """Draw seconds, rates and megabytes against the number of samples."""
    kinds = (
        ("fit time against n", "seconds to fit"),
        ("predict rate against n", "rows a second"),
        ("peak memory against n", "megabytes"),
    )
    figure, axes = subplots(len(kinds), 4.0)
    for ax, (title, label) in zip(axes, kinds, strict=True):
        (found,) = record.tables(title)
        n = [int(text.removeprefix("n = ").replace(",", "")) for text in found["header"][1:]]
        cells_of = {method: cells for method, *cells in found["rows"]}
        for place, method in enumerate(GROWING):
            cells = zip(n, cells_of[method], strict=True)
            points = [(a, first_number(b)) for a, b in cells if b != "-"]
            ax.plot(*zip(*points, strict=True), **style(method, place))
        ax.set(xlabel="training samples", ylabel=label)
        logarithmic(ax)
    add_legend(figure, axes)
    return figure


DRAWINGS: dict[str, dict[str, tuple[str, Callable[[Record], Any]]]] = {
    "peers": {
        "errors": ("Errors against kernel evaluations for a new sample", draw_errors),
        "times": ("Errors against seconds to choose and fit", draw_times),
    },
    "peer_scale": {
        "growth": ("Seconds to fit, rows a second and megabytes against n", draw_growth),
    },
}
