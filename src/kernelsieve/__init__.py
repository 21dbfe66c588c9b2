"""Kernel features that are cheap to train and cheaper to use."""

from .greedy import SparseMaximalAlignment, SparseMaximalCovariance
from .latent import FeatureExtraction, KernelFeatureExtraction

__version__ = "0.1.0"

__all__ = [
    "FeatureExtraction",
    "KernelFeatureExtraction",
    "SparseMaximalAlignment",
    "SparseMaximalCovariance",
]
