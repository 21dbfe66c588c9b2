"""What estimators share: reading parameters and data, abilities with one job each, documentation."""

from .attributes import all_or_nothing
from .base import KernelEstimator
from .inputs import check_precomputed_columns
from .inverse_transform import InverseTransformMixin, squared_lengths
from .loop import LoopEstimator, subset_criterion
from .out_of_core import OutOfCoreMixin, split_item
from .predicting import PredictMixin
from .sources import is_summed_up, planned_by_sample, row_wise
from .statistic import StatisticPart, StatisticPlan, prepared, screens
from .widths import WIDTHS

__all__ = [
    "WIDTHS",
    "InverseTransformMixin",
    "KernelEstimator",
    "LoopEstimator",
    "OutOfCoreMixin",
    "PredictMixin",
    "StatisticPart",
    "StatisticPlan",
    "all_or_nothing",
    "check_precomputed_columns",
    "is_summed_up",
    "planned_by_sample",
    "prepared",
    "row_wise",
    "screens",
    "split_item",
    "squared_lengths",
    "subset_criterion",
]
