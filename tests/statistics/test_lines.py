"""The lines of a block, against the matrix that they stand for."""

import numpy as np
import pytest
from scipy import sparse

from kernelsieve.data import Batch
from kernelsieve.kernels import RBF
from kernelsieve.statistics import AugmentedBlock

N_ROWS, N_POOL = 12, 4


def batch(n_targets: int = 2, *, weighted: bool = False, form=np.asarray) -> Batch:
    rng = np.random.default_rng(0)
    X = np.maximum(rng.standard_normal((N_ROWS, 3)), 0.0)
    Y = rng.standard_normal((N_ROWS, n_targets))
    return Batch(form(X), Y, rng.uniform(0.5, 2.0, N_ROWS) if weighted else None)


def naive_lines(batch: Batch, K: np.ndarray, shift: np.ndarray) -> np.ndarray:
    return np.column_stack([np.ones(N_ROWS), batch.Y, K - shift]).T  # weights are the statistic's


def pool() -> np.ndarray:
    return batch().X[:N_POOL]


@pytest.mark.parametrize("n_targets", [0, 1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shift", [np.zeros(N_POOL), np.array([0.1, -2.0, 0.5, 1e3])])
def test_lines_equal_the_naive_matrix(n_targets, weighted, shift):
    block = batch(n_targets, weighted=weighted)
    frame = AugmentedBlock(RBF(0.5).against(pool()), shift, np.zeros(n_targets))
    assert frame.n_lines == 1 + n_targets + N_POOL
    out = np.full((frame.n_lines, N_ROWS), np.nan)
    assert frame.lines(block, out) is out
    expected = naive_lines(block, RBF(0.5).block(block.X, pool()), shift)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_columns_in_float32_become_float64_lines(weighted):
    block = batch(weighted=weighted)
    shift = np.full(N_POOL, 0.3)
    seen = []

    def fill(X, out):
        seen.append((out.dtype, out.flags.c_contiguous))
        RBF(0.5).against(pool(), np.float32)(X, out)

    frame = AugmentedBlock(fill, shift, np.zeros(2), np.float32)
    out = frame.lines(block, np.full((frame.n_lines, N_ROWS), np.nan))
    assert seen == [(np.float32, True)]
    assert out.dtype == np.float64
    expected = naive_lines(block, RBF(0.5).block(block.X, pool()), shift)
    np.testing.assert_allclose(out, expected, atol=1e-6)
    # ones and targets have all digits
    np.testing.assert_allclose(out[:3], expected[:3], rtol=1e-14)


def test_the_filler_gets_memory_without_gaps():
    # matrix products and the exponential need it
    layouts = []

    def fill(X, out):
        layouts.append((out.shape, out.flags.c_contiguous))
        out[...] = 0.0

    frame = AugmentedBlock(fill, np.zeros(N_POOL), np.zeros(2))
    frame.lines(batch(), np.empty((frame.n_lines, N_ROWS)))
    assert layouts == [((N_POOL, N_ROWS), True)]


def test_sparse_rows_give_the_lines_of_dense_ones():
    csr, dense = batch(form=sparse.csr_matrix, weighted=True), batch(weighted=True)
    frame = AugmentedBlock(RBF(0.5).against(sparse.csr_matrix(pool())), np.zeros(N_POOL), np.zeros(2))
    dense_frame = AugmentedBlock(RBF(0.5).against(pool()), np.zeros(N_POOL), np.zeros(2))
    shape = (frame.n_lines, N_ROWS)
    np.testing.assert_allclose(
        frame.lines(csr, np.empty(shape)), dense_frame.lines(dense, np.empty(shape)), atol=1e-13
    )


def test_the_batch_is_left_as_it_was():
    block = batch(weighted=True)
    copies = block.X.copy(), block.Y.copy(), block.weight.copy()
    frame = AugmentedBlock(RBF(0.5).against(pool()), np.ones(N_POOL), np.zeros(2))
    frame.lines(block, np.empty((frame.n_lines, N_ROWS)))
    for part, copy in zip((block.X, block.Y, block.weight), copies, strict=True):
        np.testing.assert_array_equal(part, copy)
