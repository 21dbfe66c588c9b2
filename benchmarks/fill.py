"""An rbf block: how much the kernel costs beyond the matrix product inside it."""

from __future__ import annotations

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from kernelsieve.data import row_slices, run_blocks
from kernelsieve.kernels import RBF

from .common import heading, in_turns, table, verdict

N_ROWS, N_LANDMARKS, N_INPUTS, BLOCK = 40_000, 1000, 50, 2048


def measure(dtype: type) -> list[float]:
    """Return seconds for the bare product, our fill, and scikit-learn's kernel in two ways."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, N_INPUTS)).astype(dtype)
    Z = np.ascontiguousarray(X[:N_LANDMARKS])
    gamma = 1 / (2 * N_INPUTS)
    fill = RBF(gamma).against(Z, dtype)
    slices = list(row_slices(N_ROWS, BLOCK))

    def over_blocks(work) -> None:
        def make_worker():
            out = np.empty(N_LANDMARKS * BLOCK, dtype)

            def worker(rows: slice) -> None:
                size = rows.stop - rows.start
                work(X[rows], out[: N_LANDMARKS * size].reshape(N_LANDMARKS, size))

            return worker

        run_blocks(slices, make_worker)

    def product(rows: np.ndarray, out: np.ndarray) -> None:
        np.dot(Z, rows.T, out=out)

    def theirs_in_blocks() -> None:
        for rows in slices:
            rbf_kernel(X[rows], Z, gamma=gamma)

    return in_turns(
        lambda: over_blocks(product),
        lambda: over_blocks(fill),
        theirs_in_blocks,
        lambda: rbf_kernel(X, Z, gamma=gamma),
        repeat=7,
    )


def main() -> None:
    heading(f"fill: rbf values, {N_ROWS} x {N_LANDMARKS}, {N_INPUTS} inputs, ns a value")
    per_value = 1e9 / (N_ROWS * N_LANDMARKS)
    rows = []
    for dtype in (np.float32, np.float64):
        times = measure(dtype)
        rows.append([np.dtype(dtype).name, *(t * per_value for t in times)])
    table(["precision", "product", "kernelsieve", "rbf_kernel in blocks", "rbf_kernel at once"], rows)
    for name, _, ours, in_blocks, at_once in rows:
        print(
            f"{name}: rbf_kernel takes {in_blocks / ours:.1f} times as long as ours in the same blocks "
            f"of {BLOCK} rows, {at_once / ours:.1f} times at once"
        )
    _, product, ours, _, at_once = rows[0]
    verdict("float32 fill over the bare product", ours / product, 1.6, at_least=False)
    verdict("float32 rbf_kernel over ours", at_once / ours, 4, at_least=True)
