"""A search over samples that are not in memory together chooses what it chooses in memory."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge
from source_cases import POOL, WEIGHT, X, Y

from kernelsieve import (
    Candidates,
    ComponentPathCV,
    KernelPLS,
    SparseMaximalAlignment,
    StatisticPart,
    StatisticPlan,
)
from kernelsieve.data import HashedFolds, row_hashes
from kernelsieve.exceptions import InvalidDataError, InvalidParameterError

SMA = SparseMaximalAlignment(15, candidates=POOL, gamma=0.3)
GRID = {"head__alpha": [0.01, 1.0, 100.0]}


def same(search, other):
    assert search.best_n_components_ == other.best_n_components_
    assert search.best_params_ == other.best_params_
    assert_allclose(search.path_["test_score"], other.path_["test_score"], atol=1e-8)
    assert_allclose(search.predict(X[:50]), other.predict(X[:50]), atol=1e-8)


@pytest.fixture(scope="module")
def by_splits():
    """The search in memory, over the folds that samples tell."""
    folds = HashedFolds(5)(X)
    cv = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(5)]
    return ComponentPathCV(SMA, Ridge(), param_grid=GRID, cv=cv).fit(X, Y)


@pytest.mark.parametrize("cut", [1, 1000, 2000])
def test_parts_of_two_machines(by_splits, cut, tmp_path):
    SMA.prepare(X[:200], Y[:200], folds=5).save(tmp_path / "plan")
    parts = []
    for rows in (slice(0, cut), slice(cut, None)):
        plan = StatisticPlan.load(tmp_path / "plan")
        plan.statistic(X[rows], Y[rows]).save(tmp_path / "part")
        parts.append(StatisticPart.load(tmp_path / "part"))
    search = ComponentPathCV(SMA, Ridge(), param_grid=GRID)
    same(search.finish(plan, parts[1].merge(parts[0])), by_splits)
    assert search.way_ == "one pass"
    assert search.n_passes_ == 1
    whole = plan.statistic(X, Y)
    forgotten = whole.subtract(parts[0])
    assert forgotten.n_samples == len(X) - cut
    # A part with folds is a part as any other.
    fitted = SparseMaximalAlignment(15, gamma=0.3, candidates=POOL).finish(plan, whole)
    assert_array_equal(fitted.landmark_indices_, SMA.fit(X, Y).landmark_indices_)


def test_batches(by_splits):
    search = ComponentPathCV(SMA, Ridge(), param_grid=GRID)
    batches = [(X[i : i + 700], Y[i : i + 700]) for i in range(0, 3000, 700)]
    same(search.fit_batches(iter(batches)), by_splits)
    for batch in batches:
        search.partial_fit(*batch)
    same(search, by_splits)
    search.fit(X, Y)
    search.partial_fit(*batches[0])  # begins anew
    assert search.best_score_ != by_splits.best_score_


def test_widths():
    search = ComponentPathCV(SMA, Ridge(), param_grid={"gamma": [0.05, 0.3]} | GRID, cv=4)
    batches = search.fit_batches([(X, Y, WEIGHT)])
    plans = [
        SparseMaximalAlignment(15, candidates=POOL, gamma=gamma).prepare(X, Y, WEIGHT, folds=4)
        for gamma in (0.05, 0.3)
    ]
    parts = [plan.statistic(X, Y, WEIGHT) for plan in plans]
    finished = ComponentPathCV(SMA, Ridge(), param_grid={"gamma": [0.05, 0.3]} | GRID)
    same(finished.finish(plans, parts), batches)
    assert batches.n_splits_ == 4


def test_sources(by_splits):
    array = pytest.importorskip("dask.array")
    search = ComponentPathCV(SMA, Ridge(), param_grid=GRID)
    search.fit(array.from_array(X, chunks=(800, 4)), array.from_array(Y, chunks=800))
    same(search, by_splits)


def test_files(tmp_path, by_splits):
    pandas = pytest.importorskip("pandas")
    dataset = pytest.importorskip("pyarrow.dataset")
    names = list("abcd")
    pandas.DataFrame(X, columns=names).assign(y=Y).to_parquet(tmp_path / "rows.parquet")
    search = ComponentPathCV(SMA, Ridge(), param_grid=GRID)
    search.fit(dataset.dataset(tmp_path / "rows.parquet"), "y")
    assert search.best_n_components_ == by_splits.best_n_components_
    assert_allclose(search.path_["test_score"], by_splits.path_["test_score"], atol=1e-8)
    assert list(search.feature_names_in_) == names


def test_a_regressor_by_itself():
    pls = KernelPLS(6, candidates=POOL, gamma=0.3)
    search = ComponentPathCV(pls).fit_batches([(X[:1500], Y[:1500]), (X[1500:], Y[1500:])])
    assert search.score(X, Y) > 0.7


def test_folds_follow_from_inputs():
    folds = HashedFolds(5)
    numbers = folds(X)
    assert_array_equal(folds(sparse.csr_matrix(X)), numbers)
    assert_array_equal(folds(X[::-1]), numbers[::-1])
    assert_array_equal(folds(np.asfortranarray(X)), numbers)
    single = X.astype(np.float32)
    assert_array_equal(folds(single), folds(single.astype(np.float64)))
    sizes = np.bincount(numbers, minlength=5)
    assert sizes.min() > 500  # of 600
    grid = np.array([[i, j] for i in range(50) for j in range(50)], dtype=float)
    assert len(np.unique(row_hashes(grid))) == 2500
    assert np.bincount(folds(grid)).min() > 400
    assert_array_equal(row_hashes(np.array([[0.0, 1.0]])), row_hashes(np.array([[-0.0, 1.0]])))


def test_samples_that_screened_are_in_no_fold():
    model = SparseMaximalAlignment(5, candidates=Candidates(100, how="screen"), gamma=0.3)
    plan = model.prepare(X[:500], Y[:500], folds=3)
    part = plan.statistic(X, Y)
    assert part.n_samples == 3000
    assert part.sums.never_held_out.n_rows == 500
    given = SMA.prepare(X[:500], Y[:500], folds=3).statistic(X, Y)
    assert given.sums.never_held_out.n_rows == 0


def test_refusals():
    plan = SMA.prepare(X, Y)
    search = ComponentPathCV(SMA, Ridge())
    with pytest.raises(InvalidDataError, match="A plan has no folds"):
        search.finish(plan, plan.statistic(X, Y))
    with pytest.raises(InvalidDataError, match="got ndarray"):
        search.finish(plan, X)
    folded = SMA.prepare(X, Y, folds=3)
    with pytest.raises(InvalidDataError, match="not in the same folds"):
        folded.statistic(X, Y).merge(SMA.prepare(X, Y, folds=4).statistic(X, Y))
    with pytest.raises(InvalidDataError, match="pass one of each for every setting"):
        ComponentPathCV(SMA, Ridge(), param_grid={"gamma": [1, 2]}).finish(
            folded, folded.statistic(X, Y)
        )
    with pytest.raises(InvalidParameterError, match="Statistics tell the scores of regression"):
        ComponentPathCV(SMA, LogisticRegression()).finish(folded, folded.statistic(X, Y))
    with pytest.raises(InvalidDataError, match="has no samples to hold out"):
        search.finish(folded, folded.statistic(X[:1], Y[:1]))
    with pytest.raises(InvalidParameterError, match="folds=1 must be a whole number"):
        SMA.prepare(X, Y, folds=1)
    with pytest.raises(InvalidDataError, match="got no batch"):
        search.fit_batches([])
    for others in ({"cv": "loo"}, {"head": LogisticRegression()}, {"scoring": "max_error"}):
        assert not hasattr(
            ComponentPathCV(**{"extractor": SMA, "head": Ridge()} | others), "partial_fit"
        )
    assert not hasattr(search, "path_")
