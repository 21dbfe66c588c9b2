"""Synthetic data."""

import numpy as np
import pytest

from kernelsieve.datasets import (
    make_interactions,
    make_noisy_circle,
    make_sparse_linear,
    make_swiss_cross,
)

MAKERS = [make_sparse_linear, make_interactions]
PLANE_MAKERS = [make_noisy_circle, make_swiss_cross]


@pytest.mark.parametrize("make", MAKERS)
def test_shapes_are_as_asked(make):
    X, y = make(40, 60, random_state=0)
    assert (X.shape, y.shape) == ((40, 60), (40,))
    assert (X.dtype, y.dtype) == (np.float64, np.float64)


@pytest.mark.parametrize("make", MAKERS)
def test_equal_seeds_give_equal_data(make):
    first, second = make(40, 60, random_state=5), make(40, 60, random_state=5)
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])


@pytest.mark.parametrize("make", MAKERS)
def test_other_seeds_give_other_data(make):
    assert not np.array_equal(make(40, 60, random_state=5)[0], make(40, 60, random_state=6)[0])


@pytest.mark.parametrize("make", MAKERS)
def test_a_random_state_moves_on(make):
    state = np.random.RandomState(0)
    assert not np.array_equal(make(40, 60, random_state=state)[0], make(40, 60, random_state=state)[0])


# -- sparse linear


def test_sparse_linear_columns_and_target_are_centred_with_unit_norm():
    X, y = make_sparse_linear(80, 120, random_state=0)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(X, axis=0), 1.0, rtol=1e-12)
    assert abs(y.mean()) < 1e-15
    assert np.linalg.norm(y) == pytest.approx(1.0, rel=1e-12)


def test_sparse_linear_target_is_made_of_the_informative_inputs_only():
    X, y = make_sparse_linear(500, 40, n_informative=3, noise=0.0, random_state=0)
    weights, *_ = np.linalg.lstsq(X, y, rcond=None)
    assert np.linalg.norm(y - X @ weights) < 1e-12
    assert np.count_nonzero(np.abs(weights) > 1e-10) == 3


def test_sparse_linear_noise_is_uniform_in_standard_deviations_of_the_target():
    X, y = make_sparse_linear(4000, 10, n_informative=5, noise=0.5, random_state=0)
    weights, *_ = np.linalg.lstsq(X, y, rcond=None)
    # uniform on [-h, h] has variance h^2 / 3; the share of the whole is h^2/3 / (1 + h^2/3)
    share = np.linalg.norm(y - X @ weights) ** 2
    assert share == pytest.approx((0.25 / 3) / (1 + 0.25 / 3), rel=0.05)


def test_sparse_linear_has_the_size_of_the_paper_by_default():
    X, _ = make_sparse_linear(random_state=0)
    assert X.shape == (100, 1000)


# -- interactions


def test_interactions_without_noise_are_the_formula():
    X, y = make_interactions(50, 7, noise=0.0, random_state=0)
    expected = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] ** 2 / 2 - np.abs(X[:, 4])
    np.testing.assert_allclose(y, expected, rtol=1e-14)


def test_interactions_noise_has_the_standard_deviation_that_is_asked_for():
    X, y = make_interactions(5000, 6, noise=0.3, random_state=0)
    clean = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] ** 2 / 2 - np.abs(X[:, 4])
    assert (y - clean).std() == pytest.approx(0.3, rel=0.05)


def test_interactions_inputs_are_standard_normal():
    X, _ = make_interactions(5000, 6, random_state=0)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=0.06)
    np.testing.assert_allclose(X.std(axis=0), 1.0, atol=0.05)


def test_interactions_hide_from_linear_methods():
    X, y = make_interactions(5000, 6, random_state=0)
    X, y = X - X.mean(axis=0), y - y.mean()
    residual = y - X @ np.linalg.lstsq(X, y, rcond=None)[0]
    assert 1 - residual @ residual / (y @ y) < 0.1


def test_interactions_need_five_inputs_and_say_so():
    with pytest.raises(ValueError, match="n_features"):
        make_interactions(50, 4, random_state=0)


# -- points in the plane


@pytest.mark.parametrize("make", PLANE_MAKERS)
def test_points_in_the_plane_have_the_shape_that_is_asked_for(make):
    X = make(40, random_state=0)
    assert (X.shape, X.dtype) == ((40, 2), np.float64)


@pytest.mark.parametrize("make", PLANE_MAKERS)
def test_points_in_the_plane_follow_the_seed(make):
    np.testing.assert_array_equal(make(40, random_state=5), make(40, random_state=5))
    assert not np.array_equal(make(40, random_state=5), make(40, random_state=6))


@pytest.mark.parametrize("make", PLANE_MAKERS)
def test_noise_in_the_plane_has_the_standard_deviation_that_is_asked_for(make):
    clean, noisy = make(4000, noise=0.0, random_state=0), make(4000, noise=0.5, random_state=0)
    np.testing.assert_allclose((noisy - clean).std(axis=0), 0.5, rtol=0.05)
    np.testing.assert_allclose((noisy - clean).mean(axis=0), 0.0, atol=0.05)


@pytest.mark.parametrize("make", PLANE_MAKERS)
def test_points_in_the_plane_lie_around_the_origin(make):
    np.testing.assert_allclose(make(20_000, random_state=0).mean(axis=0), 0.0, atol=0.2)


def test_circle_without_noise_has_its_radius_everywhere():
    X = make_noisy_circle(400, radius=3.0, noise=0.0, random_state=0)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 3.0, rtol=1e-12)
    eighths, _ = np.histogram(np.arctan2(X[:, 1], X[:, 0]), bins=8, range=(-np.pi, np.pi))
    assert eighths.min() > 25


def test_swiss_cross_without_noise_fills_five_squares_evenly():
    X = make_swiss_cross(5000, side=2.0, noise=0.0, random_state=0)
    column, row = np.floor((X + 3) / 2).astype(int).T
    counts = np.bincount(3 * row + column, minlength=9).reshape(3, 3)
    np.testing.assert_array_equal(counts > 0, [[False, True, False], [True] * 3, [False, True, False]])
    np.testing.assert_allclose(counts[counts > 0], 1000, atol=120)


def test_swiss_cross_has_the_size_of_the_paper_by_default():
    assert make_swiss_cross(random_state=0).shape == (1200, 2)
