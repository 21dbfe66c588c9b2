"""ComponentPathCV: the scores of GridSearchCV, from one fit a fold."""

import warnings

import numpy as np
import pandas as pd
import pytest
from naive import CountingKernel
from numpy.testing import assert_allclose, assert_array_equal
from scikit_checks import estimators_to_check, run_checks
from scipy import sparse
from sklearn import get_config
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import make_scorer, mean_absolute_error
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    ShuffleSplit,
    cross_val_score,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler, scale

import kernelsieve
from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    BoostedLatentFeatures,
    KernelBoostedLatentFeatures,
    KernelBoostedLatentFeaturesClassifier,
    KernelPCA,
    KernelPLS,
    KernelPLSClassifier,
    OrthogonalLoadingsKernelPLS,
    SparseKernelFisherDiscriminant,
    SparseKernelPLS,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
    SubspaceKernelFeatures,
)
from kernelsieve.estimators import KernelEstimator
from kernelsieve.exceptions import AmbiguousTargetWarning, FewerFeaturesWarning, InvalidParameterError
from kernelsieve.model_selection import ComponentPathCV, nested_cross_validate
from kernelsieve.model_selection.table import geometric_subset

CV = KFold(3, shuffle=True, random_state=0)
SIZES = [1, 2, 3, 5, 8]


def scores_of_grid_search(estimator, grid, X, y, cv=CV, scoring=None, **fit_params):
    """Fold by fold, settings in the order of the grid."""
    search = GridSearchCV(estimator, grid, cv=cv, scoring=scoring, return_train_score=True, refit=False)
    results = search.fit(X, y, **fit_params).cv_results_
    folds = range(search.n_splits_)
    return tuple(
        np.array([results[f"split{i}_{part}_score"] for i in folds]) for part in ("train", "test")
    )


def assert_same_scores(search, expected):
    n_folds = search.n_splits_
    assert_allclose(search.path_["train_score"].reshape(n_folds, -1), expected[0], atol=1e-8)
    assert_allclose(search.path_["test_score"].reshape(n_folds, -1), expected[1], atol=1e-8)


# ---------------------------------------------------------------------- scores


