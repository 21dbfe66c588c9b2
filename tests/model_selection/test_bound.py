"""The stability bound against the formula of the paper, written down as it stands."""

import numpy as np
import pytest
from contract_cases import ROWS, TARGETS, contract, plain_cases
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import algorithm_2
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    FeatureExtraction,
    KernelPCA,
    KernelPLS,
    SparseKernelPLS,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
)
from kernelsieve.exceptions import InvalidParameterError, VacuousBoundWarning
from kernelsieve.metrics import cumulative_pointwise_squared_covariance
from kernelsieve.model_selection import select_by_bound, stability_bound

GAMMA, K = 0.05, 6


def theorem_5_5(K_matrix, T, A, y, delta):
    """Formula (13) for the features T = K A, all of them."""
    n = len(y)
    empirical = np.trace(T.T @ np.diag(y**2) @ T) / n
    c = np.linalg.norm(A.T @ K_matrix @ A)
    squared = np.outer(y**2, y**2) * K_matrix**2  # the kernel matrix of y^2 phi~
    R2 = max(y**2 * np.diagonal(K_matrix))
    complexity = 2 * c / n * np.sqrt(np.trace(squared))
    confidence = 3 * c * R2 * np.sqrt(np.log(2 / delta) / (2 * n))
    return empirical, complexity, confidence


@pytest.fixture
def data(diabetes):
    X, y = diabetes
    return X[:150], y[:150] / 100


@pytest.mark.parametrize("delta", [0.1, 0.01])
def test_every_number_of_features_has_the_bound_of_the_paper(delta, data):
    X, y = data
    Kx = rbf_kernel(X, gamma=GAMMA)
    _, B, T = algorithm_2(Kx, y, K, "covariance", center=False)
    bound = stability_bound(
        SparseMaximalCovariance(K, gamma=GAMMA, candidates="all", center=False), X, y, delta=delta
    )
    for k in range(1, K + 1):
        Tk, Bk = T[:, :k], B[:, :k]
        A = Bk @ np.linalg.inv(np.linalg.inv(Tk.T @ Tk) @ Tk.T @ Kx @ Bk)  # (4)
        assert_allclose(Kx @ A, Tk, atol=1e-9)
        expected = theorem_5_5(Kx, Tk, A, y, delta)
        found = bound.empirical[k - 1], bound.complexity[k - 1], bound.confidence[k - 1]
        assert_allclose(found, expected, rtol=1e-8)
    assert_allclose(bound.bound, bound.empirical - bound.complexity - bound.confidence)
    assert bound.n_examples == len(y)
    assert bound.radius_squared == pytest.approx(max(y**2))


def test_the_cost_is_half_of_the_first_increment(data):
    X, y = data
    extractor = SparseMaximalCovariance(K, gamma=GAMMA, center=False)
    bound = stability_bound(extractor, X, y)
    assert bound.cost == pytest.approx(bound.empirical[0] / 2)
    assert_allclose(bound.cost_adjusted, bound.bound - bound.cost * np.arange(1, K + 1))
    priced = stability_bound(extractor, X, y, cost=0.25)
    assert_allclose(priced.cost_adjusted, bound.bound - 0.25 * np.arange(1, K + 1))
    assert priced.best_n_components == 1 + priced.cost_adjusted.argmax()


