"""Functions of the distance: as exact as the exponential in them, wherever they are asked."""

import numpy as np
import pytest

from kernelsieve._compiled import (
    AS_IT_IS,
    EXPONENTIAL,
    MATERN,
    LineProduct,
    power_profile,
    profile_inplace,
)

PROFILES = {
    "exponential": (EXPONENTIAL, lambda t: np.exp(-t)),
    "matern 1/2": (MATERN[0.5], lambda t: np.exp(-np.sqrt(t))),
    "matern 3/2": (MATERN[1.5], lambda t: (1 + np.sqrt(t)) * np.exp(-np.sqrt(t))),
    "matern 5/2": (MATERN[2.5], lambda t: (1 + np.sqrt(t) + t / 3) * np.exp(-np.sqrt(t))),
    "power 1": (power_profile(1.0), lambda t: 1 / (1 + t)),
    "power 1/4": (power_profile(0.25), lambda t: np.exp(-np.log1p(t) / 4)),
    "power 7": (power_profile(7.0), lambda t: (1 + t) ** -7),
}
every_profile = pytest.mark.parametrize(("profile", "formula"), PROFILES.values(), ids=PROFILES.keys())
both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@both_types
@every_profile
def test_values(profile, formula, dtype):
    t = np.concatenate([[0.0], np.geomspace(1e-20, 1e4, 30_001)]).astype(dtype)
    values = -t
    profile_inplace(profile, values)
    exact = formula(t.astype(np.longdouble))
    # a power has its error times the logarithm of the result
    ulp = 8 + 2 * np.abs(np.log(np.maximum(exact, np.finfo(dtype).tiny)).astype(float))
    error = np.abs(values - exact).astype(float)
    assert (error <= ulp * np.finfo(dtype).eps * exact.astype(float) + np.finfo(dtype).tiny).all()


@both_types
@every_profile
def test_ends(profile, formula, dtype):
    large = dtype(-np.finfo(dtype).max)
    values = np.array([1e-3, 0.0, large, np.nan], dtype)
    profile_inplace(profile, values)
    assert values[0] == values[1] == 1  # a distance that rounding made negative is none
    assert 0 <= values[2] < 1e-3
    assert np.isnan(values[3])


def test_nothing_is_done_to_values_as_they_are():
    values = np.array([1.0, -2.0])
    profile_inplace(AS_IT_IS, values)
    np.testing.assert_array_equal(values, [1.0, -2.0])


@both_types
@every_profile
def test_lines_of_products_get_the_same_values(profile, formula, dtype, rng):
    left = -rng.uniform(0, 2, (13, 4)).astype(dtype)
    X = rng.uniform(0, 2, (301, 4)).astype(dtype)
    plain, finished = (np.empty((13, 301), dtype) for _ in range(2))
    LineProduct(left)(X, plain)
    LineProduct(left, profile=profile)(X, finished)
    profile_inplace(profile, plain)
    np.testing.assert_array_equal(plain, finished)


@both_types
@every_profile
@pytest.mark.parametrize("n_lines", [3, 13])
def test_one_row_gets_the_same_values(profile, formula, dtype, n_lines, rng):
    left = -rng.uniform(0, 2, (n_lines, 4)).astype(dtype)
    x, weights = rng.uniform(0, 2, 4).astype(dtype), rng.standard_normal((2, n_lines)).astype(dtype)
    product, lines = LineProduct(left, profile=profile), np.empty((n_lines, 1), dtype)
    product(x[None], lines)
    expected = weights.astype(float) @ lines[:, 0]
    np.testing.assert_allclose(product.of_one(weights)(x), expected, atol=20 * np.finfo(dtype).eps)


@both_types
@pytest.mark.parametrize("n_lines", [3, 13])  # fewer than a tile has, and more
@pytest.mark.parametrize("n_rows", [1, 301])
def test_distances_of_near_points_come_from_differences(dtype, n_lines, n_rows, rng):
    factor, origin = 2.0, np.full(5, 3.0, dtype)
    X = (origin + rng.standard_normal((n_rows, 5))).astype(dtype)
    Z = np.resize(X, (n_lines, 5)).astype(float) - origin
    Z[0, 0] += 1e-3
    left = np.column_stack([2 * factor * Z, np.full(n_lines, -factor), -factor * (Z**2).sum(axis=1)])
    product = LineProduct(left.astype(dtype), origin, profile=AS_IT_IS, near=0.1)
    lines = np.empty((n_lines, n_rows), dtype)
    product(X, lines)
    assert lines[1, 1 % n_rows] == 0  # a landmark itself; norms would leave some digits of theirs
    np.testing.assert_allclose(lines[0, 0], -factor * 1e-6, rtol=1e4 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(product.of_one(np.eye(n_lines))(X[0])[0], lines[0, 0])
