"""What every display must hold: scikit-learn's convention, and pictures that can be read."""

import builtins
import sys
from functools import partial
from itertools import combinations
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import kernelsieve.displays
from kernelsieve import (
    GradientMetric,
    KernelPCA,
    KernelPLS,
    SieveRegressor,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
)
from kernelsieve.displays import (
    ComponentPathDisplay,
    ContributionDisplay,
    CriterionPathDisplay,
    FeatureMapDisplay,
    LandmarkDisplay,
    MetricImportanceDisplay,
    MetricPathDisplay,
    PredictedMeasuredDisplay,
    RocComparisonDisplay,
    ScoreDistanceDisplay,
    StabilityBoundDisplay,
)
from kernelsieve.exceptions import InvalidParameterError


@pytest.fixture(scope="module")
def moons():
    return make_moons(120, noise=0.2, random_state=0)


@pytest.fixture(scope="module")
def sieve(moons):
    return SparseMaximalAlignment(15, gamma=1.0).fit(*moons)


@pytest.fixture(scope="module")
def metric(moons):
    return GradientMetric(n_components=20, n_rounds=1, rank=1, random_state=0).fit(*moons)


@pytest.fixture(scope="module")
def regressor(moons):
    return SieveRegressor(20, metric=False, kernel="rbf", random_state=0).fit(*moons)


@pytest.fixture
def bound():
    k = np.arange(1, 21)
    empirical = 2 * (1 - 0.8**k)
    return SimpleNamespace(
        empirical=empirical,
        complexity=0.02 * np.sqrt(k),
        confidence=0.05 * np.sqrt(k),
        cost=0.05,
        delta=0.1,
        n_examples=1200,
    )


@pytest.fixture(scope="module")
def pls(moons):
    X, y = moons
    return KernelPLS(3, gamma=1.0).fit(X[::2], y[::2])


@pytest.fixture(scope="module")
def classifiers(moons):
    steps = (SparseMaximalAlignment(3), SparseMaximalCovariance(3), KernelPCA(3))
    return {type(s).__name__: make_pipeline(s, LogisticRegression()).fit(*moons) for s in steps}


@pytest.fixture
def makers(path, moons, sieve, bound, metric, regressor, pls, classifiers):
    """Functions that draw a display of each kind, with the options of its plot."""
    X, y = moons
    return {
        "path": partial(ComponentPathDisplay.from_path, path, best_n_components=4),
        "path, all settings": partial(
            ComponentPathDisplay.from_path, path, best_n_components=4, params="all"
        ),
        "path, evaluations": partial(
            ComponentPathDisplay.from_path, path, best_n_components=4, against="kernel_evaluations"
        ),
        "bound": partial(StabilityBoundDisplay.from_bound, bound, 0.9 * bound.empirical),
        "bound, terms": partial(
            StabilityBoundDisplay.from_bound, bound, 0.9 * bound.empirical, kind="terms"
        ),
        "criterion": partial(CriterionPathDisplay.from_estimator, sieve, name="SMA"),
        "explained": partial(CriterionPathDisplay.from_estimator, sieve, quantity="explained"),
        "landmarks": partial(LandmarkDisplay.from_estimator, sieve, X, y),
        "landmarks, features": partial(LandmarkDisplay.from_estimator, sieve, X, y, plane="features"),
        "landmarks, images": partial(LandmarkDisplay.from_estimator, sieve, X, y, image_shape=(1, 2)),
        "landmarks, images in a plane": partial(
            LandmarkDisplay.from_estimator, sieve, X, y, image_shape=(1, 2), plane="inputs"
        ),
        "feature map": partial(FeatureMapDisplay.from_estimator, sieve, X, y),
        "importances": partial(MetricImportanceDisplay.from_estimator, metric),
        "contributions": partial(ContributionDisplay.from_estimator, regressor, X[:1]),
        "metric path": partial(MetricPathDisplay.from_estimator, metric),
        "landmarks, spectra": partial(
            LandmarkDisplay.from_estimator, sieve, X, feature_axis=[900.0, 1100.0]
        ),
        "predicted": partial(PredictedMeasuredDisplay.from_estimator, pls, X, y),
        "score distances": partial(ScoreDistanceDisplay.from_estimator, pls, X[1::2], reference=X[::2]),
        "roc": partial(RocComparisonDisplay.from_estimator, classifiers, X, y),
    }


@pytest.fixture
def draw(request, makers):
    """The function of one name."""
    return makers[request.param]


LINES = [
    "path",
    "path, all settings",
    "path, evaluations",
    "bound",
    "bound, terms",
    "criterion",
    "explained",
    "metric path",
    "roc",
]
PLANES = [
    "landmarks",
    "landmarks, features",
    "landmarks, images in a plane",
    "landmarks, spectra",
    "feature map",
    "predicted",
    "score distances",
]
ALL = [*LINES, *PLANES, "landmarks, images", "importances", "contributions"]
OF_ALL = pytest.mark.parametrize("draw", ALL, indirect=True)
OF_LINES = pytest.mark.parametrize("draw", LINES, indirect=True)


def test_all_displays_are_here(makers):
    public = {name for name in kernelsieve.displays.__all__ if name.endswith("Display")}
    assert {make.func.__self__.__name__ for make in makers.values()} == public
    assert set(makers) == set(ALL)


