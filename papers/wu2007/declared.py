"""What Tables 2 and 3 have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from papers.form import Cell, Estimate, Table

from . import CHOSEN_ON_TEST, METHODS, REPETITIONS


def error_table(
    printed: Mapping[str, Sequence[tuple[float, float]]],
    further: str,
    compute: Callable[..., Mapping[str, Any]],
    repetitions: int,
    not_at_hand: Mapping[str, Sequence[tuple[float, float]]] | None = None,
) -> Table:
    """Declare a table of errors by data set and method, with a further method that is not printed.

    Cells of data sets that are not at hand are never run.
    """
    missing = not_at_hand or {}
    return Table(
        axes=("data set", "method"),
        cells=[
            Cell(
                key=(data, method),
                settings={"data": data, "method": method},
                printed={"error": Estimate(*numbers, REPETITIONS)},
                data=(data,),
                chosen_on_test=CHOSEN_ON_TEST.get(method, ""),
                out_of_reach="the data set is not at hand." if data in missing else "",
            )
            for data, row in {**printed, **missing}.items()
            for method, numbers in zip(METHODS, row, strict=True)
        ]
        + [Cell((data, further), {"data": data, "method": further}, data=(data,)) for data in printed],
        compute=compute,
        quick={"repetitions": repetitions},
        full={"repetitions": REPETITIONS},
        lower_is_better={"error": True},
        digits=".2f",
    )
