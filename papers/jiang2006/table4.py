"""Table 4: who is taken for whom.

AKFA, width 24, 10 neighbours; as Table 3. The spread of a count is the root of it.
"""

from __future__ import annotations

from math import sqrt

from papers.form import Cell, Estimate, Results, Table
from papers.markdown import grid

from . import CROPS
from .faces import N_PEOPLE, confused

CORRECT = (10, 9, 7, 9, 9, 9, 9, 6, 8, 8, 10, 7, 9, 9, 8)  # of 11, by person
TAKEN_FOR_THE_FIRST = 24  # faces of others


def describe(results: Results) -> str:
    """Return how many faces of each person were recognised."""
    (found,) = results.values()
    wrong, side_lit = found["errors"].value, found["errors lit from one side"].value
    rows = [
        ["printed", *map(str, CORRECT)],
        ["ours", *(f"{value:.0f}" for value in found["recognised"].value)],
    ]
    return (
        "Faces of each person recognised, of 11:\n\n"
        + grid(["person", *(str(i + 1) for i in range(N_PEOPLE))], rows)
        + f"\n\nOf our {wrong:.0f} errors {side_lit:.0f} are among the 30 faces lit from one side."
    )


TABLE = Table(
    axes=("method",),
    cells=[
        Cell(
            ("AKFA",),
            {"method": "AKFA", "width": 24},
            printed={
                "taken for the first person": Estimate(TAKEN_FOR_THE_FIRST, sqrt(TAKEN_FOR_THE_FIRST))
            },
            data=("yale_raw", "yale_64x64"),
            chosen_on_test=CROPS,
        )
    ],
    compute=confused,
    digits=".0f",
    describe=describe,
)
