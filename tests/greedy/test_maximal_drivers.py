"""The same pool gives the same landmarks and features, to the digits that the rows allow."""

import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import product

import numpy as np
import pytest
from configured import fit_with
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine

from kernelsieve import (
    Candidates,
    KernelFeatureExtraction,
    KernelPLS,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
)
from kernelsieve.data import Batch, Pool
from kernelsieve.deflation import Alignment, Covariance
from kernelsieve.exceptions import FewerFeaturesWarning
from kernelsieve.fitting import Settings
from kernelsieve.fitting.pools import draw_pool
from kernelsieve.kernels import RBF, Cosine, Linear, Polynomial, resolve_gamma

ESTIMATORS = {
    "alignment": SparseMaximalAlignment,
    "covariance": SparseMaximalCovariance,
    "kpls": lambda *a, **kw: KernelFeatureExtraction("kpls", *a, **kw),
    "pls": KernelPLS,
}


def pieces(size, *arrays):
    for start in range(0, len(arrays[0]), size):
        yield tuple(array[start : start + size] for array in arrays)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((1500, 6))
    Y = np.column_stack([np.sin(X[:, 0]) * X[:, 1], X[:, 2] ** 2]) + 0.1 * rng.standard_normal(
        (1500, 2)
    )
    return X, Y, X[rng.choice(1500, 40, replace=False)]


def make(name, pool, **parameters):
    return ESTIMATORS[name](12, candidates=pool, **parameters)


def agree(model, reference, X, atol=1e-8):
    assert_array_equal(model.landmark_indices_, reference.landmark_indices_)
    assert_allclose(model.transform(X), reference.transform(X), atol=atol)
    assert_allclose(model.criterion_path_, reference.criterion_path_, rtol=1e-6)
    assert_allclose(
        model.explained_variance_ratio_, reference.explained_variance_ratio_, rtol=1e-6, atol=1e-12
    )


def test_batches_carry_weights(problem):
    X, Y, pool = problem
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
    reference = make("alignment", pool).fit(X, Y, sample_weight=weight)
    agree(make("alignment", pool).fit_batches(list(pieces(300, X, Y, weight))), reference, X)
    model = make("alignment", pool)
    for part, targets, some in pieces(11, X, Y, weight):
        model.partial_fit(part, targets, sample_weight=some)
    agree(model, reference, X)


# Unscaled inputs and wide kernels: weights are so large that a last digit of a kernel value, of a
# weight or of a sum is seen in the features. All drivers must therefore see the same values, and sum
# them up to more digits than they have.
ILL_CONDITIONED = {
    "scale": ({}, 50),
    "rbf, wide": ({"gamma": 1e-9}, 40),
    "rbf": ({"gamma": 1e-6}, 100),
    "laplacian": ({"kernel": "laplacian", "gamma": 1e-7}, 60),
    "chi2": ({"kernel": "chi2", "gamma": 1e-4}, 60),
    "linear": ({"kernel": "linear"}, 20),
    "poly": ({"kernel": "poly", "degree": 2}, 50),
    "cosine": ({"kernel": "cosine"}, 40),
}


