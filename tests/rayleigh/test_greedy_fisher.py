"""Greedy kernel Fisher discriminants against the quadratic program that they solve."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import CountingKernel
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import Ridge
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import scale

from kernelsieve import (
    Candidates,
    GreedyKernelFisherDiscriminant,
    KernelFisherDiscriminant,
    SparseMaximalAlignment,
)
from kernelsieve.deflation import NEVER
from kernelsieve.exceptions import FewerFeaturesWarning, InvalidDataError, InvalidParameterError
from kernelsieve.rayleigh import DecisionRule, Tangent

FRESH = Candidates(resample=True)

GAMMA = 1 / 30


def program(K, y, reg):
    """The equality-constrained quadratic program in (b, alpha): objective and solution."""
    m = len(y)
    ones = np.ones((m, 1))
    full = np.hstack([ones, K])
    H = full.T @ full
    H[1:, 1:] += reg * np.eye(K.shape[1])
    plus, minus = (y > 0).astype(float), (y < 0).astype(float)
    A = full.T @ np.column_stack([plus, minus])
    c = full.T @ y
    target = np.array([plus.sum(), -minus.sum()])
    multipliers = np.linalg.solve(A.T @ np.linalg.solve(H, A), A.T @ np.linalg.solve(H, c) - target)
    a = np.linalg.solve(H, c - A @ multipliers)
    return 0.5 * a @ H @ a - c @ a + m / 2, a


def rayleigh(K, y, reg):
    """J = D' (N + C I)^-1 D, with the class means and the scatter within classes."""
    plus, minus = K[y > 0], K[y < 0]
    D = plus.mean(axis=0) - minus.mean(axis=0)
    N = sum((k - k.mean(axis=0)).T @ (k - k.mean(axis=0)) for k in (plus, minus))
    return D @ np.linalg.solve(N + reg * np.eye(K.shape[1]), D)


def naive_greedy(K, y, reg, n_steps):
    """Try every candidate at every step."""
    chosen, values = [], []
    for _ in range(n_steps):
        best = max(
            (j for j in range(K.shape[1]) if j not in chosen),
            key=lambda j: rayleigh(K[:, [*chosen, j]], y, reg),
        )
        chosen.append(best)
        values.append(2 / rayleigh(K[:, chosen], y, reg))
    return chosen, values


@pytest.fixture(scope="module")
def signs(cancer):
    return 2.0 * cancer[1] - 1


@pytest.mark.parametrize("reg", [1e-3, 1.0])
def test_choices_are_those_of_a_naive_search(cancer, signs, reg):
    X, y = cancer[0][:120], cancer[1][:120]
    K = rbf_kernel(X, gamma=GAMMA)
    chosen, values = naive_greedy(K, signs[:120], reg, 20)
    model = GreedyKernelFisherDiscriminant(20, gamma=GAMMA, reg=reg, stop_tol=0).fit(X, y)
    assert_array_equal(model.landmark_indices_, chosen)
    assert_allclose(model.criterion_path_, values, rtol=1e-10)


@pytest.mark.parametrize("reg", [1e-3, 0.5])
def test_objective_is_that_of_the_quadratic_program(cancer, signs, reg):
    X, y = cancer
    model = GreedyKernelFisherDiscriminant(15, gamma=GAMMA, reg=reg, stop_tol=0).fit(X, y)
    K = rbf_kernel(X, X[model.landmark_indices_], gamma=GAMMA)
    for j in range(1, 16):
        objective, a = program(K[:, :j], signs, reg)
        assert_allclose(model.criterion_path_[j - 1], objective, rtol=1e-10)
        # the discriminant itself, on the scale on which the means of the classes differ by 2
        output = model.decision_function(X, n_components=j)
        direction = K[:, :j] @ a[1:]
        assert_allclose(output - output.mean(), direction - direction.mean(), atol=1e-7)
        assert_allclose(output[y == 1].mean() - output[y == 0].mean(), 2, rtol=1e-8)


