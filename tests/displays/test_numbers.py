"""The numbers in the pictures are those that were given, or what something else computes."""

import re
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import RocCurveDisplay, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelsieve import (
    BoostedLatentFeatures,
    ComponentPathCV,
    KernelPCA,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
)
from kernelsieve.displays import (
    CriterionPathDisplay,
    FeatureMapDisplay,
    LandmarkDisplay,
    RocComparisonDisplay,
    StabilityBoundDisplay,
)
from kernelsieve.exceptions import InvalidDataError, InvalidParameterError
from kernelsieve.model_selection import stability_bound

# ---------------------------------------------------------------------- criterion


def test_criterion_and_shares(diabetes):
    sieve = SparseMaximalCovariance(12).fit(*diabetes)
    display = CriterionPathDisplay.from_estimator(sieve, quantity="both")
    criterion, variance, target = display.line_
    np.testing.assert_array_equal(criterion.get_xdata(), np.arange(1, 13))
    np.testing.assert_array_equal(criterion.get_ydata(), sieve.criterion_path_)
    np.testing.assert_allclose(variance.get_ydata(), 100 * np.cumsum(sieve.explained_variance_ratio_))
    np.testing.assert_allclose(target.get_ydata(), 100 * np.cumsum(sieve.explained_target_ratio_))
    left, right = display.ax_
    assert criterion.axes is left
    assert target.axes is right
    assert "%" in right.get_ylabel()


def test_the_explained_target_is_r2_of_least_squares(diabetes):
    X, y = diabetes
    sieve = SparseMaximalAlignment(8).fit(X, y)
    target = CriterionPathDisplay.from_estimator(sieve, quantity="explained").line_[1]
    features = sieve.transform(X)
    r2 = [100 * Ridge(1e-9).fit(features[:, :k], y).score(features[:, :k], y) for k in range(1, 9)]
    np.testing.assert_allclose(target.get_ydata(), r2, rtol=1e-6)


def test_without_a_target_no_share_of_it(diabetes):
    display = CriterionPathDisplay.from_estimator(KernelPCA(5).fit(diabetes[0]), quantity="explained")
    assert display.line_.get_label() == "variance of the kernel images"


def test_logarithmic_criterion(diabetes):
    sieve = SparseMaximalAlignment(5).fit(*diabetes)
    assert CriterionPathDisplay.from_estimator(sieve, log_scale=True).ax_.get_yscale() == "log"
    with pytest.raises(InvalidParameterError, match="log_scale"):
        CriterionPathDisplay(np.array([1.0, 0.0])).plot(log_scale=True)


def test_refused_by_the_criterion():
    with pytest.raises(NotFittedError):
        CriterionPathDisplay.from_estimator(SparseMaximalAlignment(2))
    with pytest.raises(InvalidParameterError, match="Ridge has no criterion_path_"):
        CriterionPathDisplay.from_estimator(Ridge())
    with pytest.raises(InvalidParameterError, match="quantity='all'"):
        CriterionPathDisplay(np.ones(3)).plot(quantity="all")
    with pytest.raises(InvalidDataError, match="explained_variance_ratio"):
        CriterionPathDisplay(np.ones(3)).plot(quantity="explained")
    _, ax = plt.subplots()
    with pytest.raises(InvalidParameterError, match="2 matplotlib axes"):
        CriterionPathDisplay(np.ones(3)).plot(ax, quantity="both")


# ---------------------------------------------------------------------- bound


@pytest.fixture
def bound(rng):
    empirical = np.cumsum(rng.random(9))
    complexity, confidence = rng.random((2, 9)) / 10
    return SimpleNamespace(
        empirical=empirical,
        complexity=complexity,
        confidence=confidence,
        cost=0.4,
        delta=0.05,
        n_examples=4321,
    )


def test_bound_less_cost(bound, rng):
    tested = rng.random(9)
    display = StabilityBoundDisplay.from_bound(bound, tested)
    cost = 0.4 * np.arange(1, 10)
    adjusted = bound.empirical - bound.complexity - bound.confidence - cost
    expected = [adjusted, bound.empirical - cost, tested - cost]
    for line, values in zip(display.line_, expected, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 10))
        np.testing.assert_allclose(line.get_ydata(), values)
    best = int(np.argmax(adjusted))
    np.testing.assert_allclose(display.choice_.get_xydata(), [[best + 1, adjusted[best]]])
    assert "95 %" in display.line_[0].get_label()
    assert "4,321" in display.line_[1].get_label()


