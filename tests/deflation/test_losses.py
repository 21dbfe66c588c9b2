"""Losses: derivatives by differences, and minimisation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, LogisticRegression, QuantileRegressor

from kernelsieve.deflation import LOSSES
from kernelsieve.deflation.losses import refit

SMOOTH = [name for name in sorted(LOSSES) if name != "absolute"]


@pytest.fixture(params=SMOOTH)
def loss(request):
    return LOSSES[request.param]()


def test_derivatives(loss, rng):
    y = np.sign(rng.standard_normal(20))
    f = rng.standard_normal(20)
    step = 1e-5
    slope = (loss.value(y, f + step) - loss.value(y, f - step)) / (2 * step)
    assert_allclose(loss.negative_gradient(y, f), -slope, rtol=1e-7, atol=1e-9)
    bend = (loss.negative_gradient(y, f - step) - loss.negative_gradient(y, f + step)) / (2 * step)
    assert_allclose(loss.curvature(y, f), bend, rtol=1e-7, atol=1e-9)


def predictions(loss, Y, X, weight):
    intercepts, coefficients = refit(loss, Y, X, weight)
    return X @ coefficients + intercepts


def test_refit_is_stationary(loss, rng):
    X = rng.standard_normal((100, 3))
    Y = np.sign(X[:, :2] + rng.standard_normal((100, 2)))
    weight = rng.uniform(0.5, 2, 100)
    f = predictions(loss, Y, X, weight)
    design = np.column_stack([X, np.ones(100)])
    slope = design.T @ (weight[:, None] * loss.negative_gradient(Y, f))
    assert_allclose(slope, 0, atol=1e-5)


def test_refit_equals_scikit_learn(rng):
    X = rng.standard_normal((200, 3))
    y = np.sign(X[:, :1] + rng.standard_normal((200, 1)))
    weight = rng.uniform(0.5, 2, 200)
    expected = LinearRegression().fit(X, y, weight).predict(X)
    assert_allclose(predictions(LOSSES["squared"](), y, X, weight), expected, atol=1e-8)
    logistic = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y[:, 0], weight)
    found = predictions(LOSSES["logistic"](), y, X, weight)
    assert_allclose(found[:, 0], logistic.decision_function(X), atol=1e-4)


def test_the_absolute_loss_is_least_where_scikit_learn_finds_it(rng):
    X = rng.standard_normal((80, 3))
    y = X[:, 0] + rng.standard_t(2, 80)
    weight = rng.uniform(0.5, 2, 80)
    loss = LOSSES["absolute"]()
    found = predictions(loss, y[:, None], X, weight)[:, 0]
    peer = QuantileRegressor(quantile=0.5, alpha=0, solver="highs").fit(X, y, weight).predict(X)
    assert_allclose(weight @ loss.value(y, found), weight @ loss.value(y, peer), rtol=1e-9)
    # as many examples are met exactly as there are coefficients; the others balance them
    gradient = loss.negative_gradient(y, found)
    assert (gradient == 0).sum() == 4
    for column in (np.ones(80), *X.T):
        balance = abs((weight * gradient) @ column)
        assert balance <= (weight * np.abs(column))[gradient == 0].sum() + 1e-9


@pytest.mark.parametrize("name", ["logistic", "exponential"])
def test_separable_data_do_not_diverge(name):
    X = np.linspace(-1, 1, 40)[:, None]
    found = predictions(LOSSES[name](), np.sign(X), X, np.ones(40))
    assert np.isfinite(found).all()
    assert (np.sign(found) == np.sign(X)).all()


def test_margin_losses_tell_each_of_many_classes_from_the_rest(rng):
    one_hot = np.eye(3)[rng.integers(0, 3, 20)]
    assert_allclose(LOSSES["logistic"]().prepare(one_hot), 2 * one_hot - 1)
    assert_allclose(LOSSES["logistic"]().prepare(np.eye(2)[[0, 1, 1]]), [[-1], [1], [1]])
    for targets in (rng.standard_normal((20, 1)), rng.standard_normal((20, 3))):
        with pytest.raises(ValueError, match="separates classes"):
            LOSSES["logistic"]().prepare(targets)


def test_probabilities_are_calibrated_at_the_minimum(rng):
    share = 0.8
    y = np.where(np.arange(100) < 100 * share, 1.0, -1.0)[:, None]
    for name in ("logistic", "exponential"):
        loss = LOSSES[name]()
        f = predictions(loss, y, np.empty((100, 0)), np.ones(100))
        assert_allclose(loss.probabilities(f), share, atol=1e-6)
    assert LOSSES["squared"]().probabilities(f) is None
