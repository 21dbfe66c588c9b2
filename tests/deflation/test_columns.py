"""Stored and recomputed columns are the same matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelsieve.data import Batch
from kernelsieve.deflation import RecomputedColumns, RidgeColumns, store_columns
from kernelsieve.kernels import RBF


@pytest.fixture(params=["plain", "weighted"])
def problem(request, rng):
    X = rng.standard_normal((300, 3))
    weight = rng.uniform(0.1, 2, 300) if request.param == "weighted" else None
    return Batch(X, np.empty((300, 0)), weight), X[:20]


@pytest.mark.parametrize("kind", ["stored", "recomputed"])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_columns_against_the_dense_truth(kind, center, n_jobs, problem, rng, monkeypatch):
    batch, points = problem
    make = store_columns if kind == "stored" else RecomputedColumns
    columns = make(batch, RBF(0.3), points, center=center, n_jobs=n_jobs)
    K = RBF(0.3).block(batch.X, points)
    weight = np.ones(300) if batch.weight is None else batch.weight
    means = weight @ K / weight.sum()
    A = (K - means if center else K) * np.sqrt(weight)[:, None]
    vectors = rng.standard_normal((300, 2))
    squared_norms, products = columns.scan(vectors)
    assert columns.shape == A.shape
    assert_allclose(squared_norms, (A**2).sum(axis=0), rtol=1e-12)
    assert_allclose(products, A.T @ vectors, atol=1e-11)
    assert_allclose(columns.inner(vectors), A.T @ vectors, atol=1e-11)
    assert_allclose(columns.inner(vectors[:, 0]), A.T @ vectors[:, 0], atol=1e-11)
    assert_allclose(columns.take(np.array([3, 7])), A[:, [3, 7]], atol=1e-13)
    for at_once in (2**20, 900):  # values: all columns, and three of them
        for room in ("columns", "recomputed"):
            monkeypatch.setattr(f"kernelsieve.deflation.{room}.TAKEN_VALUES", at_once)
        weights = rng.standard_normal(19)
        assert_allclose(columns.combined(np.arange(1, 20), weights), A[:, 1:] @ weights, atol=1e-12)
    assert_allclose(columns.means, means)
    assert_allclose(columns.raw_squared_norms, weight @ K**2)


def test_the_diagonal_is_read_off_and_not_evaluated(rng):
    X = rng.standard_normal((3000, 3)) * np.linspace(0.1, 2, 3000)[:, None]
    batch = Batch(X, np.empty((3000, 0)))
    rows = np.array([5, 2999, 1024])

    from kernelsieve.kernels import Linear

    columns = RecomputedColumns(batch, Linear(), X[rows], center=True, rows=rows, n_jobs=2)
    columns.scan(np.ones((3000, 1)))
    assert_allclose(columns.diagonal, (X[rows] ** 2).sum(axis=1))


def test_norms_keep_their_digits_when_the_mean_is_large(rng):
    """Sums of squares minus squared means would lose half the digits here."""
    X = rng.standard_normal((2000, 2))
    batch = Batch(X, np.empty((2000, 0)))
    kernel = RBF(1e-6)  # values within 1e-5 of one
    exact = kernel.block(X, X[:5]).astype(np.longdouble)
    exact = ((exact - exact.mean(axis=0)) ** 2).sum(axis=0).astype(float)
    for columns in (
        store_columns(batch, kernel, X[:5], center=True),
        RecomputedColumns(batch, kernel, X[:5], center=True),
    ):
        assert_allclose(columns.scan(np.ones((2000, 1)))[0], exact, rtol=1e-10)


@pytest.mark.parametrize("shared", [False, True])
def test_a_ridge_is_a_block_below(shared, problem, rng):
    batch, points = problem
    below = (np.full(20, 2), 4) if shared else ()
    columns = RidgeColumns(RecomputedColumns(batch, RBF(0.3), points, center=True), 0.7, *below)
    n_below = 4 if shared else 20
    root = np.zeros((n_below, 20))
    root[2 if shared else np.arange(20), np.arange(20)] = np.sqrt(0.7)
    above = store_columns(batch, RBF(0.3), points, center=True).values
    A = np.vstack([above, root])
    vectors = rng.standard_normal((300 + n_below, 2))
    squared_norms, products = columns.scan(vectors)
    assert columns.shape == A.shape
    assert_allclose(squared_norms, (A**2).sum(axis=0), rtol=1e-12)
    assert_allclose(products, A.T @ vectors, atol=1e-11)
    assert_allclose(columns.inner(vectors[:, 0]), A.T @ vectors[:, 0], atol=1e-11)
    assert_allclose(columns.take(np.array([3, 7])), A[:, [3, 7]], atol=1e-13)