def test_discriminant_is_kfd_and_ridge_regression_on_the_chosen_examples(cancer, signs):
    X, y = cancer
    reg = 0.1
    model = GreedyKernelFisherDiscriminant(10, gamma=GAMMA, reg=reg, stop_tol=0).fit(X, y)
    landmarks = X[model.landmark_indices_]
    kfd = KernelFisherDiscriminant(gamma=GAMMA, reg=reg, candidates=landmarks).fit(X, y)
    assert_allclose(kfd.decision_function(X), model.decision_function(X), atol=1e-7)
    K = rbf_kernel(X, landmarks, gamma=GAMMA)
    ridge = Ridge(alpha=reg).fit(K, signs).predict(K)
    correlation = np.corrcoef(ridge, model.decision_function(X))[0, 1]
    assert_allclose(correlation, 1, atol=1e-12)


def test_without_a_ridge_the_choices_are_those_of_maximal_alignment(cancer):
    X, y = cancer
    greedy = GreedyKernelFisherDiscriminant(20, reg=0, stop_tol=0).fit(X, y)
    alignment = SparseMaximalAlignment(20, scale="unit_variance").fit(X, y)
    assert_array_equal(greedy.landmark_indices_, alignment.landmark_indices_)
    assert_allclose(np.abs(greedy.transform(X)), np.abs(alignment.transform(X)), atol=1e-7)


def test_features_are_orthonormal_together_with_the_ridge(cancer):
    X, y = cancer
    for candidates in ("all", 100):
        model = GreedyKernelFisherDiscriminant(
            12, reg=0.3, stop_tol=0, candidates=candidates, random_state=0
        ).fit(X, y)
        features, P = model.transform(X), model.projection_
        assert_allclose(features.mean(axis=0), 0, atol=1e-9)
        assert_allclose((features.T @ features + 0.3 * P.T @ P) / len(X), np.eye(12), atol=1e-9)


def test_a_pool_gives_what_its_columns_give(cancer, signs):
    X, y = cancer
    pool = X[::5]
    K = rbf_kernel(X, pool, gamma=GAMMA)
    chosen, values = naive_greedy(K, signs, 0.01, 12)
    model = GreedyKernelFisherDiscriminant(12, gamma=GAMMA, reg=0.01, stop_tol=0, candidates=pool).fit(
        X, y
    )
    assert_array_equal(model.landmark_indices_, chosen)
    assert_allclose(model.criterion_path_, values, rtol=1e-9)


def test_pieces_give_the_same_as_a_fit(cancer):
    X, y = cancer
    arguments = {"gamma": GAMMA, "reg": 0.01, "stop_tol": 0, "candidates": X[::5]}
    whole = GreedyKernelFisherDiscriminant(12, **arguments).fit(X, y)
    parts = GreedyKernelFisherDiscriminant(12, **arguments)
    for start in range(0, len(X), 200):
        parts.partial_fit(X[start : start + 200], y[start : start + 200])
    batches = GreedyKernelFisherDiscriminant(12, **arguments).fit_batches(
        [(X[:300], y[:300]), (X[300:], y[300:])]
    )
    for other in (parts, batches):
        assert_array_equal(other.landmark_indices_, whole.landmark_indices_)
        assert_allclose(other.criterion_path_, whole.criterion_path_, rtol=1e-8)
        assert_allclose(other.decision_function(X), whole.decision_function(X), atol=1e-7)
        # Where samples come once, their leverages are taken for equal.
        assert_allclose(other.predict_proba(X), whole.predict_proba(X), atol=0.25)
        assert other.sparsity_ == whole.sparsity_ == 1 - 12 / len(X[::5])


def test_the_margin_needs_all_rows(cancer):
    X, y = cancer
    model = GreedyKernelFisherDiscriminant(5, decision="margin", candidates=X[:50])
    with pytest.raises(InvalidParameterError, match="decision='margin'"):
        model.partial_fit(X, y)


