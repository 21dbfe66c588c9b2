"""Latent features from combinations of many samples, and the general framework."""

from .boosted import KernelBoostedLatentFeatures, KernelBoostedLatentFeaturesClassifier
from .boosting import KernelBoosting
from .framework import KernelFeatureExtraction
from .orthogonal_loadings import OrthogonalLoadingsKernelPLS
from .pls import KernelPLS, KernelPLSClassifier
from .primal import BoostedLatentFeatures, BoostedLatentFeaturesClassifier, FeatureExtraction
from .principal import KernelPCA
from .reduced import ReducedKernelOPLS
from .sparse_boosted import (
    SparseKernelBoostedLatentFeatures,
    SparseKernelBoostedLatentFeaturesClassifier,
)
from .sparse_pls import SparseKernelPLS

__all__ = [
    "BoostedLatentFeatures",
    "BoostedLatentFeaturesClassifier",
    "FeatureExtraction",
    "KernelBoostedLatentFeatures",
    "KernelBoostedLatentFeaturesClassifier",
    "KernelBoosting",
    "KernelFeatureExtraction",
    "KernelPCA",
    "KernelPLS",
    "KernelPLSClassifier",
    "OrthogonalLoadingsKernelPLS",
    "ReducedKernelOPLS",
    "SparseKernelBoostedLatentFeatures",
    "SparseKernelBoostedLatentFeaturesClassifier",
    "SparseKernelPLS",
]
