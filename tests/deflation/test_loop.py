"""The loop itself: outcomes, guards, and numbers that stay true over many steps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from kernelsieve.deflation import (
    Alignment,
    Covariance,
    DiagonalOnly,
    FixedCandidates,
    Outcome,
    StoredColumns,
    Variance,
    extract,
)


def run(A, Y, criterion, n_components, floor=1e-20, trust=0.0):
    columns = StoredColumns(A, np.zeros(A.shape[1]), centred=False)
    candidates = FixedCandidates(columns, DiagonalOnly(np.ones(A.shape[1])), Y, n_components)
    result = extract(
        candidates, Y, criterion, n_components, total_weight=len(A), floor=floor, trust=trust
    )
    return result, candidates


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(5, 30), c=st.integers(2, 12), q=st.integers(1, 3))
def test_directions_times_columns_is_q_times_r(seed, n, c, q):
    rng = np.random.default_rng(seed)
    A, Y = rng.standard_normal((n, c)), rng.standard_normal((n, q))
    k = min(n, c) - 1
    for criterion in (Alignment(), Covariance(), Variance()):
        result, _ = run(A, Y, criterion, k)
        B = np.zeros((c, len(result)))
        for j, direction in enumerate(result.directions):
            B[direction.candidates, j] = direction.weights
        Q = result.features
        assert_allclose(Q.T @ Q, np.eye(len(result)), atol=1e-10)
        assert_allclose(Q @ result.triangle, A @ B, atol=1e-9)
        assert_allclose(result.target_products, Q.T @ Y, atol=1e-9)
        assert_allclose(result.triangle, np.triu(result.triangle))
        assert (np.diagonal(result.triangle) > 0).all()


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_updated_numbers_are_those_of_the_deflated_matrix(seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((30, 10)) @ np.diag(np.logspace(0, -6, 10)) @ rng.standard_normal((10, 10))
    Y = rng.standard_normal((30, 2))
    result, candidates = run(A, Y, Alignment(), 6)
    Q = result.features
    candidates.advance(Y - Q @ (Q.T @ Y))
    deflated = A - Q @ (Q.T @ A)
    free = candidates.eligible
    assert_allclose(candidates.residual_squared_norms[free], (deflated**2).sum(axis=0)[free], rtol=1e-6)
    assert_allclose(candidates.target_products[free], (deflated.T @ Y)[free], rtol=1e-5, atol=1e-12)


def test_ties_go_to_the_first_candidate(rng):
    column, y = rng.standard_normal(20), rng.standard_normal((20, 1))
    A = np.column_stack([column, column * (1 + 1e-15), -column])
    assert run(A, y, Alignment(), 1)[0].directions[0].candidates.tolist() == [0]


@pytest.mark.parametrize("criterion", [Alignment(), Covariance(), Variance()])
def test_outcomes(criterion, rng):
    A = rng.standard_normal((20, 3)) @ rng.standard_normal((3, 8))
    Y = rng.standard_normal((20, 1))
    assert run(A, Y, criterion, 3)[0].outcome == Outcome.COMPLETE
    exhausted = run(A, Y, criterion, 5)[0]
    assert exhausted.outcome == Outcome.EXHAUSTED
    assert len(exhausted) == 3


def test_a_target_in_the_span_ends_the_search(rng):
    A = rng.standard_normal((20, 8))
    result = run(A, A[:, [2]] * 1e-30, Alignment(), 5)[0]
    assert result.outcome == Outcome.EXPLAINED
    assert [d.candidates.tolist() for d in result.directions] == [[2]]


def test_what_is_not_trusted_stops_the_loop(rng):
    near = rng.standard_normal(50)
    A = np.column_stack([near + 1e-8 * rng.standard_normal(50) for _ in range(5)])
    Y = rng.standard_normal((50, 1))
    columns = StoredColumns(A, np.zeros(5), centred=False)
    from kernelsieve.deflation import PoolMetric

    candidates = FixedCandidates(columns, PoolMetric(np.eye(5)), Y, 3)
    result = extract(candidates, Y, Alignment(), 3, total_weight=50, floor=1e-20, trust=1e-12)
    assert result.outcome == Outcome.IMPRECISE
    assert len(result) == 1
    # when the images themselves coincide, the candidates are linearly dependent and not imprecise
    candidates = FixedCandidates(columns, PoolMetric(np.ones((5, 5))), Y, 3)
    result = extract(candidates, Y, Alignment(), 3, total_weight=50, floor=1e-20, trust=1e-12)
    assert result.outcome == Outcome.EXHAUSTED


def test_every_outcome_names_a_remedy():
    texts = {
        name: text
        for name, text in vars(Outcome).items()
        if name.isupper() and name not in ("COMPLETE", "REACHED")
    }
    assert len(texts) > 5
    for text in texts.values():
        assert "n_components" in text
