"""Landmarks, projection and offset: the one form of every model, and the fit result around it."""

from .build import (
    FeatureGram,
    OrthonormalModel,
    build_model,
    feature_gram,
    feature_gram_from_statistic,
    finish,
    least_squares_heads,
    mean_image,
    reorthonormalise,
    variance_of_directions,
)
from .explained import orthonormal_additions, variance_of_coordinates
from .fit_result import Decision, Fit, Search, sign_of_largest
from .kernel_model import KernelModel, Projector, features_as_they_are

__all__ = [
    "Decision",
    "FeatureGram",
    "Fit",
    "KernelModel",
    "OrthonormalModel",
    "Projector",
    "Search",
    "build_model",
    "feature_gram",
    "feature_gram_from_statistic",
    "features_as_they_are",
    "finish",
    "least_squares_heads",
    "mean_image",
    "orthonormal_additions",
    "reorthonormalise",
    "sign_of_largest",
    "variance_of_coordinates",
    "variance_of_directions",
]
