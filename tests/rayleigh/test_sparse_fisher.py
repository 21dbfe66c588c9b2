"""Sparse kernel Fisher discriminants against their optimality conditions and other solvers."""

import builtins
import tracemalloc
import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import CountingKernel
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import linprog, minimize
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, MultiTaskLasso, lasso_path
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVR

from kernelsieve import KernelFisherDiscriminant, SparseKernelFisherDiscriminant
from kernelsieve.exceptions import (
    FewerFeaturesWarning,
    InvalidDataError,
    InvalidParameterError,
    KernelError,
)
from kernelsieve.kernels import RBF
from kernelsieve.rayleigh import DecisionRule, Tangent, penalised_squares
from kernelsieve.rayleigh.column_generation import Effort, PricedColumns
from kernelsieve.rayleigh.linear_program import check_gap, margin_nu, margin_threshold
from kernelsieve.rayleigh.penalised_squares import least_squares

JOINT = DecisionRule(multi_class="joint")

GAMMA = 1 / 30
LOSSES = ["squared", "absolute", "huber", "epsilon_insensitive"]
LINEAR_PROGRAMS = ["absolute", "epsilon_insensitive"]
DELTA, EPSILON, POWER = 0.5, 0.2, 3.0
NUMBERED = {
    name: (name, number)
    for name, number in (("huber", DELTA), ("epsilon_insensitive", EPSILON), ("polynomial", POWER))
}


class Hurried(SparseKernelFisherDiscriminant):
    max_systems = 40


def make(C=1.0, loss="squared", **more):
    if loss in LINEAR_PROGRAMS and more.get("penalty", "l1") == "l1":
        pytest.importorskip("highspy")
    return SparseKernelFisherDiscriminant(C, loss=NUMBERED.get(loss, loss), **{"gamma": GAMMA, **more})


def loss_of(loss, xi):
    size = np.abs(xi)
    return {
        "squared": xi**2,
        "absolute": size,
        "huber": np.where(size <= DELTA, xi**2, 2 * DELTA * size - DELTA**2),
        "epsilon_insensitive": np.maximum(0, size - EPSILON),
        "polynomial": size**POWER,
    }[loss]


def objective(loss, model, X, y, weight=1.0):
    """The paper's objective of a fitted model, from its features and coefficients."""
    xi = y - model.transform(X)[:, 0]
    return (weight * loss_of(loss, xi)).sum() + model.C * np.abs(model.projection_).sum()


def full_program(K, y, C, epsilon=0.0, weight=None, constant=None):
    """Problem (14) with all columns at once, by scipy."""
    n, m = K.shape
    weight = np.ones(n) if weight is None else weight
    constant = np.ones(n) if constant is None else constant
    fit = np.hstack([K, -K, constant[:, None]])
    slack = np.hstack([np.eye(n), -np.eye(n)])
    A = np.vstack([np.hstack([fit, slack]), -np.hstack([fit, slack])])
    b = np.concatenate([y + epsilon, epsilon - y])
    cost = np.concatenate([np.full(2 * m, C), [0.0], weight, weight])
    bounds = [(0, None)] * (2 * m) + [(None, None)] + [(0, None)] * (2 * n)
    return linprog(cost, A_ub=A, b_ub=b, bounds=bounds, method="highs").fun


def linear_program_of_inputs(X, y, C):
    """The same for the linear kernel in orthonormal coordinates, where no coefficient is large.

    With ``X = U S V'`` the kernel matrix is ``U S^2 U'``. The unknowns are ``c = S^2 U' alpha``, which
    gives the features ``U c + b``, and ``C alpha``.
    """
    U, S, _ = np.linalg.svd(X, full_matrices=False)
    n, d = U.shape
    residuals = np.hstack([U, np.ones((n, 1)), np.zeros((n, 2 * n)), np.eye(n), -np.eye(n)])
    coordinates = np.hstack([-np.diag(C / S**2), np.zeros((d, 1)), U.T, -U.T, np.zeros((d, 2 * n))])
    cost = np.concatenate([np.zeros(d + 1), np.ones(4 * n)])
    bounds = [(None, None)] * (d + 1) + [(0, None)] * (4 * n)
    A, b = np.vstack([residuals, coordinates]), np.concatenate([y, np.zeros(d)])
    return linprog(cost, A_eq=A, b_eq=b, bounds=bounds, method="highs").fun


@pytest.fixture(scope="module")
def data(cancer):
    X, y = cancer[0][:220], cancer[1][:220]
    return X, y, 2.0 * y - 1, rbf_kernel(X, gamma=GAMMA)


# ---------------------------------------------------------------------- squared: SKFD


@pytest.mark.parametrize("C", [30.0, 1.0, 0.05])
def test_squared_satisfies_the_conditions_of_the_lasso(cancer, C):
    X, y = cancer
    model = make(C).fit(X, y)
    K = rbf_kernel(X, gamma=GAMMA)
    xi = 2.0 * y - 1 - model.transform(X)[:, 0]
    prices = 2 * K.T @ xi
    assert abs(xi.sum()) < 1e-8
    assert np.abs(prices).max() <= C * (1 + 1e-7)
    support = model.landmark_indices_
    assert_allclose(prices[support], C * np.sign(model.projection_[:, 0]), rtol=1e-7)
    assert model.sparsity_ == 1 - len(support) / len(X)


