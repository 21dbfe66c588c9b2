"""Sieves as transformers, neighbours of samples, and what was tried as a table."""

import pickle
from copy import deepcopy
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline

from kernelsieve import SieveClassifier, SieveRegressor
from kernelsieve.exceptions import InvalidParameterError
from kernelsieve.program import compiled


@pytest.fixture(scope="module")
def data():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return X[:200], y[:200]


@pytest.fixture(scope="module")
def sieve(data):
    return SieveRegressor(25, kernel="rbf", random_state=0).fit(*data)


# -- features


def test_predictions_are_linear_in_the_features(data, sieve):
    X, _ = data
    features, model = sieve.transform(X), sieve._sieve.model
    assert features.shape == (200, len(sieve.landmark_indices_))
    predicted = features @ model.projection[:, 0] - model.offset[0]
    assert_allclose(sieve.predict(X), predicted, rtol=1e-7)
    of_landmarks = features[sieve.landmark_indices_]
    assert_allclose(np.diag(of_landmarks), 1)


def test_features_have_names_and_may_be_a_frame(data, sieve):
    X, y = data
    names = sieve.get_feature_names_out()
    assert list(names[:2]) == ["sieveregressor0", "sieveregressor1"]
    frame = SieveRegressor(25, kernel="rbf", metric=False).set_output(transform="pandas")
    assert list(frame.fit_transform(X, y).columns[:2]) == list(names[:2])


def test_features_stand_before_another_step(data):
    X, y = data
    sieve = SieveClassifier(20, kernel="rbf", metric=False, random_state=0)
    model = make_pipeline(sieve, LogisticRegression(C=1e4)).fit(X, y > 150)
    assert model.score(X, y > 150) > 0.7


def test_programs_have_the_same_features(data, sieve):
    X, _ = data
    assert_allclose(compiled(sieve, "features")(X), sieve.transform(X), atol=1e-10)


# -- what was tried


def test_what_was_tried_is_a_table_as_of_a_search(sieve):
    found = pd.DataFrame(sieve.cv_results_)
    assert set(found["param_metric"]) > {"identity"}
    assert set(found["param_kernel"]) == {"rbf"}
    splits = found[[name for name in found if name.startswith("split")]]
    assert splits.shape[1] == 5
    assert_allclose(found["mean_test_score"], splits.mean(axis=1))
    assert_allclose(found["std_test_score"], splits.std(axis=1, ddof=0))
    assert (
        found["mean_test_score"][found["rank_test_score"] == 1].eq(found["mean_test_score"].max()).all()
    )
    assert (found["mean_fit_time"] > 0).all()
    trials = sieve._sieve.preparation.trials
    assert_array_equal(found["mean_test_score"], [-trial.error for trial in trials])
    assert_array_equal(found["n_resources"], 200)
    assert found["n_landmarks"].is_monotonic_increasing
    assert found["params"][0] == {
        name: found[f"param_{name}"][0] for name in ("kernel", "gamma", "metric", "ridge")
    }


# -- neighbours


def test_neighbours_are_the_nearest_in_features_weighted_by_importance(data, sieve):
    X, _ = data
    distances, indices = sieve.neighbors(X[:10], X)
    assert_array_equal(indices[:, 0], np.arange(10))
    weighted = (X / X.std(ddof=0)).to_numpy() * np.sqrt(sieve.importances_)
    expected = np.sort(pairwise_distances(weighted[:10], weighted), axis=1)[:, :5]
    assert_allclose(distances, expected, atol=1e-6)


@pytest.mark.parametrize("metric", [False, True])
def test_neighbours_hardly_depend_on_the_seed(data, metric):
    X, y = data
    found = []
    for seed in range(3):
        sieve = SieveRegressor(25, kernel="rbf", metric=metric, random_state=seed).fit(X[:150], y[:150])
        found.append(sieve.neighbors(X[150:], X[:150])[1])
    for first, second in combinations(found, 2):
        both = [len(np.intersect1d(a, b)) for a, b in zip(first, second, strict=True)]
        assert np.mean(both) >= 3  # of 5


def test_neighbours_of_a_frame_with_categories():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.standard_normal(80), "b": np.array(["x", "y"])[np.arange(80) % 2]})
    y = frame["a"] + 5 * (frame["b"] == "x")
    sieve = SieveRegressor(10, metric=False, kernel="rbf", random_state=0).fit(frame, y)
    _, indices = sieve.neighbors(frame[:6], frame, 10)
    assert (frame["b"].to_numpy()[indices] == frame["b"].to_numpy()[:6, None]).all()
    with pytest.raises(InvalidParameterError, match="n_neighbors=81 must be from 1 to 80"):
        sieve.neighbors(frame, frame, 81)


# -- one sample


@pytest.mark.parametrize("method", ["predict", "transform", "explain", "predict_interval"])
def test_one_sample_as_a_series_or_an_array_is_refused(data, sieve, method):
    X, _ = data
    for one in (X.iloc[0], X.iloc[0].to_numpy()):
        with pytest.raises(ValueError, match=r"Expected (2D array, got 1D|a 2-dimensional container)"):
            getattr(sieve, method)(one)
    with pytest.raises(ValueError, match="Expected a 2-dimensional container"):
        clone(sieve).fit(X.iloc[:, 0], data[1])
    with pytest.raises(ValueError, match="Expected a 2-dimensional container"):
        sieve.predict(pd.Series(["a", "b"]))


# -- explanations


def test_an_explanation_is_shown_in_a_few_lines(data, sieve):
    X, _ = data
    text = repr(sieve.explain(X))
    assert len(text.splitlines()) == 5
    assert f"200 samples, {len(sieve.landmark_indices_)} landmarks" in text
    assert "and 197 more samples" in text
    found = sieve.explain(X[:3])
    strongest = found.landmark_indices[found.strongest(1, 3)].tolist()
    assert f"most by training rows {', '.join(map(str, strongest))}" in repr(found)
    several = SieveClassifier(8, kernel="rbf", metric=False).fit(X, np.arange(200) % 3)
    assert "3 outputs" in repr(several.explain(X[:1]))


# -- what is prepared for predictions


def test_files_and_copies_do_not_depend_on_earlier_predictions(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.standard_normal(80), "b": np.array(["x", "y"])[np.arange(80) % 2]})
    frame.loc[::9, "b"] = np.nan
    sieve = SieveRegressor(10, metric=False, kernel="rbf", random_state=0).fit(frame, frame["a"])
    sieve.save(tmp_path / "before.ksv")
    expected = sieve.predict(frame)
    sieve.save(tmp_path / "after.ksv")
    assert (tmp_path / "before.ksv").read_bytes() == (tmp_path / "after.ksv").read_bytes()
    assert_array_equal(pickle.loads(pickle.dumps(sieve)).predict(frame), expected)
    assert_array_equal(deepcopy(sieve).predict(frame), expected)
