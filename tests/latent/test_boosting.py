"""Kernel boosting against the method written down as it stands, and against its own bounds."""

import numpy as np
import pytest
from configured import fit_with
from naive import CountingKernel, up_to_sign
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from kernelsieve import Candidates, KernelBoosting, KernelFeatureExtraction
from kernelsieve.exceptions import FewerFeaturesWarning
from kernelsieve.latent.boosting import Pairs

GAMMA = 0.3  # narrow enough for a kernel matrix of full rank
LOSSES = {
    "exponential": (lambda m: np.exp(-m), lambda m: np.exp(-m)),
    "log": (lambda m: 1 / (1 + np.exp(m)), lambda m: np.log1p(np.exp(-m))),
}


def naive_boosting(A, W, labels, n_components, loss, weight=None):
    """Every pair, every step, and the generalised eigenproblem A'BA v = lambda W v.

    A are the rows' kernel values against the examples, W those of the examples. Returns the
    coefficients of the features, the steps, and what the losses were before and after each step.
    """
    weigh, loss_of = LOSSES[loss]
    signs = np.where(labels[:, None] == labels, 1.0, -1.0)
    pair_weight = 1.0 if weight is None else np.outer(weight, weight)
    learned = np.zeros(signs.shape)
    coefficients, steps, told = [], [], []
    for _ in range(n_components):
        D = pair_weight * weigh(signs * learned)
        before = (pair_weight * loss_of(signs * learned)).sum()
        values, vectors = eigh(A.T @ (D * signs) @ A, W)
        v = vectors[:, -1]  # v' W v = 1
        p = A @ v
        agreement = signs * np.outer(p, p)
        right, wrong = (D * np.maximum(agreement, 0)).sum(), (D * np.maximum(-agreement, 0)).sum()
        epsilon = 1e-12 * D.sum()
        a = 0.5 * np.log((right + epsilon) / (wrong + epsilon))
        learned += a * np.outer(p, p)
        after = (pair_weight * loss_of(signs * learned)).sum()
        coefficients.append(np.sqrt(a) * v)
        steps.append(a)
        told.append((before, after, right, wrong, values[-1]))
    return np.column_stack(coefficients), np.array(steps), told, learned


@pytest.fixture
def two(cancer):
    X, y = cancer
    return X[:120, :5], y[:120]


@pytest.fixture
def three(diabetes):
    X, y = diabetes
    return X[:120], np.array(["low", "middle", "high"])[np.digitize(y[:120], [100, 180])]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("classes", [2, 3])
def test_it_is_the_method(loss, classes, two, three):
    X, y = two if classes == 2 else three
    K = rbf_kernel(X, gamma=GAMMA)
    B, steps, _, learned = naive_boosting(K, K, y, 6, loss)
    model = KernelBoosting(6, loss=loss, gamma=GAMMA).fit(X, y)
    features = model.transform(X)
    assert_allclose(model.criterion_path_, steps, rtol=1e-6)
    assert_allclose(up_to_sign(features, K @ B), K @ B, atol=1e-6)
    assert_allclose(features @ features.T, learned, atol=1e-6)
    new = X + 0.1
    expected = rbf_kernel(new, X, gamma=GAMMA) @ B
    assert_allclose(up_to_sign(model.transform(new), expected), expected, atol=1e-5)
    assert_array_equal(model.offset_, 0)


@pytest.mark.parametrize("loss", LOSSES)
def test_identities_of_a_step(loss, two):
    """The eigenvalue is what pairs that are right outweigh the others by; the loss falls enough."""
    X, y = two
    K = rbf_kernel(X, gamma=GAMMA)
    _, steps, told, _ = naive_boosting(K, K, y, 8, loss)
    for before, after, right, wrong, eigenvalue in told:
        assert_allclose(right - wrong, eigenvalue, rtol=1e-8)
        assert before - after >= (np.sqrt(right) - np.sqrt(wrong)) ** 2
    # the same of ours: the loss of the features themselves
    model = KernelBoosting(8, loss=loss, gamma=GAMMA).fit(X, y)
    signs = np.where(y[:, None] == y, 1.0, -1.0)
    features = model.transform(X)
    losses = [LOSSES[loss][1](signs * (F @ F.T)).sum() for F in (features[:, :j] for j in range(9))]
    assert_allclose(losses, [told[0][0]] + [after for _, after, *_ in told], rtol=1e-6)
    assert (steps > 0).all()


