"""Pools of candidates."""

import numpy as np
import pytest
from scipy import sparse

from kernelsieve.data import Pool, draw_kmeans, draw_random, draw_rpcholesky, draw_sample
from kernelsieve.kernels import RBF, Kernel, Linear, Sigmoid

N_ROWS, N_POOL = 150, 12


def seeded(seed: int = 0) -> np.random.RandomState:
    return np.random.RandomState(seed)


def rows() -> np.ndarray:
    return np.maximum(np.random.default_rng(0).standard_normal((N_ROWS, 4)), 0.0)


def clustered_rows() -> np.ndarray:
    """One crowd and nine small groups far from it, which a random draw is likely to miss."""
    rng = np.random.default_rng(0)
    centres = np.vstack([np.zeros(4), 20 * rng.standard_normal((9, 4))])
    sizes = [400] + [5] * 9
    return np.repeat(centres, sizes, axis=0) + rng.standard_normal((445, 4))


DRAWS = {
    "random": lambda X, n, seed, w=None: draw_random(X.shape[0], n, seeded(seed), w),
    "kmeans": lambda X, n, seed, w=None: draw_kmeans(X, n, seeded(seed), w),
    "rpcholesky": lambda X, n, seed, w=None: draw_rpcholesky(X, RBF(0.5), n, seeded(seed), w),
}
every_draw = pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS.keys())


def check(indices: np.ndarray, n_rows: int, n_pool: int) -> None:
    assert indices.shape == (n_pool,)
    assert indices.dtype.kind == "i"
    assert len(np.unique(indices)) == n_pool
    assert indices.min() >= 0
    assert indices.max() < n_rows


# -- what every draw must do


@every_draw
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_draws_are_different_rows_in_the_right_number(draw, form, dtype):
    check(draw(form(rows().astype(dtype)), N_POOL, 0), N_ROWS, N_POOL)


@every_draw
@pytest.mark.parametrize("n_pool", [1, N_ROWS - 1, N_ROWS])
def test_one_row_and_all_rows_can_be_drawn(draw, n_pool):
    check(draw(rows(), n_pool, 0), N_ROWS, n_pool)


@every_draw
def test_equal_seeds_draw_equal_rows(draw):
    np.testing.assert_array_equal(draw(rows(), N_POOL, 3), draw(rows(), N_POOL, 3))


@every_draw
def test_other_seeds_draw_other_rows(draw):
    assert set(draw(rows(), N_POOL, 3)) != set(draw(rows(), N_POOL, 4))


@every_draw
@pytest.mark.parametrize("X", [np.zeros((40, 2)), np.ones((40, 2)), np.repeat(np.eye(4), 10, axis=0)])
def test_fewer_different_points_than_asked_are_filled_up(draw, X):
    check(draw(X, 7, 0), 40, 7)


@pytest.mark.parametrize("name", ["kmeans", "rpcholesky"])
def test_sparse_rows_draw_valid_pools_of_a_sample(name, monkeypatch):
    monkeypatch.setattr("kernelsieve.data.pool._SAMPLE_ROWS", 50)
    for form in (np.asarray, sparse.csr_matrix):
        indices = DRAWS[name](form(rows()), N_POOL, 0)
        check(indices, N_ROWS, N_POOL)
        # numbers of the whole data, not of the sample
        assert indices.max() >= 50


@pytest.mark.parametrize("name", ["kmeans", "rpcholesky"])
def test_pools_may_be_larger_than_the_sample(name, monkeypatch):
    monkeypatch.setattr("kernelsieve.data.pool._SAMPLE_ROWS", 20)
    check(DRAWS[name](rows(), 30, 0), N_ROWS, 30)


# -- weights


@every_draw
@pytest.mark.parametrize("sample", [60, 10_000])  # fewer and more than the rows
@pytest.mark.parametrize("value", [1.0, 0.3])
def test_equal_weights_draw_the_same_rows_as_none(draw, sample, value, monkeypatch):
    monkeypatch.setattr("kernelsieve.data.pool._SAMPLE_ROWS", sample)
    weight = np.full(N_ROWS, value)
    np.testing.assert_array_equal(draw(rows(), N_POOL, 0, weight), draw(rows(), N_POOL, 0))


@every_draw
@pytest.mark.parametrize("sample", [60, 10_000])
def test_weighted_draws_are_different_rows_in_the_right_number(draw, sample, monkeypatch):
    monkeypatch.setattr("kernelsieve.data.pool._SAMPLE_ROWS", sample)
    weight = np.random.default_rng(0).pareto(0.5, N_ROWS) + 1e-6
    for n_pool in (1, N_POOL, N_ROWS - 1, N_ROWS):
        check(draw(rows(), n_pool, 0, weight), N_ROWS, n_pool)


@every_draw
@pytest.mark.parametrize("sample", [120, 10_000])
def test_whole_weights_draw_as_repeated_rows_do(draw, sample, monkeypatch):
    """The part of a crowd in the pool, over many seeds, and nearly all of it for nearly all weight."""
    monkeypatch.setattr("kernelsieve.data.pool._SAMPLE_ROWS", sample)
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((40, 4)), 20 + rng.standard_normal((260, 4))])
    weight = np.repeat([8, 1], [40, 260])
    repeated = np.repeat(np.arange(300), weight)

    def parts(draw_rows):
        return np.array([np.mean(draw_rows(seed) < 40) for seed in range(30)])

    weighted = parts(lambda seed: draw(X, 10, seed, weight.astype(float)))
    expected = parts(lambda seed: repeated[draw(X[repeated], 10, seed)])
    noise = np.sqrt((weighted.var() + expected.var()) / 30)
    assert abs(weighted.mean() - expected.mean()) < 4 * noise
    assert weighted.mean() > parts(lambda seed: draw(X, 10, seed)).mean() + 0.2
    heavy = np.repeat([1e5, 1.0], [40, 260])
    assert parts(lambda seed: draw(X, 10, seed, heavy)).mean() > 0.9


