"""Fitted pipelines as plain functions of samples."""

from .affine import Affine
from .parts import Parts, feature_parts, folded, prediction_parts
from .predictor import Predictor, predictor
from .response import Response, jointly, one_by_one

__all__ = [
    "Affine",
    "Parts",
    "Predictor",
    "Response",
    "feature_parts",
    "folded",
    "jointly",
    "one_by_one",
    "prediction_parts",
    "predictor",
]
