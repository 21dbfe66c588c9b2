"""What holds for boosted latent features at every step, whatever the loss and the data."""

import numpy as np
import pytest
from naive import up_to_sign
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale

from kernelsieve import (
    BoostedLatentFeatures,
    BoostedLatentFeaturesClassifier,
    KernelBoostedLatentFeatures,
    KernelBoostedLatentFeaturesClassifier,
    KernelPLS,
)
from kernelsieve.deflation import ExponentialLoss, LogisticLoss, SquaredLoss

K_FEATURES = 6
GAMMA = 0.02


@pytest.fixture(scope="module", params=["cancer", "ionosphere"])
def classes(request):
    if request.param == "cancer":
        X, y = load_breast_cancer(return_X_y=True)
        return scale(X)[:300], y[:300]
    data = request.getfixturevalue("local_data")("ionosphere")
    return np.asarray(data["X"], dtype=float), np.asarray(data["y"]).astype(int)


def centred(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_identities_of_losses_of_a_margin(loss, classes):
    X, labels = classes
    model = KernelBoostedLatentFeaturesClassifier(K_FEATURES, loss=loss, gamma=GAMMA)
    T = model.fit(X, labels).transform(X)
    T /= np.linalg.norm(T, axis=0)
    check_orthonormal_and_centred(T)
    y = np.where(labels == labels.max(), 1.0, -1.0)
    measure = LogisticLoss() if loss == "logistic" else ExponentialLoss()
    for j in range(1, K_FEATURES + 1):
        f = model.decision_function(X, n_components=j)
        if measure.value(y, f).mean() < 1e-3:  # separated: there is no minimum to be at
            assert j > 2
            break
        w = measure.negative_gradient(y, f)
        size = np.abs(w).sum()
        assert abs(w.sum()) < 1e-6 * size  # an exact refit leaves no gradient along the constant
        assert np.abs(T[:, :j].T @ w).max() < 1e-6 * size  # nor along the features


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_features_of_unit_norm_by_the_formulas_of_the_paper(loss, kernel, diabetes):
    """Sections 3.1.3 and 3.2.3 on whole matrices: tau = X_j X_j'w or K_j w, over its length."""
    X, y = diabetes[0][:200], diabetes[1][:200]
    columns = centred(X @ X.T if kernel is None else rbf_kernel(X, gamma=GAMMA))
    T, f = np.empty((200, 0)), np.full(200, y.mean())
    signs = np.where(y > np.median(y), 1.0, -1.0)
    for _ in range(4):
        w = y - f if loss == "squared" else signs / (1 + np.exp(signs * f * bool(T.size)))
        tau = columns @ (w - w.mean())
        tau /= np.linalg.norm(tau)
        T = np.column_stack([T, tau])
        columns = columns - np.outer(tau, tau @ columns)
        if kernel is None:  # X_j X_j'
            columns = columns - np.outer(columns @ tau, tau)
        if loss == "squared":
            f = LinearRegression().fit(T, y).predict(T)
        else:
            head = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000, solver="newton-cholesky")
            f = head.fit(T * np.sqrt(200), signs).decision_function(T * np.sqrt(200))
    given = {"scale": "unit_variance", **({} if kernel is None else {"gamma": GAMMA})}
    if loss == "squared":
        kind = BoostedLatentFeatures if kernel is None else KernelBoostedLatentFeatures
    elif kernel is None:
        kind = BoostedLatentFeaturesClassifier
    else:
        kind = KernelBoostedLatentFeaturesClassifier
    found = kind(4, **given).fit(X, y if loss == "squared" else signs).transform(X)
    assert_allclose(up_to_sign(found / np.sqrt(200), T), T, atol=1e-8 if loss == "squared" else 1e-5)


@pytest.mark.parametrize("loss", ["squared", "absolute", "logistic", "exponential"])
@pytest.mark.parametrize("kernel", [None, "rbf"])
def test_unit_variance_changes_no_prediction(loss, kernel, diabetes):
    X, y = diabetes[0][:200], diabetes[1][:200]
    kinds = {
        (None, False): BoostedLatentFeatures,
        (None, True): BoostedLatentFeaturesClassifier,
        ("rbf", False): KernelBoostedLatentFeatures,
        ("rbf", True): KernelBoostedLatentFeaturesClassifier,
    }
    has_labels = loss in ("logistic", "exponential")
    y = y > np.median(y) if has_labels else y
    make = kinds[kernel, has_labels]
    given = {"loss": loss} if kernel is None else {"loss": loss, "gamma": GAMMA}
    weight = 1.0 + np.arange(200) % 3
    for sample_weight in (None, weight):
        plain = make(4, **given).fit(X, y, sample_weight)
        unit = make(4, scale="unit_variance", **given).fit(X, y, sample_weight)
        T = plain.transform(X)
        lengths = np.sqrt(np.average(T**2, axis=0, weights=sample_weight))
        assert_allclose(unit.transform(X), T / lengths, atol=1e-8)
        assert_allclose(unit.predict(X, 2), plain.predict(X, 2))
        assert_allclose(unit.explained_variance_ratio_, plain.explained_variance_ratio_)


