"""Kernels that the user brings."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process.kernels import RBF as GaussianRBF  # noqa: N811
from sklearn.gaussian_process.kernels import ConstantKernel, DotProduct, Matern, WhiteKernel

from kernelsieve.exceptions import KernelError
from kernelsieve.kernels import CallableKernel, Inputs, Linear, Precomputed


def rows(n_rows: int = 20, n_inputs: int = 4, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n_rows, n_inputs))


class Counting:
    """A kernel that keeps count of what it was asked for."""

    def __init__(self, function):
        self.function = function
        self.calls = 0
        self.evaluations = 0

    def __call__(self, X, Z, **params):
        values = self.function(X, Z, **params)
        self.calls += 1
        self.evaluations += np.size(values)
        return values


def vectorised(X, Z):
    return np.tanh(X @ Z.T)


def pairwise(x, z):
    if np.ndim(x) != 1:
        raise TypeError("one pair at a time")
    return np.tanh(np.sum(x * z))


# -- finding out what kind of function it is


@pytest.mark.parametrize("function", [vectorised, pairwise])
def test_vectorised_and_pairwise_functions_give_the_same_block(function):
    X, Z = rows(), rows(7, seed=1)
    np.testing.assert_allclose(CallableKernel(function).block(X, Z), np.tanh(X @ Z.T), rtol=1e-13)


@pytest.mark.parametrize("n_rows", [1, 4, 20])
@pytest.mark.parametrize("function", [np.dot, np.inner, lambda x, z: (x @ z + 1) ** 2])
def test_as_many_landmarks_as_inputs_do_not_mislead(function, n_rows):
    # np.dot of (n, d) and (d, d) has the shape of a kernel block, and other values
    X, Z = rows(n_rows), rows(4, seed=1)
    truth = np.array([[function(x, z) for z in Z] for x in X])
    np.testing.assert_allclose(CallableKernel(function).block(X, Z), truth, rtol=1e-13)


def test_the_kind_found_at_the_first_block_holds_for_the_others():
    X = rows()
    kernel = CallableKernel(np.dot)
    for n_landmarks in (4, 1, 7, 20):
        np.testing.assert_allclose(kernel.block(X, X[:n_landmarks]), X @ X[:n_landmarks].T, rtol=1e-13)


def test_numbers_of_landmarks_equal_to_inputs_may_come_later():
    X = rows()
    kernel = CallableKernel(np.dot)
    for n_landmarks in (7, 4, 1):
        np.testing.assert_allclose(kernel.block(X, X[:n_landmarks]), X @ X[:n_landmarks].T, rtol=1e-13)


def test_one_input_and_one_landmark_do_not_mislead():
    X = rows(n_inputs=1)
    kernel = CallableKernel(np.dot)
    kernel.block(X, X[:1])
    np.testing.assert_allclose(kernel.block(X, X[:3]), X @ X[:3].T)


def test_a_function_that_reduces_a_whole_block_to_a_number_is_pairwise():
    def similarity(x, z):
        return np.exp(-np.sum((x - z) ** 2))  # gives one number for equally large blocks, too

    X = rows(5)
    truth = np.array([[similarity(x, z) for z in X] for x in X])
    np.testing.assert_allclose(CallableKernel(similarity).block(X, X), truth, rtol=1e-13)


@pytest.mark.parametrize("function", [lambda X, Z, power: (X @ Z.T) ** power, None])
def test_parameters_reach_the_function(function):
    function = function or (lambda x, z, power: float(np.dot(x, z)) ** power)
    X = rows()
    kernel = CallableKernel(function, {"power": 3})
    np.testing.assert_allclose(kernel.block(X, X[:4]), (X @ X[:4].T) ** 3, rtol=1e-12)
    np.testing.assert_allclose(kernel.block(X, X[:6]), (X @ X[:6].T) ** 3, rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(X @ X.T) ** 3, rtol=1e-12)


@pytest.mark.parametrize(
    "function", [lambda X, Z: 1j * (X @ Z.T), lambda x, z: complex(0.0, float(np.dot(x, z)))]
)
def test_complex_numbers_are_no_kernel_values(function):
    with pytest.raises(KernelError, match="complex numbers"):
        CallableKernel(function).block(rows(), rows())


def test_parameters_are_copied():
    params = {"power": 2}
    kernel = CallableKernel(lambda X, Z, power: (X @ Z.T) ** power, params)
    params["power"] = 3
    X = rows()
    np.testing.assert_allclose(kernel.block(X, X), (X @ X.T) ** 2, rtol=1e-12)


@pytest.mark.parametrize("convert", [lambda K: K.tolist(), lambda K: K.astype(np.float32), np.matrix])
def test_what_looks_like_an_array_is_taken_for_one(convert):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)  # numpy would like matrix to go
        X = rows()
        K = CallableKernel(lambda X, Z: convert(X @ Z.T)).block(X, X[:3])
    assert type(K) is np.ndarray
    assert K.dtype == np.float64
    np.testing.assert_allclose(K, X @ X[:3].T, rtol=1e-5, atol=1e-6)


def test_sparse_rows_are_passed_on_as_they_are():
    X = sparse.csr_matrix(np.maximum(rows(), 0.0))
    kernel = CallableKernel(lambda X, Z: (X @ Z.T).toarray())
    np.testing.assert_allclose(kernel.block(X, X[:3]), (X @ X[:3].T).toarray())


# -- how often the function is evaluated


def test_a_vectorised_function_is_evaluated_once_a_pair():
    X, Z = rows(), rows(7, seed=1)
    function = Counting(vectorised)
    kernel = CallableKernel(function)
    kernel.block(X, Z)
    assert function.evaluations == 20 * 7
    assert function.calls <= 3  # to find out the kind
    calls = function.calls
    kernel.block(X, Z)
    assert function.evaluations == 2 * 20 * 7
    assert function.calls == calls + 1


def test_a_pairwise_function_is_evaluated_once_a_pair():
    X, Z = rows(), rows(7, seed=1)
    function = Counting(pairwise)  # counts only calls that came to an end
    kernel = CallableKernel(function)
    kernel.block(X, Z)
    assert function.evaluations == 20 * 7
    kernel.block(X, Z)
    assert function.evaluations == 2 * 20 * 7


def test_fillers_of_one_kernel_find_out_only_once():
    X, Z = rows(), rows(7, seed=1)
    function = Counting(vectorised)
    kernel = CallableKernel(function)
    for _ in range(3):
        fill = kernel.against(Z)
        for part in (X[:8], X[8:]):
            fill(part, np.empty((7, len(part))))
    assert function.evaluations == 3 * 20 * 7
    assert function.calls <= 3 + 5


# -- the diagonal


@pytest.mark.parametrize("function", [vectorised, pairwise])
@pytest.mark.parametrize("n_rows", [1, 15, 16, 17, 40])
def test_diag_without_help_from_the_function(function, n_rows):
    X = rows(n_rows)
    np.testing.assert_allclose(CallableKernel(function).diag(X), np.tanh((X**2).sum(axis=1)))


def test_diag_costs_a_constant_number_of_evaluations_a_row():
    function = Counting(vectorised)
    CallableKernel(function).diag(rows(320))
    assert function.evaluations <= 16 * 320


def test_diag_of_the_function_itself_is_used():
    class WithDiag(Counting):
        def diag(self, X):
            return np.full(len(X), 7)

    function = WithDiag(vectorised)
    diagonal = CallableKernel(function).diag(rows())
    np.testing.assert_array_equal(diagonal, np.full(20, 7.0))
    assert diagonal.dtype == np.float64
    assert function.calls == 0


@pytest.mark.parametrize(
    "function",
    [GaussianRBF(0.5), Matern(0.7, nu=1.5), 2.0 * GaussianRBF(1.5) + ConstantKernel(0.3), DotProduct()],
    ids=str,
)
def test_kernels_of_gaussian_processes(function):
    X, Z = rows(), rows(7, seed=1)
    kernel = CallableKernel(function)
    np.testing.assert_allclose(kernel.block(X, Z), function(X, Z), rtol=1e-13)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(function(X)), rtol=1e-13)


def test_the_diag_of_a_gaussian_process_kernel_is_not_second_guessed():
    # white noise is on the diagonal of the training matrix, and in no block
    X = rows()
    kernel = CallableKernel(GaussianRBF(0.5) + WhiteKernel(0.25))
    np.testing.assert_allclose(kernel.diag(X), np.full(20, 1.25))
    np.testing.assert_allclose(np.diagonal(kernel.block(X, X)), np.ones(20))


# -- what is wrong with a function


def test_a_function_of_neither_kind_is_refused_by_name():
    def norms_only(X, Z):
        return np.linalg.norm(X, axis=-1)[..., None] * np.ones(3)

    with pytest.raises(KernelError, match=r"'norms_only' works neither .* \(20, 7\).* nor as"):
        CallableKernel(norms_only).block(rows(), rows(7))


def test_the_error_of_the_function_is_in_the_message():
    def broken(X, Z):
        raise RuntimeError("no licence")

    with pytest.raises(KernelError, match="no licence") as caught:
        CallableKernel(broken).block(rows(), rows(7))
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_a_callable_object_is_named_by_its_class():
    with pytest.raises(KernelError, match="'Counting' works neither"):
        CallableKernel(Counting(lambda X, Z: "nothing")).block(rows(), rows(7))


def test_a_shape_that_goes_wrong_later_is_refused():
    X = rows()
    kernel = CallableKernel(lambda X, Z: (X @ Z.T)[:, :5])
    kernel.block(X, X[:5])
    with pytest.raises(KernelError, match=r"shape \(20, 5\); it must return \(20, 7\)"):
        kernel.block(X, X[:7])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["vectorised", "pairwise"])
def test_values_that_are_not_finite_are_refused_with_their_place(kind, value):
    X = rows()
    Z = X[:5].copy()
    bad_x, bad_z = X[3].copy(), Z[2].copy()

    def one(x, z):
        if x.ndim != 1:
            raise TypeError("one pair at a time")
        hit = np.array_equal(x, bad_x) and np.array_equal(z, bad_z)
        return value if hit else float(x @ z)

    def many(X, Z):
        return np.array([[one(x, z) for z in Z] for x in X])

    kernel = CallableKernel(one if kind == "pairwise" else many)
    with pytest.raises(KernelError, match=rf"returned {value} for row 3 of a block and landmark 2"):
        kernel.block(X, Z)
    with pytest.raises(KernelError, match="finite numbers"):
        kernel.against(Z)(X, np.empty((5, 20)))


def test_a_first_entry_that_is_not_a_number_is_reported_as_such():
    # the entry that is asked for alone to find out the kind
    with pytest.raises(KernelError, match="returned nan for row 0 of a block and landmark 0"):
        CallableKernel(lambda X, Z: np.full((len(X), len(Z)), np.nan)).block(rows(), rows(7))


# -- precomputed


def test_precomputed_landmarks_are_numbers_of_columns():
    K = rows(6, 6)
    columns = np.array([4, 0, 4])
    np.testing.assert_array_equal(Precomputed(K.shape[1]).block(K, columns), K[:, columns])
    out = np.empty((6, 3))
    assert Precomputed(K.shape[1]).block(K, columns, out) is out
    np.testing.assert_array_equal(out, K[:, columns])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precomputed_filler_takes_rows_of_any_number(dtype):
    K = rows(9, 6)
    columns = np.array([5, 1])
    out = np.empty((2, 9), dtype)
    Precomputed(K.shape[1]).against(columns, dtype)(K, out)
    np.testing.assert_array_equal(out, K[:, columns].T.astype(dtype))


def test_precomputed_diag_is_the_diagonal():
    K = rows(6, 6).astype(np.float32)
    diagonal = Precomputed(K.shape[1]).diag(K)
    assert diagonal.dtype == np.float64
    np.testing.assert_array_equal(diagonal, np.diagonal(K))


def test_precomputed_says_what_it_is():
    assert not Precomputed(5).accepts_sparse


# -- the inputs themselves


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("columns", [[0, 1, 2, 3], [2], [3, 1], [1, 2, 3]])
def test_inputs_are_lines_of_columns(form, columns):
    X = rows()
    out = np.empty((len(columns), 20))
    Inputs().against(np.array(columns))(form(X), out)
    np.testing.assert_array_equal(out, X[:, columns].T)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("columns", [[2, 3, 1, 0], [1, 1, 1, 1]])
def test_inputs_keep_the_order_that_is_asked_for(form, columns):
    X = rows()
    out = np.empty((len(columns), 20))
    Inputs().against(np.array(columns))(form(X), out)
    np.testing.assert_array_equal(out, X[:, columns].T)


def test_inputs_have_blocks():
    X = rows()
    np.testing.assert_array_equal(Inputs().block(X, np.array([3, 1])), X[:, [3, 1]])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_inputs_have_the_diagonal_of_the_linear_kernel(form):
    X = rows()
    np.testing.assert_allclose(Inputs().diag(form(X)), Linear().diag(X), rtol=1e-14)
