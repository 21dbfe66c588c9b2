"""What users of SMA and SMC hand in: pipelines, weights, kernel matrices, functions, rows in pieces."""

import pickle

import numpy as np
import pytest
from configured import fit_with
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from kernelsieve import (
    Candidates,
    KernelFeatureExtraction,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
)
from kernelsieve.kernels import RBF


def test_weights_are_routed_through_pipelines(diabetes):
    X, y = diabetes
    weight = np.linspace(0.5, 2, len(X))
    with config_context(enable_metadata_routing=True):
        sieve = SparseMaximalAlignment(5).set_fit_request(sample_weight=True)
        head = Ridge().set_fit_request(sample_weight=True)
        model = make_pipeline(sieve, head).fit(X, y, sample_weight=weight)
    direct = SparseMaximalAlignment(5).fit(X, y, sample_weight=weight)
    assert_allclose(model[0].transform(X), direct.transform(X))


def test_parameters_are_searched_by_scikit_learn(cancer):
    X, y = cancer
    model = make_pipeline(SparseMaximalAlignment(5), LogisticRegression())
    grid = {
        "sparsemaximalalignment__n_components": [2, 8],
        "sparsemaximalalignment__gamma": [0.01, 0.1],
    }
    assert GridSearchCV(model, grid, cv=3).fit(X, y).best_score_ > 0.9


@pytest.mark.parametrize("method", [SparseMaximalAlignment, SparseMaximalCovariance])
def test_precomputed_kernels_equal_direct_ones(method, diabetes):
    X, y = diabetes
    K = rbf_kernel(X, gamma=0.1)
    new = rbf_kernel(X[:50] + 0.1, X, gamma=0.1)
    exact = method(8, gamma=0.1).fit(X, y)
    expected = exact.transform(X[:50] + 0.1)
    whole = method(8, kernel="precomputed").fit(K, y)
    assert_array_equal(whole.landmark_indices_, exact.landmark_indices_)
    assert_allclose(whole.transform(new), expected, atol=1e-8)
    assert_allclose(whole.transform(new[:, whole.landmarks_]), expected, atol=1e-8)
    rows = np.arange(0, 400, 10)
    pooled = method(8, gamma=0.1, candidates=X[rows]).fit(X, y)
    for matrix, test in ((K, new), (K[:, rows], new[:, rows])):
        columns = method(8, kernel="precomputed", candidates=rows).fit(matrix, y)
        assert_array_equal(columns.landmark_indices_, rows[pooled.landmark_indices_])
        assert_allclose(columns.transform(test), pooled.transform(X[:50] + 0.1), atol=1e-8)


def test_precomputed_kernels_with_rows_of_no_weight(diabetes):
    X, y = diabetes[0][:80], diabetes[1][:80]
    weight = np.arange(80) % 3
    kept = np.flatnonzero(weight)
    K = rbf_kernel(X, gamma=0.1)
    a = SparseMaximalAlignment(5, kernel="precomputed").fit(K, y, sample_weight=weight)
    b = SparseMaximalAlignment(5, gamma=0.1).fit(X[kept], y[kept], sample_weight=weight[kept])
    assert_array_equal(a.landmark_indices_, kept[b.landmark_indices_])
    assert_allclose(a.transform(K), b.transform(X), atol=1e-8)


@pytest.mark.parametrize(
    "kernel", [lambda X, Z: X @ Z.T, lambda x, z: float(x @ z)], ids=["block", "pair"]
)
def test_kernel_callables_equal_named_kernels(kernel, diabetes):
    X, y = diabetes[0][:100], diabetes[1][:100]
    a = SparseMaximalCovariance(5, kernel=kernel).fit(X, y)
    b = SparseMaximalCovariance(5, kernel="linear").fit(X, y)
    assert_array_equal(a.landmark_indices_, b.landmark_indices_)
    assert_allclose(a.transform(X), b.transform(X), atol=1e-8)


