"""Kernel Fisher discriminants against the papers' formulas and scikit-learn."""

from functools import partial

import numpy as np
import pytest
from configured import fit_with
from naive import CountingKernel
from naive_fisher import (
    between,
    cosine,
    generalized_discriminants,
    ridge_direction,
    tangent,
    two_class_direction,
    within,
)
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg import eigh, subspace_angles
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import log_loss
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from kernelsieve import (
    Candidates,
    GreedyKernelFisherDiscriminant,
    KernelFisherDiscriminant,
    SparseKernelFisherDiscriminant,
)
from kernelsieve.exceptions import FewerFeaturesWarning
from kernelsieve.rayleigh import DecisionRule, ImageRotation, ImageTranslation, Tangent, fisher
from kernelsieve.rayleigh.decisions import add_decision
from kernelsieve.rayleigh.linear_program import margin_threshold

THREE_FOLDS = DecisionRule(probability=3)


OVR = DecisionRule(multi_class="ovr")

GAMMA = 0.02
THRESHOLDS = ["least_squares", "margin", "midpoint", "gaussian"]


@pytest.mark.parametrize("pool", [None, 60], ids=["all", "pool"])
@pytest.mark.parametrize("penalty", ["alpha", "norm"])
@pytest.mark.parametrize("reg", [10.0, 1e-3])
def test_direction_is_that_of_the_naive_matrices(cancer, pool, penalty, reg):
    X, y = cancer
    Z = X if pool is None else X[:pool]
    candidates = "all" if pool is None else Z
    model = KernelFisherDiscriminant(gamma=GAMMA, candidates=candidates, reg=reg, penalty=penalty)
    features = model.fit(X, y).transform(X)[:, 0]
    K, W = rbf_kernel(X, Z, gamma=GAMMA), rbf_kernel(Z, gamma=GAMMA)
    alpha = two_class_direction(K, y, reg * (np.eye(len(Z)) if penalty == "alpha" else W))
    naive = K @ alpha
    naive -= naive.mean()
    assert 1 - cosine(features, naive) < 1e-12
    if penalty == "alpha":  # with the length of K alpha alone, many alpha are nearly the same
        assert 1 - cosine(model.projection_[:, 0], alpha) < 1e-9
    assert features[y == 1].mean() > features[y == 0].mean()


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_direction_is_that_of_ridge_regression(cancer, C):
    X, y = cancer
    model = KernelFisherDiscriminant(gamma=GAMMA, candidates="all", reg=C).fit(X, y)
    ridge = ridge_direction(rbf_kernel(X, gamma=GAMMA), y, C)
    assert 1 - cosine(model.projection_[:, 0], ridge[:-1]) < 1e-10
    # and so is the decision by least squares, whose intercept is not penalised
    scores = rbf_kernel(X, gamma=GAMMA) @ ridge[:-1] + ridge[-1]
    decided = model.decision_function(X)
    clear = np.abs(scores) > 0.05
    assert np.mean((decided > 0)[clear] == (scores > 0)[clear]) > 0.99


@pytest.mark.parametrize("reg", [0.0, 1e-7])
def test_linear_kernel_is_linear_discriminant_analysis(cancer, digits, reg):
    X, y = cancer
    model = KernelFisherDiscriminant(kernel="linear", reg=reg, candidates="all").fit(X, y)
    peer = LinearDiscriminantAnalysis().fit(X, y)
    direction = X.T[:, model.landmark_indices_] @ model.projection_[:, 0]
    assert 1 - cosine(direction, peer.scalings_[:, 0]) < 1e-8
    X, y = digits
    X = X + 0.1 * np.random.default_rng(0).normal(size=X.shape)  # no constant pixels
    model = KernelFisherDiscriminant(kernel="linear", reg=reg, candidates="all").fit(X, y)
    peer = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    directions = X.T[:, model.landmark_indices_] @ model.projection_
    assert directions.shape == (64, 9)
    assert subspace_angles(directions, peer.scalings_[:, :9]).max() < 1e-5
    for ours, theirs in zip(directions.T, peer.scalings_.T[:9], strict=True):
        assert 1 - cosine(ours, theirs) < 1e-6
    assert np.mean(model.predict(X) == peer.predict(X)) > 0.995