def test_terms_of_the_bound(bound):
    display = StabilityBoundDisplay.from_bound(bound, kind="terms")
    least = bound.empirical - bound.complexity - bound.confidence
    expected = [least, bound.empirical, bound.complexity, bound.confidence]
    for line, values in zip(display.line_, expected, strict=True):
        np.testing.assert_allclose(line.get_ydata(), values)
    assert display.choice_ is None


@pytest.mark.parametrize("center", [True, False])
def test_bound_of_an_extractor(center, diabetes):
    X, y = diabetes
    train, test = slice(None, 300), slice(300, None)
    sieve = SparseMaximalCovariance(5, gamma=0.05, center=center)
    options = {"delta": 0.2, "cost": 3.0, "trim": 0.02}
    display = StabilityBoundDisplay.from_estimator(
        sieve, X[train], y[train], **options, X_test=X[test], y_test=y[test]
    )
    bound = stability_bound(sieve, X[train], y[train], **options)
    np.testing.assert_allclose(display.line_[0].get_ydata(), bound.cost_adjusted)
    # by hand: the features of a fit to the rows that were kept, and targets less their mean there
    kept_X, kept_y = X[train][bound.kept], y[train][bound.kept]
    T = sieve.fit(kept_X, kept_y).transform(X[test])
    moved = y[test] - (kept_y.mean() if center else 0)
    expected = np.cumsum((moved[:, None] ** 2 * T**2).mean(axis=0))
    np.testing.assert_allclose(display.test_expectation, expected)
    assert StabilityBoundDisplay.from_estimator(sieve, X, y).test_expectation is None
    with pytest.raises(InvalidParameterError, match="X_test was given without y_test"):
        StabilityBoundDisplay.from_estimator(sieve, X, y, X_test=X)


def test_bound_of_labels_on_rows_that_lack_a_class(digits):
    X, y = digits
    bound = stability_bound(SparseMaximalCovariance(3, center=False), X, y)
    T = bound.extractor.transform(X)
    np.testing.assert_allclose(bound.expectation(X, y), bound.empirical)
    few = y < 2
    expected = np.cumsum((T[few] ** 2).mean(axis=0))  # one label a row has length 1
    np.testing.assert_allclose(bound.expectation(X[few], y[few]), expected)


def test_refused_bounds(bound):
    with pytest.raises(InvalidDataError, match="has no empirical"):
        StabilityBoundDisplay.from_bound(SimpleNamespace())
    with pytest.raises(InvalidDataError, match=re.escape("test_expectation has shape (3,)")):
        StabilityBoundDisplay.from_bound(bound, [1, 2, 3])
    with pytest.raises(InvalidParameterError, match="kind='all'"):
        StabilityBoundDisplay.from_bound(bound, kind="all")


# ---------------------------------------------------------------------- landmarks


def test_landmarks_in_the_plane_of_inputs(cancer):
    X, y = cancer
    sieve = SparseMaximalAlignment(10).fit(X, y)
    display = LandmarkDisplay.from_estimator(sieve, X, y, axes=(3, 7))
    np.testing.assert_array_equal(display.line_.get_offsets(), sieve.landmarks_[:, [3, 7]])
    np.testing.assert_array_equal(display.line_.get_array(), np.arange(1, 11))
    for label, rows in zip((0, 1), display.rows_, strict=True):
        np.testing.assert_array_equal(rows.get_offsets(), X[y == label][:, [3, 7]])
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("input 3", "input 7")


def test_landmarks_in_the_plane_of_features(cancer):
    X, y = cancer
    sieve = SparseMaximalAlignment(10).fit(X, y)
    display = LandmarkDisplay.from_estimator(sieve, X, plane="features", axes=(2, 0), n_landmarks=6)
    features = sieve.transform(X)[:, [2, 0]]
    np.testing.assert_allclose(
        display.line_.get_offsets(), features[sieve.landmark_indices_[:6]], atol=1e-9
    )
    np.testing.assert_allclose(display.rows_[0].get_offsets(), features)
    assert display.ax_.get_xlabel() == "feature 2"


