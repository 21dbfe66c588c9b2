"""Many classes: what a fit and a prediction cost when classes are a good part of the samples."""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import Any

import numpy as np

import kernelsieve

from .common import (
    heading,
    in_own_process,
    measured_in_turns,
    peak_megabytes,
    table,
    verdict,
    warm_up,
)

N, INPUTS, K = 20_000, 20, 10
MOST_CLASSES, FEWER_CLASSES = 10_000, 2_500
METHODS: dict[str, dict[str, Any]] = {
    "SparseMaximalAlignment": {"target": "classes"},
    "SparseMaximalCovariance": {"target": "classes"},
    "KernelPLSClassifier": {},
    "ReducedKernelOPLS": {"target": "classes"},
    "KernelFisherDiscriminant": {},
    "GreedyKernelFisherDiscriminant": {},
    "KernelOrthogonalCentroid": {},
    "KernelDiscriminantQR": {},
    "SubspaceKernelFeatures": {},
}


def samples(n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes around random centres, each with as many samples as another, or one more."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(N) % n_classes)
    return 2 * rng.normal(size=(n_classes, INPUTS))[y] + rng.normal(size=(N, INPUTS)), y


def measure(name: str, n_classes: int) -> tuple[float, float, float]:
    """Return the seconds of fit and of predict or transform, and megabytes above what was there."""
    warm_up()
    X, y = samples(n_classes)
    model = getattr(kernelsieve, name)(K, random_state=0, **METHODS[name])
    before = peak_megabytes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        model.fit(X, y)
        middle = time.perf_counter()
        (model.predict if hasattr(model, "predict") else model.transform)(X)
    return middle - start, time.perf_counter() - middle, peak_megabytes() - before


def main() -> None:
    figures = {}
    for n_classes in (MOST_CLASSES, FEWER_CLASSES):
        heading(f"many classes: {N:,} samples, {INPUTS} inputs, {n_classes:,} classes, {K} features")
        works = [partial(in_own_process, measure, name, n_classes) for name in METHODS]
        figures[n_classes] = dict(zip(METHODS, measured_in_turns(*works), strict=True))
        rows = ([name, *figures] for name, figures in figures[n_classes].items())
        table(["", "fit, s", "predict or transform, s", "MB above"], rows)
    slowest = max(fit + predict for fit, predict, _ in figures[MOST_CLASSES].values())
    verdict(f"seconds of the slowest with {MOST_CLASSES:,} classes", slowest, 45, at_least=False)
    largest = max(megabytes for *_, megabytes in figures[FEWER_CLASSES].values())
    verdict(f"MB of the largest with {FEWER_CLASSES:,} classes", largest, 600, at_least=False)