@pytest.mark.parametrize(
    "extractor",
    [
        SparseMaximalAlignment(4, gamma=GAMMA),
        KernelPCA(4, gamma=GAMMA),
        KernelPLS(4, gamma=GAMMA, candidates=40, random_state=0),
        AcceleratedKernelFeatureAnalysis(4, gamma=GAMMA),
        SparseMaximalCovariance(4, gamma=GAMMA, n_nonzero=2, candidates=20, random_state=0),
    ],
    ids=repr,
)
def test_other_extractors_centred_or_not(extractor, data):
    """For ``f(x) = y^2 |W'(phi - mu)|^2`` in a feature space that is written out."""
    X, y = data
    bound = stability_bound(extractor, X, y)
    model = bound.extractor
    Kx = rbf_kernel(X, gamma=GAMMA)
    values, vectors = np.linalg.eigh(Kx)
    phi = vectors * np.sqrt(np.maximum(values, 0))  # images: Kx = phi phi'
    rows = [int(np.flatnonzero((z == X).all(axis=1))[0]) for z in model.landmarks_]
    W = phi[rows].T @ model.projection_
    if extractor.center:
        phi, y = phi - phi.mean(axis=0), y - y.mean()
    assert_allclose(phi @ W, model.transform(X), atol=1e-6)
    lengths = (phi**2).sum(axis=1)
    n = len(y)
    for k in range(1, 5):
        c = np.linalg.norm(W[:, :k] @ W[:, :k].T)
        assert bound.norms[k - 1] == pytest.approx(c)
        assert bound.empirical[k - 1] == pytest.approx(
            np.mean(y**2 * ((phi @ W[:, :k]) ** 2).sum(axis=1))
        )
        assert bound.complexity[k - 1] == pytest.approx(2 * c / n * np.sqrt((y**4 * lengths**2).sum()))
    # f lies between 0 and c R^2, which the theorem's proof needs
    assert (y**2 * ((phi @ W) ** 2).sum(axis=1)).max() <= bound.norms[-1] * bound.radius_squared + 1e-9


@contract(plain_cases, when=lambda case: "kernel" in case.parameters)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.filterwarnings("ignore::kernelsieve.exceptions.FewerFeaturesWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_no_sample_is_above_the_largest_value(case, kernel):
    """``f <= c R^2``, which the theorem needs, for inputs that are far from the origin."""
    X, y = ROWS + 10, TARGETS[case.target]
    bound = stability_bound(case.make(kernel=kernel), X, y)
    values = bound.targets.squares(y) * (bound.extractor.transform(X) ** 2).sum(axis=1)
    assert 0 < values.max() <= bound.norms[-1] * bound.radius_squared * (1 + 1e-9)


@pytest.mark.parametrize("nu", ["min", 0.3])
def test_features_that_are_not_shifted_by_the_mean(nu, rng):
    """R is measured about a point p with ``t = W'(x - p)``, here written out for the linear kernel."""
    X = rng.standard_normal((300, 3)) + 10
    y = X[:, 0] + 0.1 * rng.standard_normal(300)
    bound = stability_bound(SparseKernelPLS(2, kernel="linear", nu=nu), X, y)
    model = bound.extractor
    W = model.landmarks_.T @ model.projection_
    mean = X.mean(axis=0)
    p = mean + W @ np.linalg.solve(W.T @ W, model.offset_ - mean @ W)
    if not model.offset_.any():
        p = np.zeros(3)
    assert_allclose((X - p) @ W, model.transform(X), atol=1e-9)
    y = y - y.mean() * model.offset_.any()
    squared_lengths = ((X - p) ** 2).sum(axis=1)
    assert bound.radius_squared == pytest.approx((y**2 * squared_lengths).max())
    assert (y**2 * ((X - p) @ W).T ** 2).sum(axis=0).max() <= bound.norms[-1] * bound.radius_squared
    tr = np.sqrt((y**4 * squared_lengths**2).sum())
    assert_allclose(bound.complexity[-1], 2 * np.linalg.norm(W @ W.T) / 300 * tr, rtol=1e-9)


def test_precomputed_kernels_and_labels(data):
    X, y = data
    labels = np.where(y > np.median(y), "high", "low")
    Kx = rbf_kernel(X, gamma=GAMMA)
    for center in (False, True):
        direct = stability_bound(SparseMaximalCovariance(K, gamma=GAMMA, center=center), X, labels)
        given_matrix = stability_bound(
            SparseMaximalCovariance(K, kernel="precomputed", center=center), Kx, labels, trim=0.0
        )
        assert_allclose(given_matrix.bound, direct.bound, rtol=1e-8)
    uncentred = stability_bound(SparseMaximalCovariance(K, gamma=GAMMA, center=False), X, labels)
    assert uncentred.radius_squared == pytest.approx(1)


def test_examples_needed_bring_the_terms_below_the_gap(data):
    X, y = data
    bound = stability_bound(SparseMaximalCovariance(K, gamma=GAMMA, center=False), X, y)
    gap = 0.1 * bound.empirical
    needed = bound.n_examples_needed(gap)
    terms = (bound.complexity + bound.confidence) * np.sqrt(bound.n_examples)
    assert (terms / np.sqrt(needed) <= gap * (1 + 1e-12)).all()
    assert (terms / np.sqrt(needed - 1) > gap).all()
    assert bound.n_examples_needed(1.0).shape == (K,)
    assert (bound.n_examples_needed(1e-12) == 2**62).all()
    with pytest.raises(InvalidParameterError, match="gap=0 must be above 0"):
        bound.n_examples_needed(0)


def test_trimming_leaves_out_the_rows_of_the_largest_norm(data):
    X, y = data
    y = y.copy()
    y[[3, 70]] = 40, -50
    extractor = SparseMaximalCovariance(K, gamma=GAMMA, center=False)
    whole, trimmed = (stability_bound(extractor, X, y, trim=trim) for trim in (0, 2 / 150))
    assert_array_equal(np.setdiff1d(whole.kept, trimmed.kept), [3, 70])
    assert trimmed.n_examples == 148
    alone = stability_bound(extractor, X[trimmed.kept], y[trimmed.kept])
    assert_allclose(trimmed.bound, alone.bound)
    assert trimmed.radius_squared < whole.radius_squared / 100
    Kx = rbf_kernel(X, gamma=GAMMA)
    matrix = stability_bound(
        SparseMaximalCovariance(K, kernel="precomputed", center=False), Kx, y, trim=2 / 150
    )
    assert_allclose(matrix.bound, trimmed.bound, rtol=1e-8)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 8), center=st.booleans())
