"""Subspace kernels: orthogonal centroids, KDA/QR, the learned subspace."""

from .discriminant import KernelDiscriminantQR
from .kernel import SubspaceKernel
from .koc import KernelOrthogonalCentroid
from .learned import SubspaceKernelFeatures

__all__ = [
    "KernelDiscriminantQR",
    "KernelOrthogonalCentroid",
    "SubspaceKernel",
    "SubspaceKernelFeatures",
]
