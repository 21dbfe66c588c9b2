"""Kernel features that are cheap to train and cheaper to use."""

from .greedy import (
    AcceleratedKernelFeatureAnalysis,
    SparseKernelFeatureAnalysis,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
)
from .latent import (
    FeatureExtraction,
    KernelBoosting,
    KernelFeatureExtraction,
    KernelPCA,
    ReducedKernelOPLS,
)

__version__ = "0.1.0"

__all__ = [
    "AcceleratedKernelFeatureAnalysis",
    "FeatureExtraction",
    "KernelBoosting",
    "KernelFeatureExtraction",
    "KernelPCA",
    "ReducedKernelOPLS",
    "SparseKernelFeatureAnalysis",
    "SparseMaximalAlignment",
    "SparseMaximalCovariance",
]
