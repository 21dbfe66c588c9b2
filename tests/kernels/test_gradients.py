"""Derivatives of kernel values by landmarks and by samples, against complex steps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from kernelsieve.kernels import RBF, Chi2, Laplacian, Linear, Matern, Polynomial, RationalQuadratic


def squared(x, z):
    return (x - z) @ (x - z)


def matern(nu, polynomial):
    def formula(x, z):
        a = np.sqrt(4 * nu * 0.3 * squared(x, z))
        return polynomial(a) * np.exp(-a)

    return formula


FORMULAS = [
    (Linear(), lambda x, z: x @ z),
    (RBF(0.3), lambda x, z: np.exp(-0.3 * squared(x, z))),
    (Matern(0.3, 0.5), matern(0.5, lambda _: 1)),
    (Matern(0.3, 1.5), matern(1.5, lambda a: 1 + a)),
    (Matern(0.3, 2.5), matern(2.5, lambda a: 1 + a + a**2 / 3)),
    (RationalQuadratic(0.3, 0.7), lambda x, z: (1 + 0.3 / 0.7 * squared(x, z)) ** -0.7),
    (Polynomial(0.2, 3, 1.0), lambda x, z: (0.2 * x @ z + 1) ** 3),
]
every_formula = pytest.mark.parametrize(
    ("kernel", "formula"), FORMULAS, ids=[repr(kernel) for kernel, _ in FORMULAS]
)


def derivatives(formula, x, z):
    """Return the derivatives by ``x``, which a complex step gives to the last digit."""
    steps = np.eye(len(x)) * 1e-30j
    return np.array([formula(x + step, z).imag for step in steps]) / 1e-30


@every_formula
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_gradients_by_landmarks(kernel, formula, layout, rng):
    X, Z, slopes = (rng.standard_normal(shape) for shape in ((8, 3), (4, 3), (8, 4)))
    swapped = lambda z, x: formula(x, z)  # noqa: E731
    expected = [
        sum(slopes[n, j] * derivatives(swapped, Z[j], X[n]) for n in range(8)) for j in range(4)
    ]
    values = kernel.block(X, Z)
    assert_allclose(kernel.landmark_gradient(layout(X), Z, values, slopes), expected, rtol=1e-10)


@every_formula
def test_gradients_by_samples(kernel, formula, rng):
    X, Z, coefficients = (rng.standard_normal(shape) for shape in ((8, 3), (4, 3), (4, 2)))
    expected = [
        [sum(alpha[j] * derivatives(formula, x, Z[j]) for j in range(4)) for x in X]
        for alpha in coefficients.T
    ]
    found = kernel.sample_gradient(X, Z, coefficients)
    assert found.shape == (2, 8, 3)
    assert_allclose(found, expected, rtol=1e-10)


@every_formula
def test_gradients_by_samples_match_finite_differences_of_the_kernel_itself(kernel, formula, rng):
    X, Z, coefficients = (rng.standard_normal(shape) for shape in ((8, 3), (4, 3), (4, 1)))
    step = 1e-6

    def values(X):
        return kernel.block(X, Z) @ coefficients

    for j, shift in enumerate(step * np.eye(3)):
        difference = (values(X + shift) - values(X - shift)) / (2 * step)
        found = kernel.sample_gradient(X, Z, coefficients)[0, :, j]
        assert_allclose(found, difference[:, 0], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kernel", [Matern(0.3, 0.5), Matern(0.3, 1.5), Matern(0.3, 2.5), RBF(0.3)])
def test_a_landmark_counts_for_nothing_where_the_sample_is_the_landmark(kernel, rng):
    Z = rng.standard_normal((2, 3))
    alone = kernel.sample_gradient(Z[:1], Z[1:], np.ones((1, 1)))
    assert_allclose(kernel.sample_gradient(Z[:1], Z, np.ones((2, 1))), alone, atol=1e-12)
    assert_array_equal(kernel.sample_gradient(Z[:1], Z[:1], np.ones((1, 1))), np.zeros((1, 1, 3)))


def test_the_gradient_of_a_kink_is_bounded_near_it(rng):
    Z = rng.standard_normal((1, 3))
    for distance in (1e-3, 1e-6):
        X = Z + distance * np.eye(3)
        found = Matern(0.5, 0.5).sample_gradient(X, Z, np.ones((1, 1)))[0]
        assert_allclose(found, -np.eye(3), atol=2 * distance + 1e-9)


def test_a_kernel_without_a_derivative_is_refused(rng):
    X = rng.standard_normal((3, 2))
    with pytest.raises(ValueError, match=r"'laplacian' has no derivative.*'matern'.*'rbf'"):
        Laplacian(1.0).landmark_gradient(X, X, X @ X.T, X @ X.T)
    with pytest.raises(ValueError, match=r"'chi2' has no derivative.*'matern'.*'rbf'"):
        Chi2(1.0).sample_gradient(X, X, X)


def test_gradients_of_absolute_differences_by_samples(rng):
    X, Z, coefficients = (rng.standard_normal(shape) for shape in ((8, 3), (4, 3), (4, 2)))
    X[0, 1] = Z[2, 1]  # there is no derivative there, and the landmark counts for nothing
    found = Laplacian(0.7).sample_gradient(X, Z, coefficients)
    slopes = -0.7 * np.sign(X[:, None] - Z) * Laplacian(0.7).block(X, Z)[:, :, None]
    assert_allclose(found, np.einsum("njd,jq->qnd", slopes, coefficients), rtol=1e-12)
