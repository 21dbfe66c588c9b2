"""Kernel features that are cheap to train and cheaper to use."""

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
    KernelFisherDiscriminant,
    OrientedKernelPCA,
    RayleighCoefficient,
    SparseKernelFisherDiscriminant,
)

__all__ = [
    "AcceleratedKernelFeatureAnalysis",
    "BoostedLatentFeatures",
    "FeatureExtraction",
    "KernelBoostedLatentFeatures",
    "KernelBoosting",
    "KernelFeatureExtraction",
    "KernelFisherDiscriminant",
    "KernelPCA",
    "KernelPLS",
    "OrientedKernelPCA",
    "OrthogonalLoadingsKernelPLS",
    "RayleighCoefficient",
    "ReducedKernelOPLS",
    "SparseKernelBoostedLatentFeatures",
    "SparseKernelFeatureAnalysis",
    "SparseKernelFisherDiscriminant",
    "SparseKernelPLS",
    "SparseMaximalAlignment",
    "SparseMaximalCovariance",
]

__version__ = "0.1.0"
