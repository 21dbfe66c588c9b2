"""One-sparse methods: every direction is a single example."""

from .analysis import AcceleratedKernelFeatureAnalysis, SparseKernelFeatureAnalysis
from .maximal import SparseMaximalAlignment, SparseMaximalCovariance

__all__ = [
    "AcceleratedKernelFeatureAnalysis",
    "SparseKernelFeatureAnalysis",
    "SparseMaximalAlignment",
    "SparseMaximalCovariance",
]
