"""Continuum regression: its ends are known methods, and between them it maximises its criterion."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_linnerud
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.metrics.pairwise import rbf_kernel

from kernelsieve import FeatureExtraction, KernelFeatureExtraction
from kernelsieve.deflation import ContinuumRegression
from kernelsieve.deflation.criteria.continuum import continuum_direction
from kernelsieve.exceptions import InvalidParameterError

ALPHAS = [0.02, 0.2, 0.45, 0.55, 0.75, 0.98]


@pytest.fixture
def regression(diabetes):
    X, y = diabetes
    return X, np.asarray(y, dtype=float)


def fitted(T, y):
    return LinearRegression().fit(T, y).predict(T)


def extractors(alpha, k):
    """Return the primal form and the dual ones, on all samples and on a pool."""
    criterion = ContinuumRegression(alpha)
    linear = {"kernel": "linear", "random_state": 0}
    return [
        FeatureExtraction(criterion, k),
        KernelFeatureExtraction(criterion, k, candidates="all", **linear),
        KernelFeatureExtraction(criterion, k, candidates=60, **linear),
    ]


def test_at_zero_one_component_is_least_squares(regression):
    X, y = regression
    for extractor in extractors(0, 1):
        assert_allclose(fitted(extractor.fit_transform(X, y), y), fitted(X, y), rtol=1e-8)


def test_at_a_half_it_is_pls(regression):
    X, y = regression
    expected = PLSRegression(4, scale=False).fit(X, y).predict(X)
    for extractor in extractors(0.5, 4):
        assert_allclose(fitted(extractor.fit_transform(X, y), y), expected.ravel(), rtol=1e-8)


def test_at_a_half_it_is_pls_for_several_targets():
    X, Y = load_linnerud(return_X_y=True)
    expected = PLSRegression(2, scale=False).fit(X, Y).predict(X)
    features = FeatureExtraction("continuum", 2).fit_transform(X, Y)
    assert_allclose(fitted(features, Y), expected, rtol=1e-8)


def test_near_one_it_is_regression_on_principal_components(regression):
    X, y = regression
    expected = fitted(PCA(4).fit_transform(X), y)
    for extractor in extractors(1 - 1e-9, 4):
        assert_allclose(fitted(extractor.fit_transform(X, y), y), expected, rtol=1e-7)


def log_criterion(u, X, Y, alpha):
    """The formula of the paper for a vector of any length, as a logarithm."""
    u = u / np.linalg.norm(u)
    covariance, variance = ((X @ u) @ Y) ** 2, (X @ u) @ (X @ u)
    return np.log(covariance.sum()) + (alpha / (1 - alpha) - 1) * np.log(variance)


def highest(starts, X, Y, alpha):
    """Climb from every start and return the highest place."""

    def depth(u):
        return -log_criterion(u, X, Y, alpha)

    found = [minimize(depth, start, method="BFGS", options={"gtol": 1e-9}) for start in starts]
    return min(found, key=lambda result: result.fun).x


def naive_features(X, Y, alpha, k, rng):
    """Find the highest place, deflate by (1), and repeat."""
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    spread = np.linalg.norm(X, 2)  # the directions do not depend on these scales
    X, Y = X / spread, Y / np.linalg.norm(Y)
    features = []
    for _ in range(k):
        basis = np.linalg.svd(X, full_matrices=False)[2][: X.shape[1] - len(features)].T
        starts = rng.standard_normal((6, basis.shape[1]))
        starts = [*starts, *np.linalg.lstsq(X @ basis, Y, rcond=None)[0].T]
        best = highest(starts, X @ basis, Y, alpha)
        tau = X @ basis @ best
        tau /= np.linalg.norm(tau)
        X = X - np.outer(tau, tau @ X)
        features.append(tau)
    return np.column_stack(features)


@pytest.mark.parametrize(("alpha", "n_targets"), list(zip(ALPHAS, [1, 3] * 3, strict=True)))
def test_between_the_ends_it_is_what_an_optimiser_finds(alpha, n_targets, rng):
    X = rng.standard_normal((60, 5)) * [3, 2, 1, 0.5, 0.3]
    Y = X @ rng.standard_normal((5, n_targets)) + 0.5 * rng.standard_normal((60, n_targets))
    expected = naive_features(X, Y, alpha, 3, rng)
    for extractor in extractors(alpha, 3):
        features = extractor.fit_transform(X, Y if n_targets > 1 else Y[:, 0])
        features = features / np.linalg.norm(features, axis=0)
        assert_allclose(np.abs(np.diag(features.T @ expected)), 1, atol=1e-6)


@pytest.mark.parametrize("alpha", [0.3, 0.8])
def test_with_a_kernel_it_is_the_primal_form_on_the_images(alpha, rng):
    X = rng.standard_normal((80, 2))
    y = np.sin(2 * X[:, 0]) + 0.1 * rng.standard_normal(80)
    values, vectors = np.linalg.eigh(rbf_kernel(X, gamma=0.5))
    images = vectors * np.sqrt(np.maximum(values, 0))
    criterion = ContinuumRegression(alpha)
    primal = FeatureExtraction(criterion, 4).fit(images, y)
    dual = KernelFeatureExtraction(criterion, 4, gamma=0.5).fit(X, y)
    assert_allclose(dual.transform(X), primal.transform(images), atol=1e-7)
    assert_allclose(dual.criterion_path_, primal.criterion_path_, rtol=1e-7)


@pytest.mark.parametrize("alpha", [0.0, *ALPHAS])
def test_the_path_is_the_criterion_of_each_step(alpha, regression):
    X, y = regression
    k = 1 if alpha == 0 else 3
    model = FeatureExtraction(ContinuumRegression(alpha), k).fit(X, y)
    features = model.transform(X)
    # Features are coordinates along unit directions of the deflated columns.
    covariance = features.T @ (y - y.mean()) / len(y)
    variance = (features**2).mean(axis=0)
    expected = np.abs(covariance) ** (2 * (1 - alpha)) * variance ** (2 * alpha - 1)
    assert_allclose(model.criterion_path_, expected, rtol=1e-6)


def test_of_two_maxima_the_higher_one_is_taken():
    # A large variance with some covariance, and a tiny variance with a little less: both are maxima.
    eigenvalues = np.array([1.0, 1e-8])
    for small, wins in [(1e-3, 0), (1e-1, 1)]:
        found = continuum_direction(eigenvalues, np.array([[1.0], [small]]), 0.25)
        angles = np.linspace(0, np.pi / 2, 200_001)
        u = np.array([np.cos(angles), np.sin(angles)])
        values = (u[0] + small * u[1]) ** 1.5 * (u[0] ** 2 + 1e-8 * u[1] ** 2) ** -0.5
        assert_allclose(found, u[:, values.argmax()], atol=1e-3)
        assert np.argmax(found) == wins


def test_directions_without_covariance_are_left_out():
    found = continuum_direction(np.array([9.0, 4.0, 1.0]), np.array([[0.0], [1.0], [1.0]]), 0.9)
    assert found[0] == 0
    assert found[1] > found[2] > 0
    assert continuum_direction(np.array([1.0]), np.array([[0.0]]), 0.9) is None


@pytest.mark.parametrize("alpha", [-0.1, 1.0, "pls", None])
def test_alpha_is_between_least_squares_and_principal_components(alpha, regression):
    with pytest.raises(InvalidParameterError, match="alpha="):
        FeatureExtraction(ContinuumRegression(alpha), 1).fit(*regression)
