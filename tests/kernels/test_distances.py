"""Kernels of a distance: what is special to each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from kernelsieve.exceptions import InvalidDataError
from kernelsieve.kernels import RBF, Chi2, Laplacian


def exact_rbf(X, Z, gamma):
    """From the differences themselves, which cancel nothing."""
    return np.exp(-gamma * ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2))


def expanded_rbf(X, Z, gamma):
    """From |x|^2 + |z|^2 - 2 x'z, as most code has it."""
    squares = (X**2).sum(axis=1)[:, None] + (Z**2).sum(axis=1)[None, :] - 2 * X @ Z.T
    return np.exp(-gamma * np.maximum(squares, 0.0))


def far_rows(seed: int, n_rows: int) -> np.ndarray:
    return 1e6 + np.random.default_rng(seed).standard_normal((n_rows, 5))


def test_rbf_keeps_its_digits_far_from_the_origin():
    X, Z = far_rows(0, 40), far_rows(1, 10)
    truth = exact_rbf(X, Z, 0.5)
    # the data are such that the usual formula goes wrong; otherwise this test would show nothing
    assert np.abs(expanded_rbf(X, Z, 0.5) - truth).max() > 1e-5
    np.testing.assert_allclose(RBF(0.5).block(X, Z), truth, rtol=0, atol=1e-13)


def test_rbf_filler_keeps_its_digits_far_from_the_origin():
    X, Z = far_rows(0, 40), far_rows(1, 10)
    out = np.empty((10, 40))
    RBF(0.5).against(Z)(X, out)
    np.testing.assert_allclose(out.T, exact_rbf(X, Z, 0.5), rtol=0, atol=1e-13)


def test_rbf_of_float32_rows_far_from_the_origin():
    X, Z = far_rows(0, 40).astype(np.float32), far_rows(1, 10).astype(np.float32)
    truth = exact_rbf(X.astype(np.float64), Z.astype(np.float64), 0.5)
    np.testing.assert_allclose(RBF(0.5).block(X, Z), truth, rtol=0, atol=1e-13)


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_rbf_in_float32_keeps_its_digits_far_from_the_origin(precision):
    X, Z = far_rows(0, 40).astype(precision), far_rows(1, 10).astype(precision)
    out = np.empty((10, 40), np.float32)
    RBF(0.5).against(Z, np.float32)(X, out)
    truth = exact_rbf(X.astype(np.float64), Z.astype(np.float64), 0.5)
    np.testing.assert_allclose(out.T, truth, rtol=0, atol=1e-5)


