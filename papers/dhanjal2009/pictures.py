"""How the figures look."""

from __future__ import annotations

from typing import Any

import numpy as np

# Colours that survive colour blindness, and a dash each for those who print in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#000000")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "x", "D", "v")


def new_figure(n_lines: int, height: float, n_columns: int = 2) -> tuple[Any, np.ndarray]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, height), layout="constrained")
    return figure, figure.subplots(n_lines, n_columns, squeeze=False)


def style(place: int, every: int) -> dict[str, Any]:
    return {
        "color": COLOURS[place],
        "linestyle": DASHES[place],
        "marker": MARKERS[place],
        "markevery": every,
        "markersize": 5,
        "linewidth": 1.5,
    }


def with_legend(figure: Any, panels: np.ndarray, legend_title: str) -> Any:
    """Put one legend below all panels, where it hides nothing, and return the figure."""
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(
        handles,
        names,
        title=legend_title,
        loc="outside lower center",
        ncols=len(names),
        frameon=False,
        handlelength=3.5,
    )
    for panel in panels.flat:
        panel.grid(alpha=0.25)
    return figure
