"""Small helpers under the kernels."""

import numpy as np
import pytest
from scipy import sparse

from kernelsieve.kernels import Kernel
from kernelsieve.kernels.base import as_dtype, inner_products, row_norms_squared


def rows(n_rows: int, seed: int) -> np.ndarray:
    return np.maximum(np.random.default_rng(seed).standard_normal((n_rows, 4)), 0.0)


def test_a_kernel_without_its_two_methods_cannot_be_made():
    class HalfAKernel(Kernel):
        def diag(self, X):
            return np.ones(X.shape[0])

    with pytest.raises(TypeError, match="against"):
        HalfAKernel()


def test_a_kernel_of_the_users_needs_only_its_two_methods():
    class Constant(Kernel):
        def against(self, Z, dtype=np.float64):
            def fill(X, out):
                out[...] = 3.0

            return fill

        def diag(self, X):
            return np.full(X.shape[0], 3.0)

    np.testing.assert_array_equal(Constant().block(rows(5, 0), rows(2, 1)), np.full((5, 2), 3.0))


@pytest.mark.parametrize("first", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("second", [np.asarray, sparse.csr_matrix])
def test_inner_products_of_any_mixture(first, second):
    Z, X = rows(3, 0), rows(5, 1)
    out = np.full((3, 5), np.nan)
    assert inner_products(first(Z), second(X), out) is out
    np.testing.assert_allclose(out, Z @ X.T)


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_matrix, sparse.csr_array])
def test_squared_norms_are_a_flat_array(form):
    X = rows(5, 0)
    norms = row_norms_squared(form(X))
    assert norms.shape == (5,)
    np.testing.assert_allclose(norms, (X**2).sum(axis=1))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_a_type_that_is_right_already_costs_no_copy(form):
    X = form(rows(5, 0))
    assert as_dtype(X, np.float64) is X
    assert as_dtype(X, np.float32).dtype == np.float32
