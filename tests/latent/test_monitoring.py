"""T2, Q and their limits against naive formulas, scikit-learn and simulated samples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse, stats
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA
from sklearn.metrics.pairwise import rbf_kernel

import kernelsieve
from kernelsieve import KernelPCA, KernelPLS, KernelPLSClassifier
from kernelsieve.exceptions import InvalidDataError, InvalidParameterError

GAMMA = 0.03


@pytest.fixture(params=["one", "several"])
def targets(request, diabetes):
    X, y = diabetes
    return y if request.param == "one" else np.column_stack([y, 50 * X[:, 0] + y, 100 * X[:, 2] ** 2])


def naive_rests(T, t, K, k_new, k_own, weight, center=True):
    """``|phi - sum t_j p_j|^2`` with ``p_j = sum_i w_i t_ij phi_i / t_j't_j`` written out."""
    share = weight / weight.sum() if center else np.zeros(len(weight))
    K_c = K - share @ K
    K_c = K_c - (K_c @ share)[:, None]
    own = k_own - 2 * k_new @ share + share @ K @ share
    new = k_new - (k_new @ share)[:, None] - share @ K + share @ K @ share
    combinations = weight[:, None] * T / (weight @ T**2)
    return (
        own
        - 2 * np.einsum("nk,nk->n", t, new @ combinations)
        + np.einsum("nj,jk,nk->n", t, combinations.T @ K_c @ combinations, t)
    )


# ---------------------------------------------------------------------- Q


