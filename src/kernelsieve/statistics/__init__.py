"""The one-pass statistic: lines of blocks, sums that merge, a factor of them."""

from .coordinates import ClassScatter, Coordinates
from .fold_sums import FoldSums, FoldWork, WorkTogether
from .passes import (
    RESIDUAL_TRUST,
    RIDGE_TRUST,
    AugmentedBlock,
    ColumnSums,
    StatisticPass,
    WeightedBlock,
    absorb,
    absorb_weighted,
    form_of,
    gather,
    may_become_safe,
)
from .statistic import GramStatistic, Statistic, TriangularStatistic
from .tangents import Change, change_block, change_blocks, change_products

__all__ = [
    "RESIDUAL_TRUST",
    "RIDGE_TRUST",
    "AugmentedBlock",
    "Change",
    "ClassScatter",
    "ColumnSums",
    "Coordinates",
    "FoldSums",
    "FoldWork",
    "GramStatistic",
    "Statistic",
    "StatisticPass",
    "TriangularStatistic",
    "WeightedBlock",
    "WorkTogether",
    "absorb",
    "absorb_weighted",
    "change_block",
    "change_blocks",
    "change_products",
    "form_of",
    "gather",
    "may_become_safe",
]
