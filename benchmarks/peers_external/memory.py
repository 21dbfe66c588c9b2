"""The high-water mark of this process's memory, as Linux has it; needs nothing but Python."""

import ctypes
from pathlib import Path


def peak_megabytes() -> float:
    """Return the high-water mark of this process's memory.

    ``getrusage`` would do, but a new process starts with the mark of the one that started it.
    """
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return float("nan")


def forget_peak() -> None:
    """Let the high-water mark begin anew, at the memory that is used now.

    What the C library keeps of freed memory goes back first: it would hide what is used next.
    """
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
