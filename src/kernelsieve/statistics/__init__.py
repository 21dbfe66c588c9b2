"""The one-pass statistic: accumulate, merge, factor."""

from .base import Coordinates, Statistic
from .double_double import DoubleDoubleStatistic
from .gram import GramStatistic

__all__ = ["Coordinates", "DoubleDoubleStatistic", "GramStatistic", "Statistic"]
