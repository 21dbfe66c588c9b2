"""Thresholds and probabilities of outputs against linear programmes and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from scipy.special import expit, softmax
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from kernelsieve.rayleigh.decisions import (
    Moments,
    Outputs,
    decision_heads,
    gaussian_heads,
    gaussian_logit,
    least_squares_threshold,
    midpoint_threshold,
)
from kernelsieve.rayleigh.linear_program import margin_nu, margin_threshold


def margin_of(outputs, y, weight, C, b):
    """The best value of (15) for a given threshold: a linear programme in rho alone."""
    rhos = np.append(np.maximum(y * (outputs + b), 0.0), 0.0)
    return max(rho - C * weight @ np.maximum(rho - y * (outputs + b), 0) for rho in rhos)


def naive_margin(outputs, y, weight, C):
    """Formula (15) as it stands, with a general solver: variables rho, b, xi."""
    n = len(y)
    cost = np.concatenate([[-1.0, 0.0], C * weight])
    constraints = np.hstack([np.ones((n, 1)), -y[:, None], -np.eye(n)])
    bounds = [(0, None), (None, None)] + [(0, None)] * n
    result = linprog(cost, constraints, y * outputs, bounds=bounds)
    assert result.status == 0, result.message
    return -result.fun


@pytest.mark.parametrize("gap", [0.0, 0.7, 4.0])
@pytest.mark.parametrize("nu", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_margin_is_the_linear_programme(rng, gap, nu, weighted):
    y = np.where(np.arange(60) < 22, 1.0, -1.0)
    outputs = rng.normal(size=60) + gap * y
    weight = rng.uniform(0.5, 3, 60) if weighted else np.ones(60)
    b = margin_threshold(outputs, y > 0, weight, nu)
    C = 1 / (2 * nu * min(weight[y > 0].sum(), weight[y < 0].sum()))
    assert_allclose(margin_of(outputs, y, weight, C, b), naive_margin(outputs, y, weight, C), atol=1e-9)


@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=8),
    st.lists(st.integers(-5, 5), min_size=1, max_size=8),
    st.sampled_from([0.1, 0.5, 1.0]),
)
def test_margin_with_ties(above, below, nu):
    outputs = np.array([*above, *below], float)
    y = np.array([1.0] * len(above) + [-1.0] * len(below))
    b = margin_threshold(outputs, y > 0, None, nu)
    C, ones = 1 / (2 * nu * min(len(above), len(below))), np.ones(len(y))
    assert_allclose(margin_of(outputs, y, ones, C, b), naive_margin(outputs, y, ones, C), atol=1e-8)


def test_weights_are_repetitions(rng):
    outputs, codes = rng.normal(size=40), rng.integers(0, 2, 40)
    outputs += codes
    times = rng.integers(1, 4, 40)
    rows = np.repeat(np.arange(40), times)
    weighted = Moments.from_outputs(outputs[:, None], np.eye(2)[codes], times.astype(float))
    repeated = Moments.from_outputs(outputs[rows, None], np.eye(2)[codes[rows]])
    assert_allclose(weighted.covariance, repeated.covariance)
    assert_allclose(gaussian_logit(weighted), gaussian_logit(repeated))
    assert_allclose(
        margin_threshold(outputs, codes > 0, times.astype(float), 0.2),
        margin_threshold(outputs[rows], codes[rows] > 0, None, 0.2),
    )


def test_simple_thresholds(rng):
    codes = np.arange(50) % 5 // 3
    outputs = rng.normal(size=50) + 2 * codes
    moments = Moments.from_outputs(outputs[:, None], np.eye(2)[codes])
    slope, intercept = np.polyfit(outputs, 2.0 * codes - 1, 1)
    assert_allclose(least_squares_threshold(moments), intercept / slope)
    middle = (outputs[codes == 0].mean() + outputs[codes == 1].mean()) / 2
    assert_allclose(midpoint_threshold(moments), -middle)


def test_gaussian_logit_is_bayes_rule(rng):
    codes = (np.arange(90) % 3 > 0).astype(int)
    f = rng.normal(size=90) + codes
    a, b = gaussian_logit(Moments.from_outputs(f[:, None], np.eye(2)[codes]))
    means = [f[codes == c].mean() for c in (0, 1)]
    variance = np.mean([(f[i] - means[codes[i]]) ** 2 for i in range(90)])
    density = np.array(
        [np.mean(codes == c) * np.exp(-((f - means[c]) ** 2) / 2 / variance) for c in (0, 1)]
    )
    assert_allclose(expit(a * f + b), density[1] / density.sum(axis=0), rtol=1e-12)


def test_joint_heads_are_discriminant_analysis(rng):
    codes = np.arange(120) % 4
    features = rng.normal(size=(120, 3)) + rng.normal(size=(4, 3))[codes]
    heads = gaussian_heads(Moments.from_outputs(features, np.eye(4)[codes]))
    for j in (1, 2, 3):
        peer = LinearDiscriminantAnalysis(solver="lsqr").fit(features[:, :j], codes)
        scores = heads.predict(features[:, :j])
        assert_allclose(
            softmax(scores, axis=1), peer.predict_proba(features[:, :j]), rtol=1e-9, atol=1e-12
        )


def test_one_against_rest(rng):
    codes = np.arange(90) % 3
    outputs = rng.normal(size=(90, 3)) + 3 * np.eye(3)[codes]
    indicators = np.eye(3)[codes]
    moments, samples = (
        Moments.from_outputs(outputs, indicators),
        Outputs(outputs, indicators, np.ones(90)),
    )
    for how in ("margin", "midpoint", "least_squares", "gaussian"):
        scores = decision_heads(how, moments, samples).predict(outputs)
        for c in range(3):
            distance = scores[codes == c, c].mean() - scores[codes != c, c].mean()
            assert_allclose(distance, 2.0)
        assert np.mean(scores.argmax(axis=1) == codes) > 0.9


def test_first_outputs_name_first_classes(rng):
    codes = np.arange(30) % 3
    outputs = rng.normal(size=(30, 3))
    heads = decision_heads("midpoint", Moments.from_outputs(outputs, np.eye(3)[codes])).truncate(2)
    assert set(heads.predict(outputs[:, :2]).argmax(axis=1)) <= {0, 1}


def test_a_perfect_fit_has_finite_odds():
    outputs = np.repeat([[-1.0], [1.0]], 5, axis=0)
    a, b = gaussian_logit(Moments.from_outputs(outputs, np.repeat(np.eye(2), 5, axis=0)))
    assert np.isfinite(a)
    assert a > 0
    assert_allclose(b, 0.0, atol=1e-6)


def test_the_margin_needs_outputs():
    moments = Moments(np.ones(2), np.array([[-1.0], [1.0]]), np.eye(1))
    with pytest.raises(ValueError, match="outputs of all samples"):
        decision_heads("margin", moments)


@pytest.mark.parametrize("seed", range(4))
def test_nu_is_chosen_by_errors_on_held_out_samples(seed):
    rng = np.random.default_rng(seed)
    positive = rng.random(90) < 0.3
    outputs = np.where(
        positive, rng.standard_exponential(90) - 0.5, -(rng.standard_exponential(90) ** 2)
    )
    weight = rng.uniform(0.5, 2.0, 90)
    folds = [np.flatnonzero(members)[j::5] for members in (positive, ~positive) for j in range(5)]
    folds = [np.concatenate([folds[j], folds[5 + j]]) for j in range(5)]

    def error(nu):
        wrong = 0.0
        for fold in folds:
            rest = np.setdiff1d(np.arange(90), fold)
            b = margin_threshold(outputs[rest], positive[rest], weight[rest], nu)
            wrong += weight[fold] @ ((outputs[fold] + b > 0) != positive[fold])
        return wrong

    chosen = margin_nu(outputs, positive, weight)
    errors = {nu: error(nu) for nu in (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)}
    assert_allclose(errors[chosen], min(errors.values()))
    assert max(errors.values()) > min(errors.values())
    assert margin_threshold(outputs, positive, weight, "cv") == margin_threshold(
        outputs, positive, weight, chosen
    )


def test_too_few_samples_leave_nu_as_it_is():
    assert margin_nu(np.arange(5.0), np.arange(5) == 4, np.ones(5)) == 0.5