def test_fresh_subsets_of_all_rows_are_exact_selection(cancer):
    X, y = cancer[0][:200], cancer[1][:200]
    arguments = {"reg": 0.05, "stop_tol": 0}
    exact = GreedyKernelFisherDiscriminant(10, **arguments).fit(X, y)
    fresh = GreedyKernelFisherDiscriminant(
        10, candidates=Candidates(200, resample=True), random_state=0, **arguments
    ).fit(X, y)
    assert_array_equal(fresh.landmark_indices_, exact.landmark_indices_)
    assert_allclose(fresh.criterion_path_, exact.criterion_path_, rtol=1e-9)
    assert_allclose(fresh.decision_function(X), exact.decision_function(X), atol=1e-7)


def test_fifty_nine_fresh_candidates_come_close(cancer):
    X, y = cancer
    kernel = CountingKernel(GAMMA)
    fresh = GreedyKernelFisherDiscriminant(
        20, kernel=kernel, candidates=FRESH, stop_tol=0, random_state=0
    ).fit(X, y)
    assert kernel.evaluations <= 20 * 59 * len(X) + 20 * len(X) + 1
    exact = GreedyKernelFisherDiscriminant(20, gamma=GAMMA, stop_tol=0).fit(X, y)
    assert fresh.criterion_path_[-1] < 1.3 * exact.criterion_path_[-1]


def test_a_pool_costs_one_pass_and_two_over_the_landmarks(cancer):
    X, y = cancer
    kernel = CountingKernel(GAMMA)
    GreedyKernelFisherDiscriminant(10, kernel=kernel, stop_tol=0, candidates=X[:60]).fit(X, y)
    assert kernel.evaluations <= len(X) * 60 + 60 * 60 + 2 * len(X) * 10 + 1


def test_exact_selection_evaluates_the_matrix_once(cancer):
    X, y = cancer
    kernel = CountingKernel(GAMMA)
    model = GreedyKernelFisherDiscriminant(10, kernel=kernel, stop_tol=0, candidates="all").fit(X, y)
    assert kernel.evaluations <= len(X) ** 2 + 10 * len(X) + 1  # and outputs of left-out samples
    kernel.evaluations = 0
    model.predict(X)
    model.predict(X, n_components=4)
    assert kernel.evaluations == len(X) * (10 + 4)


def test_it_stops_when_the_objective_falls_slowly(cancer):
    X, y = cancer
    everything = GreedyKernelFisherDiscriminant(60, reg=1.0, stop_tol=0).fit(X, y)
    path = everything.criterion_path_
    falls = 1 - path[1:] / path[:-1]
    means = np.array([falls[j - 5 : j].mean() for j in range(5, len(falls) + 1)])
    stop = 5 + 1 + int(np.argmax(means < 0.02))  # features there were when it was first too slow
    assert stop < 60
    stopped = GreedyKernelFisherDiscriminant(reg=1.0, stop_tol=0.02).fit(X, y)
    assert stopped.n_components_ == stop
    assert_array_equal(stopped.landmark_indices_, everything.landmark_indices_[:stop])
    with pytest.warns(FewerFeaturesWarning, match="stop_tol"):
        GreedyKernelFisherDiscriminant(60, reg=1.0, stop_tol=0.02).fit(X, y)


def test_first_features_are_a_smaller_model(digits):
    X, y = digits
    long = GreedyKernelFisherDiscriminant(30, stop_tol=0).fit(X, y)
    short = GreedyKernelFisherDiscriminant(10, stop_tol=0).fit(X, y)
    assert_array_equal(long.landmark_indices_[:10], short.landmark_indices_)
    assert_allclose(long.decision_function(X, n_components=10), short.decision_function(X), atol=1e-7)
    assert_array_equal(long.predict(X, n_components=10), short.predict(X))