def test_what_always_holds(seed, k, center):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 3))
    y = X[:, 0] + rng.standard_normal(40)
    bound = stability_bound(SparseMaximalCovariance(k, gamma=0.3, center=center), X, y)
    assert (bound.bound < bound.empirical).all()
    assert (np.diff(bound.empirical) >= -1e-12).all()
    assert (np.diff(bound.norms) >= -1e-12).all()
    looser = stability_bound(SparseMaximalCovariance(k, gamma=0.3, center=center), X, y, delta=0.01)
    assert (looser.bound < bound.bound).all()
    # the scale of the target is a factor of everything
    scaled = stability_bound(SparseMaximalCovariance(k, gamma=0.3, center=center), X, 3 * y)
    assert_allclose(scaled.bound, 9 * bound.bound, rtol=1e-6)


def test_the_bound_holds_on_new_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 5))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(4000) > 0, 1.0, -1.0)
    extractor = SparseMaximalCovariance(5, gamma=0.02, center=False)
    bound = stability_bound(extractor, X[:2000], y[:2000])
    new = cumulative_pointwise_squared_covariance(bound.extractor.transform(X[2000:]), y[2000:])
    assert (bound.bound < new).all()
    assert (bound.bound > 0.5 * new).all()  # and says something
    assert select_by_bound(extractor, X[:2000], y[:2000]) == bound.best_n_components


def test_a_bound_that_says_nothing_is_told_of(data):
    X, y = data
    with pytest.warns(VacuousBoundWarning, match="below zero it is vacuous"):
        assert select_by_bound(SparseMaximalCovariance(3, center=False), X[:50], y[:50]) == 1


def test_what_cannot_work_is_refused(data):
    X, y = data
    extractor = SparseMaximalCovariance(3)
    for keywords, message in (
        ({"delta": 0}, "delta=0 must be a probability"),
        ({"delta": 1.5}, "delta=1.5"),
        ({"trim": 1}, "trim=1 must be a fraction"),
        ({"trim": -0.1}, "trim=-0.1"),
        ({"cost": np.inf}, "cost=inf"),
        ({"delta": "a"}, "delta='a'"),
        ({"cost": "x"}, "cost='x'"),
        ({"trim": "some"}, "trim='some'"),
        ({"trim": 0.999}, r"trim=0.999 leaves 1 of 150 samples for 3 features"),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            stability_bound(extractor, X, y, **keywords)
    for other in (StandardScaler(), FeatureExtraction("pls")):
        with pytest.raises(InvalidParameterError, match="has no kernel of kernelsieve"):
            stability_bound(other, X, y)