def test_numbers_are_beside_their_landmarks(cancer):
    X, y = cancer
    sieve = SparseMaximalAlignment(25).fit(X, y)
    display = LandmarkDisplay.from_estimator(sieve)
    assert len(display.numbers_) > 10
    assert display.numbers_[0].get_text() == "1"  # the first is never crowded out
    for number in display.numbers_:
        place = int(number.get_text()) - 1
        np.testing.assert_array_equal(number.xy, sieve.landmarks_[place, :2])
        assert np.hypot(*number.get_position()) < 20
    assert LandmarkDisplay.from_estimator(sieve, numbers=False).numbers_ == []


def test_numbers_of_crowded_landmarks_do_not_meet(rng):
    """Some are left out, and those that are written cover neither each other nor a landmark."""
    places = np.vstack([0.03 * rng.standard_normal((60, 2)), [[-1, -1], [1, 1]]])
    display = LandmarkDisplay(places).plot()
    display.figure_.draw_without_rendering()
    boxes = [number.get_window_extent() for number in display.numbers_]
    assert 5 < len(boxes) < 60
    for place, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:place])
    centres = display.ax_.transData.transform(places)
    for box in boxes:
        assert not any(box.contains(*centre) for centre in centres)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_of_columns(cancer, frame):
    X, y = cancer
    table = frame({f"size {place}": X[:, place] for place in range(4)})
    sieve = SparseMaximalAlignment(4).fit(table, y)
    display = LandmarkDisplay.from_estimator(sieve, table, y, axes=(1, 3))
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("size 1", "size 3")
    LandmarkDisplay.from_estimator(sieve, table, y, plane="features")
    mapped = FeatureMapDisplay.from_estimator(sieve, table, y, inputs=(0, 2), grid_resolution=5)
    assert (mapped.ax_.get_xlabel(), mapped.ax_.get_ylabel()) == ("size 0", "size 2")


def test_sparse_rows(cancer):
    X, y = cancer
    thin = np.where(np.abs(X) > 1, X, 0.0)
    dense = SparseMaximalAlignment(6).fit(thin, y)
    csr = SparseMaximalAlignment(6).fit(sparse.csr_array(thin), y)
    for plane in ("inputs", "features"):
        one = LandmarkDisplay.from_estimator(dense, thin, y, plane=plane)
        other = LandmarkDisplay.from_estimator(csr, sparse.csr_array(thin), y, plane=plane)
        np.testing.assert_allclose(one.positions, other.positions, atol=1e-9)
        np.testing.assert_allclose(one.rows, other.rows, atol=1e-9)


def test_images_in_the_order_of_choice(digits):
    X, y = digits
    sieve = SparseMaximalAlignment(12).fit(X, y)
    display = LandmarkDisplay.from_estimator(sieve, X, y, image_shape=(8, 8), cmap="gray_r")
    assert len(display.images_) == 12
    for place, (image, caption) in enumerate(zip(display.images_, display.numbers_, strict=True)):
        row = sieve.landmark_indices_[place]
        np.testing.assert_array_equal(image.get_array(), X[row].reshape(8, 8))
        assert caption.get_text() == f"{place + 1}: {y[row]}"
        assert image.get_cmap().name == "gray_r"
    extents = np.array([image.get_extent() for image in display.images_])
    reading = np.lexsort([extents[:, 0], extents[:, 3]])  # by lines, and in a line from the left
    np.testing.assert_array_equal(reading, np.arange(12))


def test_labels_of_other_rows_are_not_written(digits):
    X, y = digits
    sieve = SparseMaximalAlignment(3).fit(X, y)
    display = LandmarkDisplay.from_estimator(sieve, X[::-1], y[::-1], image_shape=(8, 8))
    assert [number.get_text() for number in display.numbers_] == ["1", "2", "3"]


def test_images_in_a_plane_tell_their_order(digits):
    X, y = digits
    sieve = SparseMaximalAlignment(30).fit(X, y)
    display = LandmarkDisplay.from_estimator(sieve, X, plane="features", image_shape=(8, 8))
    places = sieve.transform(X)[sieve.landmark_indices_, :2]
    told = [int(number.get_text()) for number in display.numbers_]
    assert len(set(told)) == len(told)
    for number in display.numbers_:
        np.testing.assert_allclose(number.xy, places[int(number.get_text()) - 1], atol=1e-8)
    shown = [tuple(image.xy) for image in display.images_]
    assert 0 < len(shown) < len(told)  # some of the points between images have numbers too
    assert {tuple(number.xy) for number in display.numbers_} >= set(shown)
    boxes = [number.get_window_extent() for number in display.numbers_]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    silent = LandmarkDisplay.from_estimator(
        sieve, X, plane="features", image_shape=(8, 8), numbers=False
    )
    assert silent.numbers_ == []