def test_the_sums_of_a_step(two, rng):
    y = two[1]
    pairs = Pairs(y, np.ones(len(y)), "exponential")
    p = rng.standard_normal(len(y))
    right, wrong = pairs.split(p)
    signs = np.where(y[:, None] == y, 1.0, -1.0)
    assert_allclose(right + wrong, np.abs(np.outer(p, p)).sum())
    assert_allclose(right - wrong, p @ signs @ p)
    assert_allclose(p @ pairs.multiply(p), right - wrong)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_first_direction_is_that_of_the_labels(loss, two):
    X, y = two
    first = KernelBoosting(1, loss=loss, gamma=GAMMA).fit(X, y).transform(X)[:, 0]
    expected = rbf_kernel(X, gamma=GAMMA) @ (2.0 * y - 1)
    assert_allclose(first / np.linalg.norm(first), expected / np.linalg.norm(expected), atol=1e-8)
    pls = KernelFeatureExtraction("kpls", 1, gamma=GAMMA, center=False).fit(X, 2.0 * y - 1).transform(X)
    assert_allclose(abs(np.corrcoef(pls[:, 0], first)[0, 1]), 1)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_pool(loss, two):
    X, y = two
    pool = X[::4] + 0.01
    A, W = rbf_kernel(X, pool, gamma=GAMMA), rbf_kernel(pool, gamma=GAMMA)
    B, steps, *_ = naive_boosting(A, W, y, 5, loss)
    model = KernelBoosting(5, loss=loss, gamma=GAMMA, candidates=pool).fit(X, y)
    assert_allclose(model.criterion_path_, steps, rtol=1e-6)
    assert_allclose(up_to_sign(model.transform(X), A @ B), A @ B, atol=1e-6)
    assert sorted(model.landmark_indices_) == list(range(30))


def test_a_number_of_candidates_is_drawn(two):
    X, y = two
    model = KernelBoosting(5, gamma=GAMMA, candidates=20, random_state=0).fit(X, y)
    given = KernelBoosting(5, gamma=GAMMA, candidates=X[np.sort(model.landmark_indices_)]).fit(X, y)
    assert len(model.landmarks_) == 20
    assert_allclose(model.transform(X), given.transform(X), atol=1e-8)


