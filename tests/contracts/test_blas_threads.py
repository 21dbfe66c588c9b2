"""BLAS has one thread during everything that computes, and its own number afterwards."""

import threading

import numpy as np
import pytest
from blas_threads import blas_threads
from contract_cases import Case, contract, plain_cases
from sklearn.base import clone, is_regressor
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel

from kernelsieve import (
    AlignmentWeights,
    GradientMetric,
    SieveClassifier,
    SieveRegressor,
    SparseMaximalAlignment,
)
from kernelsieve.model_selection import ComponentPathCV

WAYS = ("fit", "partial_fit", "transform", "predict")
pytestmark = pytest.mark.filterwarnings("ignore")  # of few steps, and of few samples
MANY = 4200  # rows, for which the limit is worth its time


class WatchingKernel:
    """A kernel that notes how many threads BLAS has when it is called."""

    def __init__(self):
        self.seen = []

    def __call__(self, X, Z):
        self.seen.append(max(blas_threads()))
        return rbf_kernel(X, Z, 0.3)


class WatchedRows:
    """Rows that note how many threads BLAS has when they are read."""

    def __init__(self, X):
        self.X, self.seen = X, []

    def __array__(self, dtype=None, copy=None):
        self.seen.append(max(blas_threads()))
        return np.array(self.X, dtype)


@contract(plain_cases, lambda case: "kernel" in case.parameters)
def test_kernels_are_evaluated_with_one_thread(case, two_blas_threads):
    X, y = case.data()
    kernel = WatchingKernel()
    model = case.make(kernel=kernel).fit(X, y)
    for way in WAYS:
        if not hasattr(model, way):
            continue
        kernel.seen.clear()
        fits = way in ("fit", "partial_fit")
        getattr(model, way)(*((X, y) if fits else (np.resize(X, (MANY, X.shape[1])),)))
        assert set(kernel.seen) == {1}, way
        assert blas_threads() == two_blas_threads


OTHERS = [
    SieveRegressor(time_budget=0.5, random_state=0),
    SieveClassifier(time_budget=0.5, random_state=0),
    GradientMetric(structure="diagonal", n_rounds=1, evidence=False, random_state=0),
    AlignmentWeights(max_iter=5),
    ComponentPathCV(SparseMaximalAlignment(3), Ridge(), cv=2),
]


@pytest.mark.parametrize("model", OTHERS, ids=lambda model: type(model).__name__)
def test_fits_without_kernels_of_the_user_have_one_thread(model, two_blas_threads):
    X, y = Case(SparseMaximalAlignment).data()
    rows = WatchedRows(X)
    clone(model).fit(rows, y.astype(float) if is_regressor(model) else y)
    assert set(rows.seen) == {1}
    assert blas_threads() == two_blas_threads


def test_many_fits_in_threads_are_right_and_leave_no_limit(two_blas_threads):
    X, y = Case(SparseMaximalAlignment).data()
    model = SparseMaximalAlignment(4, candidates=30, random_state=0)
    expected = model.fit_transform(X, y)
    found = []

    def fit_some():
        for _ in range(5):
            features = SparseMaximalAlignment(**model.get_params()).fit_transform(X, y)
            found.append(np.abs(features - expected).max())

    threads = [threading.Thread(target=fit_some) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 40
    assert max(found) == 0
    assert blas_threads() == two_blas_threads
