"""The distribution of a criterion over candidates equals that of the paper's formulas."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    FeatureExtraction,
    KernelPLS,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
)
from kernelsieve.exceptions import InvalidDataError, InvalidParameterError
from kernelsieve.model_selection import CriterionDistribution, criterion_distribution

GAMMA = 2.0


def naive_scores(K, y, n_chosen, criterion):
    """Return the scores of the columns that are left after so many choices, on deflated columns."""
    diagonal = np.diagonal(K)
    K, y = K - K.mean(axis=0), y - y.mean()
    chosen = []
    while True:
        left = np.setdiff1d(np.arange(K.shape[1]), chosen)
        length = (K**2).sum(axis=0) if criterion == "alignment" else diagonal
        scores = (K.T @ y) ** 2 / np.where(length > 0, length, 1)
        if len(chosen) == n_chosen:
            return np.sort(scores[left])
        best = left[np.argmax(scores[left])]
        tau = K[:, best] / np.linalg.norm(K[:, best])
        K = K - np.outer(tau, tau @ K)
        chosen.append(best)


@pytest.mark.parametrize("component", [1, 4])
@pytest.mark.parametrize(
    ("criterion", "method"),
    [("alignment", SparseMaximalAlignment), ("covariance", SparseMaximalCovariance)],
)
def test_scores_are_those_of_deflated_columns(criterion, method, component, diabetes):
    X, y = diabetes
    X, y = X[:150], np.asarray(y[:150], dtype=float)
    expected = naive_scores(rbf_kernel(X, gamma=GAMMA), y, component - 1, criterion)
    found = criterion_distribution(method(gamma=GAMMA), X, y, component=component)
    assert_allclose(found.scores, expected, rtol=1e-6, atol=1e-9 * expected[-1])


def test_feature_analysis_scores_by_the_fall_of_the_reconstruction_error(diabetes):
    X = diabetes[0][:100]
    K = rbf_kernel(X, gamma=GAMMA)
    found = criterion_distribution(AcceleratedKernelFeatureAnalysis(gamma=GAMMA), X)
    assert_allclose(found.scores, np.sort((K**2).sum(axis=0)), rtol=1e-9)


def test_random_candidates_are_some_of_all(diabetes):
    X, y = diabetes
    y = np.asarray(y, dtype=float)
    sieve = SparseMaximalAlignment(gamma=GAMMA, random_state=0)
    every = criterion_distribution(sieve, X, y).scores
    some = criterion_distribution(sieve, X, y, n_candidates=50).scores
    assert len(every) == len(X)
    assert len(some) == 50
    distance = np.abs(some[:, None] - every).min(axis=1)
    assert (distance < 1e-6 * every[-1]).all()


def test_a_screen_does_not_favour_good_candidates(rng):
    X = rng.standard_normal((3500, 2))
    y = np.sin(X[:, 0])
    assert len(criterion_distribution(SparseMaximalAlignment(gamma=0.5), X, y).scores) == 3500


def test_the_best_of_several_is_a_power_of_the_distribution():
    distribution = CriterionDistribution(np.array([1.0, 2.0, 3.0, 4.0]))
    assert_allclose(distribution.cdf([0.5, 1.0, 2.5, 4.0]), [0, 0.25, 0.5, 1])
    assert_allclose(distribution.cdf(2.5, n_candidates=3), 0.125)


def test_as_many_candidates_as_the_share_of_good_ones_asks_for():
    distribution = CriterionDistribution(np.linspace(0.001, 1, 1000))
    assert distribution.candidates_needed(share=0.951, probability=0.95) == 59
    assert distribution.candidates_needed(share=1e-9) == 1
    with pytest.raises(InvalidParameterError, match="share=0"):
        distribution.candidates_needed(0)


@pytest.mark.parametrize(
    "extractor",
    [KernelPLS(), FeatureExtraction("alignment"), SparseMaximalAlignment(n_nonzero=2), None],
)
def test_only_what_scores_single_candidates_has_a_distribution(extractor, diabetes):
    with pytest.raises(InvalidParameterError, match="does not score single candidates"):
        criterion_distribution(extractor, *diabetes)


@pytest.mark.parametrize("option", [{"component": 0}, {"n_candidates": 1.5}, {"component": True}])
def test_numbers_are_checked(option, diabetes):
    with pytest.raises(InvalidParameterError, match=f"{next(iter(option))}="):
        criterion_distribution(SparseMaximalAlignment(), *diabetes, **option)


def test_a_component_that_the_data_do_not_have(diabetes):
    X, y = diabetes[0], np.asarray(diabetes[1], dtype=float)
    with pytest.raises(InvalidDataError, match="component=20 cannot be chosen, because after 10"):
        criterion_distribution(SparseMaximalAlignment(kernel="linear"), X, y, component=20)
