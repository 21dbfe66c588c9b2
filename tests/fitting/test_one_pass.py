"""The one pass over a pool: which form of the statistic it takes, and how often rows are seen."""

import numpy as np
import pytest
from configured import fit_with
from naive import CountingKernel
from numpy.testing import assert_allclose, assert_array_equal

from kernelsieve import KernelFeatureExtraction, SparseMaximalAlignment
from kernelsieve.fitting import one_pass
from kernelsieve.fitting.one_pass import OnePass
from kernelsieve.statistics import GramStatistic, TriangularStatistic

N, C, K = 2000, 60, 20
NARROW, WIDE = 0.5, 1e-2


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((N, 3))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]


@pytest.fixture
def forms(monkeypatch):
    """The forms of the statistics from which models were made."""
    seen = []
    solve = OnePass.solve

    def noting(self, statistic, batches=None):
        seen.append(type(statistic.columns))
        return solve(self, statistic, batches)

    monkeypatch.setattr(OnePass, "solve", noting)
    return seen


@pytest.fixture
def trials(monkeypatch):
    """Let 256 rows decide even over a few thousand."""
    monkeypatch.setattr(one_pass, "_FEW_VALUES", 0)
    monkeypatch.setattr(one_pass, "_FEW_PRODUCTS", 0)


def sieve(gamma, X, **options):
    return SparseMaximalAlignment(K, gamma=gamma, candidates=X[:: N // C][:C], tol=1e-20, **options)


@pytest.mark.parametrize(("gamma", "form"), [(NARROW, GramStatistic), (WIDE, TriangularStatistic)])
@pytest.mark.parametrize("order", [None, 0])
def test_a_few_rows_tell_which_form_is_needed(gamma, form, order, data, forms, trials):
    X, y = data
    if order is not None:
        rows = np.argsort(y)  # the first rows have nearly the same target
        X, y = X[rows], y[rows]
    model = sieve(gamma, X).fit(X, y)
    assert forms == [form]
    safe = fit_with({"precision": "safe"}, sieve(gamma, X), X, y)
    assert_array_equal(model.landmark_indices_, safe.landmark_indices_)
    assert_allclose(model.transform(X), safe.transform(X), atol=1e-6)


def test_few_rows_keep_all_digits(data, forms):
    X, y = data
    sieve(NARROW, X).fit(X, y)
    assert forms == [TriangularStatistic]


@pytest.mark.parametrize("size", [7, 100, 1500])
@pytest.mark.parametrize(("gamma", "form"), [(NARROW, GramStatistic), (WIDE, TriangularStatistic)])
def test_rows_are_looked_at_in_batches_of_any_size(size, gamma, form, data, forms, trials):
    X, y = data
    kernel = CountingKernel(gamma)
    pool = X[:: N // C][:C]
    model = SparseMaximalAlignment(K, kernel=kernel, candidates=pool, tol=1e-20)
    model.fit_batches([(X[i : i + size], y[i : i + size]) for i in range(0, N, size)])
    assert forms == [form]
    assert kernel.evaluations <= N * C + C * C + N * K + 2 * 256 * C + 1
    whole = SparseMaximalAlignment(K, kernel=kernel, candidates=pool, tol=1e-20).fit(X, y)
    assert_array_equal(model.landmarks_, whole.landmarks_)


def test_rows_of_one_class_at_all_places_looked_at(data, forms, trials):
    X, _ = data
    y = np.zeros(N, int)
    y[400:600] = 1  # neither at the beginning, nor in the middle, nor at the end
    model = sieve(NARROW, X).fit(X, y)
    assert forms == [GramStatistic]
    assert model.n_components_ == K


def test_a_second_pass_where_the_few_rows_told_nothing(data, forms, trials):
    X, y = data
    y = y.copy()
    y[:: N // 256] = 1
    kernel = CountingKernel(WIDE)
    pool = X[:: N // C][:C]
    model = SparseMaximalAlignment(K, kernel=kernel, candidates=pool, tol=1e-20).fit(X, y)
    assert forms == [GramStatistic, TriangularStatistic]
    assert model.n_components_ == K
    assert kernel.evaluations > 2 * N * C


def test_a_first_batch_without_weight_tells_nothing(data, forms, trials):
    X, _ = data
    weights = np.repeat([0.0, 1.0, 1.0, 1.0], 500)
    batches = [(X[i : i + 500], None, weights[i : i + 500]) for i in range(0, N, 500)]
    options = {"candidates": X[:C], "gamma": NARROW}
    model = KernelFeatureExtraction("variance", 5, **options).fit_batches(batches)
    assert forms == [GramStatistic]
    rest = KernelFeatureExtraction("variance", 5, **options).fit(X[500:])
    assert_array_equal(model.landmarks_, rest.landmarks_)
