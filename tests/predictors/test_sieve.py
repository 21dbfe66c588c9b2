"""SieveRegressor and SieveClassifier: predictions, intervals, probabilities, reasons, reports."""

import pickle
import re
import time
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scikit_checks import estimators_to_check, run_checks
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import Ridge
from sklearn.metrics import log_loss, mean_poisson_deviance
from sklearn.model_selection import KFold, train_test_split

from kernelsieve import SieveClassifier, SieveRegressor
from kernelsieve.data import single_threaded_blas
from kernelsieve.exceptions import AmbiguousTargetWarning, InvalidDataError, InvalidParameterError
from kernelsieve.predictors import assembly
from kernelsieve.predictors.kinds import AUTOMATIC, KINDS
from kernelsieve.predictors.landmark_fit import RIDGES, LandmarkFit
from kernelsieve.predictors.metrics import Samples, learnt_metrics
from kernelsieve.predictors.race import Race


def table(n_samples, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, 5))
    signal = np.sin(2 * X[:, 0]) + X[:, 1] ** 2
    return X, signal, signal + 0.2 * rng.standard_normal(n_samples)


@pytest.fixture(scope="module")
def fitted():
    X, _, y = table(300)
    return X, y, SieveRegressor(40, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def classified():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    X, X_new, names, names_new = train_test_split(X, names, random_state=0, stratify=names)
    return X, names, X_new, names_new, SieveClassifier(40, random_state=0).fit(X, names)


def quick(kind=SieveRegressor, **parameters):
    return kind(
        **{"n_landmarks": 30, "metric": False, "kernel": "rbf", "random_state": 0, **parameters}
    )


def test_nothing_as_large_as_the_search_is_kept(fitted):
    _, _, sieve = fitted
    assert len(pickle.dumps(sieve)) < 500_000  # functions that were compared take many megabytes


# -- predictions


def test_new_samples_are_predicted(fitted):
    _, _, sieve = fitted
    X_new, signal, _ = table(2000, seed=1)
    assert sieve.score(X_new, signal) > 0.9
    assert len(sieve.landmark_indices_) <= 40


def test_the_head_is_ridge_regression_in_the_norm_of_the_kernel(fitted):
    X, y, sieve = fitted
    model, preparation = sieve._sieve.model, sieve._sieve.preparation
    U = preparation.mapped(X)
    assert_array_equal(model.landmarks, U[sieve.landmark_indices_])
    values, vectors = np.linalg.eigh(model.kernel.block(model.landmarks, model.landmarks))
    root = vectors[:, values > 1e-12 * values[-1]] / np.sqrt(values[values > 1e-12 * values[-1]])
    features = model.kernel.block(U, model.landmarks) @ root
    ridge = Ridge(sieve._sieve.ridge * len(X), solver="cholesky").fit(features, y)
    assert_allclose(sieve.predict(X), ridge.predict(features), atol=1e-6)


def test_several_targets_are_predicted_together():
    X, _, y = table(300)
    Y = np.column_stack([y, 100 * X[:, 2]])
    sieve = quick(n_landmarks=80).fit(X, Y)
    assert sieve.predict(X).shape == (300, 2)
    assert sieve.predict_interval(X).shape == (300, 2, 2)
    assert sieve.explain(X[:4]).contributions.shape == (4, len(sieve.landmark_indices_), 2)
    assert sieve.score(X, Y) > 0.7


def test_many_samples_are_fitted_in_one_pass(monkeypatch):
    for module in ("assembly", "base", "regressor"):
        monkeypatch.setattr(f"kernelsieve.predictors.{module}.MANY_SAMPLES", 500)
    monkeypatch.setattr("kernelsieve.predictors.assembly.CALIBRATION_SAMPLES", 200)
    X, _, y = table(2000)
    sieve = quick().fit(X, y)
    assert "folds of 1800 samples" in sieve.report_
    assert len(sieve._sieve.held_out.scores) == 200
    assert_array_equal(
        sieve._sieve.model.landmarks, sieve._sieve.preparation.mapped(X)[sieve.landmark_indices_]
    )
    assert sieve.score(X, y) > 0.9


def test_two_fits_agree_and_a_clone_is_not_fitted(fitted):
    X, y, _ = fitted
    first, second = (quick(metric=True).fit(X[:200], y[:200]) for _ in range(2))
    assert_array_equal(first.predict(X), second.predict(X))
    assert "_sieve" not in vars(clone(first))


@pytest.mark.parametrize("kernel", ["laplacian", "matern", "rational_quadratic"])
def test_kernels_that_are_asked_for(kernel):
    X, _, y = table(200)
    sieve = quick(kernel=kernel).fit(X, y)
    assert sieve.kernel_.name == kernel
    assert f"kernel {kernel!r}" in sieve.report_


def test_folds_may_be_given():
    X, _, y = table(200)
    sieve = quick(cv=KFold(3)).fit(X, y)
    assert "3 folds of 200 samples" in sieve.report_
    pairs = list(KFold(3).split(X))
    assert_array_equal(quick(cv=pairs).fit(X, y).predict(X), sieve.predict(X))


# -- weights


def test_weights_of_zero_leave_samples_out():
    X, _, y = table(300)
    weight = np.repeat([1.0, 0.0], 150)
    y[150:] = 1e6
    sieve = quick().fit(X, y, sample_weight=weight)
    again = quick().fit(X, y, sample_weight=3 * weight)
    assert_allclose(sieve.predict(X), again.predict(X), atol=1e-9)
    assert sieve.landmark_indices_.max() < 150
    assert np.abs(sieve.predict(X[:150])).max() < 10


def test_a_weight_counts_as_so_many_samples():
    X, _, y = table(240)
    pairs = [(np.arange(80, 240), np.arange(80)), (np.arange(80), np.arange(80, 240))]
    twice = np.concatenate([np.arange(240), np.arange(80)])
    folds = [(np.flatnonzero(np.isin(twice, a)), np.flatnonzero(np.isin(twice, b))) for a, b in pairs]
    sieve = quick(cv=pairs).fit(X, y)
    recipe, mapped = sieve._sieve.preparation.recipe, sieve._sieve.preparation.mapped
    weight = np.where(np.arange(240) < 80, 2.0, 1.0)
    weighted = assembly.MappedSamples(mapped(X), y[:, None], weight)
    repeated = assembly.MappedSamples(mapped(X[twice]), y[twice][:, None], np.ones(320))
    loss = sieve._loss
    first = assembly.fit_folds(sieve._sieve.preparation, weighted, pairs, loss)
    second = assembly.fit_folds(sieve._sieve.preparation, repeated, folds, loss)
    assert first.ridge == second.ridge
    assert recipe.n_landmarks == 30
    scores = [found.model.features(mapped(X)) for found in (first, second)]
    assert_allclose(*scores, atol=1e-6)


def test_rare_classes_may_be_weighted():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    y = (X[:, 0] + rng.standard_normal(300) > 1.8).astype(int)
    plain, balanced = (quick(SieveClassifier, class_weight=w).fit(X, y) for w in (None, "balanced"))
    recall = [np.mean(m.predict(X)[y == 1]) for m in (plain, balanced)]
    assert recall[1] > recall[0] + 0.2
    weight = {0: 1.0, 1: 4.0}
    by_samples = quick(SieveClassifier).fit(X, y, sample_weight=np.where(y == 1, 4.0, 1.0))
    by_classes = quick(SieveClassifier, class_weight=weight).fit(X, y)
    assert_allclose(by_classes.predict_proba(X), by_samples.predict_proba(X))


# -- intervals and probabilities


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_intervals_hold_as_many_targets_as_asked_for(fitted, coverage):
    _, _, sieve = fitted
    X, _, y = table(4000, seed=2)
    lower, upper = sieve.predict_interval(X, coverage).T
    chance = np.sqrt(coverage * (1 - coverage) / 300)  # of the samples that calibrate
    assert np.mean((lower <= y) & (y <= upper)) == pytest.approx(coverage, abs=3 * chance)
    assert_allclose((lower + upper) / 2, sieve.predict(X))


def test_counts_have_a_mean_and_intervals_above_zero():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 3))
    mean = np.exp(np.sin(2 * X[:, 0]) + 0.5 * X[:, 1])
    y = rng.poisson(mean)
    sieve = quick(loss="poisson").fit(X[:1000], y[:1000])
    plain = quick().fit(X[:1000], y[:1000])
    assert sieve.predict(X).min() > 0
    error, other = (np.mean((m.predict(X[1000:]) - mean[1000:]) ** 2) for m in (sieve, plain))
    assert error < other
    constant = np.full(500, y[:1000].mean())
    deviances = [mean_poisson_deviance(y[1000:], p) for p in (sieve.predict(X[1000:]), constant)]
    assert deviances[0] < 0.75 * deviances[1]
    lower, upper = sieve.predict_interval(X[1000:]).T
    assert lower.min() >= 0
    assert np.mean((lower <= y[1000:]) & (y[1000:] <= upper)) == pytest.approx(0.9, abs=0.05)
    found = sieve.explain(X[:3])
    assert_allclose(found.baseline + found.contributions.sum(axis=1), np.log(sieve.predict(X[:3])))
    assert not hasattr(sieve, "partial_fit")


