"""Cross-validation from one pass: the scores of GridSearchCV, and the kernel evaluations of one fit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelsieve import (
    ComponentPathCV,
    KernelPLS,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
)
from kernelsieve.kernels import RBF

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


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_squared_error", "neg_root_mean_squared_error"])
@pytest.mark.parametrize("extractor", [SparseMaximalAlignment, SparseMaximalCovariance, KernelPLS])
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
        ComponentPathCV(model, Ridge(), param_grid={"head__alpha": alphas}, cv=folds, refit=False).fit(
            rows, rows[:, 0] ** 2
        )
        found.append(sum(counted))
    n, c, looked_at = len(rows), len(POOL), 256 + 3 * 10  # before, to settle the precision
    assert max(found) <= (n + looked_at) * c + c * c


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
        {"head": LogisticRegression(), "y": (Y > 0).astype(int)},
        {"scoring": "neg_mean_absolute_error"},
        {"scoring": lambda model, X, y: 0.5},
        {"head": Ridge(solver="sag")},
        {"cv": ShuffleSplit(4, random_state=0)},
        {"extractor": SparseMaximalAlignment(5, gamma=0.3)},
        {"extractor": SparseMaximalAlignment(5, gamma=0.3, candidates=50, random_state=0)},
        {"extractor": SparseMaximalAlignment(5, gamma=0.3, candidates=POOL, center=False)},
        {"extractor": make_pipeline(StandardScaler(), SparseMaximalAlignment(5, candidates=POOL))},
    ],
)
def test_what_needs_a_pass_a_fold(options):
    options = {"head": Ridge(), "extractor": SparseMaximalAlignment(5, candidates=POOL)} | options
    y = options.pop("y", Y)
    search = ComponentPathCV(**{"cv": 4} | options).fit(X, y)
    assert search.n_passes_ == 4
