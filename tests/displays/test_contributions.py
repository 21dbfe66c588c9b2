"""What the picture of an explained prediction says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from kernelsieve import SieveClassifier
from kernelsieve.displays import ContributionDisplay
from kernelsieve.exceptions import InvalidParameterError


def test_the_strongest_landmarks_come_first_and_the_rest_is_one_bar():
    display = ContributionDisplay(np.array([0.5, -2.0, 1.0, 0.25]), 3.0, np.array([7, 8, 9, 4]))
    display.plot(max_landmarks=2)
    assert_allclose([bar.get_width() for bar in display.line_], [-2, 1, 0.75])
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names == ["sample 8", "sample 9", "2 others"]
    assert display.ax_.get_title() == "baseline 3, prediction 2.75"
    with pytest.raises(InvalidParameterError, match="max_landmarks=0"):
        display.plot(max_landmarks=0)


def test_one_output_of_several_is_drawn():
    X, y = load_iris(return_X_y=True)
    sieve = SieveClassifier(20, metric=False, kernel="rbf", random_state=0).fit(X, y)
    display = ContributionDisplay.from_estimator(sieve, X[:1], output=2)
    total = display.baseline + sum(bar.get_width() for bar in display.line_)
    assert total == pytest.approx(sieve.decision_function(X[:1])[0, 2])
    with pytest.raises(InvalidParameterError, match="x has 2 samples"):
        ContributionDisplay.from_estimator(sieve, X[:2])
    with pytest.raises(InvalidParameterError, match="has no explain"):
        ContributionDisplay.from_estimator(StandardScaler().fit(X), X[:1])
