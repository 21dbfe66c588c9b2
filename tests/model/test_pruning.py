"""Fewer landmarks for the features of a fitted model."""

import numpy as np
import pytest
from configured import fit_with
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import CountingKernel
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from kernelsieve import KernelPCA, KernelPLS, SparseKernelPLS, SparseMaximalAlignment
from kernelsieve.exceptions import FewerFeaturesWarning, InvalidDataError, InvalidParameterError

GAMMA = 0.02


@pytest.fixture(scope="module")
def model(diabetes):
    X, y = diabetes
    return KernelPLS(5, candidates=120, gamma=GAMMA, random_state=0).fit(X, y)


def lost(model, pruned, X):
    F, G = model.transform(X), pruned.transform(X)
    return float(np.mean(((F - G) ** 2).mean(axis=0) / F.var(axis=0)))


def naive_order(K, F, k):
    """Forward selection of columns that explain all standardised features best."""
    targets = (F - F.mean(axis=0)) / F.std(axis=0)
    chosen, design = [], np.ones((len(K), 1))
    for _ in range(k):
        errors = np.full(K.shape[1], np.inf)
        for j in set(range(K.shape[1])) - set(chosen):
            A = np.column_stack([design, K[:, j]])
            errors[j] = ((targets - A @ np.linalg.lstsq(A, targets, rcond=None)[0]) ** 2).sum()
        chosen.append(int(errors.argmin()))
        design = np.column_stack([design, K[:, chosen[-1]]])
    fitted = design @ np.linalg.lstsq(design, F, rcond=None)[0]
    return chosen, fitted


def test_it_is_forward_selection_with_the_features_as_targets(model, diabetes):
    X = diabetes[0]
    pruned = model.prune(X, 8)
    chosen, fitted = naive_order(rbf_kernel(X, model.landmarks_, gamma=GAMMA), model.transform(X), 8)
    assert_array_equal(pruned.landmark_indices_, model.landmark_indices_[chosen])
    assert_array_equal(pruned.landmarks_, X[pruned.landmark_indices_])
    assert_allclose(pruned.transform(X), fitted, atol=1e-8)


@pytest.mark.parametrize("tol", [0.3, 0.05, 0.001])
def test_no_more_is_lost_than_allowed_and_no_landmark_too_many(tol, model, diabetes):
    X = diabetes[0]
    pruned = model.prune(X, tol=tol)
    size = len(pruned.landmarks_)
    assert lost(model, pruned, X) <= tol * (1 + 1e-8)
    assert size < 120
    assert lost(model, model.prune(X, size - 1), X) > tol


def test_predictions_and_prefixes_stay(model, diabetes):
    X, y = diabetes
    pruned = model.prune(X, tol=1e-6)
    for j in (1, 3, 5):
        assert_allclose(pruned.predict(X, j), model.predict(X, j), atol=0.5)
        assert_allclose(pruned.transform(X, j), pruned.transform(X)[:, :j], atol=1e-12)
    assert abs(pruned.score(X, y) - model.score(X, y)) < 1e-3
    assert len(model.landmarks_) == 120  # it was a copy that changed


def test_a_new_row_costs_the_landmarks_that_are_left(diabetes):
    X, y = diabetes
    kernel = CountingKernel()
    model = KernelPLS(5, kernel=kernel, candidates=60, random_state=0).fit(X, y)
    pruned = model.prune(X, 7)
    kernel.evaluations = 0
    pruned.predict(X)
    assert kernel.evaluations == 7 * len(X)


def test_all_rows_as_landmarks(diabetes):
    X, y = diabetes
    for estimator in (KernelPCA(4, gamma=GAMMA), SparseKernelPLS(4, gamma=GAMMA, nu=0.2)):
        model = estimator.fit(X, y)
        assert lost(model, model.prune(X, tol=0.02), X) <= 0.02


def test_precomputed_and_sparse_and_weighted(diabetes):
    X, y = diabetes
    K = rbf_kernel(X, gamma=GAMMA)
    weight = np.repeat([1.0, 2.0], len(X) // 2)
    model = KernelPLS(4, gamma=GAMMA, candidates="all").fit(X, y)
    pruned = model.prune(X, 10, sample_weight=weight)
    columns = KernelPLS(4, kernel="precomputed").fit(K, y).prune(K, 10, sample_weight=weight)
    assert_array_equal(columns.landmark_indices_, pruned.landmark_indices_)
    assert_allclose(columns.transform(K), pruned.transform(X), atol=1e-8)
    assert_allclose(columns.transform(K[:, columns.landmark_indices_]), pruned.transform(X), atol=1e-8)
    repeated = model.prune(np.vstack([X, X[len(X) // 2 :]]), 10)
    assert_allclose(repeated.transform(X), pruned.transform(X), atol=1e-6)
    rows = sparse.csr_matrix(X)
    assert_allclose(model.prune(rows, 10).transform(rows), model.prune(X, 10).transform(X), atol=1e-7)


@given(size=st.integers(1, 12), seed=st.integers(0, 100))
@settings(max_examples=15, deadline=None)
def test_more_landmarks_never_lose_more(size, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 3))
    model = KernelPCA(3, candidates=15, random_state=seed).fit(X)
    few, more = (lost(model, model.prune(X, m), X) for m in (size, size + 1))
    assert more <= few + 1e-10


def test_one_landmark_a_feature_is_kept_as_it_is(diabetes):
    X, y = diabetes
    model = SparseMaximalAlignment(6, gamma=GAMMA).fit(X, y)
    pruned = model.prune(X, 6)
    assert_allclose(pruned.transform(X), model.transform(X), atol=1e-8)


def test_what_is_refused(model, diabetes):
    X = diabetes[0]
    for n_landmarks in (0, 121, 2.5):
        with pytest.raises(InvalidParameterError, match=r"n_landmarks=.*120 landmarks"):
            model.prune(X, n_landmarks)
    with pytest.raises(InvalidParameterError, match=r"tol=1\.5"):
        model.prune(X, tol=1.5)
    with pytest.raises(InvalidDataError, match="1 samples that count"):
        model.prune(X[:1])
    with pytest.raises(ValueError, match="features"):
        model.prune(X[:, :3])


@pytest.mark.parametrize("n_landmarks", [50, None])
def test_too_few_rows_are_told(n_landmarks, model, diabetes):
    with pytest.warns(FewerFeaturesWarning, match="4 landmarks were kept: on the 5 rows"):
        model.prune(diabetes[0][:5], n_landmarks)


def test_landmarks_that_are_not_needed_are_told(diabetes):
    X = diabetes[0]
    model = KernelPCA(5, gamma=1e-6).fit(X)
    with pytest.warns(FewerFeaturesWarning, match="of the 300 asked for: they give the features"):
        pruned = model.prune(X, 300)
    assert lost(model, pruned, X) < 1e-15


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_rows", [5, 300])
def test_rows_on_which_features_are_constant_are_refused(n_rows, dtype, diabetes):
    X, y = diabetes
    model = KernelPLS(5, candidates=120, gamma=GAMMA, random_state=0)
    fit_with({"dtype": dtype}, model, X, y)
    with pytest.raises(InvalidDataError, match=r"Feature 0 .* is constant on the rows of X"):
        model.prune(np.repeat(X[:1], n_rows, axis=0), 50)
