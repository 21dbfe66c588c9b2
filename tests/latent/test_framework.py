"""The framework specialises to PCA, PLS, kernel PCA, kernel PLS and boosted latent features."""

import numpy as np
import pytest
from naive import up_to_sign
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA, KernelPCA
from sklearn.linear_model import LinearRegression
from sklearn.metrics.pairwise import rbf_kernel

from kernelsieve import FeatureExtraction, KernelFeatureExtraction, SparseMaximalAlignment
from kernelsieve.deflation import Criterion, Direction, LossGradient, Needs, ScoringCriterion
from kernelsieve.exceptions import InvalidParameterError


def assert_same_up_to_sign(found, expected, rtol=1e-8):
    scale = np.abs(expected).max()
    assert_allclose(up_to_sign(found, expected), expected, atol=rtol * scale)


@pytest.mark.parametrize("rows", [442, 8])  # more rows than inputs, and fewer
def test_pca(rows, diabetes):
    X = diabetes[0][:rows]
    ours = FeatureExtraction("pca", 5).fit(X)
    theirs = PCA(5).fit(X)
    assert_same_up_to_sign(ours.transform(diabetes[0]), theirs.transform(diabetes[0]))
    assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
    assert_allclose(ours.criterion_path_, theirs.explained_variance_ * (rows - 1) / rows)


@pytest.mark.parametrize("targets", [1, 3])
def test_pls(targets, diabetes):
    X, y = diabetes
    Y = np.column_stack([y / y.std(), X[:, 0] ** 2, np.abs(X[:, 1])])[:, :targets]
    theirs = PLSRegression(5, scale=False, tol=1e-15, max_iter=10_000).fit(X, Y)
    ours = FeatureExtraction("pls", 5).fit(X, Y)
    assert_same_up_to_sign(ours.transform(X), theirs.transform(X), rtol=1e-6)
    fitted = LinearRegression().fit(ours.transform(X), Y)
    expected = theirs.predict(X).reshape(len(X), -1)
    assert_allclose(fitted.predict(ours.transform(X)), expected, atol=1e-7)


@pytest.mark.parametrize("candidates", ["all", "pool"])
@pytest.mark.parametrize("targets", [1, 3])
def test_kernel_pls_with_a_linear_kernel_is_pls(candidates, targets, diabetes):
    X, y = diabetes
    Y = np.column_stack([y / y.std(), X[:, 0] ** 2, np.abs(X[:, 1])])[:, :targets]
    theirs = PLSRegression(5, scale=False, tol=1e-15, max_iter=10_000).fit(X, Y)
    given = "all" if candidates == "all" else X[:60]  # 60 points span the 10 inputs
    ours = KernelFeatureExtraction("kpls", 5, kernel="linear", candidates=given).fit(X, Y)
    assert_same_up_to_sign(ours.transform(X), theirs.transform(X), rtol=1e-6)


def test_kernel_pls_equals_the_two_sided_algorithm(diabetes):
    """Rosipal and Trejo deflate K on both sides; left deflation gives the same features."""
    X, y = diabetes
    n = len(X)
    H = np.eye(n) - 1 / n
    K = H @ rbf_kernel(X, gamma=0.1) @ H
    r = H @ y
    features = []
    for _ in range(6):
        t = K @ r
        t /= np.linalg.norm(t)
        P = np.eye(n) - np.outer(t, t)
        K, r = P @ K @ P, r - t * (t @ r)
        features.append(t)
    ours = KernelFeatureExtraction("kpls", 6, gamma=0.1).fit(X, y).transform(X)
    assert_same_up_to_sign(ours / np.linalg.norm(ours, axis=0), np.column_stack(features))


@pytest.mark.parametrize(
    ("kernel", "parameters"),
    [
        ("linear", {}),
        ("rbf", {"gamma": 0.05}),
        ("poly", {"gamma": 0.1, "degree": 2, "coef0": 1}),
        ("cosine", {}),
    ],
)
@pytest.mark.parametrize("candidates", ["all", "pool"])
def test_kernel_pca(kernel, parameters, candidates, diabetes):
    X = diabetes[0]
    train = X[:300]
    given = "all" if candidates == "all" else train
    ours = KernelFeatureExtraction("kpca", 5, kernel=kernel, candidates=given, **parameters).fit(train)
    theirs = KernelPCA(5, kernel=kernel, **parameters).fit(train)
    assert_same_up_to_sign(ours.transform(X), theirs.transform(X))
    total = np.trace(theirs._centerer.transform(theirs._get_kernel(train)))
    assert_allclose(ours.explained_variance_ratio_, theirs.eigenvalues_ / total, rtol=1e-6)


def test_squared_loss_makes_boosted_latent_features_pls(diabetes):
    X, y = diabetes
    for extraction in (FeatureExtraction, KernelFeatureExtraction):
        boosted, pls = (extraction(name, 5).fit(X, y).transform(X) for name in ("blf", "pls"))
        assert_same_up_to_sign(boosted, pls)


@pytest.mark.parametrize("loss", ["logistic", "exponential"])
@pytest.mark.parametrize("candidates", ["all", 80])
def test_gradients_of_other_losses(loss, candidates, cancer):
    X, y = cancer
    model = KernelFeatureExtraction(
        LossGradient(loss), 4, gamma=0.03, candidates=candidates, random_state=0
    ).fit(X, y)
    features = model.transform(X)
    gram = features.T @ features
    norms = np.sqrt(np.diagonal(gram))
    assert_allclose(gram / np.outer(norms, norms), np.eye(4), atol=1e-8)
    # At the start every loss has the gradient y - mean, so the first feature is that of PLS.
    pls = KernelFeatureExtraction("kpls", 1, gamma=0.03, candidates=candidates, random_state=0).fit(
        X, y
    )
    assert_same_up_to_sign(features[:, :1], pls.transform(X), rtol=1e-6)
    others = KernelFeatureExtraction("kpls", 4, gamma=0.03, candidates=candidates, random_state=0)
    assert np.abs(features[:, 1:] - others.fit(X, y).transform(X)[:, 1:]).max() > 1e-3


