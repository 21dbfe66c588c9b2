"""The command line on a CSV file of a million rows: seconds, and memory of the processes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas

from .common import heading, measured_in_turns, table, verdict

N_ROWS, BLOCK = 1_000_000, 50_000
# A process tells in the end how much memory it had at most.
PROGRAM = (
    "import sys\n"
    "from kernelsieve.cli.errors import _run\n"
    "code = _run(sys.argv[1:], False)\n"
    "print(next(l.split()[1] for l in open('/proc/self/status') if l.startswith('VmHWM')))\n"
    "sys.exit(code)\n"
)


def main() -> None:
    heading(f"command_line: a CSV file of {N_ROWS:,} rows, five numbers and a category")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = folder / "table.csv"
        write_table(data)
        works = {}
        for method in ("auto", "sma", "kpls"):
            model, out = folder / f"{method}.ksv", folder / f"{method}.parquet"
            options = ["--method", method, "--budget", "100", "-q"]
            works |= {
                f"fit --method {method}": partial(
                    measured, "fit", data, "-t", "y", "-o", model, *options
                ),
                f"predict, {method}": partial(measured, "predict", model, data, "-o", out),
            }
        found = measured_in_turns(*works.values())
        for out in folder.glob("*.parquet"):
            assert len(pandas.read_parquet(out)) == N_ROWS
        table(
            ("", "s", "MB at most"),
            [(name, *figures) for name, figures in zip(works, found, strict=True)],
        )
    verdict("MB of a process", max(mb for _, mb in found), 1024, at_least=False)


def write_table(path: Path) -> None:
    random = np.random.default_rng(0)
    for start in range(0, N_ROWS, BLOCK):
        X = random.normal(size=(BLOCK, 5)).round(4)
        frame = pandas.DataFrame(X, columns=list("abcde"))
        frame["kind"] = random.choice(["red", "green", "blue"], BLOCK)
        noise = random.normal(0, 0.3, BLOCK)
        frame["y"] = (np.sin(2 * X[:, 0]) + X[:, 1] * (frame["kind"] == "red") + noise).round(4)
        frame.to_csv(path, mode="a", header=start == 0, index=False)


def measured(*arguments: object) -> tuple[float, float]:
    """Return seconds and megabytes of a run of the program."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)], check=True, capture_output=True
    )
    return time.perf_counter() - start, int(done.stdout.split()[-1]) / 1024
