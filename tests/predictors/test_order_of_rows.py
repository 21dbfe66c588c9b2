"""What a sieve finds depends on its samples: not on their order, nor on samples without weight."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold

from kernelsieve import SieveClassifier, SieveRegressor
from kernelsieve.metric_learning.rounds import first_minimum
from kernelsieve.predictors.inputs import table_hashes

N = 160


def table(seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": np.where(rng.random(N) < 0.1, np.nan, rng.standard_normal(N)),
            "age": rng.integers(0, 9, N),
            "place": np.array(["a", "b", None], dtype=object)[rng.integers(0, 3, N)],
        }
    )
    y = np.sin(2 * frame["size"].fillna(0)) + frame["age"] / 5 + (frame["place"] == "a")
    return frame, y.to_numpy() + 0.1 * rng.standard_normal(N)


def quick(kind=SieveRegressor, **parameters):
    return kind(
        **{"n_landmarks": 15, "metric": False, "kernel": "rbf", "random_state": 3, **parameters}
    )


CASES = {
    "regressor": ({}, lambda y: y),
    "metric": ({"metric": True, "kernel": "laplacian"}, lambda y: y),
    "counts": ({"loss": "poisson"}, lambda y: np.rint(np.exp(y))),
    "classifier": ({"kind": SieveClassifier}, lambda y: np.digitize(y, [0.5, 1.5])),
    "balanced": ({"kind": SieveClassifier, "class_weight": "balanced"}, lambda y: y > 1.5),
}


@pytest.mark.parametrize("case", CASES)
def test_the_order_of_rows_changes_nothing(case):
    X, y = table()
    parameters, target = CASES[case]
    y, order = target(y), np.random.default_rng(1).permutation(N)
    first = quick(**parameters).fit(X, y)
    second = quick(**parameters).fit(X.iloc[order], y[order])
    assert_array_equal(first._scores(X), second._scores(X))
    assert_array_equal(first._sieve.model.landmarks, second._sieve.model.landmarks)
    assert_array_equal(first.importances_, second.importances_)
    name = "predict_proba" if hasattr(first, "predict_proba") else "predict_interval"
    assert_allclose(getattr(first, name)(X), getattr(second, name)(X), rtol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_samples_without_weight_are_as_if_dropped(case):
    X, y = table()
    parameters, target = CASES[case]
    y, weight = target(y), np.random.default_rng(1).integers(0, 3, N).astype(float)
    kept = np.flatnonzero(weight)
    first = quick(**parameters).fit(X, y, sample_weight=weight)
    second = quick(**parameters).fit(X.iloc[kept], y[kept], sample_weight=weight[kept])
    assert_array_equal(first._scores(X), second._scores(X))
    assert_array_equal(first.landmark_indices_, kept[second.landmark_indices_])


def test_weights_count_in_parts_of_their_sum():
    X, y = table()
    weight = np.random.default_rng(1).integers(0, 3, N).astype(float)
    first, second = (quick().fit(X, y, sample_weight=factor * weight) for factor in (1, 7))
    assert_array_equal(first.landmark_indices_, second.landmark_indices_)
    assert_allclose(first.predict(X), second.predict(X), rtol=1e-9)


def test_many_samples_may_stand_in_any_order(monkeypatch):
    for module in ("assembly", "base", "regressor"):
        monkeypatch.setattr(f"kernelsieve.predictors.{module}.MANY_SAMPLES", 100)
    monkeypatch.setattr("kernelsieve.predictors.assembly.CALIBRATION_SAMPLES", 40)
    X, y = table()
    order = np.random.default_rng(1).permutation(N)
    first, second = quick().fit(X, y), quick().fit(X.iloc[order], y[order])
    assert "folds of 120 samples" in first.report_
    assert_array_equal(first.predict(X), second.predict(X))


def test_batches_may_have_any_order_and_samples_without_weight():
    X, y = table()
    weight = np.random.default_rng(1).integers(0, 2, N).astype(float)
    rows = np.random.default_rng(2).permutation(N // 2)
    kept = rows[weight[rows] > 0]
    first, second = quick(), quick()
    first.partial_fit(X[: N // 2], y[: N // 2], sample_weight=weight[: N // 2])
    second.partial_fit(X.iloc[kept], y[kept])
    assert_array_equal(first.predict(X), second.predict(X))
    assert_array_equal(first.landmark_indices_, kept[second.landmark_indices_])
    mapped = first._sieve.preparation.mapped(X)
    assert_array_equal(first._sieve.model.landmarks, mapped[first.landmark_indices_])
    for sieve in (first, second):
        sieve.partial_fit(X[N // 2 :], y[N // 2 :])
    before = first.predict(X)
    assert_array_equal(before, second.predict(X))
    first.partial_fit(X, -y, sample_weight=np.zeros(N))
    assert_array_equal(first.predict(X), before)


def test_given_folds_are_of_the_rows_as_they_stand():
    X, y = table()
    weight = np.where(np.arange(N) % 4 == 0, 0.0, 1.0)
    kept = np.flatnonzero(weight)
    pairs = [(kept[train], kept[test]) for train, test in KFold(3).split(kept)]
    fitted = [
        quick(cv=KFold(3)).fit(X, y, sample_weight=weight),
        quick(cv=KFold(3)).fit(X.iloc[kept], y[kept]),
        quick(cv=pairs).fit(X, y, sample_weight=weight),
    ]
    first, *others = [sieve.predict_interval(X) for sieve in fitted]
    for other in others:
        assert_array_equal(first, other)


def test_rows_have_hashes_of_their_own():
    X, _ = table()
    mask = np.array([False, False, True])
    hashes = table_hashes(X, mask)
    assert len(np.unique(hashes)) == len(X.fillna({"size": -9.0, "place": "-"}).drop_duplicates())
    few = [7, 3, 150]
    assert_array_equal(table_hashes(X.iloc[few], mask), hashes[few])
    missing = X.assign(place=X["place"].where(X["place"].notna(), np.nan))
    assert_array_equal(table_hashes(missing, mask), hashes)


def test_rounding_chooses_no_width_and_no_penalty():
    """The order of samples changes the last digits of errors, and the first of equals is taken."""
    assert first_minimum([1 + 1e-8, 1.0, 3.0]) == 0
    assert first_minimum([1.0, 1 + 1e-8, 3.0]) == 0
    assert first_minimum([1 + 1e-4, 1.0, 3.0]) == 1
    assert first_minimum([2.0, 0.0, 0.0]) == 1
    assert first_minimum([np.inf, np.inf]) == 0
    assert first_minimum([1.0, np.nan]) == 1  # as the smallest of numbers says it