@pytest.mark.parametrize("delta", [1.0, 1e-3])
def test_several_classes_are_generalised_discriminant_analysis(digits, delta):
    X, y = digits
    X, y = X[:300], y[:300]
    K = rbf_kernel(X, gamma=0.05)
    k = len(np.unique(y)) - 1
    naive = generalized_discriminants(K, y, delta, k)
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    model = KernelFisherDiscriminant(kernel="precomputed", reg=delta, candidates="all").fit(centred, y)
    ours = model.transform(centred)
    assert ours.shape == naive.shape
    for a, b in zip(ours.T, naive.T, strict=True):
        assert 1 - cosine(a, b) < 1e-8


def test_several_classes_solve_the_naive_eigenproblem(digits):
    X, y = digits
    K = rbf_kernel(X, X[:80], gamma=0.05)
    values, vectors = eigh(between(K, y), within(K, y) + 0.1 * np.eye(80))
    model = KernelFisherDiscriminant(gamma=0.05, candidates=X[:80], reg=0.1).fit(X, y)
    assert_allclose(model.criterion_path_, values[::-1][:9], rtol=1e-8)
    for j in range(9):
        assert 1 - cosine(model.projection_[:, j], vectors[:, -1 - j]) < 1e-8
    lengths = model.projection_.T @ (within(K, y) + 0.1 * np.eye(80)) @ model.projection_
    assert_allclose(lengths, len(X) * np.eye(9), atol=1e-5)


def test_one_against_rest_is_each_class_alone(digits):
    X, y = digits
    parameters = {"gamma": 0.05, "candidates": X[:80], "reg": 0.01}
    all_classes = KernelFisherDiscriminant(decision=OVR, **parameters).fit(X, y)
    features = all_classes.transform(X)
    assert features.shape == (len(X), 10)
    for digit in (0, 3, 9):
        alone = KernelFisherDiscriminant(**parameters).fit(X, y == digit)
        assert 1 - cosine(features[:, digit], alone.transform(X)[:, 0]) < 1e-11
        assert_allclose(
            all_classes.decision_function(X)[:, digit], alone.decision_function(X), atol=1e-7
        )
        assert_allclose(all_classes.criterion_path_[digit], alone.criterion_path_[0], rtol=1e-7)
    scores = all_classes.decision_function(X)
    assert_array_equal(all_classes.predict(X), scores.argmax(axis=1))
    assert all_classes.score(X, y) > 0.97


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_thresholds(cancer, threshold):
    X, y = cancer
    model = KernelFisherDiscriminant(
        gamma=GAMMA, reg=1.0, decision=DecisionRule(threshold, nu=0.3)
    ).fit(X, y)
    f = model.transform(X)[:, 0]
    means = [f[y == c].mean() for c in (0, 1)]
    if threshold == "margin":
        expected = margin_threshold(f, y > 0, None, 0.3)
    elif threshold == "midpoint":
        expected = -np.mean(means)
    elif threshold == "least_squares":
        slope, intercept = np.polyfit(f, 2.0 * y - 1, 1)
        expected = intercept / slope
    else:
        variance = np.mean((f - np.where(y == 1, means[1], means[0])) ** 2)
        odds = np.log(y.mean() / (1 - y.mean()))
        expected = odds * variance / (means[1] - means[0]) - np.mean(means)
    assert_allclose(model.thresholds_, [expected], rtol=1e-7, atol=1e-10)
    assert_array_equal(model.predict(X), (f + expected > 0).astype(int))
    assert_allclose(model.decision_function(X), 2 * (f + expected) / (means[1] - means[0]), atol=1e-7)
    assert model.score(X, y) > 0.95


def test_probabilities_are_bayes_rule_on_features(digits):
    X, y = digits
    model = KernelFisherDiscriminant(gamma=0.05, candidates=X[:80], reg=1e-9).fit(X, y)
    peer = LinearDiscriminantAnalysis(solver="lsqr").fit(model.transform(X), y)  # without any ridge
    peers = peer.decision_function(model.transform(X))
    log_odds = np.log(model.predict_proba(X))
    peers, log_odds = (scores - scores[:, :1] for scores in (peers, log_odds))
    slope = float((peers * log_odds).sum() / (peers**2).sum())
    assert_allclose(log_odds, slope * peers, atol=1e-3)
    assert 0.1 < slope < 1
    assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))
    assert_allclose(model.predict_proba(X, n_components=3), model.truncate(3).predict_proba(X))


