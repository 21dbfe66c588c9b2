"""The command line as it is installed."""

import os
import sys
from pathlib import Path

SCRIPT = Path(sys.executable).parent / "kernelsieve"
PROGRAM = [str(SCRIPT)] if SCRIPT.exists() else [sys.executable, "-m", "kernelsieve"]


def environment():
    return os.environ | {"OMP_NUM_THREADS": "1", "COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb"}