@pytest.mark.parametrize("weighted", [pytest.param(False, marks=pytest.mark.slow), True])
@pytest.mark.parametrize(
    "criterion",
    [SparseMaximalAlignment, pytest.param(SparseMaximalCovariance, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("case", ILL_CONDITIONED)
def test_ill_conditioned_columns(case, criterion, weighted):
    X, y = (array[:280] for array in load_breast_cancer(return_X_y=True))
    parameters, k = ILL_CONDITIONED[case]
    if "gamma" not in parameters:
        parameters = parameters | {"gamma": 1 / (X.shape[1] * X.var())}
    weight = np.random.default_rng(0).uniform(0.1, 2, len(X)) if weighted else np.ones(len(X))
    pool = X[:150]

    def make(**others):
        return criterion(k, candidates=pool, tol=1e-20, **parameters, **others)

    def in_pieces(size):
        model = make()
        for some_X, some_y, some_weight in pieces(size, X, y, weight):
            model.partial_fit(some_X, some_y, [0, 1], sample_weight=some_weight)
        return model

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        reference = make(n_jobs=1).fit(X, y, sample_weight=weight)
        assert reference._current_fit().model.refinement is not None  # it is ill-conditioned indeed
        models = [
            fit_with({"block_size": 37}, make(n_jobs=2), X, y, sample_weight=weight),
            fit_with(
                {"precision": "safe", "block_size": 1000},
                make().set_params(candidates=np.asfortranarray(pool)),
                np.asfortranarray(X),
                y,
                sample_weight=weight,
            ),
            make().fit_batches(list(pieces(100, X, y, weight))),
            make().fit_batches(pieces(100, X, y, weight)),
            *map(in_pieces, (1 if case == "rbf" else 7, 1000)),
        ]
        for model in models:
            assert_array_equal(model.landmarks_, reference.landmarks_)
            for some in (X, X[:9] + 0.1):
                found, expected = model.transform(some), reference.transform(some)
                # Along directions that nearly vanish, images have the rounding of the largest ones.
                assert_allclose(found, expected, atol=max(1e-8, 1e-9 * np.abs(expected).max()))


@pytest.mark.parametrize("kernel", [{"kernel": "linear"}, {"gamma": 1e-9}, {"gamma": 1e-4}], ids=str)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("n_nonzero", [2, 3])
def test_combinations_of_nearly_dependent_columns(n_nonzero, center, kernel):
    X, y = load_wine(return_X_y=True)

    def make(**others):
        parameters = {"candidates": X[:30], "n_nonzero": n_nonzero, "center": center, **kernel}
        return SparseMaximalAlignment(3, tol=1e-20, **parameters, **others)

    reference, in_pieces = make().fit(X, y), make()
    for part in pieces(7, X, y):
        in_pieces.partial_fit(*part, [0, 1, 2])
    for model in (in_pieces, fit_with({"block_size": 37}, make(n_jobs=2), X, y)):
        assert_array_equal(model.landmarks_, reference.landmarks_)
        assert_allclose(model.transform(X), reference.transform(X), atol=1e-8)


@pytest.mark.parametrize("name", ["kpls", "pls", "alignment"])
@pytest.mark.parametrize("kernel", [{"gamma": 0.01}, {"kernel": "sigmoid", "gamma": 0.1}], ids=str)
def test_batches_in_a_list_have_the_digits_of_all_rows(name, kernel, problem):
    X, Y, pool = (array[:400] for array in problem)
    reference = make(name, pool, **kernel).fit(X, Y)
    model = make(name, pool, **kernel).fit_batches(list(pieces(50, X, Y)))
    assert_allclose(model.transform(X), reference.transform(X), atol=1e-8)


def test_two_threads_may_be_the_first_to_use_a_stream(problem):
    X, Y, pool = problem
    model = make("alignment", pool)
    for part, targets in pieces(100, X, Y):
        model.partial_fit(part, targets)
    expected = make("alignment", pool).fit(X, Y).transform(X)
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(model.transform, [X] * 4):
            assert_allclose(found, expected, atol=1e-8)


def test_other_threads_see_a_stream_or_a_whole_fit(problem, monkeypatch):
    X, Y, pool = problem
    model = make("alignment", pool).partial_fit(X, Y)
    keep, seen = type(model)._set_fit, []

    def watched(self, *what):
        keep(self, *what)
        seen.append({"_stream", "_fit"} & vars(model).keys())

    monkeypatch.setattr(type(model), "_set_fit", watched)
    features = model.transform(X)
    assert seen == [{"_stream"}]
    assert {"_stream", "_fit"} <= vars(model).keys()
    assert model.partial_fit(X, Y).transform(X).shape == features.shape


@pytest.mark.parametrize("name", ["alignment", "covariance"])
def test_float32_input_and_float32_kernel_values(name, problem):
    X, Y, pool = problem
    reference = make(name, pool).fit(X, Y)
    scale = np.abs(reference.transform(X)).max()
    narrow = make(name, pool).fit(X.astype(np.float32), Y)
    assert_array_equal(narrow.landmark_indices_, reference.landmark_indices_)
    assert_allclose(narrow.transform(X), reference.transform(X), atol=1e-4 * scale)
    fill = fit_with({"dtype": "float32"}, make(name, pool), X, Y)
    assert fill.transform(X).dtype == np.float32
    assert_array_equal(fill.landmark_indices_, reference.landmark_indices_)
    assert_allclose(fill.transform(X), reference.transform(X), atol=1e-3 * scale)


@pytest.mark.parametrize("candidates", ["all", "pool", "resample"])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine", "laplacian", "sigmoid"])
def test_sparse_input_equals_dense(kernel, candidates):
    rng = np.random.default_rng(1)
    X = sparse.random(300, 40, density=0.2, random_state=1, format="csr")
    y = rng.standard_normal(300)
    given = {"all": "all", "pool": 60, "resample": 300}[candidates]
    parameters = {
        "kernel": kernel,
        "gamma": 0.02 if kernel == "sigmoid" else 0.3,
        "candidates": Candidates(given, resample=candidates == "resample"),
        "random_state": 0,
    }
    a = SparseMaximalAlignment(10, **parameters).fit(X, y)
    b = SparseMaximalAlignment(10, **parameters).fit(X.toarray(), y)
    assert sparse.issparse(a.landmarks_)
    assert_array_equal(a.landmark_indices_, b.landmark_indices_)
    assert_allclose(a.transform(X), b.transform(X.toarray()), atol=1e-7)


def with_many_zeros(kind):
    rng = np.random.default_rng(3)
    if kind == "counts":
        return sparse.csr_matrix(rng.poisson(0.3, (600, 30)).astype(float))
    X = sparse.random(600, 40, density=0.1, random_state=3, format="csr")
    return X[rng.integers(0, 120, 600)] if kind == "equal rows" else X


KERNELS = [Linear(), RBF(0.3), Cosine(), Polynomial(0.3)]
SCREENS = product(["screen"], KERNELS, [Alignment(), Covariance()])
OTHERS = [("kmeans", Linear(), Alignment()), *product(["rpcholesky"], KERNELS, [Alignment()])]


@pytest.mark.parametrize("kind", ["zeros", "counts", "equal rows"])
@pytest.mark.parametrize(("how", "kernel", "criterion"), [*SCREENS, *OTHERS])
def test_sparse_input_is_given_the_same_pool(how, kernel, criterion, kind):
    X = with_many_zeros(kind)
    y = np.random.default_rng(0).standard_normal((600, 1))

    def draw(X):
        state = np.random.RandomState(0)
        return draw_pool(Batch(X, y), kernel, criterion, 60, how, Settings(center=True), state)

    assert_array_equal(draw(X), draw(X.toarray()))


def test_a_function_is_given_sparse_rows_as_they_are():
    X = with_many_zeros("zeros")

    def inner(A, B):
        return A.multiply(1.0).dot(B.T).toarray()

    y = np.sin(3 * X[:, 0].toarray().ravel()) + X[:, 1].toarray().ravel() ** 2
    parameters = {"candidates": Candidates(40, how="screen"), "random_state": 0}
    model = SparseMaximalAlignment(5, kernel=inner, **parameters).fit(X, y)
    reference = SparseMaximalAlignment(5, kernel="linear", **parameters).fit(X, y)
    assert_array_equal(model.landmark_indices_, reference.landmark_indices_)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine", "laplacian"])
def test_sparse_entries_in_parts_are_summed(kernel):
    X = with_many_zeros("zeros")
    in_parts = sparse.csr_matrix(
        (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), X.shape
    )
    y = np.random.default_rng(0).standard_normal(600)
    for candidates, parts in ((60, 60), (X[:60], in_parts[:60])):
        parameters = {"kernel": kernel, "random_state": 0}
        a = SparseMaximalAlignment(10, candidates=parts, **parameters).fit(in_parts, y)
        b = SparseMaximalAlignment(10, candidates=candidates, **parameters).fit(X, y)
        assert_array_equal(a.landmark_indices_, b.landmark_indices_)
        assert_allclose(a.transform(in_parts), b.transform(X), atol=1e-10)
    assert in_parts.nnz == 2 * X.nnz  # the caller's matrix is left alone


@pytest.mark.parametrize("gamma", ["scale", "median"])
def test_gamma_of_sparse_float32_is_that_of_dense(gamma):
    X = with_many_zeros("zeros").astype(np.float32)
    assert_allclose(resolve_gamma(gamma, X), resolve_gamma(gamma, X.toarray()), rtol=1e-12)


@pytest.mark.parametrize("gamma", [1e-4, 1e-3])
@pytest.mark.parametrize("name", ["alignment", "covariance"])
def test_of_equal_points_the_first_is_named(name, gamma, problem):
    X, Y, pool = problem
    X, Y = X[:600], Y[:600]
    pool = pool[np.random.default_rng(0).integers(0, len(pool), 100)]
    first = [int(np.flatnonzero((pool == point).all(axis=1))[0]) for point in pool]

    def make():
        return ESTIMATORS[name](25, candidates=pool, gamma=gamma, tol=1e-20)

    reference = make().fit(X, Y)
    assert set(reference.landmark_indices_) <= set(first)
    in_parts = make()
    for part, targets in pieces(100, X, Y):
        in_parts.partial_fit(part, targets)
    for model in (
        in_parts,
        make().fit_batches(list(pieces(100, X, Y))),
        fit_with({"block_size": 100}, make(), X, Y),
        make().set_params(candidates=sparse.csr_matrix(pool)).fit(sparse.csr_matrix(X), Y),
    ):
        assert_array_equal(model.landmark_indices_, reference.landmark_indices_)


@pytest.mark.parametrize("layout", [np.array, sparse.csr_matrix])
def test_numbers_of_equal_points(layout):
    points = layout(np.array([[0.0, 2.0], [1.0, 0.0], [0.0, 2.0], [3.0, 0.0], [1.0, -0.0], [1.0, 0.0]]))
    pool = Pool(points, np.array([10, 11, 12, 13, 14, 15]))
    assert pool.first_of_equals(np.array([3, 2])).indices[[3, 2]].tolist() == [13, 10]
    assert pool.first_of_equals(np.array([4])).indices[4] == 11
    # several that were chosen stay apart
    assert pool.first_of_equals(np.array([5, 4, 0])).indices[[5, 4, 0]].tolist() == [15, 14, 10]


def test_a_stored_zero_is_a_zero():
    points = sparse.csr_matrix(([1.0, 0.0, 1.0], [0, 1, 0], [0, 2, 3]), (2, 2))
    assert Pool(points, np.arange(2)).first_of_equals(np.array([1])).indices[1] == 0


@pytest.mark.parametrize(("how", "part"), [("random", 100), ("screen", 10), ("kmeans", 10)])
def test_wide_sparse_input_stays_sparse(how, part):
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 100_000, 20_000)  # ten words in each of 2,000 documents
    X = sparse.csr_matrix((np.ones(20_000), columns, np.arange(0, 20_001, 10)), (2000, 100_000))
    X.sum_duplicates()
    y = np.asarray(X[:, :50_000].sum(axis=1)).ravel()
    model = SparseMaximalAlignment(
        10, kernel="linear", candidates=Candidates(50, how=how), random_state=0
    )
    tracemalloc.start()
    features = model.fit(X, y).transform(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert features.shape == (2000, 10)
    dense = X.shape[0] * X.shape[1] * 8
    assert peak < dense / part


@pytest.mark.parametrize("width", [1.0, 3.0, 10.0, 30.0, 100.0])
def test_wide_kernels_are_finished_by_the_safe_form(width):
    """The Gram form loses sight of small residuals; "auto" must choose as careful Gram-Schmidt does."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    y = np.sin(2 * X[:, 0]) * X[:, 1] + X[:, 2] ** 2
    gamma = 1 / (2 * (width * np.median(pdist(X))) ** 2)
    pool = X[:150]
    K = np.empty((150, 400))
    RBF(gamma).against(pool)(X, K)  # rounded as the fit sees it
    indices = _careful(K.T.astype(np.longdouble), y, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewerFeaturesWarning)
        wide = partial(SparseMaximalAlignment, 60, candidates=pool, gamma=gamma, tol=1e-20)
        auto, fast = wide().fit(X, y), fit_with({"precision": "fast"}, wide(), X, y)
    assert auto.landmark_indices_.tolist() == indices
    # the fast form alone stops where it would begin to guess, and says so
    assert fast.landmark_indices_.tolist() == indices[: fast.n_components_]


@pytest.mark.parametrize("seed", [0, 4])
def test_the_gram_form_leaves_close_choices_to_the_safe_form(seed):
    """The last scores here differ by a millionth; inner products know them to fewer digits."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((1000, 2))
    y = np.sin(X[:, 0]) * X[:, 1] + X[:, 1] ** 2 + 0.1 * rng.standard_normal(1000)
    pool = X[rng.choice(1000, 100, replace=False)]
    make = partial(SparseMaximalAlignment, candidates=pool, gamma=1e-5, tol=1e-20)
    reference = fit_with({"precision": "safe"}, make(5), X, y)
    for model in (
        make(5).fit(X, y),
        make(5).fit_batches(list(pieces(300, X, y))),
        make(5).fit_batches(pieces(100, X, y)),
    ):
        assert_array_equal(model.landmark_indices_, reference.landmark_indices_)


def _careful(K, y, k):
    """Gram-Schmidt in long double, deflating every column twice."""
    raw = (K**2).sum(axis=0)
    K = K - K.mean(axis=0)
    y = (y - y.mean()).astype(np.longdouble)
    indices = []
    for _ in range(k):
        norms = (K**2).sum(axis=0)
        score = np.where(norms > 1e-20 * raw, (K.T @ y) ** 2 / np.maximum(norms, 1e-300), -1)
        i = int(np.argmax(score))
        if score[i] < 0:
            break
        q = K[:, i] / np.sqrt(norms[i])
        for _ in range(2):
            K = K - np.outer(q, q @ K)
        indices.append(i)
    return indices


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
@pytest.mark.parametrize("candidates", ["all", 60])
@pytest.mark.parametrize("seed", range(3))
def test_the_last_of_as_many_landmarks_as_inputs_is_a_tie(kernel, candidates, seed, cancer):
    rng = np.random.default_rng(seed)
    rows = rng.choice(len(cancer[0]), 140, replace=False)
    X, y = cancer[0][rows], cancer[1][rows]
    X = np.where(np.abs(X) < 0.3, 0.0, X)  # zeros, so that sparse sums have fewer terms
    sieve = SparseMaximalAlignment(30, kernel=kernel, candidates=candidates, random_state=seed)
    dense = clone(sieve).fit(X, y)  # 30 inputs: whatever completes the span explains the same
    other = clone(sieve).fit(sparse.csr_matrix(X), y)
    assert_array_equal(other.landmark_indices_, dense.landmark_indices_)
    assert_allclose(other.transform(X), dense.transform(X), atol=1e-6)
