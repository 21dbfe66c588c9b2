"""The same rows and candidates give the same features, however an estimator is fitted."""

import numpy as np
import pytest
from configured import fit_with
from contract_cases import TOLERANCES, Case, all_cases, contract
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.utils import get_tags

from kernelsieve import config_context
from kernelsieve.estimators import OutOfCoreMixin

# Searches that are cut short, and ranks below what was asked for, are no matter here.
pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::kernelsieve.exceptions.FewerFeaturesWarning"),
]

FEATURES = 1e-8  # of the largest feature
FAST = 1e-6  # where sums have half the digits, or features come from another factorisation
POOL = 30


def agree(model, reference, X, tolerance=FEATURES, up_to_sign=False):
    expected, found = reference.transform(X), model.transform(X)
    if up_to_sign:
        expected = expected * np.sign((expected * found).sum(axis=0))
    assert_allclose(found, expected, rtol=0, atol=tolerance * np.abs(expected).max())
    for name in ("explained_variance_ratio_", "criterion_path_"):
        value = getattr(reference, name)
        atol = 10 * tolerance * max(1, np.nanmax(np.abs(value), initial=0))
        assert_allclose(getattr(model, name), value, rtol=0, atol=atol)


def has_passes(case):
    return case.pool and issubclass(case.entry, OutOfCoreMixin)


def has(*names):
    return lambda case: case.pool and case.parameters.issuperset(names)


def in_pieces(model, size, X, y, weight=None):
    classes = {} if y.dtype.kind == "f" else {"classes": np.unique(y)}
    for start in range(0, len(X), size):
        part = slice(start, start + size)
        some = None if weight is None else weight[part]
        model.partial_fit(X[part], y[part], **classes, sample_weight=some)
    return model


def pieces(size, *arrays):
    for start in range(0, len(arrays[0]), size):
        yield tuple(array[start : start + size] for array in arrays)


def is_sparse(case):
    return get_tags(case.make()).input_tags.sparse


def offers(method):
    """Tell if a case with a pool has the method."""
    return lambda case: case.pool and hasattr(case.pooled(case.data()[0][:POOL]), method)


@contract(all_cases, when=lambda case: case.pool)
def test_a_pool_of_all_rows_is_the_exact_fit(case: Case):
    X, y = case.data()
    everyone = len(X) if case.pool == "n_landmarks" else "all"
    agree(case.pooled(X).fit(X, y), case.pooled(everyone).fit(X, y), X, FAST, up_to_sign=True)


@contract(all_cases, when=has_passes)
def test_precision_is_no_other_result(case: Case):
    X, y = case.data()
    reference = case.pooled(X[:POOL]).fit(X, y)
    for precision in ("safe", "fast"):
        agree(fit_with({"precision": precision}, case.pooled(X[:POOL]), X, y), reference, X, FAST)


@contract(all_cases, when=has_passes)
def test_precision_in_pieces_is_no_other_result(case: Case):
    X, y = case.data()
    reference = case.pooled(X[:POOL]).fit(X, y)
    for precision in ("safe", "fast"):
        model = case.pooled(X[:POOL])
        if hasattr(model, "partial_fit"):
            with config_context(precision=precision):
                agree(in_pieces(model, 20, X, y), reference, X, FAST)


@contract(all_cases, when=has("n_jobs"))
def test_threads_and_blocks_change_nothing(case: Case):
    X, y = case.data()
    reference = case.pooled(X[:POOL], n_jobs=1).fit(X, y)
    agree(case.pooled(X[:POOL], n_jobs=2).fit(X, y), reference, X)
    if has_passes(case):
        for block_size in (7, 100_000):
            model = fit_with({"block_size": block_size}, case.pooled(X[:POOL], n_jobs=2), X, y)
            agree(model, reference, X)


