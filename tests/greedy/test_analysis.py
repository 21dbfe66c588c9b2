"""AKFA, ACKFA and SKFA against the naive algorithms, kernlab, and what must always hold."""

import json
from pathlib import Path

import numpy as np
import pytest
from configured import fit_with
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import CountingKernel
from naive_feature_analysis import naive_akfa, naive_skfa
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics.pairwise import (
    laplacian_kernel,
    linear_kernel,
    polynomial_kernel,
    rbf_kernel,
)

from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    Candidates,
    KernelFeatureExtraction,
    SparseKernelFeatureAnalysis,
)
from kernelsieve.datasets import make_noisy_circle
from kernelsieve.exceptions import FewerFeaturesWarning, InvalidParameterError, NoFeaturesError
from kernelsieve.metrics import mean_reconstruction_error

FRESH = Candidates(resample=True)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "kernlab_kfa.json").read_text())
METHODS = {
    "akfa": (AcceleratedKernelFeatureAnalysis, {}, naive_akfa),
    "ackfa": (
        AcceleratedKernelFeatureAnalysis,
        {"cutoff": 0.25},
        lambda *a, **kw: naive_akfa(*a, cutoff=0.25, **kw),
    ),
    "skfa": (SparseKernelFeatureAnalysis, {}, naive_skfa),
    "uncentered": (
        SparseKernelFeatureAnalysis,
        {"variance": "uncentered"},
        lambda *a, **kw: naive_skfa(*a, variance="uncentered", **kw),
    ),
}


