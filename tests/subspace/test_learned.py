"""Subspace kernel features against the formulas of the paper, and what must always hold."""

import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
from configured import fit_with
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import CountingKernel
from naive_subspace import alignment, alignment_gradient, averaging, indicators, subspace_kernel
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import OptimizeResult, minimize
from scipy.spatial.distance import pdist
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_approximation import Nystroem
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.svm import SVC

from kernelsieve import KernelOrthogonalCentroid, KernelPLS, SubspaceKernelFeatures
from kernelsieve.exceptions import FewerFeaturesWarning
from kernelsieve.kernels import RBF, Linear, Polynomial
from kernelsieve.subspace import optimise
from kernelsieve.subspace.learning import principal_rest
from kernelsieve.subspace.objectives import TargetAlignment
from kernelsieve.subspace.optimise import Directions, Ending, Points, maximise, orthonormalise

GAMMA = 0.2
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def few(digits):
    X, y = digits
    return X[:150], y[:150] % 4, X[150:250]


@pytest.fixture(scope="module")
def two(cancer):
    X, y = cancer
    return X[:150], y[:150], X[150:250]


def differences(function, point, step=1e-3):
    """Derivative by differences of eighth order."""
    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    gradient = np.empty(point.shape)
    for place in np.ndindex(point.shape):
        total = 0.0
        for j, weight in weights.items():
            for sign in (1, -1):
                moved = point.copy()
                moved[place] += sign * j * step
                total += sign * weight * function(moved)
        gradient[place] = total / step
    return gradient


def relative(a, b):
    return np.linalg.norm(a - b) / np.linalg.norm(b)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((18, 4))
    y = np.r_[np.arange(3), rng.integers(0, 3, 15)]
    K = rbf_kernel(X, gamma=0.3)
    W = averaging(y) + 0.05 * rng.standard_normal((18, 3))
    return X, y, K, W


def test_the_value_is_the_papers(problem):
    _, y, K, W = problem
    A = np.linalg.cholesky(K)
    value, _ = Directions(A, TargetAlignment(indicators(y)))(A.T @ W)
    assert_allclose(value, alignment(K, W, y), rtol=1e-12)


def test_the_gradient_is_the_papers(problem):
    """Formulas (23) to (27) are derivatives by W; ours are by V = A'W, so theirs are A times ours."""
    _, y, K, W = problem
    A = np.linalg.cholesky(K)
    _, gradient = Directions(A, TargetAlignment(indicators(y)))(A.T @ W)
    assert relative(A @ gradient, alignment_gradient(K, W, y)) < 1e-10


def test_the_gradient_matches_differences(problem):
    _, y, K, W = problem
    A = np.linalg.cholesky(K)
    function = Directions(A, TargetAlignment(indicators(y)))
    V = A.T @ W
    V /= np.linalg.norm(V, axis=0)
    assert relative(function(V)[1], differences(lambda V: function(V)[0], V)) < 1e-8
    W = W / np.linalg.norm(W, axis=0)
    assert (
        relative(alignment_gradient(K, W, y), differences(lambda W: alignment(K, W, y), W, 3e-4)) < 1e-8
    )


@pytest.mark.parametrize("kernel", [RBF(0.3), Polynomial(0.2, 3, 1.0), Linear()], ids=str)
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_the_gradient_of_points_matches_differences(kernel, layout, problem):
    X, y, _, _ = problem
    root = np.linspace(0.5, 1.5, len(X))
    objective = TargetAlignment(indicators(y) * root[:, None])
    function = Points(layout(X), root, kernel, objective)
    Z = averaging(y).T @ X + 0.3
    assert relative(function(Z)[1], differences(lambda Z: function(Z)[0], Z)) < 1e-8


