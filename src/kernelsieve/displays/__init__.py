"""Displays of score paths, bounds, landmarks and features, drawn with matplotlib."""

from .bound import StabilityBoundDisplay
from .contributions import ContributionDisplay
from .criterion import CriterionPathDisplay
from .feature_map import FeatureMapDisplay
from .landmarks import LandmarkDisplay
from .metric import MetricImportanceDisplay, MetricPathDisplay
from .path import ComponentPathDisplay
from .path_table import PathCurve
from .predicted_measured import PredictedMeasuredDisplay
from .roc import RocComparisonDisplay
from .score_distances import ScoreDistanceDisplay

__all__ = [
    "ComponentPathDisplay",
    "ContributionDisplay",
    "CriterionPathDisplay",
    "FeatureMapDisplay",
    "LandmarkDisplay",
    "MetricImportanceDisplay",
    "MetricPathDisplay",
    "PathCurve",
    "PredictedMeasuredDisplay",
    "RocComparisonDisplay",
    "ScoreDistanceDisplay",
    "StabilityBoundDisplay",
]
