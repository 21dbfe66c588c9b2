"""Metrics of the inputs, learned from the target."""

from .gradient_metric import GradientMetric

__all__ = ["GradientMetric"]
