"""Subspace methods: orthogonal centroids, KDA/QR, and the learned subspace kernel."""

from .alignment_weights import AlignmentWeights
from .discriminant import KernelDiscriminantQR
from .koc import KernelOrthogonalCentroid
from .learned import SubspaceKernel, SubspaceKernelFeatures

__all__ = [
    "AlignmentWeights",
    "KernelDiscriminantQR",
    "KernelOrthogonalCentroid",
    "SubspaceKernel",
    "SubspaceKernelFeatures",
]
