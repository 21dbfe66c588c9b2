"""What every form of the statistic must pass: it keeps the inner products of a dense, naive truth.

A new form is one more entry in ``FORMS``.
"""

import pickle
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernelsieve.statistics import GramStatistic, TriangularStatistic

FORMS = [GramStatistic, TriangularStatistic]
N_ROWS, N_TARGETS, N_COLUMNS = 60, 2, 5

every_form = pytest.mark.parametrize("form", FORMS)
centred_or_not = pytest.mark.parametrize("center", [True, False])


def problem(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return targets and columns that have means and are correlated."""
    rng = np.random.default_rng(seed)
    K = rng.standard_normal((N_ROWS, N_COLUMNS)) + np.arange(N_COLUMNS)
    Y = K[:, :N_TARGETS] ** 2 + rng.standard_normal((N_ROWS, N_TARGETS))
    return Y, K


def lines_of(Y, K, shift=0.0) -> np.ndarray:
    return np.column_stack([np.ones(len(K)), Y, K - shift]).T.copy()


def statistic_of(form, Y, K, weight=None, shift=0.0):
    statistic = form(1 + Y.shape[1] + K.shape[1])
    statistic.update(lines_of(Y, K, shift), weight=weight)
    return statistic


def naive_products(Y, K, *, center: bool, weight=None) -> np.ndarray:
    """Return the inner products of ``[Y | K]``, as the methods would see them on all rows."""
    A = np.hstack([Y, K])
    weight = np.ones(len(A)) if weight is None else weight
    if center:
        A = A - weight @ A / weight.sum()
    return A.T @ (A * weight[:, None])


def products(statistic, *, center: bool, n_targets: int = N_TARGETS, shift=None) -> np.ndarray:
    shift = np.zeros(statistic.n_lines - 1 - n_targets) if shift is None else shift
    coordinates = statistic.coordinates(np.zeros(n_targets), shift, center=center)
    A = np.hstack([coordinates.targets, coordinates.columns])
    return A.T @ A


def close(actual: np.ndarray, Y, K, *, center: bool, weight=None, tolerance: float = 1e-10) -> None:
    """Compare inner products, each relative to the lengths of its two columns before centring."""
    expected = naive_products(Y, K, center=center, weight=weight)
    lengths = np.sqrt(np.diagonal(naive_products(Y, K, center=False, weight=weight)))
    lengths = np.where(lengths > 0, lengths, 1.0)
    assert actual.shape == expected.shape
    assert (np.abs(actual - expected) / np.outer(lengths, lengths)).max() < tolerance


# -- inner products


@every_form
@centred_or_not
def test_coordinates_keep_all_inner_products(form, center):
    Y, K = problem()
    close(products(statistic_of(form, Y, K), center=center), Y, K, center=center)


@every_form
@centred_or_not
def test_a_shift_changes_nothing_but_the_rounding(form, center):
    Y, K = problem()
    shift = K[:7].mean(axis=0)
    statistic = statistic_of(form, Y, K, shift=shift)
    close(products(statistic, center=center, shift=shift), Y, K, center=center)
    means = statistic.coordinates(np.zeros(N_TARGETS), shift, center=center).means
    np.testing.assert_allclose(means, K.mean(axis=0), rtol=1e-12, atol=1e-12)


@every_form
@centred_or_not
def test_a_shift_near_the_means_saves_the_digits_of_distant_columns(form, center):
    Y, K = problem()
    K += 1e6
    shift = K[:7].mean(axis=0)
    statistic = statistic_of(form, Y, K, shift=shift)
    actual = products(statistic, center=center, shift=shift)
    close(actual, Y, K, center=center)
    if center:
        spread = np.diagonal(naive_products(Y, K, center=True))
        np.testing.assert_allclose(np.diagonal(actual), spread, rtol=1e-9)


@every_form
@centred_or_not
def test_weights_count_as_repeated_rows(form, center):
    Y, K = problem()
    weight = np.random.default_rng(1).integers(1, 5, N_ROWS)
    weighted = statistic_of(form, Y, K, weight.astype(float))
    repeated = statistic_of(form, np.repeat(Y, weight, axis=0), np.repeat(K, weight, axis=0))
    close(products(weighted, center=center), Y, K, center=center, weight=weight)
    close(products(repeated, center=center), Y, K, center=center, weight=weight)
    one, other = (
        s.coordinates(np.zeros(N_TARGETS), np.zeros(N_COLUMNS), center=center)
        for s in (weighted, repeated)
    )
    assert one.total_weight == pytest.approx(weight.sum(), rel=1e-12)
    assert other.total_weight == pytest.approx(weight.sum(), rel=1e-12)
    np.testing.assert_allclose(one.means, other.means, rtol=1e-10, atol=1e-10)


@every_form
def test_weights_may_come_in_some_pieces_only(form):
    Y, K = problem()
    weight = np.ones(N_ROWS)
    weight[20:40] = np.random.default_rng(1).uniform(0.1, 3.0, 20)
    in_pieces = statistic_of(form, Y[:20], K[:20])
    in_pieces.update(lines_of(Y[20:40], K[20:40]), weight=weight[20:40])
    in_pieces.merge(statistic_of(form, Y[40:], K[40:]))
    close(products(in_pieces, center=True), Y, K, center=True, weight=weight)


@every_form
@centred_or_not
def test_rows_of_weight_zero_count_for_nothing(form, center):
    Y, K = problem()
    weight = np.ones(N_ROWS)
    weight[::3] = 0.0
    kept = weight > 0
    statistic = statistic_of(form, Y, K, weight)
    close(products(statistic, center=center), Y[kept], K[kept], center=center)


@every_form
def test_means_and_total_weight_are_weighted(form):
    Y, K = problem()
    weight = np.random.default_rng(1).uniform(0.1, 3.0, N_ROWS)
    coordinates = statistic_of(form, Y, K, weight).coordinates(
        np.zeros(N_TARGETS), np.zeros(N_COLUMNS), center=True
    )
    np.testing.assert_allclose(coordinates.means, np.average(K, axis=0, weights=weight), rtol=1e-11)
    assert coordinates.total_weight == pytest.approx(weight.sum(), rel=1e-12)


@every_form
@centred_or_not
def test_methods_without_targets_are_served_as_well(form, center):
    Y, K = problem()
    none = Y[:, :0]
    statistic = statistic_of(form, none, K)
    close(products(statistic, center=center, n_targets=0), none, K, center=center)
    coordinates = statistic.coordinates(np.zeros(0), np.zeros(N_COLUMNS), center=center)
    assert coordinates.targets.shape == (len(coordinates.columns), 0)


@every_form
def test_coordinates_are_no_longer_than_the_lines(form):
    Y, K = problem()
    statistic = statistic_of(form, Y, K)
    for center in (True, False):
        coordinates = statistic.coordinates(np.zeros(N_TARGETS), np.zeros(N_COLUMNS), center=center)
        assert len(coordinates.columns) <= statistic.n_lines
        assert len(coordinates.targets) == len(coordinates.columns)


# -- columns and rows that are short of something


@every_form
@centred_or_not
def test_columns_of_low_rank(form, center):
    Y, K = problem()
    K = K[:, :2] @ np.random.default_rng(1).standard_normal((2, N_COLUMNS))
    close(products(statistic_of(form, Y, K), center=center), Y, K, center=center)


@every_form
@centred_or_not
def test_equal_columns(form, center):
    Y, K = problem()
    K[:, 3] = K[:, 1]
    statistic = statistic_of(form, Y, K)
    close(products(statistic, center=center), Y, K, center=center)
    columns = statistic.coordinates(np.zeros(N_TARGETS), np.zeros(N_COLUMNS), center=center).columns
    np.testing.assert_allclose(columns[:, 3], columns[:, 1], atol=1e-7 * np.abs(columns).max())


@every_form
@centred_or_not
@pytest.mark.parametrize("value", [0.0, 3.0, -1e6])
def test_constant_columns(form, center, value):
    Y, K = problem()
    K[:, 2] = value
    statistic = statistic_of(form, Y, K)
    actual = products(statistic, center=center)
    assert np.isfinite(actual).all()
    close(actual, Y, K, center=center)


@every_form
@centred_or_not
def test_everything_is_zero(form, center):
    Y, K = np.zeros((N_ROWS, N_TARGETS)), np.zeros((N_ROWS, N_COLUMNS))
    np.testing.assert_array_equal(products(statistic_of(form, Y, K), center=center), 0.0)


@every_form
@centred_or_not
@pytest.mark.parametrize("n_rows", [1, 2, 4])
def test_fewer_rows_than_columns(form, center, n_rows):
    Y, K = (part[:n_rows] for part in problem())
    close(products(statistic_of(form, Y, K), center=center), Y, K, center=center)


@every_form
@centred_or_not
@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_a_target_in_other_units_is_not_lost(form, center, unit):
    Y, K = problem()
    actual = products(statistic_of(form, Y * unit, K), center=center)
    expected = naive_products(Y * unit, K, center=center)
    # each product with the target, relative to what it is: nothing is drowned by the columns
    np.testing.assert_allclose(actual[:N_TARGETS], expected[:N_TARGETS], rtol=1e-9)


@every_form
def test_a_target_in_tiny_units_is_explained_as_much_as_before(form):
    Y, K = problem()
    coordinates = statistic_of(form, 1e-12 * Y, K).coordinates(
        np.zeros(N_TARGETS), np.zeros(N_COLUMNS), center=True
    )

    def explained(columns, targets):
        fitted = columns @ np.linalg.lstsq(columns, targets, rcond=None)[0]
        return (fitted**2).sum(axis=0) / (targets**2).sum(axis=0)

    truth = explained(K - K.mean(axis=0), Y - Y.mean(axis=0))
    np.testing.assert_allclose(explained(coordinates.columns, coordinates.targets), truth, rtol=1e-9)


# -- blocks and merging


@every_form
@centred_or_not
def test_one_row_at_a_time(form, center):
    Y, K = problem()
    statistic = form(1 + N_TARGETS + N_COLUMNS)
    for i in range(N_ROWS):
        statistic.update(lines_of(Y[i : i + 1], K[i : i + 1]))
    close(products(statistic, center=center), Y, K, center=center)


def pieces_of(form, Y, K, cuts) -> list:
    bounds = [0, *sorted(cuts), N_ROWS]
    return [statistic_of(form, Y[start:stop], K[start:stop]) for start, stop in pairwise(bounds)]


@every_form
@settings(max_examples=40, deadline=None)
@given(
    cuts=st.lists(st.integers(0, N_ROWS), max_size=8),
    dice=st.randoms(use_true_random=False),
    center=st.booleans(),
)
def test_pieces_merge_in_any_order_and_grouping(form, cuts, dice: random.Random, center):
    Y, K = problem()
    pieces = pieces_of(form, Y, K, cuts)  # equal cuts make empty pieces, which change nothing
    while len(pieces) > 1:
        taken = pieces.pop(dice.randrange(len(pieces)))
        pieces[dice.randrange(len(pieces))].merge(taken)
    assert pieces[0].n_rows == N_ROWS
    close(products(pieces[0], center=center), Y, K, center=center)


@every_form
@settings(max_examples=30, deadline=None)
@given(cuts=st.lists(st.integers(0, N_ROWS), max_size=8), dice=st.randoms(use_true_random=False))
def test_blocks_may_come_in_any_size_and_order(form, cuts, dice: random.Random):
    Y, K = problem()
    bounds = [0, *sorted(cuts), N_ROWS]
    blocks = [slice(*pair) for pair in pairwise(bounds)]
    dice.shuffle(blocks)
    statistic = form(1 + N_TARGETS + N_COLUMNS)
    for rows in blocks:
        statistic.update(lines_of(Y[rows], K[rows]))
    close(products(statistic, center=True), Y, K, center=True)


@every_form
def test_merging_leaves_the_other_as_it_was(form):
    Y, K = problem()
    first, second = pieces_of(form, Y, K, [20])
    before = products(second, center=False)
    first.merge(second)
    first.update(lines_of(Y, K))
    np.testing.assert_array_equal(products(second, center=False), before)
    assert second.n_rows == N_ROWS - 20


@every_form
def test_the_buffer_of_a_block_may_be_used_again(form):
    # workers write one block after another into the same memory
    Y, K = problem()
    statistic = form(1 + N_TARGETS + N_COLUMNS)
    buffer = np.empty((statistic.n_lines, 4))
    for start in range(0, N_ROWS, 4):
        buffer[...] = lines_of(Y[start : start + 4], K[start : start + 4])
        statistic.update(buffer)
        buffer[...] = np.nan
    close(products(statistic, center=True), Y, K, center=True)


@every_form
def test_looking_at_the_coordinates_changes_nothing(form):
    Y, K = problem()
    statistic = statistic_of(form, Y[:30], K[:30])
    first = products(statistic, center=True)
    np.testing.assert_array_equal(products(statistic, center=True), first)
    statistic.update(lines_of(Y[30:], K[30:]))
    close(products(statistic, center=True), Y, K, center=True)


@every_form
def test_rows_and_trace_are_sums(form):
    Y, K = problem()
    first, second = form(1 + N_TARGETS + N_COLUMNS), form(1 + N_TARGETS + N_COLUMNS)
    first.update(lines_of(Y[:10], K[:10]), trace=2.5)
    first.update(lines_of(Y[10:15], K[10:15]))
    second.update(lines_of(Y[15:], K[15:]), 4.0)
    assert (first.n_rows, first.trace) == (15, 2.5)
    first.merge(second)
    assert (first.n_rows, first.trace) == (N_ROWS, 6.5)
    coordinates = first.coordinates(np.zeros(N_TARGETS), np.zeros(N_COLUMNS), center=True)
    assert coordinates.trace == 6.5


@every_form
def test_a_statistic_survives_pickling(form):
    Y, K = problem()
    first, second = pieces_of(form, Y, K, [7])
    first = pickle.loads(pickle.dumps(first))
    first.merge(pickle.loads(pickle.dumps(second)))
    close(products(first, center=True), Y, K, center=True)


@every_form
def test_lines_that_do_not_fit_leave_the_statistic_as_it_was(form):
    Y, K = problem()
    statistic = statistic_of(form, Y, K)
    with pytest.raises(ValueError, match="lines"):
        statistic.update(lines_of(Y, K[:, :2]), 1.0)
    assert (statistic.n_rows, statistic.trace) == (N_ROWS, 0.0)


@every_form
@pytest.mark.parametrize("n_rows", [20, 2000])
def test_weights_of_another_length_leave_the_statistic_as_it_was(form, n_rows):
    statistic = statistic_of(form, *problem())
    with pytest.raises(ValueError, match=f"{n_rows} rows cannot have weights of shape"):
        statistic.update(np.ones((statistic.n_lines, n_rows)), 1.0, np.ones(n_rows - 1))
    assert (statistic.n_rows, statistic.trace) == (N_ROWS, 0.0)


@every_form
@pytest.mark.parametrize("n_lines", [1, 4])
def test_a_statistic_of_another_size_is_refused(form, n_lines):
    Y, K = problem()
    statistic, smaller = statistic_of(form, Y, K), form(n_lines)
    smaller.update(np.ones((n_lines, 5)))
    with pytest.raises(ValueError, match="lines"):
        statistic.merge(smaller)
    assert statistic.n_rows == N_ROWS
