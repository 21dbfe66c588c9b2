"""What more digits cost, in the statistic and in features of dependent landmarks."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from kernelsieve._compiled import DoubleDoubleRowProduct, RowProduct
from kernelsieve.statistics import GramStatistic, TriangularStatistic

from .common import heading, in_turns, table

N_LINES, N_ROWS, N_FEATURES = 1000, 2048, 100


def statistics(lines: np.ndarray) -> list[float]:
    """Return seconds for one block of rows, by plain products and by orthogonal transformations."""
    forms = GramStatistic(N_LINES), TriangularStatistic(N_LINES)
    return in_turns(*(lambda form=form: form.update(lines) for form in forms))


def features(lines: np.ndarray) -> list[float]:
    """Return seconds for the features of one block of rows, by plain sums and in two parts."""
    right, offset = np.triu(np.ones((N_FEATURES, N_FEATURES))), np.zeros(N_FEATURES)
    n_terms, out = np.arange(1, N_FEATURES + 1), np.empty((N_ROWS, N_FEATURES))
    products = [kind(right, offset, n_terms) for kind in (RowProduct, DoubleDoubleRowProduct)]

    def make(product):
        return lambda: [product(lines, out) for _ in range(50)]

    return [taken / 50 for taken in in_turns(*map(make, products))]


def main() -> None:
    heading(f"digits: {N_ROWS} rows, one thread, ms")
    lines = np.random.default_rng(0).uniform(size=(N_LINES, N_ROWS))
    with threadpool_limits(1):
        plain, safe = statistics(lines)
        plain_features, twice_features = features(np.ascontiguousarray(lines[:N_FEATURES]))
    rows = [
        [f"statistic of {N_LINES:,} columns", 1e3 * plain, 1e3 * safe],
        [f"{N_FEATURES} features of their values", 1e3 * plain_features, 1e3 * twice_features],
    ]
    table(["", "fast", "safe"], rows)
    print(
        f"A triangular factor takes {safe / plain:.1f} times as long as plain inner products, and "
        f"double-double sums {twice_features / plain_features:.1f} times as long as plain features."
    )
