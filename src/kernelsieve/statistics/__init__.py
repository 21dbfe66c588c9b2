"""The one-pass statistic: accumulate, merge, factor."""

from .base import Coordinates, Statistic
from .gram import GramStatistic
from .triangular import TriangularStatistic

__all__ = ["Coordinates", "GramStatistic", "Statistic", "TriangularStatistic"]