def test_labels_are_the_likeliest(classified):
    _, _, X_new, y_new, sieve = classified
    probabilities = sieve.predict_proba(X_new)
    assert_allclose(probabilities.sum(axis=1), 1)
    assert_array_equal(sieve.predict(X_new), sieve.classes_[probabilities.argmax(axis=1)])
    assert sieve.score(X_new, y_new) > 0.9


def test_probabilities_are_better_than_scores():
    X, signal, _ = table(1300)
    noise = 0.6 * np.random.default_rng(1).standard_normal(1300)
    y = np.digitize(signal + noise, [0, 1.5])
    sieve = quick(SieveClassifier).fit(X[:300], y[:300])
    scores = np.clip(sieve.decision_function(X[300:]), 1e-3, 1)
    plain = log_loss(y[300:], scores / scores.sum(axis=1, keepdims=True))
    assert log_loss(y[300:], sieve.predict_proba(X[300:])) < plain


# -- reasons


def test_contributions_add_up_to_predictions(fitted, classified):
    X, _, sieve = fitted
    found = sieve.explain(X[:7])
    assert_allclose(found.baseline + found.contributions.sum(axis=1), sieve.predict(X[:7]), atol=1e-8)
    at_landmarks = sieve.explain(X[sieve.landmark_indices_])
    assert at_landmarks.similarities[0, 0] == pytest.approx(1)
    assert_array_equal(np.abs(at_landmarks.contributions).argmax(axis=1)[:3], [0, 1, 2])
    strongest = found.strongest(2, 3)
    assert len(strongest) == 3
    assert np.abs(found.contributions[2]).max() == np.abs(found.contributions[2, strongest[0]])
    X, _, _, _, several = classified
    found = several.explain(X[:4])
    assert_allclose(found.baseline + found.contributions.sum(axis=1), several.decision_function(X[:4]))
    two = quick(SieveClassifier).fit(X, X[:, 0] > 6)
    found = two.explain(X[:4])
    assert_allclose(found.baseline + found.contributions.sum(axis=1), two.decision_function(X[:4]))


