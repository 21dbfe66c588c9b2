"""Oriented kernel PCA and free combinations of scatters against naive eigenproblems."""

from functools import partial

import numpy as np
import pytest
from configured import fit_with
from naive import CountingKernel
from naive_fisher import between, cosine, tangent, within
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.linalg import eigh
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import rbf_kernel

from kernelsieve import (
    KernelFisherDiscriminant,
    KernelPCA,
    OrientedKernelPCA,
    RayleighCoefficient,
)
from kernelsieve.exceptions import FewerFeaturesWarning
from kernelsieve.rayleigh import (
    BetweenClasses,
    NoiseCovariance,
    NoiseSamples,
    Scatter,
    Tangent,
    TotalScatter,
    WithinClasses,
)


class Turn:
    """Rotates points of the plane about the origin."""

    def __init__(self, angle):
        self.matrix = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

    def __call__(self, X):
        return X @ self.matrix.T


class Push:
    """Moves points of the plane along the first axis."""

    def __init__(self, step):
        self.step = np.array([step, 0.0])

    def __call__(self, X):
        return X + self.step


def total(K):
    return (K - K.mean(axis=0)).T @ (K - K.mean(axis=0))


@pytest.fixture
def plane(rng):
    return rng.uniform(-1, 1, size=(200, 2))


def relative_change(model, X, move):
    """Mean squared change of the first feature under a movement, over its variance."""
    feature = model.transform(X)[:, 0]
    return float(np.mean((model.transform(move(X))[:, 0] - feature) ** 2) / feature.var())


@pytest.mark.parametrize("move", [Turn(0.1), Push(0.05)], ids=["rotation", "translation"])
@pytest.mark.parametrize("penalty", ["alpha", "norm"])
def test_first_feature_is_invariant(plane, move, penalty):
    """Figure 1 of Mika et al. (2003) as a number."""
    oriented = OrientedKernelPCA(
        1, gamma=1.0, invariances=[(move, 1.0)], reg=1e-4, penalty=penalty
    ).fit(plane)
    usual = KernelPCA(1, gamma=1.0).fit(plane)
    assert relative_change(oriented, plane, move) < 0.01 * relative_change(usual, plane, move)
    # not only by a small step, and not only where it was trained
    new = np.random.default_rng(7).uniform(-0.7, 0.7, size=(200, 2))
    far = Turn(1.0) if isinstance(move, Turn) else Push(0.3)
    assert relative_change(oriented, new, far) < 0.1 * relative_change(usual, new, far)


@pytest.mark.parametrize("penalty", ["alpha", "norm"])
def test_naive_eigenproblem(plane, penalty):
    Z, move = plane[:50], Turn(0.2)
    K, W = rbf_kernel(plane, Z, gamma=2.0), rbf_kernel(Z, gamma=2.0)
    noise = np.random.default_rng(1).normal(scale=0.2, size=(70, 2))
    of_noise = total(rbf_kernel(noise, Z, gamma=2.0)) * len(plane) / len(noise)
    denominator = tangent(K, rbf_kernel(move(plane), Z, gamma=2.0)) * 0.5 + 0.3 * of_noise
    denominator += 0.1 * (np.eye(50) if penalty == "alpha" else W)
    values, vectors = eigh(total(K), denominator)
    model = OrientedKernelPCA(
        5,
        gamma=2.0,
        candidates=Z,
        noise=NoiseSamples(noise, 0.3),
        invariances=[(move, 0.5)],
        reg=0.1,
        penalty=penalty,
    ).fit(plane)
    assert_allclose(model.criterion_path_, values[::-1][:5], rtol=1e-7)
    for j in range(5):
        naive = K @ vectors[:, -1 - j]
        assert 1 - cosine(model.transform(plane)[:, j], naive - naive.mean()) < 1e-9


