"""Sparse kernel PLS and boosted latent features: few support vectors a feature (nu-KPLS, nu-KBLF)."""

from .estimators import (
    SparseKernelBoostedLatentFeatures,
    SparseKernelBoostedLatentFeaturesClassifier,
    SparseKernelPLS,
)

__all__ = [
    "SparseKernelBoostedLatentFeatures",
    "SparseKernelBoostedLatentFeaturesClassifier",
    "SparseKernelPLS",
]
