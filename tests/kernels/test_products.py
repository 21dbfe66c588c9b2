"""Kernels of the inner product: what is special to each."""

import numpy as np
import pytest
from scipy import sparse

from kernelsieve.kernels import Cosine, Linear, Polynomial, Sigmoid


def rows(n_rows: int = 12, n_inputs: int = 4) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n_rows, n_inputs))


def test_linear_of_whole_numbers_is_exact():
    X = np.arange(12).reshape(4, 3)
    np.testing.assert_array_equal(Linear().block(X, X), X @ X.T)


def test_linear_diag_of_float32_rows_has_float64_digits():
    X = np.full((1, 10_000), 0.1, np.float32)
    expected = 10_000 * float(np.float32(0.1)) ** 2
    np.testing.assert_allclose(Linear().diag(X), [expected], rtol=1e-12)


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4, 5, 7, 11, 15, 16, 17, 23])
def test_whole_powers_equal_pow(degree):
    # powers up to 16 go by multiplication, the others by numpy.power
    X = rows()
    base = 0.4 * X @ X.T - 0.2
    kernel = Polynomial(0.4, degree, -0.2)
    np.testing.assert_allclose(kernel.block(X, X), base**degree, rtol=1e-11)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(base) ** degree, rtol=1e-11)


def test_degree_may_be_a_float_with_a_whole_value():
    X = rows()
    np.testing.assert_array_equal(
        Polynomial(0.4, 3.0, -0.2).block(X, X), Polynomial(0.4, 3, -0.2).block(X, X)
    )


def test_degree_may_be_a_fraction_where_the_base_is_positive():
    X = np.abs(rows())
    np.testing.assert_allclose(
        Polynomial(0.4, 2.5, 0.1).block(X, X), (0.4 * X @ X.T + 0.1) ** 2.5, rtol=1e-12
    )


def test_sigmoid_saturates_without_overflow():
    X = 1e3 * rows()
    K = Sigmoid(1e3, 0.0).block(X, X)
    np.testing.assert_array_equal(np.abs(K), np.ones_like(K))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_cosine_of_a_row_of_zeros_is_zero(form):
    X = rows()
    X[2] = 0.0
    K = Cosine().block(form(X), form(X))
    np.testing.assert_array_equal(K[2], np.zeros(len(X)))
    np.testing.assert_array_equal(K[:, 2], np.zeros(len(X)))
    assert Cosine().diag(form(X))[2] == 0.0


def test_cosine_does_not_depend_on_the_lengths():
    X = rows()
    scale = 10.0 ** np.linspace(-100, 100, 12)
    np.testing.assert_allclose(Cosine().block(X * scale[:, None], X), Cosine().block(X, X), atol=1e-14)


def test_cosine_in_float32_of_what_float32_does_not_hold():
    X, K = rows(), np.empty((12, 12), np.float32)
    Cosine().against(1e200 * X, np.float32)(1e-200 * X, K)
    np.testing.assert_allclose(K, Cosine().block(X, X).T, atol=1e-6)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(), Sigmoid(), Cosine()])
def test_kernels_with_equal_parameters_are_equal(kernel):
    # estimators are compared and cached by the kernels that they hold
    assert kernel == type(kernel)()
    assert hash(kernel) == hash(type(kernel)())
