"""What every estimator must do: scikit-learn's checks and the promises of the one model form."""

import copy
import pickle
from importlib.util import find_spec

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    BoostedLatentFeatures,
    FeatureExtraction,
    GreedyKernelFisherDiscriminant,
    KernelBoostedLatentFeatures,
    KernelBoosting,
    KernelDiscriminantQR,
    KernelFeatureExtraction,
    KernelFisherDiscriminant,
    KernelOrthogonalCentroid,
    KernelPCA,
    KernelPLS,
    OrientedKernelPCA,
    OrthogonalLoadingsKernelPLS,
    RayleighCoefficient,
    ReducedKernelOPLS,
    SparseKernelBoostedLatentFeatures,
    SparseKernelFeatureAnalysis,
    SparseKernelFisherDiscriminant,
    SparseKernelPLS,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
    SubspaceKernelFeatures,
)
from kernelsieve.kernels import RBF

# A search that is cut short to save time need not say so.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

KERNEL_ESTIMATORS = [
    SparseMaximalAlignment(6),
    SparseMaximalCovariance(6),
    SparseMaximalCovariance(6, n_nonzero=2, candidates=25, random_state=0),
    SparseMaximalAlignment(6, candidates=50, random_state=0),
    SparseMaximalAlignment(6, candidates=50, resample=True, random_state=0),
    KernelFeatureExtraction("variance", 6),
    KernelFeatureExtraction("kpca", 6),
    KernelFeatureExtraction("kpca", 6, candidates=50, random_state=0),
    KernelFeatureExtraction("kpls", 6),
    KernelFeatureExtraction("kblf", 6),
    KernelFeatureExtraction("akfa", 6),
    AcceleratedKernelFeatureAnalysis(6),
    AcceleratedKernelFeatureAnalysis(6, cutoff=0.1, center=True),
    AcceleratedKernelFeatureAnalysis(6, candidates=50, center=True, random_state=0),
    AcceleratedKernelFeatureAnalysis(6, resample=True, random_state=0),
    AcceleratedKernelFeatureAnalysis(6, sample_rows=100, random_state=0),
    SparseKernelFeatureAnalysis(6),
    SparseKernelFeatureAnalysis(6, candidates=50, variance="uncentered", random_state=0),
    KernelPCA(6),
    KernelPCA(6, candidates=50, random_state=0),
    KernelBoostedLatentFeatures(6, candidates=50, random_state=0),
    KernelBoostedLatentFeatures(6, loss="absolute"),
    KernelBoosting(6, loss="log", candidates=50, sample_rows=300, random_state=0),
    KernelBoosting(6, random_state=0),
    KernelPLS(6),
    KernelPLS(6, candidates=50, random_state=0),
    ReducedKernelOPLS(6, n_landmarks=50, random_state=0),
    KernelFisherDiscriminant(6),
    KernelFisherDiscriminant(6, candidates=50, penalty="norm", random_state=0),
    OrientedKernelPCA(6),
    OrientedKernelPCA(6, candidates=50, invariances=[(np.tanh, 0.1)], random_state=0),
    RayleighCoefficient(6),
    SparseKernelFisherDiscriminant(0.3),
    SparseKernelFisherDiscriminant(0.3, loss="huber", candidates=50, random_state=0),
    GreedyKernelFisherDiscriminant(6, stop_tol=0),
    GreedyKernelFisherDiscriminant(6, stop_tol=0, candidates=50, random_state=0),
    GreedyKernelFisherDiscriminant(6, stop_tol=0, resample=True, random_state=0),
    GreedyKernelFisherDiscriminant(6, stop_tol=0, invariances=[(np.tanh, 0.1)]),
    KernelOrthogonalCentroid(6),
    KernelOrthogonalCentroid(6, candidates=50, random_state=0),
    KernelDiscriminantQR(6),
    KernelDiscriminantQR(6, approximate=True),
    KernelDiscriminantQR(6, candidates=50, random_state=0),
    SubspaceKernelFeatures(6, max_iter=10),
    SubspaceKernelFeatures(6, max_iter=10, candidates=50, random_state=0),
    SubspaceKernelFeatures(6, max_iter=10, span="points"),
]
DISCRIMINANTS = (
    KernelFisherDiscriminant,
    SparseKernelFisherDiscriminant,
    GreedyKernelFisherDiscriminant,
)
SUBSPACES = (KernelOrthogonalCentroid, KernelDiscriminantQR, SubspaceKernelFeatures)
PRIMAL_ESTIMATORS = [FeatureExtraction(name, 6) for name in ("alignment", "pca", "pls", "blf")]
PRIMAL_ESTIMATORS += [BoostedLatentFeatures(6, loss="absolute")]
ESTIMATORS = KERNEL_ESTIMATORS + PRIMAL_ESTIMATORS


