"""Subspace methods: orthogonal centroids, KDA/QR, and the learned subspace kernel."""

from .alignment_weights import AlignmentWeights
from .discriminant import KernelDiscriminantQR
from .kernel import SubspaceKernel
from .koc import KernelOrthogonalCentroid
from .learned import SubspaceKernelFeatures

__all__ = [
    "AlignmentWeights",
    "KernelDiscriminantQR",
    "KernelOrthogonalCentroid",
    "SubspaceKernel",
    "SubspaceKernelFeatures",
]