@pytest.mark.parametrize("multi_class", ["joint", "ovr"])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities_of_held_out_outputs_are_more_modest(rng, multi_class, n_classes):
    X = rng.normal(size=(600, 5))
    noisy = X[:, 0] + 1.0 * rng.normal(size=600)
    y = np.digitize(noisy, np.quantile(noisy, np.arange(1, n_classes) / n_classes))
    train, test = slice(0, 300), slice(300, None)
    losses = []
    for probability in ("in_sample", "loo", 3):
        decision = DecisionRule(multi_class=multi_class, probability=probability)
        model = KernelFisherDiscriminant(gamma=0.5, reg=1e-2, decision=decision)
        model.fit(X[train], y[train])
        p = model.predict_proba(X[test])
        assert_allclose(p.sum(axis=1), 1)
        assert_array_equal(p.argmax(axis=1), model.predict(X[test]))
        losses.append(log_loss(y[test], np.clip(p, 1e-12, None)))
    assert max(losses[1:]) < 0.6 * losses[0]
    assert max(losses[1:]) < 1.2 * np.log(n_classes)


def naive_left_out(K, Y, penalty):
    """Ridge regressions with a constant, one without each row: what they give to that row."""
    found = []
    for i in range(len(K)):
        rest = np.arange(len(K)) != i
        means = K[rest].mean(axis=0)
        centred = K[rest] - means
        A = np.linalg.solve(centred.T @ centred + penalty, centred.T @ Y[rest])
        found.append(Y[rest].mean(axis=0) + (K[i] - means) @ A)
    return np.array(found)


@pytest.mark.parametrize("penalty", ["alpha", "norm"])
@pytest.mark.parametrize("labels", ["two", "joint", "ovr"])
def test_left_out_outputs_are_those_of_a_fit_without_the_sample(digits, penalty, labels, monkeypatch):
    X, y = digits[0][:90], digits[1][:90] % (2 if labels == "two" else 4)
    seen = []
    monkeypatch.setattr(
        fisher,
        "add_decision",
        lambda *args, **kwargs: seen.append(args[2]) or add_decision(*args, **kwargs),
    )
    multi_class = "ovr" if labels == "ovr" else "joint"
    model = KernelFisherDiscriminant(
        gamma=0.05,
        reg=0.2,
        penalty=penalty,
        candidates=X[:30],
        decision=DecisionRule(multi_class=multi_class),
    ).fit(X, y)
    K, W = rbf_kernel(X, X[:30], gamma=0.05), rbf_kernel(X[:30], gamma=0.05)
    Y = np.eye(y.max() + 1)[y]
    outputs = naive_left_out(K, Y, 0.2 * (np.eye(30) if penalty == "alpha" else W))
    # Features are combinations of the regressions to all indicators, which samples know exactly.
    whole = Y.mean(axis=0) + (K - K.mean(axis=0)) @ np.linalg.solve(
        (K - K.mean(axis=0)).T @ K + 0.2 * (np.eye(30) if penalty == "alpha" else W),
        K.T @ (Y - Y.mean(axis=0)),
    )
    design = np.column_stack([np.ones(len(X)), whole[:, 1:]])
    combination = np.linalg.lstsq(design, model.transform(X), rcond=None)[0]
    assert_allclose(design @ combination, model.transform(X), atol=1e-7)
    expected = np.column_stack([np.ones(len(X)), outputs[:, 1:]]) @ combination
    assert_allclose(seen[0].values, expected, atol=1e-6)


