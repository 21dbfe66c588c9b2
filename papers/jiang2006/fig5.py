"""Figure 5: faces recognised, by the number of neighbours.

As Table 3, with width 24. The paper has its best near 10 neighbours; here fewer are better: a person
has 10 other images, so 10 neighbours need all of them.
"""

from __future__ import annotations

from typing import Any

from papers.form import Cell, Results, Table
from papers.markdown import grid
from papers.pictures import new_figure, style

from . import CROPS
from .faces import MOST_NEIGHBOURS, by_neighbours
from .methods import METHODS

WIDTH = 24
SHOWN = (1, 2, 3, 5, 7, 10, 12, 15, 20)


def describe(results: Results) -> str:
    """Return some points of the curves."""
    rows = [
        [method, *(f"{found['accuracy'].value[k - 1]:.2f}" for k in SHOWN)]
        for (method,), found in results.items()
    ]
    return grid(["neighbours", *map(str, SHOWN)], rows)


def draw(results: Results) -> Any:
    """Draw accuracy against the number of neighbours."""
    figure, (panel,) = new_figure(1)
    for place, ((method,), found) in enumerate(results.items()):
        panel.plot(range(1, MOST_NEIGHBOURS + 1), found["accuracy"].value, label=method, **style(place))
    panel.set(xlabel="neighbours", ylabel=f"per cent recognised, width {WIDTH}", xticks=range(0, 21, 5))
    panel.legend(frameon=False)
    return figure


TABLE = Table(
    axes=("method",),
    cells=[
        Cell(
            (method,),
            {"method": method, "width": WIDTH},
            data=("yale_raw", "yale_64x64"),
            chosen_on_test=CROPS,
        )
        for method in METHODS
    ],
    compute=by_neighbours,
    draw=draw,
    describe=describe,
)
