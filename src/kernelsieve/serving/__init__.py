"""Fitted pipelines as plain functions of samples."""

from .affine import Affine
from .encoding import Encoding, Indicator, Number
from .parts import Parts, feature_parts, folded, prediction_parts
from .predictor import Predictor, predictor
from .response import Exponential, Response, jointly, one_by_one

__all__ = [
    "Affine",
    "Encoding",
    "Exponential",
    "Indicator",
    "Number",
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