@pytest.mark.parametrize(
    ("load", "make"),
    [
        (load_wine, KernelFisherDiscriminant),
        (load_iris, partial(KernelFisherDiscriminant, decision=OVR)),
        (load_wine, partial(KernelFisherDiscriminant, penalty="norm")),
        (load_iris, GreedyKernelFisherDiscriminant),
        (load_iris, SparseKernelFisherDiscriminant),
    ],
)
def test_default_probabilities_are_nearly_those_of_a_cross_validation(load, make):
    X, y = load(return_X_y=True)
    losses = []
    for train, test in StratifiedKFold(2, shuffle=True, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train])
        models = make(), make(decision=DecisionRule(probability=5))
        for model in models:
            model.fit(scaler.transform(X[train]), y[train])
            p = model.predict_proba(scaler.transform(X[test]))
            assert_array_equal(p.argmax(axis=1), model.predict(scaler.transform(X[test])))
            losses.append(log_loss(y[test], p))
    assert np.mean(losses[::2]) < 1.5 * np.mean(losses[1::2])
    assert np.mean(losses[::2]) < 0.2


def test_class_weights_are_left_out_with_their_sample(rng):
    X = rng.normal(size=(300, 5))
    y = (X[:, 0] + rng.normal(size=300) > 1).astype(int)
    models = [
        KernelFisherDiscriminant(gamma=0.5, reg=0.01, class_weight=weight).fit(X, y)
        for weight in ("balanced", {0: 300 / (2 * np.sum(y == 0)), 1: 150 / np.sum(y)})
    ]
    expected = models[1].predict_proba(X)
    assert_allclose(models[0].predict_proba(X), expected, atol=1e-9)
    wrong = log_loss(y, KernelFisherDiscriminant(gamma=0.5, reg=0.01).fit(X, y).predict_proba(X))
    assert log_loss(y, expected) < 2 * wrong


def test_a_threshold_that_joint_features_do_not_have_is_said(digits):
    X, y = digits
    for threshold in ("margin", "midpoint"):
        with pytest.warns(UserWarning, match="Gaussian model"):
            KernelFisherDiscriminant(decision=threshold, candidates=X[:30]).fit(X, y)


def test_held_out_probabilities_of_a_precomputed_kernel(cancer):
    X, y = cancer
    K = rbf_kernel(X, gamma=GAMMA)
    parameters = {"decision": THREE_FOLDS, "reg": 0.1, "candidates": "all"}
    direct = KernelFisherDiscriminant(gamma=GAMMA, **parameters).fit(X, y, sample_weight=2.0)
    given = KernelFisherDiscriminant(kernel="precomputed", **parameters).fit(K, y, sample_weight=2.0)
    assert_allclose(given.predict_proba(K), direct.predict_proba(X), atol=1e-8)


def test_weights_are_repetitions(cancer, rng):
    X, y = cancer
    times = rng.integers(0, 3, len(X))
    rows = np.repeat(np.arange(len(X)), times)
    for parameters in ({"candidates": X[:40]}, {"candidates": X[:40], "penalty": "norm"}, {}):
        model = KernelFisherDiscriminant(gamma=GAMMA, decision="margin", reg=0.1, **parameters)
        weighted = model.fit(X, y, sample_weight=times).decision_function(X)
        repeated = model.fit(X[rows], y[rows]).decision_function(X)
        assert_allclose(weighted, repeated, atol=1e-8)


@pytest.mark.parametrize("multi_class", ["joint", "ovr"])
def test_class_weights_multiply_sample_weights(digits, rng, multi_class):
    X, y = digits
    rows = np.flatnonzero((y < 3) & (rng.random(len(y)) < np.where(y == 0, 0.3, 1.0)))
    X, y = X[rows], y[rows]
    weight = rng.uniform(0.5, 2, len(y))
    parameters = {
        "gamma": 0.05,
        "candidates": X[:40],
        "reg": 0.5,
        "decision": DecisionRule(multi_class=multi_class),
    }
    by_dict = KernelFisherDiscriminant(class_weight={0: 3.0, 2: 0.5}, **parameters)
    plain = KernelFisherDiscriminant(**parameters)
    factor = np.array([3.0, 1.0, 0.5])[y]
    assert_allclose(
        by_dict.fit(X, y, weight).decision_function(X),
        plain.fit(X, y, weight * factor).decision_function(X),
        atol=1e-8,
    )
    totals = np.array([weight[y == c].sum() for c in range(3)])
    balanced = KernelFisherDiscriminant(class_weight="balanced", **parameters)
    assert_allclose(
        balanced.fit(X, y, weight).decision_function(X),
        plain.fit(X, y, weight * (totals.mean() / totals)[y]).decision_function(X),
        atol=1e-8,
    )


