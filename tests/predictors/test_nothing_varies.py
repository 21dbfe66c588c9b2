"""Tables in which nothing varies, and features whose squares are no numbers."""

import warnings

import numpy as np
import pandas
import pytest

from kernelsieve import SieveClassifier, SieveRegressor, export_c, predictor
from kernelsieve.exceptions import InvalidDataError, NothingLearntWarning

RANDOM = np.random.default_rng(4)
X = RANDOM.normal(size=(60, 2))
Y = RANDOM.normal(size=60) + 3
LABELS = np.where(np.arange(60) % 3 == 0, "rare", "usual")
QUICK = {"random_state": 0, "cv": 2}
EQUAL = {
    "ones": np.ones((60, 2)),
    "missing": np.full((60, 2), np.nan),
    "one category": pandas.DataFrame({"kind": ["a"] * 60, "gap": [np.nan] * 60}),
}


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf", "metric": False}], ids=["auto", "rbf"])
@pytest.mark.parametrize("name", EQUAL)
def test_the_mean_is_predicted(name, options, tmp_path):
    table = EQUAL[name]
    with pytest.warns(NothingLearntWarning, match="No feature of X varies.*check how X was read"):
        model = SieveRegressor(**QUICK, **options).fit(table, Y)
    np.testing.assert_allclose(model.predict(table), Y.mean(), rtol=1e-12)
    assert "none" in model.report_
    assert not model.importances_.any()
    lower, upper = model.predict_interval(table[:1])[0]
    assert lower < Y.mean() < upper
    if not isinstance(table, np.ndarray):
        return
    np.testing.assert_allclose(predictor(model)(table), Y.mean(), rtol=1e-12)
    export_c(model, tmp_path / "model.c")


@pytest.mark.parametrize("name", EQUAL)
def test_the_shares_of_classes_are_predicted(name):
    with pytest.warns(NothingLearntWarning):
        model = SieveClassifier(**QUICK).fit(EQUAL[name], LABELS)
    assert set(model.predict(EQUAL[name])) == {"usual"}
    np.testing.assert_allclose(model.predict_proba(EQUAL[name])[:, 1], 2 / 3, atol=0.02)


def test_counts_and_weights():
    counts = RANDOM.poisson(3, 60)
    weight = RANDOM.uniform(0.5, 2, 60)
    with pytest.warns(NothingLearntWarning):
        model = SieveRegressor(loss="poisson", **QUICK).fit(EQUAL["ones"], counts, sample_weight=weight)
    np.testing.assert_allclose(
        model.predict(EQUAL["ones"][:1]), np.average(counts, weights=weight), rtol=1e-6
    )


def test_folds_in_which_nothing_varies():
    one = np.zeros((60, 1))
    one[0] = 1.0  # of the training samples of one fold all are equal
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SieveRegressor(kernel="rbf", metric=False, **QUICK).fit(one, Y)
    assert np.isfinite(model.predict(one)).all()


@pytest.mark.parametrize("scale", [1e155, 1e200, 1e300, 1e-170, 1e-300])
def test_features_that_cannot_be_squared_are_not_left_out_in_silence(scale):
    scaled = X * [1.0, scale]
    with pytest.raises(InvalidDataError, match=r"Feature 1 of X \(counted from 0\) has values up to"):
        SieveRegressor(**QUICK).fit(scaled, Y)
    with pytest.raises(InvalidDataError, match=r"Feature 1 of X \(counted from 0\) has values up to"):
        SieveClassifier(**QUICK).fit(scaled, np.median(Y) < Y)
