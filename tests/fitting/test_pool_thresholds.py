"""Fits on both sides of the numbers of samples from which candidates are a pool."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV

from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    KernelBoostedLatentFeatures,
    KernelBoostedLatentFeaturesClassifier,
    KernelDiscriminantQR,
    KernelFeatureExtraction,
    KernelFisherDiscriminant,
    KernelOrthogonalCentroid,
    KernelPCA,
    KernelPLS,
    KernelPLSClassifier,
    OrientedKernelPCA,
    SparseKernelFisherDiscriminant,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
    SubspaceKernelFeatures,
)

LOSS = 0.005  # of R2


def smooth(n, seed):
    """Two inputs, a smooth target with a little noise, and two classes."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    f = np.sin(2 * X[:, 0]) + np.cos(X[:, 0] * X[:, 1])
    return X, f + 0.1 * rng.standard_normal(n), f


def r2(estimator, n, *, labels):
    """Return what least squares on the features explain of a function that the target follows."""
    X, y, _ = smooth(n, 0)
    X_test, _, f = smooth(2000, 1)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    estimator.fit(X, y > 0.5 if labels else y)
    target, expected = (y, f) if not labels else (1.0 * (y > 0.5), 1.0 * (f > 0.5))
    features = estimator.transform(X)
    head = RidgeCV(np.var(features) * np.logspace(-9, 2, 12)).fit(features, target)
    return head.score(estimator.transform(X_test), expected)


def check(estimator, most, labels):
    below, above = (r2(estimator, n, labels=labels) for n in (most - 10, most + 10))
    assert above > below - LOSS


def test_kernel_pls_loses_nothing_above_3000_samples():
    """Of five inputs: 200 candidates are too few to combine."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 5))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + np.cos(X[:, 3] + X[:, 4])
    below, above = (
        KernelPLS(10, gamma="scale").fit(X[:n], y[:n]).score(X[4000:], y[4000:]) for n in (2990, 3010)
    )
    assert above > below - LOSS


@pytest.mark.slow
@pytest.mark.parametrize("most", [1500, 2000, 3000])
@pytest.mark.parametrize(
    ("estimator", "labels"),
    [
        (SparseMaximalAlignment(25), False),
        (SparseMaximalCovariance(40), False),
        (KernelFeatureExtraction("alignment", 25), False),
        (KernelFisherDiscriminant(), True),
        (SparseKernelFisherDiscriminant(), True),
        (OrientedKernelPCA(20), True),
        (SubspaceKernelFeatures(), True),
    ],
)
def test_nothing_is_lost_above_a_threshold(estimator, labels, most):
    check(estimator, most, labels)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "labels"),
    [
        (KernelPLS(8), False),
        (KernelPLSClassifier(8), True),
        (KernelBoostedLatentFeatures(8), False),
        (KernelBoostedLatentFeaturesClassifier(3), True),
        (KernelPCA(20), False),
        (KernelOrthogonalCentroid(), True),
        (KernelDiscriminantQR(), True),
        (AcceleratedKernelFeatureAnalysis(40), False),
    ],
)
def test_nothing_is_lost_above_ten_thousand_samples(estimator, labels):
    check(estimator, 10_000, labels)
