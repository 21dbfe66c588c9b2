"""The sieves against histogram gradient boosting on many tables, all by their defaults.

The sets were divided once, at random, into those to choose by and those to report; nothing may be
chosen by the latter. Results are kept in ``results/suite.jsonl``, one line for a set, a split and a
method, and what is there is not computed again::

    python -m benchmarks suite                                # computes what is missing, and reports
    python -m benchmarks.suite --sets choose --rows 1000      # other sets, and fewer training samples
    python -m benchmarks.suite --again sieve                  # computes a method anew, with new code
    python -m benchmarks.suite --methods sieve --label before # keeps what this code finds by a name
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.datasets import load_diabetes, load_digits, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from kernelsieve import SieveClassifier, SieveRegressor
from kernelsieve.datasets import local_data_folder

from .common import heading, table, warm_up
from .record import RESULTS

KEPT = RESULTS / "suite.jsonl"
N_SPLITS, MOST_ROWS, MOST_TESTED = 1, 5_000, 5_000
COVERAGE = 0.9
LOST = 1.1  # ratio to the best other method from which a set counts as lost
REGRESSION = (
    *("225_puma8NH", "344_mv", "503_wind", "529_pollen", "537_houses", "547_no2", "564_fried"),
    *("uci_airfoil", "uci_bike", "uci_concrete", "uci_energy", "uci_keggdirected", "uci_protein"),
    *("uci_sml", "uci_wine", "abalone", "ailerons", "bank32nh", "baseball", "boston", "house_8L"),
    *("pole_telecomm", "puma32H", "spectra_gasoline", "spectra_meats", "diabetes"),
    *("table_ames", "table_diamonds"),
)
CLASSIFICATION = (
    *("car", "chess", "churn", "clean2", "cmc", "coil2000", "connect_4", "krkopt", "magic"),
    *("mfeat_factors", "mfeat_morphological", "optdigits", "phoneme", "sleep", "splice", "texture"),
    *("tokyo1", "vowel", "waveform_40", "wine_quality_white", "ida_banana", "ida_breast-cancer"),
    *("ida_diabetis", "ida_flare-solar", "ida_german", "ida_heart", "ida_ringnorm", "ida_thyroid"),
    *("ida_titanic", "ida_waveform", "ionosphere", "sonar", "spectf", "usps", "wdbc", "digits"),
    *("wine", "table_adult"),
)
BUNDLED = {"diabetes": load_diabetes, "digits": load_digits, "wine": load_wine}
#: Drawn once: ``np.random.default_rng(2026).permutation(sorted(ALL))[:30]``.
ALL = sorted((*REGRESSION, *CLASSIFICATION))
CHOOSE = tuple(sorted(np.random.default_rng(2026).permutation(ALL)[:30].tolist()))
REPORT = tuple(name for name in ALL if name not in CHOOSE)
SIEVE, BOOSTING = "sieve", "boosting"
METHODS: dict[str, tuple[Callable, Callable]] = {
    SIEVE: (SieveRegressor, SieveClassifier),
    BOOSTING: (HistGradientBoostingRegressor, HistGradientBoostingClassifier),
}


# ---------------------------------------------------------------------- sets


def load(name: str) -> tuple[Any, np.ndarray]:
    """Return a table, with categories where some columns are, and its target."""
    if name in BUNDLED:
        return BUNDLED[name](return_X_y=True)
    folder = local_data_folder() or Path()
    if name.startswith("table_"):
        frame = pd.read_csv(folder / name / f"{name}.csv.gz")
        X, y = frame.drop(columns="target"), frame["target"].to_numpy()
        text = X.select_dtypes(exclude="number").columns
        return X.astype(dict.fromkeys(text, "category")), y
    path = folder / name / f"{name}.npz"
    data = np.load(path if path.exists() else folder / "suite" / f"{name}.npz")
    X, y = data["X"].astype(float), data["y"].ravel()
    categorical = data["categorical"] if "categorical" in data else np.zeros(X.shape[1], dtype=bool)
    if not categorical.any():
        return X, y
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    return frame.astype(dict.fromkeys(frame.columns[categorical], "category")), y


def drawn(name: str, seed: int, most_rows: int) -> tuple:
    """Return training and test samples of a split; a fourth of the samples tests."""
    X, y = load(name)
    if name in CLASSIFICATION:
        y = np.unique(y, return_inverse=True)[1]
        common = np.isin(y, np.flatnonzero(np.bincount(y) >= 2))  # both parts need some of each class
        X, y = X[common], y[common]
    train, test = train_test_split(
        np.arange(len(y)),
        test_size=0.25,
        random_state=seed,
        stratify=y if name in CLASSIFICATION else None,
    )
    rows = (train[:most_rows], test[:MOST_TESTED])
    tables = (X.iloc[r] if isinstance(X, pd.DataFrame) else X[r] for r in rows)
    return *tables, *(y[r] for r in rows)


# ---------------------------------------------------------------------- runs


def run(name: str, seed: int, most_rows: int, method: str) -> dict[str, Any]:
    """Return the errors of a method on a split, and the seconds that it takes."""
    X, X_test, y, y_test = drawn(name, seed, most_rows)
    classifies = name in CLASSIFICATION
    model = METHODS[method][classifies](random_state=seed)
    if method == BOOSTING and isinstance(X, pd.DataFrame):
        model.set_params(categorical_features="from_dtype")
    if not classifies:
        y, y_test = (y - y.mean()) / y.std(), (y_test - y.mean()) / y.std()
    wall, start = time.perf_counter(), time.process_time()
    model.fit(X, y)
    found = {"fit_cpu": time.process_time() - start, "fit_wall": time.perf_counter() - wall}
    start = time.perf_counter()
    predicted = model.predict_proba(X_test) if classifies else model.predict(X_test)
    found["predict"] = (time.perf_counter() - start) / len(y_test) * 10_000
    if classifies:
        every = np.full((len(y_test), max(y.max(), y_test.max()) + 1), 1e-6)
        every[:, model.classes_] = np.clip(predicted, 1e-6, 1)
        every /= every.sum(axis=1, keepdims=True)
        found["error"] = float(log_loss(y_test, every, labels=np.arange(every.shape[1])))
        found["wrong"] = float(np.mean(every.argmax(axis=1) != y_test))
    else:
        found["error"] = float(np.sqrt(np.mean((predicted - y_test) ** 2)))
        if method != BOOSTING:
            lower, upper = model.predict_interval(X_test, COVERAGE).T
            found["covered"] = float(np.mean((lower <= y_test) & (y_test <= upper)))
    report = {"report": model.report_} if method != BOOSTING else {}
    rounded = {key: float(f"{value:.5g}") for key, value in found.items()}
    return {"set": name, "split": seed, "rows": len(y), "most_rows": most_rows, **rounded, **report}


def kept(path: Path) -> dict[tuple, dict]:
    """Return what was computed, by set, split, most rows and method; later lines replace earlier."""
    lines = path.read_text().splitlines() if path.exists() else []
    results = map(json.loads, lines)
    return {(r["set"], r["split"], r["most_rows"], r["method"]): r for r in results}


def computed(
    names: Sequence[str],
    n_splits: int,
    most_rows: int,
    methods: dict[str, str],
    again: Sequence[str],
    path: Path,
) -> Iterator[dict]:
    """Yield the results of all cells; compute and keep those that are missing."""
    known = kept(path)
    for name in names:
        for seed in range(n_splits):
            for label, method in methods.items():
                cell = (name, seed, most_rows, label)
                if cell not in known or label in again:
                    known[cell] = run(name, seed, most_rows, method) | {"method": label}
                    with path.open("a") as file:
                        file.write(json.dumps(known[cell]) + "\n")
                    shown = {k: known[cell][k] for k in ("error", "fit_cpu")}
                    print("  ", *cell, *shown.items(), flush=True)
                yield known[cell]


# ---------------------------------------------------------------------- report


def report(results: Sequence[dict], first: str) -> None:
    """Print a table of the sets, and how often and by how much the first method wins."""
    methods = sorted({r["method"] for r in results}, key=lambda name: (name != first, name))
    cells: dict[tuple[str, str], dict[str, float]] = {}
    for name in dict.fromkeys(r["set"] for r in results):
        for method in methods:
            splits = [r for r in results if r["set"] == name and r["method"] == method]
            keys = ("rows", "error", "wrong", "covered", "fit_cpu", "predict")
            cells[name, method] = {
                key: float(np.mean([r.get(key, math.nan) for r in splits])) for key in keys
            }
    names = list(dict.fromkeys(name for name, _ in cells))
    others = [method for method in methods if method != first]
    errors = np.array([[cells[n, m]["error"] for m in methods] for n in names])
    seconds = np.array([[cells[n, m]["fit_cpu"] for m in methods] for n in names])
    heading(f"{first}(): root mean squared error or log-loss on {len(names)} sets")
    head = ["set", "rows", *methods, *(f"CPU s, {m}" for m in methods), "error rate", "covered"]
    rows = [
        [
            name,
            int(cells[name, first]["rows"]),
            *row.tolist(),
            *times.tolist(),
            *(cells[name, first][k] for k in ("wrong", "covered")),
        ]
        for name, row, times in zip(names, errors, seconds, strict=True)
    ]
    table(head, rows)
    if not others:
        return
    ranks = rankdata(errors, axis=1).mean(axis=0)
    print("mean ranks:", ", ".join(f"{m} {r:.2f}" for m, r in zip(methods, ranks, strict=True)))
    for j, other in enumerate(others, 1):
        ratios, slower = errors[:, 0] / errors[:, j], seconds[:, 0] / seconds[:, j]
        lost = [f"{n} ({r:.2f})" for n, r in zip(names, ratios, strict=True) if r > LOST]
        print(
            f"against {other}: lower on {np.mean(ratios < 1):.0%} of the sets, geometric mean of the "
            f"ratio {np.exp(np.mean(np.log(ratios))):.3f}; CPU seconds of fit, geometric mean "
            f"{np.exp(np.mean(np.log(slower))):.3f}, median {np.median(slower):.3f}, in total "
            f"{seconds[:, 0].sum():.1f} / {seconds[:, j].sum():.1f}"
        )
        print(f"  lost by over 10 %: {', '.join(lost) or 'none'}")
    covered = [c["covered"] for c in cells.values() if not math.isnan(c["covered"])]
    if covered:
        print(
            f"intervals for 90 % cover {100 * np.mean(covered):.1f} %, single sets "
            f"{100 * min(covered):.1f} to {100 * max(covered):.1f}"
        )
    print(f"load of the machine {os.getloadavg()[0]:.1f}")


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.suite", description=__doc__)
    parser.add_argument("--sets", nargs="+", default=["report"], help="choose, report, all, or names")
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    parser.add_argument("--rows", type=int, default=MOST_ROWS, help="most training samples")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--label", help="name by which the results of one method are kept")
    parser.add_argument("--beside", nargs="+", default=[], help="further names of kept results")
    parser.add_argument("--again", nargs="+", default=[])
    parser.add_argument("--kept", type=Path, default=KEPT)
    given = parser.parse_args(arguments)
    if local_data_folder() is None:
        print("suite: KERNELSIEVE_DATA names no folder with the sets")
        return
    groups = {"choose": CHOOSE, "report": REPORT, "all": tuple(ALL)}
    names = [each for name in given.sets for each in groups.get(name, (name,))]
    methods = {given.label or name: name for name in given.methods}
    warm_up()
    rng = np.random.default_rng(0)
    SieveRegressor(10).fit(rng.normal(size=(60, 2)), rng.normal(size=60))
    results = list(computed(names, given.splits, given.rows, methods, given.again, given.kept))
    known = kept(given.kept)
    beside = [(n, s, given.rows, m) for m in given.beside for n in names for s in range(given.splits)]
    results += [known[cell] for cell in beside if cell in known]
    shared = {r["set"] for r in results}
    for method in {r["method"] for r in results}:
        shared &= {r["set"] for r in results if r["method"] == method}
    report([r for r in results if r["set"] in shared], next(iter(methods)))


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
