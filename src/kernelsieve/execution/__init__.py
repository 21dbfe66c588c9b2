"""Who runs the blocks."""

from .finite import check_finite
from .passes import Work, absorb, gather, sum_up
from .sources import open_source
from .tangents import (
    Change,
    WeightedBlock,
    absorb_weighted,
    change_block,
    change_blocks,
    change_products,
)
from .threads import QUIET, n_threads, run_blocks, single_threaded_blas

__all__ = [
    "QUIET",
    "Change",
    "WeightedBlock",
    "Work",
    "absorb",
    "absorb_weighted",
    "change_block",
    "change_blocks",
    "change_products",
    "check_finite",
    "gather",
    "n_threads",
    "open_source",
    "run_blocks",
    "single_threaded_blas",
    "sum_up",
]
