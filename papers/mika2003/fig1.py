"""Figure 1: features that know an invariance.

First features of 200 points without any structure (uniform in a square), Gaussian kernel. The numbers
are the mean change of the feature under a small rotation and a small translation along the first input,
in standard deviations of the feature. The paper shows contours and prints no numbers.
"""

from __future__ import annotations

from typing import Any

from papers.form import Cell, Results, Table
from papers.markdown import grid

from .plane import CONTENDERS, MOVES, analysis, changes, square


def describe(results: Results) -> str:
    """Return the changes of every first feature."""
    rows = [
        [name, *(f"{found[what].value:.4f}" for what in MOVES)] for (name,), found in results.items()
    ]
    return grid(["", *MOVES], rows)


def draw(results: Results) -> Any:
    """Draw contours of the first features, on the first draw of the points."""
    from matplotlib.figure import Figure

    from kernelsieve.displays import FeatureMapDisplay

    # "compressed" leaves room for the labels of axes that keep their aspect
    figure = Figure(figsize=(13, 4), layout="compressed")
    figure.get_layout_engine().set(wspace=0.06)
    X = square(0)
    for axes, (name,) in zip(figure.subplots(1, len(results)), results, strict=True):
        FeatureMapDisplay.from_estimator(analysis(name).fit(X), X, ax=axes)
        axes.set(title=name, aspect="equal")
    return figure


TABLE = Table(
    axes=("features",),
    cells=[Cell((name,), {"name": name}) for name in CONTENDERS],
    compute=changes,
    quick={"draws": 5},
    full={"draws": 20},
    digits=".4f",
    draw=draw,
    describe=describe,
)
