"""Features and predictions of new rows: in bulk, and one row at a time."""

from __future__ import annotations

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelsieve import SparseMaximalAlignment, config_context, predictor
from kernelsieve.data import rows_per_block, run_blocks
from kernelsieve.datasets import make_interactions

from .common import REST, heading, in_turns, seconds, table, verdict

K, N_INPUTS, N_ROWS = 100, 50, 1_000_000
FEWER = 100_000
N_LANDMARKS, N_SERVED = 500, 20_000


def bare_products_seconds() -> float:
    """Time the two matrix products inside ``transform`` by BLAS, in our threads and in the cache."""
    rng = np.random.default_rng(0)
    size = rows_per_block(K, 2**20)
    landmarks, projection = rng.standard_normal((K, N_INPUTS)), rng.standard_normal((K, K))

    def make_worker():
        block = rng.standard_normal((size, N_INPUTS))
        values, features = np.empty((K, size)), np.empty((size, K))

        def worker(_: int) -> None:
            np.dot(landmarks, block.T, out=values)
            np.dot(values.T, projection, out=features)

        return worker

    blocks = list(range(N_ROWS // size))
    spent = seconds(lambda: run_blocks(blocks, make_worker), 7)
    return spent * N_ROWS / (len(blocks) * size)


def main() -> None:
    X, y = make_interactions(N_ROWS, N_INPUTS, random_state=0)
    train = slice(0, 5000)
    gamma = 1 / (2 * N_INPUTS)
    parameters = {"gamma": gamma, "candidates": 500, "random_state": 0}
    ours = SparseMaximalAlignment(K, **parameters).fit(X[train], y[train])
    with config_context(dtype="float32"):
        narrow = SparseMaximalAlignment(K, **parameters).fit(X[train], y[train])
    nystroem = Nystroem(gamma=gamma, n_components=K, random_state=0).fit(X[train])
    kernel_pca = KernelPCA(K, kernel="rbf", gamma=gamma, random_state=0).fit(X[train])
    X32 = X.astype(np.float32)
    nystroem32 = Nystroem(gamma=gamma, n_components=K, random_state=0).fit(X32[train])

    heading(f"serving: {K} features of {N_INPUTS} inputs, {N_ROWS:,} rows in bulk")
    few = X[:2000]
    # Without a rest between them: threads of BLAS that go on spinning are a part of Nystroem.
    bulk = in_turns(
        lambda: ours.transform(X),
        lambda: nystroem.transform(X),
        lambda: narrow.transform(X32),
        lambda: nystroem32.transform(X32),
        lambda: kernel_pca.transform(few),
        repeat=7,
        rest=0,
    )
    per_row = [t / N_ROWS * 1e6 for t in bulk[:4]] + [bulk[4] / len(few) * 1e6]
    projector = ours.projector()
    one = [
        t / 200 * 1e6
        for t in in_turns(
            lambda: [projector(X[i]) for i in range(200)],
            lambda: [nystroem.transform(X[i : i + 1]) for i in range(200)],
            lambda: [kernel_pca.transform(X[i : i + 1]) for i in range(200)],
        )
    ]
    table(
        ["us a row", "kernelsieve", "Nystroem", "KernelPCA"],
        [
            ["bulk, float64", per_row[0], per_row[1], per_row[4]],
            ["bulk, float32", per_row[2], per_row[3], "-"],
            ["one row", *one],
        ],
    )
    products = bare_products_seconds() / N_ROWS * 1e6
    print(
        f"the two products of a row by BLAS, without anything else: {products:.2f} us, "
        f"{products / per_row[0]:.2f} of our time for everything"
    )
    some = X[:FEWER]
    for rest in (0, REST):
        taken = in_turns(
            lambda: ours.transform(some), lambda: nystroem.transform(some), repeat=25, rest=rest
        )
        ours_us, theirs_us = (t / FEWER * 1e6 for t in taken)
        print(
            f"{FEWER:,} rows, {rest:g} s of rest before each call: {ours_us:.2f} us against "
            f"{theirs_us:.2f}, {theirs_us / ours_us:.2f} times"
        )
    verdict("bulk, float64: Nystroem over ours", per_row[1] / per_row[0], 3, at_least=True)
    verdict("one row: Nystroem over our projector", one[1] / one[0], 5, at_least=True)
    predictions(X, y)


def predictions(X: np.ndarray, y: np.ndarray) -> None:
    """Compare a pipeline with the predictor that it is folded into."""
    heading(f"serving: predictions of scaler, {N_LANDMARKS} landmarks and ridge, {N_INPUTS} inputs")
    extractor = SparseMaximalAlignment(N_LANDMARKS, candidates=1000, random_state=0)
    pipeline = make_pipeline(StandardScaler(), extractor, Ridge()).fit(X[:5000], y[:5000])
    folded, rows = predictor(pipeline), X[:N_SERVED]
    pipeline.set_params(sparsemaximalalignment__n_jobs=1)  # the predictor runs in one thread
    works = (
        lambda: pipeline.predict(rows),
        lambda: folded(rows),
        lambda: [pipeline.predict(rows[i : i + 1]) for i in range(200)],
        lambda: [folded(rows[i]) for i in range(200)],
    )
    spent = in_turns(*works, repeat=7)
    batch, one = [t / N_SERVED * 1e6 for t in spent[:2]], [t / 200 * 1e6 for t in spent[2:]]
    table(["us a row", "pipeline", "predictor"], [["bulk", *batch], ["one row", *one]])
    print(f"largest difference: {np.abs(folded(rows) - pipeline.predict(rows)).max():.1e}")
    verdict("bulk: pipeline over predictor", batch[0] / batch[1], 4, at_least=True)
    verdict("one row: pipeline over predictor", one[0] / one[1], 20, at_least=True)
