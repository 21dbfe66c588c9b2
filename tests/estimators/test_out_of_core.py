"""Fitting out of core: samples of weight 0, and what is found only when it is used."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    Candidates,
    KernelOrthogonalCentroid,
    ReducedKernelOPLS,
    SparseMaximalAlignment,
)
from kernelsieve.exceptions import InvalidDataError, InvalidParameterError


@pytest.fixture
def data(rng):
    X = rng.standard_normal((200, 4))
    X[:150] += 100  # rows that do not count are far from those that do
    return X, np.sin(X[:, 0]), np.repeat([0.0, 1.0], [150, 50])


def in_one_batch(model, X, y, weight):
    return model.fit_batches([(X, y, weight)])


def in_pieces(model, X, y, weight):
    return model.partial_fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("feed", [in_one_batch, in_pieces])
@pytest.mark.parametrize("gamma", ["scale", "median"])
@pytest.mark.parametrize("pool", ["random", "screen"])
def test_a_first_batch_settles_everything_by_the_rows_that_count(feed, gamma, pool, data):
    X, y, weight = data
    model = SparseMaximalAlignment(5, candidates=Candidates(20, how=pool), gamma=gamma, random_state=0)
    alone = feed(clone(model), X[150:], y[150:], None)
    feed(model, X, y, weight)
    assert_array_equal(model.landmark_indices_, 150 + alone.landmark_indices_)
    assert_array_equal(model.landmarks_, X[model.landmark_indices_])
    assert_allclose(model.transform(X), alone.transform(X), atol=1e-9)


@pytest.mark.parametrize("feed", [in_one_batch, in_pieces])
def test_a_precomputed_kernel_is_numbered_by_all_rows(feed, data):
    X, y, weight = data
    K = rbf_kernel(X, gamma=0.1)
    plain = SparseMaximalAlignment(5, candidates=20, gamma=0.1, random_state=0)
    known = SparseMaximalAlignment(5, candidates=20, kernel="precomputed", random_state=0)
    feed(plain, X, y, weight)
    feed(known, K, y, weight)
    assert_array_equal(known.landmark_indices_, plain.landmark_indices_)
    assert_array_equal(known.landmarks_, known.landmark_indices_)
    assert_allclose(known.transform(K), plain.transform(X), atol=1e-9)


@pytest.mark.parametrize("feed", [in_one_batch, in_pieces])
@pytest.mark.parametrize("make", [SparseMaximalAlignment, KernelOrthogonalCentroid])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_first_batch_that_does_not_count_is_refused(feed, make, data):
    X, y, _ = data
    with pytest.raises(InvalidDataError, match="All sample weights of the first batch are zero"):
        feed(make(gamma="scale"), X, (y > 0).astype(int), np.zeros(200))


def test_a_first_batch_need_not_count_where_nothing_is_drawn_from_it(data):
    X, y, weight = data
    model = SparseMaximalAlignment(5, candidates=X[150:])
    later = model.partial_fit(X, y, sample_weight=0 * weight).partial_fit(X, y, sample_weight=weight)
    expected = SparseMaximalAlignment(5, candidates=X[150:]).fit(X, y, weight)
    assert_array_equal(later.landmark_indices_, expected.landmark_indices_)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (SparseMaximalAlignment(5, candidates=60), "candidates"),
        (ReducedKernelOPLS(1, n_landmarks=60), "n_landmarks"),
    ],
)
def test_candidates_must_not_outnumber_the_rows_that_count(model, name, data):
    with pytest.raises(InvalidDataError, match=f"{name}=60 are drawn from .* which has 50 rows"):
        model.partial_fit(data[0], data[1], sample_weight=data[2])


def test_what_fails_when_the_features_are_found_fails_every_time(data):
    X = sparse.csr_matrix(data[0])
    model = AcceleratedKernelFeatureAnalysis(5, candidates=50, random_state=0).partial_fit(X)
    model.set_params(fit_inverse_transform=True)
    for _ in range(2):
        with pytest.raises(InvalidParameterError, match="does not take sparse X"):
            model.transform(X)
    model.set_params(fit_inverse_transform=False)
    assert model.transform(X).shape == (200, 5)


def test_a_first_batch_with_fewer_rows_than_features(rng):
    X = rng.standard_normal((50, 3))
    y = X[:, 0]
    for call in (
        lambda model: model.partial_fit(X[:5], y[:5]),
        lambda model: model.fit_batches([(X[:5], y[:5]), (X[5:], y[5:])]),
    ):
        with pytest.raises(InvalidDataError, match="drawn from the first batch, which has 5 rows"):
            call(SparseMaximalAlignment(10))
