"""The safe form: a triangular factor from orthogonal transformations, against one of all rows."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from kernelsieve.exceptions import InvalidDataError, KernelError
from kernelsieve.statistics import GramStatistic, TriangularStatistic


def statistic_of(A, weight=None, *, block=1000, form=TriangularStatistic):
    statistic = form(A.shape[1])
    for start in range(0, len(A), block):
        rows = slice(start, start + block)
        statistic.update(A[rows].T, weight=None if weight is None else weight[rows])
    return statistic


def columns_of(statistic):
    no_shift = np.zeros(statistic.n_lines - 1)
    return statistic.coordinates(np.zeros(0), no_shift, center=True).columns


def residual_of_last_column(statistic):
    """Return the length of what the other columns leave of the last one, seen in coordinates."""
    triangle = np.linalg.qr(columns_of(statistic), mode="r")
    short = statistic.n_lines - 1 - len(triangle)  # a factor that lost the column has fewer rows
    return 0.0 if short > 0 else float(abs(triangle[-1, -1]))


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 999), sizes=st.lists(st.integers(1, 40), min_size=1, max_size=6))
def test_whatever_the_pieces(seed, sizes):
    rng = np.random.default_rng(seed)
    pieces = [rng.standard_normal((n, 4)) for n in sizes]
    statistic = TriangularStatistic(4)
    for piece in pieces:
        statistic.merge(statistic_of(piece))
    A = np.vstack(pieces)
    assert_allclose(statistic.products(np.eye(4)), A.T @ A, atol=1e-12)


@pytest.mark.parametrize("block", [1, 64, 1000])
def test_digits_are_kept_where_the_gram_form_loses_them(block, rng):
    A = np.column_stack([np.ones(1000), rng.standard_normal((1000, 3))])
    A = np.column_stack([A, A[:, 1] - A[:, 3] + 1e-9 * rng.standard_normal(1000)])
    truth = float(abs(np.linalg.qr(A, mode="r")[-1, -1]))
    assert residual_of_last_column(statistic_of(A, block=block)) == pytest.approx(truth, rel=1e-4)
    # the other form knows half the digits only, and says so; were it not for that, one form would do
    fast = statistic_of(A, form=GramStatistic)
    assert residual_of_last_column(fast) != pytest.approx(truth, rel=0.1)
    assert not fast.keeps_all_digits


def test_ill_conditioned_columns_keep_their_small_singular_values(rng):
    left, _ = np.linalg.qr(rng.standard_normal((300, 8)))
    left -= left.mean(axis=0)
    right, _ = np.linalg.qr(rng.standard_normal((8, 8)))
    K = left * 10.0 ** -np.arange(0, 12, 1.5) @ right
    truth = np.linalg.svd(K - K.mean(axis=0), compute_uv=False)
    statistic = statistic_of(np.column_stack([np.ones(300), K]), block=37)
    assert_allclose(np.linalg.svd(columns_of(statistic), compute_uv=False), truth, rtol=1e-3)


def test_the_constant_comes_first_and_is_positive():
    # LAPACK leaves the sign of a factor open; means must not depend on it
    for seed in range(5):
        K = np.random.default_rng(seed).standard_normal((30, 3)) + 5.0
        statistic = statistic_of(np.column_stack([np.ones(30), K]), block=7)
        coordinates = statistic.coordinates(np.zeros(0), np.zeros(3), center=False)
        assert_allclose(coordinates.means, K.mean(axis=0), rtol=1e-13)
        assert_allclose(coordinates.columns[0], np.sqrt(30) * K.mean(axis=0), rtol=1e-13)


def test_the_rows_of_an_update_stay_as_they_are(rng):
    lines = rng.standard_normal((4, 50))
    before = lines.copy()
    statistic = TriangularStatistic(4)
    statistic.update(lines)
    statistic.update(lines, weight=np.full(50, 2.0))
    assert_array_equal(lines, before)
    assert_allclose(statistic.products(np.eye(4)), 3 * lines @ lines.T, atol=1e-12)


def test_memory_does_not_grow_with_the_rows(rng):
    statistic = TriangularStatistic(6)
    size = len(pickle.dumps(statistic))
    for lines in rng.standard_normal((50, 6, 20)):
        statistic.update(lines)
    assert len(pickle.dumps(statistic)) <= size + 16


def test_a_pickle_has_half_of_the_triangle(rng):
    lines = np.vstack([np.ones(2000), rng.standard_normal((299, 2000))])
    statistic = TriangularStatistic(300)
    statistic.update(lines)
    written = pickle.dumps(statistic)
    assert len(written) < 1.1 * 8 * 300 * 301 / 2
    read = pickle.loads(written)
    assert_array_equal(read.products(np.eye(300)), statistic.products(np.eye(300)))
    read.update(lines[:, :10])
    assert read.n_rows == 2010


def test_merging_with_itself_counts_rows_twice(rng):
    A = np.column_stack([np.ones(300), rng.standard_normal((300, 2))])
    statistic = statistic_of(A)
    statistic.merge(statistic)
    assert statistic.n_rows == 600
    assert_allclose(statistic.products(np.eye(3)), 2 * A.T @ A, rtol=1e-13)


def test_weights_multiplied_afterwards(rng):
    A = rng.normal(size=(300, 8))
    statistic = statistic_of(A)
    statistic.scale(0.3)
    assert_allclose(statistic.products(np.eye(8)), 0.3 * A.T @ A, atol=1e-12)


def test_subtracted_rows_take_half_of_the_digits_with_them(rng):
    A = np.column_stack([np.ones(600), rng.normal(size=(600, 8)) + 1000.0])
    statistic = statistic_of(A)
    assert statistic.keeps_all_digits
    statistic.subtract(statistic_of(A[300:]))
    assert not statistic.keeps_all_digits
    assert statistic.n_rows == 300
    stay = A[:300, 1:] - A[:300, 1:].mean(axis=0)
    found = columns_of(statistic)
    assert_allclose(found.T @ found, stay.T @ stay, atol=1e-8)
    other = TriangularStatistic(9)
    other.take_state(statistic.to_state())
    assert not other.keeps_all_digits
    fresh = statistic_of(A[300:])
    fresh.merge(statistic)
    assert not fresh.keeps_all_digits


def test_too_little_left_is_refused(rng):
    A = np.column_stack([np.ones(100), rng.normal(size=(100, 2))])
    A[50:] *= 1e6
    statistic = statistic_of(A)
    with pytest.raises(InvalidDataError, match="too small against what was there"):
        statistic.subtract(statistic_of(A[50:]))


def test_sums_that_overflow_are_refused():
    statistic = TriangularStatistic(3)
    for _ in range(300):  # no single row does
        statistic.update(np.array([[1.0], [1e154], [1e154]]))
    with pytest.raises(KernelError, match="too large for sums of their squares"):
        statistic.check_finite()
