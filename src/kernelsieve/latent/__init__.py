"""Methods that combine many examples into latent features, and the framework itself."""

from .framework import FeatureExtraction, KernelFeatureExtraction

__all__ = ["FeatureExtraction", "KernelFeatureExtraction"]
