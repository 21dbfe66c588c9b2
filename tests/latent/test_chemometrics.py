"""Scores, loadings of y and VIP against scikit-learn's partial least squares."""

import numpy as np
import pytest
from naive import CountingKernel
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.cross_decomposition import PLSRegression

from kernelsieve import KernelPLS, KernelPLSClassifier
from kernelsieve.exceptions import InvalidParameterError


@pytest.fixture(params=["one", "several"])
def targets(request, diabetes):
    X, y = diabetes
    return y if request.param == "one" else np.column_stack([y, 50 * X[:, 0] + y, 100 * X[:, 2] ** 2])


@pytest.fixture
def peer(targets, diabetes):
    return PLSRegression(5, scale=False, tol=1e-20, max_iter=20_000).fit(diabetes[0], targets)


def naive_vip(peer):
    """The formula as printed, component by component."""
    t, w, q = peer.x_scores_, peer.x_weights_, peer.y_loadings_
    d, k = w.shape
    explained = [float(q[:, a] @ q[:, a] * (t[:, a] @ t[:, a])) for a in range(k)]
    shares = [
        [explained[a] * (w[i, a] / np.linalg.norm(w[:, a])) ** 2 for a in range(k)] for i in range(d)
    ]
    return np.sqrt(d * np.sum(shares, axis=1) / np.sum(explained))


def test_scores_and_loadings_of_a_linear_kernel_are_those_of_scikit_learn(peer, targets, diabetes):
    model = KernelPLS(5, kernel="linear").fit(diabetes[0], targets)
    signs = np.sign((model.x_scores_ * peer.x_scores_).sum(axis=0))
    assert_allclose(model.x_scores_ * signs, peer.x_scores_, rtol=1e-6, atol=1e-8)
    assert_allclose(model.y_loadings_ * signs, peer.y_loadings_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_scores_are_the_components_of_the_training_samples(kernel, targets, diabetes, rng):
    X = diabetes[0]
    weight = rng.integers(0, 3, len(X))
    model = KernelPLS(4, kernel=kernel, gamma=0.02).fit(X, targets, sample_weight=weight)
    assert_allclose(model.x_scores_, model.transform(X[weight > 0]), atol=1e-9)
    assert_allclose(model.truncate(2).x_scores_, model.x_scores_[:, :2])
    gram = model.x_scores_.T @ (weight[weight > 0, None] * model.x_scores_)
    assert_allclose(gram, np.diag(np.diagonal(gram)), atol=1e-8 * gram.max())


def test_predictions_are_scores_times_loadings(targets, diabetes):
    X = diabetes[0]
    model = KernelPLS(4, gamma=0.02).fit(X, targets)
    expected = model.x_scores_ @ model.y_loadings_.T + targets.reshape(len(X), -1).mean(axis=0)
    assert_allclose(model.predict(X).reshape(expected.shape), expected, rtol=1e-8)


def test_kernel_evaluations_are_none_for_scores_and_one_block_for_q(diabetes):
    X, y = diabetes
    kernel = CountingKernel(0.02)
    model = KernelPLS(3, kernel=kernel).fit(X, y)
    before = kernel.evaluations
    assert model.x_scores_.shape == (len(X), 3)
    assert kernel.evaluations == before
    model.q_residuals(X[:10])  # features, mean and loadings from one block, and the diagonal
    assert kernel.evaluations <= before + 10 * len(X) + 10 * 10


def test_a_model_on_a_pool_says_where_scores_are(diabetes):
    X, y = diabetes
    model = KernelPLS(3, gamma=0.02, candidates=50, random_state=0).fit(X, y)
    assert not hasattr(model, "x_scores_")
    with pytest.raises(AttributeError, match=r"transform\(X\)"):
        model.x_scores_  # noqa: B018
    assert model.y_loadings_.shape == (1, 3)


def test_labels_have_loadings_unless_decided_by_means(cancer):
    X, y = cancer
    model = KernelPLSClassifier(3, gamma=0.01).fit(X, y)
    assert model.y_loadings_.shape == (2, 3)
    indicators = (y[:, None] == model.classes_).astype(float)
    T = model.x_scores_
    assert_allclose(model.y_loadings_, (indicators.T @ T) / (T**2).sum(axis=0), atol=1e-9)
    by_means = KernelPLSClassifier(3, gamma=0.01, decision="centroid").fit(X, y)
    with pytest.raises(AttributeError, match="argmax"):
        by_means.y_loadings_  # noqa: B018


def test_vip_is_the_formula(peer, targets, diabetes):
    X = diabetes[0]
    model = KernelPLS(7, kernel="linear").fit(X, targets)
    assert_allclose(model.vip_scores(5), naive_vip(peer), rtol=1e-6)
    assert_allclose((model.vip_scores() ** 2).mean(), 1)


def test_vip_of_sparse_input_and_of_a_pool_that_spans_everything(diabetes):
    X, y = diabetes
    expected = KernelPLS(3, kernel="linear").fit(X, y).vip_scores()
    assert_allclose(KernelPLS(3, kernel="linear").fit(sparse.csr_array(X), y).vip_scores(), expected)
    pool = KernelPLS(3, kernel="linear", candidates=X[:30]).fit(X, y)
    assert_allclose(pool.vip_scores(), expected, rtol=1e-7)


def test_vip_finds_the_features_that_matter(rng):
    X = rng.standard_normal((300, 8))
    y = 3 * X[:, 2] - 2 * X[:, 5] + 0.1 * rng.standard_normal(300)
    vip = KernelPLS(2, kernel="linear").fit(X, y).vip_scores()
    assert set(np.flatnonzero(vip > 1)) == {2, 5}


def test_vip_is_for_linear_kernels_alone(diabetes):
    X, y = diabetes
    with pytest.raises(InvalidParameterError, match="kernel='rbf'"):
        KernelPLS(2, gamma=0.02).fit(X, y).vip_scores()
    with pytest.raises(InvalidParameterError, match="kernel='precomputed'"):
        KernelPLS(2, kernel="precomputed").fit(X @ X.T, y).vip_scores()
