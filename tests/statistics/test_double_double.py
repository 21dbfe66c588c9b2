"""The safe form: double-double precision, against fractions, and few products."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from kernelsieve._compiled import pivoted_factor
from kernelsieve.exceptions import KernelError
from kernelsieve.statistics import DoubleDoubleStatistic, GramStatistic
from kernelsieve.statistics import double_double as module


def statistic_of(A: np.ndarray, weight=None, *, block: int = 1000, shift=None) -> DoubleDoubleStatistic:
    statistic = DoubleDoubleStatistic(A.shape[1], shift)
    for start in range(0, len(A), block):
        rows = slice(start, start + block)
        statistic.update(A[rows].T.copy(), weight=None if weight is None else weight[rows])
    return statistic


def exact_products(A: np.ndarray, weight=None) -> np.ndarray:
    weight = np.ones(len(A)) if weight is None else weight
    rows = [[Fraction(value) for value in row] for row in A.tolist()]
    weights = [Fraction(w) for w in weight.tolist()]
    of_column = list(zip(*rows, strict=True))
    return np.array(
        [
            [sum(map(lambda w, a, b: w * a * b, weights, one, other)) for other in of_column]
            for one in of_column
        ]
    )


def relative_errors(statistic: DoubleDoubleStatistic, truth: np.ndarray) -> np.ndarray:
    high, low = statistic._inner_products()
    found = np.vectorize(Fraction)(high) + np.vectorize(Fraction)(low)
    lengths = np.sqrt(np.diagonal(truth).astype(float))
    return np.abs((found - truth).astype(float)) / np.outer(lengths, lengths)


def residual_of_last_column(statistic) -> float:
    """Return the length of what the other columns leave of the last one, seen in coordinates."""
    n_columns = statistic.n_lines - 1
    columns = statistic.coordinates(np.zeros(0), np.zeros(n_columns), center=True).columns
    triangle = np.linalg.qr(columns, mode="r")
    short = n_columns - len(triangle)  # a factor that lost the column has fewer rows
    return 0.0 if short > 0 else float(abs(triangle[-1, -1]))


# -- digits


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("n_rows", "n_lines"), [(1, 3), (300, 1), (300, 9), (700, 5)])
def test_inner_products_have_twice_the_digits(weighted, n_rows, n_lines, rng):
    A = rng.standard_normal((n_rows, n_lines)) * 10.0 ** rng.integers(-20, 20, n_lines)
    weight = rng.uniform(0, 5, n_rows) if weighted else None
    assert relative_errors(statistic_of(A, weight), exact_products(A, weight)).max() < 1e-30


@settings(deadline=None, max_examples=50)
@given(seed=st.integers(0, 999), sizes=st.lists(st.integers(1, 40), min_size=1, max_size=6))
def test_whatever_the_magnitudes_and_pieces(seed, sizes):
    rng = np.random.default_rng(seed)
    pieces = [rng.standard_normal((n, 4)) * 10.0 ** rng.uniform(-8, 8, (n, 1)) for n in sizes]
    statistic = DoubleDoubleStatistic(4)
    for piece in pieces:
        other = DoubleDoubleStatistic(4)
        other.update(piece.T.copy())
        other._fold()
        statistic.merge(other)
    assert relative_errors(statistic, exact_products(np.vstack(pieces))).max() < 1e-29


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("spread", [1e-9, 1e-3, 10.0])
def test_a_shift_rounds_nothing_off(weighted, spread, rng):
    # With the largest spread, values are far from the shift and differences from it have no end in 53
    # digits.
    A = np.column_stack([np.ones(300), 1 + spread * rng.standard_normal((300, 3))])
    weight = rng.uniform(0, 5, 300) if weighted else None
    shift = np.array([0.0, *A[:20, 1:].mean(axis=0)])
    moved = np.vectorize(Fraction)(A) - np.vectorize(Fraction)(shift)
    weights = np.vectorize(Fraction)(np.ones(300) if weight is None else weight)
    truth = moved.T @ (moved * weights[:, None])
    assert relative_errors(statistic_of(A, weight, shift=shift), truth).max() < 1e-30


def test_combinations_that_nearly_cancel_are_known_to_the_last_digits(rng):
    A = np.column_stack([np.ones(400), rng.uniform(0.5, 1.5, (400, 3))])
    A[:, 3] = A[:, 1] + 1e-12 * rng.standard_normal(400)  # rounded: not what was added
    combinations = np.array([[1.0, 0.3, 0.0], [0, 1e12, -1e12], [0, 0, 3.0], [0, -1e12, 1e12]])
    exactly = np.vectorize(Fraction)(A) @ np.vectorize(Fraction)(combinations)
    truth = (exactly.T @ exactly).astype(float)
    for shift in (None, np.array([0.0, 1.0, 0.9, 1.0])):
        assert_allclose(statistic_of(A, shift=shift).products(combinations), truth, rtol=1e-6)
    in_floats = A @ combinations
    assert np.abs(in_floats.T @ in_floats / truth - 1).max() > 1e-5


@pytest.mark.parametrize("block", [1, 64, 1000])
def test_digits_are_kept_where_the_gram_form_loses_them(block, rng):
    A = np.column_stack([np.ones(1000), rng.standard_normal((1000, 3))])
    A = np.column_stack([A, A[:, 1] - A[:, 3] + 1e-9 * rng.standard_normal(1000)])
    truth = float(abs(np.linalg.qr(A, mode="r")[-1, -1]))
    assert residual_of_last_column(statistic_of(A, block=block)) == pytest.approx(truth, rel=1e-4)
    # the other form knows half the digits only, and says so; were it not for that, one form would do
    fast = GramStatistic(A.shape[1])
    fast.update(A.T)
    assert residual_of_last_column(fast) != pytest.approx(truth, rel=0.1)


def test_ill_conditioned_columns_keep_their_small_singular_values(rng):
    left, _ = np.linalg.qr(rng.standard_normal((300, 8)))
    left -= left.mean(axis=0)
    right, _ = np.linalg.qr(rng.standard_normal((8, 8)))
    K = left * 10.0 ** -np.arange(0, 12, 1.5) @ right
    truth = np.linalg.svd(K - K.mean(axis=0), compute_uv=False)
    statistic = statistic_of(np.column_stack([np.ones(300), K]), block=37)
    columns = statistic.coordinates(np.zeros(0), np.zeros(8), center=True).columns
    assert_allclose(np.linalg.svd(columns, compute_uv=False), truth, rtol=1e-3)


def test_few_rows_and_many_give_the_same_coordinates(rng):
    # few are factorised as they are, many through their inner products
    A = np.column_stack([np.ones(200), rng.standard_normal((200, 250)) + 3.0])
    few, many = statistic_of(A), statistic_of(A)
    many._fold()
    assert few._sums is None
    assert many._sums is not None
    shift = np.zeros(250)
    for center in (True, False):
        one, other = (s.coordinates(np.zeros(0), shift, center=center) for s in (few, many))
        assert_allclose(one.columns.T @ one.columns, other.columns.T @ other.columns, atol=1e-11)
        assert_allclose(one.means, other.means, rtol=1e-14)
        assert one.total_weight == pytest.approx(other.total_weight, rel=1e-14)


# -- work and memory


def test_single_rows_wait_for_each_other(monkeypatch, rng):
    # adding to the sums takes as long for one row as making them takes for many
    calls = []
    add = module.add_products
    monkeypatch.setattr(module, "add_products", lambda *args: (calls.append(args[0].shape), add(*args)))
    statistic = DoubleDoubleStatistic(10)
    for row in rng.standard_normal((2000, 10)):
        statistic.update(row[:, None])
    assert calls == [(10, 256)] * 7  # and never many rows at once: memory stays that of the columns


def test_merging_small_pieces_keeps_the_memory_of_the_columns(rng):
    statistic = DoubleDoubleStatistic(6)
    for lines in rng.standard_normal((1000, 6, 2)):
        piece = DoubleDoubleStatistic(6)
        piece.update(lines)
        statistic.merge(piece)
        assert sum(lines.shape[1] for lines, _ in statistic._waiting) < 256
    assert statistic.n_rows == 2000


def test_an_empty_one_has_the_same_shift():
    shift = np.array([0.0, 0.3])
    twin = DoubleDoubleStatistic(2, shift).empty()
    assert (twin.n_rows, twin.n_lines) == (0, 2)
    assert_allclose(twin._shift, shift)


# -- forms


def test_the_constant_comes_first_and_is_positive():
    # LAPACK leaves the sign of a factor open; means must not depend on it
    for seed in range(5):
        K = np.random.default_rng(seed).standard_normal((30, 3)) + 5.0
        statistic = statistic_of(np.column_stack([np.ones(30), K]))
        coordinates = statistic.coordinates(np.zeros(0), np.zeros(3), center=False)
        assert_allclose(coordinates.means, K.mean(axis=0), rtol=1e-13)
        assert_allclose(coordinates.columns[0], np.sqrt(30) * K.mean(axis=0), rtol=1e-13)


@pytest.mark.parametrize("own_shift", [None, np.array([0.0, 0.0, 0.5, 0.0, 2.0, -1.0])])
def test_squared_is_the_fast_form_of_the_same_rows(own_shift, rng):
    A = rng.standard_normal((50, 6))
    A[:, 0] = 1.0
    shift = np.array([0.0, 0.0, 0.4, 0.2, 3.0, -1.0])
    safe, fast = DoubleDoubleStatistic(6, own_shift), GramStatistic(6)
    for rows, trace in ((slice(30), 2.0), (slice(30, 33), 3.0)):
        safe.update(A[rows].T, trace)
        fast.update((A[rows] - shift).T, trace)
    squared = safe.squared(shift)
    assert_allclose(squared.gram, fast.gram, atol=1e-12)
    assert (squared.n_rows, squared.trace) == (33, 5.0)
    squared.update((A[33:] - shift).T, 4.0)
    assert_allclose(squared.gram, (A - shift).T @ (A - shift), atol=1e-12)
    assert safe.n_rows == 33


# -- misuse and threads


def test_looking_from_several_threads_changes_nothing(rng):
    # rows that wait must not be added twice, or lost
    A = np.column_stack([np.ones(900), rng.standard_normal((900, 400))])
    statistic = statistic_of(A[:500])
    statistic.update(A[500:].T.copy())
    assert statistic._waiting
    assert statistic._sums is not None

    def look(_):
        return statistic.coordinates(np.zeros(0), np.zeros(400), center=True).columns

    expected = look(0)
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(look, range(8)):
            assert_array_equal(found, expected)
    assert statistic.products(np.eye(401)[:, :1]) == 900


def test_a_failure_keeps_the_rows_that_wait(monkeypatch, rng):
    statistic = DoubleDoubleStatistic(4)
    statistic.update(rng.standard_normal((4, 200)))

    def fail(*args):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(module, "add_products", fail)
        with pytest.raises(MemoryError):
            statistic.update(rng.standard_normal((4, 400)))
    assert statistic.n_rows == 200
    assert sum(lines.shape[1] for lines, _ in statistic._waiting) == 200


def test_a_pickle_has_half_of_the_sums(rng):
    lines = np.vstack([np.ones(2000), rng.standard_normal((299, 2000))])
    statistic = DoubleDoubleStatistic(300)
    statistic.update(lines)
    written = pickle.dumps(statistic)
    assert len(written) < 1.1 * 2 * 8 * 300 * 301 / 2
    read = pickle.loads(written)
    assert_array_equal(read.products(np.eye(300)), statistic.products(np.eye(300)))
    read.update(lines[:, :10])
    assert read.n_rows == 2010


def test_merging_with_itself_counts_rows_twice(rng):
    A = np.column_stack([np.ones(300), rng.standard_normal((300, 2))])
    for n_rows in (10, 300):
        statistic = statistic_of(A[:n_rows])
        statistic.merge(statistic)
        assert statistic.n_rows == 2 * n_rows
        assert_allclose(statistic.products(np.eye(3)), 2 * A[:n_rows].T @ A[:n_rows], rtol=1e-13)


def test_other_shifts_are_not_merged():
    statistic, other = DoubleDoubleStatistic(2), DoubleDoubleStatistic(2, np.array([0.0, 1.0]))
    other.update(np.ones((2, 3)))
    with pytest.raises(ValueError, match="different shifts"):
        statistic.merge(other)
    assert statistic.n_rows == 0


def test_sums_that_overflow_are_refused():
    statistic = DoubleDoubleStatistic(3)
    for _ in range(300):  # no single row does
        statistic.update(np.array([[1.0], [1e154], [1e154]]))
    with pytest.raises(KernelError, match="too large for sums of their squares"):
        statistic.coordinates(np.zeros(0), np.zeros(2), center=True)


# -- the factor


@pytest.mark.parametrize("n_lines", [1, 7, 40, 150])
@pytest.mark.parametrize("rank", [1, 5, 200])
def test_a_factor_of_any_rank(n_lines, rank, rng):
    rank = min(rank, n_lines)
    A = rng.standard_normal((300, rank)) @ rng.standard_normal((rank, n_lines))
    high = A.T @ A
    factor = pivoted_factor(high, np.zeros_like(high), 1e-12 * np.diagonal(high))
    assert len(factor) == rank
    assert_allclose(factor.T @ factor, high, atol=1e-13 * high.max())


def test_a_factor_of_nothing():
    assert pivoted_factor(np.zeros((3, 3)), np.zeros((3, 3)), np.full(3, 1e-300)).shape == (0, 3)


def test_a_factor_has_the_digits_of_its_matrix(rng):
    # Hilbert's matrix of order 12 has a condition of 1e16: from its float64 nothing would be left
    fractions = [[Fraction(1, i + j + 1) for j in range(12)] for i in range(12)]
    high = np.array(fractions, dtype=float)
    low = (np.array(fractions) - np.vectorize(Fraction, otypes=[object])(high)).astype(float)
    factor = pivoted_factor(high, low, np.full(12, 1e-28))
    sizes = np.linalg.svd(factor, compute_uv=False)
    assert np.prod(sizes) == pytest.approx(np.sqrt(2.6477805e-78), rel=1e-6)


@pytest.mark.parametrize("n_rows", [5, 300])
def test_weights_multiplied_afterwards_keep_all_digits(n_rows):
    A = np.random.default_rng(3).normal(size=(n_rows, 8))
    statistic = statistic_of(A)
    statistic.scale(0.3)
    assert relative_errors(statistic, exact_products(A, np.full(n_rows, 0.3))).max() < 1e-28


def test_rows_taken_out_again_keep_all_digits():
    A = np.random.default_rng(4).normal(size=(600, 8))
    A[300:] *= 1e4  # which a sum of squares in one number would not forget
    statistic = statistic_of(A)
    statistic.subtract(statistic_of(A[300:]))
    assert statistic.n_rows == 300
    assert relative_errors(statistic, exact_products(A[:300])).max() < 1e-20