def test_without_noise_it_is_kernel_pca(plane):
    oriented = OrientedKernelPCA(4, gamma=2.0, candidates=plane[:60], reg=0.7).fit(plane)
    usual = KernelPCA(4, gamma=2.0, candidates=plane[:60]).fit(plane)
    a, b = oriented.transform(plane), usual.transform(plane)
    for j in range(4):
        assert 1 - cosine(a[:, j], b[:, j]) < 1e-8
    assert_allclose(oriented.criterion_path_ * 0.7 / len(plane), usual.criterion_path_, rtol=1e-8)
    assert_allclose(oriented.explained_variance_ratio_, usual.explained_variance_ratio_, rtol=1e-6)


def test_a_noise_covariance_of_the_inputs(rng):
    """Whitening by the noise and PCA after that is oriented PCA."""
    X = rng.normal(size=(300, 4)) * [1.0, 2.0, 0.5, 3.0]
    L = rng.normal(size=(4, 4))
    S = L @ L.T + 0.1 * np.eye(4)
    model = OrientedKernelPCA(
        3, kernel="linear", noise=NoiseCovariance(S), candidates="all", reg=0.0
    ).fit(X)
    whiten = np.linalg.inv(np.linalg.cholesky(S)).T
    peer = PCA(3).fit(X @ whiten)
    assert_allclose(model.criterion_path_, peer.explained_variance_ * 299 / 300, rtol=1e-8)
    for ours, theirs in zip(model.transform(X).T, peer.transform(X @ whiten).T, strict=True):
        assert 1 - cosine(ours, theirs) < 1e-9
    samples = rng.multivariate_normal(np.zeros(4), S, size=200_000)
    sampled = OrientedKernelPCA(3, kernel="linear", noise=samples, candidates="all", reg=0.0).fit(X)
    assert_allclose(sampled.criterion_path_, model.criterion_path_, rtol=0.05)


def test_scatters_combine_freely(cancer):
    X, y = cancer
    Z = X[:40]
    K = rbf_kernel(X, Z, gamma=0.02)
    moved = tangent(K, rbf_kernel(np.tanh(X), Z, gamma=0.02))
    numerator = 2 * between(K, y) + 0.1 * total(K)
    denominator = within(K, y) + 0.5 * moved + 0.3 * np.eye(40)
    values, vectors = eigh(numerator, denominator)
    model = RayleighCoefficient(
        3,
        numerator=[BetweenClasses(2.0), TotalScatter(0.1)],
        denominator=[WithinClasses(), Tangent(np.tanh, 0.5)],
        gamma=0.02,
        candidates=Z,
        reg=0.3,
    ).fit(X, y)
    assert_allclose(model.criterion_path_, values[::-1][:3], rtol=1e-8)
    for j in range(3):
        assert 1 - cosine(model.projection_[:, j], vectors[:, -1 - j]) < 1e-8


def test_fisher_is_a_combination(digits):
    X, y = digits
    parameters = {"gamma": 0.05, "candidates": X[:50], "reg": 0.1}
    combined = RayleighCoefficient(
        numerator=[BetweenClasses()], denominator=[WithinClasses()], **parameters
    ).fit(X, y)
    fisher = KernelFisherDiscriminant(**parameters).fit(X, y)
    assert_allclose(combined.transform(X), fisher.transform(X), atol=1e-9)


def test_a_tangent_may_be_wanted(plane):
    """A movement in the numerator asks for features that change: the reverse of invariance."""
    move = Turn(0.1)
    model = RayleighCoefficient(1, numerator=[Tangent(move)], denominator=[TotalScatter()], gamma=1.0)
    usual = KernelPCA(1, gamma=1.0).fit(plane)
    assert relative_change(model.fit(plane), plane, move) > 3 * relative_change(usual, plane, move)


def test_a_scatter_of_your_own(plane):
    class AlongCandidates(Scatter):
        """Only the first ten candidates may be used, nearly."""

        def factor(self, seen):
            return np.diag((np.arange(len(seen.pool)) >= 10).astype(float))

    model = RayleighCoefficient(
        1, denominator=[AlongCandidates(1e8)], gamma=1.0, candidates=plane[:40]
    ).fit(plane)
    size = np.abs(model.projection_[:, 0])
    assert size[10:].max() < 1e-4 * size[:10].max()