def test_images_in_a_plane_do_not_meet(digits):
    X, y = digits
    sieve = SparseMaximalAlignment(30).fit(X, y)
    display = LandmarkDisplay.from_estimator(sieve, X, plane="features", image_shape=(8, 8))
    display.figure_.draw_without_rendering()
    boxes = [image.get_window_extent() for image in display.images_]
    assert 3 < len(boxes) <= 30
    np.testing.assert_allclose(
        display.images_[0].xy, sieve.transform(X)[sieve.landmark_indices_[0], :2]
    )
    for place, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:place])


def test_coloured_images(rng):
    X = rng.random((40, 12))
    sieve = SparseMaximalAlignment(4).fit(X, X[:, 0])
    display = LandmarkDisplay.from_estimator(sieve, image_shape=(2, 2, 3))
    assert display.images_[0].get_array().shape == (2, 2, 3)


def test_places_of_a_precomputed_kernel(cancer):
    X, y = cancer
    sieve = SparseMaximalAlignment(4, kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(InvalidDataError, match="landmark_indices_"):
        LandmarkDisplay.from_estimator(sieve)
    places = X[:, :2]
    display = LandmarkDisplay(places[sieve.landmark_indices_], rows=places).plot()
    np.testing.assert_array_equal(display.line_.get_offsets(), places[sieve.landmark_indices_])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"plane": "outputs"}, "plane='outputs'"),
        ({"plane": "gallery"}, "image_shape"),
        ({"axes": (0, 30)}, "axes=(0, 30)"),
        ({"axes": (0,)}, "axes=(0,)"),
        ({"axes": 1}, "axes=1"),
        ({"n_landmarks": 6}, "n_landmarks=6"),
        ({"n_landmarks": 0}, "n_landmarks=0"),
        ({"image_shape": (4, 8)}, "image_shape=(4, 8)"),
        ({"image_shape": (30,)}, "image_shape=(30,)"),
    ],
)
def test_refused_options_of_landmarks(cancer, options, message):
    sieve = SparseMaximalAlignment(5).fit(*cancer)
    with pytest.raises(InvalidParameterError, match=re.escape(message)):
        LandmarkDisplay.from_estimator(sieve, **options)


def test_landmarks_among_rows_with_numbers_as_targets(diabetes):
    X, y = diabetes
    sieve = SparseMaximalAlignment(5).fit(X, y)
    for target in (y, y + 0.5):  # with and without fractions
        display = LandmarkDisplay.from_estimator(sieve, X, target)
        assert [rows.get_label() for rows in display.rows_] == ["samples"]
    display = LandmarkDisplay.from_estimator(sieve, X, (y > 100).astype(float))
    assert len(display.rows_) == 2


def test_classes_on_a_map_differ_in_more_than_the_shape_of_small_marks(cancer):
    X, y = cancer
    display = FeatureMapDisplay.from_estimator(KernelPCA(1).fit(X[:, :2]), X[:, :2], y)
    one, other = (rows.get_facecolor()[0, :3].mean() for rows in display.rows_)
    assert abs(one - other) > 0.4
    assert all((rows.get_edgecolor()[0, :3] == 0).all() for rows in display.rows_)


