"""The command line as it is installed."""

import os
import sys
from pathlib import Path

SCRIPT = Path(sys.executable).parent / "kernelsieve"
QUIET = {"OMP_NUM_THREADS": "1", "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
PROGRAM = [str(SCRIPT)] if SCRIPT.exists() else [sys.executable, "-m", "kernelsieve"]


def environment():
    """Return what the program sees of the surroundings; of the sources only what is installed."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    path = os.pathsep.join(folder for folder in given if not (Path(folder) / "benchmarks").is_dir())
    return os.environ | QUIET | {"PYTHONPATH": path}