def name_of(estimator):
    return repr(estimator).replace(" ", "")


def excused_discriminant(estimator):
    expected = {}
    if estimator.kernel == "precomputed":
        expected["check_classifiers_one_label_sample_weights"] = "the matrix of the check is no kernel"
        if isinstance(estimator, KernelFisherDiscriminant):
            expected["check_class_weight_classifiers"] = (
                "the new rows of the check are unlike all training rows, and the same for every class"
            )
    weights = None
    if isinstance(estimator.candidates, int):
        weights = "a random pool is another one when rows are repeated"
    if weights:
        for kind in ("dense", "sparse"):
            expected[f"check_sample_weight_equivalence_on_{kind}_data"] = weights
    return expected


def excused(estimator):
    """Checks that cannot be passed, most of them because candidates are drawn at random, and why."""
    if isinstance(estimator, DISCRIMINANTS):
        return excused_discriminant(estimator)
    if isinstance(estimator, KernelBoosting) and estimator.kernel == "precomputed":
        return {"check_fit2d_1feature": "one positive input cannot tell the labels apart"}
    drawn = isinstance(getattr(estimator, "candidates", None), int)
    if isinstance(estimator, SparseKernelPLS):
        weights = "of equal residuals the first rows are chosen, and these are others when shuffled"
    elif drawn or isinstance(estimator, ReducedKernelOPLS):
        weights = "a random pool is another one when rows are repeated"
    else:
        return {}
    expected = {
        f"check_sample_weight_equivalence_on_{kind}_data": weights for kind in ("dense", "sparse")
    }
    return expected


