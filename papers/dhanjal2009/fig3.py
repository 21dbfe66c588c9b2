"""Figure 3: how few columns a step needs to look at.

2,000 examples, 1,000 features, labels from 50 of them; linear kernel. Every step looks at a fresh
random subset of the kernel columns. Drawn are B(S) of SMC and D(S) of SMA against the number of
features, the mean of several draws of the data.

**Printed:** 500 columns are nearly indistinguishable from all 2,000, and 100 are close to optimal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelsieve import Candidates, config_context
from kernelsieve.datasets import make_sparse_linear
from papers.form import Cell, Results, Table
from papers.markdown import grid

from .fig2 import METHODS, NAMES, SYMBOLS
from .pictures import new_figure, style, with_legend

SUBSETS = (25, 50, 100, 200, 500, 2000)
ALL = SUBSETS[-1]
N_FEATURES = 100
FEATURES = np.array([10, 20, 50, 100])


def cumulative_criterion(method: str, subset: int, seed: int) -> np.ndarray:
    """Return the cumulative criterion when every step looks at fresh random columns."""
    X, y = make_sparse_linear(ALL, 1000, n_informative=50, random_state=seed)
    everyone = subset >= ALL
    estimator = METHODS[method](
        N_FEATURES,
        kernel="precomputed",
        candidates=Candidates("all" if everyone else subset, resample=not everyone),
        tol=1e-20,
        random_state=seed,
    )
    with config_context(block_size=ALL):  # columns of K lie in one piece: do not cut them
        return np.cumsum(estimator.fit((X @ X.T).T, y).criterion_path_)


def curves(method: str, subset: int, draws: int) -> dict[str, Any]:
    """Return B(S) or D(S) by the number of features, a line for each draw."""
    return {"total": [cumulative_criterion(method, subset, seed) for seed in range(draws)]}


def key(method: str, subset: int) -> tuple[str, str]:
    return method, "all columns" if subset == ALL else f"{subset} columns"


def share_of_all(results: Results, method: str, subset: int) -> np.ndarray:
    """Return the mean curve of a subset relative to that of all columns."""
    mine, everyone = (results[key(method, size)]["total"].value for size in (subset, ALL))
    return np.divide(mine, everyone)


def describe(results: Results) -> str:
    """Return the ratios as a table."""
    rows = [
        [", ".join(key(method, size)), *(f"{v:.3f}" for v in share_of_all(results, method, size)[at])]
        for method in METHODS
        for size in SUBSETS[:-1]
        for at in [FEATURES - 1]
    ]
    return "Relative to all columns:\n\n" + grid(["features", *map(str, FEATURES)], rows)


def draw(results: Results) -> Any:
    """Draw the cumulative criteria against the number of features."""
    figure, panels = new_figure(1, 4.6)
    for panel, method in zip(panels[0], METHODS, strict=True):
        for place, size in enumerate(reversed(SUBSETS)):
            values = results[key(method, size)]["total"].value
            name = f"all {size:,}" if size == ALL else f"{size}"
            panel.plot(range(1, len(values) + 1), values, label=name, **style(place, 10))
        panel.set(
            title=method,
            xlabel="number of features",
            ylabel=f"{NAMES[method]}, {SYMBOLS[method]}",
            ylim=(0, None),
        )
    return with_legend(figure, panels, "kernel columns that every step looks at")


TABLE = Table(
    axes=("method", "columns"),
    cells=[
        Cell(key=key(method, subset), settings={"method": method, "subset": subset})
        for method in METHODS
        for subset in SUBSETS
    ],
    compute=curves,
    quick={"draws": 3},
    full={"draws": 10},
    draw=draw,
    describe=describe,
)