def test_several_classes_are_told_apart(digits):
    X, y = digits
    model = GreedyKernelFisherDiscriminant(80, gamma=0.05, stop_tol=0).fit(X[:500], y[:500])
    assert model.score(X[500:], y[500:]) > 0.88
    assert np.all(np.diff(model.criterion_path_) < 0)
    assert model.predict_proba(X[500:]).shape == (200, 10)


@pytest.mark.parametrize("threshold", ["gaussian", "margin", "midpoint", "least_squares"])
def test_moments_without_a_pass_are_those_of_the_outputs(cancer, threshold):
    X, y = cancer
    model = GreedyKernelFisherDiscriminant(8, reg=0.2, stop_tol=0, decision=threshold).fit(X, y)
    f = model.decision_function(X)
    if threshold == "midpoint":
        assert_allclose(f[y == 0].mean() + f[y == 1].mean(), 0, atol=1e-8)
    if threshold == "least_squares":
        slope, intercept = np.polyfit(f, 2.0 * y - 1, 1)
        assert_allclose(intercept, 0, atol=1e-8)
        assert slope > 0
    if threshold == "gaussian":  # equal odds at zero
        p = model.predict_proba(X)[:, 1]
        assert_array_equal(p > 0.5, f > 0)
    assert model.score(X, y) > 0.9


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    reg=st.sampled_from([0.0, 1e-4, 0.1, 3.0]),
    weighted=st.booleans(),
)
def test_weights_count_rows(seed, reg, weighted):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 3))
    y = (X[:, 0] + rng.standard_normal(40) > 0).astype(int)
    y[:2] = 0, 1
    weight = rng.integers(1, 4, 40) if weighted else np.ones(40, int)
    pool = X[:15]
    arguments = {"reg": reg, "stop_tol": 0, "candidates": pool, "gamma": 0.3}
    by_weight = GreedyKernelFisherDiscriminant(6, **arguments).fit(X, y, sample_weight=weight)
    repeated = GreedyKernelFisherDiscriminant(6, **arguments).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    assert_array_equal(by_weight.landmark_indices_, repeated.landmark_indices_)
    assert_allclose(by_weight.criterion_path_, repeated.criterion_path_, rtol=1e-7)
    assert_allclose(by_weight.decision_function(X), repeated.decision_function(X), atol=1e-5)
    assert np.all(np.diff(by_weight.criterion_path_) <= 1e-9 * by_weight.criterion_path_[0])


@pytest.mark.parametrize("threshold", ["gaussian", "margin", "midpoint", "least_squares"])
@pytest.mark.parametrize("candidates", ["all", 40])
def test_a_class_without_weight_never_wins(threshold, candidates):
    X, y = load_iris(return_X_y=True)
    arguments = {"decision": threshold, "candidates": candidates, "stop_tol": 0, "random_state": 0}
    model = GreedyKernelFisherDiscriminant(10, gamma=0.5, **arguments)
    known = y != 1
    with_it = clone(model).fit(X, y, sample_weight=known.astype(float))
    without = clone(model).fit(X[known], y[known])
    for j in (1, 4, 10):
        decisions = with_it.decision_function(X, n_components=j)
        assert np.isfinite(decisions).all()
        assert_array_equal(decisions[:, 1], NEVER)
        assert_array_equal(with_it.predict(X, n_components=j), without.predict(X, n_components=j))
    assert_array_equal(with_it.predict_proba(X)[:, 1], 0)
    assert_allclose(with_it.predict_proba(X).sum(axis=1), 1)
    assert_array_equal(with_it.landmark_indices_, np.flatnonzero(known)[without.landmark_indices_])
    assert_allclose(with_it.criterion_path_, without.criterion_path_, rtol=1e-7)


