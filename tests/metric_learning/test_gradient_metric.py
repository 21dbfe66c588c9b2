"""GradientMetric: what it finds, what it keeps, and what it refuses."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scikit_checks import estimators_to_check, run_checks
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from kernelsieve import GradientMetric, SparseMaximalAlignment
from kernelsieve.exceptions import InvalidDataError, InvalidParameterError, NothingLearntWarning
from kernelsieve.kernels import RBF, resolve_kernel
from kernelsieve.metric_learning.functions import fit_functions, splits
from kernelsieve.metric_learning.rounds import leading_directions, metric_root, with_respect_to_inputs


@pytest.fixture(scope="module")
def data():
    X = np.random.default_rng(0).standard_normal((200, 6))
    X /= X.std(axis=0)
    return X, np.sin(2 * X[:, 0]) + X[:, 1] ** 2


@pytest.fixture(scope="module")
def diagonal(data):
    """A metric that several tests look at."""
    return quick(structure="diagonal").fit(*data)


def quick(**parameters):
    return GradientMetric(**{"kernel": "rbf", "n_components": 30, "random_state": 0, **parameters})


# -- what it learns


def test_inputs_that_matter_get_the_weight(diagonal):
    metric = diagonal
    assert metric.importances_[:2].sum() > 0.95
    assert metric.importances_.sum() == pytest.approx(1)
    assert metric.error_ < 0.3 * metric.path_["error"][metric.path_["round"] == 0].min()


def test_a_full_metric_finds_directions(data):
    X, _ = data
    direction = np.ones(6) / np.sqrt(6)
    metric = quick(structure="full").fit(X, np.sin(2 * X @ direction))
    M = metric.components_ @ metric.components_.T
    assert direction @ M @ direction > 0.9 * np.trace(M)
    assert_allclose(metric.components_, metric.components_.T, atol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "params"),
    [("matern", {"nu": 0.5}), ("matern", {"nu": 2.5}), ("rational_quadratic", None), ("poly", None)],
)
def test_kernels_with_derivatives(kernel, params, data):
    X, y = data
    metric = quick(kernel=kernel, kernel_params=params, structure="diagonal", degree=4, n_rounds=2).fit(
        X, y
    )
    assert metric.importances_[:2].sum() > 0.7


def test_the_best_round_is_kept(data):
    metric = quick(n_rounds=2).fit(*data)
    path = metric.path_
    assert len({len(column) for column in path.values()}) == 1
    assert list(np.unique(path["round"])) == [0, 1, 2, 3, 4, 5, 6]
    assert list(dict.fromkeys(path["structure"])) == ["identity", "diagonal", "full"]
    ways = [path["by"][path["round"] == number][0] for number in range(7)]
    assert ways == ["gradients"] * 3 + ["evidence"] + ["gradients"] * 2 + ["evidence"]
    kept = path["round"] == metric.best_round_
    assert metric.error_ == path["error"][kept].min()
    assert metric.error_ <= 1.02 * path["error"].min()
    best = np.flatnonzero(kept)[np.argmin(path["error"][kept])]
    assert (metric.gamma_, metric.ridge_) == (path["gamma"][best], path["ridge"][best])


def test_without_evidence_there_are_rounds_of_gradients_alone(data):
    metric = quick(n_rounds=1, evidence=False).fit(*data)
    assert set(metric.path_["by"]) == {"gradients"}
    assert quick(kernel="laplacian", structure="diagonal", n_rounds=1).fit(*data).path_["by"][-1] == (
        "gradients"
    )


def test_the_evidence_finds_weights_where_a_first_function_sees_nothing(long_searches):
    """Of a target that is fast along one input of many, gradients of a smooth function tell little."""
    X = np.random.default_rng(0).standard_normal((360, 8))
    y = np.sin(3 * X[:, 0])
    found = quick(structure="diagonal").fit(X, y)
    assert found.importances_[0] > 0.9
    assert found.error_ < 0.1


def test_a_split_with_a_constant_target_has_no_evidence():
    X = np.random.default_rng(0).standard_normal((60, 2))
    y = np.zeros(60)
    y[7] = 1.0
    with pytest.warns(NothingLearntWarning):
        metric = quick(structure="diagonal", n_rounds=1).fit(X, y)
    assert np.isfinite(metric.components_).all()


def test_a_matrix_of_many_inputs_has_no_evidence():
    X = np.random.default_rng(0).standard_normal((60, 301))
    metric = quick(n_rounds=1, rank=2).fit(X, X[:, 0])
    assert set(metric.path_["by"][metric.path_["structure"] == "full"]) == {"gradients"}


def test_labels_are_targets(data):
    X, y = data
    names = np.array(["low", "middle", "high"])[np.digitize(y, np.quantile(y, [0.33, 0.66]))]
    assert quick(structure="diagonal", n_rounds=2).fit(X, names).importances_[:2].sum() > 0.8


def test_several_targets_are_summed(data):
    X, _ = data
    Y = np.column_stack([np.sin(2 * X[:, 0]), np.sin(2 * X[:, 3])])
    metric = quick(structure="diagonal", n_rounds=2).fit(X, Y)
    assert metric.importances_[[0, 3]].sum() > 0.9


@pytest.mark.slow
def test_features_after_it_are_better(data):
    X, y = data
    new = np.random.default_rng(1).standard_normal((240, 6))
    truth = np.sin(2 * new[:, 0]) + new[:, 1] ** 2
    metric = quick()
    alone = make_pipeline(SparseMaximalAlignment(60, gamma=0.1), Ridge(1e-3)).fit(X, y)
    after = make_pipeline(metric, SparseMaximalAlignment(60), Ridge(1e-3)).fit(X, y)
    assert np.mean((after.predict(new) - truth) ** 2) < 0.5 * np.mean((alone.predict(new) - truth) ** 2)


# -- what does not depend on how inputs are given


def test_transformed_samples_have_the_mahalanobis_kernel(data):
    X, y = data
    metric = quick(n_rounds=1, evidence=False).fit(X, y)
    M = metric.components_ @ metric.components_.T
    U = metric.transform(X[:20])
    naive = [[np.exp(-0.3 * (x - z) @ M @ (x - z)) for z in X[:20]] for x in X[:20]]
    assert_allclose(RBF(0.3).block(U, U), naive, rtol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "white"),
    [({}, True), ({"kernel": "matern"}, False), ({"rank": 2}, False), ({"evidence": False}, False)],
)
def test_a_full_metric_turns_with_the_inputs(parameters, white, data):
    X, y = data
    if white:  # all directions are principal axes
        X = (X - X.mean(axis=0)) @ np.linalg.inv(np.linalg.cholesky(np.cov(X.T, bias=True))).T
    turn = np.linalg.qr(np.random.default_rng(3).standard_normal((6, 6)))[0]
    one, other = (quick(structure="full", n_rounds=1, **parameters).fit(U, y) for U in (X, X @ turn))
    assert one.best_round_ > 0
    found = turn @ other.components_
    if "rank" not in parameters:  # symmetric
        found = found @ turn.T
    assert_allclose(found, one.components_, atol=1e-12)
    assert_allclose(other.path_["error"], one.path_["error"], rtol=1e-12)


def test_samples_that_are_drawn_may_be_equal():
    X, y = np.zeros((500, 3)), np.random.default_rng(0).standard_normal(500)
    X[-1] = 1.0
    for structure in ("diagonal", "full"):
        with pytest.warns(NothingLearntWarning):
            metric = quick(structure=structure, max_samples=50, n_rounds=1).fit(X, y)
        assert_array_equal(metric.components_, np.eye(3))


def test_a_diagonal_metric_does_not_depend_on_units(data, diagonal):
    X, y = data
    units = np.array([1, 1e3, 1e-3, 10, 0.1, 5])
    other = quick(structure="diagonal").fit(X * units, y)
    assert_allclose(other.importances_, diagonal.importances_, atol=0.02)
    assert other.error_ == pytest.approx(diagonal.error_, rel=0.1)


def test_a_constant_input_has_no_importance(data):
    X, y = data
    X = np.column_stack([X[:, :2], np.full(len(X), 7.0), X[:, 2:3]])
    for structure in ("full", "diagonal-full"):
        metric = quick(structure=structure, n_rounds=1, n_components=20).fit(X, y)
        assert metric.importances_[2] == 0
        assert np.isfinite(metric.components_).all()
        if metric.best_round_:  # a new sample may have another value there, which tells nothing
            assert not metric.components_[2].any()


def test_the_same_random_state_gives_the_same_metric(data):
    X, y = data
    one, two = (quick(max_samples=120, n_rounds=1, n_components=20).fit(X, y) for _ in range(2))
    assert_array_equal(one.components_, two.components_)


# -- rank, names, sparse input


def test_a_rank_reduces_the_inputs(data):
    X, y = data
    metric = quick(rank=2, structure="full", n_rounds=1).fit(X, y)
    assert metric.transform(X).shape == (len(X), 2)
    assert metric.components_.shape == (6, 2)
    assert list(metric.get_feature_names_out()) == ["gradientmetric0", "gradientmetric1"]
    chosen = quick(structure="diagonal", rank=2, n_rounds=1).fit(X, y)
    assert chosen.transform(X).shape == (len(X), 2)
    assert sorted(chosen.get_feature_names_out()) == ["x0", "x1"]


def test_names_and_frames(data):
    pandas = pytest.importorskip("pandas")
    X, y = data
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    metric = quick(structure="diagonal", n_rounds=1).set_output(transform="pandas").fit(frame, y)
    assert list(metric.transform(frame).columns) == list("abcdef")
    assert_allclose(metric.transform(frame).to_numpy(), X @ metric.components_)


def test_sparse_input_stays_sparse_with_a_diagonal(data):
    X, y = data
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    rows = sparse.csr_matrix(X)
    # A search for the largest evidence would amplify how the two forms round their distances.
    metric = quick(structure="diagonal", n_rounds=2, evidence=False)
    dense, of_csr = (clone(metric).fit(form, y) for form in (X, rows))
    assert_allclose(of_csr.importances_, dense.importances_, atol=1e-6)
    assert sparse.issparse(of_csr.transform(rows))
    with pytest.raises(InvalidDataError, match=r"structure='full' makes it dense.*'diagonal'"):
        quick(structure="full").fit(rows, y)


# -- where nothing can be learnt, and what is refused


def test_nothing_learnt_is_the_identity_and_says_so(data):
    X, _ = data
    noise = np.random.default_rng(5).standard_normal(len(X))
    with pytest.warns(NothingLearntWarning, match="the map is the identity"):
        metric = quick(n_rounds=1).fit(X, noise)
    assert metric.best_round_ == 0
    assert_array_equal(metric.components_, np.eye(6))
    assert_array_equal(metric.transform(X), X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "chi2"}, "'chi2' has no derivative"),
        ({"kernel": "gaussian"}, "Did you mean 'rbf'"),
        ({"rank": 7}, "rank=7 is larger than the 6 features"),
        ({"gamma": []}, "has no width"),
        ({"gamma": "wide"}, "gamma='wide' is not known"),
    ],
)
def test_parameters_that_are_refused(parameters, message, data):
    with pytest.raises(InvalidParameterError, match=message):
        quick(**parameters).fit(*data)


def test_targets_that_are_refused(data):
    X, _ = data
    with pytest.raises(InvalidDataError, match="requires y"):
        quick().fit(X, None)
    with pytest.raises(InvalidDataError, match="constant"):
        quick().fit(X, np.ones(len(X)))


def test_given_widths_and_ridge_are_the_only_ones(data):
    metric = quick(gamma=[0.1, 0.4], ridge=1e-4, n_rounds=1, structure="diagonal").fit(*data)
    assert set(metric.path_["gamma"]) == {0.1, 0.4}
    assert set(metric.path_["ridge"]) == {1e-4}


def test_samples_count_by_their_weights(data):
    X, _ = data
    first_half = np.arange(len(X)) < len(X) // 2
    y = np.where(first_half, np.sin(2 * X[:, 0]), np.sin(2 * X[:, 1]))
    for first, feature in ((1.0, 0), (0.0, 1)):
        weight = np.where(first_half, first, 1 - first)
        metric = quick(structure="diagonal", n_rounds=2).fit(X, y, sample_weight=weight)
        assert metric.importances_.argmax() == feature
        assert metric.importances_.max() > 0.9
    with pytest.raises(InvalidDataError, match="All sample weights are zero"):
        quick().fit(X, y, sample_weight=np.zeros(len(X)))


# -- its parts


@pytest.mark.parametrize("name", ["rbf", "matern", "rational_quadratic", "laplacian", "poly", "linear"])
def test_outer_products_are_those_of_finite_differences(name, data):
    X, y = data
    Y = np.column_stack([y, y**2])
    split = splits(len(X), np.random.RandomState(0))[0]
    kernel = resolve_kernel(name, X, gamma=0.1)
    function = fit_functions(kernel, X, Y, np.ones(len(X)), split, 30)
    coefficients, step = function.coefficients(1e-3), 1e-5

    def values(X):
        return kernel.block(X, function.landmarks) @ coefficients

    shifts = step * np.eye(6)
    slopes = np.stack([(values(X + s) - values(X - s)) / (2 * step) for s in shifts])
    naive = np.einsum("inq,jnq->ij", slopes, slopes) / len(X)
    full = function.outer_product(X, np.ones(len(X)), 1e-3, diagonal=False)
    # A difference across the kink of a landmark is none of a slope; 30 samples are landmarks.
    loose = {"rtol": 0.1, "atol": 0.1 * np.trace(naive)} if name == "laplacian" else {}
    assert_allclose(full, naive, **{"rtol": 1e-5, "atol": 1e-6 * np.trace(naive), **loose})
    diagonal = function.outer_product(X, np.ones(len(X)), 1e-3, diagonal=True)
    assert_allclose(diagonal, np.diagonal(full), rtol=1e-10)
    weight = np.arange(len(X)) % 3
    weighted = function.outer_product(X, weight, 1e-3, diagonal=False)
    repeated = np.repeat(X, weight, axis=0)
    expected = function.outer_product(repeated, np.ones(len(repeated)), 1e-3, diagonal=False)
    assert_allclose(weighted, expected, rtol=1e-9, atol=1e-9 * np.trace(expected))


def test_a_ridge_path_is_ridge_regression_in_the_norm_of_the_kernel(data):
    X, y = data
    Y, split = y[:, None], splits(len(X), np.random.RandomState(0))[0]
    function = fit_functions(RBF(0.1), X, Y, np.ones(len(X)), split, 20)
    K = RBF(0.1).block(X, function.landmarks)
    W = RBF(0.1).block(function.landmarks, function.landmarks)
    K_c = K[split.fitted] - K[split.fitted].mean(axis=0)
    n = len(split.fitted)
    alpha = np.linalg.solve(K_c.T @ K_c / n + 1e-2 * W, K_c.T @ Y[split.fitted] / n)
    assert_allclose(K_c @ function.coefficients(1e-2), K_c @ alpha, atol=1e-7)
    centred = K[split.held_out] - K[split.fitted].mean(axis=0)
    predicted = Y[split.fitted].mean(axis=0) + centred @ alpha
    naive = np.mean((Y[split.held_out] - predicted) ** 2)
    found = function.errors(
        X[split.held_out], Y[split.held_out], np.ones(len(split.held_out)), np.array([1e-2])
    )
    assert_allclose(found, naive, rtol=1e-6)


def test_splits_hold_out_what_is_not_fitted(long_searches):
    for n_samples, n_splits in ((40, 5), (600, 5), (1000, 3), (2000, 2), (10_000, 1)):
        found = splits(n_samples, np.random.RandomState(0))
        assert len(found) == n_splits
        for split in found:
            together = np.concatenate([split.fitted, split.held_out])
            assert_array_equal(np.sort(together), np.arange(n_samples))
            assert len(split.held_out) == n_samples // 5


def test_roots_of_metrics(rng):
    A = rng.standard_normal((4, 4))
    M = A @ A.T
    L = metric_root(M)
    assert_allclose(L @ L.T, 4 * M / np.trace(M), atol=2e-4)
    reduced = leading_directions(L, 2)
    assert_allclose(np.linalg.eigvalsh(reduced @ reduced.T)[2:], np.linalg.eigvalsh(L @ L.T)[2:])
    assert_array_equal(leading_directions(np.array([1.0, 3.0, 2.0]), 2), [0, 3, 2])
    assert_allclose(with_respect_to_inputs(np.ones(3), np.array([1.0, 2, 0])), [1, 4, 0])


# -- scikit-learn


DRAWN = {
    f"check_sample_weight_equivalence_on_{kind}_data": "held-out samples are others when repeated"
    for kind in ("dense", "sparse")
}
QUICK = {"n_components": 5, "gamma": "scale", "n_rounds": 1}


@pytest.mark.filterwarnings("ignore::kernelsieve.exceptions.NothingLearntWarning")
def test_scikit_learn_checks():
    run_checks(GradientMetric(**QUICK, structure="diagonal", evidence=False), DRAWN)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::kernelsieve.exceptions.NothingLearntWarning")
@estimators_to_check(
    [
        GradientMetric(n_components=5),
        GradientMetric(**QUICK, structure="diagonal"),
        GradientMetric(**QUICK, structure="diagonal-full", evidence=False),
    ]
)
def test_scikit_learn_checks_of_searches(estimator):
    run_checks(estimator, DRAWN)


def test_a_clone_is_not_fitted(data):
    metric = quick(n_rounds=1, structure="diagonal").fit(*data)
    assert "_map" not in vars(clone(metric))
