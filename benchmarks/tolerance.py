"""Which default of ``tol`` leaves out directions that new samples cannot repeat.

Test R2 of SMA and kernel PLS followed by least squares, on raw and on standardised inputs, for several
``tol``. The last lines are the means for each method, with R2 below zero taken for zero, and how often
R2 was below -0.5.
"""

from __future__ import annotations

import csv
import gzip
import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.preprocessing import StandardScaler

from kernelsieve import KernelPLS, SparseMaximalAlignment
from kernelsieve.datasets import load, local_data_folder
from kernelsieve.exceptions import FewerFeaturesWarning

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
N_TRAIN, N_TEST, N_COMPONENTS = 1500, 3000, 50


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


def scores(method: type, train: tuple, test: tuple, tol: float) -> tuple[float, int]:
    (X, y), (X_test, y_test) = train, test
    k = min(N_COMPONENTS, len(X) - 1)
    model = method(k, tol=tol).fit(X, y)
    head = LinearRegression().fit(model.transform(X), y)
    return r2_score(y_test, head.predict(model.transform(X_test))), model.n_components_


def main() -> None:
    if local_data_folder() is None:
        print("tolerance: needs the data sets of the papers; set KERNELSIEVE_DATA to their folder")
        return
    warnings.simplefilter("ignore", FewerFeaturesWarning)
    print(f"{'':28}" + "".join(f"{f'tol={tol:g}':>16}" for tol in TOLERANCES))
    collected: dict[str, list[np.ndarray]] = {}
    for name, X, y in tables():
        order = np.random.default_rng(0).permutation(len(y))[: N_TRAIN + N_TEST]
        n_train = min(N_TRAIN, int(0.7 * len(order)))
        X, y = X[order], y[order]
        for scaled in (False, True):
            inputs = StandardScaler().fit(X[:n_train]).transform(X) if scaled else X
            train, test = (inputs[:n_train], y[:n_train]), (inputs[n_train:], y[n_train:])
            for method in (SparseMaximalAlignment, KernelPLS):
                found = [scores(method, train, test, tol) for tol in TOLERANCES]
                r2 = np.array([score for score, _ in found])
                summary = f"{'scaled' if scaled else 'raw'} {method.__name__[:9]}"
                collected.setdefault(summary, []).append(r2)
                title = f"{name[:14]} {'scaled' if scaled else 'raw'} {method.__name__[:9]}"
                print(f"{title:28}" + "".join(f"{score:11.4f} ({k:2})" for score, k in found))
    for summary, found in collected.items():
        means, wild = np.clip(found, 0, None).mean(axis=0), (np.array(found) < -0.5).sum(axis=0)
        row = "".join(f"{mean:11.4f} ({count:2})" for mean, count in zip(means, wild, strict=True))
        print(f"{'mean ' + summary:28}{row}")


if __name__ == "__main__":
    main()
