"""What the pictures of a learned metric say."""

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler

from kernelsieve import GradientMetric
from kernelsieve.displays import MetricImportanceDisplay, MetricPathDisplay
from kernelsieve.exceptions import InvalidParameterError

PATH = {
    "round": np.array([0, 0, 1, 1, 2]),
    "structure": np.array(["identity", "identity", "diagonal", "diagonal", "full"]),
    "error": np.array([0.5, 0.4, 0.2, 0.3, 0.25]),
}


def test_bars_are_in_the_order_of_importance():
    display = MetricImportanceDisplay(np.array([0.1, 0.6, 0.3]), ["age", "weight", "w" * 40])
    display.plot(max_features=2)
    assert_allclose([bar.get_width() for bar in display.line_], [60, 30])
    first, second = (text.get_text() for text in display.ax_.get_yticklabels())
    assert first == "weight"
    assert len(second) == 24
    assert display.ax_.yaxis_inverted()
    with pytest.raises(InvalidParameterError, match="max_features=0"):
        display.plot(max_features=0)


def test_the_path_has_the_smallest_error_of_each_round_and_a_star():
    display = MetricPathDisplay(PATH, best_round=1).plot()
    assert_allclose(display.line_.get_ydata(), [0.4, 0.2, 0.25])
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert names[1] == "kept: round 1, diagonal"


def test_what_is_no_metric_is_refused():
    scaler = StandardScaler().fit(np.eye(3))
    for display in (MetricImportanceDisplay, MetricPathDisplay):
        with pytest.raises(InvalidParameterError, match="pass a fitted GradientMetric"):
            display.from_estimator(scaler)


class Weighted(BaseEstimator):
    def fit(self, X):
        self.importances_ = np.full(X.shape[1], 1 / X.shape[1])
        return self


def test_features_without_names_are_numbered():
    display = MetricImportanceDisplay.from_estimator(Weighted().fit(np.eye(2)))
    assert list(display.names) == ["x0", "x1"]


def test_wavelengths_name_the_features_of_spectra():
    spectra = np.random.default_rng(0).normal(size=(60, 4))
    metric = GradientMetric("linear", structure="diagonal", rank=2, random_state=0)
    metric.fit(spectra, spectra[:, 2])
    axis = pandas.Index([850.0, 852.5, 855.0, 857.5], name="nm")
    display = MetricImportanceDisplay.from_estimator(metric, feature_axis=axis, max_features=2)
    assert display.ax_.get_yticklabels()[0].get_text() == "855"
    assert display.ax_.get_ylabel() == "nm"
    with pytest.raises(InvalidParameterError, match="feature_axis must be 4 finite numbers"):
        MetricImportanceDisplay.from_estimator(metric, feature_axis=[850.0])
