"""Directions that combine all candidates: the general framework, and kernel PCA."""

from .framework import FeatureExtraction, KernelFeatureExtraction
from .principal import KernelPCA

__all__ = ["FeatureExtraction", "KernelFeatureExtraction", "KernelPCA"]
