"""Fits on both sides of the numbers of samples from which candidates are a pool."""

from inspect import isclass, signature

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV

import kernelsieve
from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    Candidates,
    GreedyKernelFisherDiscriminant,
    KernelBoostedLatentFeatures,
    KernelBoostedLatentFeaturesClassifier,
    KernelBoosting,
    KernelDiscriminantQR,
    KernelFeatureExtraction,
    KernelFisherDiscriminant,
    KernelOrthogonalCentroid,
    KernelPCA,
    KernelPLS,
    KernelPLSClassifier,
    OrientedKernelPCA,
    RayleighCoefficient,
    ReducedKernelOPLS,
    SparseKernelFeatureAnalysis,
    SparseKernelFisherDiscriminant,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
    SubspaceKernelFeatures,
    config_context,
)
from kernelsieve.fitting import problem

LOSS = 0.005  # of R2

# Estimators whose candidates are all samples up to a number of these, and a pool beyond; those with
# labels, and the number of random states over which the loss of what is chosen greedily is a mean.
CASES = [
    (SparseMaximalAlignment(25), False, 1500, 30),
    (KernelFeatureExtraction("alignment", 25), False, 1500, 30),
    (SparseMaximalAlignment(50), False, 1500, 30),
    (SparseMaximalAlignment(75), False, 1500, 30),
    (SparseMaximalCovariance(40), False, 1500, 30),
    (SparseMaximalAlignment(100), False, 1000, 30),
    (SparseMaximalCovariance(10, n_nonzero=2), False, 600, 10),
    (SparseMaximalCovariance(20, n_nonzero=3), False, 100, 1),
    (GreedyKernelFisherDiscriminant(25, stop_tol=0), True, 1500, 16),
    (KernelFeatureExtraction("opls"), False, 1000, 1),
    (KernelFeatureExtraction("pca", 20), False, 1000, 1),
    (ReducedKernelOPLS(), False, 100, 1),
    (KernelFisherDiscriminant(), True, 2000, 1),
    (SparseKernelFisherDiscriminant(), True, 2000, 1),
    (OrientedKernelPCA(20), True, 2000, 1),
    (RayleighCoefficient(), True, 2000, 1),
    (SubspaceKernelFeatures(), True, 2000, 1),
    (KernelBoosting(10, candidates=Candidates(scored_on=600)), True, 600, 1),
    # With little memory, as with many features of X, all samples are too many above 3,000.
    (KernelPLS(8, gamma="scale"), False, 3000, 1),
    (KernelBoostedLatentFeatures(8), False, 3000, 1),
    (KernelPCA(20), False, 3000, 1),
    (AcceleratedKernelFeatureAnalysis(40), False, 3000, 1),
    (KernelPLS(8), False, 10_000, 1),
    (KernelPLSClassifier(8), True, 10_000, 1),
    (KernelBoostedLatentFeatures(8), False, 10_000, 1),
    (KernelBoostedLatentFeaturesClassifier(3), True, 10_000, 1),
    (KernelPCA(20), False, 10_000, 1),
    (KernelFeatureExtraction("pls", 8), False, 10_000, 1),
    (KernelOrthogonalCentroid(), True, 10_000, 1),
    (KernelDiscriminantQR(), True, 10_000, 1),
    (AcceleratedKernelFeatureAnalysis(40), False, 10_000, 1),
    (SparseKernelFeatureAnalysis(40), False, 10_000, 1),
]


def plane(rng, n):
    X = rng.uniform(-2, 2, (n, 2))
    return X, np.sin(2 * X[:, 0]) + np.cos(X[:, 0] * X[:, 1])


def five_inputs(rng, n):
    """Of which few landmarks explain a part only."""
    X = rng.standard_normal((n, 5))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + np.cos(X[:, 3] + X[:, 4])


def r2(estimator, make, n, *, labels, seed=0):
    """Return what least squares on the features explain of a function that the target follows."""
    rng = np.random.default_rng(seed)
    (X_test, f), (X, y) = make(rng, 2000), make(rng, 10_010)
    X, y = X[:n], (y + 0.1 * rng.standard_normal(len(y)))[:n]
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=seed)
    estimator.fit(X, y > 0.5 if labels else y)
    target, expected = (y, f) if not labels else (1.0 * (y > 0.5), 1.0 * (f > 0.5))
    features = estimator.transform(X)
    head = RidgeCV(np.var(features) * np.logspace(-9, 2, 12)).fit(features, target)
    return head.score(estimator.transform(X_test), expected)


def test_kernel_pls_loses_nothing_above_3000_samples():
    """Of five inputs: 200 candidates are too few to combine."""
    rng = np.random.default_rng(0)
    X, y = five_inputs(rng, 5000)
    below, above = (
        KernelPLS(10, gamma="scale").fit(X[:n], y[:n]).score(X[4000:], y[4000:]) for n in (2990, 3010)
    )
    assert above > below - LOSS


def has_rule(estimator):
    parameters = signature(estimator).parameters
    return any(
        name in parameters and parameters[name].default == "auto"
        for name in ("candidates", "n_landmarks")
    )


def test_every_estimator_and_every_threshold_is_tried():
    public = [getattr(kernelsieve, name) for name in kernelsieve.__all__]
    assert {e for e in public if isclass(e) and has_rule(e)} == {type(case[0]) for case in CASES}
    thresholds = {*problem._ALL_UP_TO.values(), *problem._MOST_TO_COMBINE.values()}
    assert thresholds | {problem._IN_ANY_CASE} == {most for _, _, most, _ in CASES}


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "labels", "most", "n_seeds"), CASES)
def test_nothing_is_lost_above_a_threshold(estimator, labels, most, n_seeds):
    make, least = (plane, 10) if labels or n_seeds == 1 else (five_inputs, 5)
    little = {"max_memory": 0} if most == problem._IN_ANY_CASE else {}
    losses = []
    for seed in range(n_seeds):
        with config_context(**little):
            sides = [
                r2(estimator, make, n, labels=labels, seed=seed) for n in (most - least, most + 10)
            ]
        losses.append(sides[0] - sides[1])
    assert np.mean(losses) < LOSS
