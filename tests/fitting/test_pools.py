"""Pools drawn by screening."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from naive import CountingKernel
from numpy.testing import assert_array_equal

from kernelsieve import SparseMaximalAlignment
from kernelsieve.data import Batch
from kernelsieve.deflation import Alignment, DirectionVariance, PartialLeastSquares, PrincipalDirections
from kernelsieve.exceptions import InvalidParameterError
from kernelsieve.fitting import Settings, pools
from kernelsieve.kernels import RBF


@pytest.fixture
def batch(rng):
    X = rng.standard_normal((600, 3))
    return Batch(X, np.sin(X[:, :1]) * X[:, 1:2])


def draw(batch, n_pool, how, criterion=None, seed=0, **settings):
    settings = Settings(center=True, **settings)
    state = np.random.RandomState(seed)
    return pools.draw_pool(batch, RBF(0.3), criterion or Alignment(), n_pool, how, settings, state)


@pytest.mark.parametrize("how", ["random", "screen", "kmeans", "rpcholesky"])
def test_as_many_different_rows_as_asked(how, batch):
    rows = draw(batch, 37, how)
    assert len(np.unique(rows)) == len(rows) == 37
    assert rows.min() >= 0
    assert rows.max() < 600
    assert_array_equal(rows, draw(batch, 37, how))


def test_a_pool_as_large_as_the_data_is_all_of_them(batch):
    assert_array_equal(draw(batch, 900, "screen"), np.arange(600))


def test_screening_all_rows_in_one_shortlist_is_exact_selection(batch):
    batch = batch[:100]
    exact = SparseMaximalAlignment(12, gamma=0.3).fit(batch.X, batch.Y)
    assert_array_equal(draw(batch, 12, "screen"), exact.landmark_indices_)


def test_a_pool_that_is_large_for_few_components_holds_those_of_exact_selection(batch):
    exact = SparseMaximalAlignment(20, gamma=0.3, candidates="all").fit(batch.X, batch.Y)
    assert set(exact.landmark_indices_) <= set(draw(batch, 40, "screen", n_components=20))


def test_screening_looks_at_samples_of_large_data(batch, monkeypatch):
    monkeypatch.setattr(pools, "SCREEN_ROWS", 100)
    monkeypatch.setattr(pools, "SCREEN_CANDIDATES", 150)
    rows = draw(batch, 20, "screen")
    assert len(np.unique(rows)) == 20


class Unscreened(Alignment):
    can_screen = False


def test_what_cannot_be_screened_is_refused(batch):
    with pytest.raises(InvalidParameterError, match="Unscreened does not"):
        draw(batch, 20, "screen", Unscreened())
    assert pools.screening_criterion(Unscreened()) is None


def test_dense_directions_are_screened_by_single_examples(batch):
    aligned = draw(batch, 20, "screen", Alignment())
    assert_array_equal(draw(batch, 20, "screen", PartialLeastSquares()), aligned)
    explaining = draw(batch, 20, "screen", DirectionVariance())
    assert_array_equal(draw(batch, 20, "screen", PrincipalDirections()), explaining)


def test_equal_rows_leave_room_that_is_filled_up(rng):
    X = np.repeat(rng.standard_normal((5, 2)), 40, axis=0)
    batch = Batch(X, rng.standard_normal((200, 1)))
    for how in ("screen", "rpcholesky"):
        assert len(np.unique(draw(batch, 30, how))) == 30


@pytest.mark.parametrize("criterion", [Alignment(), DirectionVariance()])
@pytest.mark.parametrize("max_memory", [0, 10**6])
def test_a_screen_keeps_to_the_memory(criterion, max_memory, rng):
    X = rng.standard_normal((4000, 3))
    batch = Batch(X, X[:, :1])
    draw(batch, 30, "screen", criterion, max_memory=max_memory)  # compiles what is compiled
    tracemalloc.start()
    try:
        rows = draw(batch, 30, "screen", criterion, max_memory=max_memory)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(np.unique(rows)) == 30
    assert peak < 8 * 10**6  # all columns would take 32 or 64 MB


@pytest.mark.parametrize("criterion", [Alignment(), DirectionVariance()])
def test_a_screen_that_fits_is_as_large_as_ever(criterion, batch):
    enough = draw(batch, 30, "screen", criterion, max_memory=4 * 600 * 600)
    assert_array_equal(enough, draw(batch, 30, "screen", criterion))
    less = draw(batch, 30, "screen", criterion, max_memory=2 * 600 * 600)
    assert set(less) != set(enough)


def test_a_pool_may_be_larger_than_what_is_screened(batch, monkeypatch):
    monkeypatch.setattr(pools, "SCREEN_CANDIDATES", 50)
    assert len(np.unique(draw(batch, 80, "screen"))) == 80


@pytest.mark.parametrize("criterion", [Alignment(), DirectionVariance()])
def test_a_screen_of_all_rows_takes_whole_weights_for_repeated_rows(criterion, batch):
    batch = batch[:45]  # which are one shortlist, even if they are repeated
    weight = np.random.default_rng(0).integers(1, 4, len(batch))
    repeated = np.repeat(np.arange(len(batch)), weight)
    weighted = draw(replace(batch, weight=weight.astype(float)), 12, "screen", criterion)
    assert_array_equal(repeated[draw(batch[repeated], 12, "screen", criterion)], weighted)
    assert set(weighted) != set(draw(batch, 12, "screen", criterion))


@pytest.mark.parametrize("criterion", [Alignment(), DirectionVariance()])
def test_a_screen_of_samples_goes_by_weight_once(criterion, rng, monkeypatch):
    """As many candidates of the heavy rows, over many seeds, as where these rows are repeated."""
    monkeypatch.setattr(pools, "SCREEN_ROWS", 60)
    monkeypatch.setattr(pools, "SCREEN_CANDIDATES", 60)
    monkeypatch.setattr(pools, "_ANALYSED_ROWS", 60)
    monkeypatch.setattr(pools, "_ANALYSED_CANDIDATES", 60)
    X = np.vstack([rng.standard_normal((40, 3)), 10 + rng.standard_normal((260, 3))])
    batch = Batch(X, np.sin(2 * X[:, :1]) * np.cos(X[:, 1:2]))
    weight = np.repeat([8, 1], [40, 260])
    repeated = np.repeat(np.arange(300), weight)

    def parts(draw_rows):
        return np.array([np.mean(draw_rows(seed) < 40) for seed in range(60)])

    weighted = parts(
        lambda seed: draw(replace(batch, weight=weight.astype(float)), 10, "screen", criterion, seed)
    )
    expected = parts(lambda seed: repeated[draw(batch[repeated], 10, "screen", criterion, seed)])
    noise = np.sqrt((weighted.var() + expected.var()) / 60)
    assert abs(weighted.mean() - expected.mean()) < 4 * noise
    unweighted = parts(lambda seed: draw(batch, 10, "screen", criterion, seed))
    assert weighted.mean() > unweighted.mean() + 8 * noise


@pytest.mark.parametrize(("n_rows", "k"), [(2000, 20), (4000, 20), (4000, 120)])
def test_a_screened_fit_evaluates_what_its_sizes_say(n_rows, k):
    """A sample of rows against many candidates, then all rows against a few of them."""
    X = np.random.default_rng(0).standard_normal((n_rows, 3))
    y = np.sin(2 * X[:, 0]) * X[:, 1]
    kernel = CountingKernel(0.5)
    SparseMaximalAlignment(k, kernel=kernel, random_state=0).fit(X, y)
    c = max(150, 3 * k // 2)
    n_sample = n_screened = min(n_rows, max(1500, 10 * c))
    trial = 2 * max(256, 4 * k) * c  # samples that tell how products are to be summed up
    screen = (n_sample + 16) * n_screened  # with k(z, z), which a function gives in small blocks
    assert kernel.evaluations <= screen + trial + n_rows * c + c * c + n_rows * k + 1
