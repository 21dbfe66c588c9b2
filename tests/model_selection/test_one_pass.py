"""Cross-validation from one pass: the scores of GridSearchCV, and the kernel evaluations of one fit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelsieve import (
    ComponentPathCV,
    KernelPLS,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
    export_c,
    load,
    predictor,
)
from kernelsieve.exceptions import InvalidParameterError
from kernelsieve.kernels import RBF, BlockCache
from kernelsieve.model_selection import one_pass

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
Y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * RNG.normal(size=300)
TWO = np.column_stack([Y, X[:, 3] ** 2])
POOL = X[::6]
SIZES = [1, 5, 20]
FOLDS = KFold(3, shuffle=True, random_state=0)


def grid_scores(extractor, head, scoring, alphas, y=Y, **fit):
    """Return mean test scores of scikit-learn's search, one line a penalty."""
    pipeline = make_pipeline(extractor, head)
    name = type(extractor).__name__.lower()
    grid = {f"{name}__n_components": SIZES}
    if alphas:
        grid["ridge__alpha"] = alphas
    search = GridSearchCV(pipeline, grid, cv=FOLDS, scoring=scoring, return_train_score=True)
    results = search.fit(X, y, **fit).cv_results_
    order = np.argsort(results[f"param_{name}__n_components"].astype(int), kind="stable")
    return {
        which: results[f"mean_{which}_score"][order].reshape(len(SIZES), -1).T
        for which in ("test", "train")
    }


@pytest.mark.parametrize(
    ("extractor", "scoring"),
    [
        (SparseMaximalAlignment, "r2"),
        (SparseMaximalCovariance, "neg_mean_squared_error"),
        (KernelPLS, "neg_root_mean_squared_error"),
        (KernelPLS, "r2"),
    ],
)
def test_scores_are_those_of_a_search(extractor, scoring):
    y = TWO if scoring == "r2" else Y
    model = extractor(20, candidates=POOL, gamma=0.3)
    alphas = [0.01, 10.0]
    search = ComponentPathCV(
        model,
        Ridge(),
        n_components=SIZES,
        param_grid={"head__alpha": alphas},
        cv=FOLDS,
        scoring=scoring,
    ).fit(X, y)
    assert search.n_passes_ == 1
    expected = grid_scores(model, Ridge(), scoring, alphas, y)
    for which, scores in expected.items():
        path = search.path_[f"{which}_score"].reshape(3, len(alphas), len(SIZES)).mean(axis=0)
        assert_allclose(path, scores, atol=1e-8, rtol=1e-8)


def test_least_squares_and_the_extractor_itself():
    model = KernelPLS(20, candidates=POOL, gamma=0.3)
    by_head = ComponentPathCV(model, LinearRegression(), n_components=SIZES, cv=FOLDS).fit(X, Y)
    by_itself = ComponentPathCV(model, n_components=SIZES, cv=FOLDS).fit(X, Y)
    assert by_head.n_passes_ == by_itself.n_passes_ == 1
    expected = grid_scores(model, LinearRegression(), "r2", None)["test"][0]
    for search in (by_head, by_itself):
        assert_allclose(search.path_["test_score"].reshape(3, -1).mean(axis=0), expected, atol=1e-8)
    own = [
        np.mean(
            [
                KernelPLS(k, candidates=POOL, gamma=0.3).fit(X[a], Y[a]).score(X[b], Y[b])
                for a, b in FOLDS.split(X)
            ]
        )
        for k in SIZES
    ]
    assert_allclose(by_itself.path_["test_score"].reshape(3, -1).mean(axis=0), own, atol=1e-8)