def test_importances_are_those_of_inputs_that_count(fitted):
    _, _, sieve = fitted
    assert sieve.importances_[:2].sum() > 0.9
    assert sieve.importances_.sum() == pytest.approx(1)


def test_a_constant_input_counts_for_nothing():
    X, _, y = table(200)
    X[:, 3] = 7.0
    for kernel in ("rbf", "laplacian"):
        sieve = quick(kernel=kernel, metric=True).fit(X, y)
        assert sieve.importances_[3] == 0
        assert np.isfinite(sieve.importances_).all()
        shifted = X.copy()
        shifted[:, 3] = -1e6
        assert_array_equal(sieve.predict(shifted), sieve.predict(X))


def test_the_report_says_what_was_chosen(fitted):
    _, _, sieve = fitted
    preparation = sieve._sieve.preparation
    best = preparation.compared[0]
    assert f"kernel {best.kind.name!r} (gamma={best.gamma:.3g}" in sieve.report_
    assert sieve.kernel_.gamma == preparation.recipe.gamma == best.gamma
    assert len({each.kind.label for each in preparation.compared}) == 4
    assert "a metric (" in sieve.report_
    n_landmarks = len(sieve.landmark_indices_)
    assert f"Fitted to 300 samples with {n_landmarks} landmarks" in sieve.report_
    assert f"held-out R2 {1 - best.error:.3f}. " in sieve.report_
    assert re.search(r"Most important features: x[01] \(", sieve.report_)
    assert "no metric" in quick().fit(*table(100)[::2]).report_


