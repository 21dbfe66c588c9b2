"""Predictors with nothing to assemble: tables in, predictions with intervals and reasons out."""

from ..program import Explanation
from .classifier import SieveClassifier
from .regressor import SieveRegressor

__all__ = ["Explanation", "SieveClassifier", "SieveRegressor"]
