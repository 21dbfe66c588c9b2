"""The command line as it is installed."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(sys.executable).parent / "kernelsieve"
PROGRAM = [str(SCRIPT)] if SCRIPT.exists() else [sys.executable, "-m", "kernelsieve"]


def environment():
    """Return what the program sees of the surroundings; of the sources only what is installed."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    path = os.pathsep.join(folder for folder in given if not (Path(folder) / "benchmarks").is_dir())
    quiet = {"OMP_NUM_THREADS": "1", "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
    return os.environ | quiet | {"PYTHONPATH": path}


def program(*arguments, **options):
    """Run the program in a process of its own; return what came out."""
    call = [*PROGRAM, *map(str, arguments)]
    pipe = subprocess.PIPE
    given = {"stdout": pipe, "stderr": pipe, "env": environment(), "timeout": 600} | options
    return subprocess.run(call, check=False, **given)
