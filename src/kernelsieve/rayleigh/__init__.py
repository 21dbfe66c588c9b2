"""Rayleigh coefficients in kernel space: Fisher discriminants, oriented kernel PCA, invariances."""

from .coefficient import OrientedKernelPCA, RayleighCoefficient
from .discriminant import DecisionRule
from .fisher import KernelFisherDiscriminant
from .greedy_fisher import GreedyKernelFisherDiscriminant
from .invariances import ImageRotation, ImageTransform, ImageTranslation, LineThickening
from .scatter import (
    BetweenClasses,
    NoiseCovariance,
    NoiseSamples,
    Scatter,
    Tangent,
    TotalScatter,
    WithinClasses,
)
from .sparse_fisher import SparseKernelFisherDiscriminant

__all__ = [
    "BetweenClasses",
    "DecisionRule",
    "GreedyKernelFisherDiscriminant",
    "ImageRotation",
    "ImageTransform",
    "ImageTranslation",
    "KernelFisherDiscriminant",
    "LineThickening",
    "NoiseCovariance",
    "NoiseSamples",
    "OrientedKernelPCA",
    "RayleighCoefficient",
    "Scatter",
    "SparseKernelFisherDiscriminant",
    "Tangent",
    "TotalScatter",
    "WithinClasses",
]
