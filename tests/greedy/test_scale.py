"""Two scales of the same span: unit variance, and coordinates in the kernel's space."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale

from kernelsieve import Candidates, ComponentPathCV, SparseMaximalAlignment
from kernelsieve.exceptions import InvalidParameterError

GAMMA = 0.05
WAYS = {
    "all": {},
    "pool": {"candidates": 100},
    "fresh": {"candidates": Candidates(50, resample=True)},
    "pairs": {"candidates": 40, "n_nonzero": 2},
    "uncentred": {"center": False},
}


@pytest.fixture(scope="module")
def data():
    X, y = load_diabetes(return_X_y=True)
    return scale(X), scale(y)


def sieve(k, scale="rkhs", **parameters):
    return SparseMaximalAlignment(k, gamma=GAMMA, scale=scale, random_state=0, **parameters)


def kernel(X, Z):
    return np.exp(-GAMMA * ((X[:, None] - Z[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("way", WAYS)
def test_the_scale_changes_neither_landmarks_nor_their_span(data, way):
    X, y = data
    unit, rkhs = (sieve(20, scale, **WAYS[way]).fit(X, y) for scale in ("unit_variance", "rkhs"))
    assert_array_equal(rkhs.landmark_indices_, unit.landmark_indices_)
    F, T = rkhs.transform(X), unit.transform(X)
    assert_allclose(T @ np.linalg.lstsq(T, F, rcond=None)[0], F, atol=1e-9)
    assert ((F.T @ y) >= -1e-9).all()


@pytest.mark.parametrize("way", ["all", "pool", "fresh", "uncentred"])
def test_inner_products_are_those_of_images_projected_on_the_span(data, way):
    X, y = data
    model = sieve(20, **WAYS[way]).fit(X, y)
    columns, F = kernel(X, model.landmarks_), model.transform(X)
    if model.center:
        columns = columns - columns.mean(axis=0)
    W = kernel(model.landmarks_, model.landmarks_)
    assert_allclose(F @ F.T, columns @ np.linalg.solve(W, columns.T), atol=1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_the_first_features_are_those_of_fewer(data, way):
    X, y = data
    few, many = (sieve(k, **WAYS[way]).fit(X, y) for k in (7, 20))
    assert_allclose(many.transform(X, n_components=7), few.transform(X), atol=1e-9)


def test_batches_give_the_same_features(data):
    X, y = data
    whole = sieve(15, candidates=X[:60]).fit(X, y)
    parts = sieve(15, candidates=X[:60]).partial_fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    assert_allclose(parts.transform(X), whole.transform(X), atol=1e-8)


def test_ridge_on_all_samples_as_landmarks_is_kernel_ridge(data):
    X, y = data[0][:80], data[1][:80]
    model = sieve(80, center=False).fit(X, y)
    found = Ridge(0.1, fit_intercept=False).fit(model.transform(X), y)
    expected = KernelRidge(alpha=0.1, kernel="rbf", gamma=GAMMA).fit(X, y)
    new = data[0][80:120]
    assert_allclose(found.predict(model.transform(new)), expected.predict(new), atol=1e-7)


def test_ridge_is_kernel_ridge_restricted_to_the_landmarks(data):
    X, y = data
    model = sieve(15, center=False).fit(X, y)
    columns, W = kernel(X, model.landmarks_), kernel(model.landmarks_, model.landmarks_)
    weights = np.linalg.solve(columns.T @ columns + 0.1 * W, columns.T @ y)
    found = Ridge(0.1, fit_intercept=False).fit(model.transform(X), y)
    assert_allclose(found.predict(model.transform(X)), columns @ weights, atol=1e-9)


def test_one_pass_over_folds_sees_the_scale(data):
    X, y = data
    model = sieve(10, candidates=X[::9])
    search = ComponentPathCV(model, Ridge(0.5), n_components=[4, 10], cv=3, rule="best").fit(X, y)
    assert search.n_passes_ == 1
    pipeline = make_pipeline(model, Ridge(0.5))
    grid = GridSearchCV(pipeline, {"sparsemaximalalignment__n_components": [4, 10]}, cv=3).fit(X, y)
    expected = [grid.cv_results_[f"split{fold}_test_score"] for fold in range(3)]
    assert_allclose(search.path_["test_score"], np.ravel(expected), atol=1e-8)


def indefinite(scale):
    return SparseMaximalAlignment(20, kernel="sigmoid", gamma=1.0, coef0=-3.0, scale=scale)


def test_a_kernel_that_is_not_positive_definite_is_refused(data):
    with pytest.raises(InvalidParameterError, match="unit_variance"):
        indefinite("rkhs").fit(*data)


def test_by_default_features_are_coordinates_where_the_kernel_is_positive_definite(data):
    X, y = data
    assert_array_equal(sieve(20, "auto").fit(X, y).projection_, sieve(20).fit(X, y).projection_)
    found, expected = (indefinite(scale).fit(X, y) for scale in ("auto", "unit_variance"))
    assert_array_equal(found.projection_, expected.projection_)
    assert SparseMaximalAlignment().scale == "auto"


def test_rounding_of_nearly_dependent_landmarks_does_not_change_the_scale():
    """Samples of a line have landmarks whose kernel matrix is singular but for rounding."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(200, 1))
    y, K = np.sin(3 * X[:, 0]) * X[:, 0], np.exp(-((X - X.T) ** 2))
    model = SparseMaximalAlignment(15, gamma=1.0, tol=1e-24, candidates="all", center=False)
    F = model.fit(X, y).transform(X)
    chosen = model.landmark_indices_
    assert np.linalg.eigvalsh(K[np.ix_(chosen, chosen)])[0] < 1e-15
    assert_allclose(F @ F.T, K, atol=1e-6)
