"""Permutation importances of the features of a table."""

from __future__ import annotations

import numpy as np
from scipy.linalg import pinvh

from ..data import row_slices
from ..model import KernelModel
from .assembly import Preparation
from .recipe import MappedSamples

_SAMPLES, _FEWEST = 1000, 5  # that take features from others
_WORK = 1e9  # about so many products of numbers, for which many features have fewer samples
_BLOCK = 1000  # rows


def importances(preparation: Preparation, model: KernelModel, data: MappedSamples) -> np.ndarray:
    """Return the mean squared change of scores when a feature is permuted, as a share of the total.

    That is twice the total effect of a feature, the part of the scores' variance that is lost without
    it, where features are independent (M. J. W. Jansen. Analysis of variance designs for model output.
    Computer Physics Communications 117, 1999). A feature that became several columns moves with all.
    """
    L, source = preparation.recipe.L, preparation.encoder.source
    n_features = preparation.encoder.n_features
    work = n_features * model.landmarks.size
    n_samples = int(np.clip(_WORK / work, _FEWEST, _SAMPLES))
    order = np.random.RandomState(preparation.recipe.seed).permutation(len(data))
    some = data[order[:n_samples]]
    towards = np.roll(some.U, 1, axis=0) - some.U  # another sample
    columns = towards if L.ndim == 1 else towards @ pinvh(L)
    before, found = model.features(some.U), np.zeros(n_features)
    for part in row_slices(n_features, max(1, _BLOCK // len(some))):
        features = np.arange(n_features)[part]
        moved = [some.U + _along(columns, L, source == feature) for feature in features]
        after = model.features(np.concatenate(moved)).reshape(len(features), *before.shape)
        found[part] = some.weight @ ((after - before) ** 2).sum(axis=2).T
    return found / (found.sum() or 1.0)


def _along(columns: np.ndarray, L: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Return the contribution of some input columns to the mapped samples."""
    return columns * used if L.ndim == 1 else columns[:, used] @ L[used]
