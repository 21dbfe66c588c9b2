"""Which data the paper had: the nearest neighbour by how values are prepared.

The paper says nothing of it. Per cent of errors of the nearest neighbour, in the protocols of Tables 2
and 3.
"""

from __future__ import annotations

import numpy as np

from papers.form import Cell, Results, Table
from papers.markdown import grid

from . import genes, table2, table3, texts

PRINTED = {data: row[0][0] for data, row in {**table2.PRINTED, **table3.PRINTED}.items()}
OF_DATA = {data: genes if data in table2.PRINTED else texts for data in PRINTED}


def neighbours(data: str, preparation: str, repetitions: int) -> dict[str, np.ndarray]:
    """Return the errors of the nearest neighbour."""
    return {"error": OF_DATA[data].neighbour_errors_of(data, preparation, repetitions)}


def describe(results: Results) -> str:
    """Return a table for genes and one for texts, with the mean difference from the printed errors."""
    parts = []
    for module, sets in ((genes, table2.PRINTED), (texts, table3.PRINTED)):
        rows = [["printed", *(f"{PRINTED[data]:.2f}" for data in sets), ""]]
        for preparation in module.PREPARATIONS:
            keys = [(preparation, data) for data in sets]
            if all(key in results for key in keys):
                found = np.array([results[key]["error"].value for key in keys])
                gap = np.abs(found - [PRINTED[data] for data in sets]).mean()
                rows.append([preparation, *(f"{value:.2f}" for value in found), f"{gap:.2f}"])
        parts.append(grid(["", *sets, "mean difference"], rows))
    return "\n\n".join(parts)


TABLE = Table(
    axes=("preparation", "data set"),
    cells=[
        Cell((preparation, data), {"data": data, "preparation": preparation}, data=(data,))
        for data, module in OF_DATA.items()
        for preparation in module.PREPARATIONS
    ],
    compute=neighbours,
    quick={"repetitions": 3},
    full={"repetitions": 20},
    digits=".2f",
    describe=describe,
)
