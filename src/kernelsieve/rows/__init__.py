"""Rows in blocks, targets, pools of candidates, and augmented blocks that statistics are made of."""

from .arrow import ArrowSource
from .augmented_block import AugmentedBlock
from .blocks import Batch, row_number, row_slices, rows_from, rows_per_block
from .hashed_folds import HashedFolds, drawn_order, row_hashes
from .labels import Labels
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

__all__ = [
    "ArrowSource",
    "AugmentedBlock",
    "Batch",
    "HashedFolds",
    "Labels",
    "Part",
    "Pool",
    "SlicedSource",
    "Source",
    "SourceBatches",
    "TargetEncoder",
    "check_not_constant",
    "check_squares",
    "count_rows",
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
    "one_target",
    "refuse_labels",
    "row_hashes",
    "row_number",
    "row_slices",
    "rows_from",
    "rows_per_block",
    "target_array",
    "warn_if_ambiguous",
    "warn_if_numbers",
    "weighted_targets",
]
