"""Rayleigh coefficients in kernel space: Fisher discriminants, oriented kernel PCA, invariances."""

from .sparse_fisher import SparseKernelFisherDiscriminant

__all__ = ["SparseKernelFisherDiscriminant"]
