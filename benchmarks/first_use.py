"""The first use on a machine: import, and small fits with nothing compiled yet, in new processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial

from .common import Spread, heading, measured_in_turns, table, verdict

_TIMED = """
import time
before = time.perf_counter(), time.process_time()
{work}
print(time.perf_counter() - before[0], time.process_time() - before[1])
"""
_DATA = "import numpy as np; X = np.random.default_rng(0).standard_normal((500, 10)); y = X[:, 0];"
_IMPORT = "from kernelsieve import SparseMaximalAlignment"
_USES = {
    "fit": f"{_DATA} {_IMPORT}; m = SparseMaximalAlignment(20)\n{{mark}}\nm.fit(X, y)",
    "fit and transform": (
        f"{_DATA} {_IMPORT}; m = SparseMaximalAlignment(20)\n{{mark}}\nm.fit(X, y).transform(X)"
    ),
    "partial_fit and transform": (
        f"{_DATA} {_IMPORT}; m = SparseMaximalAlignment(20, candidates=X[:50])"
        "\n{mark}\nm.partial_fit(X, y).transform(X)"
    ),
}
_MARK = "before = time.perf_counter(), time.process_time()"


def in_new_process(work: str, folder: str) -> tuple[float, float]:
    """Return seconds by the clock and of the processor."""
    ran = subprocess.run(
        [sys.executable, "-c", _TIMED.format(work=work)],
        env=dict(os.environ, NUMBA_CACHE_DIR=folder),
        capture_output=True,
        text=True,
        check=True,
    )
    wall, cpu = map(float, ran.stdout.split())
    return wall, cpu


def first_and_second(work: str) -> tuple[float, float, float, float]:
    """Return the seconds of two processes, the second of which finds what the first has compiled."""
    with tempfile.TemporaryDirectory() as folder:
        return *in_new_process(work, folder), *in_new_process(work, folder)


def main() -> None:
    heading("first use: new processes, seconds")
    works = {
        "import of sklearn.svm": "import sklearn.svm",
        "import of kernelsieve": _IMPORT,
        **{name: work.format(mark=_MARK) for name, work in _USES.items()},
    }
    # An import is the same in both processes, unless Python has to compile it, too.
    found = measured_in_turns(*(partial(first_and_second, work) for work in works.values()), repeat=5)
    rows: dict[str, tuple[Spread, ...]] = {}
    for name, times in zip(works, found, strict=True):
        if name not in _USES:
            rows[name] = times[2:]
        else:
            rows[f"{name}, nothing compiled"] = times[:2]
            rows[f"{name}, compiled before"] = times[2:]
    table(["", "clock", "processor"], [[name, *spent] for name, spent in rows.items()])
    limit = 1.2 * float(rows["import of sklearn.svm"][0]) + 0.3
    ours = float(rows["import of kernelsieve"][0])
    verdict("import, of 1.2 times sklearn.svm and 0.3 s", ours / limit, 1, at_least=False)
    first = rows["fit, nothing compiled"][0]
    verdict("first small fit, seconds", first, 3, at_least=False)
