"""Draw samples as points, with rank numbers that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from ..exceptions import InvalidDataError, InvalidParameterError
from .drawing import MARKERS

_GREYS = ("0.75", "0.4", "0.6")  # their number and that of the markers have no common divisor
_FILLS = ("white", "0.35", "0.7")  # of outlined markers
_MOST_CLASSES = 12  # beyond, nobody finds a marker in the legend
_FONT_SIZE = 8.0
# Right, above, left, below, then the corners: where a number stands beside its point.
_SIDES = ((1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))


def two_places(name: str, places: Any, n_columns: int) -> tuple[int, int]:
    """Return two distinct column numbers; raise an error otherwise."""
    chosen = tuple(places) if isinstance(places, Sequence | np.ndarray) else ()
    whole = all(isinstance(place, int | np.integer) for place in chosen)
    if len(chosen) != 2 or not whole or not all(0 <= place < n_columns for place in chosen):
        raise InvalidParameterError(
            f"{name}={places!r} must be two numbers of columns, from 0 to {n_columns - 1}."
        )
    return int(chosen[0]), int(chosen[1])


def are_numbers(y: Any) -> bool:
    """Return True if targets are continuous, so that no classes can be marked.

    Floats without fractions may be either, and are numbers where they are too many for markers.
    """
    values = np.asarray(y)
    if values.dtype.kind != "f":
        return False
    return type_of_target(values).startswith("continuous") or len(np.unique(values)) > _MOST_CLASSES


def check_labels(y: Any, n_rows: int) -> np.ndarray | None:
    """Return the labels of the samples; raise an error if there are more classes than markers."""
    if y is None:
        return None
    labels = np.asarray(y)
    if labels.shape != (n_rows,):
        raise InvalidDataError(
            f"y has shape {labels.shape}; it must be one label a sample, ({n_rows},)."
        )
    if type_of_target(labels) not in ("binary", "multiclass"):
        raise InvalidDataError("y must have labels of classes here; pass y=None for other targets.")
    if len(np.unique(labels)) > _MOST_CLASSES:
        raise InvalidDataError(
            f"y has {len(np.unique(labels))} classes, and there are {_MOST_CLASSES} markers; "
            "pass y=None, or the samples of some classes."
        )
    return labels


def draw_rows(
    ax: Any, points: np.ndarray, labels: np.ndarray | None, *, outlined: bool = False
) -> list[Any]:
    """Draw samples in grey, with one marker a class; outlined ones stand out on any background."""
    if labels is None:
        groups = [("samples", points)]
    else:
        groups = [(f"class {label}", points[labels == label]) for label in np.unique(labels)]
    area = float(np.clip(16 * np.sqrt(300 / len(points)), 4, 16))  # many samples as small points
    return [
        ax.scatter(
            *group.T,
            **{
                "s": area,
                "marker": MARKERS[place % len(MARKERS)],
                **_paint(place, outlined),
                "linewidths": 0.4,
                "label": name,
                "zorder": 1,
            },
        )
        for place, (name, group) in enumerate(groups)
    ]


def _paint(place: int, outlined: bool) -> dict[str, str]:
    if not outlined:
        return {"color": _GREYS[place % len(_GREYS)]}
    return {"facecolors": _FILLS[place % len(_FILLS)], "edgecolors": "black"}


def draw_numbers(
    ax: Any,
    points: np.ndarray,
    radius: float,
    covered: Sequence[np.ndarray] = (),
    texts: Sequence[str] | None = None,
) -> list[Any]:
    """Write the ranks 1, 2, ... beside points; where space is short, the first ranks win.

    A number that would cover another one, or another point, is left out.

    Parameters
    ----------
    ax : matplotlib Axes
        With the final limits and size.
    points : ndarray of shape (m, 2)
        In the coordinates of the data.
    radius : float
        Of the points' markers, in typographic points.
    covered : sequence of ndarray of shape (4,)
        Boxes (left, lower, right, upper) in typographic points, in which nothing can be seen.
    texts : sequence of str, default=None
        What to write beside each point instead of numbers.
    """
    scale = 72 / ax.figure.dpi  # typographic points a pixel
    centres = ax.transData.transform(points) * scale
    frame = ax.get_window_extent().extents * scale
    taken: list[np.ndarray] = list(covered)
    numbers = []
    for place, centre in enumerate(centres):
        if any((box[:2] <= centre).all() and (centre <= box[2:]).all() for box in covered):
            continue
        text = str(place + 1) if texts is None else texts[place]
        half = np.array([0.34 * len(text), 0.6]) * _FONT_SIZE  # of a box that the text fits into
        for side in np.array(_SIDES):
            middle = centre + side * (half + radius + 0.5)
            box = np.concatenate([middle - half, middle + half])
            if _inside(box, frame) and _is_free(box, taken, np.delete(centres, place, 0), radius):
                taken.append(box)
                numbers.append(_write(ax, text, points[place], middle - centre))
                break
    return numbers


def _inside(box: np.ndarray, frame: np.ndarray) -> bool:
    return bool((box[:2] >= frame[:2]).all() and (box[2:] <= frame[2:]).all())


def _is_free(box: np.ndarray, taken: list[np.ndarray], centres: np.ndarray, radius: float) -> bool:
    """Return True if a box (left, lower, right, upper) overlaps no other box and no other marker."""
    if any((box[:2] < other[2:]).all() and (other[:2] < box[2:]).all() for other in taken):
        return False
    gaps = np.maximum(0, np.maximum(box[:2] - centres, centres - box[2:]))
    return bool((np.hypot(*gaps.T) > radius).all())


def _write(ax: Any, text: str, point: np.ndarray, offset: np.ndarray) -> Any:
    from matplotlib.patheffects import withStroke

    return ax.annotate(
        text,
        point,
        xytext=offset,
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=_FONT_SIZE,
        zorder=5,
        path_effects=[withStroke(linewidth=2, foreground="white")],
        annotation_clip=True,
    )