@OF_ALL
def test_a_picture_is_written(draw, tmp_path):
    display = draw()
    display.figure_.savefig(tmp_path / "picture.png")
    pixels = imread(tmp_path / "picture.png")[..., :3]
    assert pixels.shape[0] > 100
    assert pixels.std() > 0.05  # something is drawn
    assert display.ax_.figure is display.figure_
    assert hasattr(display, "line_")


@OF_ALL
def test_given_axes_are_used(draw):
    figure, (left, right) = plt.subplots(1, 2, layout="constrained")
    display = draw(ax=right)
    assert display.ax_ is right
    assert display.figure_ is figure
    assert not left.has_data()
    assert len(plt.get_fignums()) == 1


@OF_ALL
def test_plot_draws_again_elsewhere(draw):
    display = draw()
    first = display.ax_
    assert display.plot() is display
    assert display.ax_ is not first


@OF_ALL
def test_what_is_no_axes_is_refused(draw):
    for ax in (3, "axes", [None, None]):
        with pytest.raises(InvalidParameterError, match="ax="):
            draw(ax=ax)


@OF_ALL
def test_without_matplotlib_the_error_names_the_extra(draw, monkeypatch):
    real = builtins.__import__

    def absent(name, *arguments, **options):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ImportError, match=r"kernelsieve\[plot\]"):
        draw()


def test_importing_the_displays_does_not_import_matplotlib():
    import subprocess

    code = "import sys, kernelsieve.displays; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


# ---------------------------------------------------------------------- lines


def as_list(lines):
    return lines if isinstance(lines, list) else [lines]


@OF_LINES
def test_options_reach_the_lines(draw):
    display = draw(linewidth=3.5, alpha=0.5)
    for line in as_list(display.line_):
        assert line.get_linewidth() == 3.5
        assert line.get_alpha() == 0.5
    for line in as_list(draw(lw=2.5).line_):  # matplotlib's short names too
        assert line.get_linewidth() == 2.5


@OF_LINES
def test_lines_differ_in_grey_and_axes_are_labelled(draw):
    """No two lines have the same dash and marker, so their hue is not needed."""
    display = draw()
    lines = as_list(display.line_)
    looks = [(str(line._dash_pattern), line.get_marker()) for line in lines]
    assert len(set(looks)) == len(looks)
    assert len(display.ax_.get_xlabel()) > 3
    assert len(display.ax_.get_ylabel()) > 3


def test_colours_are_far_apart_in_lightness_or_hue():
    from kernelsieve.displays.drawing import COLOURS

    for one, other in combinations(COLOURS, 2):
        assert np.abs(np.subtract(to_rgb(one), to_rgb(other))).max() > 0.2


def test_many_lines_still_differ():
    """Dashes, markers and colours have no common period."""
    from kernelsieve.displays.drawing import line_look

    looks = [line_look(place, 20, {}) for place in range(40)]
    pairs = {(str(look["linestyle"]), look["marker"]) for look in looks}
    assert len(pairs) == 40


# ---------------------------------------------------------------------- nothing covers anything


def check_labels(display):
    """Check that labels are inside the figure, and apart."""
    ax, frame = display.ax_, display.figure_.bbox
    labels = [text for text in (ax.xaxis.label, ax.yaxis.label, ax.title) if text.get_text()]
    for text in labels:
        box = text.get_window_extent()
        assert frame.x0 <= box.x0 < box.x1 <= frame.x1
        assert frame.y0 <= box.y0 < box.y1 <= frame.y1
    texts = [*labels, *getattr(display, "numbers_", [])]
    for one, other in combinations(texts, 2):
        assert not one.get_window_extent().overlaps(other.get_window_extent())


@OF_ALL
def test_the_legend_covers_neither_data_nor_labels(draw):
    display = draw()
    display.figure_.draw_without_rendering()
    check_labels(display)
    legend = display.ax_.get_legend()
    if legend is None:
        assert len(display.ax_.get_legend_handles_labels()[0]) <= 1 or display.ax_.axison is False
        return
    box = legend.get_window_extent()
    assert not box.overlaps(display.ax_.get_window_extent())
    assert not box.overlaps(display.ax_.xaxis.label.get_window_extent())
    assert not box.overlaps(display.ax_.yaxis.label.get_window_extent())
    frame = display.figure_.bbox
    assert frame.x0 <= box.x0 < box.x1 <= frame.x1
    assert frame.y0 <= box.y0 < box.y1 <= frame.y1


def test_without_a_layout_engine_the_legend_stays_inside(path):
    _, ax = plt.subplots()
    display = ComponentPathDisplay.from_path(path, ax=ax)
    display.figure_.draw_without_rendering()
    box, frame = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert frame.x0 <= box.x0 < box.x1 <= frame.x1


def test_two_displays_in_one_axes_have_one_legend_and_differ(moons):
    X, y = moons
    sma = CriterionPathDisplay.from_estimator(
        SparseMaximalAlignment(5).fit(X, y), quantity="explained", name="SMA"
    )
    both = CriterionPathDisplay.from_estimator(
        SparseMaximalCovariance(5).fit(X, y), quantity="explained", name="SMC", ax=sma.ax_
    )
    names = [text.get_text() for text in both.ax_.get_legend().get_texts()]
    assert len(names) == 4
    assert sum(name.startswith("SMA") for name in names) == 2
    looks = {(str(line._dash_pattern), line.get_marker()) for line in both.ax_.get_lines()}
    assert len(looks) == 4
