"""Reduced kernel OPLS against its eigenproblem, written down as it stands, and least squares."""

import numpy as np
import pytest
from configured import fit_with
from naive import CountingKernel, centred, up_to_sign
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel

from kernelsieve import Candidates, FeatureExtraction, KernelFeatureExtraction, ReducedKernelOPLS
from kernelsieve.exceptions import FewerFeaturesWarning

GAMMA = 0.05


@pytest.fixture
def several(diabetes):
    """Five targets of rank four, in units of their own."""
    X, y = diabetes
    Y = np.column_stack([y, np.sin(X[:, 0]), X[:, 1] * X[:, 2], np.exp(X[:, 3] / 3), X[:, 1] * X[:, 2]])
    Y[:, 4] += 3 * Y[:, 1]
    return X, Y


def columns_of(X, points, center=True):
    K = rbf_kernel(X, points, gamma=GAMMA)
    return centred(K) if center else K


def eigenproblem(K, Y, regularization):
    """K_xy K_xy' b = lambda (K_xx + delta I) b, scaled to b'(K_xx + delta I) b = 1."""
    Kxx, Kxy = K.T @ K, K.T @ Y
    delta = regularization * np.trace(Kxx) / len(Kxx)
    values, vectors = eigh(Kxy @ Kxy.T, Kxx + delta * np.eye(len(Kxx)))
    rank = np.linalg.matrix_rank(Y)
    return values[::-1][:rank], vectors[:, ::-1][:, :rank]


def deflated(K, Y, regularization, k):
    """The same by deflation: the best direction, then K_xy loses what it explains."""
    Kxx, Kxy = K.T @ K, K.T @ Y
    Kxx += regularization * np.trace(Kxx) / len(Kxx) * np.eye(len(Kxx))
    directions = []
    for _ in range(k):
        b = eigh(Kxy @ Kxy.T, Kxx)[1][:, -1]
        Kxy = Kxy - Kxx @ np.outer(b, b @ Kxy)
        directions.append(b)
    return np.column_stack(directions)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("naive", [lambda *a: eigenproblem(*a)[1], lambda *a: deflated(*a, 4)])
def test_it_solves_the_eigenproblem(center, naive, several):
    X, Y = several
    model = ReducedKernelOPLS(n_landmarks=X[:40], gamma=GAMMA, center=center, regularization=1e-12).fit(
        X, Y
    )
    K = columns_of(X, X[:40], center)
    B = naive(K, centred(Y) if center else Y, 1e-12)
    assert_allclose(B.T @ K.T @ K @ B, np.eye(4), atol=1e-6)
    new = rbf_kernel(X + 0.3, X[:40], gamma=GAMMA)
    means = rbf_kernel(X, X[:40], gamma=GAMMA).mean(axis=0) if center else 0
    for rows, values in ((X, K), (X + 0.3, new - means)):
        expected = np.sqrt(len(X)) * values @ B
        assert_allclose(up_to_sign(model.transform(rows), expected), expected, atol=1e-6)
    assert model.n_components_ == 4


@pytest.mark.parametrize("regularization", [0, 1e-6, 0.1])
def test_any_ridge(regularization, several):
    """With a ridge K B is not quite orthonormal: the features are, and span the same."""
    X, Y = several
    model = ReducedKernelOPLS(n_landmarks=X[:30], gamma=GAMMA, regularization=regularization)
    features = model.fit(X, Y).transform(X) / np.sqrt(len(X))
    B = eigenproblem(columns_of(X, X[:30]), centred(Y), regularization)[1]
    Q = np.linalg.qr(columns_of(X, X[:30]) @ B)[0]
    assert_allclose(features, Q * np.sign((Q * features).sum(axis=0)), atol=1e-7)
    assert_allclose(features.T @ features, np.eye(4), atol=1e-12)


def test_shares_are_eigenvalues(several):
    X, Y = several
    Y = Y / Y.std(axis=0)
    model = ReducedKernelOPLS(n_landmarks=X[:40], gamma=GAMMA, regularization=1e-12).fit(X, Y)
    values, _ = eigenproblem(columns_of(X, X[:40]), centred(Y), 1e-12)
    assert_allclose(model.criterion_path_, values / (centred(Y) ** 2).sum(), rtol=1e-8)
    assert_allclose(model.explained_target_ratio_, model.criterion_path_)
    assert (np.diff(model.criterion_path_) < 0).all()