@contract(all_cases)
def test_memory_layout_changes_nothing(case: Case, tmp_path):
    X, y = case.data()
    mapped = np.memmap(tmp_path / "rows", dtype=X.dtype, mode="w+", shape=X.shape)
    mapped[:] = X
    reference = case.make().fit(X, y)
    for rows in (mapped, np.asfortranarray(X)):
        agree(case.make().fit(rows, y), reference, X)
    if "n_jobs" in case.parameters:
        agree(case.make(n_jobs=2).fit(X, y), reference, X)


@contract(all_cases, when=is_sparse)
def test_sparse_rows_are_dense_rows(case: Case):
    X, y = case.data()
    tolerance = TOLERANCES.get(str(case), FAST)
    agree(case.make().fit(sparse.csr_matrix(X), y), case.make().fit(X, y), X, tolerance)
    if case.pool:
        model = case.pooled(sparse.csr_matrix(X[:POOL])).fit(sparse.csr_array(X), y)
        agree(model, case.pooled(X[:POOL]).fit(X, y), X, FAST)


@contract(all_cases, when=offers("partial_fit"))
def test_rows_in_pieces_are_all_rows(case: Case):
    X, y = case.data()
    reference, tolerance = case.pooled(X[:POOL]).fit(X, y), TOLERANCES.get(str(case), FEATURES)
    for size in (1, 7, 1000):
        agree(in_pieces(case.pooled(X[:POOL]), size, X, y), reference, X, tolerance)


@contract(all_cases, when=offers("partial_fit"))
def test_partial_fit_goes_on_after_use(case: Case):
    X, y = case.data()
    model = in_pieces(case.pooled(X[:POOL]), 36, X[:36], y[:36])
    assert np.isfinite(model.transform(X)).all()
    reference, tolerance = case.pooled(X[:POOL]).fit(X, y), TOLERANCES.get(str(case), FEATURES)
    agree(in_pieces(model, 36, X[36:], y[36:]), reference, X, tolerance)
    agree(model.fit(X, y), case.pooled(X[:POOL]).fit(X, y), X, 0)  # forgets the pieces


@contract(all_cases, when=offers("fit_batches"))
def test_batches_are_all_rows(case: Case):
    X, y = case.data()
    reference, tolerance = case.pooled(X[:POOL]).fit(X, y), TOLERANCES.get(str(case), FEATURES)

    class Dataset:
        def __iter__(self):
            return pieces(25, X, y)

    classes = None if y.dtype.kind == "f" else np.unique(y)
    for batches in (list(pieces(25, X, y)), pieces(25, X, y), Dataset()):
        agree(case.pooled(X[:POOL]).fit_batches(batches, classes), reference, X, tolerance)


def weights(X):
    weight = np.random.default_rng(3).integers(0, 4, len(X))
    return weight, np.repeat(np.arange(len(X)), weight)


@contract(all_cases, when=lambda case: not case.draws)
def test_whole_weights_are_repeated_rows(case: Case):
    X, y = case.data()
    weight, repeated = weights(X)
    models = [case.make()] + ([case.pooled(X[:POOL])] if case.pool else [])
    for model in models:
        reference = type(model)(**model.get_params(deep=False)).fit(X[repeated], y[repeated])
        tolerance = TOLERANCES.get(str(case), FAST)
        by_coefficient = case.option.get("criterion") == "pca"  # which grows with the weight
        agree(model.fit(X, y, sample_weight=weight), reference, X, tolerance, by_coefficient)


@contract(all_cases, when=offers("partial_fit"))
def test_weights_in_pieces_are_weights(case: Case):
    X, y = case.data()
    weight, _ = weights(X)
    reference = case.pooled(X[:POOL]).fit(X, y, sample_weight=weight)
    agree(in_pieces(case.pooled(X[:POOL]), 20, X, y, weight), reference, X)
    classes = None if y.dtype.kind == "f" else np.unique(y)
    agree(case.pooled(X[:POOL]).fit_batches(list(pieces(20, X, y, weight)), classes), reference, X)
