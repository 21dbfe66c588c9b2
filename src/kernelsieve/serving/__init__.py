"""Fitted pipelines as plain functions of samples."""

from .predictor import Predictor, predictor

__all__ = ["Predictor", "predictor"]
