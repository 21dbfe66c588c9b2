"""Pictures of what ``plane`` and ``faces`` compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernelsieve import LandmarkDisplay

from . import printed
from .faces import MOST_NEIGHBOURS, SIGMA, Recognition
from .methods import METHODS
from .plane import CONTENDERS, Chosen, Draw, TradeOff, errors, projections, seconds

# Colours that survive colour blindness, and a marker each for those who print in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#000000", "#56B4E9")
MARKERS = ("o", "s", "^", "x", "D", "v", "P")


def style(place: int) -> dict[str, Any]:
    return {"color": COLOURS[place], "marker": MARKERS[place], "markersize": 5, "linewidth": 1.5}


def new_figure(n_panels: int, height: float = 4.2) -> tuple[Any, Sequence[Any]]:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(
        1, n_panels, figsize=(4.9 * n_panels, height), layout="constrained", squeeze=False
    )
    return figure, panels[0]


def save(figure: Any, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    return path


def draw_figure1(results: Mapping[int, Sequence[Draw]], path: Path) -> Path:
    """Times against the number of points: printed, and ours."""
    figure, (left, right) = new_figure(2)
    for place, method in enumerate(METHODS):
        left.loglog(printed.SIZES, printed.SECONDS[method], label=method, **style(place))
    for place, name in enumerate(CONTENDERS):
        right.loglog(list(results), seconds(results, name), label=name, **style(place))
    left.set(title="printed (2006)", xlabel="points", ylabel="seconds")
    right.set(title="ours", xlabel="points", ylabel="seconds")
    for panel in (left, right):
        panel.set_xticks([500, 1000, 2000, 3500], ["500", "1,000", "2,000", "3,500"])
        panel.minorticks_off()
        panel.grid(alpha=0.25)
        panel.legend(frameon=False, fontsize=8)
    return save(figure, path)


def draw_figure2(results: Mapping[float, TradeOff], path: Path) -> Path:
    """Error and time of ACKFA against its cutoff."""
    figure, (left, right) = new_figure(2)
    cutoffs = np.array(list(results))
    values = np.array([results[cutoff].error for cutoff in cutoffs])
    left.fill_between(cutoffs, values.min(axis=1), values.max(axis=1), color=COLOURS[0], alpha=0.2)
    left.plot(cutoffs, values.mean(axis=1), **style(0))
    ratios = [np.median(results[cutoff].seconds / results[0.0].seconds) for cutoff in cutoffs]
    right.plot(cutoffs, ratios, **style(1))
    left.set(xlabel="cutoff", ylabel="reconstruction error, 20 features", ylim=(0, None))
    right.set(xlabel="cutoff", ylabel="time relative to AKFA", ylim=(0, None))
    for panel in (left, right):
        panel.grid(alpha=0.25)
    return save(figure, path)


def draw_table2_and_figure3(results: Mapping[int, Sequence[Draw]], path: Path) -> Path:
    """Errors with their spread beside the printed ones, and the sums of projection variances."""
    figure, (left, right) = new_figure(2)
    sizes = np.array(list(results))
    for place, method in enumerate(METHODS):
        found = np.array([errors(results[size], method) for size in sizes])
        left.fill_between(sizes, found.min(axis=1), found.max(axis=1), color=COLOURS[place], alpha=0.2)
        left.plot(sizes, found.mean(axis=1), color=COLOURS[place])
        shown = [printed.ERRORS[method][printed.SIZES.index(size)] for size in sizes]
        left.plot(sizes, shown, color=COLOURS[place], marker=MARKERS[place], linestyle="none")
        summed = [projections(results[size], method).mean() for size in sizes]
        right.plot(sizes, summed, label=method, **style(place))
    left.set(title="Table 2: marks printed, bands ours", xlabel="points", ylabel="reconstruction error")
    right.set(title="Figure 3", xlabel="points", ylabel="sum of projection variances, 10 features")
    right.legend(frameon=False, loc="center right")
    for panel in (left, right):
        panel.grid(alpha=0.25)
    return save(figure, path)


def draw_figure4(chosen: Chosen, path: Path) -> Path:
    """The cross, and the points that AKFA and SKFA choose, in their order."""
    figure, panels = new_figure(len(chosen.indices), height=4.9)
    for panel, (method, indices) in zip(panels, chosen.indices.items(), strict=True):
        panel.set(title=method, aspect="equal")
        LandmarkDisplay(chosen.X[indices], rows=chosen.X, names=("x", "y")).plot(panel)
    return save(figure, path)


def draw_figure5(found: Recognition, path: Path) -> Path:
    """Accuracy against the number of neighbours."""
    figure, (panel,) = new_figure(1)
    counts = range(1, MOST_NEIGHBOURS + 1)
    for place, method in enumerate(METHODS):
        panel.plot(
            counts, [found.accuracy(method, SIGMA, k) for k in counts], label=method, **style(place)
        )
    panel.set(xlabel="neighbours", ylabel=f"per cent recognised, width {SIGMA}", xticks=range(0, 21, 5))
    panel.grid(alpha=0.25)
    panel.legend(frameon=False)
    return save(figure, path)
