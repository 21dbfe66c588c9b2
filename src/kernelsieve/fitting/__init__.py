"""From data and candidates to a fit: exact, symmetric, in one pass, on pools, out of core."""

from .exact import (
    diagonal_of,
    fit_columns,
    fit_fresh,
    row_columns,
    total_weight,
    trace_of,
    weighted_sum,
)
from .one_pass import OnePass, RowPass, pool_pass
from .pools import draw_pool, screening_criterion
from .precision import RIDGE_TRUST, PrecisionPolicy
from .settings import Settings
from .statistic_pass import ColumnSums, StatisticPass
from .stream import RepeatableBatches, Stream, check_first_batch, split_item
from .symmetric import about_the_mean, analyse_fresh, analyse_rows, analyse_sample

__all__ = [
    "RIDGE_TRUST",
    "ColumnSums",
    "OnePass",
    "PrecisionPolicy",
    "RepeatableBatches",
    "RowPass",
    "Settings",
    "StatisticPass",
    "Stream",
    "about_the_mean",
    "analyse_fresh",
    "analyse_rows",
    "analyse_sample",
    "check_first_batch",
    "diagonal_of",
    "draw_pool",
    "fit_columns",
    "fit_fresh",
    "pool_pass",
    "row_columns",
    "screening_criterion",
    "split_item",
    "total_weight",
    "trace_of",
    "weighted_sum",
]
