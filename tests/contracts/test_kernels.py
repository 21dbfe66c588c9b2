"""What every kernel must pass: its blocks and its diagonal equal a dense, naive truth.

Named kernels come from the registry; a new one needs its formula of one pair in ``FORMULAS``.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS, pairwise_kernels

from kernelsieve.kernels import KERNELS, CallableKernel, Kernel, Precomputed, resolve_kernel

N_ROWS, N_LANDMARKS, N_INPUTS = 23, 9, 6


@dataclass(frozen=True)
class Case:
    make: Callable[[], Kernel]
    truth: Callable[[np.ndarray, np.ndarray], float]  # of one pair of rows
    named: dict | None = None  # the name, and what goes with it


def pairwise_laplacian(x, z, gamma):
    return np.exp(-gamma * np.abs(x - z).sum())


def matern(x, z, nu):
    a = np.sqrt(4 * nu * 0.3 * np.sum((x - z) ** 2))
    return {0.5: 1, 1.5: 1 + a, 2.5: 1 + a + a**2 / 3}[nu] * np.exp(-a)


def chi2_distance(x, z):
    total = x + z
    return np.sum((x - z)[total > 0] ** 2 / total[total > 0])


PARAMETERS = {"gamma": 0.3, "degree": 3, "coef0": 0.7}
#: Values of one pair of rows with these parameters.
FORMULAS = {
    "linear": np.dot,
    "rbf": lambda x, z: np.exp(-0.3 * np.sum((x - z) ** 2)),
    "laplacian": lambda x, z: np.exp(-0.3 * np.abs(x - z).sum()),
    "poly": lambda x, z: (0.3 * x @ z + 0.7) ** 3,
    "sigmoid": lambda x, z: np.tanh(0.3 * x @ z + 0.7),
    "cosine": lambda x, z: x @ z / np.sqrt(x @ x) / np.sqrt(z @ z),
    "chi2": lambda x, z: np.exp(-0.3 * chi2_distance(x, z)),
    "matern": lambda x, z: matern(x, z, 1.5),
    "rational_quadratic": lambda x, z: 1 / (1 + 0.3 * np.sum((x - z) ** 2)),
}
#: The same with parameters of their own away from the defaults.
OTHERS = {
    ("matern", "nu", 0.5): lambda x, z: matern(x, z, 0.5),
    ("matern", "nu", 2.5): lambda x, z: matern(x, z, 2.5),
    ("rational_quadratic", "alpha", 0.7): lambda x, z: (1 + 0.3 / 0.7 * np.sum((x - z) ** 2)) ** -0.7,
}


def named_case(name: str) -> Case:
    """Return the case of a registered kernel; one without a formula cannot be collected."""
    given = {key: PARAMETERS[key] for key in KERNELS[name].parameter_names() if key in PARAMETERS}
    return Case(lambda: KERNELS[name](**given), FORMULAS[name], {"metric": name, **given})


def other_case(name: str, parameter: str, value: float) -> Case:
    own = {parameter: value}
    named = {"metric": name, "gamma": 0.3, "kernel_params": own}
    return Case(lambda: KERNELS[name](gamma=0.3, **own), OTHERS[name, parameter, value], named)


CASES = {name: named_case(name) for name, kind in KERNELS.items() if kind is not Precomputed} | {
    **{f"{other[0]} {other[1]}={other[2]}": other_case(*other) for other in OTHERS},
    "vectorised callable": Case(
        lambda: CallableKernel(lambda X, Z: (X @ Z.T + 1.0) ** 2),
        lambda x, z: (np.sum(x * z) + 1.0) ** 2,
    ),
    "pairwise callable": Case(
        lambda: CallableKernel(pairwise_laplacian, {"gamma": 0.3}),
        lambda x, z: pairwise_laplacian(x, z, 0.3),
    ),
}
NAMED = [name for name, case in CASES.items() if case.named is not None]
SPARSE = [name for name in NAMED if CASES[name].make().accepts_sparse]

every_kernel = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
every_named_kernel = pytest.mark.parametrize("case", [CASES[name] for name in NAMED], ids=NAMED)
every_sparse_kernel = pytest.mark.parametrize("case", [CASES[name] for name in SPARSE], ids=SPARSE)


def data(n_rows: int = N_ROWS, seed: int = 0) -> np.ndarray:
    """Non-negative (chi2 wants that), with zeros (sparse forms have them), no row all zero."""
    rng = np.random.default_rng(seed)
    X = np.maximum(rng.standard_normal((n_rows, N_INPUTS)), 0.0)
    X[:, 0] += 0.1
    return X


def rows_and_landmarks() -> tuple[np.ndarray, np.ndarray]:
    X = data()
    # some landmarks are rows of X, so that distances of exactly zero occur
    return X, np.vstack([X[:4], data(N_LANDMARKS - 4, seed=1)])


def dense_truth(case: Case, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    return np.array([[case.truth(x, z) for z in Z] for x in X])


def filled(kernel: Kernel, X, Z, dtype: type = np.float64) -> np.ndarray:
    """Return the block by the way that a pass over the data takes."""
    out = np.full((Z.shape[0], X.shape[0]), np.nan, dtype)
    kernel.against(Z, dtype)(X, out)
    return out.T


def close(actual: np.ndarray, expected: np.ndarray, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


# -- values


@every_kernel
def test_block_equals_the_formula_pair_by_pair(case):
    X, Z = rows_and_landmarks()
    close(case.make().block(X, Z), dense_truth(case, X, Z))


@every_kernel
def test_filler_equals_the_formula_pair_by_pair(case):
    X, Z = rows_and_landmarks()
    close(filled(case.make(), X, Z), dense_truth(case, X, Z))


@every_named_kernel
def test_block_equals_scikit_learn(case):
    X, Z = rows_and_landmarks()
    if case.named["metric"] not in PAIRWISE_KERNEL_FUNCTIONS:
        pytest.skip("scikit-learn has no such kernel")
    close(case.make().block(X, Z), pairwise_kernels(X, Z, **case.named))


@every_named_kernel
def test_name_and_parameters_resolve_to_the_same_values(case):
    X, Z = rows_and_landmarks()
    params = {key: value for key, value in case.named.items() if key != "metric"}
    kernel = resolve_kernel(case.named["metric"], X, **params)
    np.testing.assert_array_equal(kernel.block(X, Z), case.make().block(X, Z))


@every_kernel
def test_diag_is_the_diagonal_of_the_block(case):
    X, _ = rows_and_landmarks()
    diagonal = case.make().diag(X)
    assert diagonal.shape == (N_ROWS,)
    assert diagonal.dtype == np.float64
    close(diagonal, np.diagonal(case.make().block(X, X)))


@every_kernel
def test_block_with_itself_is_symmetric(case):
    X, _ = rows_and_landmarks()
    K = case.make().block(X, X)
    close(K, K.T)


@every_kernel
@pytest.mark.parametrize(("n_rows", "n_landmarks"), [(1, 1), (1, N_LANDMARKS), (N_ROWS, 1)])
def test_a_single_row_or_landmark_is_enough(case, n_rows, n_landmarks):
    X, Z = rows_and_landmarks()
    X, Z = X[-n_rows:], Z[:n_landmarks]
    truth = dense_truth(case, X, Z)
    close(case.make().block(X, Z), truth)
    close(filled(case.make(), X, Z), truth)


# -- layout and precision of the input


@every_kernel
@pytest.mark.parametrize(
    "layout",
    [
        np.asfortranarray,
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: np.hstack([X, X])[:, : X.shape[1]],
        lambda X: X[::-1].copy()[::-1],
    ],
    ids=["fortran", "every other row", "first columns", "backwards"],
)
def test_memory_layout_does_not_matter(case, layout):
    X, Z = rows_and_landmarks()
    truth = dense_truth(case, X, Z)
    close(case.make().block(layout(X), layout(Z)), truth)
    close(filled(case.make(), layout(X), layout(Z)), truth)


@every_kernel
def test_float32_data_are_computed_in_float64(case):
    X, Z = (part.astype(np.float32) for part in rows_and_landmarks())
    truth = dense_truth(case, X.astype(np.float64), Z.astype(np.float64))
    # a callable gets what the user passed, and answers in that precision
    tolerance = 1e-6 if isinstance(case.make(), CallableKernel) else 1e-12
    assert case.make().block(X, Z).dtype == np.float64
    close(case.make().block(X, Z), truth, tolerance)
    close(filled(case.make(), X, Z), truth, tolerance)


@every_kernel
def test_inputs_are_left_as_they_were(case):
    X, Z = rows_and_landmarks()
    copies = X.copy(), Z.copy()
    case.make().block(X, Z)
    filled(case.make(), X, Z)
    case.make().diag(X)
    np.testing.assert_array_equal(X, copies[0])
    np.testing.assert_array_equal(Z, copies[1])


@every_kernel
def test_read_only_inputs_are_enough(case):
    # a memory map that is opened for reading cannot be written to
    X, Z = rows_and_landmarks()
    X.flags.writeable = Z.flags.writeable = False
    close(case.make().block(X, Z), dense_truth(case, X, Z))


# -- where the values go


@every_kernel
def test_a_filler_serves_many_blocks(case):
    X, Z = rows_and_landmarks()
    truth = dense_truth(case, X, Z)
    fill = case.make().against(Z)
    for rows in (slice(0, 10), slice(10, 11), slice(11, N_ROWS), slice(0, 10)):
        out = np.full((N_LANDMARKS, rows.stop - rows.start), np.nan)
        fill(X[rows], out)
        close(out.T, truth[rows])


@every_kernel
def test_float32_fill_is_good_to_float32(case):
    X, Z = rows_and_landmarks()
    values = filled(case.make(), X, Z, np.float32)
    truth = dense_truth(case, X, Z)
    np.testing.assert_allclose(values, truth, rtol=2e-5, atol=1e-6 * np.abs(truth).max())


@every_kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_block_is_written_into_out(case, dtype):
    X, Z = rows_and_landmarks()
    out = np.full((N_ROWS, N_LANDMARKS), np.nan, dtype)
    assert case.make().block(X, Z, out) is out
    close(out, dense_truth(case, X, Z), 2e-5 if dtype is np.float32 else 1e-12)


@every_named_kernel
@pytest.mark.parametrize(
    "out",
    [
        np.empty((N_LANDMARKS, N_ROWS)),
        np.empty((N_ROWS, N_LANDMARKS + 1)),
        np.empty(N_ROWS * N_LANDMARKS),
        np.empty((N_ROWS, N_LANDMARKS), order="F"),
        np.empty((N_ROWS, 2 * N_LANDMARKS))[:, ::2],
        np.empty((N_ROWS, N_LANDMARKS), int),
    ],
    ids=["transposed", "too wide", "flat", "fortran", "strided", "integers"],
)
def test_an_out_that_does_not_fit_is_refused(case, out):
    X, Z = rows_and_landmarks()
    message = (
        rf"out must be a C-contiguous float32 or float64 array of shape \({N_ROWS}, {N_LANDMARKS}\)"
    )
    with pytest.raises(ValueError, match=message):
        case.make().block(X, Z, out)


@pytest.mark.parametrize("name", ["vectorised callable", "pairwise callable"])
def test_a_callable_refuses_an_out_that_does_not_fit(name):
    X, Z = rows_and_landmarks()
    with pytest.raises(ValueError, match="out must be"):
        CASES[name].make().block(X, Z[:1], np.empty((N_ROWS, N_LANDMARKS)))


def test_a_precomputed_kernel_refuses_an_out_that_does_not_fit():
    K = np.eye(N_ROWS)
    with pytest.raises(ValueError, match="out must be"):
        Precomputed(N_ROWS).block(K, np.array([0]), np.empty((N_ROWS, N_LANDMARKS)))


@pytest.mark.parametrize("name", ["rbf", "laplacian", "chi2"])
def test_an_out_of_another_precision_is_refused(name):
    X, Z = rows_and_landmarks()
    with pytest.raises(ValueError, match="out must be"):
        CASES[name].make().block(X, Z, np.empty((N_ROWS, N_LANDMARKS), np.float16))


# -- sparse


@every_sparse_kernel
@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("which", ["rows", "landmarks", "both"])
def test_sparse_equals_dense(case, form, which):
    X, Z = rows_and_landmarks()
    truth = case.make().block(X, Z)
    X = X if which == "landmarks" else form(X)
    Z = Z if which == "rows" else form(Z)
    close(case.make().block(X, Z), truth)
    close(filled(case.make(), X, Z), truth)


@every_sparse_kernel
@pytest.mark.parametrize("which", ["rows", "landmarks", "both"])
def test_sparse_fills_float32(case, which):
    X, Z = rows_and_landmarks()
    truth = case.make().block(X, Z)
    X = X if which == "landmarks" else sparse.csr_matrix(X)
    Z = Z if which == "rows" else sparse.csr_matrix(Z)
    close(filled(case.make(), X, Z, np.float32), truth, 2e-5)


@every_sparse_kernel
def test_sparse_diag_equals_dense_diag(case):
    X, _ = rows_and_landmarks()
    close(case.make().diag(sparse.csr_matrix(X)), case.make().diag(X))


@every_sparse_kernel
def test_sparse_inputs_are_left_as_they_were(case):
    X, Z = (sparse.csr_matrix(part) for part in rows_and_landmarks())
    copies = X.copy(), Z.copy()
    case.make().block(X, Z)
    np.testing.assert_array_equal(X.data, copies[0].data)
    np.testing.assert_array_equal(Z.data, copies[1].data)


@every_sparse_kernel
def test_sparse_rows_of_zeros_have_the_values_of_dense_ones(case):
    X, Z = rows_and_landmarks()
    X[3] = 0.0
    close(case.make().block(sparse.csr_matrix(X), sparse.csr_matrix(Z)), case.make().block(X, Z))
