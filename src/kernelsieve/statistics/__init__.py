"""The one-pass statistic: lines of blocks, sums that merge, a factor of them."""

from .base import Statistic
from .class_sums import ClassScatter
from .coordinates import Coordinates
from .fold_sums import FoldSums, FoldWork, WorkTogether
from .gram import GramStatistic
from .passes import AugmentedBlock, absorb, gather
from .statistic_pass import ColumnSums, StatisticPass
from .tangents import (
    Change,
    WeightedBlock,
    absorb_weighted,
    change_block,
    change_blocks,
    change_products,
)
from .triangular import (
    RESIDUAL_TRUST,
    RIDGE_TRUST,
    TriangularStatistic,
    form_of,
    may_become_safe,
)

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
