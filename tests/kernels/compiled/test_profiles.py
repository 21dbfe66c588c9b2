"""Functions of the distance: as exact as the exponential in them, wherever they are asked."""

import numpy as np
import pytest

from kernelsieve.kernels.compiled import (
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