def test_weights_and_groups(monkeypatch):
    weight, groups = RNG.uniform(0.5, 2.0, 300), np.arange(300) // 30
    model = SparseMaximalAlignment(10, candidates=POOL, gamma=0.3)
    search = ComponentPathCV(model, Ridge(), cv=GroupKFold(3))
    one = search.fit(X, Y, groups=groups, sample_weight=weight)
    assert one.n_passes_ == 1
    scores, best = one.path_["test_score"], one.best_n_components_
    monkeypatch.setattr("kernelsieve.model_selection.path.run_in_one_pass", lambda *given: None)
    apart = search.fit(X, Y, groups=groups, sample_weight=weight)
    assert apart.n_passes_ == 3
    assert_allclose(scores, apart.path_["test_score"], atol=1e-8)
    assert best == apart.best_n_components_


def test_kernel_evaluations(monkeypatch):
    """Every sample meets the pool once, whatever the number of folds, ks and penalties."""
    counted = []
    against = RBF.against

    def counting(self, Z, dtype=np.float64):
        fill = against(self, Z, dtype)

        def count(X, out):
            counted.append(out.size)
            fill(X, out)

        return count

    monkeypatch.setattr(RBF, "against", counting)
    rows = RNG.normal(size=(3000, 4))
    model = SparseMaximalAlignment(20, candidates=POOL, gamma=0.3)
    found = []
    for folds, alphas in ((2, [1.0]), (10, [0.1, 1.0, 10.0])):
        counted.clear()
        ComponentPathCV(model, Ridge(), param_grid={"head__alpha": alphas}, cv=folds).fit(
            rows, rows[:, 0] ** 2
        )
        found.append(sum(counted))
    n, c, k = len(rows), len(POOL), 20
    assert max(found) <= n * c + c * c + n * k


def test_a_pool_that_many_samples_share():
    rows = RNG.normal(size=(4000, 3))
    y = np.sin(rows[:, 0]) + 0.1 * RNG.normal(size=4000)
    model = SparseMaximalAlignment(10, candidates=60, random_state=0)
    search = ComponentPathCV(model, Ridge(), cv=3).fit(rows, y)
    assert search.n_passes_ == 1
    assert search.best_score_ > 0.9


@pytest.mark.parametrize(
    "options",
    [
        {"cv": ShuffleSplit(4, random_state=0)},
        {"extractor": SparseMaximalAlignment(5, gamma=0.3)},
        {"extractor": SparseMaximalAlignment(5, gamma=0.3, candidates=50, random_state=0)},
        {"extractor": SparseMaximalAlignment(5, gamma=0.3, candidates=POOL, center=False)},
        {"extractor": make_pipeline(StandardScaler(), SparseMaximalAlignment(5, candidates=POOL))},
    ],
)
def test_what_needs_a_pass_a_fold(options):
    options = {"head": Ridge(), "extractor": SparseMaximalAlignment(5, candidates=POOL)} | options
    search = ComponentPathCV(**{"cv": 4} | options).fit(X, Y)
    assert search.n_passes_ == 4
    assert search.way_ == "one fit a fold"


def apart(monkeypatch, search, *given):
    """Return a search that fits every fold by itself."""
    with monkeypatch.context() as patch:
        patch.setattr("kernelsieve.model_selection.path.run_in_one_pass", lambda *given: None)
        found = clone(search).fit(*given)
    assert found.way_ == "one fit a fold"
    return found


@pytest.mark.parametrize(
    ("head", "scoring", "y"),
    [
        (LogisticRegression(), "accuracy", Y > 0),
        (LogisticRegression(), "neg_log_loss", Y > 0),
        (LogisticRegression(), "roc_auc", Y > 0),
        (RidgeClassifier(), None, np.digitize(Y, [-0.5, 0.5])),
        (Ridge(), "neg_mean_absolute_error", Y),
        (Ridge(solver="sag", tol=1e-12, max_iter=10_000), None, Y),
        (KNeighborsRegressor(), None, Y),
    ],
)
def test_other_heads_and_scores_need_the_landmarks_once_more(head, scoring, y, monkeypatch):
    model = SparseMaximalAlignment(20, candidates=POOL, gamma=0.3)
    search = ComponentPathCV(model, head, n_components=SIZES, scoring=scoring, cv=3).fit(X, y)
    assert search.way_ == "one pass and one over the landmarks"
    assert search.n_passes_ == 2
    expected = apart(monkeypatch, search, X, y)
    assert_allclose(search.path_["test_score"], expected.path_["test_score"], atol=1e-8)
    assert search.best_n_components_ == expected.best_n_components_
    assert_array_equal(search.predict(X), expected.predict(X)) if scoring == "accuracy" else None