def test_partial_fit_goes_on_after_use(diabetes):
    X, y = diabetes
    model = SparseMaximalAlignment(5, candidates=X[:50], gamma=0.1).partial_fit(X[:200], y[:200])
    halfway = model.transform(X)
    model.partial_fit(X[200:], y[200:])
    whole = SparseMaximalAlignment(5, candidates=X[:50], gamma=0.1).fit(X, y)
    assert_allclose(model.transform(X), whole.transform(X), atol=1e-8)
    assert np.abs(halfway - model.transform(X)).max() > 1e-3
    twin = pickle.loads(pickle.dumps(model)).partial_fit(X[:10], y[:10])
    assert twin.n_components_ == 5


def test_labels_in_pieces(cancer):
    X, y = cancer
    order = np.argsort(y, kind="stable")  # the first pieces have one class only
    labels = np.array(["b", "m"])[y]
    model = SparseMaximalAlignment(5, candidates=X[:60], gamma=0.03)
    for start in range(0, len(X), 100):
        rows = order[start : start + 100]
        model.partial_fit(X[rows], labels[rows], classes=["b", "m"])
    whole = SparseMaximalAlignment(5, candidates=X[:60], gamma=0.03).fit(X, labels)
    assert model.classes_.tolist() == ["b", "m"]
    assert_allclose(model.transform(X), whole.transform(X), atol=1e-8)


def test_verbose_says_what_is_done(cancer, capsys):
    X, y = cancer
    SparseMaximalAlignment(3, candidates=50, verbose=1).fit(X, y)
    assert "3 features, 3 landmarks" in capsys.readouterr().out


def test_rows_of_no_weight_in_a_given_pool_of_a_loss(cancer):
    X, y = cancer
    weight = (np.arange(len(X)) % 4).astype(float)
    kept = np.flatnonzero(weight)
    model = KernelFeatureExtraction("kblf", 3, gamma=0.03, candidates=X[:40], target="continuous")
    a = clone(model).fit(X, y, sample_weight=weight).transform(X)
    b = clone(model).fit(X[kept], y[kept], sample_weight=weight[kept]).transform(X)
    assert_allclose(a, b, atol=1e-8)


def test_precomputed_values_in_every_accepted_width(diabetes):
    X, y = diabetes
    K = rbf_kernel(X, gamma=0.1)
    model = SparseMaximalAlignment(5, kernel="precomputed").fit(K, y)
    landmarks = K[:, model.landmark_indices_]
    whole = model.transform(K)
    assert_allclose(model.transform(landmarks), whole)
    assert_allclose(model.projector()(landmarks), whole)
    assert_allclose(model.projector()(K), whole)
    for values in (K, landmarks, landmarks[:, :3]):
        assert_allclose(model.transform(values, n_components=3), whole[:, :3])


def test_precomputed_values_of_all_rows_are_in_the_order_of_training(diabetes):
    """As many landmarks as columns: the columns are still those of the training matrix."""
    X, y = diabetes[0][:20], diabetes[1][:20]
    K = rbf_kernel(X, gamma=0.1)
    direct = SparseMaximalAlignment(20, gamma=0.1, center=False).fit(X, y)
    model = SparseMaximalAlignment(20, kernel="precomputed", center=False).fit(K, y)
    assert_allclose(model.transform(K), direct.transform(X), atol=1e-6)
    order = np.random.default_rng(0).permutation(20)
    permuted = SparseMaximalAlignment(5, kernel="precomputed", candidates=order).fit(K, y)
    expected = SparseMaximalAlignment(5, gamma=0.1, candidates=X[order]).fit(X, y)
    assert_array_equal(permuted.landmark_indices_, order[expected.landmark_indices_])
    assert_allclose(permuted.explained_variance_ratio_, expected.explained_variance_ratio_)


@pytest.mark.parametrize("pool", ["random", "screen", "kmeans", "rpcholesky"])
def test_precomputed_kernels_with_a_drawn_pool(pool, diabetes):
    X, y = diabetes
    K = rbf_kernel(X, gamma=0.1)
    parameters = {"candidates": Candidates(50, how=pool), "random_state": 0}
    model = SparseMaximalCovariance(5, kernel="precomputed", **parameters).fit(K, y)
    assert_array_equal(model.landmarks_, model.landmark_indices_)
    if pool != "kmeans":  # which clusters the rows of K themselves
        direct = SparseMaximalCovariance(5, gamma=0.1, **parameters).fit(X, y)
        assert_array_equal(model.landmark_indices_, direct.landmark_indices_)
        assert_allclose(model.transform(K), direct.transform(X), atol=1e-8)