def test_the_report_has_scores_of_held_out_samples(fitted, classified):
    for sieve, name, least in ((fitted[2], "R2", 0.8), (classified[4], "accuracy", 0.9)):
        score = float(re.search(rf"On held-out samples: {name} (\d\.\d+)\. ", sieve.report_)[1])
        assert least < score <= 1
    assert "of the class indicators" in classified[4].report_


# -- calibration by few samples


def test_every_one_of_few_samples_calibrates_once(fitted, classified):
    for sieve, n_samples in (
        (fitted[2], 300),
        (classified[4], 112),
        (quick().fit(*table(50)[::2]), 50),
    ):
        assert len(sieve._sieve.held_out.scores) == n_samples


def test_a_metric_never_sees_the_part_that_is_held_out_of_it():
    X, _, y = table(150)
    Y = (y[:, None] - y.mean()) / y.std()
    samples = Samples.divided(X, Y, np.ones(150), np.arange(5), True)
    metric = list(learnt_metrics(samples, KINDS["rbf"], 1.0, first_only=False))[-1]
    whole = metric.of_every_part(samples)
    assert len(whole.of_parts) == 3
    for part, L in enumerate(whole.of_parts):
        others = replace(samples, Y=np.where(samples.part[:, None] == part, -Y, Y))
        again = next(
            each
            for each in learnt_metrics(others, KINDS["rbf"], 1.0, first_only=False)
            if each.name == metric.name
        )
        again = replace(again, width=metric.width).of_every_part(others)
        assert_allclose(again.of_parts[part], L, atol=1e-10)
        assert not np.allclose(again.of_parts[(part + 1) % 3], whole.of_parts[(part + 1) % 3])


def test_labels_by_chance_are_not_predicted():
    X, _, _ = table(120)
    y = np.random.default_rng(1).permutation(np.arange(120) % 2)
    sieve = SieveClassifier(40, random_state=0).fit(X, y)
    X_new, _, _ = table(1000, seed=4)
    assert log_loss(np.arange(1000) % 2, sieve.predict_proba(X_new)) < 0.75


# -- a budget


def test_a_time_budget_is_kept():
    X, _, y = table(20_000)
    start = time.perf_counter()
    sieve = SieveRegressor(100, time_budget=6.0, random_state=0).fit(X, y)
    assert time.perf_counter() - start < 12  # steps that have begun are finished
    assert sieve.score(X, y) > 0.8


class Watch:
    """A clock that is over after so many questions."""

    left = 100.0

    def __init__(self, questions):
        self.questions = questions

    def part(self, share):
        return self

    @property
    def is_over(self):
        self.questions -= 1
        return self.questions < 0


