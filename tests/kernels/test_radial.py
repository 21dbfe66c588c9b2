"""Matern and rational quadratic kernels: the same as elsewhere, with all digits near landmarks."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.gaussian_process import kernels as gaussian_process

from kernelsieve import KernelPCA, KernelPLS, SparseMaximalAlignment
from kernelsieve.kernels import RBF, Matern, RationalQuadratic, resolve_kernel

ROUGH = [Matern(0.4, 0.5), Matern(0.4, 1.5), Matern(0.4, 2.5), RationalQuadratic(0.4, 1.3)]
every_rough = pytest.mark.parametrize("kernel", ROUGH, ids=str)
LENGTH = 1 / np.sqrt(2 * 0.4)  # gamma is 1 / (2 s^2)


def of_scikit_learn(kernel):
    if isinstance(kernel, Matern):
        return gaussian_process.Matern(LENGTH, nu=kernel.nu)
    return gaussian_process.RationalQuadratic(LENGTH, kernel.alpha)


@every_rough
@pytest.mark.parametrize("n_inputs", [1, 7, 1100])  # 1100: beyond what a tile takes
def test_values_are_those_of_scikit_learn(kernel, n_inputs, rng):
    X = rng.standard_normal((90, n_inputs)) / np.sqrt(n_inputs)
    Z = np.vstack([X[:20], rng.standard_normal((10, n_inputs))])
    assert_allclose(kernel.block(X, Z), of_scikit_learn(kernel)(X, Z), atol=1e-12)


@every_rough
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("n_inputs", [5, 1100])
def test_a_sample_with_itself_has_the_value_one(kernel, n_inputs, layout, rng):
    X = layout(100 * rng.standard_normal((40, n_inputs)))
    out = np.empty((40, 40))
    kernel.against(X)(X, out)
    assert_allclose(np.diagonal(out), 1.0, atol=1e-9)


@pytest.mark.parametrize("distance", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("n_inputs", [6, 1100])
def test_a_kink_keeps_its_digits_near_landmarks(distance, layout, n_inputs, rng):
    Z = rng.standard_normal((30, n_inputs))
    X = Z + distance * rng.standard_normal((30, n_inputs))
    exact = np.sqrt(((X - Z) ** 2).sum(axis=1))
    values = Matern(0.5, 0.5).block(layout(X), layout(Z))
    assert_allclose(1 - np.diagonal(values), -np.expm1(-exact), atol=1e-14 * np.sqrt(n_inputs))


@every_rough
def test_distant_samples_have_a_similarity_of_zero_or_nearly(kernel):
    X, Z = np.zeros((2, 3)), np.full((2, 3), 1e6)
    assert_allclose(kernel.block(X, Z), np.zeros((2, 2)), atol=1e-14)
    assert_array_equal(Matern(1.0, 0.5).block(X, 1e140 * Z), np.zeros((2, 2)))


@every_rough
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_some_landmarks_are_rounded_as_with_all_of_them(kernel, dtype, rng):
    X = rng.standard_normal((50, 5))
    Z = np.vstack([X[:10], np.full((1, 5), 5.0)])
    whole, first = np.empty((11, 50), dtype), np.empty((10, 50), dtype)
    kernel.against(Z, dtype)(X, whole)
    kernel.rounded_as_with(Z).against(Z[:10], dtype)(X, first)
    assert_array_equal(first, whole[:10])


def test_a_large_nu_and_a_large_alpha_come_near_the_gaussian(rng):
    X = rng.standard_normal((30, 3))
    gaussian = RBF(0.4).block(X, X)
    distances = [np.abs(Matern(0.4, nu).block(X, X) - gaussian).max() for nu in (0.5, 1.5, 2.5)]
    assert distances == sorted(distances, reverse=True)
    assert_allclose(RationalQuadratic(0.4, 1e6).block(X, X), gaussian, atol=1e-5)


@every_rough
def test_matrices_are_positive_semidefinite(kernel, rng):
    X = rng.standard_normal((40, 3))
    assert np.linalg.eigvalsh(kernel.block(X, X)).min() > -1e-12


@every_rough
@pytest.mark.parametrize("gamma", ["scale", "median", "scale/4", 0.3])
def test_widths_are_those_of_rbf(kernel, gamma, rng):
    X = rng.standard_normal((30, 3))
    assert (
        resolve_kernel(kernel.name, X, gamma=gamma).gamma == resolve_kernel("rbf", X, gamma=gamma).gamma
    )


@every_rough
@pytest.mark.parametrize("method", [SparseMaximalAlignment, KernelPLS, KernelPCA])
def test_methods_take_them_as_they_take_a_function(kernel, method, rng):
    X = rng.standard_normal((60, 3))
    y = np.sin(X[:, 0]) + X[:, 1]
    features = method(4, kernel=kernel).fit(X, y).transform(X)
    theirs = method(4, kernel=of_scikit_learn(kernel)).fit(X, y).transform(X)
    assert_allclose(features, theirs, atol=1e-8)


def test_features_go_back_to_inputs(rng):
    X = rng.standard_normal((80, 2))
    model = KernelPCA(20, kernel=Matern(0.3, 2.5), fit_inverse_transform=True, alpha=1e-3).fit(X)
    back = model.inverse_transform(model.transform(X))
    assert np.mean((back - X) ** 2) < 0.05 * np.mean(X**2)
