"""One pass over rows into a statistic."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from kernelsieve.data import Batch
from kernelsieve.exceptions import KernelError
from kernelsieve.kernels import RBF
from kernelsieve.statistics import AugmentedBlock, GramStatistic, TriangularStatistic, absorb, gather

N_ROWS, N_POOL, N_TARGETS = 230, 6, 2
KERNEL = RBF(0.4)

every_form = pytest.mark.parametrize("form", [GramStatistic, TriangularStatistic])


def batch(*, weighted: bool = True, form=np.asarray) -> Batch:
    rng = np.random.default_rng(0)
    X = np.maximum(rng.standard_normal((N_ROWS, 3)), 0.0)
    Y = rng.standard_normal((N_ROWS, N_TARGETS))
    return Batch(form(X), Y, rng.uniform(0.5, 2.0, N_ROWS) if weighted else None)


def pool() -> np.ndarray:
    return batch().X[:N_POOL] + 0.1


def shift() -> np.ndarray:
    return np.full(N_POOL, 0.5)


def frame(fill=None) -> AugmentedBlock:
    return AugmentedBlock(fill or KERNEL.against(pool()), shift(), np.zeros(N_TARGETS))


def trace_of(block: Batch) -> float:
    return float((block.root_weight**2).sum())


def products(statistic, *, center: bool = True) -> np.ndarray:
    coordinates = statistic.coordinates(np.zeros(N_TARGETS), shift(), center=center)
    A = np.hstack([coordinates.targets, coordinates.columns])
    return A.T @ A


def naive_products(data: Batch, *, center: bool = True) -> np.ndarray:
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    A = np.hstack([data.Y, KERNEL.block(X, pool())])
    weight = data.root_weight**2
    if center:
        A = A - weight @ A / weight.sum()
    return A.T @ (A * weight[:, None])


def state(statistic) -> tuple:
    """Return all that can be seen of a statistic, to the last bit."""
    return statistic.n_rows, statistic.trace, products(statistic, center=False).tobytes()


# -- what a pass gives


@every_form
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_matrix])
def test_a_pass_gives_the_inner_products_of_all_rows(form, center, weighted, storage):
    data = batch(weighted=weighted, form=storage)
    statistic = gather([data], frame(), form, block_rows=32, n_jobs=2)
    np.testing.assert_allclose(
        products(statistic, center=center), naive_products(data, center=center), rtol=1e-10, atol=1e-10
    )


@every_form
@pytest.mark.parametrize("n_jobs", [1, 2, 3, None])
@pytest.mark.parametrize("block_rows", [1, 7, 64, N_ROWS, 10 * N_ROWS, None])
def test_blocks_and_threads_do_not_matter(form, n_jobs, block_rows):
    statistic = gather(
        [batch()], frame(), form, trace_of=trace_of, block_rows=block_rows, n_jobs=n_jobs
    )
    np.testing.assert_allclose(products(statistic), naive_products(batch()), rtol=1e-10, atol=1e-10)
    assert statistic.n_rows == N_ROWS
    assert statistic.trace == pytest.approx(batch().weight.sum(), rel=1e-12)


@every_form
@settings(max_examples=20, deadline=None)
@given(cuts=st.lists(st.integers(0, N_ROWS), max_size=5), block_rows=st.integers(1, 99))
def test_batches_do_not_matter(form, cuts, block_rows):
    bounds = [0, *sorted(cuts), N_ROWS]
    # a generator: batches may come once, from a file or a network
    batches = (batch()[start:stop] for start, stop in pairwise(bounds))
    statistic = gather(batches, frame(), form, block_rows=block_rows, n_jobs=2)
    assert statistic.n_rows == N_ROWS
    np.testing.assert_allclose(products(statistic), naive_products(batch()), rtol=1e-10, atol=1e-10)


@every_form
def test_a_second_pass_gives_the_same_bits(form):
    first, second = (
        state(gather([batch()], frame(), form, trace_of=trace_of, block_rows=16, n_jobs=3))
        for _ in range(2)
    )
    assert first == second


@every_form
def test_absorbing_later_is_gathering_at_once(form):
    statistic = gather([batch()[:100]], frame(), form)
    absorb(statistic, batch()[100:], frame(), block_rows=32, n_jobs=2)
    assert statistic.n_rows == N_ROWS
    np.testing.assert_allclose(products(statistic), naive_products(batch()), rtol=1e-10, atol=1e-10)


def test_without_a_trace_function_the_trace_is_zero():
    assert gather([batch()], frame(), GramStatistic, block_rows=32).trace == 0.0


def test_float32_columns_are_good_to_float32():
    narrow = AugmentedBlock(
        KERNEL.against(pool(), np.float32), shift(), np.zeros(N_TARGETS), np.float32
    )
    statistic = gather([batch()], narrow, GramStatistic, block_rows=32, n_jobs=2)
    np.testing.assert_allclose(products(statistic), naive_products(batch()), rtol=1e-4, atol=1e-4)


# -- what a pass costs


@every_form
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_every_kernel_value_is_computed_once_and_in_blocks(form, n_jobs):
    fill, sizes = KERNEL.against(pool()), []

    def counting(X, out):
        sizes.append(out.shape)
        fill(X, out)

    gather([batch()], frame(counting), form, block_rows=32, n_jobs=n_jobs)
    assert sum(columns * rows for columns, rows in sizes) == N_ROWS * N_POOL
    # nothing larger than a block is ever held
    assert max(rows for _, rows in sizes) == 32


def test_workers_use_their_buffers_again():
    fill, addresses = KERNEL.against(pool()), set()

    def watching(X, out):
        addresses.add(out.__array_interface__["data"][0])
        fill(X, out)

    gather([batch()], frame(watching), GramStatistic, block_rows=10, n_jobs=2)
    assert len(addresses) <= 2


# -- when something goes wrong


@every_form
@pytest.mark.parametrize("value", [1e200, np.inf, np.nan])
@pytest.mark.parametrize("n_rows", [3, N_ROWS])
@pytest.mark.filterwarnings("ignore:(overflow|invalid value):RuntimeWarning")
def test_values_that_cannot_be_summed_are_refused(form, value, n_rows):
    statistic = gather([batch()[:100]], frame(), form, trace_of=trace_of)

    def fill(X, out):
        KERNEL.against(pool())(X, out)
        out[2, -1] = value

    with pytest.raises(KernelError, match="too large for sums of their squares"):
        absorb(statistic, batch()[:n_rows], frame(fill), block_rows=20)


def test_lines_of_another_frame_leave_the_statistic_as_it_was():
    statistic = gather([batch()], frame(), GramStatistic, trace_of=trace_of)
    before = state(statistic)
    other = AugmentedBlock(KERNEL.against(pool()[:3]), shift()[:3], np.zeros(N_TARGETS))
    with pytest.raises(ValueError, match="lines"):
        absorb(statistic, batch(), other, trace_of=trace_of)
    assert state(statistic) == before
