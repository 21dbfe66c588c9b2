"""Products whose terms cancel, against fractions."""

import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from kernelsieve._compiled import DoubleDoubleRowProduct, LineProduct, RowProduct

fractions = np.vectorize(Fraction, otypes=[object])


def rows_of(lines, right, offset, n_terms=None, kind=DoubleDoubleRowProduct) -> np.ndarray:
    n_terms = np.full(right.shape[1], len(right)) if n_terms is None else n_terms
    out = np.full((lines.shape[1], right.shape[1]), np.nan)
    assert np.isfinite(kind(right, offset, n_terms)(lines, out))
    return out


def exact_rows(lines, right, offset) -> np.ndarray:
    return (fractions(lines).T @ fractions(right) - fractions(offset)).astype(float)


@settings(deadline=None, max_examples=60)
@given(
    n_lines=st.integers(1, 40),
    n_columns=st.integers(1, 20),
    n_rows=st.integers(1, 20),
    digits=st.integers(0, 28),
    seed=st.integers(0, 99),
)
def test_sums_that_cancel_are_right_to_the_last_digit(n_lines, n_columns, n_rows, digits, seed):
    rng = np.random.default_rng(seed)
    right = rng.standard_normal((n_lines, n_columns)) * 10.0 ** rng.uniform(0, digits, n_columns)
    lines = rng.uniform(0.5, 1.0, (n_lines, n_rows))
    offset = right.sum(axis=0) * 0.75  # what is left of the sums is small for one of the rows
    lines[:, 0] = 0.75
    found, truth = rows_of(lines, right, offset), exact_rows(lines, right, offset)
    noise = 1e-29 * (np.abs(lines.T) @ np.abs(right) + np.abs(offset))
    assert (np.abs(found - truth) <= noise + 2**-52 * np.abs(truth)).all()


def test_other_products_of_floats_lose_these_digits(rng):
    right = np.array([[1e15], [-1e15]]) * rng.uniform(1, 2, (1, 5))
    lines = np.array([[1.0], [1.0]]) + 1e-8 * rng.standard_normal((2, 30))
    offset = np.zeros(5)
    truth = exact_rows(lines, right, offset)
    assert_allclose(rows_of(lines, right, offset), truth, rtol=1e-15)
    assert np.abs(rows_of(lines, right, offset, kind=RowProduct) - truth).max() > 1e-3


def test_rows_of_any_magnitude(rng):
    lines = rng.standard_normal((20, 40)) * 10.0 ** rng.integers(-100, 100, 40)
    right, offset = rng.standard_normal((20, 3)), np.zeros(3)
    assert_allclose(rows_of(lines, right, offset), exact_rows(lines, right, offset), rtol=1e-14)


@pytest.mark.parametrize("n_rows", [1, 7, 8, 9, 300])
@pytest.mark.parametrize("n_columns", [1, 8, 13, 50])
def test_a_triangle_needs_only_its_terms(n_rows, n_columns, rng):
    right = np.triu(rng.standard_normal((n_columns, n_columns)))
    lines, offset = rng.standard_normal((n_columns, n_rows)), rng.standard_normal(n_columns)
    found = rows_of(lines, right, offset, np.arange(1, n_columns + 1))
    assert_allclose(found, lines.T @ right - offset, atol=1e-13)


def test_the_same_bits_however_rows_and_columns_are_cut(rng):
    right, offset = rng.standard_normal((60, 30)) * 1e10, rng.standard_normal(30)
    lines = rng.uniform(0, 1, (60, 100))
    whole = rows_of(lines, right, offset)
    for rows in (slice(1), slice(3, 20), slice(50, 100)):
        assert_array_equal(rows_of(lines[:, rows].copy(), right, offset), whole[rows])
    assert_array_equal(rows_of(lines, right[:, :7].copy(), offset[:7]), whole[:, :7])


@pytest.mark.parametrize("n_rows", [1, 100])
def test_lines_made_of_rows(n_rows, rng):
    landmarks, X = rng.standard_normal((12, 4)), rng.standard_normal((n_rows, 4))
    right, offset = rng.standard_normal((12, 5)), rng.standard_normal(5)
    product, out = DoubleDoubleRowProduct(right, offset, np.full(5, 12)), np.empty((n_rows, 5))
    assert np.isfinite(product.of_rows(LineProduct(landmarks), X, out))
    assert_allclose(out, X @ landmarks.T @ right - offset, atol=1e-13)
    X[-1, 2] = np.nan
    assert not np.isfinite(product.of_rows(LineProduct(landmarks), X, out))


def test_numbers_that_are_not_finite_are_noticed(rng):
    lines = rng.standard_normal((5, 20))
    product = DoubleDoubleRowProduct(rng.standard_normal((5, 3)), np.zeros(3), np.full(3, 5))
    for value in (np.nan, np.inf):
        lines[2, 7] = value
        assert not np.isfinite(product(lines, np.empty((20, 3))))


def test_arrays_that_do_not_fit_are_refused(rng):
    product = DoubleDoubleRowProduct(rng.standard_normal((5, 3)), np.zeros(3), np.full(3, 5))
    with pytest.raises(ValueError, match=r"lines must be .* of shape \(5, 4\)"):
        product(np.zeros((6, 4)), np.empty((4, 3)))
    with pytest.raises(ValueError, match=r"out must be .* of shape \(4, 3\)"):
        product(np.zeros((5, 4)), np.empty((4, 2)))


@pytest.mark.slow
@pytest.mark.parametrize(
    "told", [{"NUMBA_CPU_FEATURES": "+sse4.2,+avx"}, {"NUMBA_ENABLE_AVX": "0"}], ids=str
)
def test_machines_that_do_not_join_products_and_sums(told):
    this = f"{__file__}::{test_other_products_of_floats_lose_these_digits.__name__}"
    options = ["-q", "-p", "no:cacheprovider", f"--rootdir={Path(__file__).parents[2]}"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, this],
        env=dict(os.environ, **told),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
