"""Products made of tiles: the same numbers as numpy's, and the same bits however rows are cut."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from kernelsieve._compiled import EXPONENTIAL
from kernelsieve._compiled.small_gemm import GROUP, LineProduct, RowProduct

both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])
sizes = st.integers(1, 70)


def tolerance(dtype: type, n_terms: int) -> float:
    return 8 * float(np.finfo(dtype).eps) * max(8, n_terms)


def lines_of(left: np.ndarray, X: np.ndarray, **options) -> np.ndarray:
    out = np.full((len(left), len(X)), np.nan, left.dtype)
    LineProduct(left, **options)(X, out)
    return out


def rows_of(lines: np.ndarray, right: np.ndarray, offset: np.ndarray, n_terms=None) -> np.ndarray:
    needed = np.full(right.shape[1], len(right)) if n_terms is None else n_terms
    out = np.full((lines.shape[1], right.shape[1]), np.nan, right.dtype)
    total = RowProduct(right, offset, needed)(lines, out)
    assert np.isfinite(total)
    return out


# -- lines


@both_types
@settings(deadline=None)
@given(n_lines=sizes, n_terms=sizes, n_rows=sizes, seed=st.integers(0, 99))
def test_lines(dtype, n_lines, n_terms, n_rows, seed):
    rng = np.random.default_rng(seed)
    left = rng.uniform(-1, 1, (n_lines, n_terms)).astype(dtype)
    X = rng.uniform(-1, 1, (n_rows, n_terms)).astype(dtype)
    assert_allclose(lines_of(left, X), left @ X.T, atol=tolerance(dtype, n_terms))


@both_types
@pytest.mark.parametrize("n_rows", [1, 23, 100, 2000])
def test_rows_are_moved_and_get_their_norms(dtype, n_rows, rng):
    left = rng.uniform(-1, 1, (13, 7)).astype(dtype)
    X = rng.uniform(-1, 1, (n_rows, 5)).astype(dtype)
    origin = rng.uniform(-1, 1, 5).astype(dtype)
    moved = X - origin
    augmented = np.column_stack([moved, (moved**2).sum(axis=1), np.ones(n_rows)])
    found = lines_of(left, X, origin=origin)
    assert_allclose(found, left @ augmented.T, atol=tolerance(dtype, 40))


@both_types
@pytest.mark.parametrize("shape", [(1, 1), (5, 30), (8, 48), (9, 49), (100, 1001), (17, 5000)])
def test_exponentials_of_lines(dtype, shape, rng):
    left = -rng.uniform(0, 1, (shape[0], 3)).astype(dtype)
    X = rng.uniform(0, 1, (shape[1], 3)).astype(dtype)
    found = lines_of(left, X, profile=EXPONENTIAL)
    assert_allclose(found, np.exp(left @ X.T), rtol=tolerance(dtype, 3))
    assert found.max() <= 1


@pytest.mark.parametrize("arrange", [np.asfortranarray, lambda X: np.repeat(X, 2, axis=0)[::2]])
def test_any_layout_and_type_of_rows(arrange, rng):
    left = rng.standard_normal((20, 6))
    X = rng.standard_normal((90, 6))
    assert_allclose(lines_of(left, arrange(X)), left @ X.T, atol=1e-14)
    narrow = X.astype(np.float32)
    assert_allclose(lines_of(left, arrange(narrow)), left @ narrow.T.astype(float), atol=1e-14)


def test_rows_that_must_not_be_written(rng):
    X = rng.standard_normal((90, 6))
    X.flags.writeable = False
    assert_allclose(lines_of(X[:10].copy(), X), X[:10] @ X.T, atol=1e-14)


@pytest.mark.parametrize(
    ("X", "out"),
    [
        (np.ones((5, 4)), np.empty((2, 5))),
        (np.ones((5, 3)), np.empty((2, 4))),
        (np.ones((5, 3)), np.empty((3, 5))),
        (np.ones((5, 3)), np.empty((2, 5), np.float32)),
        (np.ones((5, 3)), np.empty((5, 2)).T),
    ],
)
def test_what_does_not_fit_is_refused(X, out):
    with pytest.raises(ValueError, match=r"must be a C-contiguous float64 array of shape|inputs"):
        LineProduct(np.ones((2, 3)))(X, out)


@pytest.mark.parametrize(
    ("lines", "out"),
    [
        (np.ones((3, 5)), np.empty((5, 4))),
        (np.ones((2, 5), np.float32), np.empty((5, 4))),
        (np.ones((5, 2)).T, np.empty((5, 4))),
        (np.ones((2, 5)), np.empty((6, 4))),
        (np.ones((2, 5)), np.empty((5, 4), np.float32)),
    ],
)
def test_what_does_not_fit_is_refused_for_rows(lines, out):
    with pytest.raises(ValueError, match="must be a C-contiguous float64 array of shape"):
        RowProduct(np.ones((2, 4)), np.ones(4), np.full(4, 2))(lines, out)


def test_no_rows():
    assert lines_of(np.ones((3, 2)), np.empty((0, 2))).shape == (3, 0)


# -- rows


@both_types
@settings(deadline=None)
@given(n_lines=sizes, n_columns=sizes, n_rows=sizes, seed=st.integers(0, 99))
def test_rows(dtype, n_lines, n_columns, n_rows, seed):
    rng = np.random.default_rng(seed)
    lines = rng.uniform(-1, 1, (n_lines, n_rows)).astype(dtype)
    right = rng.uniform(-1, 1, (n_lines, n_columns)).astype(dtype)
    offset = rng.uniform(-1, 1, n_columns).astype(dtype)
    expected = lines.T @ right - offset
    assert_allclose(rows_of(lines, right, offset), expected, atol=tolerance(dtype, n_lines))


@settings(deadline=None)
@given(n_columns=sizes, n_rows=sizes)
def test_the_rest_of_a_triangle_is_not_looked_at(n_columns, n_rows):
    rng = np.random.default_rng(n_columns)
    lines = rng.standard_normal((n_columns + 5, n_rows))
    lines[n_columns:] = np.nan  # lines that no column needs
    right = np.zeros((n_columns + 5, n_columns))
    right[:n_columns] = np.triu(rng.standard_normal((n_columns, n_columns)))
    found = rows_of(lines, right, np.zeros(n_columns), np.arange(1, n_columns + 1))
    assert_allclose(found, lines[:n_columns].T @ right[:n_columns], atol=1e-12)


def test_more_lines_than_a_tile_takes(rng):
    lines, right = rng.standard_normal((8200, 30)), rng.standard_normal((8200, 4))
    assert_allclose(rows_of(lines, right, np.ones(4)), lines.T @ right - 1, atol=1e-10)


@both_types
@pytest.mark.parametrize("n_rows", [1, 24, 100, 3000])
@pytest.mark.parametrize("n_columns", [3, 60])
@pytest.mark.parametrize("n_lines", [3, 90])
def test_lines_and_rows_at_once(dtype, n_rows, n_columns, n_lines, rng):
    left = -rng.uniform(0, 1, (n_lines, 7)).astype(dtype)
    right = rng.uniform(-1, 1, (n_lines, n_columns)).astype(dtype)
    X = rng.uniform(-1, 1, (n_rows, 5)).astype(dtype)
    product = LineProduct(left, np.zeros(5, dtype), profile=EXPONENTIAL)
    rows = RowProduct(right, np.ones(n_columns, dtype), np.full(n_columns, n_lines))
    lines = np.empty((n_lines, n_rows), dtype)
    one, other = (np.empty((n_rows, n_columns), dtype) for _ in range(2))
    product(X, lines)
    rows(lines, one)
    assert np.isfinite(rows.of_rows(product, X, other))
    assert_array_equal(one, other)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("n_rows", [1, 100])
@pytest.mark.parametrize("n_columns", [1, 60])
def test_the_sum_tells_of_numbers_that_are_not_finite(bad, n_rows, n_columns, rng):
    lines = rng.standard_normal((10, n_rows))
    lines[7, -1] = bad
    out = np.empty((n_rows, n_columns))
    right = rng.standard_normal((10, n_columns))
    product = RowProduct(right, np.zeros(n_columns), np.full(n_columns, 10))
    assert not np.isfinite(product(lines, out))
    assert not np.isfinite(out[-1]).any()
    assert np.isfinite(out[:-1]).all()


# -- bits


@settings(deadline=None)
@given(cuts=st.lists(st.integers(1, 299), max_size=4), seed=st.integers(0, 9))
def test_the_same_bits_however_rows_are_cut(cuts, seed):
    rng = np.random.default_rng(seed)
    left, origin = rng.standard_normal((21, 9)), rng.standard_normal(7)
    X = rng.standard_normal((300, 7))
    right, offset = rng.standard_normal((21, 30)), rng.standard_normal(30)

    def rows_from(some: np.ndarray) -> np.ndarray:
        lines = lines_of(-np.abs(left), some, origin=origin, profile=EXPONENTIAL)
        return rows_of(lines, right, offset)

    pieces = [rows_from(piece) for piece in np.split(X, sorted(set(cuts)))]
    assert_array_equal(np.vstack(pieces), rows_from(X))


def test_the_same_bits_in_a_shorter_triangle(rng):
    lines = rng.standard_normal((60, 100))
    right, offset = np.triu(rng.standard_normal((60, 60))), rng.standard_normal(60)
    whole = rows_of(lines, right, offset, np.arange(1, 61))
    for k in (1, 7, 24, 25, 32, 33, 40, 41, 47, 48, 59):
        short = rows_of(lines[:k], right[:k, :k], offset[:k], np.arange(1, k + 1))
        assert_array_equal(short, whole[:, :k])


@pytest.mark.slow
@pytest.mark.parametrize(
    "told", [{"NUMBA_CPU_FEATURES": "+sse4.2,+avx"}, {"NUMBA_ENABLE_AVX": "0"}], ids=str
)
def test_smaller_registers(told):
    """The tiles of machines without AVX-512, which this machine can run as well."""
    program = (
        "import numpy as np; from kernelsieve.kernels import exp_inplace;"
        "from kernelsieve._compiled.small_gemm import GROUP, LineProduct, RowProduct;"
        "rng = np.random.default_rng(0); assert GROUP == 4;"
        "L, X, R = (rng.standard_normal(shape) for shape in ((30, 9), (101, 9), (30, 31)));"
        "lines, rows = np.empty((30, 101)), np.empty((101, 31));"
        "LineProduct(L)(X, lines); assert np.allclose(lines, L @ X.T, atol=1e-13);"
        "RowProduct(R, np.ones(31), np.full(31, 30))(lines, rows);"
        "assert np.allclose(rows, lines.T @ R - 1, atol=1e-12);"
        "assert np.allclose(exp_inplace(X.copy()), np.exp(X), rtol=1e-15);"
        "narrow = np.empty((30, 101), 'f4'); LineProduct(L.astype('f4'))(X.astype('f4'), narrow);"
        "assert np.allclose(narrow, lines, atol=1e-5);"
        "short = np.empty((101, 31), 'f4');"
        "RowProduct(R.astype('f4'), np.ones(31, 'f4'), np.full(31, 30))(narrow, short);"
        "assert np.allclose(short, rows, atol=1e-3)"
    )
    environment = dict(os.environ, **told)
    ran = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_a_group_is_a_part_of_a_cache_line():
    assert 64 % (8 * GROUP) == 0
