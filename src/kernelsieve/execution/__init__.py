"""Who runs the blocks."""

from .finite import check_finite
from .passes import absorb, gather
from .tangents import Change, Changes, ChangingSums
from .threads import QUIET, n_threads, run_blocks, single_threaded_blas

__all__ = [
    "QUIET",
    "Change",
    "Changes",
    "ChangingSums",
    "absorb",
    "check_finite",
    "gather",
    "n_threads",
    "run_blocks",
    "single_threaded_blas",
]