@pytest.mark.parametrize("targets", [1, 5])
def test_least_squares_on_the_features_is_least_squares_on_the_columns(targets, several):
    X, Y = several
    Y = Y[:, :targets]
    model = ReducedKernelOPLS(n_landmarks=X[:40], gamma=GAMMA, regularization=0).fit(X, Y)
    features, K = model.transform(X), rbf_kernel(X, X[:40], gamma=GAMMA)
    fitted = LinearRegression().fit(features, Y).predict(features)
    assert_allclose(fitted, LinearRegression().fit(K, Y).predict(K), atol=1e-8)
    if targets == 1:  # the single feature is the fit
        assert_allclose(np.corrcoef(features[:, 0], fitted[:, 0])[0, 1], 1)


def test_ridge_regression_is_a_combination_of_the_features(several):
    X, Y = several
    model = ReducedKernelOPLS(n_landmarks=X[:40], gamma=GAMMA, regularization=0.01).fit(X, Y)
    K = columns_of(X, X[:40])
    ridge = Ridge(alpha=0.01 * (K**2).sum() / 40, fit_intercept=False)
    fitted = ridge.fit(K, centred(Y)).predict(K)
    features = model.transform(X)
    assert_allclose(LinearRegression().fit(features, fitted).predict(features), fitted, atol=1e-9)


def test_classes_have_one_feature_less(digits):
    X, y = digits
    model = ReducedKernelOPLS(n_landmarks=150, random_state=0).fit(X, y)
    assert model.n_components_ == 9
    assert model.classes_.tolist() == list(range(10))
    named = ReducedKernelOPLS(n_landmarks=150, random_state=0).fit(X, np.array(list("abcdefghij"))[y])
    assert_array_equal(named.transform(X), model.transform(X))
    indicators = ReducedKernelOPLS(n_landmarks=150, random_state=0).fit(X, np.eye(10)[y])
    assert_allclose(indicators.transform(X), model.transform(X), atol=1e-8)
    assert len(ReducedKernelOPLS(n_landmarks=50, random_state=0).fit(X, y > 4).criterion_path_) == 1


def test_more_features_than_targets_are_refused_with_a_warning(diabetes):
    X, y = diabetes
    with pytest.warns(FewerFeaturesWarning, match="1 of the 3 .* independent target"):
        ReducedKernelOPLS(3, random_state=0).fit(X, y)


def test_landmarks_by_themselves(several):
    X, Y = several
    assert len(ReducedKernelOPLS(random_state=0).fit(X, Y).landmarks_) == 100
    assert len(ReducedKernelOPLS(random_state=0).fit(X[:30], Y[:30]).landmarks_) == 30


def test_fewer_landmarks_than_targets(several):
    X, Y = several
    model = ReducedKernelOPLS(n_landmarks=X[:2], gamma=GAMMA).fit(X, Y)
    assert model.n_components_ == 2


@pytest.mark.parametrize("size", [1, 50, 120])
def test_pieces_are_one_fit(size, several):
    X, Y = (array[:120] for array in several)
    parameters = {"n_landmarks": X[:60], "gamma": 0.01}
    whole = ReducedKernelOPLS(**parameters).fit(X, Y).transform(X)
    starts = range(0, len(X), size)
    pieces = ReducedKernelOPLS(**parameters)
    for i in starts:
        pieces.partial_fit(X[i : i + size], Y[i : i + size])
    batches = [(X[i : i + size], Y[i : i + size]) for i in starts]
    listed = ReducedKernelOPLS(**parameters).fit_batches(batches)
    once = ReducedKernelOPLS(**parameters).fit_batches(iter(batches))
    for model in (pieces, listed, once):
        assert_allclose(model.transform(X), whole, atol=1e-8)


def test_a_number_of_landmarks_is_drawn_from_the_first_piece(several):
    X, Y = several
    model = ReducedKernelOPLS(n_landmarks=50, gamma=GAMMA, random_state=0)
    model.partial_fit(X[:100], Y[:100]).partial_fit(X[100:], Y[100:])
    given = ReducedKernelOPLS(n_landmarks=X[model.landmark_indices_], gamma=GAMMA).fit(X, Y)
    assert model.landmark_indices_.max() < 100
    assert_allclose(model.transform(X), given.transform(X), atol=1e-8)
    with pytest.raises(ValueError, match="n_landmarks=50 are drawn from the first batch, which has 20"):
        ReducedKernelOPLS(n_landmarks=50).partial_fit(X[:20], Y[:20])


