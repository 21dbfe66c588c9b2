"""Weights of inputs by alignment, and codings of the labels' kernel, against their formulas."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scikit_checks import estimators_to_check, run_checks
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from kernelsieve import AlignmentWeights, SparseMaximalAlignment, SubspaceKernelFeatures
from kernelsieve.exceptions import InvalidDataError, InvalidParameterError
from kernelsieve.kernels import RBF, Linear, Polynomial
from kernelsieve.metrics import kernel_target_alignment
from kernelsieve.subspace.alignment_weights import WeightedAlignment
from kernelsieve.subspace.objectives import coded_labels


@pytest.fixture
def interaction(rng):
    X = rng.standard_normal((250, 6))
    return X, np.where(X[:, 1] * X[:, 4] > 0, "same", "other")


@pytest.mark.parametrize("kernel", [RBF(0.2), Polynomial(0.3, 2, 1.0), Linear()])
@pytest.mark.parametrize("center", [True, False])
def test_value_and_derivative(kernel, center, rng):
    X, theta = rng.standard_normal((40, 3)), np.array([0.5, 1.2, 2.0])
    Y = np.eye(3)[rng.integers(0, 3, 40)]
    objective = WeightedAlignment(X, Y @ Y.T, kernel, center=center)
    value, slope = objective(theta)
    K = kernel.block(X * theta, X * theta)  # (15)
    assert_allclose(value, kernel_target_alignment(K, Y, center=center))
    for j in range(3):
        step = 1e-5 * np.eye(3)[j]
        change = (objective(theta + step)[0] - objective(theta - step)[0]) / 2e-5
        assert_allclose(slope[j], change, rtol=1e-5, atol=1e-9)


def test_codings_of_the_labels():
    y = np.array([0, 0, 1, 2, 2, 2])
    Y = np.eye(3)[y]
    same = y[:, None] == y
    sizes = np.bincount(y)[y]
    expected = {"indicators": same, "signs": np.where(same, 1, -0.5), "balanced": same / sizes}
    for coding, K_y in expected.items():
        F = coded_labels(Y, coding)
        assert_allclose(F @ F.T, K_y, atol=1e-12)
    two = coded_labels(np.eye(2)[[0, 1, 1]], "signs")
    assert_allclose(two @ two.T, np.outer([-1, 1, 1], [-1, 1, 1]), atol=1e-12)


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_inputs_that_tell_something_are_found(kernel, interaction):
    X, y = interaction
    model = AlignmentWeights(kernel, degree=2).fit(X, y)
    assert model.alignment_ > model.initial_alignment_ + 0.1
    assert_array_equal(np.sort(np.argsort(model.weights_)[-2:]), [1, 4])
    assert (model.weights_ >= 0).all()
    assert_allclose(model.transform(X), X * model.weights_)
    formula = rbf_kernel if kernel == "rbf" else polynomial_kernel
    own = {"degree": 2, "coef0": 1} if kernel == "poly" else {}
    K = formula(X * model.weights_, gamma=1 / (X.var() * 6), **own)
    Y = np.eye(2)[(y == "same").astype(int)]
    assert_allclose(model.alignment_, kernel_target_alignment(K, Y, center=True), rtol=1e-8)
    few = SparseMaximalAlignment(10).fit(model.transform(X), y)
    raw = SparseMaximalAlignment(10).fit(X, y)
    assert few.explained_target_ratio_.sum() > raw.explained_target_ratio_.sum()


def test_a_penalty_leaves_fewer_inputs(interaction):
    X, y = interaction
    free, priced = (AlignmentWeights(penalty=price).fit(X, y) for price in (0.0, 0.2))
    assert priced.weights_.mean() < free.weights_.mean()
    assert_array_equal(np.flatnonzero(priced.weights_ > 1e-3), [1, 4])
    assert priced.alignment_ <= free.alignment_


def test_a_given_matrix_is_the_coding_that_it_is(interaction):
    X, y = interaction
    signs = np.where(y == "same", 1.0, -1.0)
    given = AlignmentWeights(target_kernel=np.outer(signs, signs)).fit(X, y)
    named = AlignmentWeights(target_kernel="signs").fit(X, y)
    assert_allclose(given.weights_, named.weights_, atol=1e-6)
    balanced = AlignmentWeights(target_kernel="balanced", center=False).fit(X[:-100], y[:-100])
    assert balanced.alignment_ > balanced.initial_alignment_


def test_numbers_and_a_sample(rng):
    X = rng.standard_normal((400, 4))
    y = np.sin(2 * X[:, 2])
    model = AlignmentWeights(max_samples=150, random_state=0).fit(X, y)
    assert model.weights_.argmax() == 2
    again = AlignmentWeights(max_samples=150, random_state=0).fit(X, y)
    assert_array_equal(model.weights_, again.weights_)


def test_what_it_cannot_do_is_said(interaction):
    X, y = interaction
    with pytest.raises(InvalidParameterError, match="no derivative"):
        AlignmentWeights("laplacian").fit(X, y)
    with pytest.raises(InvalidParameterError, match=r"shape \(3, 3\).*250 samples"):
        AlignmentWeights(target_kernel=np.eye(3)).fit(X, y)
    with pytest.raises(InvalidParameterError, match="not symmetric"):
        AlignmentWeights(target_kernel=np.triu(np.ones((250, 250)))).fit(X, y)
    with pytest.raises(InvalidDataError, match="constant"):
        AlignmentWeights().fit(X, np.ones(len(X)))


@pytest.mark.parametrize("span", ["examples", "points"])
@pytest.mark.parametrize("coding", ["signs", "balanced", "matrix"])
def test_a_subspace_is_learned_for_each_coding(coding, span):
    X, y = load_iris(return_X_y=True)
    X, y = X[:120], y[:120]  # the last class is smaller
    weight = np.where(np.arange(120) % 3, 1.0, 2.0)
    same = (y[:, None] == y).astype(float)
    K_y = {
        "signs": np.where(same, 1, -0.5),
        "balanced": same / (weight @ same)[:, None],
        "matrix": np.exp(-np.abs(np.subtract.outer(y, y))),
    }[coding]
    given = K_y if coding == "matrix" else coding
    objective = ("alignment", given)
    model = SubspaceKernelFeatures(gamma=0.3, span=span, objective=objective, max_iter=15, tol=0)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y, sample_weight=weight)
    T = model.transform(X)
    root = np.sqrt(weight)[:, None]
    K_w, K_y = (root * T) @ (root * T).T, root * K_y * root.T
    expected = np.sum(K_w * K_y) / np.linalg.norm(K_w) / np.linalg.norm(K_y)
    assert_allclose(model.alignment_path_[-1], expected, rtol=1e-6)
    assert model.alignment_path_[-1] > model.alignment_path_[0]
    assert_allclose(model.criterion_path_[-1], expected, rtol=1e-6)


def test_a_matrix_of_labels_must_be_a_kernel():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InvalidParameterError, match=r"eigenvalue.*positive semidefinite"):
        SubspaceKernelFeatures(objective=("alignment", 0.001 - np.eye(150))).fit(X, y)
    model = SubspaceKernelFeatures(objective=("alignment", np.eye(150)), candidates=20)
    with pytest.raises(AttributeError) as caught:
        model.partial_fit(X, y)
    assert "objective='alignment'" in str(caught.value.__cause__)


@estimators_to_check([AlignmentWeights(), AlignmentWeights("linear", center=False)])
def test_scikit_learn_checks(estimator):
    run_checks(estimator)
