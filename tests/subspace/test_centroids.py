"""KOC, KDA/QR and AKDA/QR against the formulas, and what must always hold."""

import numpy as np
import pytest
from configured import fit_with
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import CountingKernel, up_to_sign
from naive_subspace import averaging, naive_discriminant, naive_koc
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from kernelsieve import KernelDiscriminantQR, KernelOrthogonalCentroid, SubspaceKernelFeatures
from kernelsieve.exceptions import FewerFeaturesWarning, InvalidDataError, KernelError

GAMMA = 0.2


@pytest.fixture(scope="module")
def few(digits):
    X, y = digits
    return X[:200], y[:200], X[200:300]


def inner(features):
    """What does not depend on the basis."""
    return features @ features.T


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_orthogonal_centroids_are_those_of_the_formula(kernel, few):
    X, y, new = few
    function = {"rbf": lambda A, B: rbf_kernel(A, B, gamma=GAMMA), "linear": linear_kernel}[kernel]
    model = KernelOrthogonalCentroid(kernel=kernel, gamma=GAMMA).fit(X, y)
    expected = naive_koc(function(X, X), function(new, X), y)
    assert_allclose(inner(model.transform(new)), inner(expected), atol=1e-9)


@pytest.mark.parametrize("parameters", [{}, {"kernel": "linear"}, {"kernel": "poly"}], ids=str)
def test_distances_between_centroids_are_kept(parameters, few):
    X, y, _ = few
    model = KernelOrthogonalCentroid(**parameters).fit(X, y)
    gram = model._current_fit().model.kernel.block(X, X)
    M = averaging(y)
    G = M.T @ gram @ M
    before = G.diagonal()[:, None] + G.diagonal() - 2 * G
    centroids = M.T @ model.transform(X)
    after = ((centroids[:, None] - centroids) ** 2).sum(axis=-1)
    assert_allclose(after, before, atol=1e-12 * G.max())


def test_orthogonal_centroids_of_a_linear_kernel_are_a_qr_factorisation(few):
    X, y, new = few
    model = KernelOrthogonalCentroid(kernel="linear").fit(X, y)
    Q, _ = np.linalg.qr((averaging(y).T @ X).T)
    assert model.landmarks_.shape == (10, 64)
    assert_allclose(inner(model.transform(new)), inner(new @ Q), atol=1e-10)


def test_a_pool_of_all_rows_is_exact(few):
    X, y, new = few
    for method in (KernelOrthogonalCentroid, KernelDiscriminantQR):
        exact = method(gamma=GAMMA).fit(X, y).transform(new)
        assert_allclose(method(gamma=GAMMA, candidates=X).fit(X, y).transform(new), exact, atol=1e-7)


def test_centroids_on_a_pool_are_projections(few):
    X, y, new = few
    pool = X[:60]
    model = KernelOrthogonalCentroid(gamma=GAMMA, candidates=pool).fit(X, y)
    W, C = rbf_kernel(pool, gamma=GAMMA), rbf_kernel(X, pool, gamma=GAMMA)
    projected = C @ np.linalg.solve(W, C.T)  # the kernel matrix in the span of the pool
    of_new = rbf_kernel(new, pool, gamma=GAMMA) @ np.linalg.solve(W, C.T)
    assert_allclose(inner(model.transform(new)), inner(naive_koc(projected, of_new, y)), atol=1e-7)


def test_recomputed_columns_are_the_same(few):
    X, y, new = few
    a = KernelOrthogonalCentroid(gamma=GAMMA).fit(X, y)
    b = fit_with({"max_memory": 0}, KernelOrthogonalCentroid(gamma=GAMMA), X, y)
    assert_allclose(a.transform(new), b.transform(new), atol=1e-10)


def test_clusters_within_classes(few):
    X, y, new = few
    model = KernelOrthogonalCentroid(kernel="linear", n_clusters=3, random_state=0).fit(X, y)
    assert model.n_components_ == 30
    # k-means by scikit-learn on the same rows, seeded in the same order
    state = np.random.RandomState(0)
    centres = [
        KMeans(3, n_init=3, random_state=state).fit(X[y == label]).cluster_centers_
        for label in np.unique(y)
    ]
    Q, _ = np.linalg.qr(np.vstack(centres).T)
    assert_allclose(inner(model.transform(new)), inner(new @ Q), atol=1e-9)
    curved = KernelOrthogonalCentroid(gamma=GAMMA, n_clusters=3, random_state=0).fit(X, y)
    assert curved.n_components_ == 30
    with pytest.raises(AttributeError):
        curved.partial_fit(X, y)


def test_more_clusters_than_different_rows():
    X = np.repeat(np.eye(3), 4, axis=0)
    y = np.repeat([0, 0, 1], 4)
    model = KernelOrthogonalCentroid(kernel="linear", n_clusters=5, random_state=0).fit(X, y)
    assert model.n_components_ == 3
    assert KernelOrthogonalCentroid(n_clusters=5).fit(sparse.csr_matrix(X), y).n_components_ == 3


