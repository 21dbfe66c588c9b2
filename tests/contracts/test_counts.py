"""How many kernel values are evaluated: linear cost is counted, not timed."""

import numpy as np
import pytest
from configured import fit_with
from naive import CountingKernel

from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    Candidates,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
)

METHODS = [SparseMaximalAlignment, SparseMaximalCovariance]
N, C, K = 3000, 40, 15


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((N, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("gamma", [0.1, 1e-2, 1e-3])  # the wider ones need all digits
def test_a_pool_costs_one_pass_and_a_finishing_pass(gamma, method, given, data):
    X, y = data
    kernel = CountingKernel(gamma)
    candidates = X[:C] if given else C
    method(K, kernel=kernel, candidates=candidates, random_state=0, tol=1e-20).fit(X, y)
    assert kernel.evaluations <= N * C + C * C + N * K


class SubsetCountingKernel(CountingKernel):
    """Knows apart the subsets of candidates that were drawn, by their points."""

    def __init__(self, gamma):
        super().__init__(gamma)
        self.subsets = set()

    def __call__(self, X, Z):
        if len(Z) == C:
            self.subsets.add(Z.tobytes())
        return super().__call__(X, Z)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("gamma", [0.1, 1e-2, 1e-3])  # the wider ones have features in two steps
def test_fresh_subsets_cost_their_columns_at_every_step(gamma, method, data):
    X, y = data
    kernel = SubsetCountingKernel(gamma)
    few = {"kernel": kernel, "candidates": Candidates(C, resample=True)}
    fit_with({"max_memory": 8 * C * N}, method(K, **few, random_state=0, tol=1e-20), X, y)
    assert len(kernel.subsets) == K
    # one more value tells a vectorised function from a pairwise one
    assert kernel.evaluations <= K * C * N + N * K + 1


@pytest.mark.parametrize("method", METHODS)
def test_a_linearly_dependent_candidate_costs_one_more_subset(method, data):
    """Columns so wide are polynomials of degree 2, of which 14 are independent, up to rounding.

    The 15th feature is about 1e-10 of its column, so that rounding decides if a candidate is refused
    as linearly dependent; a subset is drawn in its stead, and each subset is paid for once.
    """
    X, y = data
    kernel = SubsetCountingKernel(1e-4)
    few = {"kernel": kernel, "candidates": Candidates(C, resample=True)}
    model = method(K, **few, random_state=0, tol=1e-20)
    fit_with({"max_memory": 8 * C * N}, model, X, y)
    assert model.n_components_ == K
    refused = len(kernel.subsets) - K
    assert 0 <= refused <= 3
    assert kernel.evaluations <= (K + refused) * C * N + N * K + 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("gamma", "finishing"), [(0.1, 0), (1e-4, 500 * K)])
def test_exact_selection_evaluates_the_matrix_once_when_it_fits(gamma, finishing, method, data):
    X, y = data[0][:500], data[1][:500]
    kernel = CountingKernel(gamma)
    method(K, kernel=kernel, candidates="all", tol=1e-20).fit(X, y)
    assert kernel.evaluations <= 500 * 500 + finishing + 1


def test_fresh_subsets_without_memory_evaluate_chosen_columns_again(data):
    X, y = data
    kernels = [CountingKernel(), CountingKernel()]
    models = [
        fit_with(
            {"max_memory": max_memory},
            SparseMaximalAlignment(
                K, kernel=kernel, candidates=Candidates(C, resample=True), random_state=0
            ),
            X,
            y,
        )
        for kernel, max_memory in zip(kernels, (8 * C * N, 0), strict=True)
    ]
    assert kernels[0].evaluations <= K * C * N + 1
    assert kernels[1].evaluations - kernels[0].evaluations == N * K
    np.testing.assert_array_equal(models[0].landmark_indices_, models[1].landmark_indices_)


@pytest.mark.parametrize("method", [*METHODS, AcceleratedKernelFeatureAnalysis])
def test_fresh_subsets_evaluate_no_column_twice_where_the_matrix_fits(method, data):
    X, y = data[0][:200], data[1][:200]
    kernel = CountingKernel()
    how = {"candidates": Candidates(150, resample=True), "random_state": 0}
    model = method(K, kernel=kernel, **how).fit(X, y)
    assert kernel.evaluations <= 200 * 200 + 200 * K + 1  # and features of the training samples
    without = fit_with({"max_memory": 0}, method(K, gamma=kernel.gamma, **how), X, y)
    np.testing.assert_array_equal(model.landmark_indices_, without.landmark_indices_)


def test_exact_selection_without_memory_evaluates_once_a_step(data):
    X, y = data[0][:500], data[1][:500]
    kernel = CountingKernel()
    fit_with({"max_memory": 0}, SparseMaximalAlignment(K, kernel=kernel, candidates="all"), X, y)
    # norms and targets, one product a step, and the chosen columns
    assert kernel.evaluations <= (K + 1) * 500 * 500 + K * 500 + 1


@pytest.mark.parametrize("method", METHODS)
def test_a_new_row_costs_one_evaluation_a_feature(method, data):
    X, y = data
    kernel = CountingKernel()
    model = method(K, kernel=kernel, candidates=C, random_state=0).fit(X, y)
    kernel.evaluations = 0
    model.transform(X)
    assert kernel.evaluations == N * K
    kernel.evaluations = 0
    model.transform(X, n_components=4)
    assert kernel.evaluations == N * 4
    kernel.evaluations = 0
    model.projector()(X[0])
    assert kernel.evaluations == K


def test_batches_that_come_once_cost_one_pass(data):
    X, y = data
    kernel = CountingKernel()
    model = SparseMaximalAlignment(K, kernel=kernel, candidates=X[:C])
    for start in range(0, N, 500):
        model.partial_fit(X[start : start + 500], y[start : start + 500])
    assert model.n_components_ == K
    assert kernel.evaluations <= N * C + C * C + 1
