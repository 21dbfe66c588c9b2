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
from .subspace import (
    KernelDiscriminantQR,
    KernelOrthogonalCentroid,
    SubspaceKernelFeatures,
)

__version__ = "0.1.0"

__all__ = [
    "AcceleratedKernelFeatureAnalysis",
    "BoostedLatentFeatures",
    "FeatureExtraction",
    "KernelBoostedLatentFeatures",
    "KernelBoosting",
    "KernelDiscriminantQR",
    "KernelFeatureExtraction",
    "KernelOrthogonalCentroid",
    "KernelPCA",
    "KernelPLS",
    "OrthogonalLoadingsKernelPLS",
    "ReducedKernelOPLS",
    "SparseKernelBoostedLatentFeatures",
    "SparseKernelFeatureAnalysis",
    "SparseKernelPLS",
    "SparseMaximalAlignment",
    "SparseMaximalCovariance",
    "SubspaceKernelFeatures",
]
