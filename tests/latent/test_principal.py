"""Kernel PCA against scikit-learn's, the pool against exact analysis, and inverse transforms."""

import numpy as np
import pytest
from configured import fit_with
from naive import CountingKernel
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.decomposition import KernelPCA as Peer
from sklearn.metrics.pairwise import rbf_kernel

from kernelsieve import AcceleratedKernelFeatureAnalysis, KernelPCA
from kernelsieve.exceptions import (
    FewerFeaturesWarning,
    InvalidDataError,
    InvalidParameterError,
    KernelError,
)
from kernelsieve.latent.principal import krylov_eigenpairs


def same_up_to_sign(features, expected, atol):
    signs = np.sign((features * expected).sum(axis=0))
    assert_allclose(features, expected * signs, atol=atol)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", "cosine", "precomputed"])
@pytest.mark.parametrize("solver", ["dense", "krylov"])
@pytest.mark.parametrize("max_memory", [2**30, 0])
def test_it_is_scikit_learns(kernel, solver, max_memory, cancer):
    X = cancer[0]
    train, new = X[:400], X[400:]
    parameters = {"kernel": kernel, "gamma": 0.01, "degree": 2, "coef0": 1}
    if kernel == "precomputed":
        train, new = rbf_kernel(X[:400], gamma=0.01), rbf_kernel(X[400:], X[:400], gamma=0.01)
    model = fit_with({"max_memory": max_memory}, KernelPCA(8, eigen_solver=solver, **parameters), train)
    peer = Peer(8, **parameters).fit(train)
    size = np.abs(peer.transform(train)).max()
    same_up_to_sign(model.transform(train) / size, peer.transform(train) / size, 1e-8)
    same_up_to_sign(model.transform(new) / size, peer.transform(new) / size, 1e-8)
    assert_allclose(model.criterion_path_, peer.eigenvalues_ / len(train), rtol=1e-9)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("solver", ["dense", "krylov"])
@pytest.mark.parametrize("max_memory", [2**30, 0])
def test_values_that_are_too_large_are_refused(center, solver, max_memory, cancer):
    model = KernelPCA(2, kernel="linear", center=center, eigen_solver=solver)
    with pytest.raises(KernelError, match="too large"):
        fit_with({"max_memory": max_memory}, model, 1e200 * cancer[0][:30])


def test_variances_and_errors_complete_each_other(cancer):
    X = cancer[0]
    for center in (True, False):
        model = KernelPCA(20, gamma=0.01, center=center).fit(X)
        errors = [model.reconstruction_error(X, n_components=j) for j in (1, 10, 20)]
        K = rbf_kernel(X, gamma=0.01)
        total = 1 - K.mean() if center else 1.0
        shares = np.cumsum(model.explained_variance_ratio_)[[0, 9, 19]]
        assert_allclose(errors, total * (1 - shares), rtol=1e-9)


def test_no_directions_leave_less(cancer):
    X = cancer[0]
    best = KernelPCA(10, gamma=0.01, center=False).fit(X).reconstruction_error(X)
    sparse_error = AcceleratedKernelFeatureAnalysis(10, gamma=0.01).fit(X).reconstruction_error(X)
    assert best < sparse_error


def test_a_pool_of_all_rows_is_exact(cancer):
    X = cancer[0][:300]
    for center in (True, False):
        exact = KernelPCA(6, gamma=0.01, center=center).fit(X)
        pooled = KernelPCA(6, gamma=0.01, center=center, candidates=X).fit(X)
        same_up_to_sign(pooled.transform(X), exact.transform(X), 1e-7)
        assert_allclose(pooled.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-6)
        assert_allclose(pooled.reconstruction_error(X), exact.reconstruction_error(X), rtol=1e-6)


def test_a_pool_equals_nystroem_kernel_pca(cancer, rng):
    X = cancer[0]
    pool = X[rng.choice(len(X), 40, replace=False)]
    model = KernelPCA(5, gamma=0.02, candidates=pool).fit(X)
    # naive: coordinates of all images in the span of the pool, then linear PCA
    values, vectors = np.linalg.eigh(rbf_kernel(pool, gamma=0.02))
    coordinates = rbf_kernel(X, pool, gamma=0.02) @ vectors / np.sqrt(values)
    coordinates -= coordinates.mean(axis=0)
    _, _, directions = np.linalg.svd(coordinates, full_matrices=False)
    same_up_to_sign(model.transform(X), coordinates @ directions[:5].T, 1e-8)


def test_pieces_of_any_size_are_one_pass(cancer):
    X = cancer[0][:150]
    whole = KernelPCA(6, gamma=0.01, candidates=X[:50]).fit(X)
    for size in (1, 7, 200):
        pieces = KernelPCA(6, gamma=0.01, candidates=X[:50])
        for start in range(0, len(X), size):
            pieces.partial_fit(X[start : start + size])
        assert_allclose(pieces.transform(X), whole.transform(X), atol=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_weights_count_rows(seed, cancer):
    X = cancer[0][:150]
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 4, len(X))
    repeated = np.repeat(X, weight, axis=0)
    for solver in ("dense", "krylov"):
        a = KernelPCA(5, gamma=0.01, eigen_solver=solver).fit(X, sample_weight=weight)
        b = KernelPCA(5, gamma=0.01, eigen_solver=solver).fit(repeated)
        assert_allclose(a.transform(X), b.transform(X), atol=1e-8)
        assert_allclose(a.explained_variance_ratio_, b.explained_variance_ratio_, rtol=1e-9)