def test_invariances_are_added_to_the_denominator(digits):
    X, y = digits
    turn, shift = ImageRotation(8.0), ImageTranslation(0.5)
    Z = X[:60]
    K = rbf_kernel(X, Z, gamma=0.05)
    moved = [tangent(K, rbf_kernel(move(X), Z, gamma=0.05)) for move in (turn, shift)]
    denominator = within(K, y) + 0.1 * np.eye(60) + 0.7 * moved[0] + 0.2 * moved[1]
    values, vectors = eigh(between(K, y), denominator)
    for multi_class in ("joint", "ovr"):
        model = KernelFisherDiscriminant(
            gamma=0.05,
            candidates=Z,
            reg=0.1,
            invariances=[(turn, 0.7), (shift, 0.2)],
            decision=DecisionRule(multi_class=multi_class),
        ).fit(X, y)
        if multi_class == "joint":
            assert_allclose(model.criterion_path_, values[::-1][:9], rtol=1e-7)
            for j in range(9):
                assert 1 - cosine(model.projection_[:, j], vectors[:, -1 - j]) < 1e-8
        else:
            alone = two_class_direction(K, (y == 4).astype(int), denominator - within(K, y))
            assert 1 - cosine(model.projection_[:, 4], alone) < 1e-9


def test_invariant_discriminants_change_less(digits):
    X, y = digits
    turn = ImageRotation(10.0)

    def change(**parameters):
        model = KernelFisherDiscriminant(gamma=0.05, candidates=X[:200], **parameters).fit(X, y)
        return np.mean((model.transform(turn(X)) - model.transform(X)) ** 2) / model.transform(X).var()

    assert change(invariances=[(turn, 10.0)]) < 0.5 * change()


def test_moved_examples_as_candidates(digits):
    X, y = digits
    turn = ImageRotation(15.0)
    parameters = {"gamma": 0.05, "invariances": [Tangent(turn, 0.1, virtual_candidates=True)]}
    drawn = KernelFisherDiscriminant(candidates=90, random_state=0, **parameters).fit(X, y)
    union = np.vstack([X, turn(X)])
    rows = [int(np.flatnonzero((union == point).all(axis=1))[0]) for point in drawn.landmarks_]
    assert np.count_nonzero(np.array(rows) >= len(X)) > 20
    assert_array_equal(np.array(rows) % len(X), drawn.landmark_indices_)
    whole = KernelFisherDiscriminant(candidates="all", **parameters).fit(X[:100], y[:100])
    assert len(whole.landmarks_) == 200
    kmeans = KernelFisherDiscriminant(
        candidates=Candidates(50, how="kmeans"), random_state=0, **parameters
    )
    assert kmeans.fit(X, y).score(X, y) > 0.9


def test_sparse_input_is_dense_input(digits):
    X, y = digits
    model = KernelFisherDiscriminant(
        gamma=0.05, candidates=60, random_state=0, invariances=[(ImageTranslation(1.0), 0.1)]
    )
    dense = model.fit(X, y).transform(X)
    rows = sparse.csr_matrix(X)
    assert_allclose(model.fit(rows, y).transform(rows), dense, atol=1e-8)
    model = KernelFisherDiscriminant(
        gamma=0.05,
        candidates=60,
        random_state=0,
        invariances=[Tangent(ImageTranslation(1.0), 0.1, virtual_candidates=True)],
    )
    dense = model.fit(X, y).transform(X)
    assert_allclose(model.fit(rows, y).transform(rows), dense, atol=1e-8)