def test_a_class_that_has_not_come_yet_never_wins():
    X, y = load_iris(return_X_y=True)
    model = GreedyKernelFisherDiscriminant(8, gamma=0.5, candidates=X[::4], stop_tol=0)
    first = y < 2
    model.partial_fit(X[first], y[first], classes=[0, 1, 2])
    assert_array_equal(model.predict(X[first]), y[first])
    assert set(model.predict(X)) == {0, 1}
    model.partial_fit(X[~first], y[~first])
    whole = GreedyKernelFisherDiscriminant(8, gamma=0.5, candidates=X[::4], stop_tol=0).fit(X, y)
    assert_allclose(model.decision_function(X), whole.decision_function(X), atol=1e-7)


@pytest.mark.parametrize("candidates", ["all", 10])
@pytest.mark.parametrize("reg", [0.0, 1e-3])
def test_equal_rows_tell_no_classes_apart(candidates, reg):
    model = GreedyKernelFisherDiscriminant(candidates=candidates, reg=reg)
    with pytest.raises(InvalidDataError, match=r"No feature could be found.*equal samples"):
        model.fit(np.ones((20, 3)), np.arange(20) % 2)
    assert not hasattr(model, "n_components_")


def test_a_ridge_that_outweighs_everything_is_named(cancer):
    X, y = cancer
    huge = {"reg": 1e30, "candidates": X[:50]}
    model = GreedyKernelFisherDiscriminant(candidates=X[:50]).partial_fit(X, y)
    before = model.decision_function(X)
    for other in (model, GreedyKernelFisherDiscriminant()):  # one that knows a pool already
        other.set_params(reg=1e30, candidates="all")
        with pytest.raises(InvalidDataError, match=r"reg=1e\+30.*lower reg"):
            other.fit(X, y)
    assert_array_equal(model.decision_function(X), before)
    with pytest.raises(InvalidDataError, match="lower reg"):
        GreedyKernelFisherDiscriminant(**huge).fit_batches([(X, y)])
    with pytest.raises(InvalidDataError, match="lower reg"):
        GreedyKernelFisherDiscriminant(**huge).partial_fit(X, y).predict(X)


def test_candidates_of_a_pool_and_of_a_fit_are_not_mixed_up(cancer):
    X, y = cancer
    model = GreedyKernelFisherDiscriminant(5, candidates=X[:50], stop_tol=0).partial_fit(X, y)
    assert model.sparsity_ == 1 - 5 / 50
    assert model.set_params(candidates=X[:80]).fit(X, y).sparsity_ == 1 - 5 / 80
    assert model.set_params(candidates="all").fit(X, y).sparsity_ == 1 - 5 / len(X)


@pytest.mark.parametrize(
    "arguments", [{}, {"candidates": Candidates(40, resample=True), "random_state": 0}]
)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_equal_rows_are_one_candidate(arguments, layout):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((40, 3))
    X[:5, 1] = -0.0
    y = (X[:, 0] + 0.5 * rng.standard_normal(40) > 0).astype(int)
    weight = rng.integers(1, 4, 40)
    rows = rng.permutation(np.repeat(np.arange(40), weight))
    again = X[rows] + 0.0
    model = GreedyKernelFisherDiscriminant(12, reg=0.5, gamma=0.3, stop_tol=0, **arguments)
    by_weight = clone(model).fit(layout(X), y, sample_weight=weight)
    repeated = clone(model).fit(layout(again), y[rows])
    assert_array_equal(rows[repeated.landmark_indices_], by_weight.landmark_indices_)
    assert_allclose(repeated.criterion_path_, by_weight.criterion_path_, rtol=1e-8)
    assert_allclose(repeated.decision_function(layout(X)), by_weight.decision_function(layout(X)))
    assert_allclose(repeated.explained_variance_ratio_, by_weight.explained_variance_ratio_, rtol=1e-7)
    assert repeated.sparsity_ == by_weight.sparsity_ == 1 - 12 / 40