@pytest.mark.parametrize("method", [SparseMaximalAlignment, SparseMaximalCovariance])
def test_explained_variance_is_one_number_for_all_ways_to_fit(method, diabetes):
    X, y = diabetes
    exact = method(6, gamma=0.1).fit(X, y).explained_variance_ratio_
    for candidates, config in (
        (X, {}),
        (Candidates(len(X), resample=True), {}),
        ("all", {"max_memory": 0}),
    ):
        other = fit_with(config, method(6, gamma=0.1, candidates=candidates), X, y)
        assert_allclose(other.explained_variance_ratio_, exact, rtol=1e-6)
    pool = X[:100]
    long = method(20, gamma=0.1, candidates=pool).fit(X, y).explained_variance_ratio_
    assert_allclose(method(3, gamma=0.1, candidates=pool).fit(X, y).explained_variance_ratio_, long[:3])


@pytest.mark.parametrize("gamma", [1e8, 1e17])
def test_a_narrow_kernel_keeps_its_ones(gamma, diabetes):
    """Norms cancel to a small distance of either sign, which must not be amplified by a large gamma."""
    X, y = diabetes
    K = RBF(gamma).block(X, X)
    assert_allclose(np.diagonal(K), 1)
    sieve = SparseMaximalAlignment(5, gamma=gamma, scale="unit_variance")
    features = sieve.fit(X, y).transform(X)
    assert_allclose(features.T @ features / len(X), np.eye(5), atol=1e-10)


def test_kernel_objects_are_kernels(diabetes):
    X, y = diabetes
    a = SparseMaximalAlignment(4, kernel=RBF(0.1)).fit(X, y)
    assert_array_equal(a.transform(X), SparseMaximalAlignment(4, gamma=0.1).fit(X, y).transform(X))


def test_labels_of_an_earlier_fit_are_forgotten(cancer):
    X, y = cancer
    model = SparseMaximalAlignment(3).fit(X, y)
    assert model.classes_.tolist() == [0, 1]
    assert not hasattr(model.fit(X, X[:, 0]), "classes_")


def test_a_shorter_copy_does_not_share_the_rows_to_come(diabetes):
    X, y = diabetes
    model = SparseMaximalAlignment(4, candidates=X[:50], gamma=0.1).partial_fit(X[:200], y[:200])
    before = model.transform(X)
    model.truncate(2).partial_fit(X[200:], y[200:])
    twin = SparseMaximalAlignment(4, candidates=X[:50], gamma=0.1).partial_fit(X[:200], y[:200])
    assert_array_equal(model.transform(X), before)
    assert_allclose(
        model.partial_fit(X[:9], y[:9]).transform(X), twin.partial_fit(X[:9], y[:9]).transform(X)
    )


def test_triples_are_searched_in_a_pool_of_their_own_size(cancer):
    X, y = cancer
    model = SparseMaximalAlignment(1, n_nonzero=3, random_state=0).fit(X, y)
    assert len(model.landmarks_) == 3
    with pytest.raises(ValueError, match="subsets"):
        SparseMaximalAlignment(1, n_nonzero=3, candidates="all").fit(X, y)


def test_pieces_of_no_weight_add_nothing(diabetes):
    X, y = diabetes
    model = SparseMaximalAlignment(4, candidates=X[:50], gamma=0.1)
    weight = (np.arange(len(X)) % 2).astype(float)
    for row in range(len(X)):
        model.partial_fit(X[[row]], y[[row]], sample_weight=weight[[row]])
    kept = weight > 0
    whole = SparseMaximalAlignment(4, candidates=X[:50], gamma=0.1).fit(X[kept], y[kept])
    assert_allclose(model.transform(X), whole.transform(X), atol=1e-8)


def test_boosted_features_of_two_labels(cancer):
    X, y = cancer
    labels = KernelFeatureExtraction("kblf", 3).fit(X, y)
    numbers = KernelFeatureExtraction("kblf", 3).fit(X, y.astype(float))
    assert_allclose(labels.transform(X), numbers.transform(X), atol=1e-8)
