"""The safe form: all digits, and few factorisations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelsieve.statistics import GramStatistic, TriangularStatistic


def residual_of_last_column(form, A: np.ndarray, block: int) -> float:
    """Return the length of what the other columns leave of the last one, seen in coordinates."""
    statistic = form(A.shape[1])
    for start in range(0, len(A), block):
        statistic.update(A[start : start + block].T.copy())
    columns = statistic.coordinates(np.zeros(0), np.zeros(A.shape[1] - 1), center=True).columns
    triangle = np.linalg.qr(columns, mode="r")
    short = A.shape[1] - 1 - len(triangle)  # a factor that lost the column has fewer rows
    return 0.0 if short > 0 else float(abs(triangle[-1, -1]))


@pytest.mark.parametrize("block", [1, 64, 1000])
def test_digits_are_kept_where_the_gram_form_loses_them(block):
    rng = np.random.default_rng(0)
    A = np.column_stack([np.ones(1000), rng.standard_normal((1000, 3))])
    nearly = A[:, 1] - A[:, 3] + 1e-9 * rng.standard_normal(1000)
    A = np.column_stack([A, nearly])
    truth = float(abs(np.linalg.qr(A, mode="r")[-1, -1]))
    assert residual_of_last_column(TriangularStatistic, A, block) == pytest.approx(truth, rel=1e-4)
    # the other form knows half the digits only, and says so; were it not for that, one form would do
    assert residual_of_last_column(GramStatistic, A, block) != pytest.approx(truth, rel=0.1)


def test_ill_conditioned_columns_keep_their_small_singular_values():
    rng = np.random.default_rng(0)
    left, _ = np.linalg.qr(rng.standard_normal((300, 8)))
    left -= left.mean(axis=0)
    right, _ = np.linalg.qr(rng.standard_normal((8, 8)))
    K = left * 10.0 ** -np.arange(0, 12, 1.5) @ right
    truth = np.linalg.svd(K - K.mean(axis=0), compute_uv=False)
    statistic = TriangularStatistic(9)
    for start in range(0, 300, 37):
        statistic.update(np.column_stack([np.ones(300), K])[start : start + 37].T.copy())
    columns = statistic.coordinates(np.zeros(0), np.zeros(8), center=True).columns
    np.testing.assert_allclose(np.linalg.svd(columns, compute_uv=False), truth, rtol=1e-3)


def test_single_rows_wait_for_each_other(monkeypatch):
    # a factorisation for every row would cost the cube of the number of columns each time
    factorise, calls = np.linalg.qr, []

    def counting(A, mode):
        calls.append(len(A))
        return factorise(A, mode=mode)

    monkeypatch.setattr(np.linalg, "qr", counting)
    statistic = TriangularStatistic(10)
    for row in np.random.default_rng(0).standard_normal((200, 10)):
        statistic.update(row[:, None])
    assert len(calls) <= 20
    assert max(calls) <= 20  # and never many rows at once: memory stays that of the columns


def test_merging_small_pieces_keeps_the_memory_of_the_columns():
    statistic = TriangularStatistic(6)
    for lines in np.random.default_rng(0).standard_normal((100, 6, 2)):
        piece = TriangularStatistic(6)
        piece.update(lines)
        statistic.merge(piece)
    held = len(statistic._triangle) + sum(map(len, statistic._waiting))
    assert held <= 12
    assert statistic.n_rows == 200


def test_the_constant_comes_first_and_is_positive():
    # LAPACK leaves the sign of a factor open; means must not depend on it
    for seed in range(5):
        K = np.random.default_rng(seed).standard_normal((30, 3)) + 5.0
        statistic = TriangularStatistic(4)
        statistic.update(np.column_stack([np.ones(30), K]).T.copy())
        coordinates = statistic.coordinates(np.zeros(0), np.zeros(3), center=False)
        np.testing.assert_allclose(coordinates.means, K.mean(axis=0), rtol=1e-13)
        np.testing.assert_allclose(coordinates.columns[0], np.sqrt(30) * K.mean(axis=0), rtol=1e-13)


def test_squared_is_the_fast_form_of_the_same_rows(rng):
    A = rng.standard_normal((50, 6))
    safe, fast = TriangularStatistic(6), GramStatistic(6)
    for statistic in (safe, fast):
        statistic.update(A[:30].T, 2.0)
        statistic.update(A[30:33].T, 3.0)
    squared = safe.squared()
    assert_allclose(squared.gram, fast.gram, atol=1e-12)
    assert (squared.n_rows, squared.trace) == (33, 5.0)
    squared.update(A[33:].T, 4.0)
    assert_allclose(squared.gram, A.T @ A, atol=1e-12)
    assert safe.n_rows == 33
