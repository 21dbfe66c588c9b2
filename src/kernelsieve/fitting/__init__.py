"""From data and candidates to a fit: exact, symmetric, in one pass, on pools, out of core."""

from .candidates import Candidates, candidates_needed
from .exact import check_target_memory, diagonal_of, fit_columns, row_columns
from .one_pass import OnePass, RowPass, select_in_pool
from .pools import draw_pool
from .problem import (
    AUTO_POOL,
    DEFAULT_COMPONENTS,
    Plan,
    Problem,
    Settings,
    use_of_candidates,
    way_to_draw,
)
from .selection import select_without_pool
from .symmetric import about_the_mean

__all__ = [
    "AUTO_POOL",
    "DEFAULT_COMPONENTS",
    "Candidates",
    "OnePass",
    "Plan",
    "Problem",
    "RowPass",
    "Settings",
    "about_the_mean",
    "candidates_needed",
    "check_target_memory",
    "diagonal_of",
    "draw_pool",
    "fit_columns",
    "row_columns",
    "select_in_pool",
    "select_without_pool",
    "use_of_candidates",
    "way_to_draw",
]