def test_squared_is_the_lasso_of_scikit_learn(data):
    X, y, signs, K = data
    model = make(2.0).fit(X, y)
    lasso = Lasso(alpha=2.0 / (2 * len(X)), tol=1e-12, max_iter=200_000).fit(K, signs)
    assert_allclose(model.transform(X)[:, 0], lasso.predict(K), atol=1e-5)
    assert_allclose(-model.offset_[0], lasso.intercept_, atol=1e-5)
    assert_allclose(model.criterion_path_[0], objective("squared", model, X, signs), rtol=1e-12)


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_kernels_of_very_unequal_eigenvalues_do_no_harm(loss, monkeypatch):
    """Columns of a linear kernel on raw inputs are large and all but dependent."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:60], y[:60]
    signs, K = 2.0 * y - 1, X @ X.T
    sweeps = []

    def counted(*args, **kwargs):
        sweeps.append(kwargs["max_iter"])
        return lasso_path(*args, **kwargs)

    monkeypatch.setattr(penalised_squares, "lasso_path", counted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # rounding of K alone breaks conditions
        model = make(1.0, loss, kernel="linear").fit(X, y)
    assert len(sweeps) < 300
    xi = signs - model.transform(X)[:, 0]
    d = 2 * (xi if loss == "squared" else np.clip(xi, -DELTA, DELTA))
    d /= max(1.0, np.abs(K @ d).max())  # feasible for the dual problem, a lower bound of all objectives
    lowest = signs @ d - d @ d / 4
    assert lowest * (1 - 1e-6) <= model.criterion_path_[0] <= 1.05 * lowest
    assert model.criterion_path_[0] < loss_of(loss, signs - signs.mean()).sum()


# ---------------------------------------------------------------------- absolute: LSKFD


@pytest.mark.parametrize("loss", LINEAR_PROGRAMS)
@pytest.mark.parametrize("C", [10.0, 1.0])
def test_objective_is_that_of_the_full_linear_program(data, loss, C):
    X, y, signs, K = data
    model = make(C, loss).fit(X, y)
    epsilon = 0.0 if loss == "absolute" else EPSILON
    expected = full_program(K, signs, C, epsilon)
    assert_allclose(model.criterion_path_[0], expected, rtol=1e-7)
    assert_allclose(objective(loss, model, X, signs), expected, rtol=1e-7)


@pytest.mark.parametrize("loss", LINEAR_PROGRAMS)
@pytest.mark.parametrize("unit", [1e-10, 1e9])
def test_the_unit_of_a_kernel_does_not_matter(data, loss, unit):
    _, y, signs, K = data
    model = make(1.0, loss).set_params(kernel="precomputed", C=unit).fit(K * unit, y)
    epsilon = 0.0 if loss == "absolute" else EPSILON
    assert_allclose(model.criterion_path_[0], full_program(K, signs, 1.0, epsilon), rtol=1e-7)


def test_linear_programs_of_raw_inputs():
    """Kernel values of 1e7: solved as well as rounding lets them be."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:150], y[:150]
    signs, K = 2.0 * y - 1, X @ X.T
    for C in (1e3, 1.0):
        model = make(C, "absolute", kernel="linear").fit(X, y)
        expected = linear_program_of_inputs(X, signs, C)
        assert_allclose(expected, full_program(K, signs, C), rtol=1e-7)
        assert_allclose(model.criterion_path_[0], expected, rtol=1e-7)
    # Thirty dependent columns: sums of terms of 1e10 make features, of which 1e-5 is rounding.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = make(1e-7, "absolute", kernel="linear").fit(X, y)
    # scipy does not solve the program of all columns then, but that of the inputs.
    assert_allclose(model.criterion_path_[0], linear_program_of_inputs(X, signs, 1e-7), rtol=1e-5)
    assert_allclose(objective("absolute", model, X, signs), model.criterion_path_[0], rtol=1e-5)


def test_a_linear_program_that_is_not_solved_is_told():
    check_gap(1.0, 1 - 1e-9)
    with pytest.warns(ConvergenceWarning, match=r"solved to 0\.1 of its objective.*scale X"):
        check_gap(1.0, 0.9)


def test_weights_enter_the_linear_program(data, rng):
    X, y, signs, K = data
    weight = rng.uniform(0.5, 2.0, len(X))
    model = make(1.0, "absolute").fit(X, y, sample_weight=weight)
    assert_allclose(model.criterion_path_[0], full_program(K, signs, 1.0, weight=weight), rtol=1e-7)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_fraction_of_the_columns_is_worked_with(cancer, loss):
    X, y = cancer
    model = make(10.0, loss).fit(X, y)
    assert len(model.landmarks_) <= model.n_columns_ < len(X) / 4
    held_out = make(10.0, loss, decision=DecisionRule(probability=2)).fit(X, y)
    assert held_out.n_columns_ == model.n_columns_
    assert make(10.0, loss).path(X, y, [1.0, 10.0])[1].n_columns_ == model.n_columns_


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_columns_are_priced_in_blocks_and_never_stored(loss):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2200, 2))
    y = (np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * rng.standard_normal(2200) > 0).astype(int)
    model = make(20.0, loss, gamma=1.0, candidates="all", n_jobs=1)
    model.fit(X[:300], y[:300])  # everything is loaded and compiled
    kernel_matrix = 8 * 2200**2
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < kernel_matrix
    assert model.sparsity_ > 0.97


