"""Who runs the blocks."""

from .passes import absorb, gather
from .threads import n_threads, run_blocks, single_threaded_blas

__all__ = ["absorb", "gather", "n_threads", "run_blocks", "single_threaded_blas"]