@pytest.mark.parametrize("precision", ["auto", "safe"])
def test_a_tiny_penalty_keeps_its_digits(precision, rng):
    X = rng.normal(size=(900, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    Z = X[:120]
    K = rbf_kernel(X, Z, gamma=0.1)
    root = np.vstack([K - np.array([K[y == c].mean(axis=0) for c in (0, 1)])[y], 1e-6 * np.eye(120)])
    R = np.linalg.qr(root, mode="r")
    gap = K[y == 1].mean(axis=0) - K[y == 0].mean(axis=0)
    exact = K @ np.linalg.solve(R, np.linalg.solve(R.T, gap))
    model = KernelFisherDiscriminant(gamma=0.1, candidates=Z, reg=1e-12)
    fit_with({"precision": precision}, model, X, y)
    f = model.transform(X)[:, 0]
    assert 1 - cosine(f, exact - exact.mean()) < 1e-9


def test_more_features_than_classes_allow(digits):
    X, y = digits
    with pytest.warns(FewerFeaturesWarning, match="one less than there are classes"):
        model = KernelFisherDiscriminant(20, gamma=0.05, candidates=X[:80]).fit(X, y)
    assert model.n_components_ == 9
    short = KernelFisherDiscriminant(4, gamma=0.05, candidates=X[:80]).fit(X, y)
    assert_allclose(short.transform(X), model.transform(X, n_components=4), atol=1e-9)
    assert_array_equal(short.predict(X), model.predict(X, n_components=4))


def test_duplicates_without_a_ridge(cancer):
    X, y = cancer
    Z = np.vstack([X[:30], X[:30]])
    model = KernelFisherDiscriminant(gamma=GAMMA, candidates=Z, reg=0.0).fit(X, y)
    alone = KernelFisherDiscriminant(gamma=GAMMA, candidates=X[:30], reg=0.0).fit(X, y)
    assert len(model.landmarks_) == 30
    assert model.sparsity_ == 0.5
    assert_allclose(model.transform(X), alone.transform(X), atol=1e-6)


def test_kernel_evaluations(rng):
    n, c = 1200, 30
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 1)
    for parameters, most in (
        ({}, 2 * n * c),  # once more for outputs of samples that are left out
        ({"decision": DecisionRule(probability=2)}, 3 * n * c),
        ({"decision": OVR}, 2 * n * c),
        ({"decision": DecisionRule("margin", multi_class="ovr")}, 3 * n * c),
        ({"invariances": [(np.tanh, 0.1)]}, 4 * n * c),
    ):
        kernel = CountingKernel()
        model = KernelFisherDiscriminant(kernel=kernel, candidates=X[:c], **parameters).fit(X, y)
        assert kernel.evaluations <= most + c * c + 1
        kernel.evaluations = 0
        model.predict(X)
        assert kernel.evaluations == n * c


def test_every_driver_gives_the_same_discriminant(digits):
    X, y = digits
    batches = [(X[i : i + 100], y[i : i + 100]) for i in range(0, len(X), 100)]
    for parameters in (
        {},
        {"decision": OVR, "penalty": "norm"},
        {"invariances": [(ImageRotation(5.0), 0.3)], "reg": 1e-6},
    ):
        make = partial(KernelFisherDiscriminant, gamma=0.05, candidates=X[:70], **parameters)
        whole = make().fit(X, y)
        pieces = make()
        for rows, labels in batches:
            pieces.partial_fit(rows, labels, classes=np.arange(10))
        others = [
            pieces,
            make().fit_batches(batches),
            make().fit_batches(iter(batches)),
            fit_with({"block_size": 37}, make(n_jobs=2), X, y),
            fit_with({"precision": "safe"}, make(), X, y),
        ]
        for other in others:
            assert_allclose(other.transform(X), whole.transform(X), atol=1e-8)
            assert_allclose(other.decision_function(X), whole.decision_function(X), atol=1e-6)
            # Where samples come once, their leverages are taken for equal.
            assert_allclose(other.predict_proba(X), whole.predict_proba(X), atol=0.25)
            assert_allclose(other.criterion_path_, whole.criterion_path_, rtol=1e-6)


def test_the_margin_needs_rows_again(digits):
    X, y = digits
    batches = [(X[i : i + 350], y[i : i + 350]) for i in (0, 350)]
    parameters = {
        "gamma": 0.05,
        "candidates": X[:50],
        "decision": DecisionRule("margin", multi_class="ovr"),
    }
    whole = KernelFisherDiscriminant(**parameters).fit(X, y)
    again = KernelFisherDiscriminant(**parameters).fit_batches(batches)
    assert_allclose(again.decision_function(X), whole.decision_function(X), atol=1e-8)
    for fit in (
        lambda model: model.fit_batches(iter(batches)),
        lambda model: model.partial_fit(X, y),
    ):
        with pytest.raises(ValueError, match="all samples at once"):
            fit(KernelFisherDiscriminant(**parameters))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"reg": -1.0}, "reg"),
        ({"penalty": "l1"}, "penalty"),
        ({"decision": "best"}, "decision"),
        ({"decision": "intercept"}, "decision"),
        ({"decision": DecisionRule("intercept")}, "constant of a programme"),
        ({"class_weight": {7: 1.0}}, "class_weight.*labels"),
        ({"class_weight": {1: -1.0}}, "class_weight.*positive"),
        ({"decision": DecisionRule(probability=300)}, "smallest class"),
        ({"invariances": [np.tanh]}, "pairs"),
        ({"invariances": [(np.tanh, "much")]}, "weights must be numbers"),
        ({"invariances": [(np.tanh, -1.0)]}, "not negative"),
        ({"invariances": [(3, 1.0)]}, "function from X"),
        ({"invariances": [(lambda X: X[:1], 1.0)]}, "same shape"),
        ({"invariances": [(lambda X: X * np.nan, 1.0)]}, "NaN or infinity"),
        ({"invariances": [(ImageRotation(), 1.0)]}, "is not a square image"),
    ],
    ids=lambda value: value if isinstance(value, str) else next(iter(value)),
)
def test_bad_parameters(cancer, parameters, message):
    X, y = cancer
    model = KernelFisherDiscriminant(gamma=GAMMA, candidates=X[:20], **parameters)
    before = dict(vars(model))
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)
    assert vars(model) == before