def test_the_chosen_model_is_that_of_a_fit():
    model = SparseMaximalAlignment(20, candidates=POOL, gamma=0.3)
    search = ComponentPathCV(model, Ridge(0.1), cv=3).fit(X, TWO)
    k = search.best_n_components_
    pipeline = make_pipeline(clone(model).set_params(n_components=k), Ridge(0.1)).fit(X, TWO)
    chosen = search.best_estimator_
    assert list(chosen.extractor.landmark_indices_) == list(pipeline[0].landmark_indices_)
    assert_allclose(chosen.head.coef_, pipeline[1].coef_, atol=1e-8)
    assert_allclose(search.predict(X), pipeline.predict(X), atol=1e-8)
    assert chosen.head.intercept_.shape == (2,)


def test_widths_share_one_pass(monkeypatch):
    wide = RNG.normal(size=(400, 60))
    y = wide[:, 0] + np.sin(wide[:, 1])
    model = SparseMaximalAlignment(10, kernel="laplacian", candidates=wide[::10])
    search = ComponentPathCV(model, Ridge(), param_grid={"gamma": [1e-3, 1e-2, 0.1]}, cv=3)
    computed = []
    cache_fill = BlockCache.fill

    def fill(self, key, compute, X, out):
        before = self.evaluated
        cache_fill(self, key, compute, X, out)
        computed.append(self.evaluated - before)

    monkeypatch.setattr(BlockCache, "fill", fill)
    search.fit(wide, y)
    assert search.n_passes_ == 1
    assert sum(computed) <= 400 * 40 + 40 * 40  # distances, of three widths
    assert len(computed) > 0
    expected = apart(monkeypatch, search, wide, y)
    assert_allclose(search.path_["test_score"], expected.path_["test_score"], atol=1e-8)
    assert search.best_params_ == expected.best_params_


def test_samples_that_screen_are_never_held_out(monkeypatch):
    monkeypatch.setattr("kernelsieve.model_selection.one_pass._SCREENING_SAMPLES", 3500)
    rows = RNG.normal(size=(8000, 3))
    noise = RNG.normal(size=8000)
    model = SparseMaximalAlignment(30, random_state=0, gamma=1.0)
    seen = []
    prepared = one_pass.prepared
    monkeypatch.setattr(
        one_pass, "prepared", lambda e, X, *given: seen.append(X) or prepared(e, X, *given)
    )
    scored = []
    split_off = one_pass.split_off
    monkeypatch.setattr(
        one_pass, "split_off", lambda e, data, rows: scored.append(rows) or split_off(e, data, rows)
    )
    search = ComponentPathCV(model, Ridge(), cv=3, scoring="neg_mean_absolute_error").fit(rows, noise)
    assert search.way_ == "one pass and one over the landmarks"
    (screened,) = seen
    assert len(screened) == 3500
    screening, *parts = scored
    assert_array_equal(rows[screening], screened)
    held_out = np.concatenate(parts[1::2])
    assert len(held_out) == 8000 - 3500
    assert not np.intersect1d(held_out, screening).size
    assert ComponentPathCV(model, Ridge(), cv=3).fit(rows, noise).best_score_ < 0.02


