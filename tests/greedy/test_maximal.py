"""SMA and SMC do what the paper says: checked against its formulas and against scikit-learn."""

import warnings
from functools import partial

import numpy as np
import pytest
from configured import fit_with
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import algorithm_2, formula_4, up_to_sign
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist
from sklearn.linear_model import LinearRegression
from sklearn.metrics.pairwise import pairwise_kernels

from kernelsieve import Candidates, SparseMaximalAlignment, SparseMaximalCovariance
from kernelsieve.exceptions import FewerFeaturesWarning

METHODS = {
    "alignment": partial(SparseMaximalAlignment, scale="unit_variance"),  # as the paper has it
    "covariance": SparseMaximalCovariance,
}
KERNELS = {
    "rbf": {"gamma": 1 / 30},
    "laplacian": {"gamma": 1 / 30},
    "poly": {"gamma": 1 / 30, "degree": 3, "coef0": 1.0},
    "cosine": {},
    "chi2": {"gamma": 0.5},
}


def indicators(y, center):
    """Return a column a class; without centring, two classes are -1 and +1."""
    labels = np.unique(y)
    return (
        (y[:, None] == labels).astype(float) if center or len(labels) > 2 else np.sign(y[:, None] - 0.5)
    )


def data_for(kernel, cancer, digits):
    X, y = digits if kernel == "chi2" else cancer
    return X[:400], y[:400]


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("criterion", METHODS)
def test_fifty_choices_equal_algorithm_2(criterion, kernel, center, cancer, digits):
    X, y = data_for(kernel, cancer, digits)
    # The cosine of 30 inputs has rank 30: more choices than that do not exist.
    k = 25 if kernel == "cosine" else 50
    K = pairwise_kernels(X, metric=kernel, **KERNELS[kernel])
    Y = indicators(y, center)
    indices, _, features = algorithm_2(K, Y, k, criterion, center)
    model = METHODS[criterion](
        k, kernel=kernel, center=center, candidates="all", tol=1e-20, **KERNELS[kernel]
    ).fit(X, y)
    assert model.landmark_indices_.tolist() == indices
    scale = np.sqrt(len(X)) if criterion == "alignment" else 1.0
    found = model.transform(X)
    assert_allclose(found, up_to_sign(features, found) * scale, atol=1e-8 * scale)


@pytest.mark.parametrize("criterion", METHODS)
@pytest.mark.parametrize("targets", [1, 3])
def test_choices_equal_algorithm_2_for_continuous_targets(criterion, targets, diabetes):
    X, y = diabetes
    Y = np.column_stack([y, X[:, 0] ** 2, np.sin(X[:, 2])])[:, :targets]
    K = pairwise_kernels(X, metric="rbf", gamma=0.1)
    indices = algorithm_2(K, Y, 50, criterion, True)[0]
    for candidates in ("all", X):
        model = METHODS[criterion](50, gamma=0.1, candidates=candidates).fit(X, Y)
        assert model.landmark_indices_.tolist() == indices


@pytest.mark.parametrize("candidates", ["all", "pool", "resample", "recomputed"])
@pytest.mark.parametrize("criterion", METHODS)
def test_every_way_to_fit_gives_the_same_model(criterion, candidates, cancer):
    X, y = cancer
    parameters = {
        "all": {"candidates": "all"},
        "pool": {"candidates": X},
        "resample": {"candidates": Candidates(len(X), resample=True), "random_state": 0},
        "recomputed": {"candidates": "all"},
    }[candidates]
    exact = METHODS[criterion](30, gamma=0.03, candidates="all").fit(X, y)
    config = {"max_memory": 0} if candidates == "recomputed" else {}
    model = fit_with(config, METHODS[criterion](30, gamma=0.03, **parameters), X, y)
    assert_array_equal(model.landmark_indices_, exact.landmark_indices_)
    assert_allclose(model.transform(X), exact.transform(X), atol=1e-8)
    assert_allclose(model.criterion_path_, exact.criterion_path_, rtol=1e-8)
    assert_allclose(model.explained_target_ratio_, exact.explained_target_ratio_, rtol=1e-8)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("criterion", METHODS)
