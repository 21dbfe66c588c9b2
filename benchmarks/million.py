"""A million rows in one pass: how near to the machine's own matrix products, and how much memory."""

from __future__ import annotations

import time

import numpy as np
from sklearn.decomposition import KernelPCA

from kernelsieve import Candidates, SparseMaximalAlignment
from kernelsieve.data import row_slices, rows_per_block, run_blocks

from .common import (
    heading,
    in_own_process,
    measured_in_turns,
    peak_megabytes,
    seconds,
    table,
    verdict,
    warm_up,
)

N_ROWS, N_INPUTS, POOL, K = 1_000_000, 50, 1000, 100
SCREENED = 3 * K  # candidates, as by default


def make_data(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Fill the arrays in pieces, so that nothing else was ever as large as they are."""
    rng = np.random.default_rng(0)
    X = np.empty((n_rows, N_INPUTS))
    y = np.empty(n_rows)
    for rows in row_slices(n_rows, 20_000):
        part = X[rows]
        part[...] = rng.standard_normal(part.shape)
        y[rows] = np.sin(2 * part[:, 0]) + part[:, 1] * part[:, 2]
        y[rows] += 0.1 * rng.standard_normal(len(part))
    return X, y


def bound_seconds(n_rows: int = 100_000) -> float:
    """Time the products that one pass cannot do without, on threads of our own, and scale to N_ROWS.

    ``dgemm`` for the inner products of the inputs and ``dsyrk`` for those of the columns, with both
    operands in the cache.
    """
    size = rows_per_block(POOL)
    rng = np.random.default_rng(0)
    landmarks = rng.standard_normal((POOL, N_INPUTS))

    def make_worker():
        block = rng.standard_normal((size, N_INPUTS))
        columns = np.empty((POOL, size))

        def worker(_: int) -> None:
            np.dot(landmarks, block.T, out=columns)
            np.dot(columns, columns.T)

        return worker

    blocks = list(range(n_rows // size))
    spent = seconds(lambda: run_blocks(blocks, make_worker), 3)
    return spent * N_ROWS / (len(blocks) * size)


def fit_million(pool: str, candidates: int) -> tuple[float, float, float]:
    """Fit, and return the seconds, the memory above the data, and what is explained."""
    X, y = make_data(N_ROWS)
    model = SparseMaximalAlignment(
        K, candidates=Candidates(candidates, how=pool), gamma=1 / (2 * N_INPUTS), random_state=0
    )
    warm_up()
    before = peak_megabytes()
    start = time.perf_counter()
    model.fit(X, y)
    spent = time.perf_counter() - start
    return spent, peak_megabytes() - before, float(model.explained_target_ratio_.sum())


def kernel_pca_seconds(n_rows: int = 10_000) -> float:
    X, _ = make_data(n_rows)
    pca = KernelPCA(K, kernel="rbf", gamma=1 / (2 * N_INPUTS), random_state=0)
    start = time.perf_counter()
    pca.fit(X)
    return time.perf_counter() - start


def main() -> None:
    heading(f"million: SMA on {N_ROWS} x {N_INPUTS}, k = {K}, float64")
    (bound,), random, screened, (pca,) = measured_in_turns(
        lambda: [bound_seconds()],
        lambda: in_own_process(fit_million, "random", POOL),
        lambda: in_own_process(fit_million, "screen", SCREENED),
        lambda: [kernel_pca_seconds()],
    )
    table(
        ["", "s", "MB above the data", "share of target explained"],
        [
            ["dsyrk + dgemm alone, pool of 1,000", bound, "-", "-"],
            ["SMA, random pool of 1,000", *random],
            [f"SMA, screened pool of {SCREENED}", *screened],
            ["KernelPCA(100) on 10,000 rows", pca, "-", "-"],
        ],
    )
    verdict(
        "share of the machine's gemm rate, bound over SMA's time",
        bound / random[0],
        0.70,
        at_least=True,
    )
    verdict("MB above the data", max(random[1].values), 400, at_least=False)
    print(
        f"KernelPCA on a hundredth of the rows takes {pca / random[0]:.1f} times as long as SMA on all"
    )
