"""Sparse kernel PLS and boosted latent features, against code that forms every matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import CountingKernel
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression, QuantileRegressor
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from kernelsieve.deflation import AbsoluteLoss, ExponentialLoss, LogisticLoss, Outcome, SquaredLoss
from kernelsieve.exceptions import KernelError
from kernelsieve.kernels import RBF, CallableKernel, Linear, Polynomial, Precomputed
from kernelsieve.latent.deflated_kernel import CachedColumns, DeflatedKernel, Multipliers
from kernelsieve.latent.nu_kpls import nu_kpls
from kernelsieve.latent.support_vectors import (
    SupportVectors,
    frank_wolfe_vertex,
    reconstruction_errors,
    solve_dual,
)

SELECTIONS = ["mr", "mi", "mi-mr", "exact"]
MARGINS = [LogisticLoss(), ExponentialLoss()]
LOSSES = [SquaredLoss(), AbsoluteLoss(), *MARGINS]


class Found:
    """What was found, with predictions, for targets of one dimension or two."""

    def __init__(self, latent, flat):
        vars(self).update(vars(latent))
        self.coefficients = latent.heads.coefficients
        self.flat = flat
        if flat:
            self.baseline, self.coefficients = latent.baseline[0], self.coefficients[:, :, 0]

    def __len__(self):
        return len(self.errors)

    def predict(self, features, k=None):
        k = len(self) if k is None else k
        if k == 0:
            return np.broadcast_to(self.baseline, (len(features), *np.shape(self.baseline)))
        found = self.heads.predict(features[:, :k])
        return found[:, 0] if self.flat else found


def sieve(
    X,
    y,
    kernel,
    k,
    nu=0.1,
    selection="mr",
    loss=None,
    *,
    weight=None,
    cache_columns=None,
    n_jobs=None,
    random_state=0,
    target_error=None,
    **options,
):
    n = X.shape[0]
    weight = np.ones(n) if weight is None else np.asarray(weight, dtype=float)
    capacity = cache_columns or (n if selection == "exact" else 200)
    rule = SupportVectors(
        selection, nu, weight, random_state=np.random.RandomState(random_state), **options
    )
    found = nu_kpls(
        DeflatedKernel(CachedColumns(X, kernel, capacity, n_jobs), k),
        np.asarray(y, dtype=float).reshape(n, -1),
        weight,
        loss or SquaredLoss(),
        rule,
        k,
        target_error=target_error,
    )
    return Found(found, np.ndim(y) == 1)


def labels(y):
    return np.where(y == 1, 1.0, -1.0)


def largest(scores, n_sv):
    alpha = np.zeros(len(scores))
    alpha[np.argsort(-scores, kind="stable")[:n_sv]] = 1 / n_sv
    return alpha


def naive_loading(K, u, alpha):
    """alpha-hat and beta-hat of one step."""
    mean = alpha @ u
    beta = alpha * (u - mean)
    r = np.sqrt(beta @ K @ beta)
    return alpha - mean / r * beta, beta / r


def naive_errors(K, u, alpha):
    """Reconstruction errors with a shift and a loading that are explicit vectors."""
    values, vectors = np.linalg.eigh(K)
    phi = vectors * np.sqrt(np.maximum(values, 0))
    shift, w = (phi.T @ v for v in naive_loading(K, u, alpha))
    assert_allclose(w @ w, 1)
    return 0.5 * ((phi - shift - np.outer(u, w)) ** 2).sum(axis=1)


def naive_dual(K, u, alpha):
    mean = alpha @ u
    beta = alpha * (u - mean)
    r = np.sqrt(max(beta @ K @ beta, 0))
    return 0.5 * (alpha @ np.diagonal(K) - alpha @ K @ alpha + alpha @ u**2 - mean**2) - r


def naive_path(K, y, n_components, n_sv):
    """nu-KPLS with MR on kernel matrices that are shifted and deflated as in equation (5)."""
    n = len(K)
    e = np.ones(n)
    y = (y - y.mean()) / y.std()
    u, Kl = y, K
    T, A, matrices, steps, models = [], [], [K], [], []
    for _ in range(n_components):
        alpha, beta = naive_loading(Kl, u, largest(np.abs(u), n_sv))
        left = np.eye(n) - np.outer(e, alpha)
        t = left @ Kl @ beta
        a = beta.copy()
        for alpha_j, beta_j, t_j in reversed(steps):
            a = a - alpha_j * a.sum() - beta_j * (t_j @ a)
        Kl = left @ Kl @ left.T - np.outer(t, t)
        steps.append((alpha, beta, t))
        T.append(t)
        A.append(a)
        matrices.append(Kl)
        design = np.column_stack([e, *T])
        models.append(np.linalg.lstsq(design, y, rcond=None)[0])
        u = y - design @ models[-1]
    return np.column_stack(T), np.column_stack(A), matrices, models


KERNELS = [
    (RBF(0.1), lambda X, Z: rbf_kernel(X, Z, gamma=0.1)),
    (Polynomial(0.1, 2, 1.0), lambda X, Z: polynomial_kernel(X, Z, degree=2, gamma=0.1, coef0=1)),
]


@pytest.mark.parametrize(("kernel", "formula"), KERNELS)
@pytest.mark.parametrize("nu", [0.03, 0.2, 1.0])
def test_against_deflation_of_the_whole_matrix(kernel, formula, nu, numbers):
    X, y = numbers[0][:200], numbers[1][:200]
    y = y + 0.01 * y.std() * X[:, 0]  # the highest prices of Boston are all equal: another test
    found = sieve(X, y, kernel, 6, nu)
    T, A, _, models = naive_path(formula(X, X), y, 6, round(200 * nu))
    assert_allclose(found.features, T, atol=1e-8 * np.abs(T).max())
    whole = np.zeros((200, 6))
    whole[found.landmarks] = found.projection
    assert_allclose(whole, A, atol=1e-8 * np.abs(A).max())
    for j in range(6):
        expected = y.mean() + y.std() * (models[j][0] + T[:, : j + 1] @ models[j][1:])
        assert_allclose(found.predict(found.features, j + 1), expected, rtol=1e-7)
        assert_allclose(found.errors[j], np.mean((y - expected) ** 2), rtol=1e-8)
    new = formula(numbers[0][200:], X[found.landmarks]) @ found.projection - found.offset
    model = LinearRegression().fit(T, y)
    direct = formula(numbers[0][200:], X) @ A - (formula(X, X) @ A - T).mean(axis=0)
    assert_allclose(found.predict(new), model.predict(direct), rtol=1e-6)


@pytest.mark.parametrize(("kernel", "formula"), KERNELS)
def test_the_deflated_matrix_is_never_formed(kernel, formula, numbers):
    """Equation (6) is equation (5), entry by entry."""
    X, y = numbers[0][:80], numbers[1][:80]
    deflated = DeflatedKernel(CachedColumns(X, kernel, 20), 5)
    _, _, matrices, models = naive_path(formula(X, X), y, 5, 8)
    T = np.empty((80, 0))
    standard = (y - y.mean()) / y.std()
    u = standard
    for matrix, model in zip(matrices, [*models, None], strict=True):
        scale = np.abs(matrices[0]).max()
        assert_allclose(deflated.product(np.arange(80), np.eye(80)), matrix, atol=1e-10 * scale)
        assert_allclose(deflated.column(7), matrix[:, 7], atol=1e-10 * scale)
        assert_allclose(deflated.diagonal, np.diagonal(matrix), atol=1e-10 * scale)
        if model is None:
            break
        rows = np.argsort(-np.abs(u), kind="stable")[:8]
        deflated.commit(deflated.loading(Multipliers(rows, np.full(8, 1 / 8)), u, 1e-12))
        T = deflated.features
        u = standard - model[0] - T @ model[1:]


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("nu", [0.002, 0.05, 0.4])
def test_features_are_the_model_form_with_orthonormal_loadings(selection, nu, numbers):
    X, y = (array[:200] for array in numbers)
    found = sieve(X, y, RBF(0.1), 8, nu, selection)
    A = found.projection
    K = rbf_kernel(X, X[found.landmarks], gamma=0.1)
    assert len(found) == 8
    assert_allclose(K @ A - found.offset, found.features, atol=1e-7)
    assert_allclose(A.T @ K[found.landmarks] @ A, np.eye(8), atol=1e-6)


@pytest.mark.parametrize("selection", SELECTIONS)
def test_features_are_nested(selection, diabetes):
    X, y = (array[:150] for array in diabetes)
    found = sieve(X, y, RBF(0.1), 6, 0.04, selection)
    assert (np.diff(found.first_use) >= 0).all()
    assert len(np.unique(found.landmarks)) == len(found.landmarks)
    for j in range(1, 7):
        m = np.searchsorted(found.first_use, j)
        assert not found.projection[m:, :j].any()
        assert found.support[j - 1] == m / len(X)
        shorter = sieve(X, y, RBF(0.1), j, 0.04, selection)
        assert_array_equal(shorter.landmarks, found.landmarks[:m])
        assert_allclose(shorter.features, found.features[:, :j])
        assert_allclose(shorter.coefficients[-1], found.coefficients[j - 1, :j])
        assert not found.coefficients[j - 1, j:].any()


@pytest.mark.parametrize("selection", SELECTIONS)
def test_all_rows_with_a_linear_kernel_are_pls(selection, diabetes):
    X, y = diabetes
    found = sieve(X, y, Linear(), 5, 1.0, selection)
    for k in range(1, 6):
        theirs = PLSRegression(k, scale=False, tol=1e-14).fit(X, y)
        assert_allclose(found.predict(found.features, k), theirs.predict(X).ravel(), rtol=1e-8)
    assert found.support.tolist() == [1.0] * 5


@pytest.mark.parametrize("selection", SELECTIONS)
def test_all_rows_are_orthogonal_loadings_kernel_pls(selection, numbers):
    """Dense KOLPLS needs no deflation: t = HKH u, least squares, u = what is left."""
    X, y = numbers
    n = len(X)
    H = np.eye(n) - 1 / n
    K = H @ rbf_kernel(X, gamma=0.05) @ H
    u, T = H @ y, np.empty((n, 0))
    found = sieve(X, y, RBF(0.05), 8, 1.0, selection)
    for k in range(1, 9):
        T = np.column_stack([T, K @ u / np.sqrt(u @ K @ u)])
        u = H @ y - T @ np.linalg.lstsq(T, H @ y, rcond=None)[0]
        assert_allclose(found.predict(found.features, k), y - u, rtol=1e-8)
        assert_allclose(found.features[:, k - 1], T[:, -1], atol=1e-8 * np.abs(T).max())


def small_dual(rng, n=25):
    X = rng.standard_normal((n, 3))
    u = rng.standard_normal(n)
    deflated = DeflatedKernel(CachedColumns(X, RBF(0.3), n), 3)
    return deflated, rbf_kernel(X, gamma=0.3), (u - u.mean()) / u.std()


def test_errors_are_the_gradient_of_the_dual(rng):
    deflated, K, u = small_dual(rng)
    alpha = rng.dirichlet(np.ones(25))
    everyone = np.arange(25)
    errors = reconstruction_errors(deflated, u, Multipliers(everyone, alpha))
    assert_allclose(errors, naive_errors(K, u, alpha))
    assert_allclose(alpha @ errors, naive_dual(K, u, alpha))
    h = 1e-6
    for i, j in [(0, 1), (3, 20), (24, 7)]:
        step = h * (np.eye(25)[i] - np.eye(25)[j])
        slope = (naive_dual(K, u, alpha + step) - naive_dual(K, u, alpha - step)) / (2 * h)
        assert_allclose(slope, errors[i] - errors[j], rtol=1e-6)


@pytest.mark.parametrize("gap_tol", [1e-4, 1e-9])
@pytest.mark.parametrize("nu", [0.1, 0.3, 0.8])
def test_the_exact_solver_finds_what_slsqp_finds(nu, gap_tol, rng):
    deflated, K, u = small_dual(rng)
    caps = np.full(25, 1 / (25 * nu))
    found = solve_dual(deflated, u, caps, gap_tol)
    alpha = np.zeros(25)
    alpha[found.rows] = found.alpha
    theirs = minimize(
        lambda a: -naive_dual(K, u, a),
        np.full(25, 1 / 25),
        bounds=[(0, c) for c in caps],
        constraints={"type": "eq", "fun": lambda a: a.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    assert theirs.success
    assert alpha.max() <= caps[0] * (1 + 1e-12)
    assert_allclose(alpha.sum(), 1)
    assert_allclose(naive_dual(K, u, alpha), -theirs.fun, rtol=gap_tol + 1e-8)
    # Weak and strong duality: the mean of the worst errors is the primal objective.
    errors = naive_errors(K, u, alpha)
    level = np.sort(errors)[::-1][int(np.ceil(25 * nu)) - 1]
    primal = level + np.maximum(errors - level, 0).sum() / (25 * nu)
    assert_allclose(frank_wolfe_vertex(errors, caps) @ errors, primal)
    assert -1e-12 <= primal - naive_dual(K, u, alpha) <= 1.0001 * gap_tol * primal


@pytest.mark.parametrize("nu", [0.05, 0.5])
def test_duality_gaps_of_exact_steps(nu, diabetes):
    found = sieve(*diabetes, RBF(0.05), 4, nu, "exact")
    # The objective is of the order of the variance of the images and of u, which are about one.
    assert (found.gaps >= -1e-12).all()
    assert found.gaps.max() <= 2e-4
    assert np.isnan(sieve(*diabetes, RBF(0.05), 4, nu, "mi").gaps).all()


def test_a_smaller_gap_makes_predictions_exact(diabetes):
    X, y = diabetes[0][:120], diabetes[1][:120]

    def prediction(gap_tol):
        found = sieve(X, y, RBF(0.05), 4, 0.3, "exact", gap_tol=gap_tol)
        return found.predict(found.features) / y.std()

    best = prediction(1e-11)
    gaps = [np.abs(prediction(gap_tol) - best).max() for gap_tol in (1e-3, 1e-8)]
    assert gaps[1] < 1e-4 < gaps[0]


def test_exact_evaluates_active_rows_only(diabetes):
    X, y = diabetes
    kernel = CountingKernel(0.05)
    found = sieve(X, y, CallableKernel(kernel), 1, 0.02, "exact")
    assert len(found.landmarks) < 0.1 * len(X)
    assert kernel.evaluations < 0.3 * len(X) ** 2


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("data", ["diabetes", "cancer"])
def test_fewer_support_vectors_with_smaller_nu(selection, data, request):
    X, y = request.getfixturevalue(data)
    found = [sieve(X, y.astype(float), RBF(0.03), 5, nu, selection) for nu in (0.02, 0.3, 1.0)]
    shares = np.array([f.support for f in found])
    assert (np.diff(shares, axis=0) > 0).all()
    assert (np.diff(shares, axis=1) >= 0).all()


def test_residuals_cost_the_columns_of_support_vectors_once(diabetes):
    X, y = diabetes
    kernel = CountingKernel(0.05)
    found = sieve(X, y, CallableKernel(kernel), 8, 0.03, cache_columns=len(X))
    assert kernel.evaluations == len(X) * len(found.landmarks)


def test_products_cost_random_columns_and_the_diagonal(diabetes):
    X, y = diabetes
    n = len(X)
    for selection, samples in (("mi", 6), ("mi-mr", 1)):
        kernel = CountingKernel(0.05)
        found = sieve(X, y, CallableKernel(kernel), 6, 0.03, selection, sample_size=20, cache_columns=n)
        assert kernel.evaluations <= n * (len(found.landmarks) + 20 * samples) + 16 * n


@pytest.mark.parametrize("cache_columns", [0, 100, 200, 442])
def test_random_columns_that_are_kept_are_not_evaluated_again(cache_columns, diabetes):
    X, y = diabetes
    n, k, size, nu = len(X), 10, 200, 0.1
    counting = CountingKernel(0.05)
    kernel = CallableKernel(counting)
    kept = sieve(X, y, kernel, k, nu, "mi", sample_size=size, cache_columns=cache_columns)
    none_kept = sieve(X, y, RBF(0.05), k, nu, "mi", sample_size=size, cache_columns=0)
    assert_array_equal(kept.landmarks, none_kept.landmarks)
    columns = counting.evaluations / n - 16  # the diagonal comes in blocks of 16
    if cache_columns == n:
        assert columns <= n
    # a column that is asked for is kept with probability cache_columns / n
    asked = k * (size + np.ceil(nu * n))
    assert columns <= (1 - 0.8 * cache_columns / n) * asked


@pytest.mark.parametrize("cache_columns", [0, 5, 40])
def test_the_cache_is_bounded_and_changes_nothing(cache_columns, diabetes):
    X, y = diabetes
    columns = CachedColumns(X, RBF(0.05), cache_columns)
    for start in (0, 3, 30, 3, 0):
        rows = np.arange(start, start + 20)
        product = columns.product(rows, np.eye(20))
        assert_allclose(product, rbf_kernel(X, X[rows], gamma=0.05), atol=1e-12)
        assert len(columns) <= cache_columns
    kernel = CountingKernel(0.05)
    few = sieve(X, y, CallableKernel(kernel), 6, 0.05, cache_columns=cache_columns)
    all_of_them = sieve(X, y, RBF(0.05), 6, 0.05, cache_columns=len(X))
    assert_array_equal(few.landmarks, all_of_them.landmarks)
    assert_allclose(few.features, all_of_them.features, atol=1e-9)
    assert kernel.evaluations <= 6 * 23 * len(X)


def test_columns_of_the_request_stay_in_the_cache(rng):
    X = rng.standard_normal((50, 2))
    columns = CachedColumns(X, RBF(1.0), 10)
    columns.product(np.arange(10), np.eye(10))
    columns.product(np.arange(5, 20), np.eye(15))
    assert columns.evaluated == 20
    columns.product(np.arange(5, 15), np.eye(10))  # the five known ones, and five of the new
    assert columns.evaluated == 20
    columns.product(np.arange(20, 30), np.eye(10), replace=False)
    columns.product(np.arange(5, 15), np.eye(10))
    assert columns.evaluated == 30


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 12),
    st.lists(st.lists(st.integers(0, 19), min_size=1, unique=True), min_size=1, max_size=8),
)
def test_any_sequence_of_requests(capacity, requests):
    X = np.random.default_rng(0).standard_normal((20, 2))
    K = rbf_kernel(X, gamma=0.5)
    columns = CachedColumns(X, RBF(0.5), capacity)
    for request in requests:
        rows = np.array(request)
        assert_allclose(columns.product(rows, np.eye(len(rows))), K[:, rows], atol=1e-12)
        assert_allclose(columns.column(request[0]), K[:, request[0]], atol=1e-12)
        assert_allclose(columns.diagonal_at(rows), 1, atol=1e-12)
        assert len(columns) <= capacity


@pytest.mark.parametrize("loss", MARGINS, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("selection", SELECTIONS)
def test_losses_of_a_margin(loss, selection, cancer):
    X, y = cancer[0], labels(cancer[1])
    found = sieve(X, y, RBF(0.003), 4, 0.1, selection, loss)
    f = found.predict(found.features)
    assert len(found) == 4
    assert_allclose(found.errors[-1], loss.value(y, f).mean())
    assert (np.diff(found.errors) <= 0).all()
    gradient = loss.negative_gradient(y, f)
    design = np.column_stack([np.ones(len(y)), found.features])
    assert_allclose(design.T @ gradient / len(y), 0, atol=1e-6)  # nothing is left along the features
    assert np.mean(np.sign(f) == y) > 0.9


def test_newton_finds_what_logistic_regression_finds(cancer):
    X, y = cancer[0], labels(cancer[1])
    found = sieve(X, y, RBF(0.003), 3, 0.1, "mi-mr", LogisticLoss())
    for k in (1, 2, 3):
        features = found.features[:, :k]
        theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000, solver="newton-cholesky")
        theirs.fit(features, y)
        assert_allclose(
            found.predict(features, k), theirs.decision_function(features), rtol=1e-3, atol=1e-3
        )


@pytest.mark.parametrize("nu", [0.05, 0.3])
def test_the_absolute_loss_on_whole_matrices(nu, numbers):
    """Support vectors by residuals, loadings by their signs, coefficients by quantile regression."""
    X, y = numbers[0][:120], numbers[1][:120] + 0.01 * numbers[0][:120, 0]
    found = sieve(X, y, RBF(0.1), 4, nu, "mr", AbsoluteLoss())
    K, e = rbf_kernel(X, gamma=0.1), np.ones(120)
    Kl, T, residual = K, [], y - np.median(y)
    for j in range(4):
        u = np.where(np.abs(residual) > 1e-7 * y.std(), np.sign(residual), 0.0)
        chosen = largest(np.abs(residual), round(120 * nu))
        if np.ptp(u[chosen > 0]) == 0:  # no spread: half of each sign
            sides = [largest(np.where(side, np.abs(residual), -1), 3) for side in (u > 0, u <= 0)]
            chosen = np.mean(sides, axis=0)
        alpha, beta = naive_loading(Kl, u, chosen)
        left = np.eye(120) - np.outer(e, alpha)
        t = left @ Kl @ beta
        Kl = left @ Kl @ left.T - np.outer(t, t)
        T.append(t)
        features = np.column_stack(T)
        theirs = QuantileRegressor(alpha=0, solver="highs").fit(features, y)
        residual = y - theirs.predict(features)
        assert_allclose(found.features[:, j], t, atol=1e-6)
        assert_allclose(found.predict(features, j + 1), theirs.predict(features), atol=1e-5 * y.std())
        assert_allclose(found.errors[j], np.abs(residual).mean(), rtol=1e-7)


def test_features_of_several_classes_follow_the_worst():
    X, y = load_iris(return_X_y=True)
    X = X + 0.5 * np.random.default_rng(0).standard_normal(X.shape)
    Y = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    loss = LogisticLoss()
    found = sieve(X, Y, RBF(0.1), 4, 0.1, "mi-mr", loss)
    f = np.broadcast_to(found.baseline, Y.shape)
    columns = CachedColumns(X, RBF(0.1), len(X))
    deflated = DeflatedKernel(columns, 4)
    for j in range(4):
        worst = loss.value(Y, f).mean(axis=0).argmax()
        u = loss.negative_gradient(Y, f)[:, worst]
        if j:  # by the largest residuals of the worst class
            rows = np.flatnonzero(largest(np.abs(u), 15))
            loading = deflated.loading(Multipliers(rows, np.full(15, 1 / 15)), u, 1e-12)
            assert_allclose(found.features[:, j], loading.feature, atol=1e-6)
            deflated.commit(loading)
        else:
            first = sieve(X, Y[:, worst], RBF(0.1), 1, 0.1, "mi-mr", loss)
            rows = first.landmarks
            deflated.commit(deflated.loading(Multipliers(rows, np.full(15, 1 / 15)), u, 1e-12))
            assert_allclose(found.features[:, :1], deflated.features, atol=1e-8)
        f = found.predict(found.features, j + 1)
        for c in range(3):
            theirs = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000, solver="newton-cholesky")
            theirs.fit(found.features[:, : j + 1], Y[:, c])
            expected = theirs.decision_function(found.features[:, : j + 1])
            assert_allclose(f[:, c], expected, rtol=1e-3, atol=1e-3)
        assert_allclose(found.errors[j], loss.value(Y, f).mean())


def test_squared_loss_of_classes(cancer):
    X, y = cancer[0], labels(cancer[1])
    found = sieve(X, y, RBF(0.03), 8, 0.05, "mi-mr")
    assert np.mean(np.sign(found.predict(found.features)) == y) > 0.9


@pytest.mark.parametrize("loss", MARGINS, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("selection", SELECTIONS)
def test_separable_classes_do_not_diverge(loss, selection, rng):
    X = np.concatenate([rng.standard_normal((40, 2)), rng.standard_normal((40, 2)) + 12])
    y = np.repeat([-1.0, 1.0], 40)
    found = sieve(X, y, RBF(0.02), 10, 0.1, selection, loss)
    assert found.outcome is Outcome.EXPLAINED
    assert found.errors[-1] < 1e-6
    assert np.isfinite(found.coefficients).all()
    assert_array_equal(np.sign(found.predict(found.features)), y)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("selection", SELECTIONS)
def test_a_constant_target_needs_no_features(loss, selection, diabetes):
    found = sieve(diabetes[0], np.ones(442), RBF(0.1), 3, 0.1, selection, loss)
    assert found.outcome is Outcome.EXPLAINED
    assert len(found) == len(found.landmarks) == 0
    assert found.features.shape == (442, 0)
    assert found.projection.shape == (0, 0)
    assert np.isfinite(found.baseline)
    if isinstance(loss, SquaredLoss):
        assert_allclose(found.predict(found.features), 1)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_residuals_of_one_value_give_half_of_each_sign(loss, rng):
    """The rare class has the largest residuals, all equal: it alone has no spread."""
    X = rng.standard_normal((60, 2))
    y = np.where(np.arange(60) < 20, 1.0, -1.0)
    found = sieve(X, y, RBF(0.5), 1, 0.1, "mr", loss)
    assert sorted(found.landmarks) == [0, 1, 2, 20, 21, 22]
    # equal multipliers: the loading is the difference of two mean images
    assert_allclose(found.projection / found.projection[0], [[1], [1], [1], [-1], [-1], [-1]])


@pytest.mark.parametrize("selection", ["mr", "mi", "mi-mr"])
def test_one_support_vector_a_step_is_not_shifted(selection, diabetes):
    X, y = diabetes
    found = sieve(X, y, RBF(0.1), 12, 1 / len(X), selection)
    assert len(found.landmarks) == 12
    assert not found.offset.any()
    assert not np.tril(found.projection, -1).any()
    K = rbf_kernel(X, X[found.landmarks], gamma=0.1)
    for k in range(1, 13):
        theirs = LinearRegression().fit(K[:, :k], y).predict(K[:, :k])
        assert_allclose(found.predict(found.features, k), theirs, rtol=1e-8)
    if selection == "mr":
        u = y - y.mean()
        for k, row in enumerate(found.landmarks):
            left = np.delete(np.abs(u), found.landmarks[:k])
            assert_allclose(np.abs(u[row]), left.max())
            u = y - found.predict(found.features, k + 1)


@pytest.mark.parametrize("nu", [0.004, 0.02, 0.2, 1.0])
@pytest.mark.parametrize("selection", SELECTIONS)
def test_a_kernel_of_low_rank_is_used_up(selection, nu, diabetes):
    X, y = diabetes[0][:, :3], diabetes[1]
    found = sieve(X, y, Linear(), 8, nu, selection)
    assert found.outcome is Outcome.EXHAUSTED
    assert len(found) == 3
    assert_allclose(found.predict(found.features), LinearRegression().fit(X, y).predict(X), rtol=1e-8)


def test_rows_that_were_used_up_are_left_out(rng):
    """Two rows stay the worst for ever, but their images have no difference left."""
    X = rng.standard_normal((40, 3))
    X[1] = X[0] + 1e-3
    y = X[:, 2] + 0.0
    y[0], y[1] = 50.0, -50.0
    found = sieve(X, y, RBF(0.3), 5, 0.05, "mr")
    assert found.outcome is Outcome.COMPLETE
    assert len(found) == 5


def test_a_target_that_the_features_explain(rng):
    X = rng.standard_normal((100, 3))
    found = sieve(X, X @ [1.0, 2.0, 3.0], Linear(), 10, 0.3)
    assert found.outcome is Outcome.EXPLAINED
    assert found.errors[-1] < 1e-18


@pytest.mark.parametrize("n_rows", [1, 2, 3])
@pytest.mark.parametrize("selection", SELECTIONS)
def test_hardly_any_rows(n_rows, selection, rng):
    X, y = rng.standard_normal((n_rows, 2)), np.arange(n_rows) * 1.0
    found = sieve(X, y, RBF(1.0), 5, 0.5, selection)
    assert found.outcome is Outcome.EXPLAINED
    assert_allclose(found.predict(found.features), y, atol=1e-12)


@settings(max_examples=25, deadline=None)
@given(
    st.floats(0.02, 1),
    st.sampled_from(["mr", "mi", "mi-mr"]),
    st.floats(1e-3, 1e3),
    st.floats(-1e3, 1e3),
)
def test_units_of_the_target_do_not_matter(nu, selection, scale, shift):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = np.sin(X[:, 0]) + X[:, 1]
    a = sieve(X, y, RBF(0.2), 4, nu, selection)
    b = sieve(X, scale * y + shift, RBF(0.2), 4, nu, selection)
    assert_array_equal(a.landmarks, b.landmarks)
    assert_allclose(a.features, b.features, atol=1e-6)
    expected = scale * a.predict(a.features) + shift
    assert_allclose(b.predict(b.features), expected, atol=1e-6 * (scale + abs(shift)))
    assert_allclose(b.errors, scale**2 * a.errors, rtol=1e-5)
    assert_allclose(b.baseline, scale * a.baseline + shift, atol=1e-9 * (scale + abs(shift)))


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("nu", [0.06, 0.3, 1.0])
def test_a_weight_is_a_number_of_equal_rows(loss, selection, nu, rng):
    X = rng.standard_normal((60, 3))
    y = np.sin(X[:, 0]) + 0.3 * rng.standard_normal(60)
    y = y if isinstance(loss, SquaredLoss) else labels(y > 0)
    weight = rng.integers(1, 4, 60)
    options = {"nu": nu, "selection": selection, "loss": loss, "sample_size": 1000}
    weighted = sieve(X, y, RBF(0.1), 3, weight=weight, **options)
    repeated = sieve(np.repeat(X, weight, axis=0), np.repeat(y, weight), RBF(0.1), 3, **options)
    rtol = 0.05 if selection == "exact" else 1e-6  # its optimum is found to four digits only
    assert_allclose(weighted.errors, repeated.errors, rtol=rtol)
    if selection != "exact":
        assert_allclose(np.repeat(weighted.features, weight, axis=0), repeated.features, atol=1e-6)


def test_the_scale_of_weights_does_not_matter(diabetes, rng):
    X, y = diabetes
    weight = rng.uniform(0.5, 2, len(y))
    a, b = (sieve(X, y, RBF(0.1), 4, 0.05, weight=w) for w in (weight, 1e-3 * weight))
    assert_array_equal(a.landmarks, b.landmarks)
    assert_allclose(a.features, b.features, atol=1e-9)
    theirs = LinearRegression().fit(a.features, y, weight)
    assert_allclose(a.predict(a.features), theirs.predict(a.features), rtol=1e-8)
    assert_allclose(a.errors[-1], np.average((y - a.predict(a.features)) ** 2, weights=weight))


@pytest.mark.parametrize("selection", SELECTIONS)
def test_other_forms_of_the_same_rows(selection, diabetes):
    X, y = diabetes[0][:150], diabetes[1][:150]
    expected = sieve(X, y, RBF(0.1), 4, 0.1, selection)
    K = rbf_kernel(X, gamma=0.1)
    for other in (
        sieve(sparse.csr_matrix(X), y, RBF(0.1), 4, 0.1, selection),
        sieve(K, y, Precomputed(150), 4, 0.1, selection),
        sieve(X, y, RBF(0.1), 4, 0.1, selection, n_jobs=1),
    ):
        assert_allclose(other.predict(other.features), expected.predict(expected.features), rtol=1e-3)


def test_more_rows_than_a_block(rng):
    X = rng.standard_normal((20_000, 3))
    y = np.sin(X[:, 0])
    one, two = (sieve(X, y, RBF(0.2), 3, 0.005, n_jobs=n) for n in (1, 2))
    assert_array_equal(one.landmarks, two.landmarks)
    assert_allclose(one.features, two.features, atol=1e-9)
    K = rbf_kernel(X, X[one.landmarks], gamma=0.2)
    assert_allclose(K @ one.projection - one.offset, one.features, atol=1e-8)


def test_stop_at_an_error(diabetes):
    X, y = diabetes
    whole = sieve(X, y, RBF(0.05), 8, 0.2)
    target = whole.errors[3]
    found = sieve(X, y, RBF(0.05), 8, 0.2, target_error=target)
    first = int(np.argmax(whole.errors <= target)) + 1
    assert len(found) == first
    assert found.outcome is Outcome.REACHED
    assert_allclose(found.errors, whole.errors[:first])


def test_random_sets_follow_the_random_state(diabetes):
    X, y = diabetes
    same = [sieve(X, y, RBF(0.05), 3, 0.05, "mi", sample_size=10, random_state=1) for _ in range(2)]
    assert_array_equal(same[0].landmarks, same[1].landmarks)
    other = sieve(X, y, RBF(0.05), 3, 0.05, "mi", sample_size=10, random_state=2)
    assert other.landmarks.tolist() != same[0].landmarks.tolist()


def test_a_kernel_that_overflows():
    X = np.array([[1e200], [2e200], [3.0]])
    with np.errstate(over="ignore"), pytest.raises(KernelError, match="too large"):
        sieve(X, np.arange(3.0), Polynomial(1.0, 3, 0.0), 2, 1.0)