@pytest.mark.parametrize("k", [1, 3, 6])
def test_q_of_a_linear_kernel_is_what_partial_least_squares_leaves(k, targets, diabetes):
    X = diabetes[0]
    peer = PLSRegression(k, scale=False, tol=1e-20, max_iter=20_000).fit(X[:300], targets[:300])
    left = X - peer.inverse_transform(peer.transform(X))
    expected = (left**2).sum(axis=1)
    model = KernelPLS(6, kernel="linear").fit(X[:300], targets[:300])
    assert_allclose(model.q_residuals(X, k), expected, rtol=1e-7, atol=1e-9)
    pool = KernelPLS(6, kernel="linear", candidates=X[:40]).fit(X[:300], targets[:300])
    assert_allclose(pool.q_residuals(X, k), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("candidates", ["all", 60])
def test_q_of_principal_components_is_the_distance_from_their_plane(candidates, diabetes):
    X = diabetes[0]
    peer = PCA(4).fit(X[:300])
    left = X - peer.inverse_transform(peer.transform(X))
    model = KernelPCA(4, kernel="linear", candidates=candidates, random_state=0).fit(X[:300])
    assert_allclose(model.q_residuals(X), (left**2).sum(axis=1), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_q_is_the_formula_in_feature_space(center, weighted, diabetes, rng):
    X, y = diabetes[0][:120], diabetes[1][:120]
    weight = rng.uniform(0.5, 3, 120) if weighted else None
    model = KernelPLS(5, gamma=GAMMA, center=center).fit(X, y, sample_weight=weight)
    new = diabetes[0][120:180]
    expected = naive_rests(
        model.transform(X),
        model.transform(new),
        rbf_kernel(X, gamma=GAMMA),
        rbf_kernel(new, X, gamma=GAMMA),
        np.ones(60),
        np.ones(120) if weight is None else weight,
        center,
    )
    assert_allclose(model.q_residuals(new), expected, rtol=1e-8)


def test_the_rest_of_training_samples_is_what_deflation_leaves_of_the_kernel_matrix(diabetes):
    X, y = diabetes[0][:150], diabetes[1][:150]
    model = KernelPLS(6, gamma=GAMMA).fit(X, y)
    H = np.eye(150) - 1 / 150
    T = np.linalg.qr(model.x_scores_)[0]
    N = H - T @ T.T
    expected = np.diagonal(N @ rbf_kernel(X, gamma=GAMMA) @ N)
    assert_allclose(model.q_residuals(X), expected, rtol=1e-8)


def test_on_a_pool_mean_and_loadings_are_projected_onto_its_span(diabetes):
    X, y = diabetes
    pool, new = X[:25], X[300:]
    model = KernelPLS(4, gamma=GAMMA, candidates=pool).fit(X, y)
    W = rbf_kernel(pool, gamma=GAMMA)
    K, k_new = (rbf_kernel(rows, pool, gamma=GAMMA) for rows in (X, new))
    T = model.transform(X)
    coefficients = np.linalg.solve(W, np.column_stack([K.mean(axis=0), K.T @ T / (T**2).sum(axis=0)]))
    parts = np.column_stack([np.ones(len(new)), model.transform(new)])  # times mean and loadings
    sums = coefficients @ parts.T
    expected = 1 - 2 * np.einsum("nm,mn->n", k_new, sums) + np.einsum("mn,ml,ln->n", sums, W, sums)
    assert_allclose(model.q_residuals(new), expected, rtol=1e-6)


def test_q_falls_with_every_principal_component_and_is_never_negative(diabetes):
    X = diabetes[0]
    model = KernelPCA(30, gamma=GAMMA).fit(X)
    rests = np.array([model.q_residuals(X, j) for j in (1, 5, 30)])
    assert (rests >= 0).all()
    assert (np.diff(rests, axis=0) <= 1e-12).all()


@pytest.mark.parametrize("method", [KernelPLS, KernelPCA])
def test_a_precomputed_kernel_gives_the_same(method, diabetes):
    X, y = diabetes[0][:120], diabetes[1][:120]
    K, k_new = rbf_kernel(X, gamma=GAMMA), rbf_kernel(X[:9] + 0.1, X, gamma=GAMMA)
    model = method(4, kernel="precomputed").fit(K, y)
    plain = method(4, gamma=GAMMA).fit(X, y)
    expected = plain.q_residuals(X[:9] + 0.1)
    assert_allclose(model.q_residuals(k_new, diagonal=np.ones(9)), expected, rtol=1e-8)
    assert_allclose(model.hotelling_t2(k_new), plain.hotelling_t2(X[:9] + 0.1), rtol=1e-8)
    with pytest.raises(InvalidParameterError, match="diagonal"):
        model.q_residuals(k_new)


def test_weights_of_a_precomputed_kernel_may_be_zero(diabetes):
    X, y = diabetes[0][:80], diabetes[1][:80]
    weight = np.r_[0.0, 0.0, np.ones(78)]
    model = KernelPLS(3, kernel="precomputed").fit(rbf_kernel(X, gamma=GAMMA), y, sample_weight=weight)
    plain = KernelPLS(3, gamma=GAMMA).fit(X[2:], y[2:])
    rests = model.q_residuals(rbf_kernel(X, gamma=GAMMA), diagonal=np.ones(80))
    assert_allclose(rests, plain.q_residuals(X), rtol=1e-8)
    assert_allclose(model.x_scores_, plain.x_scores_, rtol=1e-7, atol=1e-10)


def test_sparse_input_gives_the_same(diabetes):
    X, y = diabetes
    X = np.where(X > 0.5, X, 0.0)
    dense = KernelPLS(4, gamma=GAMMA).fit(X, y)
    model = KernelPLS(4, gamma=GAMMA).fit(sparse.csr_array(X), y)
    assert_allclose(model.q_residuals(sparse.csr_array(X[:20])), dense.q_residuals(X[:20]), rtol=1e-8)
    assert_allclose(model.hotelling_t2(sparse.csr_array(X[:20])), dense.hotelling_t2(X[:20]))


# ---------------------------------------------------------------------- T2


def test_t2_of_a_linear_kernel_is_that_of_the_scores_of_scikit_learn(targets, diabetes):
    X = diabetes[0]
    peer = PLSRegression(4, scale=False, tol=1e-20, max_iter=20_000).fit(X[:300], targets[:300])
    expected = (peer.transform(X) ** 2 / peer.x_scores_.var(axis=0, ddof=1)).sum(axis=1)
    model = KernelPLS(6, kernel="linear").fit(X[:300], targets[:300])
    assert_allclose(model.hotelling_t2(X, 4), expected, rtol=1e-7)
    assert_allclose(model.head(4).hotelling_t2(model.transform(X, 4)), expected, rtol=1e-7)


@pytest.mark.parametrize("candidates", ["all", 100])
@pytest.mark.parametrize("solver", ["dense", "krylov"])
def test_t2_is_the_mahalanobis_distance_of_the_components(candidates, solver, diabetes):
    X, new = diabetes[0][:300], diabetes[0][300:]
    options = {"gamma": GAMMA, "candidates": candidates, "random_state": 0}
    model = KernelPCA(5, eigen_solver=solver, **options).fit(X)
    T, t = model.transform(X), model.transform(new)
    expected = np.einsum("nj,jk,nk->n", t, np.linalg.inv(np.cov(T.T)), t)
    assert_allclose(model.hotelling_t2(new), expected, rtol=1e-6)


def test_t2_of_the_training_samples_has_the_mean_of_its_degrees_of_freedom(cancer):
    X, y = cancer
    model = KernelPLSClassifier(6, gamma=0.01).fit(X, y)
    assert_allclose(model.hotelling_t2(X).mean(), 6 * (1 - 1 / len(X)))


def test_the_limit_of_t2_holds_for_new_samples_of_few():
    """Of normally distributed samples, 10 % are beyond the limit at 90 %, over many fits."""
    beyond = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((16, 3)) * [3.0, 2.0, 1.0]
        model = KernelPCA(3, kernel="linear").fit(X)
        new = rng.standard_normal((500, 3)) * [3.0, 2.0, 1.0]
        beyond.append(np.mean(model.hotelling_t2(new) > model.t2_limit(0.9)))
    assert abs(np.mean(beyond) - 0.1) < 0.02  # without F it would be 0.22


def test_the_limit_of_t2_is_the_formula(diabetes):
    X, y = diabetes
    model = KernelPLS(5, kernel="linear").fit(X, y)
    n, k = len(X), 3
    expected = k * (n**2 - 1) / (n * (n - k)) * stats.f.ppf(0.99, k, n - k)
    assert_allclose(model.t2_limit(0.99, n_components=3), expected)
    assert model.t2_limit(0.99) > model.t2_limit()


# ---------------------------------------------------------------------- the limit of Q


def test_the_limit_of_q_matches_mean_and_variance(diabetes):
    X, y = diabetes
    model = KernelPLS(3, gamma=GAMMA).fit(X, y)
    rests = model.q_residuals(X, 2)
    g, h = rests.var(ddof=1) / (2 * rests.mean()), 2 * rests.mean() ** 2 / rests.var(ddof=1)
    assert_allclose(model.q_limit(X, 0.9, n_components=2), g * stats.chi2(h).ppf(0.9))


def test_the_limit_of_q_holds_for_normal_rests():
    rng = np.random.default_rng(0)
    scales = np.r_[10.0, 8.0, np.ones(20)]
    X, new = (rng.standard_normal((2000, 22)) * scales for _ in range(2))
    model = KernelPCA(2, kernel="linear", candidates=100, random_state=0).fit(X)
    share = np.mean(model.q_residuals(new) > model.q_limit(X, 0.95))
    assert abs(share - 0.05) < 0.015


def test_nothing_is_left_by_all_components():
    X = np.random.default_rng(0).standard_normal((30, 2))
    model = KernelPCA(2, kernel="linear").fit(X)
    assert model.q_limit(X) < 1e-12


# ---------------------------------------------------------------------- what must not matter


@pytest.mark.parametrize("method", [KernelPLS, KernelPCA])
def test_the_order_of_the_samples_does_not_matter(method, diabetes, rng):
    X, y = diabetes
    order = rng.permutation(len(X))
    one = method(5, gamma=GAMMA).fit(X, y)
    other = method(5, gamma=GAMMA).fit(X[order], y[order])
    assert_allclose(other.q_residuals(X), one.q_residuals(X), rtol=1e-7)
    assert_allclose(other.hotelling_t2(X), one.hotelling_t2(X), rtol=1e-6)
    assert_allclose(one.q_residuals(X)[order], one.q_residuals(X[order]), rtol=1e-10)


@pytest.mark.parametrize("method", [KernelPLS, KernelPCA])
@pytest.mark.parametrize("pooled", [False, True])
def test_a_weight_counts_samples(method, pooled, diabetes, rng):
    X, y = diabetes[0][:150], diabetes[1][:150]
    times = rng.integers(0, 4, 150)
    options = {"gamma": GAMMA} | ({"candidates": X[:30]} if pooled else {})
    weighted = method(4, **options).fit(X, y, sample_weight=times)
    repeated = method(4, **options).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    new = diabetes[0][150:200]
    assert_allclose(weighted.q_residuals(new), repeated.q_residuals(new), rtol=1e-6)
    assert_allclose(weighted.hotelling_t2(new), repeated.hotelling_t2(new), rtol=1e-6)
    assert_allclose(weighted.t2_limit(), repeated.t2_limit())


def test_out_of_core_gives_the_same(diabetes):
    X, y = diabetes
    options = {"gamma": GAMMA, "candidates": X[:40]}
    whole = KernelPLS(5, **options).fit(X, y)
    stream = KernelPLS(5, **options)
    for rows in np.array_split(np.arange(len(X)), 4):
        stream.partial_fit(X[rows], y[rows])
    assert_allclose(stream.q_residuals(X), whole.q_residuals(X), rtol=1e-6)
    assert_allclose(stream.hotelling_t2(X), whole.hotelling_t2(X), rtol=1e-6)
    assert_allclose(stream.t2_limit(), whole.t2_limit())


@pytest.mark.parametrize("method", [KernelPLS, KernelPCA])
def test_a_file_keeps_it(method, diabetes, tmp_path):
    X, y = diabetes
    model = method(4, gamma=GAMMA).fit(X, y)
    model.save(tmp_path / "model")
    again = kernelsieve.load(tmp_path / "model")
    assert_allclose(again.q_residuals(X), model.q_residuals(X), rtol=1e-12)
    assert_allclose(again.hotelling_t2(X, 2), model.hotelling_t2(X, 2), rtol=1e-12)


def test_an_outlier_is_seen_where_it_is_one():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 10))
    X += 0.05 * rng.standard_normal(X.shape)
    y = X[:, 0]
    model = KernelPLS(2, kernel="linear").fit(X, y)
    t2_limit, q_limit = model.t2_limit(0.999), model.q_limit(X, 0.999)
    far = X.mean(axis=0) + 30 * (X[:1] - X.mean(axis=0))  # extreme, and made of the same parts
    strange = X[:1] + 2 * np.eye(10)[:1]  # with a part that no sample has
    assert model.hotelling_t2(far)[0] > t2_limit
    assert model.q_residuals(strange)[0] > q_limit
    assert model.hotelling_t2(X[:1])[0] < t2_limit
    assert model.q_residuals(X[:1])[0] < q_limit


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    n=st.integers(12, 40),
    d=st.integers(3, 12),
    k=st.integers(1, 3),
    pooled=st.booleans(),
)
def test_random_samples_agree_with_deflation_by_hand(seed, n, d, k, pooled):
    """Linear kernel, one target: NIPALS written out, for new samples too."""
    rng = np.random.default_rng(seed)
    X, new = rng.standard_normal((n, d)) + 5, rng.standard_normal((6, d)) + 5
    y = X @ rng.standard_normal(d) + rng.standard_normal(n)
    rest, rest_new, left = X - X.mean(axis=0), new - X.mean(axis=0), y - y.mean()
    t2 = np.zeros(6)
    for _ in range(k):
        w = rest.T @ left
        w /= np.linalg.norm(w)
        t, t_new = rest @ w, rest_new @ w
        p = rest.T @ t / (t @ t)
        rest, rest_new = rest - np.outer(t, p), rest_new - np.outer(t_new, p)
        left = left - t * (t @ left) / (t @ t)
        t2 += t_new**2 / t.var(ddof=1)
    candidates = np.vstack([np.eye(d), -np.ones(d)]) if pooled else "all"
    model = KernelPLS(k, kernel="linear", candidates=candidates).fit(X, y)
    assert_allclose(model.q_residuals(new), (rest_new**2).sum(axis=1), rtol=1e-5, atol=1e-7)
    assert_allclose(model.hotelling_t2(new), t2, rtol=1e-5)


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.1, "95%", None, np.nan])
def test_a_confidence_is_a_probability(confidence, diabetes):
    model = KernelPLS(2, kernel="linear").fit(*diabetes)
    with pytest.raises(InvalidParameterError, match="confidence="):
        model.t2_limit(confidence)
    with pytest.raises(InvalidParameterError, match="confidence="):
        model.q_limit(diabetes[0], confidence)