def test_whole_weights_are_repeated_rows(several, rng):
    X, Y = several[0][:150], several[1][:150]
    weight = rng.integers(0, 4, size=150)
    repeated = np.repeat(np.arange(150), weight)
    make = lambda: ReducedKernelOPLS(n_landmarks=X[:30], gamma=GAMMA)  # noqa: E731
    a = make().fit(X, Y, sample_weight=weight)
    b = make().fit(X[repeated], Y[repeated])
    assert_allclose(a.transform(X), b.transform(X), atol=1e-8)
    assert_allclose(a.explained_variance_ratio_, b.explained_variance_ratio_, rtol=1e-8)


def test_a_wide_kernel_needs_its_digits(several):
    """Columns that are nearly dependent: inner products are not enough, and are not used."""
    X, Y = several
    parameters = {"n_landmarks": X[:80], "gamma": 1e-4}
    auto, safe, fast = (
        fit_with({"precision": precision}, ReducedKernelOPLS(**parameters), X, Y).transform(X)
        for precision in ("auto", "safe", "fast")
    )
    assert_array_equal(auto, safe)
    blocks = fit_with({"block_size": 37}, ReducedKernelOPLS(n_jobs=1, **parameters), X, Y).transform(X)
    assert_allclose(blocks, auto, atol=1e-7)
    assert_allclose(fast.T @ fast / len(X), np.eye(4), atol=1e-8)


@pytest.mark.parametrize("pool", ["random", "kmeans", "rpcholesky"])
def test_subsets_and_what_they_cost(pool, several):
    X, Y = several
    kernel = CountingKernel(GAMMA)
    model = ReducedKernelOPLS(kernel=kernel, n_landmarks=Candidates(30, how=pool), random_state=0).fit(
        X, Y
    )
    assert len(np.unique(model.landmark_indices_)) == 30
    assert_array_equal(model.landmarks_, X[model.landmark_indices_])
    if pool != "rpcholesky":  # which evaluates the kernel to draw
        # two passes, the subset with itself, and what tells a vectorised kernel from a pairwise one
        assert kernel.evaluations <= 2 * 30 * len(X) + 30 * 30 + 100


def test_precomputed_columns(several):
    X, Y = several
    rows = np.arange(0, 400, 10)
    direct = ReducedKernelOPLS(n_landmarks=X[rows], gamma=GAMMA).fit(X, Y)
    K = rbf_kernel(X, gamma=GAMMA)
    for values in (K, K[:, rows]):
        model = ReducedKernelOPLS(kernel="precomputed", n_landmarks=rows).fit(values, Y)
        assert_allclose(model.transform(values), direct.transform(X), atol=1e-8)
        assert_array_equal(model.landmark_indices_, rows)


def test_the_criterion_by_name(several):
    X, Y = several
    pooled = KernelFeatureExtraction("kopls", candidates=X[:40], gamma=GAMMA).fit(X, Y)
    reduced = ReducedKernelOPLS(n_landmarks=X[:40], gamma=GAMMA).fit(X, Y)
    assert_allclose(pooled.transform(X), reduced.transform(X), atol=1e-10)
    everyone = KernelFeatureExtraction("kopls", gamma=GAMMA).fit(X[:60], Y[:60])
    pool = ReducedKernelOPLS(n_landmarks=X[:60], gamma=GAMMA).fit(X[:60], Y[:60])
    assert_allclose(everyone.transform(X), pool.transform(X), atol=1e-5)
    primal = FeatureExtraction("opls").fit(X, Y)
    fitted = LinearRegression().fit(primal.transform(X), Y).predict(primal.transform(X))
    assert_allclose(fitted, LinearRegression().fit(X, Y).predict(X), rtol=1e-5, atol=1e-6)


def test_the_first_features_are_reduced_rank_regression(several):
    """The first j features give the best prediction of rank j: Eckart and Young on the full fit."""
    X, Y = several
    Y = centred(Y / Y.std(axis=0))
    model = ReducedKernelOPLS(n_landmarks=X[:40], gamma=GAMMA, regularization=0).fit(X, Y)
    K = columns_of(X, X[:40])
    full = K @ np.linalg.lstsq(K, Y, rcond=None)[0]
    left, singular, right = np.linalg.svd(full, full_matrices=False)
    for j in (1, 2, 3):
        features = model.transform(X, n_components=j)
        fitted = LinearRegression().fit(features, Y).predict(features)
        assert_allclose(fitted, (left[:, :j] * singular[:j]) @ right[:j], atol=1e-8)
