"""The one-pass statistic: accumulate, merge, factor."""

from .base import Statistic
from .class_sums import ClassScatter
from .coordinates import Coordinates
from .double_double import DoubleDoubleStatistic
from .gram import GramStatistic

__all__ = ["ClassScatter", "Coordinates", "DoubleDoubleStatistic", "GramStatistic", "Statistic"]
