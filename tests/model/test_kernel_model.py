"""The one model form on its own."""

import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kernelsieve.exceptions import InvalidDataError, KernelError
from kernelsieve.kernels import RBF, Laplacian, Linear, Precomputed
from kernelsieve.model import KernelModel
from kernelsieve.program import KernelSum


@pytest.fixture
def model(rng):
    return KernelModel(
        kernel=RBF(0.2),
        landmarks=rng.standard_normal((4, 3)),
        projection=np.triu(rng.standard_normal((4, 4)))[:, 1:],
        offset=rng.standard_normal(3),
        first_use=np.array([0, 0, 1, 2]),
    )


def test_features(model, rng):
    X = rng.standard_normal((20_000, 3))  # several blocks
    expected = RBF(0.2).block(X, model.landmarks) @ model.projection - model.offset
    for n_jobs in (1, 2):
        assert_allclose(model.features(X, n_jobs), expected, atol=1e-13)
    lines = np.empty((3, 500))
    model.line_filler()(X[:500], lines)
    assert_allclose(lines.T, expected[:500], atol=1e-13)


def test_the_same_bits_from_any_number_of_rows_and_threads(model, rng):
    X = rng.standard_normal((20_000, 3))
    whole = model.features(X, 1)
    assert_array_equal(model.features(X, 2), whole)
    assert_array_equal(model.features(X[5:90], 1), whole[5:90])
    assert_array_equal(KernelSum(model).run(X[7:8])[0], whole[7])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kernel", [RBF(0.2), Linear(), Laplacian(0.3)], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize(("n_rows", "row"), [(1, 0), (30, 29), (20_000, 0), (20_000, 19_999)])
def test_the_first_row_that_is_not_finite_is_named(value, kernel, n_rows, row, model, rng):
    X = rng.standard_normal((n_rows, 3))
    X[row:, 1] = value
    with pytest.raises(InvalidDataError, match=f"X contains (NaN|inf) in row {row}, column 1 "):
        replace(model, kernel=kernel).features(X)


def test_rows_whose_squares_are_too_large_are_not_refused(model, rng):
    X = rng.standard_normal((50, 3))
    X[7] = 1e200
    expected = X @ model.landmarks.T @ model.projection - model.offset
    assert_allclose(replace(model, kernel=Linear()).features(X), expected)


@pytest.mark.parametrize("in_two_steps", [False, True])
def test_combined_features(in_two_steps, model, rng):
    X = rng.standard_normal((50, 3))
    features = model.features(X)
    first, second = np.triu(rng.standard_normal((2, 3, 3)))
    shifts = rng.standard_normal((2, 3))
    start = model.in_two_steps() if in_two_steps else model
    assert_allclose(start.features(X), features, atol=1e-13)
    once = start.combined(first, shifts[0])
    twice = once.combined(second, shifts[1])
    assert (twice.refinement is not None) == in_two_steps
    expected = (features @ first - shifts[0]) @ second - shifts[1]
    assert_allclose(twice.features(X), expected, atol=1e-12)
    assert_allclose(KernelSum(twice).run_one(X[0]), expected[0], atol=1e-12)
    # projection and offset are the same in one step
    values = model.kernel.block(X, model.landmarks)
    assert_allclose(values @ twice.projection - twice.offset, expected, atol=1e-12)
    for k in (1, 2):
        assert_array_equal(twice.truncate(k).features(X), twice.features(X)[:, :k])


def test_two_steps_lose_no_digits_of_large_weights(rng):
    # Features of nearly equal landmarks, against fractions; one product of floats misses them by far.
    X, landmarks = rng.integers(-8, 9, (20, 2)) / 8, np.array([[1.0, 0.0], [1.0, 2**-40], [0.5, 1.0]])
    projection = np.array([[2.0**40, 1.0, 3.0**30], [-(2.0**40), 3.0, -(3.0**30)], [0.0, 1.0, 0.1]])
    offset = np.array([1.0, 0.1, 0.3])
    model = KernelModel(Linear(), landmarks, projection, offset, np.array([0, 0, 1]))
    values = Linear().block(X, landmarks)

    def exactly(row, column):
        terms = [Fraction(v) * Fraction(p) for v, p in zip(row, projection[:, column], strict=True)]
        return float(sum(terms) - Fraction(offset[column]))

    expected = np.array([[exactly(row, column) for column in range(3)] for row in values])
    careful = model.in_two_steps()
    assert_allclose(careful.features(X), expected, rtol=1e-15, atol=1e-15)
    assert_array_equal(KernelSum(careful).run_one(X[3]), careful.features(X)[3])
    assert np.abs(model.features(X) - expected).max() > 1e-6


def test_a_prefix_needs_only_its_landmarks(model, rng):
    X = rng.standard_normal((10, 3))
    for k, landmarks in ((1, 2), (2, 3), (3, 4)):
        short = model.truncate(k)
        assert len(short.landmarks) == landmarks
        assert_allclose(short.features(X), model.features(X)[:, :k], atol=1e-13)


def test_no_rows_give_no_features(model):
    assert model.features(np.empty((0, 3))).shape == (0, 3)


def test_precomputed_values_of_landmarks_alone(rng):
    K = rng.standard_normal((6, 10))
    projection = np.triu(rng.standard_normal((2, 2)))  # feature 0 has no use for landmark 1
    model = KernelModel(Precomputed(10), np.array([7, 3]), projection, np.zeros(2), np.array([0, 1]))
    assert_allclose(model.features(K), K[:, [7, 3]] @ projection)
    assert_allclose(model.features(K[:, [7, 3]]), K[:, [7, 3]] @ projection)


def test_precision_of_the_values(rng):
    X = rng.standard_normal((50, 3))
    model = KernelModel(Linear(), X[:3], np.eye(3), np.zeros(3), np.arange(3), np.float32)
    assert model.features(X).dtype == np.float32
    assert_allclose(model.features(X), X @ X[:3].T, rtol=1e-4, atol=1e-5)


def test_landmarks_that_float32_does_not_hold_are_refused_without_a_warning_of_numpy():
    landmarks = np.array([[1e52, 0.0], [2e52, 0.0]])
    model = KernelModel(RBF(1e-104), landmarks, np.eye(2), np.zeros(2), np.arange(2), np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(KernelError, match="row 0 with the landmarks is too large"):
            model.features(landmarks)
