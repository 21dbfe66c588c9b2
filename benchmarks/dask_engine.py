"""Dask on two workers of one thread each, against two threads of our own."""

from __future__ import annotations

import logging

import numpy as np

from kernelsieve import SparseMaximalAlignment

from .common import heading, in_turns, table, verdict

N_ROWS, N_INPUTS, POOL, K = 400_000, 50, 1000, 100
CHUNKS = (10_000, 50_000)


def make_data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_ROWS, N_INPUTS), dtype=np.float32)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(N_ROWS)
    return X, y


def main() -> None:
    import dask.array as da
    from distributed import Client, LocalCluster

    heading(f"dask_engine: SMA on {N_ROWS} x {N_INPUTS} float32, pool of {POOL}, k = {K}")
    X, y = make_data()
    model = SparseMaximalAlignment(
        K, candidates=X[:: N_ROWS // POOL], gamma=1 / (2 * N_INPUTS), n_jobs=2
    )
    options = {"processes": True, "dashboard_address": None, "silence_logs": logging.ERROR}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        Client(cluster) as client,
    ):
        kept = []
        for rows in CHUNKS:  # on the workers before anything is timed, as the array is in memory
            kept.append(
                tuple(client.persist(da.from_array(v, chunks=(rows, *v.shape[1:]))) for v in (X, y))
            )
        model.fit(kept[0][0][:20_000], kept[0][1][:20_000])  # compiles
        works = [lambda: model.fit(X, y)]
        works += [lambda of=of: model.fit(*of) for of in kept]
        own, *others = in_turns(*works, repeat=3)
    names = [f"Dask, chunks of {rows:,} rows" for rows in CHUNKS]
    table(["", "s"], [["two threads", own], *zip(names, others, strict=True)])
    for name, spent in zip(names, others, strict=True):
        verdict(f"{name}, over two threads", spent / own, 1.25, at_least=False)