@parametrize_with_checks(
    [
        SparseMaximalAlignment(),
        SparseMaximalAlignment(kernel="chi2"),
        SparseMaximalAlignment(kernel="laplacian"),
        SparseMaximalCovariance(),
        SparseMaximalAlignment(candidates=10),
        SparseMaximalAlignment(candidates=10, resample=True),
        SparseMaximalAlignment(kernel="precomputed"),
        SparseMaximalCovariance(2, n_nonzero=2),
        KernelFeatureExtraction("kpca"),
        KernelFeatureExtraction("kpls"),
        FeatureExtraction("pls"),
        FeatureExtraction("alignment"),
        AcceleratedKernelFeatureAnalysis(),
        AcceleratedKernelFeatureAnalysis(3, center=True),
        AcceleratedKernelFeatureAnalysis(candidates=10),
        AcceleratedKernelFeatureAnalysis(resample=True, candidates=10),
        AcceleratedKernelFeatureAnalysis(kernel="precomputed"),
        SparseKernelFeatureAnalysis(),
        SparseKernelFeatureAnalysis(variance="uncentered"),
        KernelPCA(),
        KernelPCA(candidates=10),
        KernelPCA(kernel="precomputed"),
        BoostedLatentFeatures(),
        BoostedLatentFeatures(loss="exponential", target="classes"),
        KernelBoostedLatentFeatures(),
        KernelBoostedLatentFeatures(4, loss="logistic", target="classes"),
        KernelBoosting(5, loss="log", candidates=10),
        KernelBoosting(8),  # in a hundred steps on ten rows rounding grows to the size of features
        KernelBoosting(8, kernel="precomputed"),
        KernelFeatureExtraction("kblf"),
        KernelPLS(),
        KernelPLS(candidates=10),
        KernelPLS(target="classes"),
        KernelPLS(target="continuous"),
        OrthogonalLoadingsKernelPLS(),
        ReducedKernelOPLS(),
        ReducedKernelOPLS(kernel="precomputed", n_landmarks=10),
        ReducedKernelOPLS(n_landmarks=10),
        KernelFisherDiscriminant(),
        KernelFisherDiscriminant(candidates=10),
        KernelFisherDiscriminant(kernel="precomputed"),
        KernelFisherDiscriminant(multi_class="ovr"),
        KernelFisherDiscriminant(penalty="norm"),
        SparseKernelFisherDiscriminant(),
        SparseKernelFisherDiscriminant(loss="huber", delta=0.5),
        SparseKernelFisherDiscriminant(candidates=10, threshold="intercept"),
        SparseKernelFisherDiscriminant(kernel="precomputed"),
        *(
            SparseKernelFisherDiscriminant(loss=loss)
            for loss in ("absolute", "epsilon_insensitive")
            if find_spec("highspy")
        ),
        GreedyKernelFisherDiscriminant(),
        GreedyKernelFisherDiscriminant(candidates=10),
        GreedyKernelFisherDiscriminant(resample=True),
        GreedyKernelFisherDiscriminant(kernel="precomputed"),
        GreedyKernelFisherDiscriminant(invariances=[(np.tanh, 0.1)], virtual_candidates=True),
        OrientedKernelPCA(),
        OrientedKernelPCA(candidates=10, invariances=[(np.tanh, 0.1)]),
        RayleighCoefficient(),
        SparseKernelBoostedLatentFeatures(loss="squared", target="continuous"),
        SparseKernelBoostedLatentFeatures(random_state=0),
        SparseKernelPLS(),
        SparseKernelPLS(5, selection="exact", nu=0.5),
        KernelOrthogonalCentroid(),
        KernelOrthogonalCentroid(candidates=10),
        KernelOrthogonalCentroid(kernel="linear"),
        KernelOrthogonalCentroid(kernel="precomputed"),
        KernelDiscriminantQR(),
        KernelDiscriminantQR(approximate=True),
        KernelDiscriminantQR(candidates=10),
        KernelDiscriminantQR(kernel="precomputed"),
        SubspaceKernelFeatures(),
        SubspaceKernelFeatures(kernel="linear", max_iter=20),  # rounding grows with every iteration
        SubspaceKernelFeatures(candidates=10),
        SubspaceKernelFeatures(span="points"),
        SubspaceKernelFeatures(kernel="precomputed"),
    ],
    expected_failed_checks=excused,
)
@pytest.mark.filterwarnings("ignore::kernelsieve.exceptions.FewerFeaturesWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def target_of(estimator, X, y):
    """Return the target, or what a method needs instead of it to give six features."""
    if isinstance(estimator, ReducedKernelOPLS):
        return np.column_stack([y / y.std(), X[:, :5] ** 2])
    if isinstance(estimator, KernelBoosting):
        return np.digitize(y, np.quantile(y, [0.3, 0.6]))
    if isinstance(estimator, KernelFisherDiscriminant):
        return np.digitize(y, np.quantile(y, np.arange(1, 7) / 7))
    if isinstance(estimator, DISCRIMINANTS):
        return np.digitize(y, np.quantile(y, np.arange(1, 6) / 6))
    if isinstance(estimator, SUBSPACES):
        return np.digitize(y, np.quantile(y, [0.1, 0.3, 0.5, 0.7, 0.9]))
    return y


@pytest.fixture(params=ESTIMATORS, ids=name_of)
def fitted(request, diabetes):
    X, y = diabetes
    return clone(request.param).fit(X, target_of(request.param, X, y))


def test_features_are_kernel_times_projection_minus_offset(fitted, diabetes):
    X, _ = diabetes
    if isinstance(fitted, FeatureExtraction | BoostedLatentFeatures):
        values = X[:, fitted.landmarks_]
    else:
        values = rbf_kernel(X, fitted.landmarks_, gamma=1 / (X.shape[1] * X.var()))
    assert fitted.projection_.shape == (len(fitted.landmarks_), fitted.n_components_)
    assert fitted.offset_.shape == (fitted.n_components_,)
    assert_allclose(fitted.transform(X), values @ fitted.projection_ - fitted.offset_, atol=1e-8)


def test_prefixes_truncation_and_projector_agree(fitted, diabetes):
    X, _ = diabetes
    everything = fitted.transform(X)
    short = fitted.truncate(3)
    assert fitted.n_components_ == everything.shape[1] == 6
    assert short.n_components_ == 3
    assert len(short.landmarks_) <= len(fitted.landmarks_)
    assert len(short.criterion_path_) == len(short.explained_target_ratio_) == 3
    for features in (
        fitted.transform(X, n_components=3),
        short.transform(X),
        short.projector()(X),
        fitted.projector(3)(X),
    ):
        assert_allclose(features, everything[:, :3], atol=1e-9)
    assert_allclose(fitted.projector()(X[5]), everything[5], atol=1e-9)


def test_kernel_evaluations_are_the_landmarks_of_every_prefix(fitted):
    expected = [len(fitted.truncate(k).landmarks_) for k in range(1, 7)]
    assert_array_equal(fitted.kernel_evaluations_, expected)


def test_features_are_orthogonal_and_centred(fitted, diabetes):
    if isinstance(fitted, KernelBoosting | KernelDiscriminantQR):
        pytest.skip("features are those of a sum of kernels, or discriminants, and neither")
    if isinstance(fitted, SparseKernelFisherDiscriminant):
        pytest.skip("each class has a feature of its own")
    if isinstance(fitted, DISCRIMINANTS):
        pytest.skip("features are uncorrelated in the sum of scatter within classes and penalty")
    if fitted._make_criterion().deflation.symmetric:
        pytest.skip("directions are orthogonal, not features: the next test")
    features = fitted.transform(diabetes[0])
    gram = features.T @ features
    norms = np.sqrt(np.diagonal(gram))
    assert_allclose(gram / np.outer(norms, norms), np.eye(6), atol=1e-10)
    assert_allclose(features.mean(axis=0) / norms, 0, atol=1e-12)


def test_directions_are_orthonormal_in_feature_space(fitted):
    if not fitted._make_criterion().deflation.symmetric:
        pytest.skip("features are orthogonal, not directions: the test before")
    model = fitted._current_fit().model
    gram = model.kernel.block(model.landmarks, model.landmarks)
    assert_allclose(fitted.projection_.T @ gram @ fitted.projection_, np.eye(6), atol=1e-10)


def test_explained_shares_are_shares(fitted):
    for ratio in (fitted.explained_variance_ratio_, fitted.explained_target_ratio_):
        assert ratio.shape == (6,)
        assert (ratio >= 0).all()
        assert ratio.sum() <= 1 + 1e-12


def test_pickles_and_copies_are_the_same_model(fitted, diabetes):
    X, _ = diabetes
    for twin in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        assert_array_equal(twin.transform(X), fitted.transform(X))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_in_and_out(fitted, library, diabetes):
    frames = pytest.importorskip(library)
    X, y = diabetes[0], target_of(fitted, *diabetes)
    names = [f"input{i}" for i in range(X.shape[1])]
    frame = (
        frames.DataFrame(X, columns=names) if library == "pandas" else frames.DataFrame(X, schema=names)
    )
    model = clone(fitted).set_output(transform=library).fit(frame, y)
    assert model.feature_names_in_.tolist() == names
    prefix = type(model).__name__.lower()
    for features, k in ((model.transform(frame), 6), (model.transform(frame, n_components=2), 2)):
        assert isinstance(features, frames.DataFrame)
        assert list(features.columns) == [f"{prefix}{i}" for i in range(k)]
    assert_allclose(np.asarray(model.transform(frame)), fitted.transform(X), atol=1e-8)


def test_a_fit_is_repeatable(fitted, diabetes):
    X, y = diabetes[0], target_of(fitted, *diabetes)
    again = clone(fitted).fit(X, y)
    assert_array_equal(again.transform(X), fitted.transform(X))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=name_of)
