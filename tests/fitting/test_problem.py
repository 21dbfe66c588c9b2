"""How many candidates a kernel estimator draws, and how."""

import numpy as np
import pytest

from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    GreedyKernelFisherDiscriminant,
    KernelFeatureExtraction,
    KernelPLS,
    SparseMaximalAlignment,
)
from kernelsieve.deflation import ScoringCriterion
from kernelsieve.exceptions import FewerFeaturesWarning, InvalidParameterError
from kernelsieve.fitting import problem


class Largest(ScoringCriterion):
    """A criterion of a user's, which does not say that it can be screened."""

    supervised = False

    def score(self, view):
        return view.residual_squared_norms


@pytest.fixture(scope="module")
def data():
    X = np.random.default_rng(0).standard_normal((3001, 3))
    return X, (X[:, 0] > 0).astype(int)


@pytest.fixture
def drawn(monkeypatch):
    """What pools are drawn with."""
    calls = []

    def record(batch, kernel, criterion, n_pool, how, settings, random_state):
        calls.append((n_pool, how, settings.max_memory))
        return np.arange(n_pool)

    monkeypatch.setattr(problem, "draw_pool", record)
    return calls


@pytest.mark.parametrize(
    ("estimator", "n_pool", "how"),
    [
        (SparseMaximalAlignment(20), 150, "screen"),
        (SparseMaximalAlignment(80), 150, "screen"),
        (SparseMaximalAlignment(80, pool="kmeans"), 1000, "kmeans"),
        (SparseMaximalAlignment(5, candidates=50), 50, "random"),
        (SparseMaximalAlignment(5, candidates=50, pool="screen"), 50, "screen"),
        (KernelPLS(5), 200, "screen"),
        (AcceleratedKernelFeatureAnalysis(5), 200, "screen"),
        (GreedyKernelFisherDiscriminant(5), 150, "screen"),
        (KernelFeatureExtraction(Largest(), 5), 1000, "random"),
    ],
)
def test_candidates_are_screened_where_they_can_be(estimator, n_pool, how, data, drawn):
    estimator.fit(*data)
    assert drawn == [(n_pool, how, 2**30)]


def test_a_screen_that_was_asked_for_is_refused_where_there_is_none(data):
    with pytest.raises(InvalidParameterError, match=r"pool='screen'.*Largest"):
        KernelFeatureExtraction(Largest(), 5, pool="screen").fit(data[0])


def test_no_more_features_than_rows(data):
    X, y = data
    with pytest.warns(FewerFeaturesWarning, match="of the 50 components asked for"):
        assert SparseMaximalAlignment(50).fit(X[:40], y[:40]).n_components_ <= 40


def test_memory_is_what_the_user_allows(data, drawn):
    SparseMaximalAlignment(5, max_memory=10**6).fit(*data)
    assert drawn == [(150, "screen", 10**6)]