@pytest.mark.parametrize("n_rows", [120, 600])  # at once, and in one pass
def test_a_large_mean_hides_no_centroid(n_rows, digits):
    X, y = digits[0][:n_rows], digits[1][:n_rows] % 5
    far = X + 1e5
    koc = KernelOrthogonalCentroid(kernel="linear").fit(far, y)
    assert koc.n_components_ == 5
    M = averaging(y)
    assert_allclose(pdist(M.T @ koc.transform(far)), pdist(M.T @ X), rtol=1e-6)
    exact, near = (
        KernelDiscriminantQR(kernel="linear", approximate=approximate).fit(far, y)
        for approximate in (False, True)
    )
    assert_allclose(near.criterion_path_, exact.criterion_path_, atol=1e-6)
    Q = np.linalg.qr((M.T @ far).T)[0]
    projected = far @ Q - (far @ Q).mean(axis=0)
    values, _ = naive_discriminant(projected, projected, y, 1e-3)
    assert_allclose(exact.criterion_path_, values, atol=1e-7)


def test_centroids_that_depend_on_each_other_add_nothing():
    X = np.array([[0.0, 1], [0, 3], [2, 0], [4, 0], [1, 1], [3, 3]])
    y = [0, 0, 1, 1, 2, 2]
    with pytest.warns(FewerFeaturesWarning, match="gave 2 features, and there are more centroids"):
        assert KernelOrthogonalCentroid(kernel="linear").fit(X, y).n_components_ == 2
    with pytest.warns(FewerFeaturesWarning, match="one for each centroid"):
        KernelOrthogonalCentroid(3, kernel="linear").fit(X, y)


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_discriminant_directions_are_those_of_the_formula(kernel, balanced, few):
    X, y, new = few
    function = {"rbf": lambda A, B: rbf_kernel(A, B, gamma=GAMMA), "linear": linear_kernel}[kernel]
    model = KernelDiscriminantQR(kernel=kernel, gamma=GAMMA, balanced=balanced).fit(X, y)
    Q, Q_new = (naive_koc(function(X, X), function(A, X), y) for A in (X, new))
    values, features = naive_discriminant(Q, Q_new, y, 1e-3, balanced=balanced)
    assert_allclose(model.criterion_path_, values, atol=1e-9)
    got, expected = model.transform(new)[:, :9], features[:, :9]
    assert_allclose(got, up_to_sign(expected, got), atol=1e-6 * np.abs(got).max())


@pytest.mark.parametrize("balanced", [False, True])
@pytest.mark.parametrize("between", ["projected", "factor"])
def test_the_approximation_is_that_of_the_formula(between, balanced, few):
    X, y, new = few
    parameters = {"gamma": GAMMA, "approximate": True, "between": between, "balanced": balanced}
    model = KernelDiscriminantQR(**parameters).fit(X, y)
    means = averaging(y).T @ X
    assert_allclose(model.landmarks_, means, atol=1e-12)
    R = np.linalg.cholesky(rbf_kernel(means, gamma=GAMMA)).T
    Q, Q_new = (np.linalg.solve(R.T, rbf_kernel(means, A, gamma=GAMMA)).T for A in (X, new))
    factor = R if between == "factor" else None
    values, features = naive_discriminant(Q, Q_new, y, 1e-3, factor, balanced)
    assert_allclose(model.criterion_path_, values, atol=1e-9)
    if not balanced:
        assert (model.criterion_path_.max() > 1) == (between == "factor")
    got, expected = model.transform(new)[:, :9], features[:, :9]
    assert_allclose(got, up_to_sign(expected, got), atol=1e-6 * np.abs(got).max())


