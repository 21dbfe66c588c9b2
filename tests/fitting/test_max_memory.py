"""Kernel values that do not fit ``max_memory`` are not kept, in whatever way a method combines them."""

import tracemalloc

import numpy as np
import pytest
from configured import fit_with

from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    KernelBoostedLatentFeatures,
    KernelFeatureExtraction,
    SparseKernelFeatureAnalysis,
)
from kernelsieve.exceptions import InvalidParameterError


def peak(estimator, X, y=None):
    tracemalloc.start()
    try:
        estimator.fit(X, y)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_loss_on_a_pool(rng, configured):
    configured(max_memory=2**20)
    X = rng.standard_normal((150_000, 3))
    model = KernelBoostedLatentFeatures(3, candidates=X[:100])
    assert peak(model, X, np.sin(X[:, 0])) < 0.5 * len(X) * 100 * 8


@pytest.mark.parametrize("entry", [AcceleratedKernelFeatureAnalysis, SparseKernelFeatureAnalysis])
def test_analysis_about_the_mean_of_all(entry, rng, configured):
    configured(max_memory=2**20)
    X = rng.standard_normal((3000, 3))
    model = entry(2, candidates="all", center=True)
    assert peak(model, X) < 0.6 * len(X) ** 2 * 8


@pytest.mark.parametrize("criterion", ["kopls", "kpca"])
def test_what_needs_the_whole_matrix_says_so(criterion, rng):
    X = rng.standard_normal((60, 3))
    y = np.sin(X[:, 0])
    with pytest.raises(InvalidParameterError, match=r"60 x 60 kernel values at once.*max_memory"):
        fit_with({"max_memory": 1000}, KernelFeatureExtraction(criterion, 1, candidates="all"), X, y)
    fit_with({"max_memory": 1000}, KernelFeatureExtraction(criterion, 1, candidates=X[:20]), X, y)
    enough = KernelFeatureExtraction(criterion, 1, candidates="all")
    fit_with({"max_memory": 60 * 60 * 8}, enough, X, y)
