"""Tables as numbers: categories, missing values, scales, and what cannot be read."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.inspection import permutation_importance
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from kernelsieve import SieveRegressor, SparseMaximalAlignment, predictor
from kernelsieve.exceptions import IgnoredFeatureWarning, InvalidDataError
from kernelsieve.predictors.inputs import CategoryColumn, InputEncoder, categorical_mask


@pytest.fixture
def frame(rng):
    n = 200
    return pd.DataFrame(
        {
            "size": rng.standard_normal(n) * 100 + 7,
            "colour": pd.Categorical(rng.choice(["red", "green", "blue"], n)),
            "town": rng.choice(["Bonn", "Rome"], n),
            "age": np.where(rng.uniform(size=n) < 0.2, np.nan, rng.uniform(size=n)),
            "same": 3.0,
        }
    )


def encoder_of(X, categorical="from_dtype"):
    names = np.asarray(X.columns) if hasattr(X, "columns") else None
    return InputEncoder.fit(X, categorical_mask(X, categorical, names))


def test_numbers_are_scaled_as_scikit_learn_does(rng):
    X = rng.standard_normal((50, 3)) * [1, 10, 100]
    found = encoder_of(X)(X)
    assert_allclose(found - found.mean(axis=0), StandardScaler().fit_transform(X))


def test_categories_are_indicators_that_share_a_scale(frame):
    encoder = encoder_of(frame)
    found = encoder(frame)
    assert_array_equal(encoder.source, [0, 3, 4, 3, 1, 1, 1, 2, 2])
    indicators = OneHotEncoder(sparse_output=False).fit_transform(frame[["colour"]])
    scale = 1 / np.sqrt(indicators.var(axis=0).sum())
    assert_allclose(found[:, 4:7], scale * indicators)
    assert_array_equal(encoder.groups[4:], [4, 4, 4, 5, 5])
    assert found[:, 4:7].var(axis=0).sum() == pytest.approx(1)


def test_missing_numbers_are_medians_with_an_indicator(frame):
    encoder = encoder_of(frame)
    found, missing = encoder(frame), frame["age"].isna().to_numpy()
    assert_allclose(found[missing, 1], frame["age"].median() * encoder.scales[1])
    assert_array_equal(found[:, 3] > 0, missing)
    complete = encoder(frame.fillna({"age": 0.5}))
    assert_array_equal(complete[:, 3], 0)
    assert_array_equal(found[:, 2], 0)  # constant


def test_values_that_are_not_known_have_no_indicator(frame):
    encoder = encoder_of(frame)
    new = frame[:2].assign(town=["Oslo", None], colour=pd.Categorical(["red", None]))
    found = encoder(new)
    assert_array_equal(found[:, 7:], 0)
    assert_array_equal((found[:, 4:7] > 0).sum(axis=1), [1, 0])
    with_missing = frame.assign(town=np.where(np.arange(200) < 50, None, frame["town"]))
    assert len(encoder_of(with_missing).categories[1].values) == 3


def test_rare_categories_have_none():
    column = np.array([f"c{i}" for i in range(60)] + ["c59"] * 3 + ["c58"], dtype=object)
    kept = CategoryColumn.fit(0, column)
    assert len(kept.values) == 50
    assert {"c59", "c58", "c0"} <= set(kept.values)
    assert [each.value for each in kept.indicators] == list(kept.values)


def test_which_features_are_categories(frame):
    names = np.asarray(frame.columns)
    for given in (["colour", "town"], [1, 2], [False, True, True, False, False], "from_dtype"):
        assert_array_equal(np.flatnonzero(categorical_mask(frame, given, names)), [1, 2])
    assert not categorical_mask(frame, None, names).any()
    assert not categorical_mask(np.ones((2, 3)), "from_dtype", None).any()
    assert_array_equal(categorical_mask(np.ones((2, 3)), [0], None), [True, False, False])


def test_text_that_should_be_a_number_is_refused(frame):
    with pytest.raises(
        InvalidDataError, match=r"'town' of X \('Bonn'\), which should .*categorical_features"
    ):
        encoder_of(frame, ["colour"])


def test_a_table_is_predicted(rng, long_searches):
    n = 400
    frame = pd.DataFrame(
        {
            "x": rng.uniform(-2, 2, n),
            "kind": pd.Categorical(rng.choice(list("abcd"), n)),
            "gap": rng.standard_normal(n),
        }
    )
    effect = frame["kind"].map({"a": 0.0, "b": 1.0, "c": -1.0, "d": 2.0}).astype(float)
    y = np.sin(2 * frame["x"]) * effect + 0.1 * rng.standard_normal(n)
    frame.loc[rng.uniform(size=n) < 0.3, "gap"] = np.nan
    y += frame["gap"].isna() * 1.0
    train, test = slice(0, 300), slice(300, n)
    sieve = SieveRegressor(60, metric=False, random_state=0, kernel="rbf").fit(frame[train], y[train])
    assert sieve.score(frame[test], y[test]) > 0.9
    assert "3 features: 1 categorical feature was one-hot encoded, missing values of 1" in sieve.report_
    assert sieve.importances_.min() > 0.02


@pytest.mark.parametrize("options", [{"kernel": "laplacian"}, {"kernel": "matern", "metric": True}])
def test_importances_are_what_predictions_lose_without_a_feature(options):
    rng = np.random.default_rng(0)
    n = 250
    kinds, gone = rng.choice(["flat", "house", "mill"], n), rng.random(n) < 0.1
    X = pd.DataFrame({"kind": kinds, "size": rng.gamma(4, 25, n), "age": rng.uniform(0, 90, n)})
    y = X["size"] * (1 + (kinds == "house")) + 20 * np.sin(X["age"] / 15)
    X.loc[gone, "age"] = np.nan
    sieve = SieveRegressor(40, random_state=0, **options).fit(X, y)
    others, changes = rng.permutation(n), []
    for name in X.columns:
        changed = X.assign(**{name: X[name].to_numpy()[others]})
        changes.append(np.mean((sieve.predict(changed) - sieve.predict(X)) ** 2))
    assert_allclose(sieve.importances_, np.array(changes) / sum(changes), atol=0.05)
    lost = permutation_importance(sieve, X, y, n_repeats=5, random_state=0).importances_mean
    assert_array_equal(np.argsort(lost), np.argsort(sieve.importances_))


def test_identifiers_are_left_out(rng):
    X = pd.DataFrame({"a": rng.standard_normal(80), "id": [f"n{i}" for i in range(80)]})
    sieve = SieveRegressor(10, kernel="rbf", metric=False, random_state=0)
    with pytest.warns(IgnoredFeatureWarning, match="'id' of X has 80 different values.* left out"):
        sieve.fit(X, X["a"])
    assert sieve.importances_.tolist() == [1.0, 0.0]
    assert "1 with a value of its own for each sample was left out, giving 1 column." in sieve.report_
    assert_array_equal(sieve.predict(X), sieve.predict(X.assign(id="new")))
    assert_allclose(predictor(sieve)(X), sieve.predict(X), atol=1e-12)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([f"{i}.5" for i in range(99)] + ["n/a?"], r"'n/a\?' among numbers"),
        ([f"n{i}" for i in range(150)], "150 different values .* only 33%"),
    ],
)
def test_values_that_are_lost_are_told(column, message):
    X = pd.DataFrame({"b": column * 2})
    with pytest.warns(IgnoredFeatureWarning, match=message):
        encoder_of(X)


def test_columns_of_one_name_are_refused():
    X = pd.DataFrame(np.eye(4), columns=["a", "b", "a", "c"])
    for estimator in (SieveRegressor(2), SparseMaximalAlignment(2)):
        with pytest.raises(InvalidDataError, match="2 columns that are named 'a'"):
            estimator.fit(X, np.arange(4.0))


def test_the_column_with_text_is_named():
    sieve = SieveRegressor(5, kernel="rbf", metric=False, random_state=0)
    X = pd.DataFrame({"a": np.arange(30.0), "b": np.arange(30.0) % 7})
    sieve.fit(X, X["a"])
    with pytest.raises(InvalidDataError, match=r"text in column 'b' of X \('x'\)"):
        sieve.predict(X.astype(object).assign(b=["x", *range(29)]))
    with pytest.raises(InvalidDataError, match=r"text in column 1 of X \('x'\)"):
        sieve.fit(np.array([[1, 2], [3, "x"]], dtype=object), [1.0, 2.0])


def test_lists_are_no_categories():
    X = pd.DataFrame({"a": np.arange(20.0), "l": [[1, 2]] * 20})
    with pytest.raises(
        InvalidDataError, match=r"cannot be categories, such as \[1, 2\]; convert it to numbers"
    ):
        SieveRegressor(5).fit(X, X["a"])


@pytest.mark.filterwarnings("ignore::kernelsieve.exceptions.IgnoredFeatureWarning")
def test_identifiers_alone_say_nothing():
    X = pd.DataFrame({"id": [f"id {i}" for i in range(20)]})
    with pytest.raises(InvalidDataError, match="Every column of X has a value of its own for each"):
        SieveRegressor(5).fit(X, np.arange(20.0))
