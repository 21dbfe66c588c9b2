"""From data and candidates to a fit: exact, symmetric, in one pass, on pools, out of core."""

from .exact import (
    check_target_memory,
    diagonal_of,
    fit_columns,
    row_columns,
    total_weight,
    trace_of,
    weighted_sum,
)
from .fold_sums import FoldSums, FoldWork, WorkTogether
from .one_pass import OnePass, RowPass
from .pools import draw_pool
from .precision import RIDGE_TRUST, form_of, may_become_safe
from .problem import (
    AUTO_POOL,
    CandidatePool,
    CandidateRule,
    Plan,
    Problem,
    use_of_candidates,
    way_to_draw,
)
from .sample_size import candidates_needed
from .selection import loop_pass, select, select_in_pool
from .settings import DEFAULT_COMPONENTS, Settings
from .statistic_pass import ColumnSums, StatisticPass
from .stream import RepeatableBatches, check_first_batch, split_item
from .symmetric import about_the_mean

__all__ = [
    "AUTO_POOL",
    "DEFAULT_COMPONENTS",
    "RIDGE_TRUST",
    "CandidatePool",
    "CandidateRule",
    "ColumnSums",
    "FoldSums",
    "FoldWork",
    "OnePass",
    "Plan",
    "Problem",
    "RepeatableBatches",
    "RowPass",
    "Settings",
    "StatisticPass",
    "WorkTogether",
    "about_the_mean",
    "candidates_needed",
    "check_first_batch",
    "check_target_memory",
    "diagonal_of",
    "draw_pool",
    "fit_columns",
    "form_of",
    "loop_pass",
    "may_become_safe",
    "row_columns",
    "select",
    "select_in_pool",
    "split_item",
    "total_weight",
    "trace_of",
    "use_of_candidates",
    "way_to_draw",
    "weighted_sum",
]