@pytest.mark.parametrize("between", ["projected", "factor"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_the_approximation_is_exact_for_a_linear_kernel(between, layout, few):
    X, y, new = few
    exact = KernelDiscriminantQR(kernel="linear").fit(X, y).transform(new)
    model = KernelDiscriminantQR(kernel="linear", approximate=True, between=between)
    assert_allclose(model.fit(layout(X), y).transform(layout(new)), exact, atol=1e-9)


def test_directions_have_unit_length_and_features_are_uncorrelated(few):
    X, y, _ = few
    model = KernelDiscriminantQR(gamma=GAMMA, regularization=1e-9).fit(X, y)
    assert_allclose(np.corrcoef(model.transform(X).T), np.eye(10), atol=1e-6)
    gram = model.projection_.T @ rbf_kernel(X, gamma=GAMMA) @ model.projection_
    assert_allclose(gram.diagonal(), 1, atol=1e-9)


def test_few_inputs_make_it_linear_discriminant_analysis():
    """Where the centroids span all inputs, projecting on their span loses nothing."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    X = rng.standard_normal((120, 3)) @ rng.standard_normal((3, 3)) + 2 * np.eye(3)[y]
    model = KernelDiscriminantQR(2, kernel="linear", regularization=1e-12).fit(X, y)
    reference = LinearDiscriminantAnalysis(solver="eigen", n_components=2).fit(X, y).transform(X)
    a, b = model.transform(X), reference
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    cosines = (a * b).sum(axis=0) / np.linalg.norm(a, axis=0) / np.linalg.norm(b, axis=0)
    assert_allclose(np.abs(cosines), 1, atol=1e-8)


def test_a_new_row_costs_a_kernel_evaluation_for_each_class(few):
    X, y, new = few
    kernel = CountingKernel()
    model = KernelDiscriminantQR(kernel=kernel, approximate=True).fit(X, y)
    # the rows against the means, the means among themselves, the diagonal in squares of 16
    assert kernel.evaluations <= len(X) * 10 + 10 * 10 + len(X) * 16 + 1
    kernel.evaluations = 0
    model.transform(new)
    assert kernel.evaluations == len(new) * 10


@pytest.mark.parametrize("method", [KernelOrthogonalCentroid, KernelDiscriminantQR])
def test_exact_centroids_evaluate_the_matrix_once(method, few):
    X, y, _ = few
    kernel = CountingKernel()
    method(kernel=kernel).fit(X, y)
    assert kernel.evaluations <= len(X) ** 2 + 1
    kernel.evaluations = 0
    fit_with({"max_memory": 0}, method(kernel=kernel), X, y)
    assert kernel.evaluations <= len(X) ** 2 + 1


def test_means_need_inputs(few):
    X, y, _ = few
    with pytest.raises(ValueError, match="means of X"):
        KernelDiscriminantQR(kernel="precomputed", approximate=True).fit(X @ X.T, y)
    with pytest.raises(AttributeError):
        KernelDiscriminantQR(approximate=True).partial_fit(X, y)


@pytest.mark.parametrize("method", [KernelOrthogonalCentroid, KernelDiscriminantQR])
def test_precomputed_kernels_equal_direct_ones(method, few):
    X, y, new = few
    direct = method(gamma=GAMMA).fit(X, y).transform(new)
    K, K_new = rbf_kernel(X, gamma=GAMMA), rbf_kernel(new, X, gamma=GAMMA)
    assert_allclose(method(kernel="precomputed").fit(K, y).transform(K_new), direct, atol=1e-8)


def test_labels_of_any_kind(few):
    X, y, new = few
    names = np.array([f"digit {label}" for label in y])
    a = KernelOrthogonalCentroid().fit(X, names)
    assert a.classes_.tolist() == sorted(set(names))
    assert_array_equal(a.transform(new), KernelOrthogonalCentroid().fit(X, y).transform(new))
    with pytest.raises(ValueError, match="continuous"):
        KernelOrthogonalCentroid().fit(X, X[:, 20] + 0.1)


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize(
    "method",
    [
        KernelOrthogonalCentroid(kernel="linear"),
        KernelDiscriminantQR(kernel="linear"),
        KernelDiscriminantQR(kernel="linear", approximate=True),
        SubspaceKernelFeatures(kernel="linear"),
        KernelOrthogonalCentroid(kernel="poly", gamma=1.0, coef0=0),
        KernelDiscriminantQR(kernel="poly", gamma=1.0, coef0=0),
        KernelDiscriminantQR(kernel="poly", gamma=1.0, coef0=0, approximate=True),
        SubspaceKernelFeatures(kernel="poly", gamma=1.0, coef0=0),
    ],
    ids=str,
)
def test_numbers_out_of_range_are_refused(method, few):
    X, y, _ = few
    with pytest.raises(KernelError, match="scale X"):
        clone(method).fit(X * 1e160, y)
    with pytest.raises(InvalidDataError, match="scale X up"):
        clone(method).fit(X * 1e-170, y)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_classes=st.integers(2, 4),
    width=st.floats(0.1, 10),
    approximate=st.booleans(),
)
def test_what_always_holds(seed, n_classes, width, approximate):
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes), rng.integers(0, n_classes, 30)]
    X = rng.standard_normal((len(y), 5)) + 0.3 * y[:, None]
    koc = KernelOrthogonalCentroid(gamma=1 / width).fit(X, y)
    projection = koc.projection_
    gram = projection.T @ rbf_kernel(koc.landmarks_, gamma=1 / width) @ projection
    assert_allclose(gram, np.eye(koc.n_components_), atol=1e-7)
    # projections shorten distances
    assert (pdist(koc.transform(X)) ** 2 <= 2 - 2 * np.exp(-(pdist(X) ** 2) / width) + 1e-7).all()
    kda = KernelDiscriminantQR(gamma=1 / width, approximate=approximate).fit(X, y)
    assert (kda.criterion_path_ <= 1 + 1e-9).all()
    assert (np.diff(kda.criterion_path_) <= 1e-9).all()
    assert kda.criterion_path_[-1] < 1e-6
