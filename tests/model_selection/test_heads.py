"""Heads of all prefixes at once: the same as scikit-learn's, fitted one after another."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelsieve.exceptions import InvalidParameterError
from kernelsieve.model_selection.heads import NestedRidge, _closed_form, prefix_heads

REGRESSORS = [
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    Ridge(),
    Ridge(0.01, fit_intercept=False),
    Ridge(0.0),
    Ridge(5.0, solver="svd"),
]
CLASSIFIERS = [RidgeClassifier(), RidgeClassifier(0.1, class_weight="balanced")]


def assert_same_heads(head, features, y, weight=None):
    sizes = np.array([1, 2, 5, features.shape[1]])
    for k, ours in zip(sizes, prefix_heads(head, features, y, weight, sizes), strict=True):
        theirs = clone(head).fit(features[:, :k], y, sample_weight=weight)
        assert ours.coef_.shape == theirs.coef_.shape
        assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
        assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-8)
        assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8, atol=1e-8)
        assert_allclose(ours.predict(features[:, :k]), theirs.predict(features[:, :k]), atol=1e-8)


@pytest.fixture
def features(rng):
    # far from orthogonal, and far from centred
    return rng.standard_normal((60, 8)) @ rng.standard_normal((8, 8)) + rng.standard_normal(8)


@pytest.mark.parametrize("head", REGRESSORS, ids=repr)
@pytest.mark.parametrize("n_targets", [None, 1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_regressors_equal_those_of_scikit_learn(head, n_targets, weighted, features, rng):
    y = rng.standard_normal(60 if n_targets is None else (60, n_targets)) + 3
    weight = rng.uniform(0, 2, 60) if weighted else None
    assert _closed_form(head, features, y, weight) is not None
    assert_same_heads(head, features, y, weight)


@pytest.mark.parametrize("head", CLASSIFIERS, ids=repr)
@pytest.mark.parametrize("labels", [["no", "yes"], [0, 1, 2]])
@pytest.mark.parametrize("weighted", [False, True])
def test_classifiers_equal_those_of_scikit_learn(head, labels, weighted, features, rng):
    y = rng.choice(labels, 60)
    weight = rng.uniform(0, 2, 60) if weighted else None
    sizes = np.array([1, 3, 8])
    assert _closed_form(head, features, y, weight) is not None
    for k, ours in zip(sizes, prefix_heads(head, features, y, weight, sizes), strict=True):
        theirs = clone(head).fit(features[:, :k], y, sample_weight=weight)
        np.testing.assert_array_equal(ours.classes_, theirs.classes_)
        np.testing.assert_array_equal(ours.predict(features[:, :k]), theirs.predict(features[:, :k]))
        assert_allclose(
            ours.decision_function(features[:, :k]),
            theirs.decision_function(features[:, :k]),
            atol=1e-8,
        )


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(8, 40),
    k=st.integers(1, 6),
    alpha=st.sampled_from([0.0, 1e-3, 1.0, 100.0]),
    center=st.booleans(),
    seed=st.integers(0, 10_000),
)
def test_the_factorisation_solves_the_normal_equations_of_every_prefix(n, k, alpha, center, seed):
    rng = np.random.default_rng(seed)
    T, Y = rng.standard_normal((n, k)) + 1, rng.standard_normal((n, 2))
    path = NestedRidge.fit(T, Y, None, alpha=alpha, center=center)
    for j in range(1, k + 1):
        coefficients, intercepts = path.solution(j)
        residual = Y - T[:, :j] @ coefficients.T - intercepts
        assert_allclose(T[:, :j].T @ residual, alpha * coefficients.T, atol=1e-7 * n)
        if center:
            assert_allclose(residual.sum(axis=0), 0, atol=1e-8 * n)
        else:
            assert_allclose(intercepts, 0)


@pytest.mark.parametrize(
    "head",
    [
        Ridge(solver="lsqr"),
        Ridge(positive=True),
        Ridge(alpha=np.array([1.0, 2.0])),
        LinearRegression(positive=True),
        KNeighborsRegressor(),
        make_pipeline(StandardScaler(), Ridge()),
    ],
    ids=repr,
)
def test_other_heads_are_fitted_to_each_prefix(head, features, rng):
    y = rng.standard_normal((60, 2))
    assert _closed_form(head, features, y, None) is None
    sizes = np.array([2, 5])
    for k, ours in zip(sizes, prefix_heads(head, features, y, None, sizes), strict=True):
        theirs = clone(head).fit(features[:, :k], y)
        assert_allclose(ours.predict(features[:, :k]), theirs.predict(features[:, :k]), atol=1e-12)


def test_collinear_features_get_the_shortest_solution_as_in_scikit_learn(features, rng):
    features[:, 4] = features[:, 1] + features[:, 2]
    y = rng.standard_normal(60)
    assert _closed_form(LinearRegression(), features, y, None) is None
    assert_same_heads(LinearRegression(), features, y)


def test_more_features_than_rows(rng):
    features, y = rng.standard_normal((6, 9)), rng.standard_normal(6)
    assert _closed_form(LinearRegression(), features, y, None) is None
    assert_same_heads(LinearRegression(), features, y)
    assert_same_heads(Ridge(), features, y)


def test_narrow_features_are_left_to_scikit_learn(features, rng):
    assert _closed_form(Ridge(), features.astype(np.float32), rng.standard_normal(60), None) is None


def test_weights_reach_the_end_of_a_pipeline_and_are_refused_by_others(features, rng):
    y, weight, sizes = rng.integers(0, 2, 60), rng.uniform(0, 2, 60), np.array([3])
    head = make_pipeline(StandardScaler(), LogisticRegression())
    (ours,) = prefix_heads(head, features, y, weight, sizes)
    theirs = clone(head).fit(features[:, :3], y, logisticregression__sample_weight=weight)
    assert_allclose(ours[-1].coef_, theirs[-1].coef_)
    with pytest.raises(InvalidParameterError, match="KNeighborsRegressor takes no sample_weight"):
        list(prefix_heads(KNeighborsRegressor(), features, y, weight, sizes))
