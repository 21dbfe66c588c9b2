"""Ratios of quadratic forms: properties that hold for any of them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import eigh

from kernelsieve.model import orthonormal_combinations
from kernelsieve.rayleigh.ratios import factorise, largest_ratios

SEEDS = st.integers(0, 2**31)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(1, 30), st.integers(1, 8), st.booleans())
def test_ratios_are_generalised_eigenvalues(seed, n_rows, n_columns, squared):
    rng = np.random.default_rng(seed)
    F, G = rng.normal(size=(n_rows, n_columns)), rng.normal(size=(n_columns + 3, n_columns))
    G = np.vstack([G, 0.1 * np.eye(n_columns)])
    directions, ratios = largest_ratios(F, factorise([G[:4], G[4:]], squared=squared), n_columns)
    expected = eigh(F.T @ F, G.T @ G, eigvals_only=True)[::-1]
    assert_allclose(ratios, expected[: len(ratios)], rtol=1e-6, atol=1e-9 * expected[0])
    assert len(ratios) == min(n_rows, n_columns) or expected[len(ratios)] < 1e-8 * expected[0]
    gram = directions.T @ (G.T @ G) @ directions
    assert_allclose(gram, np.eye(len(ratios)), atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(1, 6), st.integers(0, 4))
def test_dependent_columns_are_left_out(seed, rank, extra):
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(20, rank))
    columns = np.hstack([base, base @ rng.normal(size=(rank, extra))])
    denominator = factorise([columns])
    assert len(denominator.kept) == rank
    largest = np.linalg.eigvalsh(columns[:, denominator.kept].T @ columns[:, denominator.kept])[-1]
    assert 0.5 * largest < denominator.largest <= largest * (1 + 1e-9)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(1, 6), st.integers(1, 6))
def test_orthonormal_combinations(seed, rank, size):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(20, min(rank, size))) @ rng.normal(size=(min(rank, size), size))
    gram = features.T @ features
    B = orthonormal_combinations(gram)
    inner = B.T @ gram @ B
    assert_allclose(inner, np.diag(np.round(np.diagonal(inner))), atol=1e-5)
    assert np.count_nonzero(np.diagonal(inner) > 0.5) == min(rank, size)
    assert_allclose(B, np.triu(B))