def test_pricing_evaluates_every_column_once_a_pass_and_keeps_few():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((1000, 3))
    kernel = RBF(0.5)
    largest = 0
    original = kernel.against

    def against(Z, dtype=np.float64):
        fill = original(Z, dtype)

        def counted(rows, out):
            nonlocal largest
            largest = max(largest, out.size)
            fill(rows, out)

        return counted

    object.__setattr__(kernel, "against", against)
    columns = PricedColumns(X, kernel, np.repeat(X, 10, axis=0), n_jobs=1)
    prices = columns.prices(np.ones(1000))
    assert_allclose(prices, np.repeat(rbf_kernel(X, gamma=0.5).sum(axis=0), 10))
    assert largest < 1000 * 10_000 / 3
    chosen = np.array([4999, 3, 0, 2500, 3])
    values = columns.select(chosen)
    assert_allclose(values, rbf_kernel(X, X[chosen // 10], gamma=0.5))
    assert_allclose(columns.select(np.array([0, 17]))[:, 0], values[:, 2])
    assert columns.n_kept == 5


@pytest.mark.parametrize("loss", LOSSES)
def test_evaluations_are_a_few_passes(cancer, loss):
    X, y = cancer
    kernel = CountingKernel(GAMMA)
    model = make(10.0, loss, kernel=kernel).fit(X, y)
    assert kernel.evaluations < 20 * len(X) ** 2
    kernel.evaluations = 0
    model.transform(X)
    assert kernel.evaluations == len(X) * len(model.landmarks_)


# ---------------------------------------------------------------------- huber, epsilon-insensitive


def test_huber_is_the_minimum_that_scipy_finds(data):
    X, y, signs, K = data
    C, chosen = 0.5, slice(0, 40)
    n = K[:, chosen].shape[1]

    def value_and_slope(z):
        alpha, b = z[:n] - z[n : 2 * n], z[-1]
        xi = signs - K[:, chosen] @ alpha - b
        d = 2 * np.clip(xi, -DELTA, DELTA)
        slope = K[:, chosen].T @ d
        return (
            loss_of("huber", xi).sum() + C * z[: 2 * n].sum(),
            np.concatenate([C - slope, C + slope, [-d.sum()]]),
        )

    bounds = [(0, None)] * (2 * n) + [(None, None)]
    best = minimize(
        value_and_slope,
        np.zeros(2 * n + 1),
        jac=True,
        bounds=bounds,
        method="L-BFGS-B",
        options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-9},
    ).fun
    model = make(C, "huber", candidates=X[chosen]).fit(X, y)
    ours = objective("huber", model, X, signs)
    assert_allclose(model.criterion_path_[0], ours, rtol=1e-10)
    assert ours <= best + 1e-8
    assert_allclose(ours, best, rtol=1e-5)


@pytest.mark.parametrize("C", [5.0, 0.3, 0.02])
def test_huber_satisfies_its_conditions(cancer, C):
    X, y = (array[:300] for array in cancer)
    model = make(C, "huber").fit(X, y)
    xi = 2.0 * y - 1 - model.transform(X)[:, 0]
    slopes = 2 * np.clip(xi, -DELTA, DELTA)
    prices = rbf_kernel(X, gamma=GAMMA).T @ slopes
    assert abs(slopes.sum()) < 1e-6 * np.abs(slopes).sum()
    assert np.abs(prices).max() <= C * (1 + 1e-6)
    used = model.landmark_indices_
    assert_allclose(prices[used], C * np.sign(model.projection_[:, 0]), rtol=1e-6)


def test_huber_with_a_large_delta_is_squared(data):
    X, y, _, _ = data
    wide = make(1.0, ("huber", 100.0)).fit(X, y)
    squared = make(1.0).fit(X, y)
    assert_allclose(wide.transform(X), squared.transform(X), atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("C", [5.0, 0.3])
def test_optimality_conditions_of_every_loss(data, loss, C):
    """No candidate, and no constant, lowers the objective: slopes in both directions are positive."""
    X, y, signs, K = data
    model = make(C, loss).fit(X, y)
    f = model.transform(X)[:, 0]
    alpha = np.zeros(len(X))
    alpha[model.landmark_indices_] = model.projection_[:, 0]
    start = loss_of(loss, signs - f).sum() + C * np.abs(alpha).sum()
    step = 1e-4
    for direction in (step, -step):
        assert loss_of(loss, signs - f - direction).sum() + C * np.abs(alpha).sum() > start - 1e-8
        for j in range(0, len(X), 7):
            moved = loss_of(loss, signs - f - direction * K[:, j]).sum()
            other = C * (np.abs(alpha).sum() - abs(alpha[j]) + abs(alpha[j] + direction))
            assert moved + other > start - 1e-8


# ---------------------------------------------------------------------- invariances


def turned(X):
    """Move rows by a small step that mixes inputs."""
    return X + 0.2 * (X[:, ::-1] if not sparse.issparse(X) else X[:, ::-1].tocsr())


def shrunk(X):
    return 0.9 * X


INVARIANCES = [(turned, 0.7), (shrunk, 2.0)]
WITH_COPIES = [Tangent(*pair, virtual_candidates=True) for pair in INVARIANCES]


def changes(X, points):
    """What the transformations change in the kernel columns, and the weights of these lines."""
    K = rbf_kernel(X, points, gamma=GAMMA)
    lines = [K - rbf_kernel(move(X), points, gamma=GAMMA) for move, _ in INVARIANCES]
    return np.vstack(lines), np.repeat([weight for _, weight in INVARIANCES], len(X))


def test_invariances_are_lines_of_the_lasso(data, rng):
    X, y, signs, K = data
    D, of_changes = changes(X, X)
    weight = rng.uniform(0.5, 2.0, len(X))
    model = make(2.0, invariances=INVARIANCES).fit(X, y, sample_weight=weight)
    root, mean = np.sqrt(weight), weight / weight.sum()
    lines = np.vstack(
        [root[:, None] * (K - mean @ K), np.sqrt(of_changes * np.tile(weight, 2))[:, None] * D]
    )
    target = np.concatenate([root * (signs - mean @ signs), np.zeros(len(D))])
    lasso = Lasso(2.0 / (2 * len(target)), fit_intercept=False, tol=1e-12, max_iter=200_000)
    lasso.fit(lines, target)
    expected = K @ lasso.coef_ + mean @ (signs - K @ lasso.coef_)
    assert_allclose(model.transform(X)[:, 0], expected, atol=1e-5)
    naive = np.sum((target - lines @ lasso.coef_) ** 2) + 2.0 * np.abs(lasso.coef_).sum()
    assert_allclose(model.criterion_path_[0], naive, rtol=1e-8)


@pytest.mark.parametrize("loss", LINEAR_PROGRAMS)
def test_invariances_are_lines_of_the_linear_program(data, loss):
    X, y, signs, K = data
    D, of_changes = changes(X, X)
    model = make(1.0, loss, invariances=INVARIANCES).fit(X, y)
    epsilon = 0.0 if loss == "absolute" else EPSILON
    expected = full_program(
        np.vstack([K, D]),
        np.concatenate([signs, np.zeros(len(D))]),
        1.0,
        epsilon * np.repeat([1.0, 0.0, 0.0], len(X)),
        np.concatenate([np.ones(len(X)), of_changes]),
        np.repeat([1.0, 0.0, 0.0], len(X)),
    )
    assert_allclose(model.criterion_path_[0], expected, rtol=1e-7)
    moved = np.abs(changes(X, model.landmarks_)[0] @ model.projection_[:, 0])
    assert_allclose(objective(loss, model, X, signs) + of_changes @ moved, expected, rtol=1e-7)


def test_invariances_are_squares_beside_the_huber_loss(data):
    X, y, signs, K = data
    C = 0.5
    model = make(C, "huber", invariances=INVARIANCES).fit(X, y)
    D, of_changes = changes(X, X)
    alpha = np.zeros(len(X))
    alpha[model.landmark_indices_] = model.projection_[:, 0]
    xi = signs - model.transform(X)[:, 0]
    slopes = 2 * np.clip(xi, -DELTA, DELTA)
    prices = K.T @ slopes - 2 * D.T @ (of_changes * (D @ alpha))
    assert abs(slopes.sum()) < 1e-6 * np.abs(slopes).sum()
    assert np.abs(prices).max() <= C * (1 + 1e-6)
    used = model.landmark_indices_
    assert_allclose(prices[used], C * np.sign(alpha[used]), rtol=1e-6)
    squares = of_changes @ (D @ alpha) ** 2
    assert_allclose(model.criterion_path_[0], objective("huber", model, X, signs) + squares, rtol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_invariances_keep_features_still(data, loss):
    X, y, _, _ = data

    def change(model):
        return np.abs(model.transform(X) - model.transform(turned(X))).mean()

    invariances = [(turned, 10.0 if loss in LINEAR_PROGRAMS else 100.0)]
    plain = make(1.0, loss).fit(X, y)
    still = make(1.0, loss, invariances=invariances).fit(X, y)
    assert change(still) < 0.5 * change(plain)
    without = make(1.0, loss, invariances=[(turned, 0.0)]).fit(X, y)
    assert_array_equal(without.transform(X), plain.transform(X))
    rows = sparse.csr_matrix(X)
    same = make(1.0, loss, invariances=invariances).fit(rows, y)
    assert_allclose(same.transform(rows), still.transform(X), atol=1e-5)


def test_transformed_examples_may_be_candidates(data):
    X, y, _, _ = data
    union = np.vstack([X, turned(X), shrunk(X)])
    model = make(1.0, invariances=WITH_COPIES).fit(X, y)
    given = make(1.0, invariances=INVARIANCES, candidates=union).fit(X, y)
    assert_allclose(model.transform(X), given.transform(X), atol=1e-7)
    assert_array_equal(model.landmark_indices_, given.landmark_indices_ % len(X))
    assert max(given.landmark_indices_) >= len(X)
    assert_allclose(model.sparsity_, 1 - len(model.landmarks_) / len(union))
    share = model.explained_variance_ratio_
    assert_allclose(share, given.explained_variance_ratio_, rtol=0.05)  # of a pool it is an estimate
    path = make(invariances=WITH_COPIES, candidates=300, random_state=0).path(X, y, [4.0, 1.0])
    assert path[1].sparsity_ == 1 - len(path[1].landmarks_) / 300
    for landmark, row in zip(path[1].landmarks_, path[1].landmark_indices_, strict=True):
        assert any(np.array_equal(landmark, union[row + k * len(X)]) for k in range(3))


def test_bad_invariances_are_refused(data):
    X, y, _, K = data
    for bad in ([turned], [(turned, "much")], [(turned, -1.0)], [("turned", 1.0)]):
        with pytest.raises(InvalidParameterError):
            make(invariances=bad).fit(X, y)
    with pytest.raises(InvalidDataError, match="same shape"):
        make(invariances=[(lambda X: X[:5], 1.0)]).fit(X, y)
    with pytest.raises(InvalidParameterError, match="precomputed"):
        make(kernel="precomputed", invariances=INVARIANCES).fit(K, y)


def test_a_penalty_below_the_rounding_of_alike_columns():
    """A preconditioner is then no positive matrix unless rounding is allowed for."""
    X = np.random.default_rng(0).uniform(0.4, 1.6, (10, 1))
    model = SparseKernelFisherDiscriminant(decision=DecisionRule(multi_class="joint"), random_state=0)
    weight = 1e19 * np.array([2, 2, 2, 2, 1, 2, 1, 0, 2, 0])
    with pytest.warns(ConvergenceWarning, match="Raise C, or scale X"):
        model.fit(X, np.arange(10) == 0, sample_weight=weight)
    assert np.isfinite(model.transform(X)).all()


def test_kernel_values_that_cannot_be_summed_up():
    X = np.random.default_rng(0).normal(size=(40, 2)) * 1e271
    with pytest.raises(KernelError, match="too large for their sums"):
        SparseKernelFisherDiscriminant(kernel="linear", candidates=12).fit(X, np.arange(40) % 2)


# ---------------------------------------------------------------------- the path


@pytest.mark.parametrize("loss", LOSSES)
def test_a_path_is_separate_fits(data, loss):
    X, y, _signs, _ = data
    Cs = [0.5, 20.0, 3.0]
    path = make(1.0, loss).path(X, y, Cs)
    assert [model.C for model in path] == Cs
    for model in path:
        alone = make(model.C, loss).fit(X, y)
        assert_allclose(model.criterion_path_, alone.criterion_path_, rtol=1e-8)
        assert_allclose(model.transform(X), alone.transform(X), atol=1e-5)
    sizes = [np.abs(path[i].projection_).sum() for i in (1, 2, 0)]
    assert sizes == sorted(sizes)


def test_a_path_shares_candidates_and_columns(cancer):
    X, y = cancer
    counter = CountingKernel(GAMMA)

    def kernel(X, Z):  # a function is not copied when an estimator is cloned
        return counter(X, Z)

    path = make(kernel=kernel, candidates=200).path(X, y, [8.0, 4.0, 2.0, 1.0])
    together = counter.evaluations
    counter.evaluations = 0
    for C in (8.0, 4.0, 2.0, 1.0):
        make(C, kernel=kernel, candidates=200, random_state=0).fit(X, y)
    assert 0 < together < 0.7 * counter.evaluations
    assert_array_equal(path[0].random_state, None)


@pytest.mark.parametrize("bad", [1.0, "1", ["much"], [[1.0]], [1.0, -1.0], [np.nan], None])
def test_a_path_needs_a_list_of_penalties(data, bad):
    with pytest.raises(InvalidParameterError, match=r"Cs=.*sequence of positive numbers"):
        make().path(*data[:2], bad)


# ---------------------------------------------------------------------- many classes


@pytest.fixture(scope="module")
def many(digits):
    X, y = digits
    return X, y, 2.0 * (y[:, None] == np.arange(10)) - 1


@pytest.mark.parametrize("candidates", [60, "all"])
def test_classes_share_one_reduced_design(many, candidates, rng):
    """The classes together are as the classes alone, which see all samples."""
    X, y, _ = many
    X, y, weight = X[:250], y[:250], rng.uniform(0.5, 2.0, 250)
    together = make(0.5, gamma=0.05, candidates=candidates, random_state=0)
    together.fit(X, y, sample_weight=weight)
    for label in (0, 7):
        alone = make(0.5, gamma=0.05, candidates=candidates, random_state=0)
        alone.fit(X, (y == label).astype(int), sample_weight=weight)
        assert_allclose(together.transform(X)[:, label], alone.transform(X)[:, 0], atol=1e-6)
        assert_allclose(together.criterion_path_[label], alone.criterion_path_[0], rtol=1e-9)


def test_many_classes_evaluate_the_kernel_a_few_times(many):
    X, y, _ = many
    counter = CountingKernel(0.05)
    model = make(0.5, kernel=counter, candidates=100, random_state=0).fit(X, y)
    assert len(model.landmarks_) > 80
    assert 0 < counter.evaluations < 6 * len(X) * 100


def test_joint_is_the_multi_task_lasso_of_scikit_learn(many):
    X, y, signs = many
    X, y, signs, C = X[:150], y[:150], signs[:150], 4.0
    K = rbf_kernel(X, gamma=0.05)
    model = make(C, gamma=0.05, decision=JOINT).fit(X, y)
    lasso = MultiTaskLasso(C / (2 * len(X)), tol=1e-10, max_iter=100_000).fit(K, signs)
    assert_allclose(model.transform(X), lasso.predict(K), atol=1e-4)
    coefficients = np.zeros((len(X), 10))
    coefficients[model.landmark_indices_] = model.projection_
    xi = signs - model.transform(X)
    naive = np.sum(xi**2) + C * np.linalg.norm(coefficients, axis=1).sum()
    assert_allclose(model.criterion_path_.sum(), naive, rtol=1e-10)
    theirs = np.sum((signs - lasso.predict(K)) ** 2) + C * np.linalg.norm(lasso.coef_, axis=0).sum()
    assert naive <= theirs * (1 + 1e-12)
    slopes = 2 * K.T @ xi
    used = model.landmark_indices_
    assert np.linalg.norm(slopes, axis=1).max() <= C * (1 + 1e-7)
    units = model.projection_ / np.linalg.norm(model.projection_, axis=1, keepdims=True)
    assert_allclose(slopes[used], C * units, atol=1e-6 * C)


@pytest.mark.slow
def test_joint_needs_fewer_landmarks_for_the_same_error(many):
    X, y, _ = many
    alone = make(0.5, gamma=0.05).fit(X[:450], y[:450])
    joint = make(1.0, gamma=0.05, decision=JOINT).fit(X[:450], y[:450])
    assert len(joint.landmarks_) < 0.6 * len(alone.landmarks_)
    assert joint.score(X[450:], y[450:]) >= alone.score(X[450:], y[450:]) - 0.01


def test_joint_in_other_forms(many, data):
    X, y, _ = many
    X, y = X[:200], y[:200]
    path = make(gamma=0.05, decision=JOINT).path(X, y, [2.0, 20.0])
    for model in path:
        alone = make(model.C, gamma=0.05, decision=JOINT).fit(X, y)
        assert_allclose(model.transform(X), alone.transform(X), atol=1e-5)
    still = make(2.0, gamma=0.05, decision=JOINT, invariances=[(shrunk, 0.0)]).fit(X, y)
    assert_allclose(still.transform(X), path[0].transform(X), atol=1e-6)
    moved = make(2.0, gamma=0.05, decision=JOINT, invariances=[(shrunk, 100.0)]).fit(X, y)
    change = [np.abs(m.transform(X) - m.transform(shrunk(X))).mean() for m in (still, moved)]
    assert change[1] < 0.7 * change[0]
    two = data[:2]
    assert_allclose(
        make(2.0, decision=JOINT).fit(*two).transform(two[0]),
        make(2.0).fit(*two).transform(two[0]),
        atol=1e-6,
    )
    with pytest.raises(InvalidParameterError, match="loss='huber'"):
        make(1.0, "huber", decision=JOINT).fit(X, y)


# ---------------------------------------------------------------------- other penalties and losses


def penalised(loss, penalty, model, K, signs, weight=1.0):
    """The objective of problem (9) with a quadratic penalty, from coefficients and features alone."""
    alpha = np.zeros(len(K))
    alpha[model.landmark_indices_] = model.projection_[:, 0]
    size = alpha @ K @ alpha if penalty == "norm" else alpha @ alpha
    return (weight * loss_of(loss, signs - K @ alpha + model.offset_[0])).sum() + model.C * size


@pytest.mark.parametrize("penalty", ["alpha", "norm"])
@pytest.mark.parametrize("loss", LINEAR_PROGRAMS)
@pytest.mark.parametrize("C", [2.0, 0.05])
def test_losses_with_corners_and_quadratic_penalties_are_support_vector_regression(
    data, loss, penalty, C
):
    X, y, signs, K = data
    model = SparseKernelFisherDiscriminant(
        C, loss=NUMBERED.get(loss, loss), penalty=penalty, gamma=GAMMA
    ).fit(X, y)
    epsilon = 0.0 if loss == "absolute" else EPSILON
    gram = K if penalty == "norm" else K @ K
    svr = SVR(kernel="precomputed", C=1 / (2 * C), epsilon=epsilon, tol=1e-9).fit(gram, signs)
    dual = np.zeros(len(X))
    dual[svr.support_] = svr.dual_coef_[0]
    theirs = loss_of(loss, signs - svr.predict(gram)).sum() + C * dual @ gram @ dual
    ours = penalised(loss, penalty, model, K, signs)
    assert_allclose(model.criterion_path_[0], ours, rtol=1e-7)
    d = 2 * C * dual  # feasible in the dual program, so that its objective is a lower bound
    bound = signs @ d - epsilon * np.abs(d).sum() - d @ gram @ d / (4 * C)
    assert bound * (1 - 1e-9) <= ours <= theirs * (1 + 1e-8)
    assert theirs - bound < 1e-3 * theirs
    assert_allclose(model.transform(X)[:, 0], svr.predict(gram), atol=5e-3)


def test_the_squared_loss_with_the_norm_penalty_is_kernel_ridge(data):
    """The paper: least squares support vector machines, and kernel ridge regression with a constant."""
    X, y, signs, K = data
    model = make(0.3, penalty="norm").fit(X, y)
    n = len(X)
    system = np.block([[K + 0.3 * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.append(signs, 0.0))
    assert_allclose(model.transform(X)[:, 0], K @ solution[:-1] + solution[-1], atol=1e-6)


def test_the_squared_loss_with_squared_coefficients_is_the_dense_discriminant(data):
    X, y, _, _ = data
    model = make(0.3, penalty="alpha").fit(X, y)
    dense = KernelFisherDiscriminant(gamma=GAMMA, reg=0.3, candidates="all").fit(X, y)
    ours, theirs = model.transform(X)[:, 0], dense.transform(X)[:, 0]
    assert_allclose(np.corrcoef(ours, theirs)[0, 1], 1.0, atol=1e-9)


@pytest.mark.parametrize("penalty", ["alpha", "norm"])
@pytest.mark.parametrize("loss", ["huber", "polynomial"])
def test_smooth_losses_with_quadratic_penalties_are_minima_of_scipy(data, loss, penalty):
    X, y, signs, K = (values[:50] for values in data)
    K, C = K[:, :50], 0.5
    model = make(C, loss, penalty=penalty).fit(X, y)
    metric = K if penalty == "norm" else np.eye(50)

    def value(p):
        alpha, b = p[:-1], p[-1]
        return loss_of(loss, signs - K @ alpha - b).sum() + C * alpha @ metric @ alpha

    ours = penalised(loss, penalty, model, K, signs)
    assert_allclose(model.criterion_path_[0], ours, rtol=1e-9)
    found = minimize(value, np.zeros(51), method="BFGS", options={"gtol": 1e-7, "maxiter": 2000})
    assert_allclose(ours, found.fun, rtol=1e-6)
    assert ours <= found.fun * (1 + 1e-9)


@pytest.mark.parametrize("C", [3.0, 0.05])
def test_polynomial_loss_satisfies_the_conditions_of_the_l1_penalty(data, C):
    X, y, signs, K = data
    model = make(C, "polynomial").fit(X, y)
    xi = signs - model.transform(X)[:, 0]
    slopes = POWER * np.sign(xi) * np.abs(xi) ** (POWER - 1)
    used = model.landmark_indices_
    assert len(used) < len(X)
    assert abs(slopes.sum()) < 1e-6 * np.abs(slopes).sum()
    assert np.abs(K.T @ slopes).max() <= C * (1 + 1e-6)
    assert_allclose((K.T @ slopes)[used], C * np.sign(model.projection_[:, 0]), rtol=1e-6)
    squared = make(C, ("polynomial", 2.0)).fit(X, y)
    assert_allclose(squared.transform(X), make(C).fit(X, y).transform(X), atol=1e-6)


@pytest.mark.parametrize("penalty", ["alpha", "norm"])
@pytest.mark.parametrize("loss", [*LOSSES, "polynomial"])
def test_weights_are_repetition_with_quadratic_penalties(data, loss, penalty):
    X, y = data[0][:60], data[1][:60]
    weight = np.arange(60) % 3
    rows = np.repeat(np.arange(60), weight)
    model = make(0.5, loss, penalty=penalty)
    weighted = clone(model).fit(X, y, sample_weight=weight).transform(X)
    assert_allclose(weighted, clone(model).fit(X[rows], y[rows]).transform(X), atol=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_invariances_and_pools_with_quadratic_penalties(data, loss):
    X, y, _, _ = data

    def change(model):
        return np.abs(model.transform(X) - model.transform(turned(X))).mean()

    more = {"penalty": "norm", "candidates": 50, "random_state": 0}
    plain = make(1.0, loss, **more).fit(X, y)
    still = make(1.0, loss, invariances=[(turned, 300.0)], **more).fit(X, y)
    assert change(still) < 0.7 * change(plain)
    assert len(plain.landmarks_) == 50
    path = make(1.0, loss, **more).path(X, y, [0.1, 1.0])
    assert_allclose(path[1].transform(X), plain.transform(X), atol=1e-5)


# ---------------------------------------------------------------------- a penalty for each candidate


@pytest.mark.parametrize("loss", [*LOSSES, "polynomial"])
def test_no_coefficient_is_worth_more_than_its_own_penalty(data, rng, loss):
    X, y, signs, K = data
    C = rng.uniform(0.5, 3.0, len(X))
    model = make(C, loss).fit(X, y)
    alpha = np.zeros(len(X))
    alpha[model.landmark_indices_] = model.projection_[:, 0]
    value = loss_of(loss, signs - model.transform(X)[:, 0]).sum() + C @ np.abs(alpha)
    assert_allclose(model.criterion_path_[0], value, rtol=1e-7)
    for j, direction in product(range(0, len(X), 7), (1e-4, -1e-4)):
        moved = loss_of(loss, signs - model.transform(X)[:, 0] - direction * K[:, j]).sum()
        penalty = C @ np.abs(alpha) + C[j] * (abs(alpha[j] + direction) - abs(alpha[j]))
        assert moved + penalty > value - 1e-8
    same = make(np.full(len(X), 2.0), loss).fit(X, y)
    assert_allclose(same.transform(X), make(2.0, loss).fit(X, y).transform(X), atol=1e-5)


def test_a_penalty_for_each_candidate_of_many_classes(many, rng):
    X, y, signs = many
    X, y, signs = X[:150], y[:150], signs[:150]
    C, K = rng.uniform(1.0, 5.0, 150), rbf_kernel(X, gamma=0.05)
    for how in ("ovr", "joint"):
        model = make(C, gamma=0.05, decision=DecisionRule(multi_class=how)).fit(X, y)
        slopes = 2 * K.T @ (signs - model.transform(X))
        sizes = np.linalg.norm(slopes, axis=1) if how == "joint" else np.abs(slopes).max(axis=1)
        assert np.all(sizes <= C * (1 + 1e-6))
        used = model.landmark_indices_
        assert_allclose(sizes[used], C[used], rtol=1e-6)


def test_a_penalty_for_each_squared_coefficient(data, rng):
    X, y, signs, K = data
    C = rng.uniform(0.5, 3.0, len(X))
    model = make(C, penalty="alpha").fit(X, y)
    centred = K - K.mean(axis=0)
    alpha = np.linalg.solve(centred.T @ centred + np.diag(C), centred.T @ signs)
    assert_allclose(model.transform(X)[:, 0], signs.mean() + centred @ alpha, atol=1e-6)


@pytest.mark.parametrize(
    "bad", [np.ones(3), -np.ones(220), np.zeros(220), ["a"] * 220, np.ones((220, 2))]
)
def test_penalties_of_candidates_are_checked(data, bad):
    with pytest.raises(InvalidParameterError, match="one for each of the 220 candidates"):
        make(bad).fit(*data[:2])
    with pytest.raises(InvalidParameterError, match="penalty='norm'"):
        make(np.ones(220), penalty="norm").fit(*data[:2])
    with pytest.warns(FewerFeaturesWarning, match="multiply C by less than"):
        make(np.full(220, 1e6)).fit(*data[:2])


# ---------------------------------------------------------------------- what is hard to solve


@pytest.mark.parametrize("loss", LOSSES)
def test_fewer_samples_may_count_than_there_are_classes(loss, rng):
    X, y = rng.standard_normal((30, 2)), np.arange(30) % 3
    weight = np.zeros(30)
    weight[[0, 1]] = 1.0
    model = make(0.01, loss, gamma=1.0).fit(X, y, sample_weight=weight)
    assert_array_equal(model.predict(X[:2]), [0, 1])
    share = model.explained_target_ratio_
    assert_allclose(share, [model.explained_target_ratio_.sum(), 0, 0], atol=1e-12)
    assert 0 < share[0] <= 1 + 1e-12


@pytest.mark.parametrize("loss", LINEAR_PROGRAMS)
def test_kernel_values_that_the_linear_program_cannot_hold_are_told(data, loss):
    X, y, _, _ = data
    with pytest.raises(InvalidDataError, match="too large for the linear program; scale X"):
        make(1.0, loss, kernel="poly").fit(X + 1e6, y)


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_work_is_bounded(loss, rng):
    """Labels that are noise, and hardly any penalty: no coefficient is zero."""
    X, y = rng.standard_normal((120, 5)), rng.integers(0, 2, 120)
    with pytest.warns(ConvergenceWarning, match="not solved after max_systems=40 linear systems"):
        model = Hurried(1e-6, loss=NUMBERED.get(loss, loss), gamma=0.2).fit(X, y)
    signs = 2.0 * y - 1
    constant = np.min([loss_of(loss, signs - b).sum() for b in np.linspace(-1, 1, 201)])
    assert objective(loss, model, X, signs) < constant
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        Hurried(1.0, loss=NUMBERED.get(loss, loss), gamma=GAMMA).fit(X, y)


# ---------------------------------------------------------------------- the estimator


def test_several_classes_have_a_feature_each(digits):
    X, y = digits
    model = make(0.1, gamma=0.05).fit(X[:500], y[:500])
    assert model.transform(X).shape == (700, 10)
    assert model.score(X[500:], y[500:]) > 0.85
    single = make(0.1, gamma=0.05).fit(X[:500], (y[:500] == 3).astype(int))
    assert_allclose(model.transform(X)[:, 3], single.transform(X)[:, 0], atol=1e-6)
    p = model.predict_proba(X)
    assert_allclose(p.sum(axis=1), 1)
    assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_other_forms_of_the_input_are_the_same(data, loss):
    X, y, _, K = data
    dense = make(1.0, loss).fit(X, y)
    rows = sparse.csr_matrix(X)
    assert_allclose(make(1.0, loss).fit(rows, y).transform(rows), dense.transform(X), atol=1e-6)
    precomputed = make(1.0, loss, kernel="precomputed").fit(K, y)
    assert_allclose(precomputed.transform(K), dense.transform(X), atol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("threshold", ["least_squares", "margin", "intercept", "gaussian"])
def test_without_coefficients_probabilities_are_the_shares_of_classes(rng, n_classes, threshold):
    X = rng.normal(size=(60, 3))
    y = np.repeat(np.arange(n_classes), [10, 50] if n_classes == 2 else [10, 35, 15])
    with pytest.warns(FewerFeaturesWarning, match="choose C below"):
        model = make(1e5, decision=threshold).fit(X, y)
    shares = np.bincount(y) / len(y)
    assert_allclose(model.predict_proba(X), np.tile(shares, (60, 1)), rtol=0.1)
    assert_array_equal(model.predict(X), shares.argmax())


def test_held_out_outputs_make_probabilities(data):
    X, y, _, _ = data
    held_out = make(0.01, decision=DecisionRule(probability=3)).fit(X, y)
    training = make(0.01, decision=DecisionRule(probability="in_sample")).fit(X, y)
    assert_array_equal(held_out.predict(X), training.predict(X))
    assert held_out.predict_proba(X).max(axis=1).mean() < training.predict_proba(X).max(axis=1).mean()


def test_the_intercept_can_decide(data):
    X, y, _, _ = data
    model = make(1.0, decision="intercept").fit(X, y)
    assert_allclose(model.decision_function(X), model.transform(X)[:, 0])
    assert_allclose(model.thresholds_, 0)


def test_the_margin_can_choose_its_errors(data):
    X, y, _, _ = data
    model = make(5.0, decision=DecisionRule("margin", nu="cv")).fit(X, y)
    features = model.transform(X)[:, 0]
    nu = margin_nu(features, y > 0, np.ones(len(y)))
    assert_allclose(model.thresholds_, margin_threshold(features, y > 0, None, nu), atol=1e-9)
    with pytest.raises(ValueError, match="nu"):
        make(5.0, decision=DecisionRule(nu="much")).fit(X, y)


def test_the_usual_threshold_has_two_names(data):
    X, y, _, _ = data
    usual, auto = make(1.0).fit(X, y), make(1.0, decision="auto").fit(X, y)
    assert_array_equal(auto.decision_function(X), usual.decision_function(X))


@pytest.mark.parametrize("loss", LOSSES)
def test_one_of_equal_examples_is_enough(loss, rng):
    X = rng.integers(0, 2, (150, 3)).astype(float)
    y = (X[:, 0] + rng.standard_normal(150) > 0.5).astype(int)
    K, signs = rbf_kernel(X, gamma=0.5), 2.0 * y - 1
    for model in make(1.0, loss, gamma=0.5).path(X, y, [5.0, 1.0, 0.1, 0.01]):
        assert len(model.landmarks_) <= 8
        if loss == "squared":  # centred columns of eight points depend on each other
            xi = signs - model.transform(X)[:, 0]
            assert np.abs(2 * K.T @ xi).max() <= model.C * (1 + 1e-6)
    assert len(make(0.1, loss, gamma=0.5).fit(X, y).landmarks_) <= 8


def test_balanced_classes_are_weighted_rows(data):
    X, y, _, _ = data
    counts = np.bincount(y)
    weight = (len(y) / (2 * counts))[y]
    balanced = make(1.0, class_weight="balanced").fit(X, y)
    weighted = make(1.0).fit(X, y, sample_weight=weight)
    assert_allclose(balanced.transform(X), weighted.transform(X), atol=1e-7)


def test_a_penalty_that_is_too_large_is_told(data):
    X, y, signs, K = data
    limit = 2 * np.abs(K.T @ (signs - signs.mean())).max()
    with pytest.warns(FewerFeaturesWarning, match="C=1e") as told:
        constant = make(1e6).fit(X, y)
    assert f"{limit:.6g}" in str(told[0].message)
    assert np.ptp(constant.transform(X)) == 0
    assert len(make(0.999 * limit).fit(X, y).landmarks_) >= 1


@pytest.mark.parametrize("loss", LOSSES)
def test_what_makes_features_constant_is_told(data, loss):
    X, y, _, _ = data
    with pytest.warns(FewerFeaturesWarning, match="constant columns of X"):
        make(1.0, loss, gamma=0.1).fit(np.ones_like(X), y)
    with pytest.warns(FewerFeaturesWarning, match="weights in invariances"):
        make(1e6, loss, invariances=[(turned, 100.0)]).fit(X, y)


@pytest.mark.parametrize("loss", LINEAR_PROGRAMS)
def test_a_missing_solver_is_named(data, loss, monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name == "highspy":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    model = SparseKernelFisherDiscriminant(loss=loss)
    with pytest.raises(ImportError, match=r"kernelsieve\[solvers\]"):
        model.fit(*data[:2])
    assert not hasattr(model, "n_features_in_")


def test_bad_parameters_are_refused(data):
    X, y, _, _ = data
    losses = "cubic", ("huber", 0.0), ("epsilon_insensitive", -1.0), ("squared", 1.0), ("huber",)
    for bad in ({"C": 0.0}, {"tol": 0.0}, *({"loss": loss} for loss in losses)):
        with pytest.raises(ValueError, match=next(iter(bad))):
            SparseKernelFisherDiscriminant(**bad).fit(X, y)
    with pytest.raises(InvalidDataError, match="class"):
        make().fit(X, np.zeros(len(X), int))
    with pytest.raises(InvalidParameterError, match="candidates"):
        make(candidates=np.zeros((3, 2))).fit(X, y)
    assert not hasattr(make(), "partial_fit")


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_columns=st.integers(1, 25),
    scale=st.floats(-2, 1),
    repeated=st.booleans(),
)
def test_penalised_least_squares_meets_its_conditions(seed, n_columns, scale, repeated):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, n_columns)) * rng.uniform(0.5, 2.0, n_columns)
    if repeated:
        X = np.hstack([X, X[:, :1]])
    y = rng.standard_normal(30)
    C = 10**scale
    a = least_squares(X, y[:, None], C, np.zeros((X.shape[1], 1)), 1e-8, Effort(10**6))[:, 0]
    slopes = 2 * X.T @ (y - X @ a)
    assert np.all(np.abs(slopes) <= C * (1 + 1e-7))
    used = np.flatnonzero(a)
    assert_allclose(slopes[used], C * np.sign(a[used]), rtol=1e-6)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), spread=st.floats(0, 7), alike=st.floats(-16, 0))
def test_penalised_least_squares_is_never_worse_than_nothing(seed, spread, alike):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 20))
    X = (X + 10**alike * rng.standard_normal((30, 20))) * 10 ** (spread * rng.uniform(-1, 1, 20))
    y = rng.standard_normal(30)
    start = 10**spread * rng.standard_normal((20, 1))
    a = least_squares(X, y[:, None], 1.0, start, 1e-8, Effort(10**6))[:, 0]
    objective = np.sum((y - X @ a) ** 2) + np.abs(a).sum()
    assert objective <= y @ y * (1 + 1e-12)
    d = 2 * (y - X @ a)
    d /= max(1.0, np.abs(X.T @ d).max())
    assert objective <= (y @ d - d @ d / 4) * (1 + 1e-3)
