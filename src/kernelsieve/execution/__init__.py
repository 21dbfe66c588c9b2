"""Who runs the blocks."""

from .passes import absorb, gather
from .threads import QUIET, n_threads, run_blocks, single_threaded_blas

__all__ = ["QUIET", "absorb", "gather", "n_threads", "run_blocks", "single_threaded_blas"]