def test_whole_weights_are_repeated_rows(estimator, diabetes, rng):
    X, y = diabetes[0][:120], target_of(estimator, *diabetes)[:120]
    drawn = {"resample": False, "sample_rows": None}
    parameters = estimator.get_params()
    if "n_landmarks" in parameters:
        estimator = clone(estimator).set_params(n_landmarks=X[:30])
    elif any(parameters.get(name) for name in drawn) or not isinstance(
        parameters.get("candidates", ""), str
    ):
        drawn = {name: value for name, value in drawn.items() if name in parameters}
        estimator = clone(estimator).set_params(candidates=X[:30], **drawn)
    weight = rng.integers(1, 4, size=len(X))
    repeated = np.repeat(np.arange(len(X)), weight)
    a = clone(estimator).fit(X, y, sample_weight=weight)
    b = clone(estimator).fit(X[repeated], y[repeated])
    assert_allclose(np.abs(a.transform(X)), np.abs(b.transform(X)), atol=1e-7)
    assert_allclose(a.explained_variance_ratio_, b.explained_variance_ratio_, rtol=1e-6)


def test_weights_are_routed_through_pipelines(diabetes):
    X, y = diabetes
    weight = np.linspace(0.5, 2, len(X))
    with config_context(enable_metadata_routing=True):
        sieve = SparseMaximalAlignment(5).set_fit_request(sample_weight=True)
        head = Ridge().set_fit_request(sample_weight=True)
        model = make_pipeline(sieve, head).fit(X, y, sample_weight=weight)
    direct = SparseMaximalAlignment(5).fit(X, y, sample_weight=weight)
    assert_allclose(model[0].transform(X), direct.transform(X))


