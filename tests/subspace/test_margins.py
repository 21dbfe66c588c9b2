"""The smallest ball, the widest margin, and features that minimise their bound."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, LinearSVC

from kernelsieve import SubspaceKernelFeatures
from kernelsieve.subspace.objectives import (
    LargeMargin,
    RadiusMargin,
    squared_margin_vector,
    squared_radius,
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(1, 60), k=st.integers(1, 6))
def test_the_ball_is_the_smallest(seed, n, k):
    points = np.random.default_rng(seed).standard_normal((n, k))
    squared, slope = squared_radius(points)
    weights = np.linalg.norm(slope, axis=1) / (2 * max(np.sqrt(squared), 1e-300))
    assert_allclose(weights.sum(), 1 if n > 1 else 0, atol=1e-7)
    centre = weights @ points if n > 1 else points[0]
    distances = ((points - centre) ** 2).sum(axis=1)
    # all points are inside, and the centre is a combination of points on the surface: optimal
    assert distances.max() <= squared * (1 + 1e-7) + 1e-12
    assert_allclose(distances[weights > 1e-9], squared, rtol=1e-6)


def test_the_ball_is_that_of_a_general_solver():
    points = np.random.default_rng(1).standard_normal((30, 3))
    inside = {"type": "ineq", "fun": lambda u: u[3] - ((points - u[:3]) ** 2).sum(axis=1)}
    found = minimize(lambda u: u[3], np.r_[points.mean(axis=0), 20.0], constraints=inside)
    assert_allclose(squared_radius(points)[0], found.fun, rtol=1e-6)


def test_equal_points_have_no_radius():
    squared, slope = squared_radius(np.ones((5, 2)))
    assert squared == 0
    assert_allclose(slope, 0)


def test_the_margin_is_that_of_liblinear(cancer):
    X, y = cancer
    X, signs = X[:, :3], np.where(cancer[1] == 1, 1.0, -1.0)
    value, _ = squared_margin_vector(X, signs, np.ones(len(X)), 0.7)
    # liblinear penalises the bias; a large constant input makes that penalty vanish
    machine = LinearSVC(C=0.35, loss="squared_hinge", intercept_scaling=1e3, tol=1e-10, max_iter=10**6)
    machine.fit(X, y)
    slack = np.maximum(1 - signs * machine.decision_function(X), 0)
    expected = float((machine.coef_**2).sum() + 0.7 * (slack**2).sum())
    assert_allclose(value, expected, rtol=1e-5)
    assert value <= expected * (1 + 1e-9)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("margin", [LargeMargin, RadiusMargin])
def test_the_derivative_matches_differences(margin, n_classes):
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, 25)
    root = rng.uniform(0.5, 2, 25)
    objective = margin(np.eye(n_classes)[y] * root[:, None], 1.3, 2.0)
    features = (rng.standard_normal((25, 3)) + y[:, None]) * root[:, None]
    _, slope = objective(features)
    for _ in range(5):
        way = rng.standard_normal(features.shape)
        step = 1e-5
        up, down = (objective(features + s * step * way)[0] for s in (1, -1))
        assert_allclose((up - down) / (2 * step), np.sum(slope * way), rtol=1e-5)


def machines(K, y, C):
    """Return the objectives of machines with squared slack, each class against the rest.

    Squared slack is a hard margin under ``K + I / C``; SVC solves that dual.
    """
    values = []
    for c in np.unique(y)[1:] if len(np.unique(y)) == 2 else np.unique(y):
        hard = SVC(kernel="precomputed", C=1e9, tol=1e-9).fit(K + np.eye(len(K)) / C, y == c)
        values.append(float(np.abs(hard.dual_coef_).sum()))  # |w|^2 at the optimum
    return np.array(values)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_objectives_are_those_of_machines_on_the_projected_kernel(n_classes):
    """Formula (16) with its matrices written out, and machines of libsvm."""
    X, y = load_iris(return_X_y=True)
    X, y = X[y >= 3 - n_classes][::2], y[y >= 3 - n_classes][::2]
    Z = X[[3, 20, 40]]
    K_z = rbf_kernel(X, Z, gamma=0.3)
    projected = K_z @ np.linalg.solve(rbf_kernel(Z, gamma=0.3), K_z.T)  # (16)
    expected = machines(projected, y, C=2.0).sum()
    for margin in ("large_margin", "radius_margin"):
        model = SubspaceKernelFeatures(
            gamma=0.3, span="points", init=Z, objective=(margin, 2.0), max_iter=0
        ).fit(X, y)
        radius = 1.0
        if margin == "radius_margin":
            radius = squared_radius(model.transform(X))[0] + 1 / 2.0
        assert_allclose(model.alignment_path_, [-np.log(radius * expected)], rtol=1e-4)


@pytest.mark.parametrize("objective", ["large_margin", "radius_margin"])
def test_points_are_learned_for_several_classes(objective):
    X, y = load_iris(return_X_y=True)
    model = SubspaceKernelFeatures(objective=objective, span="points", gamma=0.3).fit(X, y)
    assert (np.diff(model.alignment_path_) >= 0).all()
    assert model.alignment_path_[-1] > model.alignment_path_[0] + 0.1
    assert SVC(kernel=model.subspace_kernel_).fit(X, y).score(X, y) > 0.95
    assert len(model.landmarks_) == 3


@pytest.mark.parametrize(
    "parameters",
    [{}, {"kernel": "linear"}, {"candidates": 40, "random_state": 0}, {"span": "points"}],
    ids=str,
)
def test_the_bound_falls(parameters, cancer):
    X, y = cancer
    model = SubspaceKernelFeatures(objective="radius_margin", **parameters).fit(X[:200], y[:200])
    assert (np.diff(model.alignment_path_) >= 0).all()
    assert model.alignment_path_[-1] > model.alignment_path_[0] + 0.1
    features = model.transform(X[:200])
    kernel = model._current_fit().model.kernel
    again = RadiusMargin(np.eye(2)[y[:200]], kernel.diag(X[:200]).mean(), 1.0)
    assert_allclose(again(features)[0], model.alignment_path_[-1], rtol=1e-6)


def test_precomputed_columns_of_a_pool(cancer):
    X, y = cancer[0][:120], cancer[1][:120]
    rows = np.arange(0, 120, 4)
    K = rbf_kernel(X, gamma=0.05)
    parameters = {"objective": "radius_margin", "max_iter": 5}
    direct = SubspaceKernelFeatures(gamma=0.05, candidates=X[rows], **parameters).fit(X, y)
    for matrix in (K, K[:, rows]):
        model = SubspaceKernelFeatures(kernel="precomputed", candidates=rows, **parameters)
        assert_allclose(model.fit(matrix, y).transform(matrix), direct.transform(X), atol=1e-7)


def test_margins_look_at_all_samples(digits):
    X, y = digits
    with pytest.raises(AttributeError):
        SubspaceKernelFeatures(objective="radius_margin", candidates=10).partial_fit(X, y)