def test_the_alignment_depends_on_the_span_alone(problem):
    _, y, K, W = problem
    A = np.linalg.cholesky(K)
    function = Directions(A, TargetAlignment(indicators(y)))
    mix = np.array([[2.0, 1, 0], [0, 1, -3], [1e3, 0, 1]])
    assert_allclose(function(A.T @ W @ mix)[0], function(A.T @ W)[0], rtol=1e-9)
    assert_allclose((A.T @ W).T @ function(A.T @ W)[1], 0, atol=1e-12)  # W' grad = 0


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"kernel": "linear"},
        {"solver": "cg"},
        {"init": "kpls"},
        {"candidates": 40, "random_state": 0},
        {"span": "points"},
        {"n_components": 2},
        {"n_components": 7},
        {"span": "points", "n_components": 2, "random_state": 0},
        {"span": "points", "n_components": 7, "random_state": 0},
    ],
    ids=str,
)
def test_the_alignment_never_falls_and_is_that_of_the_features(parameters, few):
    X, y, new = few
    model = SubspaceKernelFeatures(**parameters).fit(X, y)
    assert model.n_components_ == parameters.get("n_components", 4)
    path = model.alignment_path_
    assert (np.diff(path) >= 0).all()
    assert path[-1] > path[0] + 0.01
    assert model.n_iter_ == len(path) - 1
    features = model.transform(X)
    Y = indicators(y)
    Kw, Ky = features @ features.T, Y @ Y.T
    size = np.linalg.norm(Kw) * np.linalg.norm(Ky)
    assert_allclose(path[-1], np.sum(Kw * Ky) / size, rtol=1e-7)
    assert_allclose(model.criterion_path_[-1], path[-1], rtol=1e-9)
    landmarks = model._current_fit().model.kernel.block(model.landmarks_, model.landmarks_)
    gram = model.projection_.T @ landmarks @ model.projection_
    assert_allclose(gram, np.eye(model.n_components_), atol=1e-7)
    assert_allclose(model.subspace_kernel_(new, X), model.transform(new) @ features.T, atol=1e-12)


def test_the_subspace_kernel_is_formula_14(few):
    X, y, new = few
    model = SubspaceKernelFeatures(gamma=GAMMA, max_iter=7).fit(X, y)
    K = rbf_kernel(X, gamma=GAMMA)
    W = np.zeros((len(X), 4))
    W[model.landmark_indices_] = model.projection_
    assert_allclose(model.subspace_kernel_(X, X), subspace_kernel(K, W), atol=1e-8)
    assert_allclose(model.subspace_kernel_(X), subspace_kernel(K, W), atol=1e-8)
    assert_allclose(model.subspace_kernel_.diag(X), subspace_kernel(K, W).diagonal(), atol=1e-8)
    with pytest.raises(ValueError, match="learned on 64"):
        model.subspace_kernel_(new[:, :5], X)


def test_the_subspace_kernel_serves_support_vector_machines(few):
    X, y, new = few
    kernel = SubspaceKernelFeatures(gamma=GAMMA).fit(X, y).subspace_kernel_
    machine = SVC(kernel=kernel).fit(X, y)
    assert machine.score(X, y) > 0.95
    assert_array_equal(pickle.loads(pickle.dumps(machine)).predict(new), machine.predict(new))


@pytest.mark.slow
def test_the_subspace_kernel_serves_machines_that_ask_for_pairs(few):
    X, y, new = (part[:40] for part in few)
    kernel = SubspaceKernelFeatures(gamma=GAMMA, max_iter=5).fit(X, y).subspace_kernel_
    K, K_new = kernel(X, X), kernel(new, X)
    ridge = KernelRidge(kernel=kernel).fit(X, y)
    expected = KernelRidge(kernel="precomputed").fit(K, y).predict(K_new)
    assert_allclose(ridge.predict(new), expected, atol=1e-9)
    pca = SklearnKernelPCA(2, kernel=kernel, eigen_solver="dense").fit(X)
    expected = SklearnKernelPCA(2, kernel="precomputed", eigen_solver="dense").fit(K).transform(K_new)
    assert_allclose(np.abs(pca.transform(new)), np.abs(expected), atol=1e-9)
    every = Nystroem(kernel=kernel, n_components=len(K), random_state=0).fit_transform(X)
    assert_allclose(every @ every.T, K, atol=1e-5)


