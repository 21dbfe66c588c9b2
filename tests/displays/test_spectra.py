"""The numbers in pictures for spectra: predictions, distances, landmarks over wavelengths, errors."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score, root_mean_squared_error
from sklearn.model_selection import GridSearchCV, KFold

from kernelsieve import (
    ComponentPathCV,
    ComponentPathDisplay,
    KernelPCA,
    KernelPLS,
    LandmarkDisplay,
    PredictedMeasuredDisplay,
    ScoreDistanceDisplay,
    SparseMaximalAlignment,
)
from kernelsieve.exceptions import InvalidDataError, InvalidParameterError

FOLDS = KFold(4, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def pls(diabetes):
    X, y = diabetes
    return KernelPLS(3, kernel="linear").fit(X[:300], y[:300])


# ---------------------------------------------------------------------- predicted against measured


def test_points_are_the_predictions_and_figures_those_of_scikit_learn(pls, diabetes, rng):
    X, y = diabetes[0][300:], diabetes[1][300:]
    weight = rng.random(len(X))
    display = PredictedMeasuredDisplay.from_estimator(pls, X, y, sample_weight=weight, name="test")
    predicted = pls.predict(X)
    assert_allclose(display.line_.get_offsets(), np.column_stack([y, predicted]))
    assert_allclose(display.rmse, root_mean_squared_error(y, predicted, sample_weight=weight))
    assert_allclose(display.r2, r2_score(y, predicted, sample_weight=weight))
    assert_allclose(display.bias, weight @ (predicted - y) / weight.sum())
    (text,) = display.ax_.get_legend().get_texts()
    assert text.get_text().startswith(f"test: RMSE {display.rmse:.3g}")


def test_two_sets_share_a_diagonal_and_differ_in_grey(pls, diabetes):
    X, y = diabetes
    first = PredictedMeasuredDisplay.from_estimator(pls, X[:300], y[:300])
    second = PredictedMeasuredDisplay.from_estimator(pls, X[300:], y[300:], ax=first.ax_)
    assert second.diagonal_ is first.diagonal_
    one, other = first.line_, second.line_
    assert len(one.get_paths()[0].vertices) != len(other.get_paths()[0].vertices)
    assert len(first.ax_.get_legend().get_texts()) == 2


def test_one_of_several_targets_is_drawn(diabetes):
    X, y = diabetes
    Y = np.column_stack([y, -2 * y])
    model = PLSRegression(2).fit(X, Y)
    display = PredictedMeasuredDisplay.from_estimator(model, X, Y, target=1)
    assert_allclose(display.predicted, model.predict(X)[:, 1])
    with pytest.raises(InvalidParameterError, match="target=2"):
        PredictedMeasuredDisplay.from_estimator(model, X, Y, target=2)


def test_what_cannot_be_compared_is_refused(diabetes):
    X, y = diabetes
    with pytest.raises(InvalidDataError, match="3 numbers"):
        PredictedMeasuredDisplay.from_predictions(y[:3], y[:4])
    with pytest.raises(InvalidDataError, match="y_pred"):
        PredictedMeasuredDisplay.from_predictions(y[:3], [1.0, np.nan, 2.0])
    with pytest.raises(InvalidParameterError, match="predict"):
        PredictedMeasuredDisplay.from_estimator(KernelPCA(2).fit(X), X, y)


# ---------------------------------------------------------------------- T2 against Q


def test_distances_and_limits_are_those_of_the_estimator(pls, diabetes):
    X = diabetes[0]
    display = ScoreDistanceDisplay.from_estimator(
        pls, X[300:], reference=X[:300], confidence=0.9, n_components=2
    )
    expected = np.column_stack([pls.hotelling_t2(X[300:], 2), pls.q_residuals(X[300:], 2)])
    assert_allclose(display.line_.get_offsets(), expected)
    vertical, horizontal = display.limits_
    assert_allclose(vertical.get_xdata(), pls.t2_limit(0.9, 2))
    assert_allclose(horizontal.get_ydata(), pls.q_limit(X[:300], 0.9, 2))
    assert_allclose(display.reference[:, 0], pls.hotelling_t2(X[:300], 2))


@pytest.mark.slow
def test_limits_of_nonlinear_kernels_come_from_the_reference(diabetes):
    X, y = diabetes[0], diabetes[1]
    model = KernelPLS(4, gamma=0.02).fit(X[:200], y[:200])
    display = ScoreDistanceDisplay.from_estimator(model, X[300:], reference=X[200:300], confidence=0.9)
    assert np.isclose(np.mean(display.reference[:, 0] <= display.t2_limit), 0.9)
    alone = ScoreDistanceDisplay.from_estimator(model, X[300:], confidence=0.9)
    assert alone.t2_limit == model.t2_limit(0.9)


def test_numbers_are_the_rows_beyond_a_limit(pls, diabetes):
    X = diabetes[0][300:].copy()
    X[7] += 30 * np.eye(10)[0]
    display = ScoreDistanceDisplay.from_estimator(pls, X, reference=diabetes[0][:300])
    written = {int(text.get_text()) for text in display.numbers_}
    beyond = np.flatnonzero((display.t2 > display.t2_limit) | (display.q > display.q_limit))
    assert 7 in written
    assert written <= set(beyond)
    assert display.plot(numbers=False).numbers_ == []


def test_zeros_are_drawn_on_logarithmic_axes(rng):
    X = rng.standard_normal((40, 2))
    model = KernelPCA(2, kernel="linear").fit(X)  # which leaves nothing
    display = ScoreDistanceDisplay.from_estimator(model, X)
    assert (np.asarray(display.line_.get_offsets()) > 0).all()
    assert display.plot(log=False).ax_.get_xscale() == "linear"


def test_others_have_no_distances(diabetes):
    X, y = diabetes
    with pytest.raises(InvalidParameterError, match="KernelPLS"):
        ScoreDistanceDisplay.from_estimator(SparseMaximalAlignment(3).fit(X, y), X)


# ---------------------------------------------------------------------- spectra


def test_landmarks_are_lines_over_the_wavelengths(diabetes):
    X, y = diabetes
    sieve = SparseMaximalAlignment(6).fit(X, y)
    axis = pd.Index(np.linspace(900, 1100, 10), name="wavelength / nm")
    display = LandmarkDisplay.from_estimator(sieve, X, feature_axis=axis, n_landmarks=4)
    segments = np.array(display.line_.get_segments())[::-1]  # the first is drawn last
    assert_allclose(segments[:, :, 0], np.tile(axis, (4, 1)))
    assert_allclose(segments[:, :, 1], sieve.landmarks_[:4])
    assert_array_equal(display.line_.get_array()[::-1], [1, 2, 3, 4])
    assert display.ax_.get_xlabel() == "wavelength / nm"
    low, high = display.ax_.get_ylim()
    assert low <= X[::2].min()
    assert high >= X[::2].max()
    (greys,) = display.rows_
    assert len(greys.get_segments()) <= 300


def test_wavelengths_without_a_name_and_lines_of_one_colour(diabetes):
    X, y = diabetes
    sieve = SparseMaximalAlignment(2).fit(X, y)
    display = LandmarkDisplay.from_estimator(sieve, feature_axis=range(10), colors="black")
    assert display.ax_.get_xlabel() == "wavelength"
    assert display.line_.get_array() is None
    assert display.rows_ == []


@pytest.mark.parametrize("axis", [range(9), ["a"] * 10, [np.nan] * 10, 3])
def test_wavelengths_must_be_one_number_a_feature(axis, diabetes):
    sieve = SparseMaximalAlignment(2).fit(*diabetes)
    with pytest.raises(InvalidParameterError, match="feature_axis must be 10 finite numbers"):
        LandmarkDisplay.from_estimator(sieve, feature_axis=axis)


def test_spectra_and_wavelengths_go_together(diabetes):
    X, y = diabetes
    sieve = SparseMaximalAlignment(2).fit(X, y)
    with pytest.raises(InvalidParameterError, match="feature_axis"):
        LandmarkDisplay.from_estimator(sieve, plane="spectra")
    with pytest.raises(InvalidParameterError, match="plane='spectra'"):
        LandmarkDisplay.from_estimator(sieve, plane="inputs", feature_axis=range(10))
    with pytest.raises(InvalidDataError, match="9 columns"):
        LandmarkDisplay.from_estimator(sieve, X[:, 1:], feature_axis=range(10))


# ---------------------------------------------------------------------- errors against k


@pytest.fixture(scope="module")
def search(diabetes):
    X, y = diabetes
    grid = {"gamma": [0.01, 0.05]}
    scoring = "neg_root_mean_squared_error"
    extractor = SparseMaximalAlignment(8)
    return ComponentPathCV(extractor, Ridge(), param_grid=grid, cv=FOLDS, scoring=scoring).fit(X, y)


def test_errors_are_drawn_as_positive_numbers(search):
    display = ComponentPathDisplay.from_estimator(search, score_type="test")
    assert_allclose(display.line_.get_ydata(), search.error_path_["test_error"])
    assert display.ax_.get_ylabel().startswith("root mean squared error")
    as_scores = ComponentPathDisplay.from_estimator(search, score_type="test", negate_score=False)
    assert_allclose(as_scores.line_.get_ydata(), -display.line_.get_ydata())
    plt.close("all")


def test_the_table_of_errors_is_that_of_scikit_learn(search, diabetes):
    X, y = diabetes
    scoring = search.scoring
    peer = GridSearchCV(
        KernelPLS(gamma=0.02), {"n_components": [1, 2, 3, 4]}, cv=FOLDS, scoring=scoring
    ).fit(X, y)
    path = ComponentPathCV(KernelPLS(4, gamma=0.02), cv=FOLDS, scoring=scoring).fit(X, y).error_path_
    assert_array_equal(path["k"], [1, 2, 3, 4])
    assert_allclose(path["test_error"], -peer.cv_results_["mean_test_score"])
    assert_allclose(path["standard_error"], peer.cv_results_["std_test_score"] / np.sqrt(3))


def test_the_table_is_of_the_chosen_setting(search):
    table = pd.DataFrame(search.path_)
    chosen = table[table.param_gamma == search.best_params_["gamma"]]
    means = -chosen.groupby("k")[["train_score", "test_score"]].mean()
    assert_allclose(search.error_path_["test_error"], means.test_score)
    assert_allclose(search.error_path_["train_error"], means.train_score)


def test_other_scores_are_no_errors(diabetes):
    search = ComponentPathCV(SparseMaximalAlignment(3), Ridge(), cv=FOLDS).fit(*diabetes)
    with pytest.raises(AttributeError, match="neg_root_mean_squared_error"):
        search.error_path_  # noqa: B018
    assert ComponentPathDisplay.from_estimator(search).ax_.get_ylabel().startswith("R")
