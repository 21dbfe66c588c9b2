"""Fits beside one busy process on two cores, and with one thread of BLAS, against the quiet time.

The threads of BLAS wait for each other after every product. Where another process has one of the
cores, they wait for their turn as well, which takes many times longer than a product of small matrices.
So fits hold BLAS to one thread. With threads as many as cores, as by default, every fit runs in a
process of its own, then beside one that computes without end; and last with one thread alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial

from .common import Spread, heading, measured_in_turns, table, verdict

CORES = 2
_SETUP = """
import time, warnings
import numpy as np
import kernelsieve as ks
warnings.simplefilter("ignore")
random = np.random.default_rng(0)
X = random.standard_normal(({n}, 13))
y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * random.standard_normal({n})
labels = np.digitize(y, np.quantile(y, [0.25, 0.5, 0.75])).astype(str)
def work():
    {work}
work()
begun = time.perf_counter()
work()
print(time.perf_counter() - begun)
"""
_BUSY = "while True: pass"
WORKS = {
    "SparseMaximalAlignment(100), 2,000 samples": (2000, "ks.SparseMaximalAlignment(100).fit(X, y)"),
    "KernelPLS(10), 1,000 samples": (1000, "ks.KernelPLS(10).fit(X, y)"),
    "KernelPLS(10).partial_fit, 2,000 samples": (
        2000,
        "ks.KernelPLS(10, candidates=200).partial_fit(X, y).transform(X)",
    ),
    "KernelFisherDiscriminant, 1,500 samples": (1500, "ks.KernelFisherDiscriminant().fit(X, labels)"),
    "SieveRegressor, 600 samples": (600, "ks.SieveRegressor(random_state=0).fit(X, y)"),
}


def fit_seconds(n: int, work: str, threads: int = CORES) -> float:
    """Return the seconds of a fit in a new process, in which the same was compiled before."""
    count = str(threads)
    ran = subprocess.run(
        [sys.executable, "-c", _SETUP.format(n=n, work=work)],
        env=dict(os.environ, OMP_NUM_THREADS=count, OPENBLAS_NUM_THREADS=count, MKL_NUM_THREADS=count),
        capture_output=True,
        text=True,
        check=True,
    )
    return float(ran.stdout)


def three_times(n: int, work: str) -> tuple[float, float, float]:
    """Return seconds when all is quiet, beside a busy process, and with one thread."""
    quiet, alone = fit_seconds(n, work), fit_seconds(n, work, threads=1)
    busy = subprocess.Popen([sys.executable, "-c", _BUSY])
    try:
        return quiet, fit_seconds(n, work), alone
    finally:
        busy.kill()
        busy.wait()


def main() -> None:
    heading(f"contention: fits on {CORES} cores, seconds")
    everyone = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(everyone)[:CORES])  # of this process, and of those that it starts
    try:
        found = measured_in_turns(*(partial(three_times, *work) for work in WORKS.values()), repeat=3)
    finally:
        os.sched_setaffinity(0, everyone)
    rows: dict[str, tuple[Spread, ...]] = dict(zip(WORKS, found, strict=True))
    table(
        ["", "quiet", "beside one", "one thread", "beside one / quiet", "one thread / quiet"],
        [
            [name, *spent, float(spent[1] / spent[0]), float(spent[2] / spent[0])]
            for name, spent in rows.items()
        ],
    )
    worst = max(float(spent[1] / spent[0]) for spent in rows.values())
    verdict("beside a busy process, of the quiet time at most", worst, 2.5, at_least=False)
