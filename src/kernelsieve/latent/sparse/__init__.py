"""Sparse kernel PLS and boosted latent features: few support vectors a feature (nu-KPLS, nu-KBLF)."""

from .boosted import SparseKernelBoostedLatentFeatures, SparseKernelBoostedLatentFeaturesClassifier
from .pls import SparseKernelPLS

__all__ = [
    "SparseKernelBoostedLatentFeatures",
    "SparseKernelBoostedLatentFeaturesClassifier",
    "SparseKernelPLS",
]