def test_bad_data(cancer):
    X, y = cancer
    with pytest.raises(ValueError, match="one class only"):
        KernelFisherDiscriminant().fit(X, np.zeros(len(X), int))
    with pytest.raises(ValueError, match="of one class"):
        KernelFisherDiscriminant().fit(X, y, sample_weight=(y == 1).astype(float))
    for copies in (False, True):  # kernel values are no inputs to be moved
        narrow = Tangent(lambda X: X[:, :3], virtual_candidates=copies)
        model = KernelFisherDiscriminant(kernel="precomputed", invariances=[narrow])
        with pytest.raises(ValueError, match="precomputed kernel does not have"):
            model.fit(X[:40] @ X[:40].T, y[:40])
    for parameters, message in (
        ({"class_weight": "balanced"}, "counts the classes"),
        ({"decision": THREE_FOLDS}, "all samples at once"),
    ):
        with pytest.raises(ValueError, match=message):
            KernelFisherDiscriminant(**parameters).partial_fit(X, y)
    for parameters in (
        {},
        {"reg": 0.0},
        {"decision": OVR},
        {"penalty": "norm"},
    ):
        with pytest.raises(ValueError, match="No feature could be found"):
            KernelFisherDiscriminant(**parameters).fit(np.ones((30, 2)), np.arange(30) % 3)
    rows = KernelFisherDiscriminant(kernel="precomputed", candidates=[0, 9, 300], decision=THREE_FOLDS)
    with pytest.raises(ValueError, match="Cross-validated probabilities"):
        rows.fit(X @ X.T, y)
    ovr = KernelFisherDiscriminant(candidates=X[:20], decision=OVR)
    with pytest.raises(ValueError, match="without samples of positive weight"):
        ovr.partial_fit(X, y, classes=[0, 1, 2]).transform(X)
    joint = KernelFisherDiscriminant(candidates=X[:20]).partial_fit(X, y, classes=[0, 1, 2])
    assert set(joint.predict(X)) <= {0, 1}
    assert_allclose(joint.predict_proba(X)[:, 2], 0)
    with pytest.raises(AttributeError, match="no thresholds"):
        _ = joint.thresholds_


def naive_joint(X, Y, weight, reg):
    """Centred columns, their means, and the scatter within classes with the ridge."""
    K = rbf_kernel(X, X[:60], gamma=GAMMA)
    means = weight @ K / weight.sum()
    of_class = (Y * weight[:, None]).T @ K / (weight @ Y)[:, None]
    rest = K - Y @ of_class
    return K - means, of_class - means, rest.T @ (weight[:, None] * rest) + reg * np.eye(60)