def test_the_subspace_kernel_of_a_precomputed_one_knows_its_width(few):
    X, y, _ = few
    kernel = SubspaceKernelFeatures(kernel="precomputed", max_iter=2).fit(X @ X.T, y).subspace_kernel_
    assert kernel(X @ X.T).shape == (150, 150)
    with pytest.raises(ValueError, match="X has 9 features, but the subspace kernel is expecting 150"):
        kernel(X[:, :9])


def test_the_search_begins_with_the_centroids(few):
    X, y, new = few
    model = SubspaceKernelFeatures(gamma=GAMMA, max_iter=0).fit(X, y)
    koc = KernelOrthogonalCentroid(gamma=GAMMA).fit(X, y)
    assert_allclose(model.transform(new), koc.transform(new), atol=1e-7)
    assert_allclose(model.alignment_path_, koc.criterion_path_[-1:], rtol=1e-9)
    fewer = SubspaceKernelFeatures(2, gamma=GAMMA, max_iter=0).fit(X, y)
    assert_allclose(fewer.transform(new), koc.transform(new, n_components=2), atol=1e-7)


def test_the_search_begins_with_partial_least_squares(few):
    X, y, _ = few
    model = SubspaceKernelFeatures(gamma=GAMMA, init="kpls", max_iter=0).fit(X, y)
    pls = KernelPLS(4, gamma=GAMMA, center=False).fit(X, indicators(y))
    K = rbf_kernel(X, gamma=GAMMA)
    assert_allclose(model.subspace_kernel_(X), subspace_kernel(K, pls.projection_), atol=1e-6)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_search_begins_with_given_directions(kernel, few):
    X, y, new = few
    koc = KernelOrthogonalCentroid(kernel=kernel, gamma=GAMMA, candidates="all").fit(X, y)
    given = SubspaceKernelFeatures(kernel=kernel, gamma=GAMMA, init=averaging(y), max_iter=0).fit(X, y)
    assert_allclose(given.transform(new), koc.transform(new), atol=1e-7)
    narrow = SubspaceKernelFeatures(kernel="linear", init=averaging(y), max_iter=0).fit(X[:, 19:23], y)
    centroids = KernelOrthogonalCentroid(kernel="linear").fit(X[:, 19:23], y)
    assert_allclose(narrow.transform(X[:, 19:23]), centroids.transform(X[:, 19:23]), atol=1e-7)
    pool = X[:50]
    one = SubspaceKernelFeatures(gamma=GAMMA, candidates=pool, init=np.eye(50)[:, :1], max_iter=0)
    assert_allclose(one.fit(X, y).transform(new), rbf_kernel(new, pool[:1], gamma=GAMMA), atol=1e-9)
    with pytest.raises(ValueError, match="init combines the candidates to nothing"):
        SubspaceKernelFeatures(kernel=kernel, init=np.zeros((150, 2))).fit(X, y)
    with pytest.raises(ValueError, match="one row for each of the 150 candidates"):
        SubspaceKernelFeatures(init=np.ones((3, 2))).fit(X, y)


def test_the_summit_is_that_of_another_solver(problem):
    """scipy's BFGS on formula (17) itself, with its own differences, finds nothing higher nearby."""
    X, y, K, _ = problem
    model = SubspaceKernelFeatures(gamma=0.3, max_iter=2000, tol=1e-13).fit(X, y)
    W = np.zeros((len(X), 3))
    W[model.landmark_indices_] = model.projection_
    found = minimize(lambda w: -alignment(K, w.reshape(W.shape), y), W.ravel(), method="BFGS")
    assert model.ending_ == Ending.CONVERGED
    assert_allclose(model.alignment_path_[-1], -found.fun, rtol=1e-6)