def double_centred(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


@pytest.fixture(params=METHODS)
def method(request):
    return METHODS[request.param]


@pytest.fixture(params=["cancer", "digits"])
def real(request):
    X = request.getfixturevalue(request.param)[0][:300]
    return X, 0.5 / (X.shape[1] * X.var())


@pytest.mark.filterwarnings("ignore::kernelsieve.exceptions.FewerFeaturesWarning")
@pytest.mark.parametrize(("center", "max_memory"), [(False, 2**30), (True, 0)])
def test_thirty_steps_equal_the_naive_algorithm(method, center, max_memory, real, configured):
    configured(max_memory=max_memory)
    estimator, parameters, naive = method
    X, gamma = real
    model = estimator(30, gamma=gamma, center=center, candidates="all", **parameters).fit(X)
    K = rbf_kernel(X, gamma=gamma)
    expected = naive(double_centred(K) if center else K, 30)
    assert model.n_components_ == len(expected.indices) >= 20
    assert_array_equal(model.landmark_indices_[: model.n_components_], expected.indices)
    assert_allclose(model.criterion_path_, expected.scores, rtol=1e-9)
    errors = model.reconstruction_error(X, per_example=True)
    assert_allclose(errors, expected.diagonal, atol=1e-12)
    if not center:
        assert_allclose(model.projection_, expected.coefficients, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("kernel", "matrix"),
    [
        ("linear", linear_kernel),
        ("poly", lambda X: polynomial_kernel(X, degree=2, gamma=0.1, coef0=1)),
        ("laplacian", lambda X: laplacian_kernel(X, gamma=0.1)),
    ],
)
def test_other_kernels_equal_the_naive_algorithm(method, kernel, matrix, diabetes):
    estimator, parameters, naive = method
    X = diabetes[0]
    model = estimator(9, kernel=kernel, gamma=0.1, degree=2, **parameters).fit(X)
    expected = naive(matrix(X), 9)
    assert_array_equal(model.landmark_indices_, expected.indices)
    assert_allclose(model.criterion_path_, expected.scores, rtol=1e-9)


@pytest.mark.parametrize("name", GOLDEN["cases"])
def test_sparse_feature_analysis_is_that_of_kernlab(name):
    case = GOLDEN["cases"][name]
    X, values = np.array(GOLDEN["X"]), case["parameters"]
    kernel = (
        {"kernel": "rbf", "gamma": values["sigma"]}
        if case["kernel"] == "rbfdot"
        else {
            "kernel": "poly",
            "degree": values["degree"],
            "gamma": values["scale"],
            "coef0": values["offset"],
        }
    )
    indices = np.array(case["indices"])
    model = SparseKernelFeatureAnalysis(len(indices), **kernel).fit(X)
    assert_array_equal(model.landmark_indices_, indices)
    # kernlab takes the standard deviation with n - 1 below
    deviations = np.sqrt(model.criterion_path_ * len(X) / (len(X) - 1))
    assert_allclose(deviations, np.max(case["sd"], axis=1), rtol=1e-6)
    # its directions have l1 norm one, ours unit length in feature space
    ours = model.projection_ / np.abs(model.projection_).sum(axis=0)
    assert_allclose(ours.T, np.array(case["alpha"]), atol=1e-6)


def test_a_wide_kernel_agrees_with_long_double(method):
    estimator, parameters, naive = method
    X = make_noisy_circle(300, random_state=3)
    gamma = 1 / (2 * 60.0**2)  # several times the diameter: residuals fall below 1e-8 of k(x, x)
    K = np.exp(-np.longdouble(gamma) * ((X[:, None] - X[None]).astype(np.longdouble) ** 2).sum(axis=2))
    parameters = parameters | ({"cutoff": 1e-6} if "cutoff" in parameters else {})
    expected = (
        naive_akfa(K, 40, cutoff=1e-6, dtype=np.longdouble)
        if "cutoff" in parameters
        else naive(K, 40, dtype=np.longdouble)
    )
    with pytest.warns(FewerFeaturesWarning):
        model = estimator(40, gamma=gamma, **parameters).fit(X)
    assert_array_equal(model.landmark_indices_, expected.indices)
    errors = model.reconstruction_error(X, per_example=True)
    assert_allclose(errors, expected.diagonal.astype(float), atol=1e-11)


@pytest.mark.parametrize("precision", ["auto", "safe"])
def test_a_pool_of_all_rows_chooses_as_exact_selection_does(method, precision, cancer):
    estimator, parameters, _ = method
    X = cancer[0][:300]
    if "cutoff" in parameters:
        pytest.skip("on a pool points leave as candidates only")
    exact = estimator(20, gamma=0.01, candidates="all").fit(X)
    pooled = fit_with({"precision": precision}, estimator(20, gamma=0.01, candidates=X), X)
    assert_array_equal(pooled.landmark_indices_, exact.landmark_indices_)
    assert_allclose(pooled.transform(X), exact.transform(X), atol=1e-8)
    assert_allclose(pooled.criterion_path_, exact.criterion_path_, rtol=1e-7)
    assert_allclose(
        pooled.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-7, atol=1e-12
    )


def test_a_centred_pool_gives_centred_features_of_few_landmarks(cancer):
    X = cancer[0]
    model = AcceleratedKernelFeatureAnalysis(10, candidates=60, center=True, random_state=0).fit(X)
    features = model.transform(X)
    assert len(model.landmarks_) == 10
    assert_allclose(features.mean(axis=0), 0, atol=1e-12)
    # its errors are those of the images about their mean, as far as the pool can tell
    K = rbf_kernel(X, gamma=1 / (30 * X.var()))
    lengths = np.diagonal(double_centred(K))
    assert_allclose(
        model.reconstruction_error(X), mean_reconstruction_error(lengths, features), rtol=0.05
    )


def test_explained_variance_completes_the_reconstruction_error(method, cancer):
    estimator, parameters, _ = method
    X = cancer[0]
    model = estimator(12, gamma=0.01, **parameters).fit(X)
    errors = [model.reconstruction_error(X, n_components=j) for j in (1, 5, 12)]
    shares = np.cumsum(model.explained_variance_ratio_)[[0, 4, 11]]
    assert_allclose(1 - shares, errors, rtol=1e-10)  # k(x, x) is 1


def test_the_criterion_of_akfa_is_the_fall_of_the_reconstruction_error(cancer):
    X = cancer[0]
    model = AcceleratedKernelFeatureAnalysis(8, gamma=0.01).fit(X)
    errors = [1.0] + [model.reconstruction_error(X, n_components=j) for j in range(1, 9)]
    assert_allclose(-np.diff(errors), model.criterion_path_, rtol=1e-9)


def test_the_analysis_stops_when_no_point_is_left(cancer):
    X = cancer[0]
    with pytest.warns(FewerFeaturesWarning, match="cutoff"):
        model = AcceleratedKernelFeatureAnalysis(100, gamma=0.001, cutoff=0.3).fit(X)
    assert model.n_components_ < 20
    assert (model.reconstruction_error(X, per_example=True) < 0.3).all()


@pytest.mark.parametrize("resample", [False, True])
def test_a_cutoff_that_leaves_no_point_from_the_start(resample, cancer):
    with pytest.raises(NoFeaturesError, match="Lower cutoff to get more features"):
        AcceleratedKernelFeatureAnalysis(3, cutoff=10, candidates=Candidates(resample=resample)).fit(
            cancer[0][:20]
        )


def test_a_cutoff_that_leaves_no_point_of_sparse_samples_that_are_not_kept(cancer):
    few = sparse.csr_matrix(np.where(cancer[0][:40] < 0.5, 0, cancer[0][:40]))
    for samples in (few, few.toarray()):
        with pytest.raises(NoFeaturesError, match="Lower cutoff"):
            fit_with({"max_memory": 0}, AcceleratedKernelFeatureAnalysis(3, cutoff=10), samples)


@pytest.mark.filterwarnings("ignore::kernelsieve.exceptions.FewerFeaturesWarning")
def test_a_cutoff_with_fresh_candidates_stops_too(cancer):
    X = cancer[0]
    model = AcceleratedKernelFeatureAnalysis(
        100, gamma=0.001, cutoff=0.3, candidates=Candidates(569, resample=True), random_state=0
    ).fit(X)
    exact = AcceleratedKernelFeatureAnalysis(100, gamma=0.001, cutoff=0.3).fit(X)
    assert_array_equal(model.landmark_indices_, exact.landmark_indices_)  # all candidates, always
    assert_allclose(model.transform(X), exact.transform(X), atol=1e-9)


def test_fresh_candidates_are_all_of_them_where_so_many_are_asked_for(method, diabetes):
    estimator, parameters, _ = method
    X = diabetes[0]
    exact = estimator(15, gamma=0.05, candidates="all", **parameters).fit(X)
    fresh = estimator(
        15, gamma=0.05, candidates=Candidates(442, resample=True), random_state=0, **parameters
    )
    fresh.fit(X)
    assert_array_equal(fresh.landmark_indices_, exact.landmark_indices_)
    assert_allclose(fresh.transform(X), exact.transform(X), atol=1e-10)
    assert_allclose(fresh.criterion_path_, exact.criterion_path_, rtol=1e-9)
    assert_allclose(fresh.explained_variance_ratio_, exact.explained_variance_ratio_, rtol=1e-9)


def test_the_quantile_trick_draws_59(cancer):
    kernel = CountingKernel(0.01)
    X = cancer[0]
    AcceleratedKernelFeatureAnalysis(10, kernel=kernel, candidates=FRESH, random_state=0).fit(X)
    n = len(X)
    # columns of 59 candidates a step and the chosen one, and little beside: candidates against
    # landmarks, and k(z, z), which a function gives in small blocks
    assert kernel.evaluations <= 10 * 60 * n * 1.05


def test_the_quantile_trick_comes_near_the_best_choice(cancer):
    X = cancer[0]
    exact = AcceleratedKernelFeatureAnalysis(30, gamma=0.01).fit(X).reconstruction_error(X)
    errors = [
        AcceleratedKernelFeatureAnalysis(30, gamma=0.01, candidates=FRESH, random_state=seed)
        .fit(X)
        .reconstruction_error(X)
        for seed in range(5)
    ]
    assert exact <= np.mean(errors) <= 1.15 * exact


@pytest.mark.parametrize("candidates", ["all", 200])
def test_sums_over_a_sample_cost_the_sample(candidates, cancer):
    kernel = CountingKernel(0.01)
    X = cancer[0]
    n, k, m = len(X), 10, 100
    model = AcceleratedKernelFeatureAnalysis(
        k, kernel=kernel, candidates=Candidates(candidates, scored_on=m), random_state=0
    ).fit(X)
    c = n if candidates == "all" else candidates
    assert kernel.evaluations <= m * c + (c * c if c < n else n * k) + 17 * n  # and k(z, z), in blocks
    exact = AcceleratedKernelFeatureAnalysis(k, kernel=CountingKernel(0.01)).fit(X)
    assert model.reconstruction_error(X) <= 1.25 * exact.reconstruction_error(X)


def test_exact_selection_evaluates_the_matrix_once_when_it_fits(method, cancer):
    estimator, parameters, _ = method
    kernel = CountingKernel(0.01)
    X = cancer[0]
    estimator(10, kernel=kernel, **parameters).fit(X)
    assert kernel.evaluations <= len(X) ** 2 + 1


def test_a_pool_costs_one_pass(method, cancer):
    estimator, parameters, _ = method
    kernel = CountingKernel(0.01)
    X = cancer[0]
    estimator(10, kernel=kernel, candidates=50, random_state=0, **parameters).fit(X)
    assert kernel.evaluations <= len(X) * 50 + 50 * 50 + 1


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    gamma=st.floats(1e-2, 10),  # of wider ones the last choices are near ties
    center=st.booleans(),
    cutoff=st.sampled_from([0.0, 0.1]),
)
@pytest.mark.filterwarnings("ignore::kernelsieve.exceptions.FewerFeaturesWarning")
def test_what_always_holds(seed, gamma, center, cutoff):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 3))
    model = AcceleratedKernelFeatureAnalysis(8, gamma=gamma, center=center, cutoff=cutoff)
    K = rbf_kernel(X, gamma=gamma)
    if (double_centred(K) if center else K).diagonal().max() < cutoff:
        with pytest.raises(ValueError, match="No feature could be found"):
            model.fit(X)
        return
    model.fit(X)
    K = K[np.ix_(model.landmark_indices_, model.landmark_indices_)]
    C = model.projection_
    assert_allclose(C.T @ K @ C, np.eye(model.n_components_), atol=1e-7)
    errors = [model.reconstruction_error(X, n_components=j) for j in range(1, model.n_components_ + 1)]
    assert (np.diff(errors) <= 1e-12).all()
    shuffled = rng.permutation(len(X))
    again = AcceleratedKernelFeatureAnalysis(8, gamma=gamma, center=center, cutoff=cutoff)
    again.fit(X[shuffled])
    assert_allclose(again.criterion_path_, model.criterion_path_, rtol=1e-6)