def test_equal_points_of_a_given_pool_are_one_candidate(cancer):
    X, y = cancer
    arguments = {"reg": 1.0, "stop_tol": 0}
    once = GreedyKernelFisherDiscriminant(8, candidates=X[:20], **arguments).fit(X, y)
    twice = GreedyKernelFisherDiscriminant(8, candidates=X[np.tile(np.arange(20), 2)], **arguments)
    assert_array_equal(twice.fit(X, y).landmark_indices_, once.landmark_indices_)
    assert_allclose(twice.criterion_path_, once.criterion_path_, rtol=1e-9)
    assert twice.sparsity_ == once.sparsity_
    with pytest.warns(FewerFeaturesWarning, match="linearly dependent"):
        assert twice.set_params(n_components=30).fit(X, y).n_components_ == 20


def test_equal_rows_of_a_precomputed_kernel_are_one_candidate(cancer):
    X, y = cancer[0][:60], cancer[1][:60]
    rows = np.repeat(np.arange(60), 2)
    K = rbf_kernel(X, gamma=GAMMA)
    model = GreedyKernelFisherDiscriminant(10, kernel="precomputed", reg=1.0, stop_tol=0)
    by_weight = clone(model).fit(K, y, sample_weight=np.full(60, 2))
    repeated = clone(model).fit(K[np.ix_(rows, rows)], y[rows])
    assert_array_equal(rows[repeated.landmark_indices_], by_weight.landmark_indices_)
    assert_allclose(repeated.criterion_path_, by_weight.criterion_path_, rtol=1e-9)


def smaller(X):
    return 0.8 * X


def shifted(X):
    return X + 0.1 * np.arange(X.shape[1])


INVARIANCES = [(smaller, 0.5), (shifted, 2.0), (np.tanh, 0.0)]


def changes(X, Z, weight=1.0):
    """The sum of the weighted tangent matrices of columns at Z, written out."""
    total = np.zeros((len(Z), len(Z)))
    for transform, w in INVARIANCES:
        T = rbf_kernel(X, Z, gamma=GAMMA) - rbf_kernel(transform(X), Z, gamma=GAMMA)
        total += w * (T * np.reshape(weight, (-1, 1))).T @ T
    return total


def blind(K, y, reg, S):
    """J with the changes added to the scatter within classes."""
    plus, minus = K[y > 0], K[y < 0]
    D = plus.mean(axis=0) - minus.mean(axis=0)
    N = sum((k - k.mean(axis=0)).T @ (k - k.mean(axis=0)) for k in (plus, minus))
    return D @ np.linalg.solve(N + reg * np.eye(len(D)) + S, D)


def naive_blind_greedy(X, Z, y, reg, n_steps):
    """Try every candidate at every step."""
    K, S = rbf_kernel(X, Z, gamma=GAMMA), changes(X, Z)
    chosen, values = [], []
    for _ in range(n_steps):
        tries = {
            j: blind(K[:, [*chosen, j]], y, reg, S[np.ix_([*chosen, j], [*chosen, j])])
            for j in range(len(Z))
            if j not in chosen
        }
        chosen.append(max(tries, key=tries.get))
        values.append(2 / tries[chosen[-1]])
    return chosen, values


@pytest.mark.parametrize("reg", [0.0, 0.1])
@pytest.mark.parametrize("precision", ["auto", "safe"])
@pytest.mark.parametrize("everyone", [True, False])
def test_invariant_choices_are_those_of_a_naive_search(
    cancer, signs, reg, precision, everyone, configured
):
    configured(precision=precision)
    X, y = cancer[0][:150], cancer[1][:150]
    Z = X if everyone else X[::3]
    chosen, values = naive_blind_greedy(X, Z, signs[:150], reg, 10)
    assert chosen != naive_greedy(rbf_kernel(X, Z, gamma=GAMMA), signs[:150], reg, 10)[0]
    model = GreedyKernelFisherDiscriminant(
        10,
        gamma=GAMMA,
        reg=reg,
        stop_tol=0,
        invariances=INVARIANCES,
        candidates="all" if everyone else Z,
    ).fit(X, y)
    assert_array_equal(model.landmark_indices_, chosen)
    assert_allclose(model.criterion_path_, values, rtol=1e-8)


