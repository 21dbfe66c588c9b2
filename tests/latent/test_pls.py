"""Kernel PLS, orthogonal loadings and boosted latent features against naive code and peers."""

import numpy as np
import pytest
from configured import fit_with
from naive import CountingKernel
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import NearestCentroid

from kernelsieve import (
    BoostedLatentFeatures,
    BoostedLatentFeaturesClassifier,
    KernelBoostedLatentFeatures,
    KernelBoostedLatentFeaturesClassifier,
    KernelPLS,
    KernelPLSClassifier,
    OrthogonalLoadingsKernelPLS,
)
from kernelsieve.deflation import Loss
from kernelsieve.exceptions import FewerFeaturesWarning, InvalidParameterError


def double_centred(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


def rosipal_trejo(K, Y, k):
    """Kernel PLS as Rosipal and Trejo (2001) print it; predictions for the training rows."""
    K, mean = double_centred(K), Y.mean(axis=0)
    Y = Y - mean
    left, T, start = Y.copy(), [], K.copy()
    U = []
    for _ in range(k):
        u = left[:, :1]
        for _ in range(2000):
            t = K @ u
            t /= np.linalg.norm(t)
            new = left @ (left.T @ t)
            new /= np.linalg.norm(new)
            done = np.linalg.norm(new - u) < 1e-15
            u = new
            if done:
                break
        N = np.eye(len(K)) - t @ t.T
        K, left = N @ K @ N, left - t @ (t.T @ left)
        T.append(t)
        U.append(u)
    T, U = np.hstack(T), np.hstack(U)
    B = U @ np.linalg.solve(T.T @ start @ U, T.T @ Y)
    return start @ B + mean


@pytest.fixture(params=["one", "several"])
def targets(request, diabetes):
    X, y = diabetes
    return y if request.param == "one" else np.column_stack([y, 50 * X[:, 0] + y, 100 * X[:, 2] ** 2])


def test_a_linear_kernel_gives_scikit_learns_partial_least_squares(targets, diabetes):
    X = diabetes[0]
    model = KernelPLS(6, kernel="linear").fit(X[:300], targets[:300])
    for j in (1, 3, 6):
        peer = PLSRegression(j, scale=False, tol=1e-20, max_iter=20_000).fit(X[:300], targets[:300])
        expected = peer.predict(X).reshape(targets.shape)
        assert_allclose(model.predict(X, n_components=j), expected, rtol=1e-8, atol=1e-8 * 300)


def test_it_is_the_two_sided_algorithm(targets, diabetes):
    X = diabetes[0]
    model = KernelPLS(5, gamma=0.02).fit(X, targets)
    expected = rosipal_trejo(rbf_kernel(X, gamma=0.02), targets.reshape(len(X), -1), 5)
    assert_allclose(model.predict(X).reshape(expected.shape), expected, rtol=1e-8, atol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_orthogonal_loadings_predict_the_same(kernel, numbers):
    X, y = numbers
    pls = KernelPLS(8, kernel=kernel, gamma=0.02).fit(X, y)
    other = OrthogonalLoadingsKernelPLS(8, kernel=kernel, gamma=0.02).fit(X, y)
    for j in (1, 4, 8):
        assert_allclose(other.predict(X, j), pls.predict(X, j), rtol=1e-9)
    K = rbf_kernel(X, gamma=0.02) if kernel == "rbf" else X @ X.T
    gram = other.projection_.T @ K @ other.projection_
    assert_allclose(gram, np.eye(8), atol=1e-8)


@pytest.mark.parametrize("method", [KernelBoostedLatentFeatures, BoostedLatentFeatures])
def test_the_squared_loss_is_partial_least_squares(method, diabetes):
    X, y = diabetes
    boosted = method(5, **({} if method is BoostedLatentFeatures else {"kernel": "linear"})).fit(X, y)
    pls = KernelPLS(5, kernel="linear").fit(X, y)
    for j in (1, 3, 5):
        assert_allclose(boosted.predict(X, j), pls.predict(X, j), rtol=1e-8)


def naive_boosted(K, y, k, negative_gradient, minimise):
    """Section B of the method as written: the kernel matrix is deflated from both sides."""
    K = double_centred(K)
    n, T = len(K), np.empty((len(K), 0))
    f = minimise(T, y)
    for _ in range(k):
        w = negative_gradient(y, f)
        beta = w - T @ (T.T @ w)
        beta -= beta.mean()
        tau = K @ beta
        tau /= np.linalg.norm(tau)
        N = np.eye(n) - np.outer(tau, tau)
        K, T = N @ K @ N, np.column_stack([T, tau])
        f = minimise(T, y)
    return T, f


def test_logistic_features_equal_the_naive_algorithm(cancer):
    X, labels = cancer[0][:200], cancer[1][:200]
    y = 2.0 * labels - 1

    def minimise(T, y):
        if T.shape[1] == 0:
            share = (y > 0).mean()
            return np.full(len(y), np.log(share / (1 - share)))
        model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(T * 14, y)
        return model.decision_function(T * 14)

    def negative_gradient(y, f):
        return y / (1 + np.exp(y * f))

    T, f = naive_boosted(rbf_kernel(X, gamma=0.002), y, 3, negative_gradient, minimise)
    model = KernelBoostedLatentFeaturesClassifier(3, loss="logistic", gamma=0.002).fit(X, labels)
    features = model.transform(X)
    features /= np.linalg.norm(features, axis=0)
    assert_allclose(np.abs((features * T).sum(axis=0)), 1, atol=1e-6)
    assert_allclose(model.decision_function(X), f, rtol=1e-2, atol=1e-2)
    assert_allclose(model.predict_proba(X)[:, 1], 1 / (1 + np.exp(-model.decision_function(X))))


@pytest.mark.parametrize("loss", ["squared", "absolute", "exponential", "logistic"])
@pytest.mark.parametrize("candidates", ["all", 60])
def test_every_loss_separates_the_classes(loss, candidates, cancer):
    X, y = cancer
    names = np.array(["malignant", "benign"])[y]
    model = KernelBoostedLatentFeaturesClassifier(
        6, loss=loss, gamma=0.01, candidates=candidates, random_state=0
    ).fit(X[::2], names[::2])
    assert model.score(X[1::2], names[1::2]) > 0.92
    assert set(model.predict(X)) == {"malignant", "benign"}
    if loss in ("exponential", "logistic"):
        p = model.predict_proba(X[1::2])
        assert_allclose(p.sum(axis=1), 1)
        assert ((p[:, 1] > 0.5) == (model.predict(X[1::2]) == model.classes_[1])).all()
    else:
        assert not hasattr(model, "predict_proba")


def test_many_classes_are_told_apart(digits):
    X, y = digits
    for model in (
        KernelPLSClassifier(15, gamma=0.05),
        KernelBoostedLatentFeaturesClassifier(15, loss="logistic", gamma=0.05),
        KernelBoostedLatentFeaturesClassifier(15, loss="squared", gamma=0.05),
    ):
        assert model.fit(X[:300], y[:300]).score(X[500:], y[500:]) > 0.7
        assert model.decision_function(X[:3]).shape == (3, 10)


def test_the_training_loss_falls_with_every_feature(cancer):
    X, y = cancer
    model = KernelBoostedLatentFeaturesClassifier(8, loss="logistic", gamma=0.005).fit(X, y)
    sign = 2.0 * y - 1
    losses = [np.logaddexp(0, -sign * model.decision_function(X, j)).mean() for j in range(1, 9)]
    assert (np.diff(losses) < 1e-9).all()


@pytest.mark.parametrize("loss", ["exponential", "logistic"])
@pytest.mark.filterwarnings("ignore::kernelsieve.exceptions.FewerFeaturesWarning")
def test_separable_data_do_not_diverge(loss, rng):
    X = rng.standard_normal((60, 2))
    y = X[:, 0] > 0
    model = KernelBoostedLatentFeaturesClassifier(20, loss=loss, gamma=1.0).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.score(X, y) == 1


def test_the_absolute_loss_withstands_outliers(rng):
    X = rng.standard_normal((300, 5))
    truth = X @ [1.0, -2.0, 0.5, 0.0, 1.0]
    y = truth + 0.1 * rng.standard_normal(300)
    y[::10] += 100
    robust = BoostedLatentFeatures(5, loss="absolute").fit(X, y)
    squared = BoostedLatentFeatures(5).fit(X, y)
    gap = [np.mean((m.predict(X) - truth) ** 2) for m in (robust, squared)]
    assert gap[0] < 0.02 * gap[1]


class Huber(Loss):
    """A user's loss."""

    def value(self, y, f):
        r = np.abs(y - f)
        return np.where(r < 1, r**2 / 2, r - 0.5)

    def negative_gradient(self, y, f):
        return np.clip(y - f, -1, 1)

    def curvature(self, y, f):
        return (np.abs(y - f) < 1).astype(float)


def test_a_users_own_loss(rng):
    X = rng.standard_normal((300, 5))
    truth = X @ [1.0, -2.0, 0.5, 0.0, 1.0]
    y = truth + 0.1 * rng.standard_normal(300)
    y[::20] += 50
    model = BoostedLatentFeatures(5, loss=Huber()).fit(X, y)
    assert np.corrcoef(model.predict(X), truth)[0, 1] > 0.999


def test_one_product_a_component_whatever_the_number_of_targets(targets, diabetes):
    X = diabetes[0]
    kernel = CountingKernel(0.02)
    n = len(X)
    fit_with({"max_memory": 0}, KernelPLS(6, kernel=kernel), X, targets)
    assert kernel.evaluations <= (6 + 1) * n * n + 1  # a first look for norms and targets
    kernel = CountingKernel(0.02)
    KernelPLS(6, kernel=kernel).fit(X, targets)
    assert kernel.evaluations <= n * n + 1


def test_a_pool_predicts_with_as_many_evaluations(diabetes):
    X, y = diabetes
    kernel = CountingKernel(0.02)
    model = KernelPLS(6, kernel=kernel, candidates=40, random_state=0).fit(X, y)
    assert kernel.evaluations <= len(X) * 40 * 2 + 40 * 40 + 1
    kernel.evaluations = 0
    model.predict(X[:10])
    assert kernel.evaluations == 400


def test_a_pool_in_pieces_predicts_the_same(targets, diabetes):
    X, targets = diabetes[0][:150], targets[:150]
    whole = KernelPLS(6, gamma=0.02, candidates=X[:50]).fit(X, targets)
    for size in (1, 7, 100):
        pieces = KernelPLS(6, gamma=0.02, candidates=X[:50])
        for start in range(0, len(X), size):
            pieces.partial_fit(X[start : start + size], targets[start : start + size])
        assert_allclose(pieces.predict(X), whole.predict(X), rtol=1e-7)


def test_a_pool_of_all_rows_is_exact(targets, diabetes):
    X, Y = diabetes[0][:200], targets[:200]
    exact = KernelPLS(4, gamma=0.05).fit(X, Y)
    pooled = KernelPLS(4, gamma=0.05, candidates=X).fit(X, Y)
    assert_allclose(pooled.predict(X), exact.predict(X), rtol=1e-5)


def test_sparse_rows_are_centred_without_being_filled(diabetes, rng):
    X = sparse.random(200, 30_000, density=0.002, format="csr", random_state=0)
    y = np.asarray(X[:, :50].sum(axis=1)).ravel() + 0.1 * rng.standard_normal(200)
    model = KernelPLS(4, kernel="linear").fit(X, y)
    peer = PLSRegression(4, scale=False).fit(X.toarray(), y)
    assert_allclose(model.predict(X), peer.predict(X.toarray()), atol=1e-8)
    assert sparse.issparse(model.landmarks_)


def test_classes_are_weighed_by_their_size(cancer):
    """Labels enter as Y (Y'Y)^-1/2: the same features as for that continuous target."""
    X, y = cancer
    one_hot = np.eye(2)[y]
    scaled = one_hot / np.sqrt(one_hot.sum(axis=0))
    labels = KernelPLSClassifier(4, gamma=0.01).fit(X, y)
    numbers = KernelPLS(4, gamma=0.01).fit(X, scaled)
    assert_allclose(np.abs(labels.transform(X)), np.abs(numbers.transform(X)), atol=1e-9)


def test_weights_count_rows(diabetes, rng):
    X, y = diabetes[0][:150], diabetes[1][:150]
    weight = rng.integers(0, 4, 150)
    again = np.repeat(np.arange(150), weight)
    for make in (
        lambda: KernelPLS(4, gamma=0.02),
        lambda: OrthogonalLoadingsKernelPLS(4, gamma=0.02),
        lambda: KernelBoostedLatentFeatures(4, gamma=0.02),
        lambda: KernelBoostedLatentFeatures(2, gamma=0.02, loss="absolute"),
    ):
        a = make().fit(X, y, sample_weight=weight)
        b = make().fit(X[again], y[again])
        assert_allclose(a.predict(X), b.predict(X), rtol=1e-6)


def test_several_columns_are_refused_where_one_is_needed(diabetes):
    X, y = diabetes
    with pytest.raises(ValueError, match="1d array"):
        OrthogonalLoadingsKernelPLS(3).fit(X, np.column_stack([y, y]))


def test_margins_need_labels(diabetes):
    X, y = diabetes
    for method in (KernelBoostedLatentFeatures, BoostedLatentFeatures):
        with pytest.raises(InvalidParameterError, match=f"use {method.__name__}Classifier"):
            method(3, loss="logistic").fit(X, y)


@pytest.mark.parametrize("method", [KernelPLS, KernelBoostedLatentFeatures, BoostedLatentFeatures])
def test_whole_numbers_are_numbers_for_a_regressor(method, diabetes):
    X, y = diabetes[0], diabetes[1].astype(int)
    whole, floats = method(4).fit(X, y), method(4).fit(X, y.astype(float))
    assert_allclose(whole.predict(X), floats.predict(X))
    assert is_regressor(method())
    assert not hasattr(whole, "classes_")


@pytest.mark.parametrize(
    "method",
    [KernelPLSClassifier, KernelBoostedLatentFeaturesClassifier, BoostedLatentFeaturesClassifier],
)
def test_classifiers_are_classifiers_before_they_are_fitted(method, cancer):
    X, y = cancer
    assert is_classifier(method())
    assert hasattr(method(), "decision_function")
    calibrated = CalibratedClassifierCV(method(3), cv=2).fit(X, y)
    assert calibrated.score(X, y) > 0.9
    assert hasattr(method(), "predict_proba") == (method is not KernelPLSClassifier)


def test_continuous_targets_have_no_classes(diabetes):
    X, y = diabetes
    model = KernelPLS(3).fit(X, y)
    for name in ("decision_function", "predict_proba"):
        assert not hasattr(model, name)


def class_means(features, y, weight):
    members = [y == label for label in np.unique(y)]
    return np.array([weight[m] @ features[m] / weight[m].sum() for m in members])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("options", [{}, {"candidates": 150}, {"center": False}])
def test_centroid_predicts_the_class_with_the_nearest_mean(options, weighted, digits, rng):
    X, y = digits[0][:300], digits[1][:300]
    weight = rng.integers(1, 4, len(y)) if weighted else np.ones(len(y))
    given = {"gamma": 0.05, "decision": "centroid", "random_state": 0, **options}
    model = KernelPLSClassifier(9, **given).fit(X, y, sample_weight=weight if weighted else None)
    for k in (1, 4, 9):
        features = model.transform(X, n_components=k)
        means = class_means(features, y, weight)
        distances = ((features[:, None] - means) ** 2).sum(axis=2)
        assert_array_equal(model.predict(X, n_components=k), model.classes_[distances.argmin(axis=1)])
        # Scores are what distances differ by.
        scores = model.decision_function(X, n_components=k)
        lengths = (features**2).sum(axis=1, keepdims=True)
        assert_allclose(lengths - 2 * scores, distances, atol=1e-8)


@pytest.mark.parametrize("options", [{}, {"candidates": 150}, {"center": False}])
def test_alignment_predicts_by_the_kernel_of_features(options, digits, rng):
    X, y, weight = digits[0][:300], digits[1][:300], rng.integers(1, 4, 300)
    given = {"gamma": 0.05, "decision": "alignment", "random_state": 0, **options}
    model = KernelPLSClassifier(9, **given).fit(X, y, sample_weight=weight)
    for k in (1, 9):
        features = model.transform(X, n_components=k)
        K = features @ features.T  # the kernel that is aligned with the labels
        means = np.array([weight[y == c] @ K[y == c] / weight[y == c].sum() for c in model.classes_]).T
        assert_allclose(model.decision_function(X, n_components=k), means, atol=1e-9)
        assert_array_equal(model.predict(X, n_components=k), model.classes_[means.argmax(axis=1)])
    with pytest.raises(AttributeError, match="by the means of classes"):
        _ = model.y_loadings_


def test_centroid_has_the_features_of_argmax_and_other_predictions(digits):
    X, y = digits[0][:300], digits[1][:300]
    by_mean = KernelPLSClassifier(5, gamma=0.05, decision="centroid").fit(X, y)
    by_indicator = KernelPLSClassifier(5, gamma=0.05).fit(X, y)
    assert_allclose(by_mean.transform(X), by_indicator.transform(X))
    assert (by_mean.predict(X) != by_indicator.predict(X)).any()
    assert by_mean.score(X, y) > 0.8


def test_centroid_is_the_nearest_centroid_classifier_of_scikit_learn(cancer):
    X, y = cancer
    model = KernelPLSClassifier(3, gamma=0.03, decision="centroid").fit(X, y)
    peer = NearestCentroid().fit(model.transform(X), y)
    assert_array_equal(model.predict(X), peer.predict(model.transform(X)))


def test_a_class_without_weight_is_never_the_nearest(digits):
    X, y = digits[0][:200], digits[1][:200]
    weight = (y != 3).astype(float)
    model = KernelPLSClassifier(5, gamma=0.05, decision="centroid").fit(X, y, sample_weight=weight)
    assert 3 in model.classes_
    assert 3 not in model.predict(X)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist])
def test_digits_that_a_kernel_matrix_does_not_have_are_no_components(form, rng):
    """A matrix of rank 2 in float32 has noise beyond, which would be fitted."""
    X = rng.standard_normal((100, 2)).astype(np.float32)
    y = np.sin(X[:, 0]).astype(np.float64)
    K = X @ X.T
    with pytest.warns(FewerFeaturesWarning):
        model = KernelPLS(10, kernel="precomputed").fit(form(K), y)
    assert model.n_components_ == 2
    whole = np.round(4 * X).astype(np.float64)
    with pytest.warns(FewerFeaturesWarning):
        assert KernelPLS(10, kernel="precomputed").fit(whole @ whole.T, y).n_components_ == 2
