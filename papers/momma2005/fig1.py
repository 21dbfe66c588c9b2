"""Figure 1: exact, MI and MR on Boston Housing.

The width of the kernel is 4.24, folds are those of 10-fold cross-validation. Q² and the share of the
rows that are support vectors, against the number of features. The paper says that support vectors of MI
grow like the exact ones and those of MR fastest, that MI generalises better than the exact solution and
learns more slowly, with more numbers of features that are good, and that MR with nu = 0.1 generalises
well with few support vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from papers.form import Cell, Estimate, Results, Table
from papers.markdown import grid
from papers.pictures import new_figure, style

from . import NAMES
from .regression import curves

# selection, nu, number of features; "dense" is kernel PLS
SETTINGS = (
    ("exact", 0.5, 25),
    ("mi", 0.5, 50),
    ("mr", 0.5, 50),
    ("mi", 0.1, 50),
    ("mr", 0.1, 50),
    ("dense", 1.0, 50),
)
BEST = "per cent of support vectors at the best"
PRINTED = {("exact", 0.5): {BEST: Estimate(86.0)}}
SHOWN = (1, 2, 5, 10, 20, 25)
TITLES = {
    (selection, nu): NAMES[selection] if selection == "dense" else f"{NAMES[selection]}, nu = {nu}"
    for selection, nu, _ in SETTINGS
}


def describe(results: Results) -> str:
    """Return where each curve is lowest, how flat it is there, and how support vectors grow."""
    lowest, growth = [], []
    for (name,), found in results.items():
        error, support = np.array(found["error"].value), found["support"].value
        best = int(error.argmin())
        near = int((error <= 1.1 * error[best]).sum())
        share = f"{100 * support[best]:.1f} %"
        lowest.append([name, str(best + 1), f"{error[best]:.3f}", share, f"{near} of {len(error)}"])
        growth.append([name, *(f"{support[k - 1]:.3f}" for k in SHOWN)])
    return (
        "Where Q² is lowest, and how many numbers of features are within 10 % of that:\n\n"
        + grid(["", "features", "Q²", "support vectors", "within 10 %"], lowest)
        + "\n\nShare of support vectors after so many features:\n\n"
        + grid(["", *map(str, SHOWN)], growth)
    )


def draw(results: Results) -> Any:
    """Draw errors and support vectors against the number of features."""
    figure, (left, right) = new_figure(2)
    for place, ((name,), found) in enumerate(results.items()):
        features = range(1, len(found["error"].value) + 1)
        look = {**style(place), "markevery": 5, "label": name}
        left.plot(features, found["error"].value, **look)
        right.plot(features, found["support"].value, **look)
    left.set(xlabel="number of features", ylabel="Q$^2$ of other rows", ylim=(0.08, 0.4))
    right.set(
        xlabel="number of features", ylabel="share of rows that are support vectors", ylim=(0, 1.03)
    )
    left.legend(frameon=False, fontsize=8)
    return figure


TABLE = Table(
    axes=("method",),
    cells=[
        Cell(
            (TITLES[selection, nu],),
            {
                "data": "boston",
                "rows": 506,
                "selection": selection,
                "nu": nu,
                "n_features": n_features,
            },
            printed=PRINTED.get((selection, nu), {}),
            data=("boston",),
        )
        for selection, nu, n_features in SETTINGS
    ],
    compute=curves,
    quick={"folds": 5},
    full={"folds": 10},
    digits=".1f",
    draw=draw,
    describe=describe,
)
