"""The fast form: what it promises beyond the contract, and its documented limit."""

import numpy as np
import pytest

from kernelsieve.statistics import GramStatistic
from kernelsieve.statistics.statistic import _pivoted_factor


def test_gram_is_the_sum_of_products_of_lines():
    rng = np.random.default_rng(0)
    blocks = [rng.standard_normal((4, size)) for size in (3, 1, 6)]
    statistic = GramStatistic(4)
    for lines in blocks:
        statistic.update(lines)
    np.testing.assert_allclose(statistic.gram, sum(lines @ lines.T for lines in blocks), rtol=1e-13)


def test_memory_does_not_grow_with_the_rows():
    statistic = GramStatistic(4)
    for _ in range(50):
        statistic.update(np.ones((4, 100)))
    assert statistic.gram.shape == (4, 4)


def test_factor_gives_the_matrix_back():
    A = np.random.default_rng(0).standard_normal((9, 6))
    R = _pivoted_factor(A.T @ A)
    assert R.shape == (6, 6)
    np.testing.assert_allclose(R.T @ R, A.T @ A, atol=1e-12)


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_factor_has_as_many_rows_as_the_matrix_has_rank(rank):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((20, rank)) @ rng.standard_normal((rank, 6))
    R = _pivoted_factor(A.T @ A)
    assert R.shape == (rank, 6)
    np.testing.assert_allclose(R.T @ R, A.T @ A, atol=1e-10)


def test_factor_does_not_depend_on_the_units():
    A = np.random.default_rng(0).standard_normal((9, 4))
    units = np.array([1e-12, 1.0, 1e9, 1e-3])
    scaled = A * units
    R = _pivoted_factor(scaled.T @ scaled)
    assert R.shape == (4, 4)
    np.testing.assert_allclose((R.T @ R) / np.outer(units, units), A.T @ A, atol=1e-12)


def test_residuals_within_the_documented_limit_are_known():
    # a squared residual of 1e-8 of the squared norm: well above the limit of about 1e-12
    rng = np.random.default_rng(0)
    first = rng.standard_normal(500)
    second = first + 1e-4 * rng.standard_normal(500)
    A = np.column_stack([np.ones(500), first, second])
    statistic = GramStatistic(3)
    statistic.update(A.T.copy())
    columns = statistic.coordinates(np.zeros(0), np.zeros(2), center=True).columns
    truth = abs(np.linalg.qr(A, mode="r")[2, 2])
    assert abs(np.linalg.qr(columns, mode="r")[1, 1]) == pytest.approx(truth, rel=1e-6)