def test_transform_of_new_rows_equals_formula_4(criterion, center, cancer):
    X, y = cancer
    train, new = X[:400], X[400:]
    K = pairwise_kernels(train, metric="rbf", gamma=0.03)
    K_new = pairwise_kernels(new, train, metric="rbf", gamma=0.03)
    Y = indicators(y[:400], center)
    _, dual, features = algorithm_2(K, Y, 40, criterion, center)
    expected = formula_4(K_new, K, dual, features, center)
    for candidates in ("all", train):
        model = METHODS[criterion](40, gamma=0.03, center=center, candidates=candidates)
        found = model.fit(train, y[:400]).transform(new)
        scale = np.sqrt(400) if criterion == "alignment" else 1.0
        assert_allclose(found, up_to_sign(expected, found) * scale, atol=1e-8 * scale)


@pytest.mark.parametrize("criterion", METHODS)
@pytest.mark.parametrize("candidates", ["all", 200])
def test_features_are_orthogonal_on_the_training_sample(criterion, candidates, cancer):
    X, y = cancer
    model = METHODS[criterion](60, gamma=0.03, candidates=candidates, random_state=0).fit(X, y)
    features = model.transform(X)
    gram = features.T @ features
    norms = np.sqrt(np.diagonal(gram))
    assert_allclose(gram / np.outer(norms, norms), np.eye(60), atol=1e-10)
    assert_allclose(features.mean(axis=0), 0, atol=1e-10)


def off_orthogonal(features: np.ndarray) -> float:
    gram = features.T @ features
    norms = np.sqrt(np.diagonal(gram))
    return float(np.abs(gram / np.outer(norms, norms) - np.eye(len(gram))).max())


WIDTHS = [0.3, *(pytest.param(width, marks=pytest.mark.slow) for width in (1, 3, 10)), 30, 100]


@pytest.mark.parametrize("width", WIDTHS)  # in median distances
@pytest.mark.parametrize("n_inputs", [1, 3, 30])
@pytest.mark.parametrize(
    "options",
    [
        {"candidates": "all"},
        {"candidates": 150},
        {"candidates": Candidates(100, resample=True)},
        {"candidates": 60, "n_nonzero": 2},
        {"candidates": "all", "center": False},
    ],
    ids=str,
)
def test_features_are_orthogonal_whatever_the_width(options, n_inputs, width, rng):
    X = rng.standard_normal((300, n_inputs))
    y = np.sin(2 * X[:, 0]) + X[:, -1] ** 2
    gamma = 1 / (2 * (width * np.median(pdist(X))) ** 2)
    for method in METHODS.values():
        model = method(50, gamma=gamma, random_state=0, tol=1e-20, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewerFeaturesWarning)
            features = model.fit(X, y).transform(X)
        assert off_orthogonal(features) <= 1e-10
        if model.center:
            assert np.abs(features.mean(axis=0) / features.std(axis=0)).max() <= 1e-10


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "sigmoid", "linear", "cosine"])
@pytest.mark.parametrize("gamma", [1e-5, 1e-3, "scale", "median"])
def test_features_of_real_data_are_orthogonal_whatever_the_kernel(kernel, gamma, cancer):
    X, y = cancer
    for candidates in ("all", 200):
        model = METHODS["alignment"](
            50, kernel=kernel, gamma=gamma, candidates=candidates, random_state=0
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewerFeaturesWarning)
            features = model.fit(X, y).transform(X)
        assert off_orthogonal(features) <= 1e-10
        some = model.transform(X, n_components=max(1, model.n_components_ - 3))
        assert_array_equal(some, features[:, : some.shape[1]])


def test_alignment_features_have_unit_mean_square(cancer):
    X, y = cancer
    features = SparseMaximalAlignment(10, scale="unit_variance").fit(X, y).transform(X)
    assert_allclose((features**2).mean(axis=0), 1)


def test_covariance_features_are_coordinates_along_unit_directions(cancer):
    X, y = cancer
    model = SparseMaximalCovariance(10, gamma=0.03).fit(X, y)
    W = pairwise_kernels(model.landmarks_, metric="rbf", gamma=0.03)
    # The direction of feature j is the j-th landmark's image minus multiples of the deflated ones
    # before; on the undeflated images the first direction is a single one of unit length.
    first = model.projection_[:, 0]
    assert_allclose(first @ W @ first, 1)


