"""The one-pass statistic: accumulate, merge, factor."""

from .base import Statistic
from .class_sums import ClassScatter
from .coordinates import Coordinates
from .gram import GramStatistic
from .triangular import TriangularStatistic

__all__ = ["ClassScatter", "Coordinates", "GramStatistic", "Statistic", "TriangularStatistic"]