def test_solvers_agree_on_an_easy_problem(few):
    X, y, _ = few
    parameters = {"kernel": "linear", "max_iter": 5000, "tol": 1e-12}
    a = SubspaceKernelFeatures(**parameters).fit(X[:, 20:40], y)
    b = SubspaceKernelFeatures(solver="cg", **parameters).fit(X[:, 20:40], y)
    assert_allclose(a.alignment_path_[-1], b.alignment_path_[-1], rtol=1e-6)


def test_points_of_a_linear_kernel_are_directions(few):
    X, y, new = few
    a = SubspaceKernelFeatures(kernel="linear").fit(X, y)
    b = SubspaceKernelFeatures(kernel="linear", span="points").fit(X, y)
    assert a.landmarks_.shape == (4, 64)
    assert_array_equal(a.transform(new), b.transform(new))


def test_points_are_learned(few):
    X, y, new = few
    model = SubspaceKernelFeatures(gamma=GAMMA, span="points").fit(X, y)
    assert model.landmarks_.shape == (4, 64)
    W = np.linalg.inv(rbf_kernel(model.landmarks_, gamma=GAMMA))
    left, right = (rbf_kernel(A, model.landmarks_, gamma=GAMMA) for A in (new, X))
    assert_allclose(model.subspace_kernel_(new, X), left @ W @ right.T, atol=1e-9)  # (16)
    start = averaging(y).T @ X
    assert np.abs(model.landmarks_ - start).max() > 0.01
    given = SubspaceKernelFeatures(gamma=GAMMA, span="points", init=start).fit(X, y)
    assert_allclose(given.transform(new), model.transform(new), atol=1e-6)
    kernel = CountingKernel(GAMMA)
    with pytest.raises(ValueError, match="no derivative"):
        SubspaceKernelFeatures(kernel=kernel, span="points").fit(X, y)
    with pytest.raises(ValueError, match="precomputed"):
        SubspaceKernelFeatures(kernel="precomputed", span="points").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="not points"):
        SubspaceKernelFeatures(span="points", init="kpls").fit(X, y)
    with pytest.raises(ValueError, match="takes no candidates"):
        SubspaceKernelFeatures(span="points", candidates=X[:9]).fit(X, y)
    with pytest.raises(ValueError, match="64 columns"):
        SubspaceKernelFeatures(span="points", init=X[:4, :9]).fit(X, y)


@pytest.mark.parametrize("n_components", [None, 2, 6])
def test_points_of_classes_that_count(n_components, few):
    X, y, new = few
    model = SubspaceKernelFeatures(n_components, gamma=GAMMA, span="points", random_state=0)
    weighted = model.fit(X, y, sample_weight=(y != 1) * 1.0).transform(new)
    assert weighted.shape[1] == (n_components or 3)
    assert_allclose(model.fit(X[y != 1], y[y != 1]).transform(new), weighted, atol=1e-5)


def test_points_are_as_many_as_there_can_be(few):
    X, y, _ = few
    with pytest.warns(FewerFeaturesWarning, match="gave 6 of the 10"):
        SubspaceKernelFeatures(10, gamma=GAMMA, span="points").fit(X[:6], y[:6])
    with pytest.raises(ValueError, match="n_components=2, but init has 4 points"):
        SubspaceKernelFeatures(2, span="points", init=X[:4]).fit(X, y)
    assert SubspaceKernelFeatures(4, span="points", init=X[:4]).fit(X, y).n_components_ == 4
    with pytest.raises(ValueError, match="Lower gamma"):
        SubspaceKernelFeatures(gamma=1e6, span="points").fit(X, y)


def test_points_that_meet_are_one():
    X, y = np.ones((10, 2)), [0, 1] * 5
    model = SubspaceKernelFeatures(gamma=1.0, span="points").fit(X, y)
    assert_allclose(np.abs(model.projection_), [[1.0]])
    assert_allclose(model.transform(X), np.ones((10, 1)))
    for k in (2, 4):
        with pytest.warns(FewerFeaturesWarning, match=f"gave 1 of the {k}"):
            SubspaceKernelFeatures(k, gamma=1.0, span="points", random_state=0).fit(X, y)