def test_drivers_weights_and_sparse_rows_agree(plane, rng):
    make = partial(OrientedKernelPCA, 3, gamma=1.0, candidates=plane[:40], invariances=[(np.tanh, 0.2)])
    whole = make().fit(plane).transform(plane)
    pieces = make()
    for start in range(0, 200, 30):
        pieces.partial_fit(plane[start : start + 30])
    assert_allclose(pieces.transform(plane), whole, atol=1e-7)
    batches = [plane[:90], plane[90:]]
    assert_allclose(make().fit_batches(batches).transform(plane), whole, atol=1e-7)
    blocks = fit_with({"block_size": 17}, make(n_jobs=2), plane)
    assert_allclose(blocks.transform(plane), whole, atol=1e-7)
    rows = sparse.csr_matrix(plane)
    from_sparse = make().set_params(candidates=rows[:40]).fit(rows)
    assert_allclose(from_sparse.transform(rows), whole, atol=1e-7)
    times = rng.integers(0, 3, 200)
    weighted = make().fit(plane, sample_weight=times).transform(plane)
    repeated = make().fit(np.repeat(plane, times, axis=0)).transform(plane)
    assert_allclose(weighted, repeated, atol=1e-7)


def test_kernel_evaluations(plane):
    n, c = len(plane), 20
    kernel = CountingKernel(1.0)
    invariances = [(Turn(0.1), 1.0), (Push(0.1), 1.0)]
    model = OrientedKernelPCA(2, kernel=kernel, candidates=plane[:c], invariances=invariances)
    model.fit(plane)
    assert kernel.evaluations <= n * c + c * c + 2 * 2 * n * c + 1
    kernel.evaluations = 0
    model.transform(plane)
    assert kernel.evaluations == n * c


def test_more_features_than_the_rank(rng):
    X = rng.normal(size=(50, 3))
    with pytest.warns(FewerFeaturesWarning, match="3 of the 10"):
        model = OrientedKernelPCA(10, kernel="linear", penalty="alpha").fit(X)
    assert model.n_components_ == 3


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (OrientedKernelPCA(noise=NoiseCovariance(np.eye(2))), "kernel='linear'"),
        (OrientedKernelPCA(noise=NoiseCovariance(np.eye(3)), kernel="linear"), "2 features"),
        (OrientedKernelPCA(noise=NoiseCovariance(-np.eye(2)), kernel="linear"), "eigenvalue"),
        (OrientedKernelPCA(noise=np.ones((5, 3))), "features of X"),
        (OrientedKernelPCA(noise=[[np.nan, 1.0]]), "NaN"),
        (RayleighCoefficient(numerator=["total"]), "lists of scatters"),
        (RayleighCoefficient(numerator=[TotalScatter(0.0)]), "positive weight"),
        (RayleighCoefficient(reg=0.0), "denominator is zero"),
        (RayleighCoefficient(numerator=[BetweenClasses()]), "requires y"),
    ],
    ids=str,
)
def test_bad_input(plane, model, message):
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        model.fit(plane)
    assert list(vars(model)) == list(before)


@pytest.mark.parametrize("part", [TotalScatter, lambda w: NoiseSamples([[1.0]], w)])
def test_weights_of_scatters(part):
    with pytest.raises(ValueError, match="weight=-1"):
        part(-1)
    assert "weight=2" in repr(part(2.0))
    assert "weight=1" in repr(NoiseCovariance(np.eye(2)))


@pytest.mark.parametrize("penalty", ["alpha", "norm"])
def test_a_denominator_of_nothing_is_named(rng, penalty):
    with pytest.raises(ValueError, match="nor noise nor an invariance"):
        OrientedKernelPCA(3, reg=0.0, penalty=penalty).fit(rng.normal(size=(40, 3)))
