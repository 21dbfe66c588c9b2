"""What samples are and who reads them: blocks, targets, pools; threads, Dask, Spark, Ray."""

from .arrow import ArrowSource
from .blocks import (
    Batch,
    row_number,
    row_slices,
    rows_from,
    rows_per_block,
    total_weight,
    trace_of,
    weighted_sum,
)
from .finite import check_finite
from .hashed_folds import HashedFolds, drawn_order, row_hashes
from .labels import Labels
from .opening import open_source
from .pool import (
    Pool,
    dense_sample,
    distinct,
    draw_kmeans,
    draw_random,
    draw_rpcholesky,
    draw_sample,
    filled_up,
    first_equals,
)
from .progress import advance, counted, reported
from .sources import Part, SlicedSource, Source, SourceBatches, count_rows, is_frame
from .targets import (
    TargetEncoder,
    check_not_constant,
    check_squares,
    one_target,
    refuse_labels,
    target_array,
    warn_if_ambiguous,
    warn_if_numbers,
    weighted_targets,
)
from .threads import QUIET, n_threads, run_blocks, single_threaded_blas
from .work import Work, rows_in, sum_up

__all__ = [
    "QUIET",
    "ArrowSource",
    "Batch",
    "HashedFolds",
    "Labels",
    "Part",
    "Pool",
    "SlicedSource",
    "Source",
    "SourceBatches",
    "TargetEncoder",
    "Work",
    "advance",
    "check_finite",
    "check_not_constant",
    "check_squares",
    "count_rows",
    "counted",
    "dense_sample",
    "distinct",
    "draw_kmeans",
    "draw_random",
    "draw_rpcholesky",
    "draw_sample",
    "drawn_order",
    "filled_up",
    "first_equals",
    "is_frame",
    "n_threads",
    "one_target",
    "open_source",
    "refuse_labels",
    "reported",
    "row_hashes",
    "row_number",
    "row_slices",
    "rows_from",
    "rows_in",
    "rows_per_block",
    "run_blocks",
    "single_threaded_blas",
    "sum_up",
    "target_array",
    "total_weight",
    "trace_of",
    "warn_if_ambiguous",
    "warn_if_numbers",
    "weighted_sum",
    "weighted_targets",
]