def test_more_features_than_the_rank(rng):
    X = rng.standard_normal((80, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = KernelBoosting(10, kernel="linear").fit(X, y)
    features = model.transform(X)
    assert features.shape == (80, 10)
    assert model.landmarks_.shape == (3, 3)  # which span all rows
    assert np.linalg.matrix_rank(features) == 3
    assert np.count_nonzero(model.explained_variance_ratio_ > 1e-10) == 3
    assert_allclose(model.explained_variance_ratio_.sum(), 1)
    assert_allclose(model.transform(X, n_components=4), features[:, :4])


def test_a_kernel_of_any_scale_is_the_same(two):
    """The largest k(x, x) is made 1; the bound on the loss needs that."""
    X, y = two
    model = KernelBoosting(4, kernel="linear").fit(X, y)
    K = linear_kernel(X)
    scaled = K / K.diagonal().max()
    values, vectors = np.linalg.eigh(scaled)
    F = vectors[:, -5:] * np.sqrt(values[-5:])
    B, steps, told, _ = naive_boosting(F, np.eye(5), y, 4, "exponential")
    assert_allclose(model.criterion_path_, steps, rtol=1e-8)
    assert_allclose(up_to_sign(model.transform(X), F @ B), F @ B, atol=1e-8)
    for before, after, right, wrong, _ in told:
        assert before - after >= (np.sqrt(right) - np.sqrt(wrong)) ** 2
    other = KernelBoosting(4, kernel="linear").fit(100 * X, y)
    assert_allclose(other.transform(100 * X), model.transform(X), atol=1e-8)


@pytest.mark.parametrize("candidates", ["all", "pool"])
def test_whole_weights_are_repeated_rows(candidates, two, rng):
    X, y = two
    weight = rng.integers(0, 4, len(X))
    repeated = np.repeat(np.arange(len(X)), weight)
    given = X[:30] if candidates == "pool" else "all"
    make = lambda: KernelBoosting(5, gamma=GAMMA, candidates=given)  # noqa: E731
    a = make().fit(X, y, sample_weight=weight)
    b = make().fit(X[repeated], y[repeated])
    assert_allclose(a.transform(X), b.transform(X), atol=1e-7)
    assert_allclose(a.explained_variance_ratio_, b.explained_variance_ratio_, rtol=1e-7)
    assert_allclose(a.explained_target_ratio_, b.explained_target_ratio_, rtol=1e-7)


def test_krylov_and_dense_directions_agree(cancer, monkeypatch):
    X, y = cancer
    few = KernelBoosting(5, gamma=0.05, random_state=0).fit(X, y)
    monkeypatch.setattr("kernelsieve.latent.boosting._DENSE_UP_TO", 1000)
    dense = KernelBoosting(5, gamma=0.05).fit(X, y)
    assert_allclose(few.transform(X), dense.transform(X), atol=1e-8)


def test_precomputed_kernels(two):
    X, y = two
    K = rbf_kernel(X, gamma=GAMMA)
    new = rbf_kernel(X + 0.1, X, gamma=GAMMA)
    direct = KernelBoosting(4, gamma=GAMMA).fit(X, y)
    whole = KernelBoosting(4, kernel="precomputed").fit(K, y)
    assert_allclose(whole.transform(new), direct.transform(X + 0.1), atol=1e-8)
    weight = np.arange(len(X)) % 3
    a = KernelBoosting(4, kernel="precomputed").fit(K, y, sample_weight=weight)
    b = KernelBoosting(4, gamma=GAMMA).fit(X, y, sample_weight=weight)
    assert_allclose(a.transform(K), b.transform(X), atol=1e-8)
    rows = np.arange(0, len(X), 5)
    pooled = KernelBoosting(4, gamma=GAMMA, candidates=X[rows]).fit(X, y)
    for matrix in (K, K[:, rows]):
        model = KernelBoosting(4, kernel="precomputed", candidates=rows).fit(matrix, y)
        assert_allclose(model.transform(matrix), pooled.transform(X), atol=1e-8)
    for seed in range(3):
        sampled = {"candidates": Candidates(20, scored_on=50), "random_state": seed}
        a = KernelBoosting(4, kernel="precomputed", **sampled).fit(K, y)
        b = KernelBoosting(4, gamma=GAMMA, **sampled).fit(X, y)
        assert_allclose(a.transform(K), b.transform(X), atol=1e-8)


def test_pairs_of_a_sample(cancer):
    X, y = cancer
    kernel = CountingKernel(0.03)
    model = KernelBoosting(4, kernel=kernel, candidates=Candidates(scored_on=100), random_state=0).fit(
        X, y
    )
    assert kernel.evaluations < 100 * 100 + 1000
    rows = np.sort(model.landmark_indices_)
    whole = KernelBoosting(4, gamma=0.03, candidates="all").fit(X[rows], y[rows])
    assert_allclose(model.transform(X), whole.transform(X), atol=1e-6)


def test_labels_of_any_kind_and_their_signs(two):
    X, y = two
    model = KernelBoosting(3, gamma=GAMMA).fit(X, y)
    named = KernelBoosting(3, gamma=GAMMA).fit(X, np.array(["no", "yes"])[y])
    floats = KernelBoosting(3, gamma=GAMMA).fit(X, y.astype(float))
    assert named.classes_.tolist() == ["no", "yes"]
    assert_array_equal(named.transform(X), model.transform(X))
    assert_array_equal(floats.transform(X), model.transform(X))
    features = model.transform(X)
    assert (features[y == 1].mean(axis=0) > features[y == 0].mean(axis=0)).all()


def test_a_linear_head_on_the_features(cancer):
    X, y = cancer
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[:400], order[400:]
    for loss in LOSSES:
        model = KernelBoosting(30, loss=loss, gamma=0.03).fit(X[train], y[train])
        head = LogisticRegression(C=10).fit(model.transform(X[train]), y[train])
        assert head.score(model.transform(X[test]), y[test]) > 0.95


def test_it_ends_when_no_direction_helps():
    """On a line there is one direction, and the first steps make of it what can be made."""
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    y = np.array([0, 1, 1, 0])
    with pytest.warns(FewerFeaturesWarning, match="no direction lets the loss fall"):
        model = KernelBoosting(3000, kernel="linear").fit(X, np.array([0, 1, 0, 1]))
    assert 0 < model.n_components_ < 3000
    with pytest.raises(ValueError, match="No feature could be found"):
        KernelBoosting(3, kernel=lambda A, B: np.ones((len(A), len(B)))).fit(X, y)


def test_what_is_refused(two):
    X, y = two
    with pytest.raises(ValueError, match="one class only"):
        KernelBoosting().fit(X, np.zeros(len(X), dtype=int))
    with pytest.raises(ValueError, match="one class only"):
        KernelBoosting().fit(X, y, sample_weight=(y == 1).astype(float))
    with pytest.raises(ValueError, match="y is continuous"):
        KernelBoosting().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="lower the size or scored_on of Candidates, or raise"):
        fit_with({"max_memory": 1e5}, KernelBoosting(), X, y)
    with pytest.raises(ValueError, match="loss"):
        KernelBoosting(loss="hinge").fit(X, y)
    with pytest.raises(ValueError, match="must be positive"):
        KernelBoosting(kernel="linear").fit(np.zeros_like(X), y)
    assert not hasattr(KernelBoosting(), "partial_fit")