def test_more_time_never_gives_up_a_better_model():
    X, _, y = table(150)
    Y = (y[:, None] - y.mean()) / y.std()
    samples = Samples.divided(X, Y, np.ones(150), np.arange(5), True)

    def compared(questions):
        watch = Watch(questions)
        with single_threaded_blas():
            entries = Race(samples, 20, watch).run(AUTOMATIC, True)
        return [entry.result for entry in entries], questions - watch.questions

    whole, asked = compared(99)
    assert "identity" in [result.metric for result in whole]
    errors = {(each.kind.label, each.metric): each.error for each in whole}
    before = np.inf
    for questions in range(asked - len(whole) + 1, asked + 1):
        found, _ = compared(questions)
        assert all(each.error == errors[each.kind.label, each.metric] for each in found)
        chance = 1 - 1 / np.sqrt(150)  # by which a metric must be better than none
        assert chance * found[0].error <= min(before, *(each.error for each in found), np.inf)
        before = found[0].error
    assert before == whole[0].error
    assert len(compared(0)[0]) < len(whole)


def test_scores_of_left_out_samples_are_those_of_fits_without_them():
    X, _, y = table(80)
    U, Y, weight = X[:, :2], y[:, None], np.random.default_rng(0).uniform(0.5, 2, 80)
    kernel = KINDS["rbf"].kernel(U, 1.0)
    fit = LandmarkFit.to(kernel, U, Y, weight, 20)
    features = kernel.block(U, U[:20]) @ fit.root
    for i in (0, 30, 79):
        others = np.arange(80) != i
        ridge = RIDGES[10] * weight.sum()
        peer = Ridge(ridge).fit(features[others], Y[others], sample_weight=weight[others])
        assert_allclose(fit.residuals[10, i], Y[i] - peer.predict(features[[i]]).ravel(), rtol=1e-6)


# -- samples in parts


def test_samples_in_parts_are_all_samples():
    X, _, y = table(1200)
    sieve = quick(kernel="laplacian", n_landmarks=60)
    for start in range(0, 1200, 400):
        rows = slice(start, start + 400)
        sieve.partial_fit(X[rows], y[rows])
    assert "folds of 1200 samples" in sieve.report_
    assert len(sieve._sieve.held_out.scores) == 1200
    X_new, signal, y_new = table(2000, seed=3)
    first = quick(kernel="laplacian", n_landmarks=60).fit(X[:400], y[:400])
    errors = [np.mean((m.predict(X_new) - signal) ** 2) for m in (sieve, first)]
    assert errors[0] < 0.9 * errors[1]
    lower, upper = sieve.predict_interval(X_new).T
    assert np.mean((lower <= y_new) & (y_new <= upper)) == pytest.approx(0.9, abs=0.06)


def test_labels_in_parts():
    X, signal, _ = table(1500)
    y = np.digitize(signal, [0, 1.5])
    sieve = quick(SieveClassifier, n_landmarks=80)
    first = y[:500] < 2
    sieve.partial_fit(X[:500][first], y[:500][first], classes=[0, 1, 2])
    sieve.partial_fit(X[500:], y[500:])
    assert sieve.score(X, y) > 0.85
    with pytest.raises(InvalidDataError, match=r"the label .*3.* none of \[0, 1, 2\]"):
        sieve.partial_fit(X, y + 1)
    with pytest.raises(InvalidParameterError, match="'balanced' counts all labels"):
        quick(SieveClassifier, class_weight="balanced").partial_fit(X, y)


