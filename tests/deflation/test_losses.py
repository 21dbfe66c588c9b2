"""Losses: derivatives by differences, and minimisation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, LogisticRegression

from kernelsieve.deflation import LOSSES
from kernelsieve.deflation.losses import refit


@pytest.fixture(params=sorted(LOSSES))
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


def test_refit_is_stationary(loss, rng):
    X = rng.standard_normal((100, 3))
    y = np.sign(X[:, 0] + rng.standard_normal(100))
    weight = rng.uniform(0.5, 2, 100)
    f = refit(loss, y, X, weight)
    design = np.column_stack([X, np.ones(100)])
    assert_allclose(design.T @ (weight * loss.negative_gradient(y, f)), 0, atol=1e-5)


def test_refit_equals_scikit_learn(rng):
    X = rng.standard_normal((200, 3))
    y = np.sign(X[:, 0] + rng.standard_normal(200))
    weight = rng.uniform(0.5, 2, 200)
    expected = LinearRegression().fit(X, y, weight).predict(X)
    assert_allclose(refit(LOSSES["squared"](), y, X, weight), expected, atol=1e-8)
    logistic = LogisticRegression(C=np.inf, tol=1e-10).fit(X, y, weight)
    found = refit(LOSSES["logistic"](), y, X, weight)
    assert_allclose(found, logistic.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("name", ["logistic", "exponential"])
def test_separable_data_do_not_diverge(name):
    X = np.linspace(-1, 1, 40)[:, None]
    prediction = refit(LOSSES[name](), np.sign(X[:, 0]), X, np.ones(40))
    assert np.isfinite(prediction).all()
    assert (np.sign(prediction) == np.sign(X[:, 0])).all()


def test_margin_losses_need_two_classes(rng):
    with pytest.raises(ValueError, match="two classes"):
        LOSSES["logistic"]().prepare(np.eye(3)[rng.integers(0, 3, 20)])
    with pytest.raises(ValueError, match="one target"):
        LOSSES["squared"]().prepare(np.ones((5, 2)))
    assert_allclose(LOSSES["logistic"]().prepare(np.eye(2)[[0, 1, 1]]), [-1, 1, 1])