class TestWithoutFolds:
    @pytest.mark.parametrize("head", [LinearRegression(), Ridge(0.5), Ridge(2.0, fit_intercept=False)])
    @pytest.mark.parametrize("weight", [None, np.linspace(0.5, 2, 100)])
    def test_leave_one_out_is_that_of_refits(self, head, weight):
        model = SparseMaximalAlignment(8, candidates=POOL, gamma=0.3)
        search = ComponentPathCV(model, head, cv="loo", scoring="neg_mean_squared_error")
        rows, targets = X[:100], TWO[:100]
        search.fit(rows, targets, sample_weight=weight)
        assert search.way_ == "leave-one-out"
        weights = np.ones(100) if weight is None else weight
        features = clone(model).fit(rows, targets, weight).transform(rows)
        for k, score in zip(search.path_["k"], search.path_["test_score"], strict=True):
            if k in (1, 8):
                errors = []
                for i in range(100):
                    rest = np.delete(np.arange(100), i)
                    fitted = clone(head).fit(features[rest, :k], targets[rest], weights[rest])
                    errors.append(targets[i] - fitted.predict(features[i : i + 1, :k])[0])
                expected = np.average(np.array(errors) ** 2, axis=0, weights=weights).mean()
                assert_allclose(-score, expected, rtol=1e-8)

    @pytest.mark.parametrize("alpha", [1e-3, 1.0, 30.0])
    def test_generalised_cross_validation_is_the_formula(self, alpha):
        model = SparseMaximalAlignment(8, candidates=POOL, gamma=0.3)
        search = ComponentPathCV(model, Ridge(alpha), cv="gcv", scoring="neg_mean_squared_error").fit(
            X, Y
        )
        T, y, n = clone(model).fit(X, Y).transform(X), Y - Y.mean(), len(Y)
        T = T - T.mean(axis=0)
        for k, score in zip(search.path_["k"], search.path_["test_score"], strict=True):
            hat = T[:, :k] @ np.linalg.solve(T[:, :k].T @ T[:, :k] + alpha * np.eye(k), T[:, :k].T)
            rss, df = ((y - hat @ y) ** 2).sum(), np.trace(hat)
            assert_allclose(-score, n * rss / (n - 1 - df) ** 2, rtol=1e-8)

    def test_the_fit_is_kept(self, monkeypatch):
        fits = []
        fit = SparseMaximalAlignment.fit
        monkeypatch.setattr(
            SparseMaximalAlignment, "fit", lambda self, *a, **k: fits.append(1) or fit(self, *a, **k)
        )
        grid = {"head__alpha": [0.1, 1.0, 10.0]}
        model = SparseMaximalAlignment(8, candidates=POOL, gamma=0.3)
        search = ComponentPathCV(model, Ridge(), cv="loo", param_grid=grid).fit(X, Y)
        assert len(fits) == 1
        assert search.score(X, Y) > 0.3

    @pytest.mark.parametrize(
        "options",
        [
            {"scoring": "neg_mean_absolute_error"},
            {"head": Ridge(solver="sag")},
            {"head": LogisticRegression()},
            {"max_latency_us": 1e6},
        ],
    )
    def test_refusals(self, options):
        model = SparseMaximalAlignment(5, candidates=POOL, gamma=0.3)
        search = ComponentPathCV(**{"extractor": model, "head": Ridge(), "cv": "loo"} | options)
        with pytest.raises(InvalidParameterError, match="cv='loo' is for regression by least squares"):
            search.fit(X, Y > 0)
        with pytest.raises(ValueError, match="The 'cv' parameter"):
            ComponentPathCV(model, Ridge(), cv="bootstrap").fit(X, Y)


def test_models_of_widths_that_share_a_pass_are_saved_and_exported(tmp_path):
    """The distances that widths share while they are compared have no place in the model."""
    model = SparseMaximalAlignment(10, candidates=POOL)
    search = ComponentPathCV(model, Ridge(), param_grid={"gamma": [0.1, 0.3]}, cv=FOLDS).fit(X, Y)
    assert search.way_ == "one pass"
    assert type(search.best_estimator_.extractor.kernel_) is RBF
    search.save(tmp_path / "model.ksv")
    assert_array_equal(load(tmp_path / "model.ksv").predict(X), search.predict(X))
    export_c(search, tmp_path / "model.c")
    assert_allclose(predictor(search)(X), search.predict(X))
