"""Rows in blocks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from kernelsieve.data import Batch, row_slices, rows_per_block


@given(n_rows=st.integers(0, 2000), size=st.integers(1, 300))
def test_slices_cover_every_row_once_in_order(n_rows, size):
    slices = list(row_slices(n_rows, size))
    assert [i for rows in slices for i in range(n_rows)[rows]] == list(range(n_rows))
    assert all(0 < rows.stop - rows.start <= size for rows in slices)
    assert all(rows.stop - rows.start == size for rows in slices[:-1])


@given(st.integers(0, 10**7))
def test_blocks_are_neither_tiny_nor_huge(n_columns):
    rows = rows_per_block(n_columns)
    assert type(rows) is int
    assert 32 <= rows <= 8192
    assert rows % 32 == 0
    assert rows >= rows_per_block(n_columns + 1)


@given(st.integers(0, 10**7))
def test_blocks_of_many_columns_have_few_rows_before_they_fill_the_memory(n_columns):
    rows = rows_per_block(n_columns)
    assert rows >= 256 or 8 * n_columns * 256 > 2**26
    assert 8 * n_columns * rows <= max(2**26, 8 * n_columns * 32)


@pytest.mark.parametrize("n_columns", [300, 1000, 5000])
def test_blocks_of_the_usual_width_fit_the_cache(n_columns):
    assert 2**23 < 8 * n_columns * rows_per_block(n_columns) <= 2**24


def batch(form=np.asarray, *, weighted: bool = True) -> Batch:
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2.0, 10) if weighted else None
    return Batch(form(rng.standard_normal((10, 3))), rng.standard_normal((10, 2)), weight)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("rows", [slice(2, 5), np.array([7, 0, 7])])
def test_part_of_a_batch_has_what_belongs_to_its_rows(form, rows):
    whole = batch(form)
    part = whole[rows]
    assert len(part) == 3
    dense, dense_part = (b.X.toarray() if sparse.issparse(b.X) else b.X for b in (whole, part))
    np.testing.assert_array_equal(dense_part, dense[rows])
    np.testing.assert_array_equal(part.Y, whole.Y[rows])
    np.testing.assert_array_equal(part.weight, whole.weight[rows])


def test_part_of_a_batch_without_weights_has_none():
    assert batch(weighted=False)[2:5].weight is None


def test_a_block_of_a_batch_is_a_view():
    whole = batch()
    assert np.shares_memory(whole[2:5].X, whole.X)


def test_root_weight_squares_to_the_weight():
    np.testing.assert_allclose(batch().root_weight ** 2, batch().weight, rtol=1e-15)
    np.testing.assert_array_equal(batch(weighted=False).root_weight, np.ones(10))
