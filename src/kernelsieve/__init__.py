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
from .rayleigh import SparseKernelFisherDiscriminant

__version__ = "0.1.0"

__all__ = [
    "AcceleratedKernelFeatureAnalysis",
    "BoostedLatentFeatures",
    "FeatureExtraction",
    "KernelBoostedLatentFeatures",
    "KernelBoosting",
    "KernelFeatureExtraction",
    "KernelPCA",
    "KernelPLS",
    "OrthogonalLoadingsKernelPLS",
    "ReducedKernelOPLS",
    "SparseKernelBoostedLatentFeatures",
    "SparseKernelFeatureAnalysis",
    "SparseKernelFisherDiscriminant",
    "SparseKernelPLS",
    "SparseMaximalAlignment",
    "SparseMaximalCovariance",
]