def test_rbf_of_a_row_with_itself_is_one():
    X = 100 * np.random.default_rng(0).standard_normal((30, 8))
    np.testing.assert_allclose(np.diagonal(RBF(1.0).block(X, X)), 1.0, atol=1e-9)
    csr = sparse.csr_matrix(X)
    np.testing.assert_allclose(np.diagonal(RBF(1.0).block(csr, csr)), 1.0, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("outlier", [5.0, 3e4])
def test_rbf_of_some_landmarks_is_rounded_as_with_all_of_them(outlier, dtype, rng):
    X = rng.standard_normal((50, 5))
    Z = np.vstack([X[:10], np.full((1, 5), outlier)])  # the far one decides how to compute
    whole, first, alone = (np.empty((len(part), 50), dtype) for part in (Z, Z[:10], Z[:10]))
    kernel = RBF(1.0)
    kernel.against(Z, dtype)(X, whole)
    kernel.rounded_as_with(Z).against(Z[:10], dtype)(X, first)
    kernel.rounded_as_with(Z).rounded_as_with(Z[:10]).against(Z[:9], dtype)(X, alone[:9])
    np.testing.assert_array_equal(first, whole[:10])
    np.testing.assert_array_equal(alone[:9], whole[:9])
    kernel.against(Z[:10], dtype)(X, alone)
    assert (alone != first).any()  # or the test would show nothing


@pytest.mark.parametrize("shift", [0.0, 1e3, 1e8])
@pytest.mark.parametrize("n_inputs", [5, 1100])
def test_columns_of_csr_rows_that_are_far_from_zero(n_inputs, shift):
    rng = np.random.default_rng(0)
    near = sparse.random(40, n_inputs, 0.3, random_state=0).toarray()
    # The values at hand are the truth: what is added is rounded in both.
    date = np.round(shift + rng.standard_normal((40, 2)), 3)
    X = np.hstack([near, date])
    X[30:, -1] = 0  # rows that lack what all landmarks have
    exact = exact_rbf(X, X[:30], 0.05)
    csr = sparse.csr_matrix(X)
    kernel = RBF(0.05)
    lines = np.empty((30, 40))
    for landmarks, new in ((csr[:30], csr), (X[:30], csr), (csr[:30], X)):
        kernel.against(landmarks)(new, lines)
        np.testing.assert_allclose(lines.T, exact, atol=1e-11)
    only = sparse.csr_matrix(date)
    np.testing.assert_allclose(kernel.block(only, only), exact_rbf(date, date, 0.05), atol=1e-11)


@pytest.mark.parametrize("kernel", [RBF(0.1), Laplacian(0.1)])
def test_csr_rows_with_long_indices(kernel):
    X = np.random.default_rng(0).standard_normal((9, 4))
    long = sparse.csr_matrix(X)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    np.testing.assert_allclose(kernel.block(long, long), kernel.block(X, X), atol=1e-12)


def test_sparse_rbf_is_never_above_one():
    # the distance is a difference of large norms there, and may come out below zero
    X = sparse.csr_matrix(1e3 * np.random.default_rng(0).standard_normal((30, 8)))
    assert RBF(1.0).block(X, X).max() <= 1.0


def test_distant_rows_have_a_similarity_of_zero():
    X, Z = np.zeros((2, 3)), np.full((2, 3), 1e6)
    np.testing.assert_array_equal(RBF(1.0).block(X, Z), np.zeros((2, 2)))
    np.testing.assert_array_equal(Laplacian(1.0).block(X, Z), np.zeros((2, 2)))


@settings(max_examples=40, deadline=None)
@given(shift=st.floats(-1e3, 1e3), gamma=st.floats(1e-3, 10.0), seed=st.integers(0, 1000))
@pytest.mark.parametrize("kernel", [RBF, Laplacian])
def test_moving_all_rows_changes_nothing(kernel, shift, gamma, seed):
    X = np.random.default_rng(seed).standard_normal((7, 3))
    moved = X + shift
    # the sum is rounded: what can be asked for is the kernel of the rounded rows
    back = moved - shift
    np.testing.assert_allclose(
        kernel(gamma).block(moved, moved), kernel(gamma).block(back, back), atol=1e-10
    )


@pytest.mark.parametrize("kernel", [RBF(0.7), Laplacian(0.7)])
def test_kernel_matrix_is_positive_semidefinite(kernel):
    X = np.random.default_rng(0).standard_normal((40, 3))
    assert np.linalg.eigvalsh(kernel.block(X, X)).min() > -1e-12


def test_chi2_takes_inputs_that_are_zero_on_both_sides():
    X = np.array([[0.0, 1.0], [0.0, 3.0]])
    np.testing.assert_allclose(Chi2(2.0).block(X, X)[0, 1], np.exp(-2.0 * 4.0 / 4.0))


@pytest.mark.parametrize("which", ["rows", "landmarks"])
def test_chi2_refuses_negative_values_and_names_one(which):
    good, bad = np.ones((3, 2)), np.array([[1.0, -0.25]])
    X, Z = (bad, good) if which == "rows" else (good, bad)
    with pytest.raises(InvalidDataError, match=r"at least 0; X has -0\.25.*laplacian"):
        Chi2(1.0).block(X, Z)


def test_chi2_takes_whole_numbers():
    X = np.array([[1, 2], [3, 0]])
    np.testing.assert_array_equal(Chi2(0.1).block(X, X), Chi2(0.1).block(X * 1.0, X * 1.0))


def test_csr_in_single_precision_keeps_digits_beside_a_zero(rng):
    X = rng.standard_normal((400, 3))
    X[:, 0] += 2000
    Z = X[:50].copy()
    Z[7, 0] = 0
    exact = np.exp(-0.3 * ((X[:, None] - Z[None]) ** 2).sum(axis=2))
    out = np.empty((50, 400), np.float32)
    RBF(0.3).against(sparse.csr_matrix(Z), np.float32)(sparse.csr_matrix(X), out)
    np.testing.assert_allclose(out.T, exact, atol=1e-6)