def test_samples_of_a_file(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    import pyarrow as pa
    import pyarrow.dataset
    import pyarrow.parquet

    monkeypatch.setattr("kernelsieve.predictors.base.SETTLING_SAMPLES", 500)
    monkeypatch.setattr("kernelsieve.predictors.streams.CALIBRATION_SAMPLES", 150)
    X, _, y = table(1500)
    columns = {f"x{i}": X[:, i] for i in range(5)} | {"y": y}
    pyarrow.parquet.write_table(pa.table(columns), tmp_path / "table.parquet")
    dataset = pyarrow.dataset.dataset(tmp_path / "table.parquet")
    sieve = quick().fit(dataset, "y")
    assert "folds of 1350 samples out of core" in sieve.report_
    frame = dataset.to_table().to_pandas().drop(columns="y")
    assert sieve.score(frame, y) > 0.8
    assert_allclose(sieve.predict(dataset), sieve.predict(frame))
    assert list(sieve.feature_names_in_) == [f"x{i}" for i in range(5)]
    landmarks = sieve._sieve.preparation.mapped(X)[sieve.landmark_indices_]
    assert_allclose(sieve._sieve.model.landmarks, landmarks)


# -- bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_landmarks": 0}, "n_landmarks"),
        ({"kernel": "gauss"}, "kernel"),
        ({"time_budget": 0}, "time_budget"),
        ({"loss": "absolute"}, "loss"),
        ({"categorical_features": [9]}, "has 9, which is not a feature of X"),
        ({"categorical_features": "all"}, "'all' is not known"),
    ],
)
def test_parameters_that_cannot_work(parameters, message):
    X, _, y = table(50)
    with pytest.raises(ValueError, match=message):
        quick(**parameters).fit(X, y)


def test_many_numbers_as_labels_are_asked_about():
    y = load_diabetes().target  # 214 values
    with pytest.warns(AmbiguousTargetWarning, match="214 different numbers in 442 .*SieveRegressor"):
        SieveClassifier()._targets(y, len(y))
    few = np.arange(200) % 30
    assert SieveClassifier()._targets(few, len(few)).shape == (200, 30)


def test_data_that_cannot_be_used():
    X, _, y = table(50)
    with pytest.raises(InvalidDataError, match="All sample weights are zero"):
        quick().fit(X, y, sample_weight=np.zeros(50))
    with pytest.raises(InvalidDataError, match="y is constant"):
        quick().fit(X, np.ones(50))
    with pytest.raises(InvalidDataError, match="needs counts, 0 or above"):
        quick(loss="poisson").fit(X, -np.abs(y))
    with pytest.raises(InvalidDataError, match=r"label 'a' where numbers.*SieveClassifier"):
        quick().fit(X, np.where(y > 0, "a", "b"))
    with pytest.raises(InvalidParameterError, match=r"coverage=1\.5 must be"):
        quick().fit(X, y).predict_interval(X, 1.5)
    with pytest.raises(InvalidDataError, match="no fold whose training samples differ"):
        quick(cv=[(np.arange(10), np.arange(10, 50))]).fit(X, np.where(np.arange(50) < 10, 0.0, y))
    with pytest.raises(ValueError, match=r"Sparse data was passed for X.*toarray"):
        quick().fit(sparse.csr_matrix(X), y)


# -- scikit-learn


REPEATED = {
    "check_sample_weight_equivalence_on_dense_data": (
        "samples that choose the kernel are others when some are repeated"
    )
}


@estimators_to_check(
    [
        SieveRegressor(20, random_state=0, metric=False, kernel="rbf", cv=3),
        SieveClassifier(5, random_state=0, metric=False, kernel="matern"),
    ]
)
def test_scikit_learn_checks(estimator):
    run_checks(estimator, REPEATED)


@pytest.mark.slow
@estimators_to_check(
    [
        SieveRegressor(20, random_state=0, metric=False, kernel="laplacian", loss="poisson"),
        SieveClassifier(20, random_state=0, metric=False, kernel="rbf"),
    ]
)
def test_scikit_learn_checks_of_options(estimator):
    run_checks(estimator, REPEATED)


@pytest.mark.parametrize("seed", [8, 12])
def test_a_kernel_that_becomes_constant_loses_the_comparison(seed):
    """The evidence of a linear function grows with the width, and a rare input may widen it, too."""
    random = np.random.default_rng(seed)
    X = np.c_[random.uniform(20, 200, 80), random.integers(1, 8, 80), np.zeros(80)]
    y = 2 * X[:, 0] + 30 * (random.random(80) < 0.33) + random.normal(0, 5, 80)
    X[3, 0] = np.nan
    assert SieveRegressor(n_landmarks=10, random_state=0, cv=2).fit(X, y).score(X, y) > 0.9
