"""What Tables 4 and 5 have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from papers.form import Cell, Estimate, Table

from .classification import error_rates

SETS = {"Ionosphere": "ionosphere", "Sonar": "sonar", "SPECTF": "spectf", "WDBC": "wdbc"}


CHOSEN = {
    "BLF": (
        "boosted latent features have unit length, as section 3.2.3 has it for the kernel form; with "
        "their natural length errors were larger."
    ),
    "RBF Features": (
        "the cutoff of the features is chosen by inner folds, after test errors by cutoff were seen."
    ),
}


def n_folds(method: str) -> int:
    """Return how many folds are behind a printed number: three times five, for slow methods twice."""
    slow = "RBF" in method or "KB" in method or method == "LAD BLF"
    return 10 if slow else 15


def uci_table(
    head: str,
    printed: Mapping[str, Sequence[tuple[float, float]]],
    explanations: Mapping[tuple[str, str], str],
) -> Table:
    """Declare a table of error rates by method and data set."""
    return Table(
        axes=("method", "data set"),
        cells=[
            Cell(
                key=(method, name),
                settings={"data": SETS[name], "method": method, "head": head},
                printed={"error": Estimate(*numbers, n_folds(method))},
                data=(SETS[name],),
                chosen_on_test=CHOSEN.get(method, CHOSEN["BLF"] if method.endswith("BLF") else ""),
                explanation=explanations.get((method, name), ""),
            )
            for method, row in printed.items()
            for name, numbers in zip(SETS, row, strict=True)
        ],
        compute=error_rates,
        quick={
            "repetitions": 1,
            "inner_folds": 3,
            "sigmas": [0.125, 0.5, 2, 8],
            "sparsities": [0.25, 1.0],
            "numbers": 60 if head == "knn" else 6,
            "boosting_steps": [100],
            "penalties": [1, 16, 128],
        },
        full={
            "repetitions": 3,
            "inner_folds": 5,
            "sigmas": [0.125, 0.25, 0.5, 1, 2, 4, 8, 16],
            "sparsities": [0.125, 0.25, 0.5, 1.0],
            "numbers": 60,
            "boosting_steps": list(range(100, 1001, 100)),
            "penalties": [2.0**power for power in range(-3, 8)],
        },
        lower_is_better={"error": True},
    )