def test_sma_is_forward_orthogonal_least_squares(diabetes):
    X, y = diabetes
    K = pairwise_kernels(X, metric="rbf", gamma=0.1)
    chosen = []
    for _ in range(8):
        errors = np.full(len(X), np.inf)
        for j in set(range(len(X))) - set(chosen):
            design = np.column_stack([np.ones(len(X)), K[:, [*chosen, j]]])
            residual = y - design @ np.linalg.lstsq(design, y)[0]
            errors[j] = residual @ residual
        chosen.append(int(np.argmin(errors)))
    model = SparseMaximalAlignment(8, gamma=0.1).fit(X, y)
    assert model.landmark_indices_.tolist() == chosen


def test_cumulative_alignment_is_r2_of_least_squares(diabetes):
    X, y = diabetes
    model = SparseMaximalAlignment(20, gamma=0.1).fit(X, y)
    for k, alignment in enumerate(np.cumsum(model.criterion_path_), start=1):
        features = model.transform(X, n_components=k)
        assert_allclose(LinearRegression().fit(features, y).score(features, y), alignment)


def test_all_directions_and_least_squares_are_kernel_least_squares(diabetes):
    X, y = diabetes[0][:60], diabetes[1][:60]
    model = SparseMaximalAlignment(60, gamma=1.0, center=False).fit(X, y)
    features = model.transform(X)
    fitted = LinearRegression(fit_intercept=False).fit(features, y)
    K = pairwise_kernels(X, metric="rbf", gamma=1.0)
    new = diabetes[0][60:80]
    expected = pairwise_kernels(new, X, metric="rbf", gamma=1.0) @ np.linalg.solve(K, y)
    assert_allclose(fitted.predict(model.transform(new)), expected, rtol=1e-6)


@pytest.mark.parametrize("criterion", METHODS)
@pytest.mark.parametrize("candidates", ["all", "pool"])
def test_whole_weights_are_repeated_rows(criterion, candidates, diabetes, rng):
    X, y = diabetes[0][:150], diabetes[1][:150]
    weight = rng.integers(0, 4, size=len(X))
    given = {"all": "all", "pool": X[:80]}[candidates]
    repeated = np.repeat(np.arange(len(X)), weight)
    method = METHODS[criterion]
    weighted = method(20, candidates=given).fit(X, y, sample_weight=weight)
    by_rows = method(20, candidates=given).fit(X[repeated], y[repeated])
    assert_allclose(weighted.landmarks_, by_rows.landmarks_)
    assert_allclose(weighted.transform(X), by_rows.transform(X), atol=1e-8)
    assert_allclose(weighted.explained_variance_ratio_, by_rows.explained_variance_ratio_)
    if candidates == "all":  # numbers are those of all rows, rows of weight 0 included
        assert_allclose(X[weighted.landmark_indices_], weighted.landmarks_)


@pytest.mark.parametrize("criterion", METHODS)
def test_signs_are_positive_covariance_with_the_target(criterion, diabetes):
    X, y = diabetes
    features = METHODS[criterion](15).fit(X, y).transform(X)
    assert ((y - y.mean()) @ features > 0).all()


def test_two_classes_as_labels_or_as_numbers(cancer):
    X, y = cancer
    labels = np.array(["benign", "malignant"])[y]
    by_label = SparseMaximalAlignment(10).fit(X, labels)
    by_number = SparseMaximalAlignment(10).fit(X, y.astype(float))
    assert_allclose(by_label.transform(X), by_number.transform(X), atol=1e-8)
    assert by_label.classes_.tolist() == ["benign", "malignant"]


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("criterion", METHODS)
@pytest.mark.parametrize("targets", [1, 2])
def test_p_sparse_directions_are_the_best_of_all_subsets(p, criterion, targets, diabetes):
    from itertools import combinations

    X, Y = diabetes[0][:60], np.column_stack([diabetes[1], diabetes[0][:, 3]])[:60, :targets]
    pool = X[:12]
    K, W = (pairwise_kernels(A, pool, metric="rbf", gamma=0.1) for A in (X, pool))
    Kj = K - K.mean(axis=0)
    Yc = Y - Y.mean(axis=0)
    model = METHODS[criterion](3, gamma=0.1, candidates=pool, n_nonzero=p).fit(X, Y)
    for step in range(3):
        M = Kj.T @ Kj if criterion == "alignment" else W
        best, direction = -1.0, None
        for E in map(list, combinations(range(12), p)):
            H = Kj[:, E].T @ Yc
            whitener = np.linalg.inv(np.linalg.cholesky(M[np.ix_(E, E)] + 1e-13 * np.eye(p)))
            values, vectors = np.linalg.eigh(whitener @ H @ H.T @ whitener.T)
            if values[-1] > best * (1 + 1e-9):
                best, direction = values[-1], (E, whitener.T @ vectors[:, -1])
        norm = (Yc**2).sum() if criterion == "alignment" else len(X) ** 2
        assert_allclose(model.criterion_path_[step], best / norm, rtol=1e-5)
        tau = Kj[:, direction[0]] @ direction[1]
        Kj = Kj - np.outer(tau, tau @ Kj) / (tau @ tau)