def test_points_that_meet_on_their_way_are_one(few, monkeypatch):
    X, y, _ = few

    def solver(fun, x0, **others):
        together = x0.reshape(4, -1).copy()
        together[1] = together[0] + 1e-9
        return OptimizeResult(x=together.ravel())

    monkeypatch.setattr(optimise, "minimize", solver)
    with pytest.warns(FewerFeaturesWarning, match="gave 3 of the 4"):
        model = SubspaceKernelFeatures(4, gamma=GAMMA, span="points").fit(X, y)
    gram = model.projection_.T @ rbf_kernel(model.landmarks_, gamma=GAMMA) @ model.projection_
    assert_allclose(gram, np.eye(3), atol=1e-9)


def test_poly_points_are_learned(few):
    X, y, _ = few
    model = SubspaceKernelFeatures(kernel="poly", degree=2, gamma=0.1, span="points").fit(X, y)
    assert model.alignment_path_[-1] > model.alignment_path_[0]
    K = polynomial_kernel(model.landmarks_, degree=2, gamma=0.1, coef0=1)
    assert_allclose(model.projection_.T @ K @ model.projection_, np.eye(4), atol=1e-7)


@pytest.mark.parametrize("parameters", [{}, {"candidates": 30}, {"kernel": "linear"}], ids=str)
def test_sparse_input_equals_dense(parameters, few):
    X, y, new = few
    model = SubspaceKernelFeatures(random_state=0, gamma=GAMMA, **parameters)
    a = model.fit(X, y).transform(new)
    b = model.fit(sparse.csr_matrix(X), y).transform(sparse.csr_matrix(new))
    assert_allclose(a, b, atol=1e-6)


def test_many_inputs_equal_a_precomputed_kernel():
    """More inputs than rows: coordinates are those of the rows, or the inputs; the path is one."""
    rng = np.random.default_rng(0)
    X = sparse.random(80, 3000, density=0.02, random_state=0, format="csr")
    y = rng.integers(0, 3, 80)
    direct = SubspaceKernelFeatures(kernel="linear", max_iter=20).fit(X, y)
    K = (X @ X.T).toarray()
    other = SubspaceKernelFeatures(kernel="precomputed", max_iter=20).fit(K, y)
    assert_allclose(direct.alignment_path_, other.alignment_path_, rtol=1e-6)
    assert_allclose(direct.transform(X), other.transform(K), atol=1e-5)
    wide = Directions(X, TargetAlignment(indicators(y)))
    start = np.asarray(X.T @ averaging(y))
    found = maximise(wide, start, orthonormalise, solver="lbfgs", max_iter=20, tol=1e-4)
    assert_allclose(found.path, direct.alignment_path_, rtol=1e-6)


def test_many_inputs_with_a_large_mean(few):
    """Inner products of the rows would hide what they differ in."""
    X, y, _ = few
    X, y = X[:25], y[:25]
    far = X + 1e5
    model = SubspaceKernelFeatures(kernel="linear", max_iter=0).fit(far, y)
    assert model.n_components_ == 4
    M = averaging(y)
    assert_allclose(pdist(M.T @ model.transform(far)), pdist(M.T @ X), rtol=1e-6)


def test_text_stays_sparse():
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 100_000, 40_000)  # twenty words in each of 2,000 documents
    X = sparse.csr_matrix((np.ones(40_000), columns, np.arange(0, 40_001, 20)), (2000, 100_000))
    X.sum_duplicates()
    y = np.asarray(X[:, :50_000].sum(axis=1)).ravel() > 10
    model = SubspaceKernelFeatures(kernel="linear", max_iter=3)
    tracemalloc.start()
    features = model.fit(X, y).transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert features.shape == (2000, 2)
    assert peak < 100e6 < X.shape[0] * X.shape[1] * 8 / 15