def test_negative_eigenvalues_are_dropped_with_a_warning(rng):
    X = rng.standard_normal((40, 3))
    with pytest.warns(FewerFeaturesWarning, match="negative"):
        model = KernelPCA(40, kernel="sigmoid", gamma=2.0, coef0=-1.0).fit(X)
    assert model.n_components_ < 40
    assert (model.criterion_path_ > 0).all()
    assert np.isfinite(model.transform(X)).all()


def test_a_rank_below_k_gives_fewer_features(rng):
    X = rng.standard_normal((50, 3))
    with pytest.warns(FewerFeaturesWarning, match="3 of the 10"):
        model = KernelPCA(10, kernel="linear").fit(X)
    assert model.transform(X).shape == (50, 3)


def test_the_matrix_is_evaluated_once(cancer):
    kernel = CountingKernel(0.01)
    X = cancer[0]
    KernelPCA(5, kernel=kernel).fit(X)
    assert kernel.evaluations <= len(X) ** 2 + 1


@pytest.mark.parametrize("n_distinct", [3, 12, 200])
def test_krylov_eigenpairs_of_any_rank(n_distinct, rng):
    Q = np.linalg.qr(rng.standard_normal((200, 200)))[0]
    spectrum = np.concatenate([np.linspace(5, 1, n_distinct), np.zeros(200 - n_distinct)])
    S = (Q * spectrum) @ Q.T
    values, vectors = krylov_eigenpairs(S.dot, 200, 4, np.random.RandomState(0))
    assert_allclose(values, spectrum[:4], atol=1e-10)
    assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-10)


def test_inverse_transform_is_scikit_learns(cancer):
    X = cancer[0][:200]
    model = KernelPCA(6, gamma=0.02, fit_inverse_transform=True, alpha=0.5).fit(X)
    peer = Peer(6, kernel="rbf", gamma=0.02, fit_inverse_transform=True, alpha=0.5).fit(X)
    ours = model.inverse_transform(model.transform(X))
    assert_allclose(ours, peer.inverse_transform(peer.transform(X)), atol=1e-8)


@pytest.mark.parametrize(
    "estimator",
    [
        KernelPCA(20, fit_inverse_transform=True, alpha=1e-3),
        AcceleratedKernelFeatureAnalysis(20, fit_inverse_transform=True, alpha=1e-3),
        AcceleratedKernelFeatureAnalysis(
            20, fit_inverse_transform=True, alpha=1e-3, candidates=200, random_state=0
        ),
    ],
)
def test_inputs_come_back_the_better_the_more_features(estimator, digits):
    X = digits[0]
    model = estimator.fit(X)
    gaps = []
    for j in (2, 20):
        rebuilt = model.inverse_transform(model.transform(X, n_components=j))
        gaps.append(np.mean((rebuilt - X) ** 2))
    assert gaps[1] < 0.6 * gaps[0] < 0.6 * X.var(axis=0).mean()


def test_rows_in_pieces_can_be_rebuilt_from_the_pool(digits):
    X = digits[0]
    model = KernelPCA(10, candidates=X[:300], fit_inverse_transform=True, alpha=0.1)
    for start in range(0, 700, 100):
        model.partial_fit(X[start : start + 100])
    rebuilt = model.inverse_transform(model.transform(X))
    assert np.mean((rebuilt - X) ** 2) < X.var(axis=0).mean()


def test_what_cannot_be_inverted_is_refused(cancer):
    X = cancer[0][:60]
    with pytest.raises(InvalidParameterError, match="fit_inverse_transform=True"):
        KernelPCA(3).fit(X).inverse_transform(np.zeros((2, 3)))
    with pytest.raises(InvalidParameterError, match="precomputed"):
        KernelPCA(3, kernel="precomputed", fit_inverse_transform=True).fit(rbf_kernel(X))
    with pytest.raises(InvalidParameterError, match="sparse"):
        KernelPCA(3, fit_inverse_transform=True).fit(sparse.csr_matrix(X))
    model = KernelPCA(3, fit_inverse_transform=True).fit(X)
    with pytest.raises(InvalidDataError, match="4 features, this model 3"):
        model.inverse_transform(np.zeros((2, 4)))


def test_landmarks_are_all_rows_or_the_pool(cancer):
    X = cancer[0]
    assert_array_equal(KernelPCA(3).fit(X).landmark_indices_, np.arange(len(X)))
    assert len(KernelPCA(3, candidates=30, random_state=0).fit(X).landmarks_) == 30


def test_equal_eigenvalues_are_found(rng):
    """Samples far apart have one eigenvalue, of which LAPACK finds no subset."""
    model = KernelPCA(3, gamma=0.3).fit(1e200 * rng.standard_normal((72, 4)))
    np.testing.assert_allclose(model.criterion_path_, 1 / 72)
