"""Fits beside one busy process on two cores, and with one thread of BLAS, against the quiet time.

The threads of BLAS wait for each other after every product. Where another process has one of the
cores, they wait for their turn as well, which takes many times longer than a product of small matrices.
So fits hold BLAS to one thread. With threads as many as cores, as by default, every fit runs in a
process of its own, with one thread alone, and last beside one that computes without end.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from .common import Spread, heading, table, verdict

CORES = 2
# Seconds of fits that follow each other in one process, in which the same was compiled before.
_SCRIPT = """
import time, warnings
import numpy as np
import kernelsieve as ks
warnings.simplefilter("ignore")
random = np.random.default_rng(0)
X = random.standard_normal(({n}, 5))
y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * random.standard_normal({n})
labels = np.digitize(y, np.quantile(y, [0.25, 0.5, 0.75])).astype(str)
def work():
    begun = time.perf_counter()
    {work}
    return time.perf_counter() - begun
work()
print(*(work() for _ in range({repeat})))
"""
_BUSY = "while True: pass"
WORKS = {
    "SparseMaximalAlignment(100), 1,000 samples": (1000, 3, "ks.SparseMaximalAlignment(100).fit(X, y)"),
    "KernelPLS(10), 600 samples": (600, 3, "ks.KernelPLS(10).fit(X, y)"),
    "KernelPLS(10).partial_fit, 1,000 samples": (
        1000,
        3,
        "ks.KernelPLS(10, candidates=200).partial_fit(X, y).transform(X)",
    ),
    "KernelFisherDiscriminant, 500 samples": (500, 3, "ks.KernelFisherDiscriminant().fit(X, labels)"),
    "SieveRegressor, 100 samples": (100, 1, "ks.SieveRegressor(random_state=0).fit(X, y)"),
}


def fit_seconds(n: int, repeat: int, work: str, threads: int = CORES) -> Spread:
    """Return the seconds of some fits in a new process."""
    count = str(threads)
    ran = subprocess.run(
        [sys.executable, "-c", _SCRIPT.format(n=n, repeat=repeat, work=work)],
        env=dict(os.environ, OMP_NUM_THREADS=count, OPENBLAS_NUM_THREADS=count, MKL_NUM_THREADS=count),
        capture_output=True,
        text=True,
        check=True,
    )
    return Spread(map(float, ran.stdout.split()))


def three_times(n: int, repeat: int, work: str) -> tuple[Spread, Spread, Spread]:
    """Return seconds when all is quiet, beside a busy process, and with one thread."""
    quiet, alone = fit_seconds(n, repeat, work), fit_seconds(n, repeat, work, threads=1)
    busy = subprocess.Popen([sys.executable, "-c", _BUSY])
    try:
        return quiet, fit_seconds(n, repeat, work), alone
    finally:
        busy.kill()
        busy.wait()


def main() -> None:
    heading(f"contention: fits on {CORES} cores, seconds")
    rows = []
    with only_some_cores(CORES):  # this process, and those that it starts
        for name, work in WORKS.items():
            quiet, beside, alone = three_times(*work)
            rows.append([name, quiet, beside, alone, beside / quiet, alone / quiet])
            print(f"   {name}: {quiet} quiet, {beside} beside one, {alone} with one thread", flush=True)
    table(
        ["", "quiet", "beside one", "one thread", "beside one / quiet", "one thread / quiet"],
        rows,
    )
    worst = max(float(row[4]) for row in rows)
    verdict("beside a busy process, of the quiet time at most", worst, 2.5, at_least=False)


@contextmanager
def only_some_cores(count: int) -> Iterator[None]:
    """Keep this process, and those that it starts, to so many cores."""
    everyone = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(everyone)[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, everyone)