def test_what_cannot_be_told_is_said(diabetes):
    X, y = diabetes
    model = KernelPLS(3, gamma=GAMMA).fit(X, y)
    with pytest.raises(InvalidDataError, match="at least 2"):
        model.q_limit(X[:1])
    with pytest.raises(InvalidParameterError, match="n_components=4"):
        model.hotelling_t2(X, 4)
    with pytest.raises(ValueError, match="11 features"):
        model.q_residuals(np.column_stack([X, y]))
    with pytest.raises(ValueError, match="NaN"):
        model.q_residuals(np.where(X > 2, np.nan, X))
    pruned = model.prune(X, 50)
    with pytest.raises(InvalidDataError, match="prune"):
        pruned.q_residuals(X)
    assert_allclose(pruned.hotelling_t2(X).mean(), 3, rtol=0.1)
    with pytest.raises(InvalidDataError, match="weights"):
        KernelPLS(3, gamma=GAMMA).fit(X, y, sample_weight=np.full(len(X), 1e-3)).t2_limit()


def test_components_must_be_fewer_than_samples():
    X = np.random.default_rng(0).standard_normal((5, 9))
    model = KernelPCA(4, kernel="linear").fit(X, sample_weight=np.full(5, 0.7))
    with pytest.raises(InvalidParameterError, match="smaller n_components"):
        model.t2_limit()
