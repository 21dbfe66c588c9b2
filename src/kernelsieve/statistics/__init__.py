"""The one-pass statistic: accumulate, merge, factor."""

from .base import Coordinates, Statistic
from .compensated import CompensatedStatistic
from .gram import GramStatistic

__all__ = ["CompensatedStatistic", "Coordinates", "GramStatistic", "Statistic"]