def test_the_criteria_are_reachable_by_name(cancer):
    X = cancer[0]
    named = KernelFeatureExtraction("akfa", 5, gamma=0.01, center=False).fit(X)
    direct = AcceleratedKernelFeatureAnalysis(5, gamma=0.01).fit(X)
    assert_array_equal(named.landmark_indices_, direct.landmark_indices_)
    named = KernelFeatureExtraction("skfa", 5, gamma=0.01, center=False).fit(X)
    direct = SparseKernelFeatureAnalysis(5, gamma=0.01).fit(X)
    assert_array_equal(named.landmark_indices_, direct.landmark_indices_)


def test_float32_input_and_storage_choose_the_same(method, cancer):
    estimator, parameters, _ = method
    X = cancer[0]
    exact = estimator(10, gamma=0.01, **parameters).fit(X)
    rough = estimator(10, gamma=0.01, **parameters)
    fit_with({"dtype": "float32"}, rough, X.astype(np.float32))
    assert_array_equal(rough.landmark_indices_, exact.landmark_indices_)
    assert_allclose(rough.transform(X.astype(np.float32)), exact.transform(X), atol=1e-4)


def test_screening_finds_a_better_pool_than_chance():
    X = make_noisy_circle(5000, random_state=0)
    screened = AcceleratedKernelFeatureAnalysis(20, gamma=1 / 8, random_state=0).fit(X)
    chance = AcceleratedKernelFeatureAnalysis(20, gamma=1 / 8, candidates=60, random_state=0).fit(X)
    assert screened.reconstruction_error(X) < chance.reconstruction_error(X)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"cutoff": -1}, "cutoff"),
        ({"alpha": -1}, "alpha"),
    ],
)
def test_bad_parameters_are_named(parameters, match, cancer):
    with pytest.raises(ValueError, match=match):
        AcceleratedKernelFeatureAnalysis(**parameters).fit(cancer[0])


