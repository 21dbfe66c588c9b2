import numpy as np
import pytest
from numpy.testing import assert_allclose

from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
)
from kernelsieve.exceptions import InvalidDataError
from kernelsieve.metrics import (
    cumulative_alignment,
    cumulative_pointwise_squared_covariance,
    cumulative_projection_variance,
    cumulative_reconstruction_error,
    cumulative_squared_covariance,
    kernel_target_alignment,
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


# ---------------------------------------------------------------------- of the target


@pytest.fixture
def problem(rng):
    return rng.standard_normal((30, 4)), rng.standard_normal(30), rng.standard_normal((30, 3))


def test_alignment_is_the_cosine_between_two_matrices(problem):
    T, y, Y = problem
    K = T @ T.T
    for target in (y[:, None], Y):
        ideal = target @ target.T
        expected = (K * ideal).sum() / np.sqrt((K**2).sum() * (ideal**2).sum())
        assert kernel_target_alignment(K, target) == pytest.approx(expected)
        H = np.eye(30) - 1 / 30
        Kc, ideal = H @ K @ H, H @ ideal @ H
        expected = (Kc * ideal).sum() / np.sqrt((Kc**2).sum() * (ideal**2).sum())
        assert kernel_target_alignment(K, target, center=True) == pytest.approx(expected)
    assert kernel_target_alignment(np.outer(y, y), y) == pytest.approx(1)
    with pytest.raises(InvalidDataError, match="no angle"):
        kernel_target_alignment(np.ones((30, 30)), y, center=True)
    with pytest.raises(InvalidDataError, match="must be square"):
        kernel_target_alignment(T, y)


def test_the_two_squared_covariances_of_the_paper(problem):
    T, y, _ = problem
    squares = cumulative_squared_covariance(T, y)
    pointwise = cumulative_pointwise_squared_covariance(T, y)
    for k in range(1, 5):
        assert squares[k - 1] == pytest.approx(sum(np.mean(y * T[:, j]) ** 2 for j in range(k)))
        assert pointwise[k - 1] == pytest.approx(
            np.trace(T[:, :k].T @ np.diag(y**2) @ T[:, :k]) / len(y)
        )
    assert (squares <= pointwise).all()
    evaluations = np.array([1, 3, 3, 5])
    assert_allclose(cumulative_squared_covariance(T, y, evaluations), squares / evaluations)
    assert_allclose(cumulative_pointwise_squared_covariance(T, y, evaluations), pointwise / evaluations)


def test_cumulative_alignment_sums_those_of_single_features(problem):
    T, y, _ = problem
    single = [kernel_target_alignment(np.outer(t, t), y) for t in T.T]
    assert_allclose(cumulative_alignment(T, y), np.cumsum(single))
    assert_allclose(cumulative_alignment(T, y, [2, 4, 6, 8]), np.cumsum(single) / [2, 4, 6, 8])
    with pytest.raises(InvalidDataError, match="zero in all samples"):
        cumulative_alignment(np.zeros((30, 2)), y)
    with pytest.raises(InvalidDataError, match="4 numbers above 0"):
        cumulative_alignment(T, y, [1, 2])
    with pytest.raises(InvalidDataError, match="y has 29 entries"):
        cumulative_alignment(T, y[1:])


@pytest.mark.parametrize("several", [False, True])
def test_paths_of_the_estimators_add_up_to_the_metrics(several, diabetes):
    X, y = diabetes
    Y = np.column_stack([y, X[:, 2] * 50]) if several else y
    centred = Y - Y.mean(axis=0)
    sma = SparseMaximalAlignment(8, scale="unit_variance").fit(X, Y)
    assert_allclose(cumulative_alignment(sma.transform(X), centred), np.cumsum(sma.criterion_path_))
    smc = SparseMaximalCovariance(8, n_nonzero=2, candidates=20, random_state=0).fit(X, Y)
    assert_allclose(
        cumulative_squared_covariance(smc.transform(X), centred, smc.kernel_evaluations_),
        np.cumsum(smc.criterion_path_) / [len(smc.truncate(j).landmarks_) for j in range(1, 9)],
    )