@pytest.mark.parametrize("pieces", [False, True])
def test_invariant_features_and_moments(cancer, pieces):
    X, y = cancer
    weight = np.random.default_rng(0).integers(1, 4, len(X)).astype(float)
    model = GreedyKernelFisherDiscriminant(
        12, gamma=GAMMA, reg=0.3, stop_tol=0, candidates=X[:80], invariances=INVARIANCES
    )
    if pieces:
        for some in np.array_split(np.arange(len(X)), 4):
            model.partial_fit(X[some], y[some], sample_weight=weight[some])
    else:
        model.fit(X, y, sample_weight=weight)
    F, P = model.transform(X), model.projection_
    S = changes(X, model.landmarks_, weight)
    squares = (F * weight[:, None]).T @ F + 0.3 * P.T @ P + P.T @ S @ P
    assert_allclose(squares / weight.sum(), np.eye(12), atol=1e-7)
    for j in (3, 12):  # the threshold needs the variance of the output without ridge and changes
        f = model.decision_function(X, n_components=j)
        slope, intercept = np.polyfit(f, 2.0 * y - 1, 1, w=np.sqrt(weight))
        assert_allclose(intercept, 0, atol=1e-6)
        assert slope > 0
    kfd = KernelFisherDiscriminant(
        gamma=GAMMA, reg=0.3, candidates=model.landmarks_, invariances=INVARIANCES
    ).fit(X, y, sample_weight=weight)
    assert_allclose(kfd.decision_function(X), model.decision_function(X), atol=1e-6)
    assert_allclose(
        model.explained_variance_ratio_,
        shares_of_variance(X, model.landmarks_, weight),
        rtol=1e-5,
        atol=1e-8,
    )


def shares_of_variance(X, Z, weight):
    """What each landmark's image adds to the span, as a share of the variance of all images."""
    L = np.linalg.cholesky(rbf_kernel(Z, gamma=GAMMA))
    coordinates = np.linalg.solve(L, rbf_kernel(Z, X, gamma=GAMMA)).T
    rest = coordinates - weight @ coordinates / weight.sum()
    # The variance of all images about their mean, of which the pool knows the part in its span.
    W, means = rbf_kernel(X[:80], gamma=GAMMA), weight @ rbf_kernel(X, X[:80], gamma=GAMMA)
    means /= weight.sum()
    total = weight.sum() * (1 - means @ np.linalg.solve(W, means))
    return weight @ rest**2 / total


def test_the_output_changes_less_the_more_that_weighs(cancer):
    X, y = cancer

    def change(weight):
        model = GreedyKernelFisherDiscriminant(
            15, gamma=GAMMA, stop_tol=0, invariances=[(smaller, weight)]
        ).fit(X, y)
        assert model.score(X, y) > 0.95
        f = model.decision_function(X)
        return np.mean((f - model.decision_function(smaller(X))) ** 2) / f.var()

    found = np.array([change(weight) for weight in (0, 1, 10, 100)])
    assert (np.diff(found) < 0).all()
    assert found[-1] < found[0] / 2


def test_an_invariance_costs_two_more_columns_for_every_candidate(cancer):
    X, y = cancer
    kernel = CountingKernel(GAMMA)
    GreedyKernelFisherDiscriminant(
        10, kernel=kernel, stop_tol=0, candidates=X[:60], invariances=[(smaller, 1.0)]
    ).fit(X, y)
    assert kernel.evaluations <= 3 * len(X) * 60 + 60 * 60 + 4 * len(X) * 10 + 1


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_moved_examples_may_be_candidates(cancer, signs, layout):
    X, y = cancer[0][:80], cancer[1][:80]
    invariances = [(smaller, 1.0)]
    union = np.vstack([X, smaller(X)])
    arguments = {"gamma": GAMMA, "reg": 0.01, "stop_tol": 0, "invariances": invariances}
    with_copies = [Tangent(smaller, 1.0, virtual_candidates=True)]
    model = GreedyKernelFisherDiscriminant(10, **{**arguments, "invariances": with_copies})
    model.fit(layout(X), y)
    given = GreedyKernelFisherDiscriminant(10, candidates=layout(union), **arguments).fit(layout(X), y)
    assert (given.landmark_indices_ >= 80).any()
    assert_array_equal(model.landmark_indices_, given.landmark_indices_ % 80)
    assert_allclose(model.decision_function(layout(X)), given.decision_function(layout(X)), atol=1e-8)
    assert model.sparsity_ == 1 - 10 / 160