def test_parameters_are_searched_by_scikit_learn(cancer):
    X, y = cancer
    model = make_pipeline(SparseMaximalAlignment(5), LogisticRegression())
    grid = {
        "sparsemaximalalignment__n_components": [2, 8],
        "sparsemaximalalignment__gamma": [0.01, 0.1],
    }
    assert GridSearchCV(model, grid, cv=3).fit(X, y).best_score_ > 0.9


@pytest.mark.parametrize("method", [SparseMaximalAlignment, SparseMaximalCovariance])
def test_precomputed_kernels_equal_direct_ones(method, diabetes):
    X, y = diabetes
    K = rbf_kernel(X, gamma=0.1)
    new = rbf_kernel(X[:50] + 0.1, X, gamma=0.1)
    exact = method(8, gamma=0.1).fit(X, y)
    expected = exact.transform(X[:50] + 0.1)
    whole = method(8, kernel="precomputed").fit(K, y)
    assert_array_equal(whole.landmark_indices_, exact.landmark_indices_)
    assert_allclose(whole.transform(new), expected, atol=1e-8)
    assert_allclose(whole.transform(new[:, whole.landmarks_]), expected, atol=1e-8)
    rows = np.arange(0, 400, 10)
    pooled = method(8, gamma=0.1, candidates=X[rows]).fit(X, y)
    for matrix, test in ((K, new), (K[:, rows], new[:, rows])):
        columns = method(8, kernel="precomputed", candidates=rows).fit(matrix, y)
        assert_array_equal(columns.landmark_indices_, rows[pooled.landmark_indices_])
        assert_allclose(columns.transform(test), pooled.transform(X[:50] + 0.1), atol=1e-8)


def test_precomputed_kernels_with_rows_of_no_weight(diabetes):
    X, y = diabetes[0][:80], diabetes[1][:80]
    weight = np.arange(80) % 3
    kept = np.flatnonzero(weight)
    K = rbf_kernel(X, gamma=0.1)
    a = SparseMaximalAlignment(5, kernel="precomputed").fit(K, y, sample_weight=weight)
    b = SparseMaximalAlignment(5, gamma=0.1).fit(X[kept], y[kept], sample_weight=weight[kept])
    assert_array_equal(a.landmark_indices_, kept[b.landmark_indices_])
    assert_allclose(a.transform(K), b.transform(X), atol=1e-8)


@pytest.mark.parametrize(
    "kernel", [lambda X, Z: X @ Z.T, lambda x, z: float(x @ z)], ids=["block", "pair"]
)
def test_kernel_callables_equal_named_kernels(kernel, diabetes):
    X, y = diabetes[0][:100], diabetes[1][:100]
    a = SparseMaximalCovariance(5, kernel=kernel).fit(X, y)
    b = SparseMaximalCovariance(5, kernel="linear").fit(X, y)
    assert_array_equal(a.landmark_indices_, b.landmark_indices_)
    assert_allclose(a.transform(X), b.transform(X), atol=1e-8)


def test_partial_fit_goes_on_after_use(diabetes):
    X, y = diabetes
    model = SparseMaximalAlignment(5, candidates=X[:50], gamma=0.1).partial_fit(X[:200], y[:200])
    halfway = model.transform(X)
    model.partial_fit(X[200:], y[200:])
    whole = SparseMaximalAlignment(5, candidates=X[:50], gamma=0.1).fit(X, y)
    assert_allclose(model.transform(X), whole.transform(X), atol=1e-8)
    assert np.abs(halfway - model.transform(X)).max() > 1e-3
    twin = pickle.loads(pickle.dumps(model)).partial_fit(X[:10], y[:10])
    assert twin.n_components_ == 5


