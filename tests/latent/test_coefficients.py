"""Coefficients of latent methods against scikit-learn and against the formulas of the paper."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import LinearRegression
from sklearn.metrics.pairwise import rbf_kernel

from kernelsieve import ComponentPathCV, FeatureExtraction, KernelPLS
from kernelsieve.exceptions import InvalidParameterError


@pytest.fixture(params=["one", "several"])
def regression(request, diabetes):
    X, y = diabetes
    y = np.asarray(y, dtype=float)
    return X, y if request.param == "one" else np.column_stack([y, 50 * X[:, 0] + y, X[:, 2] ** 2])


def naive_primal(X, Y, k):
    """Return W = U (P'U)^-1 C' of section 2.2, for centred X and Y."""
    Xj, U, P, T = X.copy(), [], [], []
    for _ in range(k):
        u = np.linalg.svd(Xj.T @ Y, full_matrices=False)[0][:, 0]
        tau = Xj @ u
        p = Xj.T @ tau / (tau @ tau)
        Xj = Xj - np.outer(tau, p)
        U, P, T = [*U, u], [*P, p], [*T, tau]
    U, P, T = map(np.column_stack, (U, P, T))
    C = np.linalg.solve(T.T @ T, T.T @ Y)
    return U @ np.linalg.solve(P.T @ U, C)


def naive_dual(K, y, k):
    """Return alpha = B (T'KB)^-1 T'y of section 3.2.2, for one target and centred K."""
    Kj, B, T = K.copy(), [], []
    for _ in range(k):
        beta = y - np.column_stack(T) @ (np.column_stack(T).T @ y) if T else y
        tau = Kj @ beta
        tau /= np.linalg.norm(tau)
        Kj = Kj - np.outer(tau, tau @ Kj)
        Kj = Kj - np.outer(Kj @ tau, tau)
        B, T = [*B, beta], [*T, tau]
    B, T = np.column_stack(B), np.column_stack(T)
    return B @ np.linalg.solve(T.T @ K @ B, T.T @ y)


def test_primal_coefficients_are_those_of_scikit_learn(regression):
    X, y = regression
    model = FeatureExtraction("pls", 4).fit(X, y)
    peer = PLSRegression(4, scale=False, tol=1e-15, max_iter=10_000).fit(X, y)
    assert_allclose(np.atleast_2d(model.coef_), peer.coef_, rtol=1e-6, atol=1e-6)
    assert_allclose(model.predict(X), peer.predict(X), rtol=1e-6)
    assert np.shape(model.coef_) == np.shape(LinearRegression().fit(X, y).coef_)
    assert np.shape(model.intercept_) == np.shape(LinearRegression().fit(X, y).intercept_)


def test_primal_coefficients_are_those_of_the_paper(regression):
    X, y = regression
    Y = y.reshape(len(y), -1)
    expected = naive_primal(X - X.mean(axis=0), Y - Y.mean(axis=0), 3)
    model = FeatureExtraction("pls", 3).fit(X, y)
    assert_allclose(np.atleast_2d(model.coef_).T, expected, rtol=1e-8, atol=1e-8)


def test_dual_coefficients_are_those_of_the_paper(diabetes):
    X, y = diabetes[0][:120], np.asarray(diabetes[1][:120], dtype=float)
    H = np.eye(len(X)) - 1 / len(X)
    expected = naive_dual(H @ rbf_kernel(X, gamma=2.0) @ H, y - y.mean(), 4)
    model = KernelPLS(4, gamma=2.0, candidates="all").fit(X, y)
    order = np.argsort(model.landmark_indices_)
    # The paper's images are centred, and a constant added to alpha changes nothing there.
    found = model.dual_coef_[order] - model.dual_coef_.mean()
    assert_allclose(found, expected - expected.mean(), rtol=1e-7, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("options", [{}, {"candidates": 60}, {"center": False}, {"n_components": 1}])
def test_predictions_are_kernel_values_times_dual_coefficients(options, regression):
    X, y = regression
    model = KernelPLS(**{"n_components": 5, "gamma": 2.0, "random_state": 0, **options}).fit(X, y)
    values = rbf_kernel(X[:50], model.landmarks_, gamma=2.0)
    predictions = values @ model.dual_coef_ + model.intercept_
    assert_allclose(predictions, model.predict(X[:50]), rtol=1e-9, atol=1e-8)
    assert len(model.dual_coef_) == len(model.landmarks_)


def test_a_truncated_model_has_coefficients_of_its_own(diabetes):
    X, y = diabetes[0], np.asarray(diabetes[1], dtype=float)
    model = FeatureExtraction("blf", 4).fit(X, y)
    small = model.truncate(2)
    assert_allclose(X @ small.coef_ + small.intercept_, model.predict(X, n_components=2), rtol=1e-9)
    peer = PLSRegression(2, scale=False).fit(X, y)
    assert_allclose(small.coef_, peer.coef_[0], rtol=1e-6)


def test_chosen_columns_alone_have_coefficients(diabetes):
    X, y = diabetes[0], np.asarray(diabetes[1], dtype=float)
    model = FeatureExtraction("alignment", 3).fit(X, y)
    peer = LinearRegression().fit(X[:, model.landmarks_], y)
    expected = np.zeros(X.shape[1])
    expected[model.landmarks_] = peer.coef_
    assert_allclose(model.coef_, expected, rtol=1e-8)
    assert_allclose(model.intercept_, peer.intercept_, rtol=1e-10)
    assert model.score(X, y) == pytest.approx(peer.score(X[:, model.landmarks_], y))


def test_labels_have_a_line_of_coefficients_for_each_class(cancer):
    X, y = cancer
    model = FeatureExtraction("pls", 3).fit(X, y)
    scores = X @ model.coef_.T + model.intercept_
    assert model.coef_.shape == (2, X.shape[1])
    assert_array_equal(model.predict(X), model.classes_[scores.argmax(axis=1)])
    assert_allclose(model.decision_function(X), scores[:, 1] - scores[:, 0], atol=1e-9)


def test_without_targets_nothing_is_predicted(diabetes):
    X, y = diabetes
    model = FeatureExtraction("pca", 2).fit(X)
    for name in ("predict", "score", "head", "decision_function", "coef_", "intercept_"):
        assert not hasattr(model, name)
    with pytest.raises(AttributeError) as info:
        _ = model.predict
    assert "looks at no targets" in str(info.value.__cause__)
    assert hasattr(FeatureExtraction("pls"), "predict")
    with pytest.raises(InvalidParameterError, match="does not predict by itself"):
        ComponentPathCV(FeatureExtraction("pca", 2)).fit(X, y)


def test_the_number_of_components_is_found_without_a_head(diabetes):
    X, y = diabetes[0], np.asarray(diabetes[1], dtype=float)
    search = ComponentPathCV(FeatureExtraction("pls", 8)).fit(X, y)
    assert 1 <= search.best_n_components_ <= 8
    assert_allclose(search.predict(X), search.best_estimator_.predict(X))
