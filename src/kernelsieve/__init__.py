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
from .rayleigh import (
    GreedyKernelFisherDiscriminant,
    KernelFisherDiscriminant,
    OrientedKernelPCA,
    RayleighCoefficient,
    SparseKernelFisherDiscriminant,
)

__all__ = [
    "AcceleratedKernelFeatureAnalysis",
    "BoostedLatentFeatures",
    "ComponentPathDisplay",
    "CriterionPathDisplay",
    "FeatureExtraction",
    "FeatureMapDisplay",
    "GreedyKernelFisherDiscriminant",
    "KernelBoostedLatentFeatures",
    "KernelBoosting",
    "KernelFeatureExtraction",
    "KernelFisherDiscriminant",
    "KernelPCA",
    "KernelPLS",
    "LandmarkDisplay",
    "OrientedKernelPCA",
    "OrthogonalLoadingsKernelPLS",
    "RayleighCoefficient",
    "ReducedKernelOPLS",
    "RocComparisonDisplay",
    "SparseKernelBoostedLatentFeatures",
    "SparseKernelFeatureAnalysis",
    "SparseKernelFisherDiscriminant",
    "SparseKernelPLS",
    "SparseMaximalAlignment",
    "SparseMaximalCovariance",
    "StabilityBoundDisplay",
]

__version__ = "0.1.0"