def test_joint_features_are_decided_by_regularised_discriminant_analysis(digits, rng):
    X, y = digits
    weight = rng.uniform(0.5, 2.0, len(X))
    Y = np.eye(10)[y]
    columns, means, within = naive_joint(X, Y, weight, 0.5)
    slopes = np.linalg.solve(within / weight.sum(), means.T)
    priors = np.log(weight @ Y / weight.sum())
    scores = columns @ slopes - 0.5 * np.einsum("cm,mc->c", means, slopes) + priors
    model = KernelFisherDiscriminant(gamma=GAMMA, reg=0.5, candidates=X[:60])
    model.fit(X, y, sample_weight=weight)
    assert_allclose(model.decision_function(X), scores, atol=1e-6 * np.abs(scores).max())
    assert_array_equal(model.predict(X), scores.argmax(axis=1))


def test_joint_features_by_least_squares_are_ridge_regression_to_classes(digits, rng):
    X, y = digits
    Y = np.eye(10)[y]
    class_weight = dict(enumerate(rng.uniform(0.2, 3.0, 10)))
    weight = Y @ np.array(list(class_weight.values()))
    columns = naive_joint(X, Y, weight, 0.5)[0]
    total = columns.T @ (weight[:, None] * columns) + 0.5 * np.eye(60)
    expected = weight @ Y / weight.sum() + columns @ np.linalg.solve(
        total, columns.T @ (weight[:, None] * Y)
    )
    model = KernelFisherDiscriminant(
        gamma=GAMMA, reg=0.5, candidates=X[:60], decision="least_squares", class_weight=class_weight
    )
    assert_allclose(model.fit(X, y).decision_function(X), expected, atol=1e-6)
    fewer = model.decision_function(X, n_components=4)
    assert_allclose(fewer, model.truncate(4).decision_function(X))


def test_a_class_that_weighs_less_than_a_row_is_decided_by_least_squares(digits):
    X, y = digits
    for factor, how in ((1.0, "gaussian"), (1e-3, "least_squares")):
        weight = np.where(y == 3, factor, 1.0)
        parameters = {"gamma": GAMMA, "reg": 0.5, "candidates": X[:60]}
        auto = KernelFisherDiscriminant(**parameters).fit(X, y, weight)
        by_name = KernelFisherDiscriminant(decision=how, **parameters).fit(X, y, weight)
        assert_allclose(auto.decision_function(X), by_name.decision_function(X))
        by_class = KernelFisherDiscriminant(class_weight={3: factor}, **parameters).fit(X, y)
        assert_allclose(by_class.decision_function(X), auto.decision_function(X), rtol=1e-6, atol=1e-8)


def test_probabilities_of_outputs_far_from_any_class_still_name_the_winner(digits):
    X, y = digits
    for parameters in ({}, {"reg": 1e-8}):
        model = KernelFisherDiscriminant(gamma=0.3, decision=OVR, **parameters)
        p = model.fit(X[:300], y[:300]).predict_proba(X[300:])
        assert_array_equal(p.argmax(axis=1), model.predict(X[300:]))
        assert_allclose(p.sum(axis=1), 1)
    first = model.predict_proba(X[300:], n_components=3)
    assert_allclose(first[:, 3:], 0, atol=1e-12)


def test_a_transformation_may_work_in_place_and_return_anything_like_an_array(cancer):
    X, y = cancer
    before = X.copy()

    def in_place(rows):
        rows += 0.1
        return rows

    def as_list(rows):
        return (rows + 0.1).tolist()

    found = [
        KernelFisherDiscriminant(gamma=GAMMA, candidates=X[:40], invariances=[(t, 0.1)]).fit(X, y)
        for t in (in_place, as_list)
    ]
    assert_array_equal(X, before)
    assert_allclose(found[0].transform(X), found[1].transform(X))


def test_class_weights_must_be_numbers(cancer):
    with pytest.raises(ValueError, match="class_weight"):
        KernelFisherDiscriminant(class_weight={0: "a"}).fit(*cancer)