def test_fit_forgets_the_pieces_before(diabetes):
    X, y = diabetes
    model = SparseMaximalAlignment(5, candidates=X[:50], gamma=0.1).partial_fit(X[:200], y[:200])
    model.fit(X, y)
    whole = SparseMaximalAlignment(5, candidates=X[:50], gamma=0.1).fit(X, y)
    assert_array_equal(model.transform(X), whole.transform(X))


def test_labels_in_pieces(cancer):
    X, y = cancer
    order = np.argsort(y, kind="stable")  # the first pieces have one class only
    labels = np.array(["b", "m"])[y]
    model = SparseMaximalAlignment(5, candidates=X[:60], gamma=0.03)
    for start in range(0, len(X), 100):
        rows = order[start : start + 100]
        model.partial_fit(X[rows], labels[rows], classes=["b", "m"])
    whole = SparseMaximalAlignment(5, candidates=X[:60], gamma=0.03).fit(X, labels)
    assert model.classes_.tolist() == ["b", "m"]
    assert_allclose(model.transform(X), whole.transform(X), atol=1e-8)


def test_verbose_says_what_is_done(cancer, capsys):
    X, y = cancer
    SparseMaximalAlignment(3, candidates=50, verbose=1).fit(X, y)
    assert "50 candidates" in capsys.readouterr().out


def test_rows_of_no_weight_in_a_given_pool_of_a_loss(cancer):
    X, y = cancer
    weight = (np.arange(len(X)) % 4).astype(float)
    kept = np.flatnonzero(weight)
    model = KernelFeatureExtraction("kblf", 3, gamma=0.03, candidates=X[:40], target="continuous")
    a = clone(model).fit(X, y, sample_weight=weight).transform(X)
    b = clone(model).fit(X[kept], y[kept], sample_weight=weight[kept]).transform(X)
    assert_allclose(a, b, atol=1e-8)


def test_precomputed_values_in_every_accepted_width(diabetes):
    X, y = diabetes
    K = rbf_kernel(X, gamma=0.1)
    model = SparseMaximalAlignment(5, kernel="precomputed").fit(K, y)
    landmarks = K[:, model.landmark_indices_]
    whole = model.transform(K)
    assert_allclose(model.transform(landmarks), whole)
    assert_allclose(model.projector()(landmarks), whole)
    assert_allclose(model.projector()(K), whole)
    for values in (K, landmarks, landmarks[:, :3]):
        assert_allclose(model.transform(values, n_components=3), whole[:, :3])


def test_precomputed_values_of_all_rows_are_in_the_order_of_training(diabetes):
    """As many landmarks as columns: the columns are still those of the training matrix."""
    X, y = diabetes[0][:20], diabetes[1][:20]
    K = rbf_kernel(X, gamma=0.1)
    direct = SparseMaximalAlignment(20, gamma=0.1, center=False).fit(X, y)
    model = SparseMaximalAlignment(20, kernel="precomputed", center=False).fit(K, y)
    assert_allclose(model.transform(K), direct.transform(X), atol=1e-6)
    order = np.random.default_rng(0).permutation(20)
    permuted = SparseMaximalAlignment(5, kernel="precomputed", candidates=order).fit(K, y)
    expected = SparseMaximalAlignment(5, gamma=0.1, candidates=X[order]).fit(X, y)
    assert_array_equal(permuted.landmark_indices_, order[expected.landmark_indices_])
    assert_allclose(permuted.explained_variance_ratio_, expected.explained_variance_ratio_)


@pytest.mark.parametrize("pool", ["random", "screen", "kmeans", "rpcholesky"])
def test_precomputed_kernels_with_a_drawn_pool(pool, diabetes):
    X, y = diabetes
    K = rbf_kernel(X, gamma=0.1)
    parameters = {"candidates": 50, "pool": pool, "random_state": 0}
    model = SparseMaximalCovariance(5, kernel="precomputed", **parameters).fit(K, y)
    assert_array_equal(model.landmarks_, model.landmark_indices_)
    if pool != "kmeans":  # which clusters the rows of K themselves
        direct = SparseMaximalCovariance(5, gamma=0.1, **parameters).fit(X, y)
        assert_array_equal(model.landmark_indices_, direct.landmark_indices_)
        assert_allclose(model.transform(K), direct.transform(X), atol=1e-8)


