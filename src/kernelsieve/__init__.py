"""Kernel features that are cheap to train and cheaper to use."""

from .displays import (
    ComponentPathDisplay,
    CriterionPathDisplay,
    FeatureMapDisplay,
    LandmarkDisplay,
    RocComparisonDisplay,
    StabilityBoundDisplay,
)
from .greedy import (
    AcceleratedKernelFeatureAnalysis,
    SparseKernelFeatureAnalysis,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
)
from .latent import (
    BoostedLatentFeatures,
    FeatureExtraction,
    KernelBoostedLatentFeatures,
    KernelBoosting,
    KernelFeatureExtraction,
    KernelPCA,
    KernelPLS,
    OrthogonalLoadingsKernelPLS,
    ReducedKernelOPLS,
    SparseKernelBoostedLatentFeatures,
    SparseKernelPLS,
)
from .model_selection import ComponentPathCV

__version__ = "0.1.0"

__all__ = [
    "AcceleratedKernelFeatureAnalysis",
    "BoostedLatentFeatures",
    "ComponentPathCV",
    "ComponentPathDisplay",
    "CriterionPathDisplay",
    "FeatureExtraction",
    "FeatureMapDisplay",
    "KernelBoostedLatentFeatures",
    "KernelBoosting",
    "KernelFeatureExtraction",
    "KernelPCA",
    "KernelPLS",
    "LandmarkDisplay",
    "OrthogonalLoadingsKernelPLS",
    "ReducedKernelOPLS",
    "RocComparisonDisplay",
    "SparseKernelBoostedLatentFeatures",
    "SparseKernelFeatureAnalysis",
    "SparseKernelPLS",
    "SparseMaximalAlignment",
    "SparseMaximalCovariance",
    "StabilityBoundDisplay",
]
