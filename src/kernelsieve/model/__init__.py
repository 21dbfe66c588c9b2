"""Landmarks, projection and offset: the one form of every model, and the fit result around it."""

from .build import (
    build_model,
    explained_by_directions,
    finish,
    linear_heads,
    mean_image,
    needs_refinement,
    orthonormal_loadings,
    reorthonormalise,
)
from .codec import load_object, save_object
from .contributions import landmark_contributions
from .explained import (
    explained_variance_ratio,
    is_indefinite,
    orthonormal_additions,
    orthonormal_combinations,
)
from .files import load, save
from .fit_result import Decision, Fit, Loadings, Search, signs_of_largest
from .inverse_transform import PreImages
from .kernel_model import KernelModel, features_as_they_are
from .pruning import prune
from .whole_files import check_writable, is_stream, replacing

__all__ = [
    "Decision",
    "Fit",
    "KernelModel",
    "Loadings",
    "PreImages",
    "Search",
    "build_model",
    "check_writable",
    "explained_by_directions",
    "explained_variance_ratio",
    "features_as_they_are",
    "finish",
    "is_indefinite",
    "is_stream",
    "landmark_contributions",
    "linear_heads",
    "load",
    "load_object",
    "mean_image",
    "needs_refinement",
    "orthonormal_additions",
    "orthonormal_combinations",
    "orthonormal_loadings",
    "prune",
    "reorthonormalise",
    "replacing",
    "save",
    "save_object",
    "signs_of_largest",
]
