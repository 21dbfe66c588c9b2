"""The first use on a machine: import, and small fits with nothing compiled yet, in new processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from .common import heading, table, verdict

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


def shortest(work: str, repeat: int = 5) -> tuple[float, float]:
    with tempfile.TemporaryDirectory() as folder:
        return min(in_new_process(work, folder) for _ in range(repeat))


def main() -> None:
    heading("first use: new processes, seconds")
    imports = {
        "sklearn.svm": shortest("import sklearn.svm"),
        "kernelsieve": shortest(_IMPORT),
    }
    uses = {}
    for name, work in _USES.items():
        timed = work.format(mark=_MARK)
        uses[f"{name}, nothing compiled"] = min(shortest(timed, 1) for _ in range(3))
        uses[f"{name}, compiled before"] = shortest(timed, 3)
    rows = [*((f"import of {name}", *spent) for name, spent in imports.items())]
    rows += [(name, *spent) for name, spent in uses.items()]
    table(["", "clock", "processor"], rows)
    limit = 1.2 * imports["sklearn.svm"][0] + 0.3
    verdict(
        "import, of 1.2 times sklearn.svm and 0.3 s",
        imports["kernelsieve"][0] / limit,
        1,
        at_least=False,
    )
    verdict("first small fit, seconds", uses["fit, nothing compiled"][0], 3, at_least=False)
