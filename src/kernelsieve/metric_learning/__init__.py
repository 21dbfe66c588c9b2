"""Metrics of the inputs that are learned from the target."""

from .gradient_metric import GradientMetric

__all__ = ["GradientMetric"]
