import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelsieve import AcceleratedKernelFeatureAnalysis
from kernelsieve.exceptions import InvalidDataError
from kernelsieve.metrics import (
    cumulative_projection_variance,
    cumulative_reconstruction_error,
    mean_reconstruction_error,
    projection_variance,
)


def test_they_agree_with_the_estimator(cancer):
    X = cancer[0]
    model = AcceleratedKernelFeatureAnalysis(7, gamma=0.01).fit(X)
    T = model.transform(X)
    assert_allclose(np.cumsum(model.criterion_path_), cumulative_projection_variance(T), rtol=1e-10)
    assert_allclose(mean_reconstruction_error(np.ones(len(X)), T), model.reconstruction_error(X))
    errors = cumulative_reconstruction_error(np.ones(len(X)), T)
    assert errors.shape == (8,)
    assert_allclose(errors[3], model.reconstruction_error(X, n_components=3))
    assert_allclose(errors[0] - errors[-1], projection_variance(T))


def test_weights_count_rows(rng):
    T, lengths, weight = rng.standard_normal((20, 3)), rng.random(20) + 5, rng.integers(0, 4, 20)
    again = np.repeat(np.arange(20), weight)
    assert_allclose(projection_variance(T, weight), projection_variance(T[again]))
    assert_allclose(
        mean_reconstruction_error(lengths, T, weight),
        mean_reconstruction_error(lengths[again], T[again]),
    )


@pytest.mark.parametrize("weight", [np.ones(3), -np.ones(4), np.zeros(4)])
def test_bad_weights_are_refused(weight):
    with pytest.raises(InvalidDataError, match="sample_weight"):
        projection_variance(np.ones((4, 2)), weight)


def test_lengths_of_another_number_of_rows_are_refused():
    with pytest.raises(InvalidDataError, match="squared_lengths"):
        mean_reconstruction_error(np.ones(3), np.ones((4, 2)))
