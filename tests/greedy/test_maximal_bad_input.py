"""What SMA and SMC refuse, and how they stop where data run out."""

import warnings
from contextlib import suppress

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from kernelsieve import (
    Candidates,
    FeatureExtraction,
    KernelFeatureExtraction,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
)
from kernelsieve.exceptions import FewerFeaturesWarning, KernelError

TEN_FRESH = Candidates(10, resample=True)

SELECTING = [SparseMaximalAlignment, SparseMaximalCovariance]


@pytest.fixture
def data(rng):
    X = rng.standard_normal((40, 4))
    return X, X[:, 0] ** 2 + rng.standard_normal(40)


def refused(message, estimator, X, y, **kwargs):
    """The error matches, and the estimator is as it was before, fitted or not."""
    before = dict(vars(estimator))
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, y, **kwargs)
    assert list(vars(estimator)) == list(before)
    assert all(vars(estimator)[name] is value for name, value in before.items())


def test_unknown_kernel_suggests_the_nearest_name(data):
    refused("Did you mean 'rbf'", SparseMaximalAlignment(kernel="rfb"), *data)
    refused("Did you mean 'laplacian'", SparseMaximalAlignment(kernel="laplace"), *data)
    refused("Did you mean 'alignment'", KernelFeatureExtraction("aligment"), *data)


def test_kernel_callables(data):
    refused("shape", SparseMaximalAlignment(kernel=lambda X, Z: np.ones((3, 3))), *data)
    refused(
        "finite", SparseMaximalAlignment(kernel=lambda X, Z: np.full((len(X), len(Z)), np.nan)), *data
    )

    def late(X, Z):  # right at first, wrong later
        values = X @ Z.T
        return values[:, :-1] if len(X) > 30 and late.calls > 1 else values

    late.calls = 0

    def counting(X, Z):
        late.calls += 1
        return late(X, Z)

    refused("shape", SparseMaximalAlignment(3, kernel=counting, candidates=10), *data)


def test_precomputed_matrices(data):
    X, y = data
    K = X @ X.T
    refused("square", SparseMaximalAlignment(kernel="precomputed"), K[:, :30], y)
    crooked = K.copy()
    crooked[3, 5] += 1
    refused(r"symmetric matrix; X\[3, 5\]", SparseMaximalAlignment(kernel="precomputed"), crooked, y)
    refused(
        "row numbers", SparseMaximalAlignment(kernel="precomputed", candidates=[1, 99]), K[:, :2], y
    )
    mistaken = SparseMaximalAlignment(kernel="precomputed", candidates=[5, 6, 7])
    refused(r"symmetric matrix; X\[candidates\]", mistaken, K[:, [5, 7, 6]], y)
    model = SparseMaximalAlignment(3, kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match="expecting 40 features"):
        model.transform(K[:, :7])


def test_sparse_input_with_a_kernel_that_needs_dense(data):
    X, y = data
    refused("needs dense input", SparseMaximalAlignment(kernel="chi2"), sparse.csr_matrix(abs(X)), y)
    refused("at least 0", SparseMaximalAlignment(kernel="chi2"), X, y)


def test_before_fit_and_with_other_columns(data):
    X, y = data
    for call in ("transform", "truncate", "projector"):
        with pytest.raises(NotFittedError):
            getattr(SparseMaximalAlignment(), call)(*([X] if call == "transform" else [1]))
    with pytest.raises(NotFittedError):
        _ = SparseMaximalAlignment().landmarks_
    model = SparseMaximalAlignment(3).fit(X, y)
    with pytest.raises(ValueError, match="3 features, but SparseMaximalAlignment is expecting 4"):
        model.transform(X[:, :3])
    for wrong in (0, 4):
        with pytest.raises(ValueError, match="between 1 and the 3 components"):
            model.transform(X, n_components=wrong)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components"),
        ({"candidates": "some"}, "candidates"),
        ({"candidates": np.zeros((5, 3))}, "candidates has 3 columns and X has 4"),
        ({"n_nonzero": 4}, "n_nonzero"),
        ({"candidates": Candidates(np.zeros((5, 4)), resample=True)}, "resample"),
        ({"candidates": Candidates(resample=True), "n_nonzero": 2}, "resample"),
        ({"tol": -1}, "tol"),
    ],
)
def test_parameters(parameters, message, data):
    refused(message, SparseMaximalAlignment(**parameters), *data)


