"""Rows in blocks, pools of candidates, and the lines that statistics are made of."""

from .blocks import Batch, row_slices, rows_per_block, weighted_targets
from .frame import Frame
from .pool import (
    Pool,
    dense_sample,
    distinct,
    draw_kmeans,
    draw_random,
    draw_rpcholesky,
    filled_up,
    first_equals,
)

__all__ = [
    "Batch",
    "Frame",
    "Pool",
    "dense_sample",
    "distinct",
    "draw_kmeans",
    "draw_random",
    "draw_rpcholesky",
    "filled_up",
    "first_equals",
    "row_slices",
    "rows_per_block",
    "weighted_targets",
]
