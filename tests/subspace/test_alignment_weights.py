"""Weights of inputs by alignment, and codings of the labels' kernel, against their formulas."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scikit_checks import estimators_to_check, run_checks
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

from kernelsieve import AlignmentWeights, SparseMaximalAlignment, SubspaceKernelFeatures
from kernelsieve.exceptions import InvalidDataError, InvalidParameterError
from kernelsieve.kernels import RBF, Linear, Polynomial
from kernelsieve.metrics import kernel_target_alignment
from kernelsieve.subspace.objectives import coded_labels, squared_radius
from kernelsieve.subspace.weighted_kernels import (
    WeightedAlignment,
    WeightedMargin,
    nonnegative_program,
)


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


@pytest.mark.parametrize("kernel", [RBF(0.2), Polynomial(0.3, 2, 1.0), Linear()])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("radius", [True, False])
def test_margins_are_those_of_machines(kernel, n_classes, radius, rng):
    X, theta, C = rng.standard_normal((40, 3)), np.array([0.5, 1.2, 2.0]), 3.0
    codes = np.arange(40) % n_classes
    objective = WeightedMargin(X, np.eye(n_classes)[codes], kernel, C, radius=radius)
    value, slope = objective(theta)
    K = kernel.block(X * theta, X * theta)
    K = K / np.diagonal(K).mean() + np.eye(40) / C
    total = 0.0
    for c in range(n_classes) if n_classes > 2 else [1]:
        machine = SVC(C=1e9, kernel="precomputed", tol=1e-10).fit(K, codes == c)
        beta = machine.dual_coef_[0]
        total += 2 * np.abs(beta).sum() - beta @ K[np.ix_(machine.support_, machine.support_)] @ beta
    if radius:  # of the images under the kernel with slack
        sizes, axes = np.linalg.eigh(K)
        total *= squared_radius(axes * np.sqrt(sizes))[0]
    assert_allclose(value, -np.log(total), rtol=1e-6)
    for step in 1e-5 * np.eye(3):
        change = (objective(theta + step)[0] - objective(theta - step)[0]) / 2e-5
        assert_allclose(slope @ step / 1e-5, change, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_a_quadratic_program_satisfies_its_conditions(seed):
    rng = np.random.default_rng(seed)
    A, c, e = rng.standard_normal((30, 40)), rng.standard_normal(30), np.where(np.arange(30) % 3, 1, -1)
    Q, e, total = A @ A.T + 0.01 * np.eye(30), e if seed % 2 else np.ones(30), seed % 2 ^ 1
    a = nonnegative_program(Q, c, e, total)
    assert_allclose(e @ a, total, atol=1e-12)
    assert (a >= 0).all()
    slopes = Q @ a - c
    price = np.mean((slopes / e)[a > 0])
    assert_allclose(slopes[a > 0], price * e[a > 0], atol=1e-9)
    assert (slopes[a == 0] >= price * e[a == 0] - 1e-9).all()


@pytest.mark.parametrize("objective", ["large_margin", ("radius_margin", 10.0)])
def test_margins_find_inputs_that_tell_something(objective, interaction):
    X, y = interaction
    model = AlignmentWeights(objective=objective, penalty=0.1).fit(X, y)
    assert_array_equal(np.sort(np.argsort(model.weights_)[-2:]), [1, 4])
    assert model.alignment_ > model.initial_alignment_


@pytest.mark.parametrize(("objective", "penalty"), [("alignment", 0.05), ("radius_margin", 0.3)])
def test_the_0_norm_leaves_few_inputs_that_pay_little(objective, penalty, rng):
    X = rng.standard_normal((150, 8))
    y = X[:, 1] * X[:, 4] + 0.5 * X[:, 6] > 0
    mean, share = (
        AlignmentWeights(objective=objective, penalty=penalty, norm=norm).fit(X, y) for norm in (1, 0)
    )
    assert 0 < np.count_nonzero(share.weights_) <= np.count_nonzero(mean.weights_)
    assert set(np.flatnonzero(share.weights_)) <= {1, 4, 6}
    assert share.alignment_ > mean.alignment_  # what is kept is not made small


def test_what_margins_and_objectives_need_is_said(interaction):
    X, y = interaction
    with pytest.raises(InvalidParameterError, match="separates classes, and y holds numbers"):
        AlignmentWeights(objective="large_margin").fit(X, X[:, 0])
    with pytest.raises(InvalidParameterError, match="belongs to target_kernel"):
        AlignmentWeights(objective=("alignment", "signs")).fit(X, y)
    with pytest.raises(InvalidParameterError, match="C above 0"):
        AlignmentWeights(objective=("large_margin", 0.0)).fit(X, y)