@pytest.mark.filterwarnings("ignore:The number of unique classes")  # scikit-learn 1.7 says so, too
def test_refused_data_of_landmarks(cancer, diabetes):
    X, y = cancer
    sieve = SparseMaximalAlignment(5).fit(X, y)
    with pytest.raises(InvalidDataError, match="one label a sample"):
        LandmarkDisplay.from_estimator(sieve, X, y[:-1])
    with pytest.raises(InvalidDataError, match="labels of classes"):
        FeatureMapDisplay.from_estimator(sieve, X, X[:, 0])
    primal = BoostedLatentFeatures(2).fit(*diabetes)
    with pytest.raises(InvalidParameterError, match="BoostedLatentFeatures are sums of features of X"):
        LandmarkDisplay.from_estimator(primal)
    with pytest.raises(InvalidDataError, match="569 classes"):
        LandmarkDisplay.from_estimator(sieve, X, np.arange(569))
    with pytest.raises(InvalidDataError, match="X has 29 columns"):
        LandmarkDisplay.from_estimator(sieve, X[:, 1:])
    with pytest.raises(InvalidParameterError, match="Ridge has no landmarks_"):
        LandmarkDisplay.from_estimator(Ridge())
    with pytest.raises(NotFittedError):
        LandmarkDisplay.from_estimator(SparseMaximalAlignment())
    with pytest.raises(InvalidDataError, match="nothing to draw"):
        LandmarkDisplay().plot()


def test_landmarks_of_pipelines_and_searches_lie_among_the_samples(diabetes):
    X, y = diabetes
    X = 100 * X + 7
    pipeline = make_pipeline(StandardScaler(), SparseMaximalAlignment(8), Ridge()).fit(X, y)
    search = ComponentPathCV(make_pipeline(StandardScaler(), SparseMaximalAlignment(8)), Ridge())
    for model, sieve in (
        (pipeline, pipeline[1]),
        (search.fit(X, y), search.best_estimator_.extractor[-1]),
    ):
        display = LandmarkDisplay.from_estimator(model, X)
        assert_allclose(display.positions, sieve.landmarks_[:, :2])
        assert_allclose(display.rows, StandardScaler().fit_transform(X)[:, :2])
    with pytest.raises(InvalidParameterError, match="Pipeline has no landmarks_"):
        LandmarkDisplay.from_estimator(make_pipeline(StandardScaler(), Ridge()).fit(X, y))


# ---------------------------------------------------------------------- feature maps


def test_a_map_has_the_values_of_the_feature(cancer):
    X, y = cancer
    model = make_pipeline(StandardScaler(), SparseMaximalAlignment(3)).fit(X, y)
    display = FeatureMapDisplay.from_estimator(
        model, X, y, feature=2, inputs=(4, 1), grid_resolution=7, margin=0.0
    )
    assert display.first[[0, -1]].tolist() == [X[:, 4].min(), X[:, 4].max()]
    for i, second in enumerate(display.second):
        for j, first in enumerate(display.first):
            row = X.mean(axis=0)
            row[4], row[1] = first, second
            assert display.values[i, j] == pytest.approx(model.transform(row[None])[0, 2], abs=1e-9)


def test_contours_are_where_the_feature_has_their_value(rng):
    """The first feature of linear kernel PCA is a plane, so its contours are straight lines."""
    X = rng.standard_normal((100, 2)) * [3, 1]
    analysis = KernelPCA(1, kernel="linear").fit(X)
    display = FeatureMapDisplay.from_estimator(analysis, X, levels=[-2.0, 0.0, 1.5])
    for level, outline in zip(display.line_.levels, display.line_.get_paths(), strict=True):
        assert len(outline.vertices) > 1
        np.testing.assert_allclose(analysis.transform(outline.vertices)[:, 0], level, atol=1e-8)


def test_options_of_a_map(cancer):
    X, y = cancer
    analysis = KernelPCA(2).fit(X)
    display = FeatureMapDisplay.from_estimator(
        analysis, X, show_rows=False, colorbar=False, cmap="Greys"
    )
    assert display.rows_ == []
    assert display.surface_.get_cmap().name == "Greys"
    assert len(display.figure_.axes) == 1
    drawn = FeatureMapDisplay.from_estimator(analysis, X, y)
    assert sum(len(rows.get_offsets()) for rows in drawn.rows_) == len(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"feature": 2}, "feature=2"),
        ({"feature": "first"}, "feature='first'"),
        ({"inputs": (0, 1, 2)}, "inputs=(0, 1, 2)"),
        ({"grid_resolution": 1}, "grid_resolution=1"),
    ],
)
def test_refused_options_of_a_map(cancer, options, message):
    X, _ = cancer
    with pytest.raises(InvalidParameterError, match=re.escape(message)):
        FeatureMapDisplay.from_estimator(KernelPCA(2).fit(X), X, **options)