def test_pieces(data):
    X, y = data
    with pytest.raises(ValueError, match="candidates=50 are drawn from the first batch, which has 40"):
        SparseMaximalAlignment(candidates=50).partial_fit(X, y)
    with pytest.raises(AttributeError) as hidden:
        SparseMaximalAlignment(candidates="all").partial_fit(X, y)
    assert "needs a pool" in str(hidden.value.__cause__)
    with pytest.raises(ValueError, match="no batch"):
        SparseMaximalAlignment().fit_batches([])
    labels = np.array(["a", "b"])[(y > 0).astype(int)]
    model = SparseMaximalAlignment(2, candidates=10, random_state=0).partial_fit(X, labels)
    with pytest.raises(ValueError, match=r"'c' in row 0.*pass classes"):
        model.partial_fit(X[:2], ["c", "a"])
    # what was refused has left no trace
    again = SparseMaximalAlignment(2, candidates=10, random_state=0).partial_fit(X, labels)
    np.testing.assert_array_equal(model.transform(X), again.transform(X))
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.partial_fit(X[:, :3], labels)


@pytest.mark.parametrize("method", SELECTING)
@pytest.mark.parametrize("candidates", ["all", 40, "resample"])
def test_rank_below_k_gives_fewer_features_and_one_warning(method, candidates, rng):
    X = np.repeat(rng.standard_normal((10, 3)), 8, axis=0)  # ten different rows, rank 3
    X[:8] = 0  # among them rows of zeros
    X = np.column_stack([X, np.ones(80)])  # and a constant column
    y = rng.standard_normal(80)
    resample = candidates == "resample"
    model = method(
        12,
        kernel="linear",
        candidates=Candidates(40 if resample else candidates, resample=resample),
        random_state=0,
    )
    with pytest.warns(FewerFeaturesWarning, match="gave 3 of the 12") as record:
        model.fit(X, y)
    assert len(record) == 1
    assert np.isfinite(model.transform(X)).all()
    assert model.transform(X).shape == (80, 3)


def test_equal_rows_are_chosen_once(rng):
    X = np.repeat(rng.standard_normal((10, 3)), 8, axis=0)
    y = rng.standard_normal(80)
    for candidates in ("all", X):
        with pytest.warns(FewerFeaturesWarning, match="of the 30"):
            model = SparseMaximalAlignment(30, candidates=candidates).fit(X, y)
        assert len(np.unique(model.landmarks_, axis=0)) == len(model.landmarks_) <= 10
        assert np.isfinite(model.transform(X)).all()


def test_a_target_that_is_explained_stops_the_search(rng):
    X = rng.standard_normal((50, 4))
    y = X @ X[7]  # a kernel column itself
    with pytest.warns(FewerFeaturesWarning, match="no candidate is related to what the features leave"):
        model = SparseMaximalAlignment(3, kernel="linear", center=False).fit(X, y)
    assert model.landmark_indices_.tolist() == [7]


