import warnings

import numpy as np
from sklearn.linear_model import PoissonRegressor, Ridge

from kernelsieve import SieveRegressor
from kernelsieve.exceptions import InputScaleWarning
from kernelsieve.predictors.losses import LOSSES

rng = np.random.default_rng(0)
FEATURES = rng.normal(size=(80, 6)) * [10, 5, 2, 1, 0.1, 0.0]
Y = FEATURES[:, :2] @ rng.normal(size=(2, 3)) + rng.normal(size=(80, 3)) + 5
WEIGHT = rng.integers(1, 5, 80).astype(float)
RIDGES = np.array([1e-6, 1e-2, 1.0])


def test_heads_of_all_ridges_are_those_of_scikit_learn():
    heads = list(LOSSES["squared_error"].heads(FEATURES, Y, WEIGHT, RIDGES))
    assert len(heads) == len(RIDGES)
    for head, ridge in zip(heads, RIDGES, strict=True):
        peer = Ridge(ridge * WEIGHT.sum()).fit(FEATURES, Y, sample_weight=WEIGHT)
        assert np.allclose(head.coefficients, peer.coef_.T, atol=1e-8)
        assert np.allclose(head.scores(FEATURES), peer.predict(FEATURES), atol=1e-8)


def test_heads_of_counts_are_those_of_scikit_learn():
    counts = rng.poisson(np.exp(FEATURES[:, 3]))[:, None]
    heads = LOSSES["poisson"].heads(FEATURES, counts, WEIGHT, RIDGES[1:])
    for head, ridge in zip(heads, RIDGES[1:], strict=True):
        peer = PoissonRegressor(alpha=ridge).fit(FEATURES, counts[:, 0], sample_weight=WEIGHT)
        predicted = LOSSES["poisson"].predictions(head.scores(FEATURES))[:, 0]
        assert np.allclose(predicted, peer.predict(FEATURES), rtol=1e-2)


def test_a_metric_that_leaves_an_input_little_weight_is_no_reason_to_warn():
    X = rng.normal(size=(120, 4))
    y = np.sin(3 * X[:, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error", InputScaleWarning)
        sieve = SieveRegressor(20, kernel="rbf", random_state=0).fit(X * [1, 1, 1, 1e4], y)
    assert sieve.importances_.argmax() == 0
