"""Methods that combine many samples into latent features, and the framework itself."""

from .boosted import BoostedLatentFeatures, KernelBoostedLatentFeatures
from .boosting import KernelBoosting
from .framework import FeatureExtraction, KernelFeatureExtraction
from .orthogonal_loadings import OrthogonalLoadingsKernelPLS
from .pls import KernelPLS
from .principal import KernelPCA
from .reduced import ReducedKernelOPLS
from .sparse import SparseKernelBoostedLatentFeatures, SparseKernelPLS

__all__ = [
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
    "SparseKernelPLS",
]