def test_alignment_in_the_primal_is_forward_selection_of_inputs(diabetes):
    X, y = diabetes
    chosen = []
    for _ in range(5):
        scores = {
            j: LinearRegression().fit(X[:, [*chosen, j]], y).score(X[:, [*chosen, j]], y)
            for j in set(range(10)) - set(chosen)
        }
        chosen.append(max(scores, key=scores.get))
    model = FeatureExtraction("alignment", 5).fit(X, y)
    assert model.landmarks_.tolist() == chosen
    assert_allclose(model.criterion_path_.sum(), scores[chosen[-1]])


def test_sparse_rows_in_the_primal(rng):
    X = sparse.random(200, 50, density=0.1, random_state=0, format="csr")
    y = rng.standard_normal(200)
    for criterion in ("pls", "pca", "covariance"):
        a = FeatureExtraction(criterion, 4).fit(X, y)
        b = FeatureExtraction(criterion, 4).fit(X.toarray(), y)
        assert_allclose(a.transform(X), b.transform(X.toarray()), atol=1e-10)


class Nearest(ScoringCriterion):
    """A criterion of a user's: prefer candidates whose columns are large, whatever the target."""

    needs = Needs(targets=False)

    def score(self, view):
        return view.residual_squared_norms


class MeanDirection(Criterion):
    """Another one, which combines two candidates."""

    needs = Needs(targets=False, metric=True)

    def propose(self, view):
        done = 2 * view.features.shape[1]
        two = np.arange(done, done + 2)
        length = np.ones(2) @ view.metric.among(two) @ np.ones(2)
        return Direction(two, np.ones(2) / np.sqrt(length), 1.0)


def test_criteria_of_the_user(diabetes):
    X, _ = diabetes
    model = KernelFeatureExtraction(Nearest(), 5, gamma=0.1, candidates=X[:40]).fit(X)
    K_raw = rbf_kernel(X, X[:40], gamma=0.1)
    K = K_raw - K_raw.mean(axis=0)
    for chosen in model.landmark_indices_:
        assert chosen == np.argmax((K**2).sum(axis=0))
        q = K[:, chosen] / np.linalg.norm(K[:, chosen])
        K = K - np.outer(q, q @ K)
    combined = KernelFeatureExtraction(MeanDirection(), 2, gamma=0.1, candidates=X[:40]).fit(X)
    assert combined.landmark_indices_.tolist() == [0, 1, 2, 3]
    first = K_raw[:, :2].sum(axis=1) / np.sqrt(rbf_kernel(X[:2], gamma=0.1).sum())
    assert_allclose(combined.transform(X)[:, 0], first - first.mean())


def test_alignment_by_name_is_sma(cancer):
    X, y = cancer
    a = KernelFeatureExtraction("alignment", 8).fit(X, y)
    b = SparseMaximalAlignment(8, scale="unit_variance").fit(X, y)
    assert_array_equal(a.transform(X), b.transform(X))


@pytest.mark.parametrize("candidates", ["all", "pool"])
def test_scales_of_the_framework(candidates, diabetes):
    X, y = diabetes[0][:200], diabetes[1][:200]
    given = {"gamma": 0.1, "candidates": "all" if candidates == "all" else X[:80]}
    for scale in ("rkhs", "unit_variance"):
        sma = SparseMaximalAlignment(4, scale=scale, **given).fit(X, y)
        same = KernelFeatureExtraction("alignment", 4, scale=scale, **given).fit(X, y)
        assert_allclose(same.transform(X), sma.transform(X), atol=1e-9)
    for criterion in ("covariance", "kpls", "kpca"):
        T = KernelFeatureExtraction(criterion, 4, **given).fit(X, y).transform(X)
        unit = KernelFeatureExtraction(criterion, 4, scale="unit_variance", **given).fit(X, y)
        assert_allclose(unit.transform(X), T / np.sqrt(np.mean(T**2, axis=0)), atol=1e-8)
        # Coordinates along orthonormal directions.
        images = KernelFeatureExtraction(criterion, 4, scale="rkhs", **given).fit(X, y)
        B = images.projection_
        assert_allclose(B.T @ images.kernel_.block(*[images.landmarks_] * 2) @ B, np.eye(4), atol=1e-7)
    with pytest.raises(InvalidParameterError, match="coordinates; pass scale='auto'"):
        KernelFeatureExtraction("akfa", 2, scale="unit_variance").fit(X)


def test_n_nonzero_needs_a_criterion_that_can_combine(diabetes):
    with pytest.raises(ValueError, match="n_nonzero=2"):
        KernelFeatureExtraction("variance", 3, n_nonzero=2).fit(*diabetes)


def test_all_inputs_in_the_order_of_choice(diabetes):
    X, y = diabetes
    model = FeatureExtraction("alignment", 10).fit(X, y)
    assert sorted(model.landmarks_) == list(range(10))
    features = model.transform(X)
    for k, share in enumerate(np.cumsum(model.criterion_path_), start=1):
        assert_allclose(LinearRegression().fit(features[:, :k], y).score(features[:, :k], y), share)