def test_p_sparse_models_are_nested(cancer):
    X, y = cancer
    model = SparseMaximalCovariance(6, n_nonzero=2, candidates=30, random_state=0).fit(X, y)
    assert 6 < len(model.landmarks_) <= 12
    short = model.truncate(2)
    assert len(short.landmarks_) <= 4
    assert_allclose(short.transform(X), model.transform(X)[:, :2], atol=1e-10)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), criterion=st.sampled_from(sorted(METHODS)))
def test_row_order_changes_nothing(seed, criterion):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((50, 3))
    y = rng.standard_normal(50)
    order = rng.permutation(50)
    # A pool of points stays in its own order while the rows are permuted.
    pool = rng.standard_normal((20, 3))
    for candidates, chosen in ((pool, "landmark_indices_"), ("all", "landmarks_")):
        a = METHODS[criterion](5, candidates=candidates, gamma=0.3).fit(X, y)
        b = METHODS[criterion](5, candidates=candidates, gamma=0.3).fit(X[order], y[order])
        assert_array_equal(getattr(a, chosen), getattr(b, chosen))
        assert_allclose(a.transform(X), b.transform(X), atol=1e-8)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), criterion=st.sampled_from(sorted(METHODS)))
def test_fewer_features_are_a_prefix_of_more(seed, criterion):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((40, 3)), rng.standard_normal(40)
    long = METHODS[criterion](8).fit(X, y)
    short = METHODS[criterion](3).fit(X, y)
    assert_array_equal(short.landmark_indices_, long.landmark_indices_[:3])
    assert_allclose(short.transform(X), long.transform(X, n_components=3), atol=1e-8)


def test_screened_pool_beats_a_random_one_of_the_same_size(rng):
    from kernelsieve.datasets import make_interactions

    X, y = make_interactions(4000, 8, random_state=0)

    def explained(pool, seed):
        model = SparseMaximalAlignment(20, candidates=Candidates(60, how=pool), random_state=seed)
        return model.fit(X, y).explained_target_ratio_.sum()

    assert min(explained("screen", s) for s in range(3)) > max(explained("random", s) for s in range(3))


@pytest.mark.parametrize("pool", ["screen", "random", "kmeans", "rpcholesky"])
def test_pools_are_rows_of_the_training_set_and_repeatable(pool, cancer):
    X, y = cancer
    model = SparseMaximalAlignment(10, candidates=Candidates(50, how=pool), random_state=3)
    first = model.fit(X, y).landmark_indices_
    assert_allclose(X[first], model.landmarks_)
    assert_array_equal(model.fit(X, y).landmark_indices_, first)


def test_real_regression_data_choose_as_algorithm_2_does(local_data):
    boston = local_data("boston")
    X = (boston["X"] - boston["X"].mean(0)) / boston["X"].std(0)
    y = boston["y"].astype(float)
    K = pairwise_kernels(X, metric="rbf", gamma=0.05)
    for criterion, method in METHODS.items():
        indices = algorithm_2(K, y, 50, criterion, True)[0]
        assert method(50, gamma=0.05).fit(X, y).landmark_indices_.tolist() == indices


@pytest.mark.parametrize("kernel", ["linear", "poly", "cosine", "rbf"])
def test_the_last_direction_does_not_depend_on_the_order_of_rows(kernel, rng):
    # More inputs than rows: whatever completes the span is the same on these rows, but not on others.
    X, y, new = rng.random((9, 30)), rng.standard_normal(9), rng.random((5, 30))
    model = SparseMaximalAlignment(n_components=None, kernel=kernel)
    expected = model.fit(X, y).transform(new)
    assert expected.shape[1] == 8
    for _ in range(5):
        order = rng.permutation(9)
        assert_allclose(model.fit(X[order], y[order]).transform(new), expected, atol=1e-9)
