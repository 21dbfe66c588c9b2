"""Directions that combine all candidates: the framework, kernel PCA, reduced KOPLS, kernel boosting."""

from .boosting import KernelBoosting
from .framework import FeatureExtraction, KernelFeatureExtraction
from .principal import KernelPCA
from .reduced import ReducedKernelOPLS

__all__ = [
    "FeatureExtraction",
    "KernelBoosting",
    "KernelFeatureExtraction",
    "KernelPCA",
    "ReducedKernelOPLS",
]