def test_no_number_asked_for_needs_no_warning(rng):
    X = rng.standard_normal((50, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SparseMaximalAlignment(kernel="linear").fit(X, rng.standard_normal(50))
    assert model.n_components_ == 3


def test_identical_rows_have_no_features(rng):
    X = np.ones((20, 3))
    refused("No feature could be found", SparseMaximalAlignment(2), X, rng.standard_normal(20))
    refused("No feature could be found", FeatureExtraction("pls", 2), X, rng.standard_normal(20))


def test_constant_targets_in_pieces(data):
    X, _ = data
    for y, classes in ((np.full(40, 0.1), None), (np.ones(40, dtype=int), [0, 1])):
        model = SparseMaximalAlignment(2, candidates=X[:10]).partial_fit(X, y, classes=classes)
        with pytest.raises(ValueError, match="y is constant"):
            model.transform(X)
        for batches in ([(X, y), (X, y)], iter([(X, y), (X, y)])):
            with pytest.raises(ValueError, match="y is constant"):
                SparseMaximalAlignment(2, candidates=X[:10]).fit_batches(batches, classes=classes)
    weight = np.zeros(40)
    weight[:5] = 1
    y = np.r_[np.ones(5), np.arange(35.0)]
    refused("y is constant", SparseMaximalAlignment(2), X, y, sample_weight=weight)


def test_kernel_values_that_are_no_numbers(data):
    X, y = data
    refused(
        "whole degree", SparseMaximalAlignment(3, kernel="poly", degree=2.5, gamma=0.1, coef0=0), X, y
    )
    model = SparseMaximalAlignment(3, kernel="poly").fit(X, y)
    with (
        pytest.raises(ValueError, match="row 0 with the landmarks is too large"),
        np.errstate(all="ignore"),
    ):
        model.transform(X * 1e150)
    with np.errstate(all="ignore"):
        for candidates in ("all", 20):
            estimator = SparseMaximalAlignment(3, kernel="poly", gamma=1.0, candidates=candidates)
            refused("too large", estimator, X * 1e80, y)


def test_fresh_subsets_go_on_past_equal_rows(rng):
    X = np.vstack([np.zeros((400, 3)), rng.standard_normal((40, 3))])
    y = rng.standard_normal(440)
    model = SparseMaximalAlignment(10, candidates=TEN_FRESH, gamma=0.1, random_state=0)
    assert model.fit(X, y).n_components_ == 10
    more = SparseMaximalAlignment(12, candidates=TEN_FRESH, gamma=0.1, random_state=0)
    assert more.fit(X, y).n_components_ == 12


@pytest.mark.parametrize("bad", [None, np.nan])
def test_labels_that_are_missing(bad, data):
    X, _ = data
    labels = np.array(["a", "b"] * 20, dtype=object)
    labels[6] = bad
    refused("row 6", SparseMaximalAlignment(), X, labels)


def test_unknown_loss_and_scores_that_are_no_numbers(data):
    from kernelsieve.deflation import LossGradient, ScoringCriterion

    class Broken(ScoringCriterion):
        def score(self, view):
            return view.residual_squared_norms * np.nan

    refused("loss='hinge' is not known", KernelFeatureExtraction(LossGradient("hinge")), *data)
    refused("Broken.score returned nan", KernelFeatureExtraction(Broken()), *data)


@pytest.mark.parametrize(
    ("candidates", "weights", "message"),
    [
        ([1], [1.0], "returned candidate 1, which may no longer be chosen"),
        ([1], [np.nan], "returned weights .nan."),
        ([1, 2], [1.0, np.inf], "returned weights"),
        ([40], [1.0], "numbers from 0 to 39"),
        ([-1], [1.0], "numbers from 0 to 39"),
        ([], [], "numbers from 0 to 39"),
    ],
)
def test_directions_that_cannot_be_used(candidates, weights, message, data):
    from kernelsieve.deflation import Criterion, Direction

    class Stubborn(Criterion):
        def propose(self, view):
            return Direction(np.array(candidates, int), np.array(weights), 1.0)

    refused(f"Stubborn.propose .*{message}", KernelFeatureExtraction(Stubborn(), 3), *data)


def test_scores_of_another_shape_and_criteria_of_images(data):
    from kernelsieve.deflation import ScoringCriterion

    class Short(ScoringCriterion):
        def score(self, view):
            return np.ones(3)

    refused(r"Short.score returned shape \(3,\)", KernelFeatureExtraction(Short()), *data)
    for name in ("akfa", "skfa"):
        refused("KernelFeatureExtraction with kernel='linear'", FeatureExtraction(name), *data)


def test_pieces_where_they_cannot_be(data):
    X, y = data
    for estimator in (
        SparseMaximalAlignment(candidates=TEN_FRESH),
        KernelFeatureExtraction("kblf", candidates=10),
    ):
        with pytest.raises(AttributeError):
            estimator.partial_fit(X, y)


def test_a_piece_whose_kernel_values_overflow_is_not_taken_in(data):
    X, y = data
    model = SparseMaximalAlignment(3, kernel="linear", candidates=X[:10]).partial_fit(X, y)
    expected = model.transform(X)
    with pytest.raises(KernelError, match="too large for sums of their squares"):
        model.partial_fit(X * 1e200, y)
    np.testing.assert_array_equal(model.transform(X), expected)
    model.partial_fit(X, y)
    np.testing.assert_allclose(model.transform(X), expected, atol=1e-8)


@pytest.mark.parametrize("kernel", ["linear", "poly", "sigmoid", "rbf", "laplacian"])
@pytest.mark.parametrize("candidates", ["all", 20])
@pytest.mark.parametrize("size", [1e155, 1e200, 1e305])
@pytest.mark.filterwarnings(
    "error::RuntimeWarning", "ignore::kernelsieve.exceptions.FewerFeaturesWarning"
)
def test_huge_values_are_refused_or_used_without_warnings_of_numpy(kernel, candidates, size, data):
    X, y = data
    model = SparseMaximalAlignment(3, kernel=kernel, gamma=0.5, candidates=candidates)
    with suppress(ValueError):
        model.fit(X * size, y)
    model.fit(X, y)
    with suppress(KernelError):
        assert np.isfinite(model.transform(X * size)).all()


@pytest.mark.parametrize("candidates", ["all", 200])
def test_single_precision_does_not_go_past_the_rank(candidates, configured):
    configured(dtype="float32")
    rng = np.random.default_rng(0)
    X = np.abs(rng.standard_normal((400, 8)))
    y = X[:, 0] ** 2 + rng.standard_normal(400)
    for kernel in ("linear", "cosine"):
        model = SparseMaximalAlignment(10, kernel=kernel, candidates=candidates)
        with pytest.warns(FewerFeaturesWarning):
            features = model.fit_transform(X, y)
        assert model.n_components_ <= 8
        np.testing.assert_allclose(model.transform(X * (1 + 1e-9)), features, atol=0.05)


@pytest.mark.parametrize("method", SELECTING)
@pytest.mark.parametrize("n_nonzero", [1, 2, 3])
def test_nothing_left_of_the_target_stops_the_search(method, n_nonzero):
    X, y = np.arange(4.0)[:, None], np.array([1.0, 0.0, 0.0, 0.0])
    model = method(4, n_nonzero=n_nonzero, gamma=1e4, center=False)
    with pytest.warns(FewerFeaturesWarning):
        assert model.fit(X, y).n_components_ == 1


@pytest.mark.parametrize(
    "kernel",
    [
        lambda x, z: float(np.exp(-((x - z) ** 2).sum())),
        lambda X, Z: np.exp(-((X[:, None] - Z[None]) ** 2).sum(axis=2)),
    ],
    ids=["pairwise", "vectorised"],
)
def test_functions_that_need_dense_rows_say_so(kernel, data):
    X, y = data
    model = SparseMaximalAlignment(3, kernel=kernel)
    with pytest.raises(KernelError, match=r"failed for sparse rows .*pass X\.toarray"):
        model.fit(sparse.csr_matrix(X), y)
    model.fit(X, y)
    with pytest.raises(KernelError, match=r"failed for sparse rows .*pass X\.toarray"):
        model.transform(sparse.csr_matrix(X[:5]))


def test_a_candidate_far_from_all_rows(rng):
    # its kernel values are so small that their squares, or those of its weights, are out of range
    X = rng.standard_normal((600, 3))
    y = np.sin(X[:, 0]) + X[:, 1]
    for far in (10.0, 15.0, 20.0, 40.0):
        pool = np.vstack([X[:10], np.full((1, 3), far)])
        model = SparseMaximalAlignment(11, gamma=0.35, candidates=pool)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewerFeaturesWarning)
            features = model.fit(X, y).transform(X)
        assert np.isfinite(features).all()
        assert features.shape[1] >= 10


@pytest.mark.parametrize("method", SELECTING)
def test_a_constant_target_is_refused_without_centring_too(method, data):
    X, _ = data
    for value in (0.0, 3.3):
        refused("y is constant", method(center=False), X, np.full(40, value))
        refused("y is constant", method(center=False, candidates=X[:20]), X, np.full(40, value))
