"""Table 1: kernel Fisher discriminants and support vector machines on the IDA sets.

Per cent of test errors; in brackets the standard error of the mean as printed, and for ours the
standard deviation over realisations. Kernel exp(-d²/c). As in the paper, all parameters come from
5-fold cross-validation on training rows of the first realisations, the median of their choices: c, C,
and nu, which is C of the linear programme (15) for the threshold. Of equally good parameters one in the
middle is taken. There are 10 realisations instead of 100, so our standard errors are about three times
as large. Splits of diabetis (all but one), flare-solar and thyroid are drawn here in IDA's proportions.
The quick form settles parameters by 3-fold cross-validation on three realisations, the full one by
5-fold cross-validation on five, as in the paper. Every cell was run in both.
"""

from __future__ import annotations

from papers.form import Cell, Estimate, Results, Table
from papers.markdown import grid

from .ida import COSTS, table1

METHODS = tuple(COSTS)
# per cent of test errors, its standard error over 100 realisations, per cent of zero coefficients
PRINTED = {
    "banana": ((11.5, 0.07, 78), (10.8, 0.05, 0), (11.2, 0.48, 86), (10.6, 0.04, 92)),
    "breast-cancer": ((26.0, 0.47, 42), (25.8, 0.46, 0), (25.2, 0.44, 88), (25.8, 0.47, 88)),
    "diabetis": ((23.5, 0.17, 57), (23.2, 0.16, 0), (23.1, 0.18, 97), (23.6, 0.18, 97)),
    "german": ((23.6, 0.21, 58), (23.7, 0.22, 0), (23.6, 0.23, 96), (24.1, 0.23, 98)),
    "heart": ((16.0, 0.33, 51), (16.1, 0.34, 0), (16.4, 0.31, 88), (16.0, 0.36, 96)),
    "ringnorm": ((1.7, 0.01, 62), (1.5, 0.01, 0), (1.6, 0.01, 85), (1.5, 0.01, 94)),
    "flare-solar": ((32.4, 0.18, 9), (33.2, 0.17, 0), (33.4, 0.17, 67), (34.4, 0.23, 99)),
    "thyroid": ((4.8, 0.22, 79), (4.2, 0.21, 0), (4.3, 0.18, 88), (4.7, 0.22, 89)),
    "titanic": ((22.4, 0.10, 10), (23.2, 0.20, 0), (22.6, 0.17, 8), (22.5, 0.20, 95)),
    "waveform": ((9.9, 0.04, 60), (9.9, 0.04, 0), (10.1, 0.04, 81), (10.2, 0.04, 96)),
}
CHOICE = (
    "The choice of parameters: with some of the grid the error on these realisations agrees with print "
    "(mika2003/table1_grid), but cross-validation of {} training rows does not find them; the paper's "
    "grid is not printed."
)
FEW_KINDS = CHOICE.format("150") + " These rows are of 14 kinds, so that many parameters tie."
EXPLANATIONS = {
    "banana, LSKFD": CHOICE.format("400") + " Even the best of the grid is above print, by less than "
    "two standard errors.",
    "breast-cancer, SKFD": CHOICE.format("200")
    + " All four methods are above print on these ten realisations, and so is the best of the grid.",
    "ringnorm, KFD": CHOICE.format("400"),
    "ringnorm, LSKFD": CHOICE.format("400"),
    "flare-solar, SKFD": "The threshold: cross-validation chose nu = 1; with the threshold of least "
    "squares the error of the same models agrees with print (below).",
    "titanic, SVM": FEW_KINDS,
    "titanic, SKFD": FEW_KINDS,
    "titanic, LSKFD": FEW_KINDS,
}


def describe(results: Results) -> str:
    """Return what a table has beside errors: sparsity, the other threshold, parameters."""
    header = ["", "zeros, printed", "zeros, ours", "threshold by least squares", "c", "C", "nu"]
    rows = []
    for (data, method), found in results.items():
        printed = PRINTED[data][METHODS.index(method)][2]
        numbers = [f"{found[key].value:g}" for key in ("c", "C", "nu")]
        if method == "SVM":
            numbers[-1] = ""
        plain = "" if method == "SVM" else f"{found['threshold by least squares'].value:.1f}"
        rows.append([f"{data}, {method}", f"{printed}", f"{found['zeros'].value:.0f}", plain, *numbers])
    return (
        "Per cent of coefficients that are zero, errors of the same models with the threshold of least "
        "squares, and the parameters that cross-validation chose:\n\n" + grid(header, rows)
    )


TABLE = Table(
    axes=("data set", "method"),
    cells=[
        Cell(
            key=(data, method),
            settings={
                "data": data,
                "method": method,
                "realisations": 10,
                "nus": [0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0],
            },
            printed={"error": Estimate(error, standard_error)},
            data=(f"ida_{data}",),
            explanation=EXPLANATIONS.get(f"{data}, {method}", ""),
        )
        for data, row in PRINTED.items()
        for method, (error, standard_error, _) in zip(METHODS, row, strict=True)
    ],
    compute=table1,
    quick={"chosen_on": 3, "folds": 3, "widths": [0.5, 1.2, 2.5, 5.0, 10.0]},
    full={"chosen_on": 5, "folds": 5, "widths": [0.25, 0.5, 1.2, 2.5, 5.0, 10.0]},
    lower_is_better={"error": True},
    digits=".2f",
    describe=describe,
)
