"""The evidence of functions on landmarks: its value, its derivatives, and where a search leads."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal

from kernelsieve.kernels import RBF, resolve_kernel
from kernelsieve.metric_learning.evidence import Evidence


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4))
    Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] ** 2]) + 0.1 * rng.standard_normal((60, 2))
    return X, Y, rng.uniform(0.2, 2, 60)


def naive_loss(kernel, X, Y, Z, noise):
    """Minus the log-likelihood a sample, with the best signal variance, up to a constant."""
    K, W = kernel.block(X, Z), kernel.block(Z, Z)
    W += 1e-6 * np.trace(W) / len(W) * np.eye(len(W))
    A = K - K.mean(axis=0)
    covariance = A @ np.linalg.solve(W, A.T) + np.exp(noise) * np.eye(len(X))
    n, q = Y.shape
    signal = np.trace(Y.T @ np.linalg.solve(covariance, Y)) / (n * q)
    density = multivariate_normal(cov=signal * covariance)
    return -sum(density.logpdf(column) for column in Y.T) / n


def test_the_loss_is_that_of_a_gaussian_process(data):
    X, Y, _ = data
    Y = Y - Y.mean(axis=0)
    evidence = Evidence.on_first_samples(RBF(0.3), X, Y, np.ones(60), 15)
    settings = [(np.ones(4), -2.0), (np.array([2.0, 0.3, 1.0, 0.5]), 0.0), (np.ones(4), 1.0)]
    ours = [evidence.loss(L, noise)[0] for L, noise in settings]
    naive = [naive_loss(RBF(0.3), X * L, Y, (X * L)[:15], noise) for L, noise in settings]
    assert_allclose(np.diff(ours), np.diff(naive), rtol=1e-8)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("rbf", None),
        *(("matern", {"nu": nu}) for nu in (0.5, 1.5, 2.5)),
        ("rational_quadratic", None),
        ("poly", None),
    ],
)
@pytest.mark.parametrize("full", [False, True])
def test_derivatives_are_those_of_finite_differences(name, params, full, data):
    X, Y, weight = data
    kernel = resolve_kernel(name, X, gamma=0.2, kernel_params=params)
    evidence = Evidence.on_first_samples(kernel, X, Y, weight, 12)
    L = np.random.default_rng(1).standard_normal((4, 4)) if full else np.array([1.0, 0.5, 2.0, 0.7])
    _, by_metric, by_noise = evidence.loss(L, -2.0)
    step = 1e-6

    def difference(L_step, noise_step):
        up, down = (evidence.loss(L + s * L_step, -2.0 + s * noise_step)[0] for s in (step, -step))
        return (up - down) / (2 * step)

    naive = [difference(e.reshape(L.shape), 0.0) for e in np.eye(L.size)]
    assert_allclose(by_metric.ravel(), naive, rtol=1e-5, atol=1e-6 * np.abs(naive).max())
    assert by_noise == pytest.approx(difference(np.zeros(L.shape), 1.0), rel=1e-6)


def test_the_weighted_mean_is_the_origin(data):
    X, Y, weight = data
    evidence = Evidence.on_first_samples(RBF(0.3), X, Y + 5.0, weight, 10)
    assert_allclose(evidence.Y, Evidence.on_first_samples(RBF(0.3), X, Y, weight, 10).Y, atol=1e-12)
    assert_allclose(evidence.root_weight @ evidence.Y, 0, atol=1e-10)
    assert_allclose(
        evidence.loss(np.ones(4), 0.0)[0],
        Evidence.on_first_samples(RBF(0.3), X, Y, 7 * weight, 10).loss(np.ones(4), 0.0)[0],
    )


def test_a_search_finds_what_matters_and_leaves_out_what_is_out(data):
    X, Y, weight = data
    begin = np.array([1.0, 1.0, 1.0, 0.0])
    found = Evidence.on_first_samples(RBF(0.2), X, Y, weight, 30).maximise(begin, 1.0, 60)
    assert found[3] == 0
    assert found[2] < 0.5 * found[:2].min()


def test_inputs_of_a_group_share_their_weight(data):
    X, Y, weight = data
    found = Evidence.on_first_samples(RBF(0.2), X, Y, weight, 30).maximise(
        np.ones(4), 1.0, 20, np.array([0, 1, 1, 2])
    )
    assert found[1] == found[2] != found[3]


def test_a_search_never_lowers_the_evidence(data):
    X, Y, weight = data
    evidence = Evidence.on_first_samples(RBF(0.2), X, Y, weight, 20)
    for begin in (np.ones(4), np.eye(4)):
        found = evidence.maximise(begin, 1.0, 15)
        assert found.shape == begin.shape
        # The noise is searched for as well, so the best noise for both metrics is compared.
        noises = np.linspace(-6, 4, 30)
        before, after = (min(evidence.loss(L, noise)[0] for noise in noises) for L in (begin, found))
        assert after < before


def test_equal_samples_are_no_obstacle():
    X = np.repeat(np.arange(4.0)[:, None], 10, axis=0)
    found = Evidence.on_first_samples(RBF(1.0), X, np.sin(X), np.ones(40), 20).maximise(
        np.ones(1), 1e-8, 10
    )
    assert np.isfinite(found).all()
    assert_array_equal(found > 0, [True])


@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_targets_without_noise_have_an_evidence(kernel):
    X = np.random.default_rng(0).standard_normal((50, 2)) * [1, 1e4]
    evidence = Evidence.on_first_samples(
        resolve_kernel(kernel, X, gamma=1.0), X, X[:, :1], np.ones(50), 10
    )
    assert np.isfinite(evidence.maximise(np.ones(2), 1e-6, 10)).all()


def test_kernel_values_that_overflow_end_a_search():
    X = 1e4 * np.random.default_rng(0).standard_normal((50, 2))
    kernel = resolve_kernel("poly", X, gamma=1.0, degree=100)
    with np.errstate(over="ignore", invalid="ignore"):
        found = Evidence.on_first_samples(kernel, X, X[:, :1], np.ones(50), 10).maximise(
            np.ones(2), 1.0, 5
        )
    assert_array_equal(found, np.ones(2))