@pytest.mark.slow
def test_more_features_than_classes_leave_text_sparse():
    rng = np.random.default_rng(0)
    wide = sparse.random(400, 60_000, density=2e-3, random_state=0, format="csr")
    tall = sparse.random(60_000, 400, density=2e-3, random_state=0, format="csr")
    for X in (wide, tall):
        y = rng.integers(0, 3, X.shape[0])
        model = SubspaceKernelFeatures(5, kernel="linear", max_iter=2)
        tracemalloc.start()
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert model.n_components_ == 5
        assert peak < X.shape[0] * X.shape[1] * 8 / 4


@pytest.mark.parametrize("shape", [(40, 90), (90, 40)])
def test_the_rest_of_sparse_rows_is_that_of_dense_ones(shape):
    X = sparse.random(*shape, density=0.2, random_state=0, format="csr")
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((shape[1], 3)))[0]
    few, dense = (principal_rest(rows, basis, 4) for rows in (X, X.toarray()))
    assert_allclose(few @ few.T, dense @ dense.T, atol=1e-10)
    every = principal_rest(X, basis, shape[1])
    assert every.shape[1] == min(shape[0], shape[1] - 3)
    assert_allclose(every.T @ np.hstack([basis, every])[:, 3:], np.eye(every.shape[1]), atol=1e-10)
    assert_allclose(basis.T @ every, 0, atol=1e-12)


def test_many_inputs_never_meet_each_other():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 20_000))
    y = rng.integers(0, 3, 40)
    tracemalloc.start()
    for method in (KernelOrthogonalCentroid, SubspaceKernelFeatures):
        method(kernel="linear").fit(X, y).transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000**2 * 8 / 50


def test_a_pool_costs_one_pass(few):
    X, y, new = few
    kernel = CountingKernel(GAMMA)
    model = SubspaceKernelFeatures(kernel=kernel, candidates=X[:30]).fit(X, y)
    assert kernel.evaluations <= len(X) * 30 + 30 * 30 + 1
    kernel.evaluations = 0
    model.transform(new)
    assert kernel.evaluations == len(new) * len(model.landmarks_) <= len(new) * 30


def test_the_report_tells_when_it_did_not_converge(few):
    X, y, _ = few
    with pytest.warns(ConvergenceWarning, match="after 3 iterations.*Raise max_iter"):
        short = SubspaceKernelFeatures(max_iter=3).fit(X, y)
    assert short.ending_ == Ending.LIMIT
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        early = SubspaceKernelFeatures(tol=0).fit(X, y)
    assert (early.n_iter_, early.ending_) == (30, Ending.EARLY)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        long = SubspaceKernelFeatures(max_iter=1000, tol=1e-3).fit(X, y)
    assert long.ending_ == Ending.CONVERGED
    assert long.n_iter_ < 1000
    assert_allclose(long.alignment_path_[:4], short.alignment_path_)


def test_no_iteration_is_neither_converged_nor_a_failure(few):
    X, y, _ = few
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SubspaceKernelFeatures(max_iter=0).fit(X, y)
    assert (model.n_iter_, model.ending_) == (0, Ending.START)


def test_the_path_hides_rounding(problem, monkeypatch):
    """A value that rounding lowers is noted as the one before."""
    _, y, K, W = problem
    A = np.linalg.cholesky(K)
    function = Directions(A, TargetAlignment(indicators(y)))

    def solver(fun, x0, *, callback, **others):
        value = fun(x0)[0]
        for change in (-1e-3, -1e-3 + 1e-16, -2e-3):
            callback(OptimizeResult(fun=value + change))
        return OptimizeResult(x=x0)

    monkeypatch.setattr(optimise, "minimize", solver)
    path = maximise(function, A.T @ W, orthonormalise, solver="lbfgs", max_iter=3, tol=0).path
    assert_allclose(np.diff(path), [1e-3, 0, 1e-3], atol=1e-10)
    assert (np.diff(path) >= 0).all()


