"""The search of all pairs and triples."""

import tracemalloc
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from kernelsieve import SparseMaximalAlignment, SparseMaximalCovariance, config_context
from kernelsieve.deflation.criteria import subsets


@given(n=st.integers(1, 12), size=st.integers(1, 3), chunk=st.integers(1, 50))
def test_all_subsets_come_in_order_however_they_are_cut(n, size, chunk):
    n = max(n, size)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subsets, "_CHUNK", chunk)
        parts = list(subsets._all_subsets(n, size))
    assert_array_equal(np.concatenate(parts), list(combinations(range(n), size)))
    assert max(map(len, parts)) <= chunk + comb(n, max(1, size - 1))


@pytest.mark.parametrize("chunk", [1, 1000])
@pytest.mark.parametrize("p", [2, 3])
def test_how_subsets_are_cut_changes_nothing(chunk, p, diabetes, monkeypatch):
    X, y = diabetes
    model = SparseMaximalAlignment(4, n_nonzero=p, candidates=25, random_state=0)
    whole = model.fit(X, y).transform(X)
    monkeypatch.setattr(subsets, "_CHUNK", chunk)
    assert_array_equal(model.fit(X, y).transform(X), whole)


def test_the_first_of_equal_subsets_wins_in_whichever_part_it_is(monkeypatch):
    monkeypatch.setattr(subsets, "_CHUNK", 5)
    products = np.ones((10, 1))
    products[[3, 7]] = 2.0
    products[[4, 8]] = 2.0 * (1 + 1e-13)  # rounding
    usable = np.array([1, 3, 4, 6, 7, 8])
    best, score = subsets._best_subset(np.eye(10), products, usable, 2, np.zeros(10))
    assert_array_equal(best, [3, 4])
    assert score == pytest.approx(8.0)


def test_subsets_are_never_held_all_at_once(diabetes, monkeypatch):
    X, y = diabetes
    monkeypatch.setattr(subsets, "_CHUNK", 10_000)
    model = SparseMaximalAlignment(1, n_nonzero=3, candidates=130, random_state=0)
    SparseMaximalAlignment(1, candidates=130).fit(X, y)  # compiles what is compiled
    tracemalloc.start()
    try:
        model.fit(X, y)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    whole = comb(130, 3) * 3 * 8
    assert peak < whole
    assert after < whole / 10


def test_pairs_of_a_matrix_of_rank_one_rounded_to_float32():
    x = np.array([0.0210114, 0.00082147, 0.24150725])
    weight = np.array([1e-16, 1e-16, 2e-16])
    with config_context(dtype="float32"):
        for scale in np.linspace(1, 2, 50):
            model = SparseMaximalCovariance(1, kernel="precomputed", n_nonzero=2)
            model.fit(scale * np.outer(x, x), [0, 1, 1], sample_weight=weight)
            assert np.isfinite(model.transform(np.outer(x, x))).all()
