"""The samples and methods by which every way to read samples is compared with memory."""

import numpy as np

from kernelsieve import (
    AcceleratedKernelFeatureAnalysis,
    KernelFisherDiscriminant,
    KernelOrthogonalCentroid,
    KernelPCA,
    KernelPLS,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
)

RNG = np.random.default_rng(0)
N = 3000
X = RNG.normal(size=(N, 4))
Y = np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.1 * RNG.normal(size=N)
LABELS = np.where(X[:, 0] > 0.5, "high", np.where(X[:, 1] > 0, "left", "right"))
LABELS[N - 1] = "rare"
WEIGHT = RNG.uniform(0.5, 2.0, N)
POOL = X[::60]
NAMES = ["a", "b", "c", "d"]

METHODS = {
    "alignment": (SparseMaximalAlignment(8, candidates=POOL, gamma=0.3), "y"),
    "covariance": (SparseMaximalCovariance(8, candidates=POOL, gamma=0.3), "y"),
    "analysis": (AcceleratedKernelFeatureAnalysis(8, candidates=POOL, gamma=0.3), None),
    "pca": (KernelPCA(4, candidates=POOL, gamma=0.3), None),
    "pls": (KernelPLS(4, candidates=POOL, gamma=0.3), "y"),
    "fisher": (KernelFisherDiscriminant(candidates=POOL, gamma=0.3), "label"),
    "centroid": (KernelOrthogonalCentroid(candidates=POOL, gamma=0.3), "label"),
}
TARGETS = {"y": Y, "label": LABELS, None: None}


def in_memory(name, weight=None):
    model, target = METHODS[name]
    model.fit(X, TARGETS[target], weight)
    return list(model.landmark_indices_), model.transform(X)
