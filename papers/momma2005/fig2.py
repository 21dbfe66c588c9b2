"""Figure 2: models chosen inside the training rows, by nu.

Q² on outer folds, and in brackets the share of rows that are support vectors. The number of features,
or C of nu-SVM (one of five), comes from 5-fold cross-validation inside the training rows; the paper has
10 folds. Abalone, whose sex is three inputs here, is a random 1,000 of its 4,177 rows in the quick
form. The paper says that on Boston MI and MR are level with nu-SVM at like sparsity, and that on
Abalone nu-SVM is best by a small margin, cannot do with few support vectors, and MI and MR are stable
for small nu. With small nu the largest C offered, 30, is taken most often.
"""

from __future__ import annotations

from typing import Any

from papers.form import Cell, Results, Table
from papers.markdown import grid
from papers.pictures import new_figure, style

from . import NAMES
from .regression import points

TITLES = {"boston": "Boston Housing", "abalone": "Abalone"}
MOST_FEATURES = {"boston": 50, "abalone": 30}
NUS = (0.05, 0.1, 0.2, 0.5)
METHODS = ("mi", "mr", "svm")


def describe(results: Results) -> str:
    """Return a table a data set."""
    parts = []
    for title in TITLES.values():
        rows = []
        for method in METHODS:
            keys = [(title, NAMES[method], f"{nu:g}") for nu in NUS]
            found = [results[key] for key in keys if key in results]
            cells = [f"{each['error'].value:.3f} ({each['support'].value:.3f})" for each in found]
            rows.append([NAMES[method], *cells])
        parts.append(grid([title, *(f"nu = {nu:g}" for nu in NUS)], rows))
    return "\n\n".join(parts)


def draw(results: Results) -> Any:
    """Draw errors of chosen models against their support vectors, with nu beside each point."""
    figure, panels = new_figure(len(TITLES))
    for panel, title in zip(panels, TITLES.values(), strict=True):
        for place, method in enumerate(METHODS):
            found = [results[title, NAMES[method], f"{nu:g}"] for nu in NUS]
            support = [each["support"].value for each in found]
            errors = [each["error"].value for each in found]
            look = style(place)
            panel.plot(support, errors, label=NAMES[method], **look)
            for nu, x, y in zip(NUS, support, errors, strict=True):
                panel.annotate(
                    f"{nu:g}",
                    (x, y),
                    textcoords="offset points",
                    xytext=(4, 5),
                    fontsize=7,
                    color=look["color"],
                )
        panel.margins(x=0.09)
        panel.set(title=title, xlabel="share of rows that are support vectors", ylabel="Q$^2$")
        panel.legend(frameon=False, fontsize=8)
    return figure


TABLE = Table(
    axes=("data set", "method", "nu"),
    cells=[
        Cell(
            (title, NAMES[method], f"{nu:g}"),
            {"data": data, "method": method, "nu": nu, "most_features": MOST_FEATURES[data]},
            data=(data,),
        )
        for data, title in TITLES.items()
        for method in METHODS
        for nu in NUS
    ],
    compute=points,
    quick={"rows": 1000, "folds": 4, "inner_folds": 3},
    full={"rows": 4177, "folds": 10, "inner_folds": 5},
    draw=draw,
    describe=describe,
)