@pytest.mark.parametrize("solver", ["lbfgs", "cg"])
@pytest.mark.parametrize("parameters", [{"kernel": "linear"}, {"n_components": 7}, {"span": "points"}])
def test_what_the_path_hides_is_rounding(parameters, solver, few, monkeypatch):
    X, y, _ = few
    values = []

    def watched(*args, callback, **others):
        def note(intermediate_result):
            values.append(-intermediate_result.fun)
            callback(intermediate_result)

        return minimize(*args, callback=note, **others)

    monkeypatch.setattr(optimise, "minimize", watched)
    model = SubspaceKernelFeatures(solver=solver, max_iter=300, tol=0, **parameters).fit(X, y)
    assert len(values) == model.n_iter_ > 10
    assert np.diff(values).min() > -1e-13
    assert_allclose(model.alignment_path_[1:], values, atol=1e-13)


@pytest.mark.parametrize("scale", [1e-80, 1e-140, 1e100])
def test_the_alignment_has_no_scale(scale, problem, few):
    _, y, K, W = problem
    objective = TargetAlignment(indicators(y))
    value, slope = objective(K @ W)
    scaled, steeper = objective(K @ W * scale)
    assert_allclose(scaled, value, rtol=1e-12)
    assert_allclose(steeper * scale, slope, rtol=1e-9, atol=1e-12)
    X, y, _ = few
    model = SubspaceKernelFeatures(kernel="linear", max_iter=5)
    features = model.fit(X, y).transform(X)
    assert_allclose(model.fit(X * scale, y).transform(X * scale), features * scale, rtol=1e-4)


def test_a_summit_at_the_start_is_no_failure():
    X = np.repeat(np.eye(3), 5, axis=0)
    y = np.repeat([0, 1, 2], 5)
    model = SubspaceKernelFeatures(kernel="linear").fit(X, y)
    assert_allclose(model.alignment_path_[-1], 1)
    assert model.ending_ == Ending.CONVERGED


def test_fewer_directions_than_asked():
    X = np.repeat(np.eye(3), 5, axis=0)
    y = np.repeat([0, 1, 2], 5)
    with pytest.warns(FewerFeaturesWarning, match="gave 3 of the 5"):
        SubspaceKernelFeatures(5, kernel="linear").fit(X, y)
    with pytest.raises(ValueError, match="No feature"):
        SubspaceKernelFeatures(kernel="linear").fit(np.zeros((15, 3)), y)
    with pytest.raises(ValueError, match="pass candidates as a number"):
        fit_with({"max_memory": 100}, SubspaceKernelFeatures(), X, y)


def test_features_come_in_the_order_of_what_they_add(few):
    X, y, _ = few
    model = SubspaceKernelFeatures(6, gamma=GAMMA).fit(X, y)
    added = ((model.transform(X).T @ indicators(y)) ** 2).sum(axis=1)  # (21)
    assert (np.diff(added) <= 1e-9 * added[0]).all()
    assert_allclose(added[4:], 0, atol=1e-9 * added[0])  # four classes
    short = model.truncate(3)
    assert_allclose(short.subspace_kernel_(X).shape, (150, 150))
    assert short.n_iter_ == model.n_iter_


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), n_classes=st.integers(2, 4), k=st.integers(1, 6))
def test_what_always_holds(seed, n_classes, k):
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, 30)]
    X = rng.standard_normal((len(y), 7)) + 0.5 * y[:, None]
    model = SubspaceKernelFeatures(k, gamma=0.1).fit(X, y)
    assert (np.diff(model.alignment_path_) >= 0).all()
    assert 0 <= model.alignment_path_[0] <= model.alignment_path_[-1] <= 1 + 1e-12
    gram = model.projection_.T @ rbf_kernel(model.landmarks_, gamma=0.1) @ model.projection_
    assert_allclose(gram, np.eye(k), atol=1e-6)
