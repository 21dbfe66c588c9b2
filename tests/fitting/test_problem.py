"""How many candidates a kernel estimator draws, and how."""

import numpy as np
import pytest
from configured import fit_with

from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    Candidates,
    GreedyKernelFisherDiscriminant,
    KernelFeatureExtraction,
    KernelFisherDiscriminant,
    KernelOrthogonalCentroid,
    KernelPCA,
    KernelPLS,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
    SubspaceKernelFeatures,
    config_context,
)
from kernelsieve.deflation import Needs, ScoringCriterion
from kernelsieve.exceptions import FewerFeaturesWarning, InvalidParameterError
from kernelsieve.fitting import problem


class Largest(ScoringCriterion):
    """A criterion of a user's, which does not say that it can be screened."""

    needs = Needs(targets=False)

    def score(self, view):
        return view.residual_squared_norms


N = 300


@pytest.fixture
def data(monkeypatch):
    """A few samples, of which a pool is drawn as of many."""
    monkeypatch.setattr(problem, "_IN_ANY_CASE", 100)
    few = {"chosen": 100, "followed": 100, "combined": 100, "solved": 200}
    monkeypatch.setattr(problem, "_ALL_UP_TO", few)
    monkeypatch.setattr(problem, "AUTO_POOL", 250)
    X = np.random.default_rng(0).standard_normal((N, 3))
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
        (SparseMaximalAlignment(80, candidates=Candidates(how="kmeans")), 250, "kmeans"),
        (SparseMaximalAlignment(5, candidates=50), 50, "random"),
        (SparseMaximalAlignment(5, candidates=Candidates(50, how="screen")), 50, "screen"),
        (KernelPLS(5), 250, "screen"),
        (KernelPCA(5), 250, "random"),
        (KernelFisherDiscriminant(), 200, "random"),
        (KernelFisherDiscriminant(candidates=Candidates(how="kmeans")), 250, "kmeans"),
        (KernelOrthogonalCentroid(), 250, "screen"),
        (SubspaceKernelFeatures(), 200, "random"),
        (AcceleratedKernelFeatureAnalysis(5), 200, "screen"),
        (GreedyKernelFisherDiscriminant(5), 150, "screen"),
        (KernelFeatureExtraction(Largest(), 5), 250, "random"),
    ],
)
def test_candidates_are_screened_where_they_can_be(estimator, n_pool, how, data, drawn):
    estimator.fit(*data)
    assert drawn == [(n_pool, how, 2**30)]


def test_a_screen_that_was_asked_for_is_refused_where_there_is_none(data):
    with pytest.raises(InvalidParameterError, match=r"how='screen'.*Largest"):
        KernelFeatureExtraction(Largest(), 5, candidates=Candidates(how="screen")).fit(data[0])


def test_no_more_features_than_rows(data):
    X, y = data
    with pytest.warns(FewerFeaturesWarning, match="of the 50 components asked for"):
        assert SparseMaximalAlignment(50).fit(X[:40], y[:40]).n_components_ <= 40


def test_memory_is_what_the_user_allows(data, drawn):
    fit_with({"max_memory": 10**6}, SparseMaximalAlignment(5), *data)
    assert drawn == [(150, "screen", 10**6)]


def pool_size(estimator, n_samples, n_inputs=3):
    """Return how many of so many samples an estimator takes by default."""
    X = np.random.default_rng(0).standard_normal((20, n_inputs))
    with np.errstate(all="ignore"):  # as fit does
        prepared = estimator._problem(X, (X[:, 0] > 0).astype(int), None)
    return estimator._pool_size(prepared, n_samples)


def test_sizes_by_default():
    """Those of the table in docs/choose.md."""
    sizes = {
        SparseMaximalAlignment(10): (1500, 150, 225),
        SparseMaximalAlignment(99): (1500, 150, 225),
        SparseMaximalAlignment(100): (1000, 150, 225),
        SparseMaximalAlignment(300): (1000, 450, 525),
        SparseMaximalCovariance(10): (1500, 150, 225),
        GreedyKernelFisherDiscriminant(10): (1500, 150, 225),
        KernelFeatureExtraction("opls"): (1000, 1000, 1000),
        KernelPCA(10): (10_000, 1000, 1000),
        AcceleratedKernelFeatureAnalysis(10): (10_000, 200, 200),
        KernelPLS(10): (10_000, 1000, 1000),
        KernelOrthogonalCentroid(): (10_000, 1000, 1000),
        KernelFisherDiscriminant(): (2000, 2000, 2000),
        SubspaceKernelFeatures(): (2000, 2000, 2000),
    }
    for estimator, (most, beyond, of_many) in sizes.items():
        assert pool_size(estimator, most) == most
        assert pool_size(estimator, most + 1) == beyond
        assert pool_size(estimator, 25_000) == of_many


def test_the_cost_of_a_kernel_value_and_memory_limit_how_many_are_all():
    assert pool_size(KernelPLS(5), 9000, n_inputs=800) == 1000
    assert pool_size(KernelPLS(5), 4000, n_inputs=800) == 4000
    with config_context(max_memory=2**27):
        assert pool_size(KernelPLS(5), 5000) == 1000
        assert pool_size(KernelPLS(5), 4000) == 4000
        with config_context(dtype="float32"):
            assert pool_size(KernelPLS(5), 5000) == 5000
    with config_context(max_memory=0):
        assert pool_size(KernelPLS(5), 3000) == 3000
    assert pool_size(KernelPLS(5, kernel=lambda x, z: float(x @ z)), 3001) == 1000