def test_an_unknown_variance_is_refused(cancer):
    with pytest.raises(ValueError, match="variance"):
        SparseKernelFeatureAnalysis(variance="robust").fit(cancer[0])


def test_a_cutoff_above_all_lengths_is_an_error(cancer):
    with pytest.raises(ValueError, match="cutoff"):
        AcceleratedKernelFeatureAnalysis(cutoff=2.0).fit(cancer[0])


def test_equal_rows_are_chosen_once(cancer):
    X = np.repeat(cancer[0][:12], 3, axis=0)
    with pytest.warns(FewerFeaturesWarning, match="linearly dependent"):
        model = AcceleratedKernelFeatureAnalysis(20).fit(X)
    assert model.n_components_ == 12
    assert len(np.unique(model.landmark_indices_ // 3)) == 12


def test_a_precomputed_kernel_needs_its_diagonal(cancer):
    X = cancer[0]
    K = rbf_kernel(X, gamma=0.01)
    model = AcceleratedKernelFeatureAnalysis(5, kernel="precomputed").fit(K)
    direct = AcceleratedKernelFeatureAnalysis(5, gamma=0.01).fit(X)
    assert_array_equal(model.landmark_indices_, direct.landmark_indices_)
    with pytest.raises(InvalidParameterError, match="diagonal"):
        model.reconstruction_error(K)
    assert_allclose(
        model.reconstruction_error(K, diagonal=np.ones(len(X))), direct.reconstruction_error(X)
    )


def naive_l1_features(K_new, K, analysis):
    """<v_i, Phi(x)> for directions v_i of which constraint (7) holds with equality."""
    unit = analysis.coefficients
    return K_new[:, analysis.indices] @ (unit / np.abs(unit).sum(axis=0))


@pytest.mark.parametrize("variance", ["centered", "uncentered"])
@pytest.mark.parametrize("candidates", ["all", "points"])
def test_directions_may_keep_expansions_of_l1_norm_1(variance, candidates, cancer):
    X = cancer[0][:200]
    pool = X if candidates == "points" else "all"
    options = {"gamma": 0.03, "variance": variance, "scaling": "l1", "candidates": pool}
    model = SparseKernelFeatureAnalysis(8, **options).fit(X)
    K, K_new = rbf_kernel(X, gamma=0.03), rbf_kernel(cancer[0][200:220], X, gamma=0.03)
    expected = naive_l1_features(K_new, K, naive_skfa(K, 8, variance=variance))
    features = model.transform(cancer[0][200:220])
    assert_allclose(features * np.sign((features * expected).sum(axis=0)), expected, atol=1e-9)
    assert_allclose(np.abs(model.projection_).sum(axis=0), 1)
    # The score of a step is the variance along the direction as it is scaled.
    on_training = model.transform(X)
    moment = on_training.var(axis=0) if variance == "centered" else (on_training**2).mean(axis=0)
    assert_allclose(model.criterion_path_, moment, rtol=1e-8)


@pytest.mark.parametrize("center", [False, True])
def test_the_scale_of_directions_changes_features_alone(center, cancer):
    X = cancer[0][:200]
    common = {"gamma": 0.03, "center": center, "fit_inverse_transform": True}
    unit = SparseKernelFeatureAnalysis(6, **common).fit(X)
    scaled = SparseKernelFeatureAnalysis(6, scaling="l1", **common).fit(X)
    assert_array_equal(unit.landmark_indices_, scaled.landmark_indices_)
    assert_allclose(unit.explained_variance_ratio_, scaled.explained_variance_ratio_)
    for k in (2, 6):
        error = scaled.reconstruction_error(X, n_components=k)
        assert error == pytest.approx(unit.reconstruction_error(X, n_components=k), rel=1e-9)
    back = unit.inverse_transform(unit.transform(X)[:, :4])
    assert_allclose(scaled.inverse_transform(scaled.transform(X)[:, :4]), back, atol=1e-9)
    features, coordinates = scaled.transform(X), unit.transform(X)
    lengths = np.linalg.norm(features, axis=0) / np.linalg.norm(coordinates, axis=0)
    assert_allclose(features, coordinates * lengths, atol=1e-9)
    assert (lengths < 1 + 1e-9).all()  # an expansion of images of length 1 is no longer than its norm


@pytest.mark.parametrize("entry", [AcceleratedKernelFeatureAnalysis, SparseKernelFeatureAnalysis])
def test_chosen_samples_have_a_name_of_their_own(entry, cancer):
    X = cancer[0][:80]
    plain = entry(4, gamma=0.02).fit(X)
    assert plain.chosen_indices_.tolist() == plain.landmark_indices_.tolist()
    centred = entry(4, gamma=0.02, center=True).fit(X)
    assert len(centred.landmark_indices_) == 80
    # symmetric deflation of the doubly centred matrix: a chosen sample leaves no residual
    K = double_centred(rbf_kernel(X, gamma=0.02))
    chosen = centred.chosen_indices_
    left = K - K[:, chosen] @ np.linalg.solve(K[np.ix_(chosen, chosen)], K[chosen])
    assert len(set(chosen)) == 4
    assert_allclose(np.diagonal(left)[chosen], 0, atol=1e-10)
    features = centred.transform(X)
    assert_allclose(features @ features.T, K - left, atol=1e-8)
    assert centred.truncate(2).chosen_indices_.tolist() == chosen[:2].tolist()
