"""The exponential: within 4 units in the last place of a wider type, wherever it is asked."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from kernelsieve.kernels import exp_inplace

both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def errors_in_ulp(x: np.ndarray) -> np.ndarray:
    """Return the error at each x, in units of the last place of the true, finite result."""
    got = exp_inplace(x.copy()).astype(np.longdouble)
    truth = np.exp(x.astype(np.longdouble))
    with np.errstate(under="ignore"):
        rounded = truth.astype(x.dtype)
    # the unit of a subnormal result is the smallest positive number, and spacing knows that
    return np.abs(got - truth) / np.spacing(rounded).astype(np.longdouble)


def range_of(dtype: type) -> tuple[float, float]:
    """Return bounds between which the exponential is neither 0 nor inf."""
    info = np.finfo(dtype)
    lowest = np.log(2) * (info.minexp - info.nmant - 1)
    # a few units below the largest number, so that an allowed error does not make it inf
    highest = np.log(float(info.max)) - 8 * float(info.eps) * np.log(float(info.max))
    return float(lowest), float(highest)


# -- accuracy


@both_types
def test_whole_range(dtype):
    x = np.linspace(*range_of(dtype), 300_001).astype(dtype)
    assert errors_in_ulp(x).max() <= 4


@both_types
def test_the_range_of_kernels(dtype):
    # small negative numbers are what rbf kernels ask for
    x = -np.geomspace(1e-30, 50.0, 100_001).astype(dtype)
    assert errors_in_ulp(x).max() <= 4


@both_types
def test_where_the_power_of_two_changes(dtype):
    lowest, highest = range_of(dtype)
    halves = np.arange(np.ceil(2 * lowest / np.log(2)), np.floor(2 * highest / np.log(2)))
    x = (halves * np.log(2) / 2).astype(dtype)
    x = np.concatenate([x, np.nextafter(x, dtype(-np.inf)), np.nextafter(x, dtype(np.inf))])
    assert errors_in_ulp(x).max() <= 4


@both_types
def test_subnormal_results(dtype):
    info = np.finfo(dtype)
    x = np.linspace(range_of(dtype)[0], np.log(float(info.tiny)), 50_001).astype(dtype)
    results = exp_inplace(x.copy())
    assert np.count_nonzero((results > 0) & (results < info.tiny)) > 40_000
    assert errors_in_ulp(x).max() <= 4


@both_types
def test_extreme_numbers_do_not_spoil_their_neighbours(dtype):
    # a chunk with one number out of the usual range takes another path through the code
    x = np.linspace(-30, 30, 5000).astype(dtype)
    usual = np.ones(len(x), bool)
    usual[[0, 7, 1023, 1024, 4999]] = False
    x[~usual] = [-np.inf, np.inf, np.nan, range_of(dtype)[0], 1e5]
    got = exp_inplace(x.copy())[usual]
    truth = np.exp(x[usual].astype(np.longdouble))
    assert (np.abs(got - truth) / np.spacing(truth.astype(dtype))).max() <= 4


@both_types
def test_zero_gives_exactly_one(dtype):
    np.testing.assert_array_equal(exp_inplace(np.array([0.0, -0.0], dtype)), [1.0, 1.0])


# -- the ends of the range


@both_types
def test_infinities_and_nan(dtype):
    values = exp_inplace(np.array([-np.inf, np.inf, np.nan, -np.nan, 0.0], dtype))
    np.testing.assert_array_equal(values, [0.0, np.inf, np.nan, np.nan, 1.0])


@both_types
def test_overflow_gives_inf_and_nothing_before(dtype):
    edge = np.log(float(np.finfo(dtype).max))
    over = np.array([edge + 1e-4, edge + 1, 2 * edge, 1e4 * edge, np.finfo(dtype).max], dtype)
    np.testing.assert_array_equal(exp_inplace(over), np.full(5, np.inf))
    assert np.isfinite(exp_inplace(np.array([range_of(dtype)[1]], dtype))).all()


@both_types
def test_underflow_gives_zero_and_nothing_before(dtype):
    lowest, _ = range_of(dtype)
    below = np.array([lowest - 2, 2 * lowest, 1e4 * lowest, -np.finfo(dtype).max], dtype)
    np.testing.assert_array_equal(exp_inplace(below), np.zeros(4))
    # half a unit and a little more rounds up to the smallest positive number
    smallest = exp_inplace(np.array([lowest + 0.1], dtype))[0]
    assert smallest == np.finfo(dtype).smallest_subnormal


# -- arrays


@both_types
@pytest.mark.parametrize("size", [0, 1, 2, 7, 1023, 1024, 1025, 4097])
def test_every_size(dtype, size):
    x = np.linspace(-5, 5, size).astype(dtype)
    np.testing.assert_allclose(exp_inplace(x.copy()), np.exp(x), rtol=4 * np.finfo(dtype).eps)


@both_types
def test_works_in_place_and_returns_the_same_array(dtype):
    x = np.zeros((2, 3), dtype)
    assert exp_inplace(x) is x
    np.testing.assert_array_equal(x, np.ones((2, 3)))


@both_types
@pytest.mark.parametrize("shape", [(), (5,), (3, 7), (2, 3, 4)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_shape_in_both_orders(dtype, shape, order):
    start = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    x = np.array(start, order=order)
    exp_inplace(x)
    np.testing.assert_allclose(x, np.exp(start), rtol=4 * np.finfo(dtype).eps)


@both_types
@pytest.mark.parametrize(
    "part",
    [lambda x: x[::2], lambda x: x[:, ::2], lambda x: x[:, :3], lambda x: x[::-1]],
    ids=["rows", "columns", "first columns", "backwards"],
)
def test_arrays_that_are_not_contiguous_are_refused_and_left_alone(dtype, part):
    x = np.arange(24, dtype=dtype).reshape(4, 6)
    copy = x.copy()
    with pytest.raises(ValueError, match="contiguous"):
        exp_inplace(part(x))
    np.testing.assert_array_equal(x, copy)


def test_a_slice_of_whole_rows_leaves_the_others_alone():
    x = np.zeros((4, 5))
    exp_inplace(x[1:3])
    np.testing.assert_array_equal(x[:, 0], [0.0, 1.0, 1.0, 0.0])


@pytest.mark.parametrize("dtype", [np.int64, np.float16])
def test_other_types_are_refused(dtype):
    with pytest.raises((TypeError, ValueError), match="float"):
        exp_inplace(np.array([0, 1, 2], dtype))


# -- any numbers at all


def check(x: np.ndarray) -> None:
    got = exp_inplace(x.copy(order="K"))
    with np.errstate(over="ignore", under="ignore"):
        truth = np.exp(x.astype(np.longdouble))
        rounded = truth.astype(x.dtype)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(x))
    largest = np.longdouble(np.finfo(x.dtype).max)
    # next to the largest number an error of 4 units may cross to inf; elsewhere nothing may
    clear = ~np.isnan(x) & ((truth < largest * (1 - 1e-6)) | (truth > largest * (1 + 1e-6)))
    finite = clear & np.isfinite(rounded)
    np.testing.assert_array_equal(got[clear & ~finite], np.inf)
    error = np.abs(got[finite].astype(np.longdouble) - truth[finite])
    assert (error <= 4 * np.spacing(rounded[finite])).all()


@settings(max_examples=150, deadline=None)
@given(npst.arrays(np.float64, npst.array_shapes(max_dims=2, max_side=9), elements=st.floats()))
def test_any_float64(x):
    check(x)


@settings(max_examples=150, deadline=None)
@given(npst.arrays(np.float32, npst.array_shapes(max_dims=2, max_side=9), elements=st.floats(width=32)))
def test_any_float32(x):
    check(x)


@settings(max_examples=150, deadline=None)
@given(npst.arrays(np.float64, st.integers(1, 20), elements=st.floats(-750, 715)))
def test_any_float64_with_a_result_worth_computing(x):
    # among all floats most are far too large; here every second result is neither 0 nor inf
    check(x)


@settings(max_examples=50, deadline=None)
@given(npst.arrays(np.float64, npst.array_shapes(min_dims=2, max_dims=3), elements=st.floats(-9, 9)))
def test_transposed_arrays(x):
    expected = exp_inplace(x.copy()).T
    np.testing.assert_array_equal(exp_inplace(x.copy().T), expected)
