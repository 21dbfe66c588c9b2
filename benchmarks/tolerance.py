"""Which default of ``tol`` leaves out directions that new samples cannot repeat.

Test R2 of SMA and kernel PLS, with least squares or ridge regression, on raw and on standardised
inputs, for several ``tol``.
"""

from __future__ import annotations

import csv
import gzip
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler

from kernelsieve import KernelPLS, SparseMaximalAlignment
from kernelsieve.datasets import load, local_data_folder
from kernelsieve.exceptions import FewerFeaturesWarning, InputScaleWarning

from .common import heading, table

TOLERANCES = (1e-20, 1e-14, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6)
SETS = [
    "abalone",
    "ailerons",
    "bank32nh",
    "baseball",
    "boston",
    "house_8L",
    "pole_telecomm",
    "puma32H",
    "spectra_gasoline",
    "spectra_meats",
    "uci_airfoil",
    "uci_bike",
    "uci_concrete",
    "uci_energy",
    "uci_protein",
    "uci_sml",
    "uci_wine",
]
N_TRAIN, N_TEST, N_COMPONENTS = 800, 2000, 50


def tables() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    yield ("diamonds", *diamonds())
    for name in SETS:
        data = load(name)
        yield name, np.asarray(data["X"], dtype=float), np.asarray(data["y"], dtype=float).ravel()


def diamonds() -> tuple[np.ndarray, np.ndarray]:
    """Return the table as it is, categories as the numbers of their sorted names."""
    folder = local_data_folder()
    assert folder is not None
    with gzip.open(folder / "table_diamonds" / "table_diamonds.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    columns = [_numbers([row[name] for row in rows]) for name in rows[0] if name != "target"]
    return np.column_stack(columns), _numbers([row["target"] for row in rows])


def _numbers(values: list[str]) -> np.ndarray:
    try:
        return np.array(values, dtype=float)
    except ValueError:
        return np.unique(values, return_inverse=True)[1].astype(float)


HEADS = {"least squares": LinearRegression(), "ridge": RidgeCV(np.logspace(-8, 2, 11))}


def scores(method: type, train: tuple, test: tuple, tol: float) -> tuple[dict[str, float], int]:
    """Return R2 by head, and how many features there are."""
    (X, y), (X_test, y_test) = train, test
    k = min(N_COMPONENTS, len(X) - 1)
    model = method(k, tol=tol).fit(X, y)
    F, F_test = model.transform(X), model.transform(X_test)
    r2 = {name: r2_score(y_test, head.fit(F, y).predict(F_test)) for name, head in HEADS.items()}
    return r2, model.n_components_


def main() -> None:
    if local_data_folder() is None:
        print("tolerance: needs the data sets of the papers; set KERNELSIEVE_DATA to their folder")
        return
    for expected in (FewerFeaturesWarning, InputScaleWarning):
        warnings.simplefilter("ignore", expected)
    header = ["", *(f"tol = {tol:g}" for tol in TOLERANCES)]
    rows, collected = [], dict[str, list[np.ndarray]]()
    for name, X, y in tables():
        order = np.random.default_rng(0).permutation(len(y))[: N_TRAIN + N_TEST]
        n_train = min(N_TRAIN, int(0.7 * len(order)))
        X, y = X[order], y[order]
        for scaled in (False, True):
            inputs = StandardScaler().fit(X[:n_train]).transform(X) if scaled else X
            train, test = (inputs[:n_train], y[:n_train]), (inputs[n_train:], y[n_train:])
            for method in (SparseMaximalAlignment, KernelPLS):
                found = [scores(method, train, test, tol) for tol in TOLERANCES]
                for head in HEADS:
                    way = f"{'scaled' if scaled else 'raw'}, {method.__name__}, {head}"
                    collected.setdefault(way, []).append(np.array([r2[head] for r2, _ in found]))
                    rows.append([f"{name}, {way}", *(f"{r2[head]:.4f} ({k})" for r2, k in found)])
    heading(f"tolerance: test R2, and features of {N_COMPONENTS} that are left, by tol")
    table(header, rows)
    heading("tolerance: mean R2, at least 0 each, and how many are below -0.5")
    table(header, [[way, *summary(np.array(found))] for way, found in collected.items()])


def summary(r2: np.ndarray) -> list[str]:
    means, wild = np.clip(r2, 0, None).mean(axis=0), (r2 < -0.5).sum(axis=0)
    return [f"{mean:.4f} ({count})" for mean, count in zip(means, wild, strict=True)]


if __name__ == "__main__":
    main()
