"""What all figures of the papers share: colours, markers, panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# Colours that survive colour blindness, and a marker each for those who print in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#000000", "#56B4E9")
MARKERS = ("o", "s", "^", "x", "D", "v", "P")


def style(place: int) -> dict[str, Any]:
    """Return the look of a line by its place."""
    return {"color": COLOURS[place], "marker": MARKERS[place], "markersize": 5, "linewidth": 1.5}


def new_figure(n_panels: int, height: float = 4.2) -> tuple[Any, Sequence[Any]]:
    """Return a figure and its panels, side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.9 * n_panels, height), layout="constrained")
    panels = figure.subplots(1, n_panels, squeeze=False)[0]
    for panel in panels:
        panel.grid(alpha=0.25)
    return figure, panels
