"""GradientMetric before sparse maximal alignment, against sparse maximal alignment alone."""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from kernelsieve import GradientMetric, SparseMaximalAlignment
from kernelsieve.datasets import load, local_data_folder
from kernelsieve.exceptions import FewerFeaturesWarning, InputScaleWarning, NothingLearntWarning
from kernelsieve.predictors.losses import LOSSES

from .common import heading, table, verdict
from .sieve import parted

N_SPLITS = 5
N_LANDMARKS, N_CANDIDATES = 300, 1000
RIDGES = 10.0 ** np.arange(-10, 1)
WIDTHS = 4.0 ** np.arange(-3, 3)  # of one over the variance of all inputs together


def errors_of_ridges(gamma: float, fitted: tuple, tested: tuple, ridges=RIDGES) -> np.ndarray:
    """Return the errors of ridge regression, in the norm of the kernel, on landmarks by SMA."""
    (U, y), (U_new, y_new) = fitted, tested
    sizes = min(N_LANDMARKS, len(U) // 2), min(N_CANDIDATES, len(U))
    sieve = SparseMaximalAlignment(sizes[0], gamma=gamma, candidates=sizes[1], random_state=0)
    Z, kernel = sieve.fit(U, y).landmarks_, sieve.kernel_
    values, vectors = np.linalg.eigh(kernel.block(Z, Z))
    kept = values > 1e-12 * values[-1]
    root = vectors[:, kept] / np.sqrt(values[kept])
    F, F_new = kernel.block(U, Z) @ root, kernel.block(U_new, Z) @ root
    heads = LOSSES["squared_error"].heads(F, y[:, None], np.ones(len(y)), ridges)
    return np.array([mean_squared_error(y_new, head.scores(F_new)) for head in heads])


def error(U: np.ndarray, y: np.ndarray, U_test: np.ndarray, y_test: np.ndarray, widths) -> float:
    """Return the error on test samples with width and ridge that held-out training samples choose."""
    U_fitted, U_held, y_fitted, y_held = train_test_split(U, y, test_size=0.2, random_state=0)
    tried = [errors_of_ridges(g, (U_fitted, y_fitted), (U_held, y_held)) for g in widths]
    width, ridge = np.unravel_index(np.argmin(tried), np.shape(tried))
    found = errors_of_ridges(widths[width], (U, y), (U_test, y_test), RIDGES[ridge : ridge + 1])
    return float(found[0])


def compare(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[float, float, float]:
    """Return the errors without and with a metric, and the seconds that the metric takes."""
    X, y, X_test, y_test = parted(X, y, seed, labels=False)
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    y, y_test = (y - y.mean()) / y.std(), (y_test - y.mean()) / y.std()
    start = time.perf_counter()
    metric = GradientMetric(random_state=seed).fit(X, y)
    took = time.perf_counter() - start
    plain = error(X, y, X_test, y_test, WIDTHS / X.var(axis=0).sum())
    if metric.best_round_ == 0:
        return plain, plain, took
    near = metric.gamma_ * np.array([0.25, 1.0, 4.0])
    return plain, error(metric.transform(X), y, metric.transform(X_test), y_test, near), took


def main(names: list[str] | None = None) -> None:
    folder = local_data_folder()
    if folder is None:
        print("learned_metric: KERNELSIEVE_DATA names no folder with the UCI sets")
        return
    heading(f"learned metric: mean squared errors of {N_SPLITS} splits, {N_LANDMARKS} landmarks")
    rows = []
    for name in names or sorted(path.name for path in folder.glob("uci_*")):
        data = load(name)
        X, y = np.asarray(data["X"], float), np.asarray(data["y"], float).ravel()
        with warnings.catch_warnings():
            for kind in (FewerFeaturesWarning, InputScaleWarning, NothingLearntWarning):
                warnings.simplefilter("ignore", kind)
            found = np.array([compare(X, y, seed) for seed in range(N_SPLITS)]).mean(axis=0)
        plain, learned, took = (float(value) for value in found)
        rows.append([name, plain, learned, learned / plain, took])
        print(f"  {name}: {learned / plain:.3f}", flush=True)
    table(["set", "SMA", "metric + SMA", "ratio", "seconds to learn"], rows)
    ratios = np.array([row[3] for row in rows])
    verdict("share of sets with a lower error", float(np.mean(ratios < 1)), 0.8, at_least=True)
    verdict("largest ratio", float(ratios.max()), 1.03, at_least=False)
    verdict("median ratio", float(np.median(ratios)), 0.75, at_least=False)
