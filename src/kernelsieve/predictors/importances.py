"""How much the features of a table count in a fitted function."""

from __future__ import annotations

import numpy as np

from ..metric_learning.rounds import with_respect_to_inputs
from .assembly import Preparation
from .recipe import LandmarkModel, MappedSamples

_SAMPLES = 1000  # whose slopes are averaged


def importances(preparation: Preparation, function: LandmarkModel, data: MappedSamples) -> np.ndarray:
    """Return mean squared slopes along features at unit variance, in parts of their sum.

    A feature that became several columns has the sum of theirs.
    """
    L, encoder = preparation.recipe.L, preparation.encoder
    rows = np.random.RandomState(preparation.recipe.seed).permutation(len(data))[:_SAMPLES]
    some = data[np.sort(rows)]
    gradients = function.kernel.sample_gradient(some.U, function.landmarks, function.coefficients)
    flat = (gradients * np.sqrt(some.weight)[:, None]).reshape(-1, some.U.shape[1])
    outer = (flat**2).sum(axis=0) if L.ndim == 1 else flat.T @ flat
    slopes = with_respect_to_inputs(outer, L)
    slopes = slopes if slopes.ndim == 1 else np.diagonal(slopes)
    found = encoder.per_feature(np.maximum(slopes, 0.0) * encoder.variances)
    return found / (found.sum() or 1.0)