def test_invariances_of_no_weight_change_nothing(cancer):
    X, y = cancer
    arguments = {"gamma": GAMMA, "stop_tol": 0}
    plain = GreedyKernelFisherDiscriminant(8, **arguments).fit(X, y)
    other = GreedyKernelFisherDiscriminant(8, invariances=[(np.tanh, 0.0)], **arguments).fit(X, y)
    assert_array_equal(other.landmark_indices_, plain.landmark_indices_)
    assert_allclose(other.decision_function(X), plain.decision_function(X), atol=1e-6)


def test_invariances_that_cannot_be_used_are_refused(cancer):
    X, y = cancer
    for arguments in ({"candidates": FRESH}, {"kernel": "precomputed"}):
        model = GreedyKernelFisherDiscriminant(invariances=INVARIANCES, **arguments)
        data = rbf_kernel(X) if "kernel" in arguments else X
        with pytest.raises(InvalidParameterError, match="invariances are given"):
            model.fit(data, y)
    for bad in ([smaller], [(smaller, "much")], [(smaller, -1.0)], [(3, 1.0)]):
        with pytest.raises(InvalidParameterError):
            GreedyKernelFisherDiscriminant(invariances=bad).fit(X, y)
    with pytest.raises(InvalidDataError, match="same shape"):
        GreedyKernelFisherDiscriminant(invariances=[(lambda X: X[:, :2], 1.0)]).fit(X, y)


@pytest.mark.parametrize("reg", [1e-3, 1.0])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_directions_past_the_rank_explain_no_variance(rng, kernel, reg):
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    model = GreedyKernelFisherDiscriminant(40, kernel=kernel, gamma=1e-4, reg=reg, stop_tol=0)
    explained = model.fit(X, y).explained_variance_ratio_
    assert (explained >= 0).all()
    assert explained.sum() < 1 + 1e-12


def test_shares_of_an_estimated_variance_are_not_above_one(rng):
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)

    def squares(A, B):
        return (A @ B.T + 1) ** 2

    for seed in range(4):  # the variance is estimated from candidates, which may vary less
        model = GreedyKernelFisherDiscriminant(kernel=squares, candidates=12, random_state=seed)
        assert model.fit(X, y).explained_variance_ratio_.sum() < 1 + 1e-12


def test_the_default_stops_where_landmarks_help_little():
    for load in (load_wine, load_breast_cancer):
        X, y = load(return_X_y=True)
        assert len(GreedyKernelFisherDiscriminant().fit(scale(X), y).landmarks_) < 60


def test_held_out_probabilities(cancer):
    X, y = cancer
    losses = []
    for how in (
        {"decision": DecisionRule(probability="in_sample")},
        {},
        {"decision": DecisionRule(probability=4)},
    ):
        model = GreedyKernelFisherDiscriminant(80, gamma=0.3, reg=1e-6, stop_tol=0, **how)
        p = model.fit(X[:200], y[:200]).predict_proba(X[200:])
        assert_array_equal(p.argmax(axis=1), model.predict(X[200:]))
        losses.append(log_loss(y[200:], p))
    assert max(losses[1:]) < losses[0]
    few = model.predict_proba(X[200:], n_components=3)
    assert_array_equal(few.argmax(axis=1), model.predict(X[200:], n_components=3))
