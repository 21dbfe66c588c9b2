"""Largest eigenvalues where LAPACK leaves pairs of a subset out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale

from kernelsieve import KernelFeatureExtraction, KernelPCA
from kernelsieve.deflation import leading_eigenpairs, metric
from kernelsieve.rayleigh.ratios import factorise, largest_ratios

NARROW = [(2, 1e3), (50, 30.0)]  # features asked for and gamma: nearly all eigenvalues are 1


@pytest.fixture(scope="module")
def narrow():
    return scale(load_diabetes().data)


@pytest.mark.parametrize(("k", "gamma"), NARROW)
@pytest.mark.parametrize("lost", [0, 1, 2])
def test_no_pair_is_left_out(k, gamma, lost, narrow, monkeypatch):
    """Some versions of LAPACK return a subset without some pairs where eigenvalues are close."""

    def forgetful(matrix, subset_by_index=None):
        values, vectors = np.linalg.eigh(matrix)
        if subset_by_index is None:
            return values, vectors
        first, last = subset_by_index
        found = slice(first + lost, last + 1)
        return values[found], vectors[:, found]

    monkeypatch.setattr(metric, "eigh", forgetful)
    K = rbf_kernel(narrow, gamma=gamma)
    values, vectors = leading_eigenpairs(K, k)
    assert_allclose(values, np.linalg.eigvalsh(K)[::-1][:k], rtol=1e-12)
    assert_allclose(vectors.T @ vectors, np.eye(k), atol=1e-12)
    assert_allclose(K @ vectors, vectors * values, atol=1e-12)


@pytest.mark.parametrize(("k", "gamma"), NARROW)
@pytest.mark.parametrize("center", [True, False])
def test_a_narrow_kernel_gives_all_features(k, gamma, center, narrow):
    K = rbf_kernel(narrow, gamma=gamma)
    if center:
        K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    expected = np.linalg.eigvalsh(K)[::-1][:k] / len(narrow)
    exact = KernelPCA(k, gamma=gamma, center=center).fit(narrow)
    loop = KernelFeatureExtraction("pca", k, gamma=gamma, center=center, candidates="all").fit(narrow)
    for model in (exact, loop):
        assert model.transform(narrow).shape == (len(narrow), k)
        assert_allclose((model.transform(narrow) ** 2).mean(axis=0), expected, rtol=1e-8)


@pytest.mark.parametrize(("k", "gamma"), NARROW)
def test_ratios_of_close_size_are_all_found(k, gamma, narrow):
    values, vectors = np.linalg.eigh(rbf_kernel(narrow, gamma=gamma))
    root = (vectors * np.sqrt(values)) @ vectors.T
    directions, ratios = largest_ratios(root, factorise([np.eye(len(root))]), k)
    assert directions.shape == (len(root), k)
    assert_allclose(ratios, values[::-1][:k], rtol=1e-10)
