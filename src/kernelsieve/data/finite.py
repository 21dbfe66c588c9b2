"""Refusal of NaN and infinity, in blocks by threads."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..exceptions import InvalidDataError
from ..kernels import Rows
from .blocks import row_number, row_slices
from .threads import run_blocks

_CHECKED_VALUES = 500_000  # looked at together


def check_finite(X: Rows, name: str, n_jobs: int | None = None) -> None:
    """Refuse NaN and infinity, and say where the first one is."""
    if sparse.issparse(X):
        bad = np.flatnonzero(~np.isfinite(X.data))
        if len(bad):
            row = int(np.searchsorted(X.indptr, bad[0], side="right")) - 1
            _refuse(X.data[bad[0]], name, row, int(X.indices[bad[0]]))
        return
    suspects: list[slice] = []

    def look(rows: slice) -> None:
        # One sum tells of most blocks that all is well; a false alarm by overflow is looked into.
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(X[rows].sum()):
                suspects.append(rows)

    slices = list(row_slices(X.shape[0], max(1, _CHECKED_VALUES // max(1, X.shape[1]))))
    run_blocks(slices, lambda: look, n_jobs, in_any_order=True)
    for rows in sorted(suspects, key=lambda rows: rows.start):
        places = np.argwhere(~np.isfinite(X[rows]))
        if len(places):
            row, column = places[0]
            _refuse(X[rows][row, column], name, rows.start + int(row), int(column))


def _refuse(value: float, name: str, row: int, column: int) -> None:
    kind = "NaN" if np.isnan(value) else "inf"
    raise InvalidDataError(
        f"Input {name} contains {kind} in row {row_number(row)}, column {column} (counted from 0); "
        "remove such rows, or fill them in, for example with sklearn.impute.SimpleImputer."
    )