@pytest.mark.parametrize("method", [SparseMaximalAlignment, SparseMaximalCovariance])
def test_explained_variance_is_one_number_for_all_ways_to_fit(method, diabetes):
    X, y = diabetes
    exact = method(6, gamma=0.1).fit(X, y).explained_variance_ratio_
    for parameters in (
        {"candidates": X},
        {"candidates": len(X), "resample": True},
        {"candidates": "all", "max_memory": 0},
    ):
        other = method(6, gamma=0.1, **parameters).fit(X, y).explained_variance_ratio_
        assert_allclose(other, exact, rtol=1e-6)
    pool = X[:100]
    long = method(20, gamma=0.1, candidates=pool).fit(X, y).explained_variance_ratio_
    assert_allclose(method(3, gamma=0.1, candidates=pool).fit(X, y).explained_variance_ratio_, long[:3])


@pytest.mark.parametrize("gamma", [1e8, 1e17])
def test_a_narrow_kernel_keeps_its_ones(gamma, diabetes):
    """Norms cancel to a small distance of either sign, which must not be amplified by a large gamma."""
    X, y = diabetes
    K = RBF(gamma).block(X, X)
    assert_allclose(np.diagonal(K), 1)
    features = SparseMaximalAlignment(5, gamma=gamma).fit(X, y).transform(X)
    assert_allclose(features.T @ features / len(X), np.eye(5), atol=1e-10)


def test_kernel_objects_are_kernels(diabetes):
    X, y = diabetes
    a = SparseMaximalAlignment(4, kernel=RBF(0.1)).fit(X, y)
    assert_array_equal(a.transform(X), SparseMaximalAlignment(4, gamma=0.1).fit(X, y).transform(X))


def test_labels_of_an_earlier_fit_are_forgotten(cancer):
    X, y = cancer
    model = SparseMaximalAlignment(3).fit(X, y)
    assert model.classes_.tolist() == [0, 1]
    assert not hasattr(model.fit(X, X[:, 0]), "classes_")


def test_a_shorter_copy_does_not_share_the_rows_to_come(diabetes):
    X, y = diabetes
    model = SparseMaximalAlignment(4, candidates=X[:50], gamma=0.1).partial_fit(X[:200], y[:200])
    before = model.transform(X)
    model.truncate(2).partial_fit(X[200:], y[200:])
    twin = SparseMaximalAlignment(4, candidates=X[:50], gamma=0.1).partial_fit(X[:200], y[:200])
    assert_array_equal(model.transform(X), before)
    assert_allclose(
        model.partial_fit(X[:9], y[:9]).transform(X), twin.partial_fit(X[:9], y[:9]).transform(X)
    )


def test_triples_are_searched_in_a_pool_of_their_own_size(cancer):
    X, y = cancer
    model = SparseMaximalAlignment(1, n_nonzero=3, random_state=0).fit(X, y)
    assert len(model.landmarks_) == 3
    with pytest.raises(ValueError, match="subsets"):
        SparseMaximalAlignment(1, n_nonzero=3, candidates="all").fit(X, y)


def test_pieces_of_no_weight_add_nothing(diabetes):
    X, y = diabetes
    model = SparseMaximalAlignment(4, candidates=X[:50], gamma=0.1)
    weight = (np.arange(len(X)) % 2).astype(float)
    for row in range(len(X)):
        model.partial_fit(X[[row]], y[[row]], sample_weight=weight[[row]])
    kept = weight > 0
    whole = SparseMaximalAlignment(4, candidates=X[:50], gamma=0.1).fit(X[kept], y[kept])
    assert_allclose(model.transform(X), whole.transform(X), atol=1e-8)


def test_boosted_features_of_two_labels(cancer):
    X, y = cancer
    labels = KernelFeatureExtraction("kblf", 3).fit(X, y)
    numbers = KernelFeatureExtraction("kblf", 3).fit(X, y.astype(float))
    assert_allclose(labels.transform(X), numbers.transform(X), atol=1e-8)
