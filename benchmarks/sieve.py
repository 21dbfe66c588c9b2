"""SieveRegressor and SieveClassifier against histogram gradient boosting, all by their defaults.

Two inputs of bike add up to its target, which kernels fit at once and trees do not.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from kernelsieve import SieveClassifier, SieveRegressor, SparseMaximalAlignment, datasets
from kernelsieve.datasets import local_data_folder

from .common import heading, in_own_process, in_turns, peak_megabytes, table, verdict, warm_up
from .peer_runs import PEERS
from .peers_external.protocol import Task

N_SPLITS, MOST_ROWS, MOST_TESTED, BATCH = 5, 10_000, 5_000, 10_000
COVERAGE = 0.9
CLASSIFICATION = (
    *("ida_banana", "ida_diabetis", "ida_german", "ida_ringnorm", "ida_titanic", "ida_waveform"),
    *("ionosphere", "sonar", "usps"),
)
N_MILLION, N_INPUTS = 1_000_000, 50


def regression_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    folder = local_data_folder()
    for path in sorted(folder.glob("uci_*")) if folder else ():
        data = datasets.load(path.name)
        yield path.name, np.asarray(data["X"], float), np.asarray(data["y"], float).ravel()


def classification_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    for load in (load_breast_cancer, load_digits, load_wine):
        yield load.__name__.removeprefix("load_"), *load(return_X_y=True)
    for name in CLASSIFICATION if local_data_folder() else ():
        data = datasets.load(name)
        yield name, np.asarray(data["X"], float), np.asarray(data["y"]).ravel()


def parted(X: np.ndarray, y: np.ndarray, seed: int, labels: bool) -> tuple:
    X, X_test, y, y_test = train_test_split(
        X,
        y,
        test_size=0.1 if len(X) > 2000 else 0.25,
        random_state=seed,
        stratify=y if labels else None,
    )
    return X[:MOST_ROWS], y[:MOST_ROWS], X_test[:MOST_TESTED], y_test[:MOST_TESTED]


def timed_fit(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def predict_times(models: list, X: np.ndarray) -> list[float]:
    """Return the seconds that a batch takes, of samples as often as need be."""
    batch = np.resize(X, (BATCH, X.shape[1]))
    return in_turns(*(lambda model=model: model.predict(batch) for model in models), repeat=5)


def xrfm_error(
    X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray, seed: int
) -> float:
    """Return the error of xRFM by its defaults; NaN where its environment is not installed."""
    peer = PEERS["xRFM"]
    if not peer.is_installed:
        return float("nan")
    means, scales = X.mean(axis=0), np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    X, X_test = ((rows - means) / scales for rows in (X, X_test))
    held = np.zeros(len(X), dtype=bool)  # it chooses nothing by samples of ours
    task = Task(X, y[:, None], X_test, y_test[:, None], held, np.ones(1), seed, False)
    (outcome,) = peer.run(task)
    return outcome.error


def regression_split(X: np.ndarray, y: np.ndarray, seed: int) -> list[float]:
    X, y, X_test, y_test = parted(X, y, seed, labels=False)
    y_test, y = (y_test - y.mean()) / y.std(), (y - y.mean()) / y.std()
    sieve, boosting = (
        SieveRegressor(random_state=seed),
        HistGradientBoostingRegressor(random_state=seed),
    )
    seconds = [timed_fit(model, X, y) for model in (sieve, boosting)]
    errors = [float(np.mean((model.predict(X_test) - y_test) ** 2)) for model in (sieve, boosting)]
    lower, upper = sieve.predict_interval(X_test, COVERAGE).T
    covered = float(np.mean((lower <= y_test) & (y_test <= upper)))
    peer = xrfm_error(X, y, X_test, y_test, seed) if seed == 0 else float("nan")  # takes a minute
    return [*errors, peer, *predict_times([sieve, boosting], X_test), seconds[0], covered]


def regression(sets: Any = None, n_splits: int = N_SPLITS) -> None:
    heading(f"SieveRegressor(): mean squared errors of {n_splits} splits, at most {MOST_ROWS} samples")
    rows, ratios, slower, longest, covered = [], [], [], [], []
    for name, X, y in sets or regression_sets():
        found = np.array([regression_split(X, y, seed) for seed in range(n_splits)])
        sieve, boosting, *_, fitted, cover = found.mean(axis=0)
        peer = found[0, 2] / found[0, 0]
        ratios.append(sieve / boosting)
        slower.append(float(np.median(found[:, 3] / found[:, 4])))
        longest.append(found[:, 5].max())
        covered.append(cover)
        rows.append([name, sieve, boosting, ratios[-1], peer, slower[-1], fitted, 100 * cover])
        print("  ", *(f"{v:.4g}" if isinstance(v, float) else v for v in rows[-1]), flush=True)
    head = [
        "set",
        "sieve",
        "boosting",
        "ratio",
        "xRFM, ratio",
        "predict, ratio",
        "fit, s",
        "covered, %",
    ]
    table(head, rows)
    print("xRFM keeps all training samples as landmarks; its error over that of the sieve, first split")
    verdict(
        "share of sets with a lower error", float(np.mean(np.array(ratios) < 1)), 0.5, at_least=True
    )
    verdict("largest ratio of times to predict", max(slower), 1.0, at_least=False)
    verdict("longest fit, seconds", max(longest), 60, at_least=False)
    mean = float(100 * np.mean(covered))
    verdict("coverage of intervals for 90 %, mean of the sets", mean, 88, at_least=True)
    verdict("coverage of intervals for 90 %, mean of the sets", mean, 92, at_least=False)
    print(f"coverage of single sets: {100 * min(covered):.1f} to {100 * max(covered):.1f} %")


def uncalibrated_log_loss(sieve: SieveClassifier, X: np.ndarray, y: np.ndarray) -> float:
    """Return the log-loss of scores that are clipped to probabilities and add up to one."""
    clipped = np.clip(sieve._scores(X), 1e-3, 1.0)
    return float(log_loss(y, clipped / clipped.sum(axis=1, keepdims=True), labels=sieve.classes_))


def classification_split(X: np.ndarray, y: np.ndarray, seed: int) -> list[float]:
    X, y, X_test, y_test = parted(X, y, seed, labels=True)
    sieve, boosting = (
        SieveClassifier(random_state=seed),
        HistGradientBoostingClassifier(random_state=seed),
    )
    seconds = timed_fit(sieve, X, y)
    boosting.fit(X, y)
    errors = [float(np.mean(model.predict(X_test) != y_test)) for model in (sieve, boosting)]
    losses = [
        float(log_loss(y_test, model.predict_proba(X_test), labels=sieve.classes_))
        for model in (sieve, boosting)
    ]
    plain = uncalibrated_log_loss(sieve, X_test, y_test)
    return [*errors, losses[0], plain, losses[1], seconds]


def classification(sets: Any = None, n_splits: int = N_SPLITS) -> None:
    heading(f"SieveClassifier(): errors of {n_splits} splits, at most {MOST_ROWS} samples")
    rows, ratios, calibrated = [], [], []
    for name, X, y in sets or classification_sets():
        found = np.array([classification_split(X, y, seed) for seed in range(n_splits)]).mean(axis=0)
        error, boosting, loss, plain, boosting_loss, seconds = found
        ratios.append(error / boosting if boosting else float(error > 0) + 1)
        calibrated.append(loss / plain)
        rows.append([name, error, boosting, ratios[-1], loss, plain, boosting_loss, seconds])
        print("  ", *(f"{v:.4g}" if isinstance(v, float) else v for v in rows[-1]), flush=True)
    head = ["set", "sieve", "boosting", "ratio", "log-loss", "uncalibrated", "boosting's", "fit, s"]
    table(head, rows)
    found_ratios = np.array(ratios)
    verdict("share of sets at most 1.2 times", float(np.mean(found_ratios <= 1.2)), 0.6, at_least=True)
    verdict("share of sets with a lower error", float(np.mean(found_ratios < 1)), 1 / 3, at_least=True)
    over_sets = float(np.exp(np.mean(np.log(calibrated))))
    verdict("ratio of log-losses by calibration, over the sets", over_sets, 1.0, at_least=False)
    lower = sum(ratio < 1 for ratio in calibrated)
    print(
        f"calibration lowers the log-loss of {lower} of {len(calibrated)} sets, and makes it "
        f"{max(calibrated):.2f} times as large at worst"
    )


def million_fit(kind: str) -> tuple[float, float]:
    """Return seconds, and megabytes above the data."""
    warm_up()
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N_MILLION, N_INPUTS))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(N_MILLION)
    before = peak_megabytes()
    sma = SparseMaximalAlignment(300, scale="rkhs", gamma="scale", random_state=0, target="continuous")
    model = SieveRegressor(random_state=0) if kind == "sieve" else sma
    return timed_fit(model, X, y), peak_megabytes() - before


def million() -> None:
    heading(f"SieveRegressor(): {N_MILLION} x {N_INPUTS}, against one pass with 300 landmarks")
    (plain, _), (sieve, megabytes) = (in_own_process(million_fit, kind) for kind in ("plain", "sieve"))
    table(["", "seconds"], [["SparseMaximalAlignment", plain], ["SieveRegressor", sieve]])
    verdict("times a plain fit", sieve / plain, 5, at_least=False)
    verdict("megabytes above the data", megabytes, 1024, at_least=False)


def main() -> None:
    warm_up()
    if local_data_folder() is None:
        print("sieve: KERNELSIEVE_DATA names no folder with the UCI sets")
    else:
        regression()
    classification()
    million()