def check_orthonormal_and_centred(T):
    assert_allclose(T.T @ T, np.eye(T.shape[1]), atol=1e-10)
    assert_allclose(T.sum(axis=0), 0, atol=1e-9)


def test_identities_of_numbers(numbers):
    X, y = numbers
    model = KernelBoostedLatentFeatures(K_FEATURES, gamma=GAMMA).fit(X, y)
    T = model.transform(X)
    T /= np.linalg.norm(T, axis=0)
    check_orthonormal_and_centred(T)
    pls = KernelPLS(K_FEATURES, gamma=GAMMA).fit(X, y)
    for j in range(1, K_FEATURES + 1):
        assert_allclose(model.predict(X, j), pls.predict(X, j), rtol=1e-8)
        peer = LinearRegression().fit(T[:, :j], y)
        assert_allclose(model.predict(X, j), peer.predict(T[:, :j]), rtol=1e-8)


def naive_directions(K, y, k, loss):
    """B and T of the method as written, with the matrix deflated from both sides."""
    K = centred(K)
    T, B = np.empty((len(K), 0)), []
    f = np.full(len(y), loss.minimise(y, T, np.ones(len(y)))[0])
    for _ in range(k):
        w = loss.negative_gradient(y, f)
        beta = w - T @ (T.T @ w)
        tau = K @ beta
        norm = np.linalg.norm(tau)
        B.append(beta / norm)
        tau /= norm
        N = np.eye(len(K)) - np.outer(tau, tau)
        K, T = N @ K @ N, np.column_stack([T, tau])
        intercept, c = loss.minimise(y, T * np.sqrt(len(y)), np.ones(len(y)))
        f = intercept + np.sqrt(len(y)) * T @ c
    return np.column_stack(B), T


@pytest.mark.parametrize("loss", [LogisticLoss(), ExponentialLoss(), SquaredLoss()])
def test_features_of_new_rows_are_a_triangular_system(loss, classes):
    X, labels = classes
    y = np.where(labels == labels.max(), 1.0, -1.0)
    K = rbf_kernel(X, gamma=GAMMA)
    B, T = naive_directions(K, y, 4, loss)
    triangle = T.T @ centred(K) @ B
    assert_allclose(np.diag(triangle), 1, rtol=1e-8)
    assert_allclose(np.tril(triangle, -1), 0, atol=1e-8)
    assert_allclose(centred(K) @ B @ np.linalg.inv(triangle), T, atol=1e-8)
    model = KernelBoostedLatentFeaturesClassifier(4, loss=loss, gamma=GAMMA).fit(X, y)
    features = model.transform(X)
    features /= np.linalg.norm(features, axis=0)
    assert_allclose(np.abs(features.T @ T), np.eye(4), atol=1e-5)


class TwiceTheMargin(LogisticLoss):
    """``log(1 + exp(-2 y f))``, whose features are those of the logistic loss."""

    def value(self, y, f):
        return super().value(y, 2 * f)

    def negative_gradient(self, y, f):
        return 2 * super().negative_gradient(y, 2 * f)

    def curvature(self, y, f):
        return 4 * super().curvature(y, 2 * f)


def test_twice_the_margin_halves_the_coefficients(classes):
    X, y = classes
    once = KernelBoostedLatentFeaturesClassifier(4, loss="logistic", gamma=GAMMA).fit(X, y)
    twice = KernelBoostedLatentFeaturesClassifier(4, loss=TwiceTheMargin(), gamma=GAMMA)
    twice.fit(X, y)
    assert_allclose(twice.transform(X), once.transform(X), atol=1e-6)
    assert_allclose(2 * twice.decision_function(X), once.decision_function(X), rtol=1e-6, atol=1e-6)


def test_the_absolute_loss_is_at_its_minimum(numbers):
    X, y = numbers
    model = KernelBoostedLatentFeatures(4, loss="absolute", gamma=GAMMA).fit(X, y)
    T = np.column_stack([np.ones(len(X)), model.transform(X)])
    residual = y - model.predict(X)
    zero = np.abs(residual) < 1e-7 * np.abs(y).max()
    assert zero.sum() >= 5  # as many as there are coefficients
    pull = np.abs(np.sign(residual[~zero]) @ T[~zero])
    assert (pull <= np.abs(T[zero]).sum(axis=0) + 1e-6).all()


@pytest.mark.parametrize("loss", ["logistic", "exponential", "squared", "absolute"])
def test_the_scale_of_sample_weights_makes_no_difference(loss, classes, rng):
    X, y = classes  # which many features separate
    weight = rng.uniform(0.1, 3, len(X))
    for k in (4, 12):
        model = KernelBoostedLatentFeaturesClassifier(k, loss=loss)
        once = model.fit(X, y, sample_weight=weight).decision_function(X)
        scaled = model.fit(X, y, sample_weight=7 * weight).decision_function(X)
        assert_allclose(scaled, once, rtol=0, atol=1e-8 * max(1, np.abs(once).max()))
