"""Directions that combine all candidates: the general framework, kernel PCA, reduced KOPLS."""

from .framework import FeatureExtraction, KernelFeatureExtraction
from .principal import KernelPCA
from .reduced import ReducedKernelOPLS

__all__ = ["FeatureExtraction", "KernelFeatureExtraction", "KernelPCA", "ReducedKernelOPLS"]
