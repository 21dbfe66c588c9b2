"""Shared drawing tools: axes, line styles that differ in more than hue, and legends beside the data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import indent
from types import FunctionType
from typing import Any

import numpy as np

from ..exceptions import InvalidParameterError

# Okabe and Ito's colours survive colour blindness; dashes and markers differ for prints in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#E69F00")
DASHES: tuple[Any, ...] = ("-", "--", "-.", (0, (1, 1)), (0, (6, 1, 1, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
_LINE = "kernelsieve-line"  # marks lines of displays, unlike stars, diagonals and the user's own
_POINTS = "kernelsieve-points"  # marks scatters of displays
_MARKS_A_LINE = 10
_LEGEND_GAP = 6.0  # points between the label of the axis and the legend below it
_LETTER, _HANDLE = 0.062, 0.75  # inches that a letter and a handle take in a small legend

_AX = """ax : matplotlib Axes, default=None
    Where to draw; None makes a new figure."""
_RETURNS = """Returns
-------
{name}"""
_PLOT = """**plot_options
    For :meth:`plot`."""
_AXES = """ax_ : matplotlib Axes
    Where it is drawn.
figure_ : matplotlib Figure
    The figure of the axes."""
#: Texts that docstrings name in a line of its own.
_TEXTS = {"axes": _AXES, "ax": _AX, "display": _RETURNS, "drawing": f"{_AX}\n{_PLOT}\n\n{_RETURNS}"}


class Display:
    """Base class of the displays: creates axes, and fills in shared docstring texts."""

    ax_: Any
    figure_: Any

    def __init_subclass__(cls) -> None:
        methods = [m for m in vars(cls).values() if isinstance(m, FunctionType | classmethod)]
        for member in (cls, *(getattr(method, "__func__", method) for method in methods)):
            filled = re.sub(
                r"^( *)\{(\w+)\}$",
                lambda line: indent(_TEXTS[line[2]], line[1]),
                member.__doc__ or "",
                flags=re.MULTILINE,
            )
            member.__doc__ = filled.replace("{name}", cls.__name__) or None

    def _take_panels(
        self, ax: Any, n_panels: int = 1, size: tuple[float, float] | None = None
    ) -> np.ndarray:
        """Return the given axes, or new ones: one for each panel.

        ``ax_`` is an axes where there is one panel, and an array of them for more.
        """
        caller = f"{type(self).__name__}.plot"
        plt = import_pyplot(caller)
        if ax is None:
            inches = size or ((6.4, 4.8) if n_panels == 1 else (4.9 * n_panels, 4.6))
            _, axes = plt.subplots(1, n_panels, figsize=inches, layout="constrained", squeeze=False)
            panels = axes[0]
        else:
            panels = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if len(panels) != n_panels or not all("plot" in dir(panel) for panel in panels):
            wanted = "one matplotlib axes" if n_panels == 1 else f"{n_panels} matplotlib axes"
            raise InvalidParameterError(
                f"{caller} cannot draw in ax={ax!r}; pass {wanted}, or None for a new figure."
            )
        self.ax_ = panels[0] if n_panels == 1 else panels
        self.figure_ = panels[0].figure
        return panels


def check_has(estimator: Any, names: Sequence[str], remedy: str) -> None:
    """Raise an error if an estimator lacks one of the named methods or attributes."""
    missing = [name for name in names if getattr(estimator, name, None) is None]
    if missing:
        raise InvalidParameterError(
            f"A {type(estimator).__name__} has no {' and '.join(missing)}; pass {remedy}."
        )


def import_pyplot(caller: str) -> Any:
    """Import ``matplotlib.pyplot``; the error names the extra to install."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{caller} draws with matplotlib, which is not installed; "
            "install it with: pip install 'kernelsieve[plot]'"
        ) from error
    return plt


def draw_line(ax: Any, x: Any, y: Any, name: str | None, given: dict[str, Any]) -> Any:
    """Draw a line in a style that no earlier line in these axes has."""
    place = sum(line.get_gid() == _LINE for line in ax.get_lines())
    label = {} if name is None else {"label": name}
    (line,) = ax.plot(x, y, **line_look(place, len(x), {**label, **given}))
    line.set_gid(_LINE)
    return line


def draw_star(ax: Any, x: float, y: float, name: str) -> Any:
    """Mark a chosen point."""
    (star,) = ax.plot(
        [x],
        [y],
        marker="*",
        markersize=15,
        linestyle="none",
        color="black",
        markerfacecolor="white",
        zorder=4,
        label=name,
    )
    return star


