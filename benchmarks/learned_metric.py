"""GradientMetric before sparse maximal alignment, against sparse maximal alignment alone.

The kernel is that of GradientMetric, Matern 3/2, before and after; rbf without a metric stands beside
it. Held-out training samples choose widths and ridges alike for all. Two inputs of bike add up to its
target, which a metric finds.
"""

from __future__ import annotations

import os
import time
import warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

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
NEAR = np.array([0.25, 1.0, 4.0])  # times the width that was best in a learned metric
KERNEL = GradientMetric().kernel


def errors_of_ridges(
    kernel: str, gamma: float, fitted: tuple, tested: tuple, ridges=RIDGES
) -> np.ndarray:
    """Return the errors of ridge regression, in the norm of the kernel, on landmarks by SMA."""
    (U, y), (U_new, y_new) = fitted, tested
    sizes = min(N_LANDMARKS, len(U) // 2), min(N_CANDIDATES, len(U))
    sieve = SparseMaximalAlignment(
        sizes[0], kernel=kernel, gamma=gamma, candidates=sizes[1], random_state=0
    )
    Z, function = sieve.fit(U, y).landmarks_, sieve.kernel_
    values, vectors = np.linalg.eigh(function.block(Z, Z))
    kept = values > 1e-12 * values[-1]
    root = vectors[:, kept] / np.sqrt(values[kept])
    F, F_new = function.block(U, Z) @ root, function.block(U_new, Z) @ root
    heads = LOSSES["squared_error"].heads(F, y[:, None], np.ones(len(y)), ridges)
    return np.array([mean_squared_error(y_new, head.scores(F_new)) for head in heads])


def error(kernel: str, widths: np.ndarray, fitted: tuple, tested: tuple) -> float:
    """Return the error on test samples with width and ridge that held-out training samples choose."""
    U_fitted, U_held, y_fitted, y_held = train_test_split(*fitted, test_size=0.2, random_state=0)
    parts = (U_fitted, y_fitted), (U_held, y_held)
    tried = [errors_of_ridges(kernel, gamma, *parts) for gamma in widths]
    width, ridge = np.unravel_index(np.argmin(tried), np.shape(tried))
    ridges = RIDGES[ridge : ridge + 1]
    return float(errors_of_ridges(kernel, widths[width], fitted, tested, ridges)[0])


def compare(X: np.ndarray, y: np.ndarray, seed: int) -> list[float]:
    """Return the errors of rbf, of Matern without and with a metric, and the seconds to learn it."""
    X, y, X_test, y_test = parted(X, y, seed, labels=False)
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    y, y_test = (y - y.mean()) / y.std(), (y_test - y.mean()) / y.std()
    with threadpool_limits(1), warnings.catch_warnings():
        for kind in (FewerFeaturesWarning, InputScaleWarning, NothingLearntWarning):
            warnings.simplefilter("ignore", kind)
        start = time.perf_counter()
        metric = GradientMetric(random_state=seed).fit(X, y)
        took = time.perf_counter() - start
        widths = WIDTHS / X.var(axis=0).sum()
        rbf, plain = (error(name, widths, (X, y), (X_test, y_test)) for name in ("rbf", KERNEL))
        learned = plain
        if metric.best_round_ > 0:
            mapped = (metric.transform(X), y), (metric.transform(X_test), y_test)
            learned = error(KERNEL, metric.gamma_ * NEAR, *mapped)
    return [rbf, plain, learned, took]


def main(names: list[str] | None = None, n_splits: int = N_SPLITS) -> None:
    folder = local_data_folder()
    if folder is None:
        print("learned_metric: KERNELSIEVE_DATA names no folder with the UCI sets")
        return
    heading(f"learned metric: mean squared errors of {n_splits} splits, {N_LANDMARKS} landmarks")
    rows = []
    for name in names or sorted(path.name for path in folder.glob("uci_*")):
        data = load(name)
        X, y = np.asarray(data["X"], float), np.asarray(data["y"], float).ravel()
        runs = Parallel(n_jobs=os.cpu_count())(delayed(compare)(X, y, s) for s in range(n_splits))
        rbf, plain, learned, took = (float(value) for value in np.mean(runs, axis=0))
        rows.append([name, rbf, plain, learned, learned / plain, learned / rbf, took])
        print("  ", *(f"{v:.4g}" if isinstance(v, float) else v for v in rows[-1]), flush=True)
    head = ["set", "rbf", KERNEL, "with a metric", "ratio", "to rbf", "seconds to learn"]
    table(head, rows)
    for column, against in ((4, f"SMA with {KERNEL}"), (5, "SMA with rbf")):
        ratios = np.array([row[column] for row in rows])
        print(f"against {against}:")
        verdict("share of sets with a lower error", float(np.mean(ratios < 1)), 0.8, at_least=True)
        verdict("largest ratio", float(ratios.max()), 1.03, at_least=False)
        verdict("median ratio", float(np.median(ratios)), 0.75, at_least=False)
