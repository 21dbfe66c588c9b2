"""Sums of absolute differences: the loop against the formula."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from kernelsieve._compiled import absolute_differences


def sums(Z, X, dtype=np.float64, order="C"):
    out = np.full((len(Z), len(X)), np.nan, dtype, order)
    absolute_differences(Z, X, out)
    return out


@given(st.integers(0, 2**32 - 1), st.integers(0, 9), st.integers(0, 300), st.integers(0, 12))
@settings(max_examples=30, deadline=None)
def test_they_are_those_of_the_formula(seed, n_landmarks, n_samples, n_features):
    rng = np.random.default_rng(seed)
    Z, X = (10 * rng.standard_normal((n, n_features)) for n in (n_landmarks, n_samples))
    naive = np.abs(Z[:, None] - X[None]).sum(axis=2)
    assert_allclose(sums(Z, X), naive, rtol=1e-14, atol=1e-300)


@pytest.mark.parametrize(("dtype", "order"), [(np.float64, "F"), (np.float32, "C")])
def test_any_array_is_written_to(dtype, order, rng):
    Z, X = rng.standard_normal((7, 5)), rng.standard_normal((200, 5))
    assert_array_equal(sums(Z, X, dtype, order), sums(Z, X).astype(dtype))


def test_neither_blocks_nor_sides_nor_memory_matter(rng):
    Z, X = rng.standard_normal((9, 5)), rng.standard_normal((200, 10))[:, ::2]
    X.flags.writeable = Z.flags.writeable = False
    whole = sums(Z, X)
    assert_array_equal(np.hstack([sums(Z, X[:77]), sums(Z, X[77:])]), whole)
    assert_array_equal(sums(X, Z).T, whole)


def test_what_is_not_finite_stays_so():
    found = sums(np.array([[0.0, 1.0]]), np.array([[np.nan, 0.0], [np.inf, 0.0], [1.0, 1.0]]))
    assert_array_equal(found, [[np.nan, np.inf, 1.0]])
