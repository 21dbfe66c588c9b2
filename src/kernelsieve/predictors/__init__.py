"""Predictors that take tables as they are, and give intervals and explanations."""

from ..program import Explanation
from .classifier import SieveClassifier
from .regressor import SieveRegressor

__all__ = ["Explanation", "SieveClassifier", "SieveRegressor"]