def test_weighted_rows_are_drawn_one_after_another():
    weight = np.array([5.0, 3.0, 1.0, 1.0])
    draws = [tuple(draw_random(4, 2, seeded(seed), weight)) for seed in range(4000)]
    for pair in ((0, 1), (0, 2), (1, 2), (2, 3)):
        a, b = weight[list(pair)] / 10
        expected = a * b / (1 - a) + a * b / (1 - b)
        noise = np.sqrt(expected * (1 - expected) / 4000)
        assert abs(draws.count(pair) / 4000 - expected) < 4 * noise


def test_sums_over_a_weighted_sample_are_those_over_all_rows():
    rng = np.random.default_rng(0)
    weight, values = rng.pareto(1.0, 200) + 0.01, rng.uniform(1, 2, 200)
    estimates = []
    for seed in range(2000):
        sample, share = draw_sample(200, 40, seeded(seed), weight)
        check(sample, 200, 40)
        estimates.append(share @ values[sample])
    noise = np.std(estimates) / np.sqrt(2000)
    assert abs(np.mean(estimates) - weight @ values) < 4 * noise
    assert 0 < noise < 0.01 * (weight @ values)


def test_a_sample_of_all_rows_has_their_weights():
    weight = np.arange(1.0, 9.0)
    sample, share = draw_sample(8, 20, seeded(), weight)
    np.testing.assert_array_equal(sample, np.arange(8))
    np.testing.assert_array_equal(share, weight)


# -- random


def test_random_rows_come_in_ascending_order():
    indices = draw_random(N_ROWS, N_POOL, seeded())
    np.testing.assert_array_equal(indices, np.sort(indices))


# -- k-means


def test_kmeans_rows_represent_the_data_better_than_random_ones():
    X = clustered_rows()

    def far_from(indices):
        return ((X[:, None] - X[indices][None]) ** 2).sum(axis=2).min(axis=1).mean()

    by_kmeans = np.mean([far_from(draw_kmeans(X, 15, seeded(seed))) for seed in range(3)])
    by_chance = np.mean([far_from(draw_random(len(X), 15, seeded(seed))) for seed in range(3)])
    assert by_kmeans < 0.5 * by_chance


# -- randomly pivoted Cholesky


class Counting(Kernel):
    """Counts the values that were computed, and the points that they were prepared for."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.evaluations = 0
        self.prepared = 0

    def against(self, Z, dtype=np.float64):
        self.prepared += Z.shape[0]
        fill = self.kernel.against(Z, dtype)

        def count_and_fill(X, out):
            self.evaluations += out.size
            fill(X, out)

        return count_and_fill

    def diag(self, X):
        return self.kernel.diag(X)


def unexplained(X: np.ndarray, kernel: Kernel, indices: np.ndarray) -> float:
    """Return the part of the trace that the Nystroem approximation on these rows leaves."""
    C, W = kernel.block(X, X[indices]), kernel.block(X[indices], X[indices])
    explained = np.einsum("ij,ij->", C @ np.linalg.pinv(W, rcond=1e-12, hermitian=True), C)
    return 1.0 - explained / kernel.diag(X).sum()


def test_rpcholesky_explains_clusters_better_than_random_rows():
    X, kernel = clustered_rows(), RBF(0.02)
    picked = [unexplained(X, kernel, draw_rpcholesky(X, kernel, 20, seeded(seed))) for seed in range(5)]
    chance = [unexplained(X, kernel, draw_random(len(X), 20, seeded(seed))) for seed in range(5)]
    assert max(picked) < min(chance)
    assert np.mean(picked) < 0.5 * np.mean(chance)


def test_rpcholesky_finds_every_cluster_of_a_narrow_kernel():
    centres = 100 * np.eye(6)
    X = np.repeat(centres, [200, 10, 10, 10, 10, 10], axis=0)
    indices = draw_rpcholesky(X, RBF(1.0), 6, seeded())
    # what a picked row explains completely is never picked again
    assert len(np.unique(X[indices], axis=0)) == 6


def test_rpcholesky_explains_a_kernel_of_low_rank_completely():
    X = rows()
    indices = draw_rpcholesky(X, Linear(), 6, seeded())
    assert unexplained(X, Linear(), indices[:4]) < 1e-10


def test_rpcholesky_costs_one_column_a_pick():
    kernel = Counting(RBF(0.5))
    draw_rpcholesky(rows(), kernel, N_POOL, seeded())
    assert kernel.evaluations == N_POOL * N_ROWS
    assert kernel.prepared == N_ROWS


def test_rpcholesky_survives_a_kernel_that_is_not_positive():
    X = rows()
    kernel = Sigmoid(0.5, -1.0)
    assert kernel.diag(X).min() < 0 < kernel.diag(X).max()
    check(draw_rpcholesky(X, kernel, N_POOL, seeded()), N_ROWS, N_POOL)


# -- the pool itself


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_a_pool_knows_its_points_and_their_rows(form):
    X = form(rows())
    pool = Pool(X[[9, 2, 5]], np.array([9, 2, 5]))
    assert len(pool) == 3
    assert abs(pool.points - X[[9, 2, 5]]).max() == 0
    part = pool[np.array([2, 0])]
    assert isinstance(part, Pool)
    np.testing.assert_array_equal(part.indices, [5, 9])
    assert abs(part.points - X[[5, 9]]).max() == 0
