"""The numbers in the picture of a path are those of the table."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

from kernelsieve import SparseMaximalAlignment
from kernelsieve.displays import ComponentPathDisplay
from kernelsieve.exceptions import InvalidDataError, InvalidParameterError
from kernelsieve.model_selection import ComponentPathCV


def naive_scores(path, gamma, name="test_score"):
    """Folds x k, one look-up for each number."""
    scores = np.full((3, 12), np.nan)
    for fold, of, k, score in zip(*(path[n] for n in ("fold", "param_gamma", "k", name)), strict=True):
        if of == gamma:
            scores[fold, k - 1] = score
    return scores


def band_edges(band):
    """The lowest and highest point of a band at each place."""
    (outline,) = band.get_paths()
    x, y = outline.vertices.T
    return np.array([[y[x == at].min(), y[x == at].max()] for at in np.unique(x)]).T


def test_lines_are_the_means_of_the_folds(path):
    display = ComponentPathDisplay.from_path(path, best_params={"gamma": 0.1})
    held_out, training = display.line_
    np.testing.assert_array_equal(held_out.get_xdata(), np.arange(1, 13))
    np.testing.assert_allclose(held_out.get_ydata(), naive_scores(path, 0.1).mean(axis=0))
    np.testing.assert_allclose(
        training.get_ydata(), naive_scores(path, 0.1, "train_score").mean(axis=0)
    )


@pytest.mark.parametrize("band", ["standard_error", "deviation", "range"])
def test_bands_show_the_folds(path, band):
    display = ComponentPathDisplay.from_path(
        path, best_params={"gamma": 1.0}, score_type="test", band=band
    )
    scores = naive_scores(path, 1.0)
    mean, deviation = scores.mean(axis=0), scores.std(axis=0, ddof=1)
    low, high = {
        "standard_error": (mean - deviation / np.sqrt(3), mean + deviation / np.sqrt(3)),
        "deviation": (mean - deviation, mean + deviation),
        "range": (scores.min(axis=0), scores.max(axis=0)),
    }[band]
    (drawn,) = display.band_
    np.testing.assert_allclose(band_edges(drawn), [low, high])


def test_evaluations_are_the_mean_of_the_folds(path):
    display = ComponentPathDisplay.from_path(
        path, best_n_components=5, against="kernel_evaluations", score_type="test"
    )
    np.testing.assert_allclose(display.line_.get_xdata(), 2 * np.arange(1, 13) + 1)
    assert display.choice_.get_xdata()[0] == 11
    assert "11 evaluations" in display.choice_.get_label()
    assert display.ax_.get_xlabel() == "kernel evaluations for a new sample"


def test_both_axes_in_two_panels(path):
    display = ComponentPathDisplay.from_path(path, best_n_components=5, against="both")
    left, right = display.ax_
    assert left.get_xlabel() != right.get_xlabel()
    assert len(display.line_) == len(display.band_) == 4
    assert [star.get_xdata()[0] for star in display.choice_] == [5, 11]
    np.testing.assert_array_equal(display.line_[0].get_ydata(), display.line_[2].get_ydata())


def test_the_star_is_at_the_chosen_score(path):
    display = ComponentPathDisplay.from_path(path, best_n_components=7, best_params={"gamma": 10.0})
    ((x, y),) = display.choice_.get_xydata()
    assert x == 7
    assert y == pytest.approx(naive_scores(path, 10.0)[:, 6].mean())
    assert display.choice_.get_label() == "chosen: k = 7"


def test_the_best_setting_is_drawn_when_none_is_named(path):
    gammas = [0.01, 0.1, 1.0, 10.0]
    best = max(gammas, key=lambda gamma: naive_scores(path, gamma).mean(axis=0).max())
    display = ComponentPathDisplay.from_path(path)
    assert [curve.params["gamma"] for curve in display.curves] == [best]


@pytest.mark.parametrize(
    ("params", "gammas"),
    [
        (None, {0.1}),
        ({"gamma": 10.0}, {0.1, 10.0}),
        ([{"gamma": 1.0}, {"gamma": 10.0}], {0.1, 1.0, 10.0}),
        ("all", {0.01, 0.1, 1.0, 10.0}),
    ],
)
def test_other_settings_on_request(path, params, gammas):
    display = ComponentPathDisplay.from_path(
        path, best_params={"gamma": 0.1}, params=params, score_type="test"
    )
    assert display.curves[0].params == {"gamma": 0.1}
    assert {curve.params["gamma"] for curve in display.curves} == gammas
    for line, curve in zip(np.atleast_1d(display.line_), display.curves, strict=True):
        np.testing.assert_allclose(
            line.get_ydata(), naive_scores(path, curve.params["gamma"]).mean(axis=0)
        )


def test_negative_errors_turn_into_errors(path):
    path["test_score"] = -path["test_score"]
    search = SimpleNamespace(
        path_=path, best_n_components_=3, best_params_={"gamma": 0.1}, scoring="neg_mean_squared_error"
    )
    plain = ComponentPathDisplay.from_estimator(search, score_type="test", negate_score=False)
    turned = ComponentPathDisplay.from_estimator(search, score_type="test")
    np.testing.assert_array_equal(plain.line_.get_ydata(), -turned.line_.get_ydata())
    assert turned.choice_.get_ydata()[0] == -plain.choice_.get_ydata()[0]
    assert plain.ax_.get_ylabel().startswith("negative mean squared error")
    assert turned.ax_.get_ylabel().startswith("mean squared error")


def test_one_fold_has_no_band(path):
    one = {name: column[path["fold"] == 0] for name, column in path.items()}
    display = ComponentPathDisplay.from_path(one)
    assert display.band_ == []
    assert display.ax_.get_ylabel() == "score"


def test_a_path_without_a_grid(path):
    plain = {name: column[path["param_gamma"] == 0.1] for name, column in path.items()}
    del plain["param_gamma"]
    search = SimpleNamespace(path_=plain, best_n_components_=4, best_params_={})
    display = ComponentPathDisplay.from_estimator(search)
    np.testing.assert_allclose(display.line_[0].get_ydata(), naive_scores(path, 0.1).mean(axis=0))


def test_numbers_of_features_that_a_fold_lacks_are_left_out(path):
    short = {name: column[(path["fold"] != 1) | (path["k"] <= 8)] for name, column in path.items()}
    display = ComponentPathDisplay.from_path(short, best_params={"gamma": 1.0})
    np.testing.assert_array_equal(display.line_[0].get_xdata(), np.arange(1, 9))
    np.testing.assert_allclose(display.line_[0].get_ydata(), naive_scores(path, 1.0).mean(axis=0)[:8])


def test_a_choice_between_the_drawn_numbers_is_marked_on_the_line(path):
    even = {name: column[path["k"] % 2 == 0] for name, column in path.items()}
    display = ComponentPathDisplay.from_path(
        even, best_n_components=5, best_params={"gamma": 0.1}, against="both", score_type="test"
    )
    means = naive_scores(path, 0.1).mean(axis=0)
    for star, x in zip(display.choice_, (5, 11), strict=True):
        np.testing.assert_allclose(star.get_xydata(), [[x, (means[3] + means[5]) / 2]])


def test_a_choice_below_the_drawn_numbers_is_not_marked(path):
    late = {name: column[path["k"] > 3] for name, column in path.items()}
    search = SimpleNamespace(path_=late, best_n_components_=2, best_params_={"gamma": 0.1})
    assert ComponentPathDisplay.from_estimator(search).choice_ is None


def test_a_setting_that_leaves_parameters_out(path):
    """A list of grids: parameters that a grid has not are None in the table."""
    degree = np.array([2 if gamma == 10 else None for gamma in path["param_gamma"]], dtype=object)
    gamma = np.where(path["param_gamma"] == 10, 1.0, path["param_gamma"])
    table = {**path, "param_gamma": gamma, "param_degree": degree}
    plain = ComponentPathDisplay.from_path(table, best_params={"gamma": 1.0})
    np.testing.assert_allclose(plain.line_[0].get_ydata(), naive_scores(path, 1.0).mean(axis=0))
    cubic = ComponentPathDisplay.from_path(table, best_params={"gamma": 1.0, "degree": 2})
    np.testing.assert_allclose(cubic.line_[0].get_ydata(), naive_scores(path, 10.0).mean(axis=0))


def test_features_that_a_fold_did_not_find_end_the_line(path):
    path["test_score"] = np.where((path["fold"] == 2) & (path["k"] > 9), np.nan, path["test_score"])
    display = ComponentPathDisplay.from_path(path, score_type="test")
    assert np.isfinite(display.line_.get_ydata()).tolist() == [True] * 9 + [False] * 3


@pytest.mark.parametrize(
    ("kind", "name"), [("classifier", "accuracy"), ("regressor", "R$^2$"), (None, "score")]
)
def test_the_usual_score_of_an_estimator_is_named(path, kind, name):
    class Search(SimpleNamespace):
        def __sklearn_tags__(self):
            return SimpleNamespace(estimator_type=kind)

    search = Search(path_=path, best_n_components_=4, best_params_={"gamma": 0.1}, scoring=None)
    assert ComponentPathDisplay.from_estimator(search).ax_.get_ylabel().startswith(name)


def test_several_methods_in_one_axes_look_different(path):
    cheaper = {**path, "kernel_evaluations": path["kernel_evaluations"] / 2}
    options = {"best_n_components": 4, "against": "kernel_evaluations"}
    one = ComponentPathDisplay.from_path(path, name="dense", **options)
    other = ComponentPathDisplay.from_path(cheaper, name="sparse", ax=one.ax_, **options)
    lines = [*one.line_, *other.line_]
    assert len({(str(line._dash_pattern), line.get_marker()) for line in lines}) == 4
    names = [text.get_text() for text in one.ax_.get_legend().get_texts()]
    assert names == [
        "dense, held out",
        "dense, training",
        "dense, chosen: k = 4, 9 evaluations",
        "sparse, held out",
        "sparse, training",
        "sparse, chosen: k = 4, 4.5 evaluations",
    ]


def test_a_data_frame_is_a_path_too(path):
    drawn = ComponentPathDisplay.from_path(pd.DataFrame(path), best_n_components=4, params="all")
    expected = ComponentPathDisplay.from_path(path, best_n_components=4, params="all")
    for line, same in zip(drawn.line_, expected.line_, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), same.get_xydata())


def test_an_estimator_without_a_path():
    with pytest.raises(NotFittedError, match="ComponentPathCV"):
        ComponentPathDisplay.from_estimator(SimpleNamespace())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"against": "seconds"}, "against='seconds'"),
        ({"score_type": "other"}, "score_type='other'"),
        ({"band": "wide"}, "band='wide'"),
        ({"params": "some"}, "params='some'"),
        ({"params": {"gamma": 7.0}}, "gamma = 0.01"),
        ({"params": {"degree": 2}}, "is no setting"),
        ({"best_params": {"gamma": 7.0}}, "best_params="),
        ({"best_n_components": 13}, "best_n_components=13"),
        ({"ax": 3}, "ax=3"),
    ],
)
def test_refused_options(path, options, message):
    with pytest.raises(InvalidParameterError, match=message):
        ComponentPathDisplay.from_path(path, **options)


def test_refused_tables(path):
    with pytest.raises(InvalidDataError, match="no column test_score"):
        ComponentPathDisplay.from_path({n: c for n, c in path.items() if n != "test_score"})
    with pytest.raises(InvalidDataError, match="equally long"):
        ComponentPathDisplay.from_path({**path, "k": path["k"][:-1]})
    with pytest.raises(InvalidDataError, match="several rows"):
        ComponentPathDisplay.from_path({name: np.tile(column, 2) for name, column in path.items()})
    with pytest.raises(InvalidDataError, match="No number of features"):
        ComponentPathDisplay.from_path({**path, "k": np.arange(len(path["k"]))})


@pytest.mark.parametrize("scoring", [None, "r2"])
def test_the_usual_score_has_one_name(scoring, diabetes):
    search = ComponentPathCV(SparseMaximalAlignment(3), Ridge(), scoring=scoring, cv=2).fit(*diabetes)
    assert "R$^2$" in ComponentPathDisplay.from_estimator(search).ax_.get_ylabel()
