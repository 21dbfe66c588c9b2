"""GradientMetric before sparse maximal alignment, against sparse maximal alignment alone."""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from kernelsieve import GradientMetric, SparseMaximalAlignment
from kernelsieve.datasets import load_local, local_data_folder
from kernelsieve.exceptions import FewerFeaturesWarning, NothingLearntWarning

from .common import heading, table, verdict

N_SPLITS, MOST_ROWS, MOST_TESTED = 5, 10_000, 5_000
N_LANDMARKS, N_CANDIDATES = 300, 1000
WIDTHS = 4.0 ** np.arange(-3, 3)  # of one over the variance of all inputs together


def model_of(gamma: float, n_rows: int) -> Pipeline:
    sizes = min(N_LANDMARKS, n_rows // 2), min(N_CANDIDATES, n_rows)
    sieve = SparseMaximalAlignment(sizes[0], gamma=gamma, candidates=sizes[1], random_state=0)
    return make_pipeline(sieve, RidgeCV(np.logspace(-6, 4, 11)))


def error(U: np.ndarray, y: np.ndarray, U_test: np.ndarray, y_test: np.ndarray, widths) -> float:
    """Return the error on test samples with the width that held-out training samples choose."""
    parts = train_test_split(U, y, test_size=0.2, random_state=0)
    U_fitted, U_held, y_fitted, y_held = parts
    errors = [
        mean_squared_error(y_held, model_of(g, len(U_fitted)).fit(U_fitted, y_fitted).predict(U_held))
        for g in widths
    ]
    best = model_of(widths[int(np.argmin(errors))], len(U)).fit(U, y)
    return float(mean_squared_error(y_test, best.predict(U_test)))


def compare(X: np.ndarray, y: np.ndarray, seed: int) -> tuple[float, float, float]:
    """Return the errors without and with a metric, and the seconds that the metric takes."""
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.1, random_state=seed)
    X, y, X_test, y_test = X[:MOST_ROWS], y[:MOST_ROWS], X_test[:MOST_TESTED], y_test[:MOST_TESTED]
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
        data = load_local(name)
        X, y = np.asarray(data["X"], float), np.asarray(data["y"], float).ravel()
        with warnings.catch_warnings():
            for kind in (FewerFeaturesWarning, NothingLearntWarning):
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
