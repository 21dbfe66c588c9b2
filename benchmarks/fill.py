"""An rbf block: how much the kernel costs beyond the matrix product inside it."""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from kernelsieve.columns import row_slices
from kernelsieve.execution import run_blocks
from kernelsieve.kernels import RBF

from .common import heading, in_turns, table, verdict

N_ROWS, N_LANDMARKS, N_INPUTS, BLOCK = 40_000, 1000, 50, 2048


def measure(dtype: type) -> tuple[float, float, float]:
    """Return seconds for the bare product, our fill and scikit-learn's kernel."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, N_INPUTS)).astype(dtype)
    Z = np.ascontiguousarray(X[:N_LANDMARKS])
    gamma = 1 / (2 * N_INPUTS)
    fill = RBF(gamma).against(Z, dtype)
    slices = list(row_slices(N_ROWS, BLOCK))
    flat = Z.T.copy()

    def over_blocks(work) -> None:
        def make_worker():
            out = np.empty((N_LANDMARKS, BLOCK), dtype)

            def worker(rows: slice) -> None:
                size = rows.stop - rows.start
                work(X[rows], out.reshape(-1)[: N_LANDMARKS * size].reshape(N_LANDMARKS, size))

            return worker

        run_blocks(slices, make_worker)

    def product(rows: np.ndarray, out: np.ndarray) -> None:
        np.dot(flat.T, rows.T, out=out)

    def scikit_learn() -> None:
        # in the same blocks, with all the threads that BLAS has: its intermediate arrays stay small
        for rows in slices:
            rbf_kernel(X[rows], Z, gamma=gamma)

    times = in_turns(lambda: over_blocks(product), lambda: over_blocks(fill), scikit_learn, repeat=7)
    return times[0], times[1], times[2]


def main() -> None:
    heading(f"fill: rbf block, {N_ROWS} x {N_LANDMARKS}, {N_INPUTS} inputs, ns a value")
    per_value = 1e9 / (N_ROWS * N_LANDMARKS)
    rows = []
    for dtype in (np.float32, np.float64):
        bare, ours, theirs = measure(dtype)
        each = [t * per_value for t in (bare, ours, theirs)]
        rows.append([np.dtype(dtype).name, *each, ours / bare, theirs / ours])
    table(["precision", "product", "kernelsieve", "scikit-learn", "ours/product", "theirs/ours"], rows)
    verdict("float32 fill over the bare product", rows[0][4], 1.6, at_least=False)
    verdict("float32 scikit-learn over ours", rows[0][5], 4, at_least=True)