def test_refused_estimators_of_a_map(cancer):
    X, y = cancer
    with pytest.raises(InvalidParameterError, match="Ridge has no transform"):
        FeatureMapDisplay.from_estimator(Ridge().fit(X, y), X)
    with pytest.raises(NotFittedError):
        FeatureMapDisplay.from_estimator(KernelPCA(2), X)


# ---------------------------------------------------------------------- ROC


@pytest.fixture(scope="module")
def classifiers(cancer):
    X, y = cancer
    steps = {
        "SMA": make_pipeline(SparseMaximalAlignment(3), LogisticRegression()),
        "bayes": GaussianNB(),
    }
    return {name: step.fit(X[:200, :5], y[:200]) for name, step in steps.items()}


@pytest.mark.parametrize("pos_label", [None, 0, 1])
def test_curves_are_those_of_scikit_learn(cancer, classifiers, pos_label):
    X, y = cancer[0][200:, :5], cancer[1][200:]
    display = RocComparisonDisplay.from_estimator(classifiers, X, y, pos_label=pos_label)
    for line, (name, model) in zip(display.line_, classifiers.items(), strict=True):
        method = "decision_function" if name == "SMA" else "predict_proba"
        theirs = RocCurveDisplay.from_estimator(
            model, X, y, pos_label=pos_label, response_method=method
        )
        np.testing.assert_allclose(line.get_xydata(), theirs.line_.get_xydata())
        assert display.roc_auc[name] == pytest.approx(theirs.roc_auc)
        assert line.get_label() == f"{name}, area {theirs.roc_auc:.3f}"


def test_features_as_scores(cancer):
    X, y = cancer
    features = SparseMaximalAlignment(3).fit_transform(X, y)
    names = np.where(y == 1, "good", "bad")
    weight = np.arange(len(y)) % 3 + 1.0
    display = RocComparisonDisplay.from_predictions(
        names,
        {f"feature {j}": features[:, j] for j in range(3)},
        sample_weight=weight,
        pos_label="good",
    )
    for j in range(3):
        expected = roc_auc_score(y, features[:, j], sample_weight=weight)
        assert display.roc_auc[f"feature {j}"] == pytest.approx(expected)
    assert "good" in display.ax_.get_ylabel()


def test_a_closer_look(cancer):
    _, y = cancer
    display = RocComparisonDisplay.from_predictions(
        y, {"constant": np.zeros(len(y))}, max_fpr=0.2, plot_chance_level=False
    )
    assert display.ax_.get_xlim()[1] < 0.25
    assert display.chance_level_ is None
    assert display.roc_auc["constant"] == 0.5


def test_refused_by_the_comparison(cancer, digits, classifiers):
    X, y = cancer[0][:, :5], cancer[1]
    scores = {"first": X[:, 0]}
    with pytest.raises(InvalidParameterError, match="dict of scores"):
        RocComparisonDisplay.from_predictions(y, X[:, 0])
    with pytest.raises(InvalidParameterError, match="dict of classifiers"):
        RocComparisonDisplay.from_estimator({}, X, y)
    with pytest.raises(InvalidDataError, match="10 different values"):
        RocComparisonDisplay.from_predictions(digits[1], {"first": digits[0][:, 0]})
    with pytest.raises(InvalidDataError, match="1 different values"):
        RocComparisonDisplay.from_predictions(np.ones(569), scores)
    with pytest.raises(InvalidDataError, match="The scores of 'first'"):
        RocComparisonDisplay.from_predictions(y[:-1], scores)
    with pytest.raises(InvalidParameterError, match="pos_label=7"):
        RocComparisonDisplay.from_predictions(y, scores, pos_label=7)
    with pytest.raises(InvalidParameterError, match="max_fpr=0"):
        RocComparisonDisplay.from_predictions(y, scores, max_fpr=0)
    with pytest.raises(InvalidParameterError, match="'ridge' is a Ridge"):
        RocComparisonDisplay.from_estimator({"ridge": Ridge().fit(X, y)}, X, y)
    with pytest.raises(InvalidParameterError, match="was fitted with the labels"):
        RocComparisonDisplay.from_estimator(classifiers, X, np.where(y == 1, "a", "b"))
    with pytest.raises(NotFittedError):
        RocComparisonDisplay.from_estimator({"new": LogisticRegression()}, X, y)