def draw_bars(panel: Any, values: Any, names: Sequence[str], xlabel: str, look: dict[str, Any]) -> Any:
    """Draw horizontal bars with their names, the first on top."""
    places = np.arange(len(values))
    bars = panel.barh(places, values, **look)
    panel.set_yticks(places, names)
    panel.invert_yaxis()
    panel.set(xlabel=xlabel)
    panel.grid(axis="x", alpha=0.25)
    return bars


def draw_markers(panel: Any, points: np.ndarray, name: str, given: dict[str, Any], **look: Any) -> Any:
    """Draw a scatter of open markers, unlike those that displays have drawn in these axes before."""
    place = sum(drawn.get_gid() == _POINTS for drawn in panel.collections)
    colour = COLOURS[place % len(COLOURS)]
    if not {"c", "color"} & set(given):
        look |= {"facecolors": colour if place else "none", "edgecolors": colour}
    look |= {"marker": MARKERS[place % len(MARKERS)], "linewidths": 0.9, "label": name, "zorder": 3}
    drawn = panel.scatter(*points.T, **{**look, **given})
    drawn.set_gid(_POINTS)
    return drawn


def finish_axes(panel: Any, xlabel: str, ylabel: str, *, whole_numbers: bool = False) -> None:
    """Name the axes, and add a grid and the legend; with ticks at whole numbers of x alone if asked."""
    panel.set(xlabel=xlabel, ylabel=ylabel)
    if whole_numbers:
        whole_ticks(panel.xaxis)
    panel.grid(alpha=0.25)
    add_legend(panel)


def line_look(place: int, n_points: int, given: dict[str, Any]) -> dict[str, Any]:
    """Return colour, dash and marker of a line by its position, updated by the given options."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    # The marks of two lines stand at different places, so that one does not hide the other.
    every = max(1, n_points // _MARKS_A_LINE)
    look = {
        "color": COLOURS[place % len(COLOURS)],
        "linestyle": DASHES[place % len(DASHES)],
        "marker": MARKERS[place % len(MARKERS)],
        "markevery": (place * every // 3 % every, every),
        "markersize": 5,
        "linewidth": 1.5,
    }
    return {**look, **normalize_kwargs(given, Line2D)}


def add_legend(ax: Any, title: str | None = None) -> None:
    """Add a legend below the axes, where it hides no data.

    A figure without a layout engine makes no room there; the legend then goes where it hides least.
    """
    handles, names = ax.get_legend_handles_labels()
    if not names:
        return
    if ax.figure.figure.get_layout_engine() is None:
        ax.legend(handles, names, title=title, fontsize="small", loc="best")
        return
    ax.legend(
        handles,
        names,
        title=title,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=_below(ax),
        ncols=_columns(ax, names),
        frameon=False,
        fontsize="small",
        borderaxespad=0.0,
        handlelength=3.2,
    )


def add_colorbar(ax: Any, mappable: Any, label: str) -> Any:
    """Add a colorbar of the same height as the axes, whatever their aspect.

    A figure without a layout engine makes no room there; the axes then give up some of theirs.
    """
    figure = ax.figure
    if figure.figure.get_layout_engine() is None:
        return figure.colorbar(mappable, ax=ax, label=label)
    return figure.colorbar(mappable, cax=ax.inset_axes((1.03, 0, 0.04, 1)), label=label)


def _columns(ax: Any, names: Sequence[str]) -> int:
    """Return the number of legend columns that fit in the width of the axes."""
    width = ax.bbox.width / ax.figure.dpi
    return int(np.clip(width // (_LETTER * max(map(len, names)) + _HANDLE), 1, len(names)))


def _below(ax: Any) -> Any:
    """Return a transform of axes coordinates, shifted below the tick labels and the x label."""
    from matplotlib.transforms import ScaledTranslation

    label = ax.xaxis.get_tightbbox()
    depth = 0.0 if label is None else (ax.bbox.y0 - label.y0) / ax.figure.dpi
    return ax.transAxes + ScaledTranslation(0, -depth - _LEGEND_GAP / 72, ax.figure.dpi_scale_trans)


def whole_ticks(axis: Any) -> None:
    """Place ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))


def check_choice(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Raise an error if a value is not among the allowed ones."""
    if not any(value is choice or value == choice for choice in allowed):
        shown = ", ".join(repr(choice) for choice in allowed)
        raise InvalidParameterError(f"{name}={value!r} is not known; pass one of {shown}.")
