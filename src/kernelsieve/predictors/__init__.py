"""Predictors with nothing to assemble: tables in, predictions with intervals and reasons out."""

from .classifier import SieveClassifier
from .explanation import Explanation
from .regressor import SieveRegressor

__all__ = ["Explanation", "SieveClassifier", "SieveRegressor"]