@pytest.mark.parametrize(
    "extractor",
    [
        SparseMaximalAlignment(),
        SparseMaximalCovariance(center=False),
        SparseMaximalAlignment(candidates=60, random_state=0),
        AcceleratedKernelFeatureAnalysis(),
        KernelPCA(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("head", [LinearRegression(), Ridge(0.3)], ids=repr)
def test_scores_are_those_of_grid_search_over_the_number_of_features(extractor, head, diabetes):
    X, y = (array[:200] for array in diabetes)
    search = ComponentPathCV(
        extractor, head, n_components=SIZES, param_grid={"gamma": [0.02, 0.1]}, cv=CV
    ).fit(X, y)
    pipeline = Pipeline([("extract", extractor), ("head", head)])
    grid = {"extract__gamma": [0.02, 0.1], "extract__n_components": SIZES}
    assert_same_scores(search, scores_of_grid_search(pipeline, grid, X, y))


@pytest.mark.parametrize(
    ("head", "scoring"),
    [
        (RidgeClassifier(), None),
        (RidgeClassifier(), "roc_auc"),
        (LogisticRegression(), "neg_log_loss"),
        (LogisticRegression(), "f1"),
    ],
)
def test_classifiers_any_scorer_and_scaling_inside_the_fold(head, scoring, cancer):
    X, y = (array[:250] for array in cancer)
    extractor = make_pipeline(StandardScaler(), SparseMaximalAlignment())
    search = ComponentPathCV(extractor, head, n_components=SIZES, cv=4, scoring=scoring).fit(X, y)
    pipeline = Pipeline([("extract", extractor), ("head", head)])
    grid = {"extract__sparsemaximalalignment__n_components": SIZES}
    assert_same_scores(search, scores_of_grid_search(pipeline, grid, X, y, 4, scoring))
    assert search.best_estimator_.extractor[-1].n_components_ == search.best_n_components_


@pytest.mark.parametrize(
    "extractor",
    [
        KernelPLS(gamma="scale"),
        KernelPLS(candidates=50, gamma="scale", random_state=0),
        KernelBoostedLatentFeatures(loss="absolute"),
        OrthogonalLoadingsKernelPLS(),
        SparseKernelPLS(random_state=0),
        BoostedLatentFeatures(),
    ],
    ids=repr,
)
def test_extractors_that_predict_need_no_head(extractor, diabetes):
    X, y = diabetes
    search = ComponentPathCV(extractor, n_components=[1, 2, 4], cv=CV).fit(X, y)
    expected = scores_of_grid_search(extractor, {"n_components": [1, 2, 4]}, X, y)
    assert_same_scores(search, expected)
    k = search.best_n_components_
    assert_allclose(search.predict(X), clone(extractor).set_params(n_components=k).fit(X, y).predict(X))


def test_own_heads_tell_classes_apart_in_stratified_folds(cancer):
    X, y = cancer
    order = np.argsort(y, kind="stable")  # folds without strata would lack a class
    extractor = KernelBoostedLatentFeaturesClassifier(5, loss="logistic")
    search = ComponentPathCV(extractor, scoring="neg_log_loss").fit(X[order], y[order])
    assert search.predict_proba(X).shape == (len(X), 2)
    assert search.path_["test_score"].max() > -0.2
    assert_array_equal(search.classes_, [0, 1])


def test_parameters_of_the_head(diabetes):
    X, y = diabetes
    kernel = CountingKernel(0.05)
    extractor = SparseMaximalAlignment(kernel=kernel)
    grid = {"head__alpha": [0.1, 10.0, 1000.0]}
    search = ComponentPathCV(
        extractor, Ridge(), n_components=SIZES, param_grid=grid, cv=CV, refit=False
    ).fit(X, y)
    pipeline = Pipeline([("e", SparseMaximalAlignment(gamma=0.05)), ("head", Ridge())])
    expected = scores_of_grid_search(pipeline, {**grid, "e__n_components": SIZES}, X, y)
    # the same grid in another order: there, k varies most slowly
    expected = [e.reshape(3, len(SIZES), 3).transpose(0, 2, 1).reshape(3, -1) for e in expected]
    assert_same_scores(search, expected)
    assert set(search.best_params_) == {"head__alpha"}


@pytest.mark.parametrize(
    ("kernel", "make"),
    [
        *((kernel, np.asarray) for kernel in ("rbf", "laplacian", "poly")),
        *((kernel, sparse.csr_matrix) for kernel in ("rbf", "sigmoid")),
    ],
)
def test_shared_distances_change_nothing(kernel, make, diabetes):
    X, y = make(diabetes[0][:200]), diabetes[1][:200]
    gammas = [0.01, 0.1, 0.3]
    extractor = SparseMaximalAlignment(6, kernel=kernel)
    together = ComponentPathCV(extractor, Ridge(), param_grid={"gamma": gammas}, cv=CV).fit(X, y)
    for place, gamma in enumerate(gammas):
        alone = ComponentPathCV(clone(extractor).set_params(gamma=gamma), Ridge(), cv=CV).fit(X, y)
        lines = together.path_["param_gamma"] == gamma
        assert_allclose(together.path_["test_score"][lines], alone.path_["test_score"], atol=1e-8)
        assert lines.reshape(3, 3, 6)[:, place].all()


def test_shared_distances_are_not_mixed_up_beside_a_large_input():
    X = np.column_stack([np.full(120, 1e16), np.random.RandomState(1).random_sample((120, 3))])
    y = 3 * X[:, 1] + X[:, 2]
    extractor = SparseMaximalAlignment(4, kernel="laplacian")
    together = ComponentPathCV(extractor, Ridge(), param_grid={"gamma": [0.5, 1.0]}).fit(X, y)
    for gamma in (0.5, 1.0):
        alone = ComponentPathCV(clone(extractor).set_params(gamma=gamma), Ridge()).fit(X, y)
        lines = together.path_["param_gamma"] == gamma
        assert_allclose(together.path_["test_score"][lines], alone.path_["test_score"], atol=1e-8)


def test_groups_are_kept_together_and_weights_count(diabetes, rng):
    X, y = diabetes
    groups, weight = rng.integers(0, 12, len(y)), rng.integers(0, 3, len(y))
    seen = []

    class Watched(GroupKFold):
        def split(self, X, y, groups):
            for train, test in super().split(X, y, groups):
                seen.append(set(groups[train]) & set(groups[test]))
                yield train, test

    search = ComponentPathCV(SparseMaximalAlignment(5), Ridge(), cv=Watched(4))
    search.fit(X, y, groups=groups, sample_weight=weight)
    assert seen == [set()] * 4
    repeated = np.repeat(np.arange(len(y)), weight)
    again = ComponentPathCV(SparseMaximalAlignment(5, gamma=1 / (10 * X.var())), Ridge())
    again.set_params(extractor__gamma=0.1, cv=GroupKFold(4)).fit(
        X[repeated], y[repeated], groups=groups[repeated]
    )
    weighted = clone(again)
    # the same folds, by rows that are repeated and by rows that are weighted
    folds = list(GroupKFold(4).split(X[repeated], y[repeated], groups[repeated]))
    of_rows = [tuple(np.unique(repeated[part]) for part in fold) for fold in folds]
    weighted.set_params(cv=of_rows).fit(X, y, sample_weight=weight)
    assert_allclose(weighted.path_["test_score"], again.path_["test_score"], atol=1e-8)
    assert_allclose(weighted.path_["train_score"], again.path_["train_score"], atol=1e-8)
    assert_allclose(weighted.predict(X), again.predict(X), atol=1e-7 * np.abs(y).max())


def test_scorers_see_the_model_and_the_rows(diabetes):
    X, y = diabetes
    seen = []

    def scorer(model, rows, target):
        seen.append((rows.shape, model.transform(rows).shape[1]))
        return -mean_absolute_error(target, model.predict(rows))

    search = ComponentPathCV(SparseMaximalAlignment(3), Ridge(), cv=CV, scoring=scorer).fit(
        X, y, sample_weight=np.ones(len(y))
    )
    assert {k for _, k in seen} == {1, 2, 3}
    assert {shape[1] for shape, _ in seen} == {10}
    named = ComponentPathCV(
        SparseMaximalAlignment(3), Ridge(), cv=CV, scoring="neg_mean_absolute_error"
    ).fit(X, y)
    assert_allclose(search.path_["test_score"], named.path_["test_score"])
    assert search.score(X, y) == pytest.approx(-mean_absolute_error(y, search.predict(X)))


@pytest.mark.parametrize(
    "scoring",
    ["neg_max_error", make_scorer(lambda truth, found: -np.abs(truth - found).mean())],
    ids=["neg_max_error", "make_scorer"],
)
def test_metrics_that_take_no_weights_are_called_without(scoring, diabetes):
    X, y = diabetes
    search = ComponentPathCV(SparseMaximalAlignment(3), Ridge(), cv=CV, scoring=scoring)
    weighted = clone(search).fit(X, y, sample_weight=np.ones(len(y)))
    assert_allclose(weighted.path_["test_score"], search.fit(X, y).path_["test_score"], atol=1e-8)
    assert weighted.score(X, y, sample_weight=np.ones(len(y))) == pytest.approx(search.score(X, y))


def test_an_extractor_without_target_or_head_is_scored_by_a_function(diabetes):
    X, _ = diabetes

    def gain(model, rows):
        return float((model.transform(rows) ** 2).sum(axis=1).mean())

    search = ComponentPathCV(AcceleratedKernelFeatureAnalysis(5), scoring=gain, cv=CV, rule="best").fit(
        X
    )
    assert search.best_n_components_ == 5
    assert search.transform(X).shape == (len(X), 5)
    assert not hasattr(search, "predict")
    with pytest.raises(InvalidParameterError, match="does not predict by itself; pass a head"):
        ComponentPathCV(AcceleratedKernelFeatureAnalysis(5)).fit(X)


def test_precomputed_kernels(diabetes):
    X, y = diabetes
    K = rbf_kernel(X, gamma=0.1)
    direct = ComponentPathCV(SparseMaximalAlignment(6, gamma=0.1), Ridge(), cv=CV).fit(X, y)
    search = ComponentPathCV(SparseMaximalAlignment(6, kernel="precomputed"), Ridge(), cv=CV).fit(K, y)
    assert_allclose(search.path_["test_score"], direct.path_["test_score"], atol=1e-8)
    assert_allclose(search.predict(K), direct.predict(X), atol=1e-6)
    outer = [nested_cross_validate(s, d, y, cv=CV).test_score for s, d in ((direct, X), (search, K))]
    assert_allclose(outer[0], outer[1], atol=1e-8)


# ---------------------------------------------------------------------- cost


def test_the_extractor_is_fitted_once_for_each_fold_and_setting(diabetes):
    X, y = diabetes[0][:90], diabetes[1][:90]
    kernel = CountingKernel(0.05)
    extractor = SparseMaximalAlignment(kernel=kernel, candidates="all")

    def evaluations_of(sizes):
        kernel.evaluations = 0
        with pytest.MonkeyPatch.context() as patch:
            # the copies that are fitted have to count in the same kernel
            patch.setattr(CountingKernel, "__deepcopy__", lambda self, memo: self, raising=False)
            ComponentPathCV(
                extractor, Ridge(), n_components=sizes, param_grid={"center": [True, False]}, cv=CV
            ).fit(X, y)
        return kernel.evaluations

    n, n_train, n_test, k = 90, 60, 30, 12
    one_fit = n_train**2 + 1
    features = (n_train + n_test) * k
    refit = n**2 + 1 + n * k
    expected = 3 * 2 * (one_fit + features) + refit
    assert evaluations_of(np.arange(1, k + 1)) <= expected
    # not one evaluation more than for the largest number of features alone
    assert evaluations_of(np.arange(1, k + 1)) == evaluations_of([k])
    assert evaluations_of([k]) > 3 * 2 * n_train**2


def test_fits_are_counted(diabetes, monkeypatch):
    X, y = diabetes
    fits = []
    original = SparseMaximalAlignment.fit

    def counted(self, *args, **kwargs):
        fits.append(self.n_components)
        return original(self, *args, **kwargs)

    monkeypatch.setattr(SparseMaximalAlignment, "fit", counted)
    grid = {"gamma": [0.1, 0.2], "head__alpha": [0.1, 1.0, 10.0]}
    ComponentPathCV(SparseMaximalAlignment(), Ridge(), n_components=20, param_grid=grid, cv=CV).fit(
        X, y
    )
    assert fits == [20] * (3 * 2 + 1)


def test_path_tells_the_price_of_a_new_row(diabetes):
    X, y = diabetes
    sparse_search = ComponentPathCV(SparseMaximalAlignment(6), Ridge(), cv=CV).fit(X, y)
    assert_array_equal(sparse_search.path_["kernel_evaluations"], sparse_search.path_["k"])
    dense = ComponentPathCV(KernelPCA(6), Ridge(), cv=CV).fit(X, y)
    folds = [len(train) for train, _ in CV.split(X)]
    assert_array_equal(dense.path_["kernel_evaluations"], np.repeat(folds, 6))


# ---------------------------------------------------------------------- the choice


def test_the_table_is_tidy(diabetes):
    X, y = diabetes
    grid = [{"kernel": ["linear"]}, {"kernel": ["rbf"], "gamma": [0.1, 0.2]}]
    search = ComponentPathCV(
        SparseMaximalAlignment(), Ridge(), n_components=[2, 4], param_grid=grid, cv=CV
    ).fit(X, y)
    table = pd.DataFrame(search.path_)
    assert list(table) == [
        "fold",
        "param_gamma",
        "param_kernel",
        "k",
        "train_score",
        "test_score",
        "fit_seconds",
        "kernel_evaluations",
    ]
    assert len(table) == 3 * 3 * 2
    chosen = table.iloc[search.best_index_]
    assert chosen["k"] == search.best_n_components_
    assert {f"param_{name}": chosen[f"param_{name}"] for name in search.best_params_} == {
        f"param_{name}": value for name, value in search.best_params_.items()
    }
    means = table["test_score"].to_numpy().reshape(3, -1).mean(axis=0)
    assert search.best_score_ == pytest.approx(means[search.best_index_])


def test_one_standard_error_by_hand(diabetes):
    X, y = diabetes
    search = ComponentPathCV(SparseMaximalAlignment(15), Ridge(), cv=5).fit(X, y)
    scores = search.path_["test_score"].reshape(5, 15)
    mean, error = scores.mean(axis=0), scores.std(axis=0, ddof=1) / np.sqrt(5)
    best = mean.argmax()
    expected = 1 + np.flatnonzero(mean >= mean[best] - error[best])[0]
    assert search.best_n_components_ == expected
    assert f"k = {expected} " in search.reason_
    assert search.set_params(rule="best").fit(X, y).best_n_components_ == best + 1


def test_budgets_of_kernel_evaluations(diabetes):
    X, y = diabetes
    search = ComponentPathCV(
        SparseMaximalCovariance(n_nonzero=2, candidates=20, random_state=0),
        Ridge(),
        n_components=10,
        rule="budget",
        max_kernel_evaluations=7,
    ).fit(X, y)
    assert len(search.best_estimator_.extractor.landmarks_) <= 7
    assert "at most 7 kernel evaluations" in search.reason_
    with pytest.raises(InvalidParameterError, match="rule='budget' needs a budget"):
        search.set_params(max_kernel_evaluations=None).fit(X, y)


def test_a_model_of_all_rows_that_costs_more_is_made_smaller_or_refused(diabetes):
    X, y = diabetes
    search = ComponentPathCV(KernelPCA(5), Ridge(), max_kernel_evaluations=len(y) - 10)
    with pytest.raises(InvalidParameterError, match="fitted to all samples, one feature needs 442"):
        search.fit(X, y)
    assert not hasattr(search, "path_")


def test_a_model_of_all_rows_keeps_to_the_budget_too(diabetes, monkeypatch):
    X, y = diabetes
    price = {295: 1, 294: 1, 442: 2}  # kernel evaluations for a feature, by rows
    monkeypatch.setattr(
        SparseMaximalAlignment,
        "kernel_evaluations_",
        property(lambda self: price[self.n_rows_] * np.arange(1, self.n_components_ + 1)),
    )
    original = SparseMaximalAlignment.fit

    def fit(self, X, y, **kwargs):
        self.n_rows_ = len(X)
        return original(self, X, y, **kwargs)

    monkeypatch.setattr(SparseMaximalAlignment, "fit", fit)
    search = ComponentPathCV(
        SparseMaximalAlignment(8), Ridge(), n_components=[8], cv=CV, max_kernel_evaluations=9
    ).fit(X, y)
    assert search.best_n_components_ == search.transform(X).shape[1] == 4
    assert search.reason_.endswith("Fitted to all samples, 4 features keep to the budget.")
    assert np.isnan(search.best_score_)  # of four features no fold has told
    search.set_params(n_components=[1, 3, 8], param_grid={"gamma": [0.1, 0.2]}, rule="best").fit(X, y)
    assert search.best_n_components_ == search.transform(X).shape[1] == 3
    assert_chosen_line_is_told(search)


def assert_chosen_line_is_told(search):
    chosen = pd.DataFrame(search.path_).iloc[search.best_index_]
    assert chosen["k"] == search.best_n_components_
    for name, value in search.best_params_.items():
        assert chosen[f"param_{name}"] == value
    scores = search.path_["test_score"].reshape(search.n_splits_, -1)
    assert search.best_score_ == pytest.approx(scores[:, search.best_index_].mean())


def test_score_and_line_are_those_of_the_model_that_keeps_to_the_budget(diabetes):
    search = ComponentPathCV(
        SparseKernelPLS(6, gamma=0.05, random_state=0), rule="best", max_kernel_evaluations=62
    ).fit(*diabetes)
    assert "Fitted to all samples" in search.reason_
    assert_chosen_line_is_told(search)


def test_budget_of_microseconds(diabetes, monkeypatch):
    X, y = diabetes
    monkeypatch.setattr(
        "kernelsieve.model_selection.folds.microseconds_a_row", lambda extractor, X, sizes: sizes * 2.0
    )
    search = ComponentPathCV(SparseMaximalAlignment(9), Ridge(), rule="best", max_latency_us=8).fit(
        X, y
    )
    assert_array_equal(search.path_["latency_us"], 2.0 * search.path_["k"])
    assert search.best_n_components_ <= 4


def test_latency_is_measured_through_the_projector(diabetes):
    X, y = diabetes
    search = ComponentPathCV(SparseMaximalAlignment(4), Ridge(), max_latency_us=1e9, cv=2).fit(X, y)
    assert (search.path_["latency_us"] > 0).all()
    with pytest.raises(InvalidParameterError, match="the cheapest needs 1 kernel evaluations and"):
        search.set_params(max_latency_us=1e-9).fit(X, y)


def test_numbers_of_features(diabetes):
    X, y = diabetes
    assert_array_equal(geometric_subset(50), np.arange(1, 51))
    many = geometric_subset(300)
    assert many[0] == 1
    assert many[-1] == 300
    assert len(many) <= 50
    assert (np.diff(many) > 0).all()
    search = ComponentPathCV(SparseMaximalAlignment(7), Ridge(), cv=2, refit=False)
    assert_array_equal(np.unique(search.fit(X, y).path_["k"]), np.arange(1, 8))
    assert_array_equal(np.unique(search.set_params(n_components=4).fit(X, y).path_["k"]), [1, 2, 3, 4])
    for bad in ([0, 1], [1.5], [[1]], []):
        with pytest.raises(ValueError, match="n_components"):
            search.set_params(n_components=bad).fit(X, y)
    with pytest.raises(InvalidParameterError, match="Fold 0 has 221 training samples"):
        search.set_params(n_components=300).fit(X, y)


def test_folds_that_give_fewer_features(diabetes):
    X, y = diabetes[0][:, :2], diabetes[1]
    linear = SparseMaximalAlignment(kernel="linear")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = ComponentPathCV(linear, Ridge(), cv=2).fit(X, y)
    assert_array_equal(np.unique(search.path_["k"]), [1, 2])
    with pytest.warns(FewerFeaturesWarning, match="more than 2 of the 4 features") as caught:
        search = ComponentPathCV(linear, Ridge(), n_components=4, cv=2).fit(X, y)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert np.isnan(search.path_["test_score"]).reshape(2, 4).tolist() == [[False] * 2 + [True] * 2] * 2
    assert search.best_n_components_ <= 2


def test_a_single_split_has_no_standard_error(diabetes):
    X, y = diabetes
    search = ComponentPathCV(
        SparseMaximalAlignment(8), Ridge(), cv=ShuffleSplit(1, test_size=0.3, random_state=0)
    ).fit(X, y)
    assert search.best_n_components_ == 1 + search.path_["test_score"].argmax()


# ---------------------------------------------------------------------- as an estimator


def test_the_chosen_model_is_a_fit_with_so_many_features(diabetes):
    X, y = diabetes
    search = ComponentPathCV(
        SparseMaximalAlignment(12), Ridge(), param_grid={"gamma": [0.05, 0.1]}, cv=CV
    ).fit(X, y)
    k, gamma = search.best_n_components_, search.best_params_["gamma"]
    assert search.reason_.startswith(f"k = {k} (gamma={gamma}) ")
    direct = make_pipeline(SparseMaximalAlignment(k, gamma=gamma), Ridge()).fit(X, y)
    assert_allclose(search.predict(X), direct.predict(X), rtol=1e-8)
    assert_allclose(search.transform(X), direct[0].transform(X), atol=1e-8)
    assert search.score(X, y) == pytest.approx(direct.score(X, y))
    assert search.best_estimator_.extractor.get_params()["n_components"] == k
    assert search.n_features_in_ == 10
    assert len(search.get_feature_names_out()) == k


@pytest.mark.slow
def test_processes_give_the_same(diabetes):
    X, y = diabetes
    search = ComponentPathCV(
        SparseMaximalAlignment(5), Ridge(), param_grid={"gamma": [0.05, 0.1]}, cv=CV
    ).fit(X, y)
    other = clone(search).set_params(n_jobs=2).fit(X, y)
    for name in set(search.path_) - {"fit_seconds"}:
        assert_allclose(other.path_[name], search.path_[name])


def test_in_a_pipeline_with_data_frames_and_cross_validation(diabetes):
    X, y = diabetes
    frame = pd.DataFrame(X, columns=[f"input {i}" for i in range(10)])
    pipeline = make_pipeline(
        StandardScaler().set_output(transform="pandas"),
        ComponentPathCV(SparseMaximalAlignment(4), Ridge(), cv=2),
    ).fit(frame, y)
    assert list(pipeline[-1].feature_names_in_) == list(frame)
    assert pipeline.score(frame, y) > 0
    assert cross_val_score(pipeline, frame, y, cv=2).shape == (2,)


def test_features_as_data_frames(diabetes):
    X, y = diabetes
    search = ComponentPathCV(SparseMaximalAlignment(4), Ridge(), cv=2).set_output(transform="pandas")
    features = search.fit(X, y).transform(X)
    assert list(features) == list(search.get_feature_names_out())
    assert_allclose(features, search.best_estimator_.transform(X))
    assert_allclose(search.fit_transform(X, y), features)
    frames = SparseMaximalAlignment(4).set_output(transform="pandas")
    other = ComponentPathCV(frames, Ridge(), cv=2).fit(X, y)
    assert_allclose(other.path_["test_score"], search.path_["test_score"])
    assert isinstance(other.transform(X), pd.DataFrame)


def test_progress(diabetes, every_stage, capsys):
    X, y = diabetes
    ComponentPathCV(SparseMaximalAlignment(2), Ridge(), cv=2, verbose=1).fit(X, y)
    assert "[ComponentPathCV: folds] 2 fits of 2 in" in capsys.readouterr().err


@pytest.mark.filterwarnings("error::kernelsieve.exceptions.AmbiguousTargetWarning")
def test_the_head_says_what_whole_numbers_are(diabetes):
    X, y = diabetes[0], (diabetes[1] // 100).astype(int)
    of_numbers = ComponentPathCV(SparseMaximalAlignment(3), Ridge(), cv=2).fit(X, y)
    same = ComponentPathCV(SparseMaximalAlignment(3), Ridge(), cv=2).fit(X, y.astype(float))
    assert_allclose(of_numbers.predict(X), same.predict(X))
    of_labels = ComponentPathCV(SparseMaximalAlignment(3), LogisticRegression(), cv=2).fit(X, y)
    assert of_labels.best_estimator_.extractor.target == "classes"
    assert of_labels.extractor.target == "auto"


@pytest.mark.filterwarnings("always::kernelsieve.exceptions.AmbiguousTargetWarning")
def test_without_a_head_whole_numbers_are_asked_about_once(diabetes):
    X, y = diabetes[0], (diabetes[1] // 100).astype(int)
    search = ComponentPathCV(
        SparseMaximalAlignment(3), cv=2, scoring=lambda model, X, y: model.extractor.n_components_
    )
    with pytest.warns(AmbiguousTargetWarning, match="taken for labels") as caught:
        search.fit(X, y)
    assert len(caught) == 1


def test_scores_after_the_first_are_taken_without_checks_and_fits_with_them(diabetes):
    X, y = diabetes
    scored, fitted = [], []

    class Watched(Lasso):
        def fit(self, X, y):
            fitted.append(get_config()["assume_finite"])
            return super().fit(X, y)

    def scorer(model, rows, target):
        scored.append(get_config()["assume_finite"])
        return -mean_absolute_error(target, model.predict(rows))

    ComponentPathCV(SparseMaximalAlignment(3), Watched(), cv=CV, scoring=scorer).fit(X, y)
    assert scored == 3 * ([False] * 2 + [True] * 4)
    assert not any(fitted)
    assert not get_config()["assume_finite"]


def test_without_refit_there_is_a_choice_and_no_model(diabetes):
    X, y = diabetes
    search = ComponentPathCV(SparseMaximalAlignment(4), Ridge(), cv=2)
    search.fit(X, y).set_params(refit=False).fit(X, y)
    assert search.best_n_components_ >= 1
    assert not hasattr(search, "best_estimator_")
    with pytest.raises(NotFittedError, match="pass refit=True"):
        search.predict(X)
    with pytest.raises(NotFittedError):
        ComponentPathCV(SparseMaximalAlignment(4), Ridge()).predict(X)


def test_what_cannot_work_is_refused_and_changes_nothing(diabetes):
    X, y = diabetes
    search = ComponentPathCV(SparseMaximalAlignment(4), Ridge(), cv=2).fit(X, y)
    before = dict(vars(search))
    for change, message in (
        ({"extractor": StandardScaler()}, "does not give nested features"),
        ({"param_grid": {"n_components": [1, 2]}}, "pass the numbers of features as n_components"),
        (
            {"param_grid": {"gama": [1, 2]}},
            "param_grid names 'gama'.* they have .*gamma, .*head__alpha",
        ),
        ({"param_grid": {"alpha": [1, 2]}}, "param_grid names 'alpha'.* pass 'head__alpha'"),
        ({"param_grid": {"head__gamma": [1, 2]}}, "param_grid names 'head__gamma'"),
        (
            {
                "extractor": make_pipeline(StandardScaler(), SparseMaximalAlignment(4)),
                "param_grid": {"gamma": [1, 2]},
            },
            "pass 'sparsemaximalalignment__gamma'",
        ),
        (
            {"extractor": make_pipeline(SparseMaximalAlignment(4), Ridge())},
            r"ends in Ridge\(\), which predicts; pass it as head",
        ),
        ({"param_grid": []}, "empty list"),
        ({"head": None, "param_grid": {"head__alpha": [1]}, "scoring": "r2"}, "there is none"),
        ({"rule": "worst"}, "rule"),
        ({"cv": []}, r"cv=\[\] gave no folds"),
        ({"head": StandardScaler()}, r"head=StandardScaler\(\) does not predict"),
        ({"head": "ridge"}, "head='ridge' does not predict"),
        ({"max_kernel_evaluations": 0}, "max_kernel_evaluations"),
    ):
        vars(search).update(before)
        search.set_params(**change)
        asked = dict(vars(search))
        with pytest.raises(ValueError, match=message):
            search.fit(X, y)
        assert vars(search) == asked


def test_an_extractor_of_one_size_is_refused(diabetes):
    one_size = SparseKernelFisherDiscriminant()
    with pytest.raises(InvalidParameterError, match="Discriminant has no n_components to choose"):
        ComponentPathCV(one_size, Ridge()).fit(*diabetes)


def test_an_extractor_whose_features_depend_on_their_number_is_refused(cancer):
    learned = SubspaceKernelFeatures(3)
    for extractor in (learned, make_pipeline(StandardScaler(), learned)):
        with pytest.raises(InvalidParameterError, match=r"SubspaceKernelFeatures .* GridSearchCV"):
            ComponentPathCV(extractor, LogisticRegression()).fit(*cancer)


EXTRACTORS = [
    each
    for each in map(vars(kernelsieve).get, sorted(kernelsieve.__all__))
    if isinstance(each, type)
    and issubclass(each, KernelEstimator)
    and "n_components" in each().get_params()
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("extractor", EXTRACTORS, ids=lambda each: each.__name__)
def test_every_extractor_tells_if_its_first_features_are_those_of_a_fit_with_fewer(extractor, cancer):
    X, y = (part[:150] for part in cancer)
    seed = {"random_state": 0} if "random_state" in extractor().get_params() else {}
    fits = [extractor(n_components=k, **seed).fit(scale(X), y) for k in (1, 2)]
    one, two = (np.abs(model.transform(scale(X))[:, 0]) for model in fits)  # signs are arbitrary
    assert np.allclose(one, two, atol=1e-8 * one.max()) == extractor._nested


def excused(estimator):
    if isinstance(estimator.extractor, Pipeline):
        reason = "the scaler of the pipeline takes no weights"
        return {"check_sample_weight_equivalence_on_dense_data": reason}
    return {}


HALVES = KFold(2, shuffle=True, random_state=0)  # some checks sort rows by their target


@estimators_to_check(
    [
        ComponentPathCV(SparseMaximalAlignment(4, target="continuous"), Ridge(), cv=HALVES),
        ComponentPathCV(KernelPLSClassifier(2, gamma="scale"), cv=2),
    ]
)
@pytest.mark.filterwarnings("ignore::kernelsieve.exceptions.FewerFeaturesWarning")
def test_scikit_learn_checks(estimator):
    run_checks(estimator, excused(estimator))


@pytest.mark.slow
@estimators_to_check(
    [
        ComponentPathCV(SparseMaximalAlignment(2), LogisticRegression(), cv=2),
        ComponentPathCV(KernelPLS(4), cv=HALVES, param_grid={"gamma": [0.1, 1.0]}, rule="best"),
        ComponentPathCV(
            make_pipeline(StandardScaler(), SparseMaximalAlignment(2)), RidgeClassifier(), cv=2
        ),
    ]
)
@pytest.mark.filterwarnings("ignore::kernelsieve.exceptions.FewerFeaturesWarning")
def test_scikit_learn_checks_of_grids_and_pipelines(estimator):
    run_checks(estimator, excused(estimator))


# ---------------------------------------------------------------------- nested


def test_nested_scores_are_those_of_searches_that_have_not_seen_the_fold(diabetes):
    X, y = diabetes
    search = ComponentPathCV(SparseMaximalAlignment(8), Ridge(), cv=3)
    nested = nested_cross_validate(search, X, y, cv=CV)
    expected = []
    for train, test in CV.split(X):
        alone = clone(search).fit(X[train], y[train])
        expected.append((alone.best_n_components_, alone.score(X[test], y[test])))
    assert_array_equal(nested.n_components, [k for k, _ in expected])
    assert_allclose(nested.test_score, [score for _, score in expected])
    assert_allclose(nested.test_score, cross_val_score(search, X, y, cv=CV))
    assert nested.mean == pytest.approx(np.mean(nested.test_score))
    assert nested.standard_error == pytest.approx(np.std(nested.test_score, ddof=1) / np.sqrt(3))
    assert len(nested.params) == len(nested.estimators) == 3
    assert not hasattr(search, "path_")


def test_nested_groups_reach_the_inner_splitter(diabetes, rng):
    X, y = diabetes
    groups = rng.integers(0, 9, len(y))
    search = ComponentPathCV(SparseMaximalAlignment(3), Ridge(), cv=GroupKFold(2))
    nested = nested_cross_validate(search, X, y, cv=GroupKFold(3), groups=groups)
    assert nested.test_score.shape == (3,)


@pytest.mark.parametrize(
    ("search", "cv", "message"),
    [
        (Ridge(), None, "not a ComponentPathCV"),
        (ComponentPathCV(SparseMaximalAlignment(3), Ridge(), refit=False), None, "pass refit=True"),
        (ComponentPathCV(SparseMaximalAlignment(3), Ridge()), [], "gave no folds"),
    ],
)
def test_nested_refuses_at_once_what_cannot_work(search, cv, message, diabetes):
    with pytest.raises(InvalidParameterError, match=message):
        nested_cross_validate(search, *diabetes, cv=cv)


def test_one_outer_fold_has_no_standard_error(diabetes):
    X, y = diabetes
    search = ComponentPathCV(SparseMaximalAlignment(3), Ridge(), cv=2)
    assert np.isnan(nested_cross_validate(search, X, y, cv=ShuffleSplit(1)).standard_error)


def test_folds_that_are_too_small_are_named_before_any_work(diabetes):
    X, y = diabetes[0][:40], diabetes[1][:40]
    kernel = CountingKernel(0.05)
    search = ComponentPathCV(SparseMaximalAlignment(25, kernel=kernel), Ridge(), cv=2)
    with pytest.raises(InvalidParameterError, match=r"Fold 0 has 20 training samples.*25 components"):
        search.fit(X, y)
    alone = ComponentPathCV(SparseMaximalAlignment(5, kernel=kernel), Ridge(), cv=LeaveOneOut())
    with pytest.raises(InvalidParameterError, match=r"Fold 0 has 1 test sample.*neg_mean_squared"):
        alone.fit(X, y)
    assert kernel.evaluations == 0
    alone.set_params(scoring="neg_mean_squared_error").fit(X, y)
