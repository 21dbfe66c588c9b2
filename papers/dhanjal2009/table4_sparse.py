"""Table 4 once more: sparse kernel PLS with more to choose from.

The quick form of Table 4 offers two of the four values of nu, and chooses by three inner folds where
the full one has five. Here the outer folds of its first repetition are the same, and one of the two or
both are as in the full form.
"""

from __future__ import annotations

from papers.form import Cell, Estimate, Table

from .classification import error_rates
from .table4 import PRINTED
from .table4 import TABLE as TABLE4
from .uci import SETS, n_folds

METHOD = "Sp. KPLS"
QUICK, FULL = TABLE4.quick, TABLE4.full
HOW = {
    "four values of nu": {"sparsities": FULL["sparsities"], "inner_folds": QUICK["inner_folds"]},
    "five inner folds": {"sparsities": QUICK["sparsities"], "inner_folds": FULL["inner_folds"]},
    "both": {"sparsities": FULL["sparsities"], "inner_folds": FULL["inner_folds"]},
}
SHARED = ("sigmas", "numbers", "boosting_steps", "penalties")  # of these neither form differs here

TABLE = Table(
    axes=("data set", "how"),
    cells=[
        Cell(
            (name, how),
            {
                "data": data,
                "method": METHOD,
                "head": "knn",
                **{key: QUICK[key] for key in SHARED},
                **parts,
            },
            printed={"error": Estimate(*numbers, n_folds(METHOD))},
            data=(data,),
        )
        for (name, data), numbers in zip(SETS.items(), PRINTED[METHOD], strict=True)
        for how, parts in HOW.items()
    ],
    compute=error_rates,
    quick={"repetitions": 1},
    full={"repetitions": 3},
    lower_is_better={"error": True},
)
