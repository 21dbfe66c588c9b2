"""One-sparse methods: every direction has a single landmark."""

from .analysis import AcceleratedKernelFeatureAnalysis, SparseKernelFeatureAnalysis
from .maximal import SparseMaximalAlignment, SparseMaximalCovariance

__all__ = [
    "AcceleratedKernelFeatureAnalysis",
    "SparseKernelFeatureAnalysis",
    "SparseMaximalAlignment",
    "SparseMaximalCovariance",
]
