"""Pictures of what ``regression`` and ``scaling`` compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .regression import TITLES, Curve, Point
from .scaling import Training

NAMES = {"exact": "exact", "mi": "MI", "mr": "MR", "svm": "nu-SVM", "dense": "kernel PLS"}

# Colours that survive colour blindness, and a marker each for those who print in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#000000")
MARKERS = ("o", "s", "^", "x", "D", "v")


def style(place: int) -> dict[str, Any]:
    return {"color": COLOURS[place], "marker": MARKERS[place], "markersize": 5, "linewidth": 1.5}


def curve_name(key: tuple[str, float]) -> str:
    selection, nu = key
    return NAMES[selection] if selection == "dense" else f"{NAMES[selection]}, nu = {nu}"


def new_figure(n_panels: int) -> tuple[Any, Sequence[Any]]:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(
        1, n_panels, figsize=(4.9 * n_panels, 4.2), layout="constrained", squeeze=False
    )
    for panel in panels[0]:
        panel.grid(alpha=0.25)
    return figure, panels[0]


def save(figure: Any, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    return path


def draw_figure1(curves: Mapping[tuple[str, float], Curve], path: Path) -> Path:
    """Errors and support vectors against the number of features."""
    figure, (left, right) = new_figure(2)
    for place, (key, curve) in enumerate(curves.items()):
        features = np.arange(1, len(curve.error) + 1)
        look = {**style(place), "markevery": 5, "label": curve_name(key)}
        left.plot(features, curve.error, **look)
        right.plot(features, curve.support, **look)
    left.set(xlabel="number of features", ylabel="Q$^2$ of other rows", ylim=(0.08, 0.4))
    right.set(
        xlabel="number of features", ylabel="share of rows that are support vectors", ylim=(0, 1.03)
    )
    left.legend(frameon=False, fontsize=8)
    return save(figure, path)


def draw_figure2(results: Mapping[str, Mapping[str, Mapping[float, Point]]], path: Path) -> Path:
    """Errors of chosen models against their support vectors, with nu beside each point."""
    figure, panels = new_figure(len(results))
    for panel, (name, methods) in zip(panels, results.items(), strict=True):
        for place, (method, points) in enumerate(methods.items()):
            support = [point.support for point in points.values()]
            errors = [point.error for point in points.values()]
            panel.plot(support, errors, label=NAMES[method], **style(place))
            for nu, point in points.items():
                panel.annotate(
                    f"{nu:g}",
                    (point.support, point.error),
                    textcoords="offset points",
                    xytext=(4, 5),
                    fontsize=7,
                    color=COLOURS[place],
                )
        panel.margins(x=0.09)
        panel.set(title=TITLES[name], xlabel="share of rows that are support vectors", ylabel="Q$^2$")
        panel.legend(frameon=False, fontsize=8)
    return save(figure, path)


def draw_figure3(results: Mapping[str, Mapping[int, Training]], data: str, path: Path) -> Path:
    """Seconds to train against the number of rows."""
    figure, (panel,) = new_figure(1)
    for place, (name, runs) in enumerate(results.items()):
        seconds = [run.seconds for run in runs.values()]
        panel.loglog(list(runs), seconds, label=name, **style(place))
    panel.set(title=data, xlabel="rows", ylabel="seconds to train")
    panel.legend(frameon=False, fontsize=8)
    return save(figure, path)
