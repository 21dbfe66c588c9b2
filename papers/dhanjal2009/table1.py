"""Table 1: how the work grows with the number of examples and of features.

The paper states orders; l is the number of examples, k that of features, p the cost of a kernel
evaluation. We count the evaluations of a fit and of the features of one new example with a kernel
that counts, and fit exponents of l (for k = 10) and k (for the smaller l). The terms with p are
compared; SMA and SMC look at 4 random columns a step, sparse KPLS has nu = 0.1 and keeps no
columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelsieve import (
    Candidates,
    KernelBoostedLatentFeaturesClassifier,
    KernelBoosting,
    KernelPCA,
    KernelPLS,
    SparseMaximalAlignment,
    SparseMaximalCovariance,
)
from kernelsieve.datasets import make_interactions
from papers.form import Cell, Estimate, Table

from .methods import keeping_columns


class CountingKernel:
    """An rbf kernel that counts how many values it was asked for."""

    def __init__(self) -> None:
        self.evaluations = 0

    def __call__(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        self.evaluations += len(X) * len(Z)
        squared = (X**2).sum(axis=1)[:, None] + (Z**2).sum(axis=1) - 2 * X @ Z.T
        return np.exp(-0.1 * np.maximum(squared, 0))


METHODS: dict[str, tuple[type, dict[str, Any]]] = {
    "PCA": (KernelPCA, {"candidates": "all"}),
    "PLS": (KernelPLS, {"candidates": "all"}),
    "KB": (KernelBoosting, {"candidates": "all"}),
    "BLF": (KernelBoostedLatentFeaturesClassifier, {"candidates": "all"}),
    "Sp. KPLS": (keeping_columns(1), {"nu": 0.1}),
    "SMA": (SparseMaximalAlignment, {"candidates": Candidates(4, resample=True)}),
    "SMC": (SparseMaximalCovariance, {"candidates": Candidates(4, resample=True)}),
}
#: Exponents of l and k in the kernel evaluations of training, and of l and k in those of a new example.
PRINTED = {
    "PCA": (2, 0, 1, 0),
    "PLS": (2, 0, 1, 0),
    "KB": (2, 0, 1, 0),
    "BLF": (2, 0, 1, 0),
    "Sp. KPLS": (2, 1, 1, 0),
    "SMA": (1, 1, 0, 1),
    "SMC": (1, 1, 0, 1),
}
EXPLANATIONS = {
    "Sp. KPLS": "every step adds support vectors until all examples are, so that few features need "
    "fewer evaluations than the paper's bound, and more features more of them.",
}
MEASURES = ("training, l", "training, k", "test, l", "test, k")


def evaluations(method: str, n_examples: int, n_features: int) -> tuple[int, int]:
    """Return the kernel evaluations of a fit, and of the features of one new example."""
    X, y = make_interactions(n_examples, 10, random_state=0)
    labels = np.where(y > np.median(y), 1, -1)
    kind, parameters = METHODS[method]
    kernel = CountingKernel()
    model = kind(n_features, kernel=kernel, random_state=0, n_jobs=1, **parameters)
    model.fit(X, labels if method in ("KB", "BLF") else y)
    training, kernel.evaluations = kernel.evaluations, 0
    model.transform(X[:1])
    return training, kernel.evaluations


def exponents(method: str, smallest: int, doublings: int, numbers: list[int]) -> dict[str, Estimate]:
    """Return the slopes of counted evaluations on logarithmic axes, to one digit."""
    sizes = [smallest * 2**power for power in range(doublings + 1)]
    by_size = [evaluations(method, size, numbers[0]) for size in sizes]
    by_number = [evaluations(method, sizes[0], number) for number in numbers]
    slopes = [
        np.polyfit(np.log(at), np.log(counted), 1)[0]
        for counted, at in (
            ([c[0] for c in by_size], sizes),
            ([c[0] for c in by_number], numbers),
            ([c[1] for c in by_size], sizes),
            ([c[1] for c in by_number], numbers),
        )
    ]
    return {
        measure: Estimate(round(slope, 1) + 0.0)
        for measure, slope in zip(MEASURES, slopes, strict=True)
    }


TABLE = Table(
    axes=("method",),
    cells=[
        Cell(
            key=(method,),
            settings={"method": method, "smallest": 1000 if method in ("SMA", "SMC") else 200},
            printed={
                measure: Estimate(value)
                for measure, value in zip(MEASURES, PRINTED[method], strict=True)
            },
            explanation=EXPLANATIONS.get(method, ""),
        )
        for method in METHODS
    ],
    compute=exponents,
    quick={"doublings": 1, "numbers": [10, 20, 40]},
    full={"doublings": 3, "numbers": [10, 20, 40]},
    lower_is_better=dict.fromkeys(MEASURES, True),
    digits=".1f",
)
