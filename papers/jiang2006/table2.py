"""Table 2 and Figure 3: reconstruction errors and projection variances of noisy circles.

Circle of radius 8, noise of standard deviation 1, Gaussian kernel of width 4, 10 features, ACKFA with
cutoff 0.4. The paper has one draw of the data, so the spread of a single one of our draws is what its
numbers are compared with. Errors of one draw are high or low together: relative to kernel PCA on the
same points they are compared in jiang2006/table2_same_draw. Cells "about the origin" have images that
are not centred: the paper did not have these.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from papers.form import Cell, Estimate, Results, Table
from papers.markdown import grid
from papers.pictures import new_figure, style

from . import SIZES
from .methods import METHODS
from .plane import reconstructed

ERRORS = {
    "KPCA": (0.0525, 0.0584, 0.0553, 0.0567, 0.0564, 0.0569, 0.0553),
    "ACKFA": (0.0950, 0.0996, 0.0849, 0.0866, 0.0837, 0.0853, 0.0825),
    "AKFA": (0.0702, 0.0789, 0.0773, 0.0763, 0.0772, 0.0781, 0.0743),
    "SKFA": (0.1193, 0.1305, 0.1201, 0.1307, 0.1433, 0.1328, 0.1309),
}
ORIGIN = "about the origin"


def describe(results: Results) -> str:
    """Return Figure 3 as numbers, and the errors of images that are not centred."""
    sizes = [f"{size:,}" for size in SIZES]
    rows = [
        [method, *(f"{results[size, method]['projected'].value:.4f}" for size in sizes)]
        for method in METHODS
        if all((size, method) in results for size in sizes)
    ]
    origin = [
        f"{method} {found['error'].value:.4f}"
        for (where, method), found in results.items()
        if where.endswith(ORIGIN)
    ]
    return (
        "Figure 3, sum of the projection variances of 10 features:\n\n"
        + grid(["points", *sizes], rows)
        + f"\n\nErrors of 500 points that are not centred: {', '.join(origin)}."
    )


def draw(results: Results) -> Any:
    """Draw errors with their spread beside the printed ones, and the sums of projection variances."""
    figure, (left, right) = new_figure(2)
    for place, method in enumerate(METHODS):
        found = [results[f"{size:,}", method] for size in SIZES]
        mean = np.array([each["error"].value for each in found])
        spread = np.array([each["error"].spread for each in found])
        look = style(place)
        left.fill_between(SIZES, mean - 2 * spread, mean + 2 * spread, color=look["color"], alpha=0.2)
        left.plot(SIZES, mean, color=look["color"])
        left.plot(SIZES, ERRORS[method], color=look["color"], marker=look["marker"], linestyle="none")
        right.plot(SIZES, [each["projected"].value for each in found], label=method, **look)
    left.set(title="Table 2: marks printed, bands ours", xlabel="points", ylabel="reconstruction error")
    right.set(title="Figure 3", xlabel="points", ylabel="sum of projection variances, 10 features")
    right.legend(frameon=False, loc="center right")
    return figure


TABLE = Table(
    axes=("points", "method"),
    cells=[
        Cell(
            (f"{size:,}", method),
            {"method": method, "size": size, "center": True},
            printed={"error": Estimate(ERRORS[method][place])},
            explanation="One draw is printed, whose errors are high or low together; they are compared "
            "relative to kernel PCA of the same draw in jiang2006/table2_same_draw.",
        )
        for place, size in enumerate(SIZES)
        for method in METHODS
    ]
    + [
        Cell((f"500, {ORIGIN}", method), {"method": method, "size": 500, "center": False})
        for method in METHODS
    ],
    compute=reconstructed,
    quick={"draws": 6},
    full={"draws": 20},
    lower_is_better={"error": True},
    digits=".4f",
    draw=draw,
    describe=describe,
)
