"""More rows than memory: a memory map, Parquet, features written out, and how time grows with rows."""

from __future__ import annotations

import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median

import joblib
import numpy as np

from kernelsieve import Candidates, SparseMaximalAlignment, config_context
from kernelsieve.data import row_slices

from .common import (
    heading,
    in_own_process,
    measured_in_turns,
    peak_megabytes,
    table,
    verdict,
    warm_up,
)
from .million import N_INPUTS, POOL, K, bound_seconds
from .million import N_ROWS as BOUND_ROWS

N_ROWS = 2_000_000
GROWTH = (50_000, 100_000, 200_000, 400_000, 800_000)
FEATURES = ("a memory map", ".npy", ".parquet")  # where features are written


def write_rows(folder: Path) -> None:
    """Write float32 inputs and a target, a block at a time."""
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, (N_ROWS, N_INPUTS))
    y = np.lib.format.open_memmap(folder / "y.npy", "w+", np.float64, (N_ROWS,))
    for rows in row_slices(N_ROWS, 20_000):
        part = rng.standard_normal((rows.stop - rows.start, N_INPUTS), dtype=np.float32)
        X[rows] = part
        y[rows] = (
            np.sin(2 * part[:, 0]) + part[:, 1] * part[:, 2] + 0.1 * rng.standard_normal(len(part))
        )


def write_parquet(folder: Path) -> None:
    """Write the same rows as named columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    X, y = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("X", "y"))
    names = [f"x{i}" for i in range(N_INPUTS)]
    schema = pa.schema([(name, pa.float32()) for name in names] + [("target", pa.float64())])
    with pq.ParquetWriter(folder / "rows.parquet", schema, compression="none") as file:
        for rows in row_slices(N_ROWS, 100_000):
            columns = [np.ascontiguousarray(column) for column in X[rows].T]
            file.write_table(pa.table([*columns, y[rows]], schema=schema))


def make_model() -> SparseMaximalAlignment:
    return SparseMaximalAlignment(
        K, candidates=Candidates(POOL, how="random"), gamma=1 / (2 * N_INPUTS), random_state=0
    )


def fit_map(folder: Path, n_rows: int) -> tuple[float, float]:
    """Fit on a memory map, and return seconds and megabytes above the interpreter."""
    X, y = (np.load(folder / f"{name}.npy", mmap_mode="r")[:n_rows] for name in ("X", "y"))
    warm_up()
    make_model().fit(X[:20_000], y[:20_000])
    before = peak_megabytes()
    start = time.perf_counter()
    make_model().fit(X, y)
    return time.perf_counter() - start, peak_megabytes() - before


def fit_parquet(folder: Path) -> tuple[float, float]:
    import pyarrow.dataset as ds

    dataset = ds.dataset(folder / "rows.parquet")
    warm_up()
    before = peak_megabytes()
    start = time.perf_counter()
    make_model().fit(dataset, "target")
    return time.perf_counter() - start, peak_megabytes() - before


def write_features(folder: Path, to: str) -> tuple[float, float]:
    X, y = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("X", "y"))
    model = make_model().fit(X[:20_000], y[:20_000])
    out = folder / f"features{to}"
    if to == "a memory map":
        out = np.lib.format.open_memmap(folder / "map.npy", "w+", np.float64, (N_ROWS, K))
    else:
        model.transform_to(X[:100_000], out)
    before = peak_megabytes()
    start = time.perf_counter()
    model.transform_to(X, out)
    return time.perf_counter() - start, peak_megabytes() - before


def on_paper(rows_per_second: float) -> None:
    """Print what a fit would take on more rows and workers, by the measured rate of one core.

    Parts are merged in a tree of eight branches over a network of a gigabyte a second, and the loop on
    their coordinates runs on one core, in the time that it took here.
    """
    part_bytes = 8 * (2 + POOL) * (3 + POOL) // 2
    loop = median(fit_statistic() for _ in range(3))
    lines = []
    for n_rows in (10**6, 10**7, 10**8, 10**9):
        for workers in (1, 10, 100):
            levels = int(np.ceil(np.log(workers) / np.log(8)))
            merging = levels * 8 * part_bytes / 1e9
            total = n_rows / (workers * rows_per_second) + merging + loop
            moved = part_bytes * workers + POOL * N_INPUTS * 4 * workers
            share = n_rows / (workers * rows_per_second) / total
            lines.append([f"{n_rows:,}", workers, moved / 1e6, total, f"{share:.0%}"])
    heading(
        f"on paper: from {rows_per_second:,.0f} rows a second and core, and {loop:.2f} s for the loop"
    )
    table(["rows", "workers", "MB moved", "s", "in passes"], lines)


def fit_statistic() -> float:
    """Time what is not a pass: the fit from a statistic alone, on one core."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3 * POOL, N_INPUTS))
    model = make_model().set_params(n_jobs=1)
    with config_context(precision="fast"):
        plan = model.prepare(X, X[:, 0] ** 2)
    part = plan.statistic(X, X[:, 0] ** 2)
    start = time.perf_counter()
    model.finish(plan, part)
    return time.perf_counter() - start


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_rows(folder)
        write_parquet(folder)
        (bound,), from_map, from_parquet, *written = measured_in_turns(
            lambda: [bound_seconds() * N_ROWS / BOUND_ROWS],
            lambda: in_own_process(fit_map, folder, N_ROWS),
            lambda: in_own_process(fit_parquet, folder),
            *(partial(in_own_process, write_features, folder, to) for to in FEATURES),
        )
        sizes = (partial(in_own_process, fit_map, folder, n_rows) for n_rows in GROWTH)
        growth = [spent for spent, _ in measured_in_turns(*sizes)]
    heading(f"on disk: SMA on {N_ROWS:,} x {N_INPUTS} float32, pool {POOL}, k = {K}")
    table(
        ["", "s", "MB above the interpreter"],
        [
            ["dsyrk + dgemm alone", bound, "-"],
            ["fit, memory map", *from_map],
            ["fit, Parquet", *from_parquet],
            *([f"transform_to {to}", *found] for to, found in zip(FEATURES, written, strict=True)),
        ],
    )
    verdict("bound over the time from a memory map", bound / from_map[0], 0.6, at_least=True)
    for name, (_, megabytes) in {"memory map": from_map, "Parquet": from_parquet}.items():
        most = max(megabytes.values)
        verdict(f"MB above the interpreter, {name}", most, 1024, at_least=False)
    heading("growth: fits of a memory map, medians of three")
    table(["rows", "s"], [[f"{n:,}", s] for n, s in zip(GROWTH, growth, strict=True)])
    exponent = np.polyfit(np.log(GROWTH), np.log(growth), 1)[0]
    verdict("exponent of rows in the time of a fit", exponent, 1.1, at_least=False)
    verdict("exponent of rows in the time of a fit", exponent, 0.9, at_least=True)
    on_paper(N_ROWS / from_map[0] / joblib.cpu_count())


if __name__ == "__main__":
    main()
