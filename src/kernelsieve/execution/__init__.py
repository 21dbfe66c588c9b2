"""Who runs the blocks."""

from .finite import check_finite
from .passes import Work, absorb, gather, rows_in, sum_up
from .progress import advance, counted, reported
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
    "advance",
    "change_block",
    "change_blocks",
    "change_products",
    "check_finite",
    "counted",
    "gather",
    "n_threads",
    "open_source",
    "reported",
    "rows_in",
    "run_blocks",
    "single_threaded_blas",
    "sum_up",
]
